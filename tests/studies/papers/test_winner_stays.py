"""Winner stays: two kinds of regret on the same sets, the theorems' bounds, and the claims."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from jaxduel.studies.papers.winner_stays.claims import (
    EXISTING,
    SETS,
    STRONG,
    strong_bound,
    weak_bound,
)
from jaxduel.studies.papers.winner_stays.figures import PAPER
from tests.studies.papers.smaller import machine, measured_by

TIMES = np.array([10, 10_000, 100_000])


def test_bounds_by_hand():
    assert weak_bound(2, 1.0) == pytest.approx(2 * 2 * (np.log(2) + 1) + 2)
    assert strong_bound(2, 0.75, 2.0, 1_024) == pytest.approx(
        2 * 0.75**3 * 64 * 2 * (np.log(2) + 1) + 2 * 10 / 0.5
    )


@pytest.mark.thorough
def test_strong_regret_is_that_of_simulate(tmp_path):
    with machine():
        report = reproduce(PAPER, figure="2c", out=tmp_path, runs=4, horizon=300)
    ((wanted, *_),) = PAPER.panel("2c").wanted(Order(runs=4, horizon=300), PAPER.setting)
    sample = report.runs[wanted.where, "ws-s"]
    policy, problem = jd.policies.make("ws-s", num_arms=8, beta=1.1), jd.problems.arithmetic(8)
    settings = {"checkpoints": sample.times, "lanes": 4, "regret": "binary strong"}
    alone = jd.simulate(policy, problem, 300, 4, wanted.draws[0].key, **settings)
    np.testing.assert_array_equal(sample.regret, alone.regret)
    assert {file.name for file in report.files} >= {"figure-2c.png", "figure-2c.csv"}


def _verdicts(ours=100.0, grows=1.0):
    """Of samples that end at `ours` of winner stays and 1,000 of the others, after growing by a
    factor of `grows` over the last decade."""
    rng, made = np.random.default_rng(0), {}
    for name in (*SETS, *STRONG):
        for policy in ("ws-w", "ws-s", *EXISTING):
            end = ours if policy.startswith("ws") else 1_000.0
            shape = np.array([1.0, end, end * (1.0 if policy == "ws-w" else grows)])
            regret = shape * (1 + 0.01 * rng.standard_normal((1_000, 1)))
            made[name, policy] = Runs(policy, policy, TIMES, regret, np.arange(1_000))
    return [claim.verdict for claim in measured_by(PAPER, Finder(made))]


def test_claims_are_judged():
    yes, no = "confirmed", "not confirmed"
    assert _verdicts(grows=1.2) == [yes] * 6
    assert _verdicts(ours=5_000.0) == [no, no, yes, no, no, no]
