"""The oracles for Copeland winners: what holds in every run of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.ccb import CCB
from tests.oracles.cw_rmed import CWRMED
from tests.oracles.ecw_rmed import ECWRMED, Lists
from tests.oracles.pbr import PBR
from tests.policies.oracle_runs import Recorded


def listed_by(oracle: ECWRMED, before: Lists) -> frozenset[tuple[int, int]]:
    """L_N before line 18, of a real run after one more comparison."""
    (memory,) = oracle.memories
    return memory.L_N if memory.L_C is before.L_C else memory.L_R


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
            (before,) = player.memories
            player.play(left, right, won)
            if isinstance(judge, CWRMED) and isinstance(player, CWRMED):
                judge.play(left, right, won, listed_by(player, before))
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
