"""Successive elimination: the oracle by hand, sweeps; oracle replay."""

import numpy as np
import pytest

from jaxduel.policies.arms.successive_elimination import SuccessiveElimination
from tests.oracles.arms.successive_elimination import SuccessiveElimination as Oracle
from tests.policies.arms.cases import counts_of, make
from tests.policies.arms.oracle_runs import answer, the_plan
from tests.policies.arms.replays import GAMMAS, PADDED, WHOLE, horizons, pair, replay, sizes

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_successive_elimination_by_hand():
    oracle = Oracle(3, 10, gamma=0.2)  # radius sqrt(.68 / tau)
    answer(oracle, 0.0, 0.7, 0.1)
    assert the_plan(oracle) == (1, 1, 1)
    answer(oracle, 0.0, 0.5, 0.1)  # .6 and .5 below .6: radius .583
    assert the_plan(oracle) == (0, 1, 1)
    answer(oracle, 0.0, 0.6, 0.1)
    assert the_plan(oracle) == (0, 2, 0)  # .6 and .1: radius .476


def test_the_last_sweep_is_cut():
    oracle = Oracle(3, 4)
    answer(oracle, 0.0, 0.0, 0.0)
    assert the_plan(oracle) == (1, 0, 0)


# ---- the policy ---------------------------------------------------------------------------------


def test_sweeps_pull_each_arm_once_and_the_last_is_cut_at_the_horizon():
    assert counts_of(make(SuccessiveElimination, horizon=11)) == [[1] * 3] * 3 + [[1, 1, 0]]
    assert counts_of(make(SuccessiveElimination, horizon=2)) == [[1, 1, 0]]


def test_what_beats_all_others_takes_the_rest():
    # sqrt(log 300 / tau) reaches 1 at tau = 6
    counts = counts_of(make(SuccessiveElimination, horizon=100), [0.0, 1.0, 0.0])
    assert counts == [[1] * 3] * 6 + [[0, 82, 0]]


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(("num_arms", "grain"), [(PADDED, 0.0), (2, 0.0), (PADDED, 1.0)])
def test_successive_elimination_follows_the_paper(num_arms, grain):
    num, rng = 300, np.random.default_rng(7)
    active, cases, exact = sizes(num, num_arms, 7), [], WHOLE if grain else None
    for k, T in zip(active.tolist(), horizons(num, 7, active, 120).tolist(), strict=True):
        gamma = float(rng.choice(GAMMAS))
        cases.append(pair(SuccessiveElimination, Oracle, k, num_arms, T, exact, gamma=gamma))
    oracles = replay(cases, active, num_arms, 61, seed=7, grain=grain)
    gone = [len(oracle.memories[0]) < oracle.K for oracle in oracles]
    assert 0.1 < np.mean(gone) < 0.9
