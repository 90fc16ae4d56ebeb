"""A sweep as one data set, finished or not."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.errors import unknown_name
from jaxduel.experiments.engine.block_folder import FOLDER, load_blocks
from jaxduel.experiments.engine.blocks import OPTIONAL, Block
from jaxduel.experiments.engine.manifest import GroupRecord, Manifest, read_manifest
from jaxduel.experiments.sweep.layout import CELL, Layout
from jaxduel.stats import Moments, merge

if TYPE_CHECKING:
    import xarray

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "regret_mean": (*CELL, "definition", "checkpoint"),
    "regret_std": (*CELL, "definition", "checkpoint"),
    "regret_sem": (*CELL, "definition", "checkpoint"),
    "final_regret": (*CELL, "definition", "seed"),
    "num_seeds": CELL,
    "t": (*CELL, "checkpoint"),
    "plays_mean": (*CELL, "checkpoint", "arm"),
    "batches_mean": CELL,
    "regret": (*CELL, "definition", "seed", "checkpoint"),
    "pairs_mean": (*CELL, "checkpoint", "left", "right"),
}
"""The dimensions of every variable; the last three are there if a block holds them."""
_ALWAYS = tuple(DIMENSIONS)[:7]


def open_sweep(
    folder: str | os.PathLike[str], drop_variables: Sequence[str] = ()
) -> xarray.Dataset:
    """The results of a sweep; of its finished blocks while it still runs.

    Args:
      folder: the sweep's folder.
      drop_variables: names of variables to leave out, such as "regret" or "pairs_mean", which may
        be large.

    Returns:
      A data set in memory with the dimensions policy, problem, horizon, parameters (labels such as
      "alpha=0.51", with a coordinate for each parameter), definition, checkpoint (numbered from 0),
      seed and arm. All float64 but num_seeds; NaN where a cell is not in the grid, has fewer arms
      or checkpoints than others, or is not run yet:

      - regret_mean, regret_std, regret_sem (..., definition, checkpoint): over the seeds so far;
      - final_regret (..., definition, seed): regret of each seed at the horizon;
      - num_seeds (policy, problem, horizon, parameters) int64: seeds so far;
      - t (..., checkpoint): the times of the checkpoints, in comparisons or pulls;
      - plays_mean (..., checkpoint, arm): mean plays of each arm of the problem;
      - batches_mean (policy, problem, horizon, parameters): of batched policies;
      - regret (..., definition, seed, checkpoint) and pairs_mean (..., checkpoint, left, right),
        the mean plays of ordered pairs, where the sweep keeps them.

      Attributes: grid (JSON), jaxduel, and the environment in which the sweep was begun.

    Raises:
      InputError: if the folder holds no sweep, or one of another format; or a name is unknown.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.experiments.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
      >>> rucb, cyclic = PolicyEntry("rucb"), ProblemEntry(name="cyclic")
      >>> grid = Grid(policies=rucb, problems=cyclic, horizons=1000, num_seeds=4)
      >>> outcome = run_sweep(grid, "results")
      >>> data = jd.open_sweep("results")
      >>> data.sizes["seed"], data.sizes["arm"]
      (4, 4)
      >>> data.final_regret.sel(policy="rucb", problem="cyclic", horizon=1000).dims
      ('parameters', 'definition', 'seed')
    """
    import xarray

    for name in drop_variables:
        if name not in DIMENSIONS:
            raise unknown_name("variable", name, DIMENSIONS)
    folder = Path(folder)
    manifest = read_manifest(folder)
    blocks: dict[str, list[Block]] = {group.key: [] for group in manifest.groups}
    for block in load_blocks(folder / FOLDER, OPTIONAL & set(drop_variables)):
        if block.group in blocks:
            blocks[block.group].append(block)
    arrays = _Arrays(manifest, blocks, drop_variables)
    for group in manifest.groups:
        arrays.enter(group, sorted(blocks.pop(group.key), key=lambda block: block.number))
    counted = {
        name: np.arange(arrays.sizes[name])
        for name in ("checkpoint", "seed", "arm", "left", "right")
        if any(name in DIMENSIONS[variable] for variable in arrays.values)
    }
    coordinates = arrays.layout.coordinates([*DIMENSIONS, *arrays.sizes])
    return xarray.Dataset(
        {name: (DIMENSIONS[name], array) for name, array in arrays.values.items()},
        coords={**coordinates, **counted},
        attrs={
            "grid": json.dumps(manifest.grid),
            "jaxduel": manifest.version,
            **{name: value or "" for name, value in manifest.environment.items()},
        },
    )


class _Arrays:
    """The variables of the data set, filled group by group.

    Attributes:
      layout: the place of each cell.
      sizes: the length of each dimension.
      values: the variables so far.
    """

    def __init__(
        self, manifest: Manifest, blocks: dict[str, list[Block]], drop: Sequence[str]
    ) -> None:
        self.layout = layout = Layout.of(manifest)
        self.values: dict[str, np.ndarray] = {}
        self._drop = frozenset(drop)
        ends = [block.first_seed + block.seeds for some in blocks.values() for block in some]
        arms = max(layout.num_arms)
        self.sizes = {
            "policy": len(layout.policies),
            "problem": len(layout.problems),
            "horizon": len(layout.horizons),
            "parameters": len(layout.labels),
            "definition": len(layout.definitions),
            "checkpoint": layout.num_checkpoints,
            "seed": max([manifest.seeds, *ends]),
            **dict.fromkeys(("arm", "left", "right"), arms),
        }
        for name in _ALWAYS:
            if name not in self._drop:
                self._variable(name)

    def enter(self, group: GroupRecord, blocks: list[Block]) -> None:
        """Fills in a group's cells from its blocks, in order."""
        cells = self.layout.places(group.cells)
        times = [np.array(cell.checkpoints, dtype=np.float64) for cell in group.cells]
        longest = max(len(t) for t in times)
        t = np.full((len(times), longest), np.nan)
        for row, values in zip(t, times, strict=True):
            row[: len(values)] = values
        self._put("t", cells, t)
        if not blocks:
            return
        known = ~np.isnan(t)  # (C, M): the checkpoints a cell has
        arms = np.array([cell.num_arms for cell in group.cells])
        definitions = [self.layout.definitions.index(name) for name in group.definitions]
        regret = merge(
            _moments(block, "regret_mean", block.arrays["regret_m2"]) for block in blocks
        )
        self._put("num_seeds", cells, np.full(len(times), regret.seeds))
        for name, values in (("mean", regret.mean), ("std", regret.std), ("sem", regret.sem)):
            values = np.where(known[:, None, :], values[..., :longest], np.nan)
            for column, definition in enumerate(definitions):
                self._put(f"regret_{name}", (*cells, definition), values[:, column])
        for name in ("plays_mean", "pairs_mean"):
            if name in blocks[0].arrays:
                mean = merge(_moments(block, name) for block in blocks).mean
                self._put(name, cells, _cut(mean[:, :longest], known, arms))
        if "batches" in blocks[0].arrays:
            batches = np.concatenate([block.arrays["batches"] for block in blocks], axis=1)
            self._put("batches_mean", cells, batches.mean(axis=1))
        for block in blocks:
            self._enter_seeds(cells, definitions, known, block)

    def _enter_seeds(
        self,
        cells: tuple[np.ndarray, ...],
        definitions: list[int],
        known: np.ndarray,
        block: Block,
    ) -> None:
        seeds = slice(block.first_seed, block.first_seed + block.seeds)
        for column, definition in enumerate(definitions):
            place = (*cells, definition, seeds)
            self._put("final_regret", place, block.arrays["final_regret"][:, column])
            if "regret" in block.arrays:
                values = block.arrays["regret"][:, column, :, : known.shape[1]]
                self._put("regret", place, np.where(known[:, None, :], values, np.nan))

    def _put(self, name: str, place: tuple[Any, ...], values: np.ndarray) -> None:
        """Sets a variable at `place`; along the dimensions after those, `values` may be shorter."""
        if name in self._drop:
            return
        rest = tuple(slice(length) for length in values.shape[1:])
        place = place + rest[sum(isinstance(index, slice) for index in place) :]
        self._variable(name)[place] = values

    def _variable(self, name: str) -> np.ndarray:
        if name not in self.values:
            shape = tuple(self.sizes[dimension] for dimension in DIMENSIONS[name])
            self.values[name] = (
                np.zeros(shape, np.int64) if name == "num_seeds" else np.full(shape, np.nan)
            )
        return self.values[name]


def _moments(block: Block, name: str, m2: np.ndarray | None = None) -> Moments:
    mean = block.arrays[name]
    return Moments(block.seeds, mean, np.zeros_like(mean) if m2 is None else m2)


def _cut(values: np.ndarray, known: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Values (C, M, K) or (C, M, K, K), with NaN for arms and checkpoints that a cell lacks."""
    most = arms.max()
    real = np.arange(most) < arms[:, None]  # (C, K)
    if values.ndim == 3:
        return np.where(known[..., None] & real[:, None], values[..., :most], np.nan)
    pairs = real[:, :, None] & real[:, None, :]
    return np.where(known[..., None, None] & pairs[:, None], values[..., :most, :most], np.nan)
