"""The oracle of PBR: tiny cases by hand, brute force."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from tests.oracles.pbr import PBR, Race
from tests.policies.oracle_runs import play_out, seen


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
