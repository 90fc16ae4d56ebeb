"""Batches and pulls of the oracles, played: for tests."""

from __future__ import annotations

import numpy as np

from tests.oracles.arms.loops import ArmsOracle, GridOracle


def the_plan(oracle: ArmsOracle):
    (plan,) = oracle.allowed()
    return plan


def answer(oracle: ArmsOracle, *means: float, plan=None) -> None:
    """Plays the planned batch; every pull of arm i gives exactly means[i]."""
    plan = the_plan(oracle) if plan is None else plan
    oracle.play(plan, [n * mean for n, mean in zip(plan, means, strict=True)])


def rewards_of(rng: np.random.Generator, counts, means) -> np.ndarray:
    """Sums of normal rewards of variance 1, of each arm's pulls."""
    n = np.asarray(counts, float)
    return n * means + np.sqrt(n) * rng.standard_normal(len(n))


def finished(oracle: GridOracle, rng: np.random.Generator, means) -> GridOracle:
    """The oracle, after T pulls."""
    while oracle.left > 0:
        plan = the_plan(oracle)
        assert 0 < sum(plan) <= oracle.left
        oracle.play(plan, rewards_of(rng, plan, means))
    return oracle
