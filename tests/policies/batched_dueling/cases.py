"""Policies, and batches of the oracles, played: for tests."""

from __future__ import annotations

import numpy as np

import jaxduel as jd
from tests.oracles.batched_dueling.rounds import BatchedOracle


def the_plan(oracle: BatchedOracle) -> np.ndarray:
    (counts,) = oracle.plan()
    return counts


def cells(counts: np.ndarray) -> dict[tuple[int, int], int]:
    return {(int(i), int(j)): int(counts[i, j]) for i, j in np.argwhere(counts)}


def answer(oracle: BatchedOracle, left_wins: dict[tuple[int, int], int], plan=None) -> None:
    """Plays the planned batch; `left_wins[i, j]` of the comparisons of i < j go to i."""
    counts = the_plan(oracle) if plan is None else plan
    wins = np.zeros_like(counts)
    for (i, j), n in cells(counts).items():
        if i != j:
            wins[i, j] = left_wins[i, j]
            wins[j, i] = n - wins[i, j]
    oracle.play(counts, wins)


def make(name="pcomp", num_arms=4, horizon=1000, num_batches=8, **fields):
    return jd.policies.make(
        name, num_arms=num_arms, horizon=horizon, num_batches=num_batches, **fields
    )
