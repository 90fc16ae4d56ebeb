"""The oracle of CCB: tiny cases by hand, its choices, what holds in every run."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tests.oracles.copeland.ccb import CCB, Hypotheses
from tests.policies.oracle_runs import seen

NOBODY: frozenset[int] = frozenset()


def sets(*members: tuple[int, ...]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(x) for x in members)


@pytest.mark.parametrize("num_arms", [2, 4])
def test_ccb_starts_anywhere_with_two_different_arms(num_arms):
    oracle = CCB(num_arms)
    assert oracle.hypotheses() == {
        Hypotheses(frozenset(range(num_arms)), (NOBODY,) * num_arms, num_arms)
    }
    arms = range(num_arms)
    assert oracle.allowed() == {(i, j) for i in arms for j in arms if i != j}


def test_ccb_two_arms_by_hand():
    """mu = .9, 10 comparisons: the radius sqrt(.051 log t) passes .4 between t = 23 and 24."""
    oracle = CCB(2)
    seen(oracle, [[0, 9], [1, 0]], 23)
    # 9B: arm 1 leaves B, B^1 = {0}; 9C: arm 0 has L_C = 0, |B^1| = 1 stays.
    decided = Hypotheses(frozenset({0}), sets((), (0,)), 0)
    assert oracle.hypotheses() == {decided}
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, True)
    # All is open again. 10: (1, 0). 12: c = 0, d = 1 with u_10 > 1/2; c = 1, d = 0.
    assert oracle.hypotheses() == {decided}
    assert oracle.allowed() == {(1, 0), (0, 1)}


def test_ccb_how_likely_its_choices_are():
    """As above: 1/4 for line 10; then c = 1 with probability 1/3 * 1/2."""
    rng, n = np.random.default_rng(0), 4000
    oracle = CCB(2, rng=rng)
    seen(oracle, [[0, 9], [1, 0]], 24)
    oracle.memories = [Hypotheses(frozenset({0}), sets((), (0,)), 0)]
    count = 0
    for _ in range(n):
        oracle._allowed = None
        count += oracle.allowed() == {(1, 0)}
    p = 1 / 4 + 3 / 4 / 6
    assert count / n == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / n))


def test_ccb_disproven_hypotheses():
    """9A: arm 0 was in B^1, and now 1 beats it."""
    oracle = CCB(2)
    seen(oracle, [[0, 1], [9, 0]], 11)
    oracle.memories = [Hypotheses(frozenset({0}), sets((), (0,)), 0)]
    # After the reset the hypotheses are those of the other arm.
    assert oracle.hypotheses() == {Hypotheses(frozenset({1}), sets((1,), ()), 0)}
    # An L_C that was kept would have made B^0 a set of L_C + 1 = 1 element, to be left as it is.
    oracle = CCB(3)
    seen(oracle, [[0, 1, 0], [9, 0, 5], [0, 5, 0]], 11)
    oracle.memories = [Hypotheses(frozenset({0}), sets((), (0,), ()), 0)]
    assert oracle.hypotheses() == {Hypotheses(frozenset({1, 2, 0}), (NOBODY,) * 3, 3)}


def test_ccb_removes_arms_that_cannot_win():
    """Arms 0 and 2 surely beat 1: upper 2, 0, 2 and lower 1, 0, 1; 0 and 2 are open."""
    wins = [[0, 9, 2], [1, 0, 1], [2, 9, 0]]
    everyone, losers = frozenset({0, 1, 2}), frozenset({0, 2})
    for before, after in [
        # |B^1| != L_C + 1: B^1 := {k : u_1k < 1/2}
        (Hypotheses(everyone, sets((), (), ()), 3), Hypotheses(losers, sets((), (0, 2), ()), 3)),
        (Hypotheses(everyone, sets((), (), ()), 1), Hypotheses(losers, sets((), (0, 2), ()), 1)),
        # |B^1| = L_C + 1: as it is
        (Hypotheses(everyone, sets((), (2,), ()), 0), Hypotheses(losers, sets((), (2,), ()), 0)),
        # B is empty: reset
        (
            Hypotheses(frozenset({1}), sets((), (2,), ()), 0),
            Hypotheses(everyone, sets((), (), ()), 3),
        ),
    ]:
        oracle = CCB(3)
        seen(oracle, wins, 11)
        oracle.memories = [before]
        assert oracle.hypotheses() == {after}


def test_ccb_adds_winners():
    """Arm 0 surely beats all but 3, which surely beats it. At first 3 may beat all others."""
    wins = [[0, 99, 99, 1], [1, 0, 50, 50], [1, 50, 0, 50], [99, 50, 50, 0]]
    before = Hypotheses(frozenset({0, 3}), sets((3,), (0, 3), (0,), (2,)), 3)
    oracle = CCB(4)
    seen(oracle, wins, 300)
    oracle.memories = [before]
    # upper = 2, 2, 2, 3: the only candidate is 3, and it is not sure of its score.
    assert oracle.hypotheses() == {before}
    wins[3] = [99, 99, 1, 0]
    wins[1][3], wins[2][3] = 1, 99
    seen(oracle, wins, 300)
    oracle._settled = None
    # 3 beats 0 and 1, 2 beats 3: upper = 2, 1, 2, 2 and lower = 2, 0, 1, 2. Arm 2 is not sure.
    # 9C: 0 and 3 are, so L_C = 1; B^1 has two members and stays, the others go.
    expected = Hypotheses(frozenset({0, 3}), sets((), (0, 3), (), ()), 1)
    assert oracle.hypotheses() == {expected}


def test_ccb_clears_the_opponents_of_winners():
    """0 surely loses to 3 only; of the others, each open with another, nothing is sure."""
    oracle = CCB(4)
    seen(oracle, [[0, 99, 99, 1], [1, 0, 50, 99], [1, 50, 0, 50], [99, 1, 50, 0]], 300)
    oracle.memories = [Hypotheses(frozenset({0, 1}), sets((3,), (), (), ()), 4)]
    assert oracle.hypotheses() == {Hypotheses(frozenset({0, 1}), (NOBODY,) * 4, 1)}


def test_ccb_has_no_use_for_arms_that_surely_beat_the_candidate():
    """A cycle in which all is sure: every arm is a candidate, and meets itself."""
    oracle = CCB(3)
    seen(oracle, [[0, 99, 1], [1, 0, 99], [99, 1, 0]], 300)
    assert oracle.hypotheses() == {Hypotheses(frozenset({0, 1, 2}), (NOBODY,) * 3, 1)}
    assert oracle.allowed() == {(0, 0), (1, 1), (2, 2)}


TRUNCATED = [[0, 99, 99, 99], [1, 0, 50, 50], [1, 50, 0, 50], [1, 50, 50, 0]]
"""Arm 0 is sure to be the Condorcet winner, L_C = 0."""
BEFORE = Hypotheses(frozenset({0}), sets((), (0, 2), (0,), (0, 1, 2)), 0)


def test_ccb_keeps_any_subset():
    oracle = CCB(4)
    seen(oracle, TRUNCATED, 300)
    oracle.memories = [BEFORE]
    expected = {
        Hypotheses(frozenset({0}), sets((), (a,), (0,), (b,)), 0) for a in (0, 2) for b in (0, 1, 2)
    }
    assert oracle.hypotheses() == expected
    known = Hypotheses(frozenset({0}), sets((), (2,), (0,), (1,)), 0)
    oracle.know(known)
    assert oracle.hypotheses() == {known}
    # 10: (1, 2) and (3, 1), both open; else (0, 0)
    assert oracle.allowed() == {(0, 0), (1, 2), (3, 1)}
    with pytest.raises(AssertionError, match="was not allowed"):
        oracle.know(BEFORE)
    oracle.play(0, 0, True)
    assert oracle.hypotheses() == {known}


def test_ccb_keeps_every_subset_as_often():
    rng, n = np.random.default_rng(1), 3000
    oracle = CCB(4, rng=rng)
    seen(oracle, TRUNCATED, 300)
    oracle.memories = [BEFORE]
    found: Counter[tuple[frozenset[int], ...]] = Counter()
    for _ in range(n):
        oracle._settled = None
        (after,) = oracle.hypotheses()
        found[after.opponents] += 1
    assert len(found) == 6
    for count in found.values():
        assert count / n == pytest.approx(1 / 6, abs=4 * math.sqrt(5 / 36 / n))


def test_ccb_favours_those_who_may_beat_the_candidate():
    """c = 0: u_10 = u_20 = 2 while nothing is known, but B^0 = {1}."""
    rng, n = np.random.default_rng(2), 4000
    memory = Hypotheses(frozenset({0}), sets((1,), (), ()), 3)
    oracle = CCB(3)
    oracle.memories = [memory]
    assert oracle.allowed() == {(i, j) for i in range(3) for j in range(3) if i != j}
    real = CCB(3, rng=rng)
    real.memories = [memory]
    found: Counter[tuple[int, int]] = Counter()
    for _ in range(n):
        real._allowed = None
        found.update(real.allowed())
    # (0, 1): 1/4 by line 10; c = 0 with probability 2/3 + 1/9; then 1/2 + 1/4
    for pair, p in [((0, 1), 1 / 4 + 3 / 4 * 7 / 9 * 3 / 4), ((0, 2), 3 / 4 * 7 / 9 / 4)]:
        assert found[pair] / n == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / n))


@pytest.mark.parametrize("num_arms", [3, 5])
def test_what_ccb_keeps_in_every_run(num_arms):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        oracle = CCB(num_arms, rng=rng)
        p = np.triu(rng.choice([0.1, 0.9], (num_arms, num_arms)), 1)
        p += np.tril(1 - p.T, -1) + np.eye(num_arms) / 2
        for _ in range(300):
            ((bounds, (B, opponents, L_C)),) = oracle._line9_outcomes()
            assert B
            assert all(i not in opponents[i] for i in range(num_arms))
            assert not any((i, j) in bounds.pessimistic for i in B for j in opponents[i])
            assert all(low <= up for low, up in zip(bounds.lower, bounds.upper, strict=True))
            sure = [i for i in oracle.candidates(bounds) if bounds.upper[i] == bounds.lower[i]]
            for i in sure:
                assert i in B
                assert bounds.upper[i] == num_arms - 1 - L_C
                assert all(len(x) in (0, L_C + 1) for x in opponents)
            ((left, right),) = oracle.allowed()
            oracle.play(left, right, bool(rng.random() < p[left, right]))
