"""Claims are decided with more runs: which runs, how often it errs, the same bits as before."""

import math
from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.claims import Claim, Measurement, Verdict
from jaxduel.studies.deciding import CONFIDENCE, LOOKS, further_runs, open_keys
from jaxduel.studies.engine import machines
from jaxduel.studies.estimates import Estimate, final_ratio, mean_of
from jaxduel.studies.stored_runs import StoredRuns, end_of
from jaxduel.studies.wanted import Competitor, Draw, Wanted

PAIRS = {(data, policy) for data in ("one", "two") for policy in ("a", "b")}


def runs_of(final: np.ndarray, name: str = "a", confidence: float = 0.95) -> Runs:
    """Runs of a policy that comes back from a wrong arm."""
    return Runs(
        name,
        name,
        np.array([10]),
        np.asarray(final, np.float64)[:, None],
        most=np.array([math.inf]),
        settles=False,
        confidence=confidence,
    )


def claim(*measured: tuple[str, Verdict, bool], read=PAIRS) -> Claim:
    number = Estimate(1.0, 0.9, 1.1, 10)
    found = tuple(
        Measurement(where, "a / b", number, verdict, decidable=decidable)
        for where, verdict, decidable in measured
    )
    record = Claim("it wins", "section 5", "a < b", lambda find: find, len(found))
    return replace(record.measured(found), read=frozenset(read))


def test_only_runs_that_leave_a_claim_open_are_wanted():
    done = claim(("one", "confirmed", True), ("two", "confirmed", True))
    half = claim(("one", "confirmed", True), ("two", "undecided", True))
    short = claim(("one", "undecided", False), ("two", "confirmed", True))
    lost = claim(("one", "not confirmed", True), ("two", "undecided", True))
    unnamed = claim(("one to two", "undecided", True))
    assert open_keys([done, short, lost]) == set()
    assert open_keys([done, half]) == {("two", "a"), ("two", "b")}
    assert open_keys([unnamed]) == PAIRS


@pytest.mark.parametrize("estimate", [final_ratio, lambda a, b: mean_of(a.final, a.confidence)])
def test_intervals_have_the_confidence_of_their_runs(estimate):
    rng = np.random.default_rng(0)
    above, below = rng.gamma(9.0, size=(2, 4_000))
    usual, sure = (
        estimate(runs_of(above, "a", c), runs_of(below, "b", c)) for c in (0.95, CONFIDENCE)
    )
    wider = (sure.upper - sure.lower) / (usual.upper - usual.lower)
    assert usual.value == sure.value
    assert wider == pytest.approx(2.638 / 1.960, rel=0.02)  # the quantiles of the normal law


@pytest.mark.thorough
def test_six_looks_err_as_rarely_as_one():
    """The mean of 50 to 1,600 numbers is at the limit, 0; Student's interval is exact here."""
    rng, samples = np.random.default_rng(5), 1_500
    wrong = {0.95: 0, CONFIDENCE: 0}
    for _ in range(samples):
        values = rng.normal(size=50 * 2 ** (LOOKS - 1))
        for confidence in wrong:
            looks = (mean_of(values[: 50 * 2**look], confidence) for look in range(LOOKS))
            wrong[confidence] += any(found.lower > 0 or found.upper < 0 for found in looks)
    error = math.sqrt(0.05 * 0.95 / samples)
    assert wrong[CONFIDENCE] / samples < 0.05 + 4 * error
    assert wrong[0.95] / samples > 0.05 + 4 * error  # what the confidence is for


def _wanted(times: int) -> list[Wanted]:
    draw = Draw(jd.problems.load("arxiv"), jax.random.key(1), 4 * times, 4)
    players = (Competitor(name, name, name, {}) for name in ("rmed1", "rucb"))
    return [
        Wanted("arxiv", "ArXiv", (draw,), one, 100, np.array([10, 100]), "copeland")
        for one in players
    ]


def test_runs_are_added_until_the_claims_are_decided(tmp_path, quick_compilation, monkeypatch):
    monkeypatch.setattr(machines, "cpu_devices", lambda: jax.local_devices()[:1])
    found: dict[tuple[str, str], Runs] = {}
    keys = {("arxiv", "rmed1")}

    def claims():
        enough = bool(found) and found["arxiv", "rmed1"].num_runs >= 8
        verdict: Verdict = "confirmed" if enough else "undecided"
        return [claim(("arxiv", verdict, True), read=keys)]

    there = machines.local()
    later = end_of(1.0, there)
    for key, runs in further_runs(claims, _wanted, tmp_path, later, progress=False):
        found[key] = runs
    assert {key: runs.num_runs for key, runs in found.items()} == {("arxiv", "rmed1"): 8}
    first = StoredRuns(tmp_path, _wanted(1)).stored()["arxiv", "rmed1"]  # of the same blocks
    np.testing.assert_array_equal(first.regret, found["arxiv", "rmed1"].regret[:4])
    found.clear()
    again = dict(further_runs(claims, _wanted, tmp_path, end_of(0.0, there), progress=False))
    assert {key: runs.num_runs for key, runs in again.items()} == {("arxiv", "rmed1"): 8}
    assert not list(
        further_runs(claims, _wanted, tmp_path / "late", end_of(0.0, there), progress=False)
    )


def test_claims_that_share_no_runs_have_looks_of_their_own_the_cheapest_first(
    tmp_path, quick_compilation
):
    """The dear claim, first in the list, stays open at all looks."""
    found: dict[tuple[str, str], Runs] = {}
    dear, cheap = {("dear", "rucb")}, {("cheap", "rucb")}

    def wanted(times):
        return [
            replace(one, where=where, horizon=horizon, checkpoints=np.array([horizon]))
            for one in _wanted(times)
            for where, horizon in (("dear", 50), ("cheap", 20))
        ]

    def claims():
        some = found.get(("cheap", "rucb"))
        verdict: Verdict = "confirmed" if some and some.num_runs >= 16 else "undecided"
        return [
            claim(("dear", "undecided", True), read=dear),
            claim(("cheap", verdict, True), read=cheap),
            claim(("dear", "undecided", False), read={("other", "rucb")}),
        ]

    looks = []
    later = end_of(1.0, machines.local())
    for key, runs in further_runs(claims, wanted, tmp_path, later, progress=False):
        found[key] = runs
        looks.append((key[0], runs.num_runs))
    dears = [("dear", 4 * 2**look) for look in range(1, LOOKS)]
    assert looks == [("cheap", 8), ("cheap", 16), *dears]
