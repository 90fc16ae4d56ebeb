"""PCOMP: the oracle by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.batched_dueling.pcomp import PCOMP
from tests.policies.batched_dueling.cases import answer, cells, the_plan


def test_pcomp_two_arms():
    oracle = PCOMP(2, 100, 2)
    assert cells(the_plan(oracle)) == {(0, 1): 10}
    answer(oracle, {(0, 1): 10})  # 10 log 2 > 2 log 2: arm 1 goes
    assert cells(the_plan(oracle)) == {(0, 0): 90}
    answer(oracle, {})
    assert (oracle.used, oracle.rounds) == (100, 2)
    assert cells(the_plan(oracle)) == {}
    answer(oracle, {})
    assert oracle.rounds == 2  # an empty batch is no round


def test_pcomp_keeps_the_arms_when_all_would_go():
    oracle = PCOMP(3, 10_000, 4)  # c_1 = 10
    answer(oracle, {(0, 1): 10, (1, 2): 10, (0, 2): 0})  # a cycle
    assert cells(the_plan(oracle)) == {(0, 1): 100, (0, 2): 100, (1, 2): 100}


def test_pcomp_eliminates_at_once():
    """Arm 2 is beaten only by arm 1, which goes in the same round."""
    oracle = PCOMP(3, 10_000, 4)
    answer(oracle, {(0, 1): 10, (0, 2): 5, (1, 2): 10})
    assert cells(the_plan(oracle)) == {(0, 0): 9970}


def test_pcomp_counts_are_cumulative_with_kl_but_fresh_with_hoeffding():
    oracle = PCOMP(2, 81, 4, threshold=8.0)  # c = 3, 9, 27, 81
    answer(oracle, {(0, 1): 0})  # 3 log 2 = 2.08
    assert cells(the_plan(oracle)) == {(0, 1): 9}
    answer(oracle, {(0, 1): 0})  # 9 log 2 = 6.24, but 12 log 2 = 8.32
    assert cells(the_plan(oracle)) == {(1, 1): 69}

    oracle = PCOMP(2, 10_000, 2, elimination="hoeffding")  # c_1 = 100, gamma_1 = .256
    assert oracle.gamma(1) == pytest.approx(0.2557, abs=1e-4)
    answer(oracle, {(0, 1): 75})
    assert cells(the_plan(oracle)) == {(0, 1): 9900}
    oracle = PCOMP(2, 10_000, 2, elimination="hoeffding")
    answer(oracle, {(0, 1): 76})
    assert cells(the_plan(oracle)) == {(0, 0): 9900}


def test_a_threshold_met_exactly_is_not_passed_but_float32_may_err():
    """K = 2^m arms, 2 m comparisons all lost: N D = 2 m log 2 = 2 log K."""
    for rng, plans in [(None, 2), (np.random.default_rng(0), 1)]:
        oracle = PCOMP(2, 2**6, 6, rng=rng)  # c_1 = 2
        answer(oracle, {(0, 1): 2})
        assert len(oracle.plan()) == plans
        assert cells(oracle.plan()[0]) == {(0, 1): 4}


def test_pairs_are_truncated_in_lexicographic_order():
    oracle = PCOMP(3, 25, 1)
    assert cells(the_plan(oracle)) == {(0, 1): 25}
    oracle = PCOMP(4, 16, 2)
    assert cells(the_plan(oracle)) == {(0, 1): 4, (0, 2): 4, (0, 3): 4, (1, 2): 4}
    answer(oracle, {(0, 1): 4, (0, 2): 4, (0, 3): 4, (1, 2): 4})
    assert (oracle.used, oracle.rounds) == (16, 1)


def test_a_batch_that_is_not_planned_is_refused():
    oracle = PCOMP(2, 100, 2)
    with pytest.raises(AssertionError, match="not allowed"):
        oracle.play(np.zeros((2, 2), dtype=int), np.zeros((2, 2), dtype=int))
