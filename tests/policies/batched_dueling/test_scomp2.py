"""SCOMP2: the oracle by hand."""

from __future__ import annotations

import math

import pytest

from tests.oracles.batched_dueling.scomp2 import SCOMP2
from tests.policies.batched_dueling.cases import answer, cells, the_plan


@pytest.mark.parametrize(
    ("width", "called"), [(1.0, {1}), (None, {1, 2}), (0.7, {1, 2}), (0.8, {1}), (0.0, {1, 2, 3})]
)
def test_scomp2_by_elimination_calls_pcomp_with_the_arms_that_lead(width, called):
    # c = 10, 100; threshold 2 log 5 = 3.22: 10 D(.1, .5) = 3.68, 10 D(.2, .5) = 1.93
    oracle = SCOMP2(
        5, 10_000, 4, seeds=[True, False, False, False, False], switch="elimination", width=width
    )
    answer(oracle, {(0, 1): 1, (0, 2): 2, (0, 3): 4, (0, 4): 5})
    plan = cells(the_plan(oracle))
    if len(called) == 1:
        assert plan == {(1, 1): 9960}
        return
    assert plan == dict.fromkeys(((i, j) for i in called for j in called if i < j), 10)
    answer(oracle, {pair: 2 if pair == (1, 2) else 5 for pair in plan})
    left = {2} if len(called) == 2 else called  # 2 log 2 = 1.39 < 1.93 < 2 log 3 = 2.20
    assert {arm for pair in cells(the_plan(oracle)) for arm in pair} == left


def test_pcomp_is_called_with_what_is_left_of_the_horizon():
    oracle = SCOMP2(
        3, 60, 2, seeds=[True, False, False], switch="elimination", width=0.0,
        elimination="kl-log-horizon",
    )  # fmt: skip
    answer(oracle, {(0, 1): 0, (0, 2): 2})  # c_1 = 7: 4.85 > log 60 = 4.09
    (position,) = oracle.positions
    assert position.called == (2, 46)
    assert oracle.threshold(position.called) == pytest.approx(math.log(46))
    assert oracle.gamma(1, position.called) == pytest.approx(math.sqrt(math.log(184) / 14))


def test_scomp2_with_one_seed_skips_its_first_batch():
    oracle = SCOMP2(3, 10_000, 4, seeds=[False, True, False])
    assert cells(the_plan(oracle)) == {(0, 1): 10, (1, 2): 10}


def test_scomp2_candidate_is_any_undefeated_seed():
    # c_1 = 1000, gamma_1 = .0895
    def first_batch(left_wins):
        oracle = SCOMP2(3, 10**6, 2, seeds=[True, True, True])
        answer(oracle, left_wins)
        return [set(cells(x)) for x in oracle.plan()]

    of = {i: {(min(i, j), max(i, j)) for j in range(3) if j != i} for i in range(3)}
    assert first_batch({(0, 1): 500, (0, 2): 580, (1, 2): 595}) == [of[0], of[1]]
    assert first_batch({(0, 1): 500, (0, 2): 589, (1, 2): 580}) == [of[0], of[1], of[2]]
    assert first_batch({(0, 1): 400, (0, 2): 590, (1, 2): 500}) == [of[1]]
    assert first_batch({(0, 1): 900, (0, 2): 100, (1, 2): 900}) == [of[0], of[1], of[2]]  # cycle


def test_scomp2_keeps_its_candidate_while_it_is_undefeated():
    # c = 31, 1000; gamma_1 = .51, gamma_2 = .0895
    of = {i: {(min(i, j), max(i, j)) for j in range(3) if j != i} for i in range(3)}

    def plans(candidate, wins_of_0_over_1):
        oracle = SCOMP2(
            3, 10**6, 4, seeds=[True, True, True], candidate=candidate, threshold=math.inf
        )
        answer(oracle, {(0, 1): 15, (0, 2): 15, (1, 2): 15})
        assert [set(cells(x)) for x in oracle.plan()] == [of[0], of[1], of[2]]
        answer(oracle, {(0, 1): 15, (1, 2): 15}, plan=oracle.plan()[1])
        answer(oracle, {(0, 1): wins_of_0_over_1, (0, 2): 500, (1, 2): 500})
        return [set(cells(x)) for x in oracle.plan()]

    assert plans("kept", 500) == [of[1]]
    assert plans("redrawn", 500) == [of[0], of[1], of[2]]
    assert plans("kept", 600) == plans("redrawn", 600) == [of[0], of[2]]


def test_scomp2_does_not_eliminate_between_its_two_batches():
    oracle = SCOMP2(3, 10_000, 4, seeds=[True, True, False])
    answer(oracle, {(0, 1): 0})
    # gamma_1 > 1/2: both are undefeated, and arm 0 is still there
    plans = [cells(x) for x in oracle.plan()]
    assert plans == [{(0, 1): 10, (0, 2): 10}, {(0, 1): 10, (1, 2): 10}]
    answer(oracle, {(0, 1): 0, (1, 2): 5}, plan=oracle.plan()[1])  # now arm 0 goes: 20 log 2
    assert cells(the_plan(oracle)) == {(1, 2): 100}


def test_scomp2_keeps_every_candidate_that_the_batch_may_have_had():
    """K = 2: (0, 1) is compared whoever is the candidate, but only 0's defeat makes it switch."""
    oracle = SCOMP2(2, 10**6, 2, seeds=[True, True], threshold=math.inf)
    answer(oracle, {(0, 1): 500})
    assert len(oracle.positions) == 2
    assert 5 * oracle.gamma(1) == pytest.approx(0.4359, abs=1e-4)
    answer(oracle, {(0, 1): 50})
    # candidate 0: a switch to A' = {1}; candidate 1: no switch, r = 2 goes on with both seeds
    assert sorted(map(str, map(cells, oracle.plan()))) == ["{(0, 1): 998000}", "{(1, 1): 998000}"]


def test_scomp2_switches_and_repeats_the_batch_size():
    # c_1 = 1000; 5 gamma = .455, 3 gamma = .273
    oracle = SCOMP2(4, 10**6, 2, seeds=[True, False, False, False])
    answer(oracle, {(0, 1): 44, (0, 2): 226, (0, 3): 228})
    assert cells(the_plan(oracle)) == {(1, 2): 1000}
    oracle = SCOMP2(4, 10**6, 2, seeds=[True, False, False, False], threshold=math.inf)
    answer(oracle, {(0, 1): 46, (0, 2): 226, (0, 3): 228})  # no switch
    assert cells(the_plan(oracle)) == {(0, 1): 997_000}
