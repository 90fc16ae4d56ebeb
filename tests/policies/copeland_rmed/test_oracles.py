"""The oracles of ECW-RMED and CW-RMED: conditions and optima by sorting, by hand, by theorem."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import jaxduel as jd
from tests.oracles.choices import Choices
from tests.oracles.copeland_rmed.covering import (
    CoveringProgram,
    efficient_families,
    families,
    regret,
    tournament,
)
from tests.oracles.copeland_rmed.cw_rmed import CWRMED
from tests.oracles.copeland_rmed.ecw_rmed import ECWRMED
from tests.oracles.divergence import kl_half
from tests.policies.oracle_runs import seen


def random_wins(rng: np.random.Generator, num_arms: int, most: int) -> np.ndarray:
    """Wins of up to `most` per pair and side; few of them where there shall be ties."""
    wins = rng.integers(0, most + 1, (num_arms, num_arms))
    np.fill_diagonal(wins, 0)
    return wins


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
