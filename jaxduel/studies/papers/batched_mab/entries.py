"""Policies and instances of Gao, Han, Ren and Zhou (NeurIPS 2019) and of the two studies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np

from jaxduel import problems
from jaxduel.studies.pictures import Setting
from jaxduel.studies.wanted import Competitor, Draw, Wanted

GRIDS = ("minimax", "geometric", "arithmetic")
BATCHES = (2, 3, 4, 5, 6, 7)
ARMS = (2, 3, 5, 8, 13, 20)
NUM_BATCHES, NUM_ARMS = 3, 3
UCB1 = Competitor("ucb1", "UCB1", "ucb1", {"index": "horizon"}, settles=False)
"""UCB1 of the authors' program, with log T in the index."""


@dataclass(frozen=True)
class Reading:
    """A reading of BaSE: its parameters, by the authors' program or by the text.

    Attributes:
      figure: name of the paper's figure with this reading.
      words: the reading, in words.
      source: the source of the reading, in words.
      gamma, commit: BaSE's parameters.
      mark: ending of the labels of its policies.
    """

    figure: str
    words: str
    source: str
    gamma: float
    commit: bool
    mark: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of `jaxduel.policies.make` for BaSE."""
        return {"gamma": self.gamma, "commit": self.commit}


PROGRAM = Reading("1", "gamma = 0.5, no commitment", "the authors' program", 0.5, False)
TEXT = Reading("text1", "gamma = 1, commitment", "the text", 1.0, True, " (text)")
READINGS = (PROGRAM, TEXT)


def base(reading: Reading, grid: str, num_batches: int) -> Competitor:
    """BaSE on a grid of M batches."""
    given = f"gamma={reading.gamma:g},commit={str(reading.commit).lower()}"
    return Competitor(
        name=f"base[grid={grid},num_batches={num_batches},{given}]",
        label=f"BaSE {grid}, M = {num_batches}{reading.mark}",
        policy="base",
        parameters={"grid": grid, "num_batches": num_batches, **reading.parameters},
        quick=True,
    )


def etc(grid: str, num_batches: int) -> Competitor:
    """Explore-then-commit for two arms, on a grid of M batches."""
    return Competitor(
        name=f"etc[grid={grid},num_batches={num_batches}]",
        label=f"ETC {grid}, M = {num_batches}",
        policy="etc",
        parameters={"grid": grid, "num_batches": num_batches},
        quick=True,
    )


def style(policy: str, grid: str) -> str:
    """The name of a policy's plotting style on a grid."""
    return policy if grid == GRIDS[0] else f"{policy}[grid={grid}]"


def where(num_arms: int, horizon: int) -> str:
    """The name of an instance, with its horizon."""
    return f"K = {num_arms}, T = {horizon:,}"


def horizons_to(end: int) -> tuple[int, ...]:
    """The horizons of panels (c), from a hundredth of the last one on."""
    return tuple(np.round(np.geomspace(end / 100, end, 6)).astype(int).tolist())


@cache
def drawn(num_arms: int, horizon: int, runs: int, seed: int) -> tuple[Draw, ...]:
    """The paper's instance (one arm better by 0.1); the key depends on K, T and the seed."""
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), num_arms), horizon)
    return (Draw(problems.one_better_arm(num_arms), key, runs),)


def wanted(
    competitor: Competitor, num_arms: int, horizon: int, runs: int, seed: int, setting: Setting
) -> Wanted:
    """Runs of a policy on the paper's instance."""
    name = where(num_arms, horizon)
    draws = drawn(num_arms, horizon, runs, seed)
    return setting.wanted(name, name, draws, competitor, horizon)
