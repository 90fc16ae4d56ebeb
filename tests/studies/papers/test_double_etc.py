"""Figure 1 of double explore-then-commit, and the study of its parameters."""

import csv
import math

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.double_etc import claims
from jaxduel.studies.papers.double_etc.entries import (
    COMMIT_PULLS,
    EPSILONS,
    KNOWN_GAP,
    UCB1,
    UNKNOWN_GAP,
    WHERE,
    known_gap,
    unknown_gap,
)
from jaxduel.studies.papers.double_etc.figures import PAPER, bounds
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by

HORIZON = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory, quick_compilation):
    """All panels, 4 runs to a small horizon."""
    with machine():
        return reproduce(PAPER, out=tmp_path_factory.mktemp("figures"), runs=4, horizon=HORIZON)


@pytest.mark.thorough
def test_files_of_the_panels(report):
    names = ("figure-1", "figure-s1a", "figure-s1b")
    assert {file.name for file in report.files} == {
        *(f"{name}.{kind}" for name in names for kind in ("png", "pdf", "csv")),
        *(
            "figure-s1.png",
            "figure-s1.pdf",
            "final-regret.csv",
            "claims.csv",
            "claims.txt",
            "report.json",
        ),
    }
    assert not report.interrupted
    assert [len(claim.measurements) for claim in report.claims] == [1, 1, 6, 6, 1, 6, 6]


@pytest.mark.thorough
def test_algorithms_that_know_the_horizon_run_anew_for_each(report):
    assert report.runs[WHERE, "ucb1"].times[0] == 30
    for name in ("detc", "detc-known-gap"):
        sample = report.runs[WHERE, name]
        assert sample.separate
        assert sample.times.tolist() == [30, 100, 300]
        order = Order(runs=4, horizon=HORIZON)
        key = PAPER.panel("1").wanted(order, PAPER.setting)[0][0].draws[0].key
        policy = jd.policies.make(
            name, num_arms=2, horizon=100, **({"gap": 0.2} if "known" in name else {})
        )
        problem = jd.problems.gaussian([0.2, 0.0])
        alone = jd.simulate(policy, problem, 100, 4, jax.random.fold_in(key, 100), [100], lanes=4)
        np.testing.assert_array_equal(sample.regret[:, 1], alone.regret[:, 0])


@pytest.mark.thorough
def test_the_study_has_a_row_for_each_value(report):
    folder = report.files[0].parent
    for name, column, values in (
        ("s1a", "commit_pulls", COMMIT_PULLS),
        ("s1b", "epsilon", EPSILONS),
    ):
        with (folder / f"figure-{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [float(row[column]) for row in rows] == [*values] * 2
        assert len({row["mean"] for row in rows if row["policy"] == "ucb1"}) == 1


def made_up(scaled: dict[str, float]) -> dict[tuple[str, str], Runs]:
    """Samples of all policies, by D R / log T of each, by its name or its policy's."""
    rng, time, made = np.random.default_rng(0), 1_000_000, {}
    tuned = [*map(unknown_gap, COMMIT_PULLS), *map(known_gap, EPSILONS)]
    for c in (UCB1, UNKNOWN_GAP, KNOWN_GAP, *tuned):
        mean = scaled.get(c.name, scaled[c.policy]) * math.log(time) / 0.2
        regret = mean * (1 + 0.01 * rng.standard_normal((1_000, 1)))
        made[WHERE, c.name] = Runs(c.name, c.label, np.array([time]), regret, np.arange(1_000))
    return made


def verdicts(scaled: dict[str, float]) -> list[str]:
    return [claim.verdict for claim in measured_by(PAPER, Finder(made_up(scaled)))]


def test_claims_hold_where_the_numbers_are_as_printed():
    assert verdicts(claims.PRINTED) == ["confirmed"] * 7


@pytest.mark.parametrize(
    ("change", "refuted"),
    [
        ({"detc": 1.4}, {0, 2, 5}),
        ({"detc": 1.4, "detc[commit_pulls=500]": 1.15}, {0}),
        ({"detc-known-gap": 1.1}, {1, 3, 6}),
        ({"detc-known-gap": 1.1, "detc-known-gap[epsilon=0.5]": 0.68}, {1}),
        ({"detc[commit_pulls=500]": 0.6}, {3}),
        ({"ucb1": 1.85}, {0, 2, 4}),
    ],
)
def test_verdicts_flip_with_the_numbers(change, refuted):
    found = verdicts({**claims.PRINTED, **change})
    assert {n for n, verdict in enumerate(found) if verdict == "not confirmed"} == refuted
    assert set(found) == {"confirmed", "not confirmed"}


def test_asymptotes_are_those_of_the_theory():
    found = bounds(jd.problems.gaussian([0.2, 0.0]))
    assert list(found.values()) == pytest.approx([10.0, 2.5])


def test_a_horizon_too_short_for_the_gap_is_refused(tmp_path):
    with pytest.raises(jd.InputError, match="horizon must be at least 100"):
        reproduce(PAPER, out=tmp_path, horizon=25)
