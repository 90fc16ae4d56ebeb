"""SCOMP: the oracle by hand."""

from __future__ import annotations

import math

import pytest

from tests.oracles.batched_dueling.scomp import SCOMP
from tests.policies.batched_dueling.cases import answer, cells, the_plan


def test_scomp_compares_seeds_with_active_arms_once_per_pair():
    oracle = SCOMP(4, 10_000, 4, seeds=[False, True, True, False])
    assert set(cells(the_plan(oracle))) == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)}


def test_scomp_switches_without_eliminating_and_repeats_the_batch_size():
    # c_1 = 1000, gamma_1 = sqrt(log(16e6) / 2000) = .0911: 3 gamma = .273
    oracle = SCOMP(4, 10**6, 2, seeds=[True, False, False, False])
    assert oracle.gamma(1) == pytest.approx(0.0911, abs=1e-4)
    # 1 beats the seed by .28 (switch), 2 by .1 (in A'), 3 by .09 (not in A')
    answer(oracle, {(0, 1): 220, (0, 2): 400, (0, 3): 410})
    assert cells(the_plan(oracle)) == {(1, 2): 1000}
    answer(oracle, {(1, 2): 500})
    assert cells(the_plan(oracle)) == {(1, 2): 10**6 - 4000}
    answer(oracle, {(1, 2): 0})
    assert oracle.rounds == 3


def test_scomp_switch_needs_an_arm_that_beats_all_seeds():
    oracle = SCOMP(3, 10**6, 2, seeds=[True, True, False], threshold=math.inf)
    answer(oracle, {(0, 1): 500, (0, 2): 0, (1, 2): 300})  # 2 beats 1 by .2 only
    assert cells(the_plan(oracle)) == {(0, 1): 997_000}


def test_scomp_whose_seeds_are_gone_goes_on_with_all_pairs_at_the_next_round():
    oracle = SCOMP(3, 10_000, 4, seeds=[True, False, False])  # c = 10, 100; threshold 2.2
    answer(oracle, {(0, 1): 2, (0, 2): 5})  # 10 D(.2, .5) = 1.93 < 2.2
    assert cells(the_plan(oracle)) == {(0, 1): 100, (0, 2): 100}
    oracle = SCOMP(3, 10_000, 4, seeds=[True, False, False])
    answer(oracle, {(0, 1): 1, (0, 2): 5})  # 10 D(.1, .5) = 3.68: the seed goes
    assert cells(the_plan(oracle)) == {(1, 2): 100}


def test_scomp_with_kl_lets_any_active_arm_eliminate():
    """Arm 2 beats seed 1, which leaves; seed 0 stays."""
    oracle = SCOMP(3, 10_000, 4, seeds=[True, True, False])
    answer(oracle, {(0, 1): 5, (0, 2): 5, (1, 2): 1})
    assert cells(the_plan(oracle)) == {(0, 2): 100}


def test_scomp_with_hoeffding_lets_only_seeds_eliminate():
    oracle = SCOMP(3, 10**6, 2, seeds=[True, False, False], elimination="hoeffding")
    assert 3 * oracle.gamma(1) == pytest.approx(0.2885, abs=1e-4)
    answer(oracle, {(0, 1): 789, (0, 2): 788})
    assert cells(the_plan(oracle)) == {(0, 2): 998_000}


def test_scomp_by_elimination_needs_an_arm_that_eliminates_all_seeds():
    # c = 10, 100; threshold 2 log 4 = 2.77, and 10 D(.1, .5) = 3.68
    def after(left_wins):
        oracle = SCOMP(4, 10_000, 4, seeds=[True, True, False, False], switch="elimination")
        answer(oracle, left_wins)
        return oracle, cells(the_plan(oracle))

    others = {(0, 1): 5, (0, 3): 5, (1, 3): 5}
    _, plan = after({**others, (0, 2): 1, (1, 2): 1})
    assert plan == {(2, 2): 9950}
    _, plan = after({**others, (0, 2): 1, (1, 2): 5})  # 2 eliminates 0, and 1 stays
    assert plan == {(1, 2): 100, (1, 3): 100}
    oracle, plan = after({**others, (0, 2): 1, (1, 2): 5, (1, 3): 1})  # each by another arm
    assert plan == {(2, 3): 100}
    answer(oracle, {(2, 3): 59})  # 100 D(.59, .5) = 1.63: above 2 log |A'| = 1.39
    assert cells(the_plan(oracle)) == {(2, 2): 9850}
