"""Testification: relations without a winner, duels as regret, and the claims about Table 1."""

import csv

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from jaxduel.studies.papers.testification.claims import (
    FREE,
    LEADS,
    NTS,
    PRINTED,
    VERIFY,
    where,
)
from jaxduel.studies.papers.testification.figures import INSTANCES, PAPER, drawn
from tests.studies.papers.smaller import machine, measured_by


def test_relations_have_no_winner_and_are_the_same_at_all_leads():
    found = [drawn(lead, Order(), 5) for lead in (0.45, 0.02)]
    for strong, weak in zip(*found, strict=True):
        p, q = (np.asarray(draw.problem.preferences) for draw in (strong, weak))
        assert strong.problem.condorcet_winner is None
        np.testing.assert_array_equal(p > 0.5, q > 0.5)
        assert np.unique(p).round(2).tolist() == [0.05, 0.5, 0.95]
        assert jax.random.key_data(strong.key).tolist() == jax.random.key_data(weak.key).tolist()
    assert len({draw.problem.preferences.tobytes() for draw in found[0]}) == 5


@pytest.mark.thorough
def test_regret_is_the_number_of_duels_until_the_answer(tmp_path):
    with machine():
        report = reproduce(PAPER, out=tmp_path, runs=3)
    assert {file.name for file in report.files} == {
        *(f"figure-1.{kind}" for kind in ("png", "pdf", "csv")),
        *("final-regret.csv", "claims.csv", "claims.txt", "report.json"),
    }
    policy = jd.policies.make(NTS, num_arms=20)
    duels = report.runs[where(0.45), NTS].final
    for draw, number in zip(drawn(0.45, Order(runs=3), 3), duels, strict=True):
        found = jd.identify(policy, draw.problem, 100_000, 1, seed=draw.key, stop="policy")
        assert found.stops.at.tolist() == [number]
    with (tmp_path / "figure-1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["lead"]) for row in rows] == sorted(LEADS) * 2
    assert len(INSTANCES) == len(LEADS)


def _verdicts(nts=1.0, verify=0.9):
    """Of samples whose means are the printed numbers, ours and theirs, times these."""
    rng, made = np.random.default_rng(0), {}
    for lead in LEADS:
        theirs = PRINTED[VERIFY].get(lead, 21_900)
        for name, mean in ((NTS, nts * PRINTED[NTS][lead] - FREE), (VERIFY, verify * theirs)):
            regret = mean * (1 + 0.01 * rng.standard_normal((1_000, 1)))
            made[where(lead), name] = Runs(name, name, np.array([1e5]), regret, np.arange(1_000))
    return [claim.verdict for claim in measured_by(PAPER, Finder(made))]


def test_claims_are_judged_by_the_printed_numbers():
    assert _verdicts() == ["confirmed"] * 3
    assert _verdicts(nts=1.1) == ["confirmed", "not confirmed", "confirmed"]
    assert _verdicts(verify=0.3) == ["not confirmed", "confirmed", "not confirmed"]
