"""Finished and unfinished sweeps with made-up regret: seeds that are easy or hard for all policies
alike, as common random numbers make them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.manifest import CellRecord, GroupRecord, Manifest, task_key
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep.reading.dataset import open_sweep

SEEDS, LANES = 20, 10


def cell(policy: str, problem: str, num_arms: int, horizon: int, delay=1, **parameters: Any):
    """A cell, its place to be set by `sweep`."""
    times = tuple(int(t) for t in np.unique(np.geomspace(1, horizon, 12).round()))
    return CellRecord(0, policy, problem, "0", horizon, parameters, delay, num_arms, times, {})


def regret(cell: CellRecord, t: np.ndarray, seeds: int) -> np.ndarray:
    """(S, M): it grows with log t and K, more slowly with more batches and by policy."""
    hardness = np.random.default_rng(7).gamma(9.0, 1 / 9.0, seeds)
    digest = hashlib.sha256(str((cell.policy, cell.problem, cell.parameters)).encode()).digest()
    own = np.random.default_rng(list(digest)).normal(0.0, 0.05, seeds)
    batches = cell.parameters.get("num_batches", 32)
    level = {"pcomp": 3.0, "scomp": 2.0, "scomp2": 1.5}.get(cell.policy, 1.0)
    level *= 1 + cell.parameters.get("alpha", 0.5)
    slope = np.log1p(t) * cell.num_arms * level
    slope = slope + t ** (1.0 / batches)
    return np.maximum((hardness + own)[:, None] * slope, 0.0)


def sweep(
    folder: Path,
    cells: list[CellRecord],
    *,
    definitions: Callable[[str], tuple[str, ...]] = lambda policy: ("copeland",),
    blocks: Callable[[str, int], bool] = lambda policy, number: True,
    of: Callable[[CellRecord, np.ndarray, int], np.ndarray] = regret,
    seeds: int = SEEDS,
) -> xarray.Dataset:
    """Writes a sweep and opens it.

    Args:
      folder: a new one.
      cells: those of the grid, in its order.
      definitions: of the regrets of a policy: the second is twice the first.
      blocks: which blocks of a policy have run, by number.
      of: the regret of a cell at times t, (S, M).
      seeds: per cell.
    """
    from dataclasses import replace

    cells = [
        replace(one, index=i, others={"definitions": list(definitions(one.policy))})
        for i, one in enumerate(cells)
    ]
    groups = tuple(
        GroupRecord(policy, tuple(c for c in cells if c.policy == policy),
                    definitions(policy), LANES, seeds, 1, (), [])
        for policy in dict.fromkeys(one.policy for one in cells)
    )  # fmt: skip
    environment = {
        "jax": "1",
        "jaxlib": "1",
        "code": "c" * 16,
        "device": "cpu",
        "git_revision": None,
    }
    grid = {"seeds": seeds, "seed": 0, "horizons": [1], "policies": ["made up"]}
    store = Store.create_or_open(folder, Manifest(grid, groups, "0", environment))
    for group in groups:
        for number in range(-(-seeds // LANES)):
            if blocks(group.policy, number):
                store.add(_block(group, number, seeds, of))
    return open_sweep(folder)


def _block(group: GroupRecord, number: int, seeds: int, of: Callable[..., np.ndarray]) -> Block:
    first, ran = number * LANES, min(LANES, seeds - number * LANES)
    longest = max(len(one.checkpoints) for one in group.cells)
    arms = max(one.num_arms for one in group.cells)
    raw = np.zeros((len(group.cells), len(group.definitions), ran, longest))
    final = np.zeros(raw.shape[:3])
    for i, one in enumerate(group.cells):
        values = of(one, np.array(one.checkpoints, dtype=float), seeds)[first : first + ran]
        for j in range(len(group.definitions)):
            raw[i, j, :, : values.shape[1]] = (j + 1) * values
            final[i, j] = (j + 1) * values[:, -1]
    mean = raw.mean(axis=2)
    arrays = {
        "regret_count": np.int64(ran),
        "regret_mean": mean,
        "regret_m2": ((raw - mean[:, :, None]) ** 2).sum(axis=2),
        "final_regret": final,
        "plays_mean": np.zeros((len(group.cells), longest, arms)),
    }
    return Block(task_key(group.key, number), group.key, number, first, arrays, {"lanes": LANES})
