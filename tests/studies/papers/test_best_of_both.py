"""Best of both worlds: the instance that turns, and the claims."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.best_of_both.claims import (
    CHANGE,
    NUM_ARMS,
    OTHERS,
    STEADY,
    TURNED,
    VERSATILE,
)
from jaxduel.studies.papers.best_of_both.figures import PAPER, turned
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by, smaller


def test_the_order_turns():
    problem = turned()
    assert [one.condorcet_winner for one in problem.stretches] == [NUM_ARMS - 1, 0]
    assert problem.changes.tolist() == [CHANGE]
    ((wanted, *_),) = PAPER.panel("1c").wanted(Order(), PAPER.setting)
    assert CHANGE in wanted.checkpoints
    ((early, *_),) = PAPER.panel("1c").wanted(Order(horizon=300), PAPER.setting)
    assert early.checkpoints.tolist() == PAPER.setting.checkpoints(300).tolist()


@pytest.mark.thorough
def test_regret_on_the_instance_that_turns_is_that_of_simulate(tmp_path):
    paper = smaller(PAPER, {"1c": ["rucb"]})
    with machine():
        report = reproduce(paper, out=tmp_path, runs=4, horizon=20_000)
    ((wanted,),) = paper.panel("1c").wanted(Order(runs=4, horizon=20_000), paper.setting)
    sample = report.runs[TURNED, "rucb"]
    policy = jd.policies.make("rucb", num_arms=NUM_ARMS, alpha=0.51)
    settings = {"checkpoints": sample.times, "lanes": 4, "regret": "average"}
    alone = jd.simulate(policy, turned(), 20_000, 4, wanted.draws[0].key, **settings)
    np.testing.assert_array_equal(sample.regret, alone.regret)
    assert {file.name for file in report.files} >= {"figure-1c.png", "figure-1c.csv"}


def _verdicts(versatile=1_000.0, others=10_000.0, power=0.3):
    rng, made, times = np.random.default_rng(0), {}, np.array([10_000, 100_000])
    for where in (*STEADY, TURNED):
        for name in (VERSATILE, *OTHERS):
            end = versatile if name == VERSATILE else others
            shape = end * np.array([10.0**-power, 1.0])
            regret = shape * (1 + 0.01 * rng.standard_normal((1_000, 1)))
            made[where, name] = Runs(name, name, times, regret, np.arange(1_000))
    return [claim.verdict for claim in measured_by(PAPER, Finder(made))]


def test_claims_are_judged():
    assert _verdicts() == ["confirmed"] * 4
    assert _verdicts(9_000.0, 100.0, 0.9) == ["not confirmed"] * 4
