"""The oracles for Copeland winners: tiny cases by hand, brute force, what holds in every run."""

from __future__ import annotations

import math
import os
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

import jaxduel as jd
from tests.oracles.batched import kl_half
from tests.oracles.ccb import CCB, Hypotheses
from tests.oracles.choices import Choices
from tests.oracles.copeland import (
    CoveringProgram,
    efficient_families,
    families,
    regret,
    tournament,
    unordered,
)
from tests.oracles.cw_rmed import CWRMED
from tests.oracles.ecw_rmed import ECWRMED, Lists
from tests.oracles.pbr import PBR, Race
from tests.oracles.scb import SCB, Pull, kl, kl_interval
from tests.oracles.sequential import SequentialOracle

NOBODY: frozenset[int] = frozenset()


def seen(oracle: SequentialOracle, wins: list[list[int]], t: int) -> None:
    """The oracle at time t, after comparisons with these wins."""
    oracle.W[:] = wins
    oracle.N[:] = oracle.W + oracle.W.T
    oracle.t = t


def sets(*members: tuple[int, ...]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(x) for x in members)


def play_out(oracle: SequentialOracle, beats: set[tuple[int, int]], steps: int):
    """The pairs of a run that leaves no choice; (i, j) in `beats` where i always beats j."""
    pairs = []
    for _ in range(steps):
        ((left, right),) = oracle.allowed()
        oracle.play(left, right, left == right or (left, right) in beats)
        pairs.append((left, right))
    return pairs


# ---- CCB -------------------------------------------------------------------------------------


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


# ---- PBR -------------------------------------------------------------------------------------


def test_pbr_rounds_by_hand():
    """log(2 K^2) = 2.89 for T = 1: six comparisons make an interval [1 - .49, 1 + .49]."""
    order = {(0, 1), (0, 2), (1, 2)}
    oracle = PBR(3, 1)
    assert oracle.c(6) == pytest.approx(math.sqrt(math.log(18) / 12))
    assert oracle.c(6) < 0.5 < oracle.c(5)
    rounds = [(0, 1), (0, 2), (1, 2)] * 6
    assert play_out(oracle, order, 20) == [*rounds, (0, 0), (0, 0)]
    assert oracle.memories[0].sure == order
    # A cycle: every arm wins once, the lowest index is taken.
    assert play_out(PBR(3, 1), {(0, 1), (1, 2), (2, 0)}, 20) == [*rounds, (0, 0), (0, 0)]


def test_pbr_horizon_and_samples():
    assert PBR(4, 1000).c(8) == pytest.approx(math.sqrt(math.log(32e6) / 16))
    assert PBR(4, 1000, max_samples=50).c(8) == pytest.approx(math.sqrt(math.log(32 * 50e3) / 16))


def test_pbr_stops_as_soon_as_one_arm_is_sure():
    """Arm 2 beats both others, which are even."""
    oracle = PBR(3, 1)
    for t in range(18):
        (pair,) = oracle.allowed()
        assert pair == [(0, 1), (0, 2), (1, 2)][t % 3]
        oracle.play(*pair, pair == (0, 1) and t % 2 == 0)
    assert oracle.allowed() == {(2, 2)}


def test_pbr_drops_pairs_of_decided_arms():
    """Four arms; 0 and 1 beat 2 and 3; 2 and 3 are out, 0 against 1 is open."""
    sure = frozenset({(0, 2), (0, 3), (1, 2), (1, 3)})
    oracle = PBR(4, 1)
    assert oracle.surely_out(sure) == [2, 3]
    assert oracle.surely_first(sure) == []
    oracle.memories = [Race(((0, 1), (1, 3), (2, 3)), 2, sure - {(1, 3)}, -1)]
    seen(oracle, [[0, 2, 6, 6], [2, 0, 6, 9], [0, 0, 0, 2], [0, 0, 2, 0]], 40)
    oracle.play(2, 3, True)
    assert oracle.memories == [Race(((0, 1),), 0, sure, -1)]
    assert oracle.allowed() == {(0, 1)}


def test_pbr_keeps_pairs_of_which_one_arm_is_decided():
    """2 may still win once more than 3, which is out."""
    sure = frozenset({(0, 2), (0, 3), (1, 3)})
    oracle = PBR(4, 1)
    assert (oracle.surely_out(sure), oracle.surely_first(sure)) == ([3], [])
    active = ((0, 1), (1, 2), (2, 3))
    oracle.memories = [Race(active, 2, sure, -1)]
    seen(oracle, [[0, 3, 6, 6], [3, 0, 3, 6], [0, 3, 0, 3], [0, 0, 2, 0]], 30)
    oracle.play(2, 3, False)
    assert oracle.memories == [Race(active, 0, sure, -1)]


def test_pbr_is_sure_of_what_holds_in_all_tournaments():
    rng = np.random.default_rng(0)
    pairs, found = list(combinations(range(4), 2)), 0
    for _ in range(200):
        sure = frozenset((i, j) if rng.random() < 0.5 else (j, i) for i, j in pairs)
        sure = frozenset(p for p in sure if rng.random() < 0.7)
        left = [(i, j) for i, j in pairs if not {(i, j), (j, i)} & sure]
        oracle = PBR(4, 1)
        for answer in product([False, True], repeat=len(left)):
            beats = sure | {(j, i) if x else (i, j) for (i, j), x in zip(left, answer, strict=True)}
            wins = oracle.w(beats)
            for i in oracle.surely_first(sure):
                assert wins[i] > max(wins[j] for j in range(4) if j != i)
            assert all(wins[i] < max(wins) for i in oracle.surely_out(sure))
        found += bool(oracle.surely_first(sure))
    assert 20 < found < 180


# ---- SCB -------------------------------------------------------------------------------------


def test_scb_rounds_of_two_arms():
    """A pair is decided after 20, 22 and 27 equal answers in rounds of 4, 16 and 256."""
    oracle = SCB(2, lambda pull: 1 - pull.arm)
    assert [oracle.length(r) for r in range(1, 6)] == [4, 16, 256, 65536, 2**32]
    for r, n in [(1, 20), (2, 22), (3, 27)]:
        assert oracle.radius(n, r) < 0.5 < oracle.radius(n - 1, r)
    pairs = play_out(oracle, {(0, 1)}, 276)
    assert pairs == [(0, 1)] * 47 + [(0, 0)] * 229
    assert oracle.memories == [oracle.start(4)]
    assert oracle.allowed() == {(0, 1)}


def test_scb_tests():
    oracle = SCB(3)
    delta = math.log(256) / 256
    assert oracle.radius(5, 3) == pytest.approx(math.sqrt(math.log(900 / delta) / 10))
    assert oracle.bound(2, 3) == pytest.approx(math.log(24 / delta))
    expected = math.log(480 / delta) + 2 * math.log(math.log(40))
    assert oracle.bound(40, 3) == pytest.approx(expected)
    oracle = SCB(3, scale=0.5)
    assert oracle.radius(5, 3) == pytest.approx(math.sqrt(math.log(900 / delta) / 20))
    assert oracle.bound(40, 3) == pytest.approx(expected / 2)


def test_scb_intervals():
    assert kl_interval(0.0, 0.2) == pytest.approx((0, 1 - math.exp(-0.2)), abs=1e-12)
    assert kl_interval(1.0, 0.2) == pytest.approx((math.exp(-0.2), 1), abs=1e-12)
    for mean in (0.01, 0.3, 0.5, 0.9):
        for end in kl_interval(mean, 0.02):
            assert kl(mean, end) == pytest.approx(0.02, rel=1e-9)
        low, high = kl_interval(1 - mean, 0.02)
        assert kl_interval(mean, 0.02) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert kl_interval(0.5, 50.0) == pytest.approx((0, 1), abs=1e-12)


def test_scb_reuses_answers():
    """One comparison decides, and one pass eliminates, with a small scale."""
    pulls = []

    def draw(pull: Pull) -> int:
        pulls.append(pull)
        return {0: 1, 1: 0, 2: 0}[pull.arm]

    oracle = SCB(3, draw, scale=0.05)
    assert oracle.radius(1, 1) < 0.5
    # m = 1, 0, 0 after the pass: a_0 = .84 > b_1 = b_2 = .16
    assert oracle.bound(1, 1) == pytest.approx(0.177, abs=1e-3)
    assert play_out(oracle, {(0, 1), (0, 2)}, 4) == [(0, 1), (2, 0), (0, 0), (0, 0)]
    assert pulls == [Pull(0, 1, 0, 1, 0), Pull(1, 2, 0, 1, 0), Pull(2, 2, 1, 1, 0)]
    assert oracle.memories == [oracle.start(2)]


def test_scb_commits_when_all_is_decided():
    """A cycle: each of the three decisions leaves something open but the last."""
    beats = {(0, 1), (1, 2), (2, 0)}
    oracle = SCB(3, lambda pull: (pull.arm + 1) % 3, scale=0.05)
    assert play_out(oracle, beats, 4) == [(0, 1), (1, 2), (2, 0), (0, 0)]
    oracle = SCB(4, scale=0.05)
    memory = oracle.start(2)._replace(B=(2, 3), beats=frozenset({(3, 2), (2, 0), (2, 1), (0, 3)}))
    assert oracle.commit(memory) == memory
    decided = memory._replace(beats=memory.beats | {(3, 1)})
    assert oracle.commit(decided).winner == 2
    assert oracle.commit(memory._replace(B=(3,))).winner == 3


def test_scb_passes():
    oracle = SCB(3)
    memory = oracle.start(3)._replace(R=(1, 0, 0), cursor=2)
    after = oracle.add_reward(memory, 2, True, Choices())
    assert after == memory._replace(R=(1, 0, 1), cursor=0, s=1)
    memory = oracle.start(3)._replace(R=(100, 30, 99), cursor=2, s=99)
    after = oracle.add_reward(memory, 2, True, Choices())
    assert after == memory._replace(R=(100, 30, 100), cursor=0, s=100, B=(0, 2))


def test_scb_commits_before_the_pass_is_over():
    """All is decided with the pair (1, 2): 0 and 1 win once. Elimination would have kept 1 only."""
    oracle = SCB(3, scale=0.05)
    memory = oracle.start(3)._replace(
        B=(0, 1), R=(0, 50, 0), s=50, cursor=1, beats=frozenset({(0, 1), (2, 0)}), pair=(1, 2)
    )
    assert oracle.add_reward(memory, 1, True, Choices()).B == (1,)
    oracle.memories = [memory]
    oracle.play(1, 2, True)
    assert oracle.allowed() == {(0, 0)}


def test_scb_draws_are_asked_for_and_checked():
    with pytest.raises(AssertionError, match="no draws were given"):
        SCB(3).allowed()
    with pytest.raises(AssertionError, match="0 is not an opponent of 0"):
        SCB(3, lambda pull: 0).allowed()


class Recorded(SCB):
    """A real run, with its draws."""

    def __init__(self, num_arms: int, scale: float, rng: np.random.Generator | None):
        super().__init__(num_arms, scale=scale, rng=rng)
        self.drawn: dict[Pull, int] = {}

    def opponent(self, memory, i, position):
        j = super().opponent(memory, i, position)
        self.drawn[Pull(i, self.t, position, memory.r, memory.s)] = j
        return j


def test_scb_real_runs():
    n = np.zeros((4, 4))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        oracle = Recorded(4, 0.3, rng)
        decided: Counter[int] = Counter()
        last = None
        for _ in range(400):
            before = oracle.memories[0]
            (pair,) = oracle.allowed()
            unordered_pair = unordered(*pair)
            if pair[0] != pair[1]:
                assert not {pair, pair[::-1]} & before.beats  # no pair is decided twice
                decided[before.r] += pair != last
            last = pair if pair[0] != pair[1] else None
            low = unordered_pair[1] == pair[0]
            oracle.play(*pair, bool(rng.random() < (0.9 if low else 0.1)))
            after = oracle.memories[0]
            assert after.B
            if after.r > before.r:
                assert (after.used, last) == (0, last)
                last = None
        assert oracle.memories[0].r == 4  # rounds ended at 4, 20 and 276
        assert all(count <= 6 for count in decided.values())
        for pull, j in oracle.drawn.items():
            n[pull.arm, j] += 1
    assert (n.diagonal() == 0).all()
    for i in range(4):
        total = n[i].sum()
        for j in set(range(4)) - {i}:
            assert n[i, j] / total == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / total))


# ---- ECW-RMED and CW-RMED: the optimum -------------------------------------------------------


def random_wins(rng: np.random.Generator, num_arms: int, most: int) -> np.ndarray:
    """Wins of up to `most` per pair and side; few of them where there shall be ties."""
    wins = rng.integers(0, most + 1, (num_arms, num_arms))
    np.fill_diagonal(wins, 0)
    return wins


def costs_of(wins: np.ndarray) -> dict[tuple[int, int], float]:
    game = tournament(wins)
    pairs = [(i, j) for i in range(len(wins)) for j in range(i) if wins[i, j] != wins[j, i]]
    return {
        (i, j): regret(game, i, j) / kl_half(wins[i, j] / (wins[i, j] + wins[j, i]))
        for i, j in pairs
    }


def least_sum(e: np.ndarray, wins: np.ndarray, i1: int) -> float:
    """The smallest left side of (2), by sorting; infinite without conditions."""
    K = len(e)
    superiors = [[j for j in range(K) if wins[i, j] < wins[j, i]] for i in range(K)]
    inferiors = [j for j in range(K) if wins[i1, j] > wins[j, i1]]
    L = [len(x) for x in superiors]
    first, second = sorted(L)[:2]
    smallest = math.inf
    for i2 in set(range(K)) - {i1}:
        others = sorted(e[i1, j] for j in inferiors if j != i2)
        against = sorted(e[i2, j] for j in superiors[i2] if j != i1)
        for level in range(max(0, first - 1), second + 1):
            for inside in (False, True):
                if inside and i2 not in inferiors:
                    continue
                of_I, of_S = level + 1 - first - inside, max(0, L[i2] - level - inside)
                if 0 <= of_I <= len(others) and of_S <= len(against):
                    total = sum(others[:of_I]) + sum(against[:of_S])
                    smallest = min(smallest, total + inside * e[i1, i2])
    return smallest


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
@pytest.mark.parametrize("most", [1, 20])
def test_conditions_by_sorting(num_arms, most):
    rng = np.random.default_rng(num_arms)
    for _ in range(60):
        wins = random_wins(rng, num_arms, most)
        e = rng.random((num_arms, num_arms)) * rng.choice(
            [0, 1], (num_arms, num_arms), p=[0.2, 0.8]
        )
        e = np.tril(e, -1) + np.tril(e, -1).T
        for i1 in tournament(wins).winners:
            sums = [sum(e[p] for p in family) for family in families(tournament(wins), i1)]
            assert min([*sums, math.inf]) == pytest.approx(least_sum(e, wins, i1), rel=1e-12)


TABLE_2 = np.array([[5, 6, 6, 6], [4, 5, 9, 1], [4, 1, 5, 9], [4, 9, 1, 5]])
"""Arm 0 beats all others, which are a cycle: 1 beats 2, 2 beats 3, 3 beats 1."""


def test_conditions_by_hand():
    game = tournament(TABLE_2)
    assert (game.losses, game.winners) == ([0, 2, 2, 2], [0])
    # l = 0: I = {i2} and one superior of i2; l = 1: two of I, with i2 among them.
    assert set(families(game, 0)) == {
        frozenset({(1, 0), (3, 1)}),
        frozenset({(2, 0), (2, 1)}),
        frozenset({(3, 0), (3, 2)}),
        frozenset({(1, 0), (2, 0)}),
        frozenset({(1, 0), (3, 0)}),
        frozenset({(2, 0), (3, 0)}),
    }
    assert set(efficient_families(game, 0)) == {frozenset({(j, 0)}) for j in (1, 2, 3)}
    # A cycle of three: l = 0 asks for nothing of i1, and two of the one superior (i1 apart).
    cycle = tournament(np.array([[0, 9, 1], [1, 0, 9], [9, 1, 0]]))
    assert (cycle.losses, cycle.winners) == ([1, 1, 1], [0, 1, 2])
    # l = 1: I = {1}; i2 = 1 needs no superior, i2 = 2 none either. l = 0: S_2 = {1}, S_1 = {}.
    assert set(families(cycle, 0)) == {frozenset({(1, 0)}), frozenset({(2, 1)})}
    assert set(efficient_families(cycle, 0)) == {frozenset({(1, 0)}), frozenset({(2, 1)})}


def constants(preferences: np.ndarray) -> tuple[float, float]:
    """The constants of Theorems 2 and 4."""
    game = tournament(preferences)
    pairs = [(i, j) for i in range(len(preferences)) for j in range(i)]
    cost = {p: regret(game, *p) / kl_half(preferences[p]) for p in pairs}
    best = min(CoveringProgram(families(game, i), cost).value for i in game.winners)
    efficient = (CoveringProgram(efficient_families(game, i), cost).value for i in game.winners)
    return best, min(efficient)


def test_known_constants():
    gap = constants(np.asarray(jd.problems.load("gap").preferences, float))
    assert gap == pytest.approx((11.02, 1252.5), abs=0.02)


def test_known_constants_of_data():
    folder = os.environ.get("JAXDUEL_DATA")
    if not folder or not os.path.isdir(folder):
        pytest.skip("$JAXDUEL_DATA names no folder with the MSLR files")
    five = jd.problems.load("mslr-informational[1,2,3,4,5]")
    assert constants(np.asarray(five.preferences, float))[0] == pytest.approx(66.27, abs=0.01)


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
@pytest.mark.parametrize("most", [1, 20])
def test_theorem_5_gives_the_optimum(num_arms, most):
    rng = np.random.default_rng(num_arms)
    for _ in range(25):
        oracle = ECWRMED(num_arms)
        seen(oracle, random_wins(rng, num_arms, most).tolist(), 50)
        for i1 in oracle.game().winners:
            program = oracle.program(i1)
            assert oracle.value(i1) == pytest.approx(program.value, rel=1e-9, abs=1e-9)
            assert program.is_optimal(oracle.solution(i1, Choices()))
            assert program.is_optimal(program.solution)


@pytest.mark.parametrize("num_arms", [3, 4, 5])
def test_theorem_6_relates_both_optima(num_arms):
    rng = np.random.default_rng(num_arms)
    shared = alone = 0
    for _ in range(40):
        wins = 2 * random_wins(rng, num_arms, 15)
        wins += np.tril(np.ones_like(wins), -1)  # odd counts: no ties
        efficient, best = ECWRMED(num_arms), CWRMED(num_arms)
        seen(efficient, wins.tolist(), 50)
        seen(best, wins.tolist(), 50)
        winners = efficient.game().winners
        for i1 in winners:
            program = best.program(i1)
            assert best.value(i1) <= efficient.value(i1) * (1 + 1e-9) + 1e-9
            if len(winners) > 1:
                assert program.is_optimal(efficient.solution(i1, Choices()))
                shared += 1
            else:
                alone += not program.is_optimal(efficient.solution(i1, Choices()))
    assert shared > 5
    assert alone > 5


def test_programs_with_many_solutions():
    """Two of three conditions of the same cost: e_a + e_b >= 1, e_c >= 1."""
    a, b, c, d = (1, 0), (2, 0), (2, 1), (3, 0)
    program = CoveringProgram((frozenset({a, b}), frozenset({c})), {a: 2.0, b: 2.0, c: 0.0, d: 1.0})
    assert program.value == pytest.approx(2.0)
    for e in ({a: 1.0, c: 1.0}, {b: 1.0, c: 1.0}, {a: 0.3, b: 0.7, c: 1.0}):
        assert program.is_optimal(e)
    for e in (
        {a: 1.0},
        {a: 1.0, b: 0.1, c: 1.0},
        {a: 1.0, c: 1.0, d: 0.01},
        {a: 2.0, b: -1.0, c: 1.0},
    ):
        assert not program.is_optimal(e)
    assert program.admits({a: 0.9}, {})
    assert program.admits({a: 0.5, b: 0.5}, {})
    assert program.admits({}, {a: 0.2, b: 0.8})
    assert program.admits({c: 1.0}, {d: 0.0})
    assert not program.admits({a: 0.6, b: 0.6}, {})
    assert not program.admits({}, {a: 0.2, b: 0.7})
    assert not program.admits({a: 1.1}, {})
    assert not program.admits({d: 0.1}, {})


# ---- ECW-RMED and CW-RMED: the lists ---------------------------------------------------------


@pytest.mark.parametrize("oracle_class", [ECWRMED, CWRMED])
def test_two_arms_by_hand(oracle_class):
    """3 sqrt(log t) is 3.14 at t = 3, 3.81 at 5, 4.18 at 7, 4.45 at 9 and passes 5 at 17."""
    oracle = oracle_class(2)
    pairs = []
    for _ in range(17):
        (pair,) = oracle.allowed()
        # L_N: nothing while line 4 draws, then (1, 1)
        forced = oracle.choose(oracle.memories[0], Choices())[1].forced
        oracle.play(*pair, True, frozenset() if forced else frozenset([(1, 1)]))
        pairs.append(pair)
    first = [(1, 0), (1, 0), (1, 0), (1, 1), (1, 0), (1, 1), (1, 0), (1, 1)]
    assert pairs == [*first, *[(1, 1)] * 8, (1, 0)]


def test_line_4_is_asked_once_per_pass():
    """The six pairs of four arms are drawn once, whatever comes out, then the six of L_C."""
    oracle = ECWRMED(4)
    order = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    assert play_out(oracle, {(i, j) for i in range(4) for j in range(i)}, 12) == order * 2
    # 3 beats all others; 1 and 2 comparisons are evidence of 1.39 / log t < 1, of all but L_R
    (memory,) = oracle.memories
    assert memory.forced is None
    assert {(3, 0), (3, 1), (3, 2), (3, 3)} <= set(memory.L_C)
    assert list(memory.L_C) == sorted(memory.L_R)


def test_line_4_tests():
    oracle = ECWRMED(3)
    # |mu - 1/2| = 0 and .008, .25 with N = 1,000; at t = 1000 the bound is .01 / 1.93 = .0052
    seen(oracle, [[0, 500, 508], [500, 0, 750], [492, 250, 0]], 1000)
    assert oracle.allowed() == {(1, 0)}
    assert [oracle.unsettled(i, j, Choices()) for i, j in oracle.pairs] == [True, False, False]
    assert [ECWRMED.unsettled(x, 2, 0, Choices()) for x in [at(oracle, 10), at(oracle, 15)]] == [
        True,  # log log 10 = .83 counts as 1: .008 < .01
        True,  # log log 15 = .996
    ]
    assert not at(oracle, 40).unsettled(2, 0, Choices())  # .01 / log log 40 = .0077
    seen(oracle, [[0, 8, 9], [0, 0, 0], [0, 0, 0]], 1096)  # 3 sqrt(log 1096) = 7.9
    assert [oracle.unsettled(i, j, Choices()) for i, j in oracle.pairs] == [False, False, True]


def at(oracle: ECWRMED, t: int) -> ECWRMED:
    oracle.t = t
    return oracle


CONFIDENT = [[0, 60, 60], [0, 0, 60], [0, 0, 0]]
"""0 beats 1 beats 2: 41.6 nats of evidence for every pair."""


def test_pairs_to_come_are_not_listed():
    oracle = ECWRMED(3)
    seen(oracle, CONFIDENT, 100)
    memory = Lists(((0, 0), (1, 0)), frozenset({(0, 0), (1, 0)}), frozenset(), 0, ())
    oracle.memories = [memory]
    assert play_out(oracle, {(0, 0)}, 1) == [(0, 0)]
    assert oracle.memories == [
        Lists(((0, 0), (1, 0)), frozenset({(1, 0)}), frozenset({(0, 0)}), 1, ())
    ]
    assert play_out(oracle, {(0, 1)}, 1) == [(1, 0)]
    assert oracle.memories == [Lists(((0, 0),), frozenset({(0, 0)}), frozenset(), 0, None)]
    # (i*, i*) still to come: not listed
    both = frozenset({(1, 0), (2, 2)})
    oracle.memories = [Lists(((1, 0), (2, 2)), both, frozenset(), 0, ())]
    seen(oracle, np.array(CONFIDENT).T.tolist(), 100)  # 2 is the winner
    assert play_out(oracle, set(), 1) == [(1, 0)]
    assert not oracle.memories[0].L_N


def test_what_is_listed_by_hand():
    """0 beats 1 and 2 by 3:1, 1 beats 2 by 30:10; t = e^4 or so: 55."""
    wins = [[0, 3, 3], [1, 0, 30], [1, 10, 0]]
    for oracle in (ECWRMED(3), CWRMED(3)):
        seen(oracle, wins, 55)
        assert not oracle.confident(0, Choices())
        x = oracle.evidence()
        # 4 d(3/4) = .52, over log 55 = 4.007; 40 d(3/4) = 5.2
        assert (x[1, 0], x[2, 0]) == pytest.approx((0.1306, 0.1306), abs=1e-4)
        assert x[2, 1] == pytest.approx(1.306, abs=1e-3)
    # ECW: e = 1 for (1, 0) and (2, 0); |S_2 \ {0}| = 1 < 3: nothing for (2, 1)
    efficient = ECWRMED(3)
    seen(efficient, wins, 55)
    assert efficient.candidates(0, Choices()) == {(1, 0), (2, 0)}
    assert set(efficient.solution(0, Choices()).values()) == {1.0}
    # CW: r_10 = 1/4, r_20 = 1/2, r_21 = 3/4; L = 0, 1, 2. l = 0: {(1, 0)} for i2 = 1, and
    # {(2, 0), (2, 1)} for i2 = 2; l = 1: {(1, 0), (2, 0)}. So e = 1, 1, 0 at the least cost.
    best = CWRMED(3)
    seen(best, wins, 55)
    assert set(best.families(0)) == {frozenset({(1, 0)}), frozenset({(2, 0), (2, 1)})}
    assert best.program(0).solution == pytest.approx({(1, 0): 1.0, (2, 0): 1.0, (2, 1): 0.0})
    assert best.program(0).is_optimal(efficient.solution(0, Choices()))


EVEN = [[0, 9, 9, 1], [1, 0, 5, 9], [1, 5, 0, 9], [9, 1, 1, 0]]
"""L = 1, 1, 1, 2: 0 beats 1 and 2, these are even and beat 3, which beats 0."""


@pytest.mark.parametrize("oracle_class", [ECWRMED, CWRMED])
@pytest.mark.parametrize(
    ("t", "tails"),
    # 10 comparisons at .9 have .4 and .6 of log t; e_31 + e_32 = 1 is all that is asked of both
    [(10_000, [{(3, 1)}, {(3, 2)}, {(3, 1), (3, 2)}]), (462, [set(), {(3, 1)}, {(3, 2)}])],
)
def test_lists_may_be_told(oracle_class, t, tails):
    """i* = 0, at the cost of r_31 = r_32 = 1/6; the others need both (3, 0) and a pair of 3's."""
    pairs = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]

    def start() -> ECWRMED:
        oracle = oracle_class(4)
        seen(oracle, EVEN, t)
        oracle.memories = [Lists(((1, 0),), frozenset([(1, 0)]), frozenset(), 0, ())]
        return oracle

    expected = {frozenset({(0, 0), (1, 0), (2, 0)} | tail) for tail in tails}
    accepted = set()
    for bits in product([False, True], repeat=6):
        for i in (0, 1):
            listed = frozenset(p for p, x in zip(pairs, bits, strict=True) if x) | {(i, i)}
            oracle = start()
            try:
                oracle.play(1, 0, False, listed)
            except AssertionError as error:
                assert "was not allowed" in str(error)  # noqa: PT017 (which ones is the question)
            else:
                accepted.add(listed)
                assert [frozenset(memory.L_C) for memory in oracle.memories] == [listed]
    assert accepted == expected
    if oracle_class is ECWRMED:
        oracle = start()
        oracle.play(1, 0, False)
        assert {frozenset(memory.L_C) for memory in oracle.memories} == expected


def test_what_is_listed_already_stays():
    oracle = ECWRMED(4)
    seen(oracle, EVEN, 10_000)
    old = frozenset({(2, 1), (3, 1)})
    oracle.memories = [Lists(((1, 0), (3, 0)), frozenset({(1, 0), (3, 0)}), old, 0, ())]
    with pytest.raises(AssertionError, match="was not allowed"):
        oracle.play(1, 0, False, frozenset({(0, 0), (1, 0), (2, 0), (2, 1)}))
    oracle = ECWRMED(4)
    seen(oracle, EVEN, 10_000)
    oracle.memories = [Lists(((1, 0), (3, 0)), frozenset({(1, 0), (3, 0)}), old, 0, ())]
    listed = old | {(0, 0), (1, 0), (2, 0)}
    oracle.play(1, 0, False, listed)
    assert oracle.memories == [Lists(((1, 0), (3, 0)), frozenset({(3, 0)}), listed, 1, ())]


def lists_of(oracle: ECWRMED) -> frozenset[tuple[int, int]]:
    """L_N before line 18, of a real run."""
    (memory,) = oracle.memories
    return memory.L_R if memory.forced is None else memory.L_N


def test_lists_are_needed():
    oracle = CWRMED(3)
    with pytest.raises(AssertionError, match="the lists are needed"):
        play_out(oracle, set(), 4)


# ---- every run -------------------------------------------------------------------------------

MAKE = {
    "ccb": lambda K, rng: CCB(K, rng=rng),
    "pbr": lambda K, rng: PBR(K, 1, rng=rng),
    "scb": lambda K, rng: Recorded(K, 0.3, rng),
    "ecw-rmed": lambda K, rng: ECWRMED(K, rng=rng),
    "cw-rmed": lambda K, rng: CWRMED(K, rng=rng),
}


@pytest.mark.parametrize("num_arms", [2, 3, 5])
@pytest.mark.parametrize("name", MAKE)
def test_a_real_run_is_always_allowed(name, num_arms):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        p = np.triu(rng.choice([0.1, 0.4, 0.8], (num_arms, num_arms)), 1)
        p += np.tril(1 - p.T, -1) + np.eye(num_arms) / 2
        player, judge = MAKE[name](num_arms, rng), MAKE[name](num_arms, None)
        if isinstance(player, Recorded):
            judge.draw = player.drawn.__getitem__
        for _ in range(150):
            ((left, right),) = player.allowed()
            assert (left, right) in judge.allowed()
            won = bool(rng.random() < p[left, right])
            player.play(left, right, won)
            if isinstance(judge, CWRMED) and isinstance(player, CWRMED):
                judge.play(left, right, won, lists_of(player))
            else:
                judge.play(left, right, won)
            assert player.memories[0] in judge.memories
            assert len(judge.memories) <= 12
        assert np.array_equal(player.N, player.W + player.W.T)


@pytest.mark.parametrize("name", MAKE)
def test_a_real_run_ends_with_the_best_arm_most_often(name):
    rng = np.random.default_rng(1)
    oracle, plays = MAKE[name](3, rng), np.zeros(3)
    preferences = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]])
    for t in range(500):
        ((left, right),) = oracle.allowed()
        oracle.play(left, right, bool(rng.random() < preferences[left, right]))
        plays += (t >= 350) * np.bincount([left, right], minlength=3)
    assert plays.argmax() == 0


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
