"""Regret held against that of other programs."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

import jaxduel as jd


def regret(
    policy: Any,
    problem: jd.problems.Problem,
    checkpoints: Sequence[int],
    num_seeds: int,
    kind: str = "average",
) -> jd.Result:
    """The result at these checkpoints, on one device."""
    return jd.simulate(
        policy,
        problem,
        checkpoints[-1],
        num_seeds,
        checkpoints=checkpoints,
        regret=kind,
        devices=jax.devices()[:1],
    )


def assert_agree(result: jd.Result, others: Sequence[tuple[float, float]]) -> None:
    """Means are within 4 combined standard errors of others', (mean, standard error) each."""
    means, errors = np.array(others).T
    z = (result.mean - means) / np.hypot(result.sem, errors)
    assert (np.abs(z) < 4).all(), (result.mean, z)
