"""A sweep as one data set, finished or not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.errors import unknown_name, warn_caller
from jaxduel.files import as_path
from jaxduel.stats import Moments, merge
from jaxduel.studies.engine import block_folder
from jaxduel.studies.engine.blocks import require_place
from jaxduel.studies.engine.cells import text_of
from jaxduel.studies.engine.manifest import CellRecord, GroupRecord, Manifest, read_manifest
from jaxduel.studies.sweep.axes import CELL, COLUMNS, OF_PROBLEMS, axis_of
from jaxduel.studies.sweep.reading.layout import (
    DIMENSIONS,
    NAMED,
    REGRET,
    StoredBlock,
    StoredGroup,
    Tallied,
    tallied,
    tallied_means,
    tallied_names,
)

if TYPE_CHECKING:
    from jaxduel.studies.sweep.reading.lazy import SweepDataset

_RARE = {"regret", "pairs_mean", "stopped"}
"""Lazy variables that exist only if blocks hold them."""


def open_sweep(
    folder: str | os.PathLike[str], drop_variables: str | Sequence[str] = ()
) -> SweepDataset:
    """The results of a sweep; of its finished blocks while it still runs.

    Each block is checked now; a damaged block is left out, with a warning. Statistics are in
    memory. Variables marked * are read on first use, block by block, and checked again, so that a
    sweep may be larger than memory. Nothing in the folder is changed.

    Args:
      folder: the sweep's folder.
      drop_variables: names of variables to leave out.

    Returns:
      An `xarray.Dataset` with the dimensions policy, problem, horizon, parameters (labels such as
      "alpha=0.51", with a coordinate for each parameter), definition, checkpoint (numbered from 0),
      seed and arm; its `to_frame` is a table. Along problem there are the coordinates num_arms and,
      if any, the parameters of generators, such as gap, and instance. One of them is called
      problem_NAME if a column of tables has its name (std, horizon, num_batches, level); a
      parameter of policies parameter_NAME if a column or a generator's parameter has it (std, gap).
      All variables are float64 except numbers of seeds; NaN where a cell is not in the grid, has
      fewer arms or checkpoints than others, or is not run yet:

      - regret_mean, regret_std, regret_sem (..., definition, checkpoint): over the seeds so far;
      - final_regret* (..., definition, seed): regret of each seed at the horizon;
      - num_seeds, planned_seeds (policy, problem, horizon, parameters) int64: seeds so far, and
        those of the finished cell;
      - t (..., checkpoint): the times of the checkpoints, in comparisons or pulls;
      - plays_mean* (..., checkpoint, arm): mean plays of each arm of the problem;
      - batches_mean (policy, problem, horizon, parameters): of batched policies;
      - regret* (..., definition, seed, checkpoint) and pairs_mean* (..., checkpoint, left, right),
        the mean plays of ordered pairs, where the sweep keeps them.

      If arms are identified (`identify = true`), the dimension rule replaces definition, horizon is
      the number of votes (of arms with rewards pulls) per run, t is in votes, and regret and plays
      are replaced by

      - probability (..., rule, checkpoint): the share of seeds for which a rule names one of the
        best arms; simple_regret and tau: means over seeds, as in `jaxduel.votes.Found`;
      - is_best (problem, arm): 1 for the best arms by the target, 0 for others;
      - share_stopped, share_wrong (policy, problem, horizon, parameters), if a rule or a policy
        stops: the shares of seeds that were stopped, and stopped with a wrong arm;
      - named* (..., rule, seed, checkpoint), the arm; cast* (..., seed), the votes of a run; and
        stopped* (..., seed), the votes when a rule stopped, or -1.

      Attributes: grid (JSON), jaxduel, and the environment in which the sweep was begun.

    Raises:
      InputError: if the folder holds no sweep, one of another format, or one whose manifest was
        edited; or a name is unknown.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
      >>> rucb, cyclic = PolicyEntry("rucb"), ProblemEntry(name="cyclic")
      >>> grid = Grid(policies=rucb, problems=cyclic, horizons=1000, num_seeds=4)
      >>> outcome = run_sweep(grid, "results")
      >>> data = jd.open_sweep("results")
      >>> data.sizes["seed"], data.sizes["arm"]
      (4, 4)
      >>> data.final_regret.sel(policy="rucb", problem="cyclic", horizon=1000).dims
      ('parameters', 'definition', 'seed')
    """
    if isinstance(drop_variables, str):
        drop_variables = (drop_variables,)
    for name in drop_variables:
        if name not in DIMENSIONS:
            raise unknown_name("variable", name, DIMENSIONS)
    import pandas

    from jaxduel.studies.sweep.reading.lazy import LazyVariable, SweepDataset, lazily

    folder = as_path(folder, "open_sweep")
    manifest = read_manifest(folder)
    measure = NAMED if manifest.grid.get("identify") else REGRET
    cells = sorted((c for group in manifest.groups for c in group.cells), key=lambda c: c.index)
    labels = _labels(cells, manifest)
    blocks = _read_blocks(folder / block_folder.FOLDER, manifest)
    groups = [_stored(group, labels, blocks) for group in manifest.groups]
    seeds = max([manifest.seeds, *(b.first + b.seeds for group in groups for b in group.blocks)])
    sizes = {
        **{name: len(some) for name, some in labels.items()},
        "seed": seeds,
        "checkpoint": max(len(cell.checkpoints) for cell in cells),
        **dict.fromkeys(("arm", "left", "right"), max(cell.num_arms for cell in cells)),
    }
    sizes[measure.dimension] = sizes.pop("definition")
    variables: dict[str, Any] = _statistics(groups, sizes)
    held = {name for group in groups for block in group.blocks for name in block.names}
    for name in measure.lazy:
        if name in held or name not in _RARE:
            variables[name] = lazily(LazyVariable(name, sizes, groups))
    variables = {name: variables[name] for name in variables if name not in drop_variables}
    coordinates = _coordinates(cells, labels)
    coordinates[measure.dimension] = coordinates.pop("definition")
    for name in ("checkpoint", "seed", "arm", "left", "right"):
        if any(name in DIMENSIONS[variable] for variable in variables):
            coordinates[name] = pandas.RangeIndex(sizes[name])
    return SweepDataset(
        {name: (DIMENSIONS[name], values) for name, values in variables.items()},
        coords=coordinates,
        attrs={
            "grid": json.dumps(manifest.grid),
            "jaxduel": manifest.version,
            **{n: "" if v is None else v for n, v in manifest.environment.items()},
        },
    )


def _labels(cells: Sequence[CellRecord], manifest: Manifest) -> dict[str, list[Any]]:
    """The labels along the dimensions `CELL` and "definition": names in the order of the grid, and
    increasing numbers."""
    labels: dict[str, list[Any]] = {}
    for name, column in zip(CELL, zip(*map(_place, cells), strict=True), strict=True):
        labels[name] = list(dict.fromkeys(column)) if axis_of(name).words else sorted(set(column))
    definitions = dict.fromkeys(name for group in manifest.groups for name in group.definitions)
    return {**labels, "definition": list(definitions)}


def _coordinates(cells: Sequence[CellRecord], labels: dict[str, list[Any]]) -> dict[str, Any]:
    """The coordinates: one along each labelled dimension, one along `problem` for each property,
    one along `parameters` for each parameter of policies, and the delay if any is not 1: float64
    with NaN, or text with "", where it does not apply. A parameter whose name is taken in the data
    set or in a table is called parameter_NAME."""
    delays = any(cell.delay != 1 for cell in cells)
    at = CELL.index("parameters")
    combinations = {
        _place(c)[at]: {**c.parameters, **({"delay": c.delay} if delays else {})} for c in cells
    }
    found: dict[str, Any] = {name: np.array(some) for name, some in labels.items()}
    of_problem = {cell.problem: cell for cell in cells}.values()
    for axis in OF_PROBLEMS:
        values = [axis.of(cell) for cell in of_problem]
        if any(value is not None for value in values):
            column = _column(values) if None in values else np.array(values)
            found[axis.column] = ("problem", column)
    dimensions = {name for some in DIMENSIONS.values() for name in some}
    taken = {*found, *DIMENSIONS, *dimensions, *COLUMNS}
    for name in dict.fromkeys(name for one in combinations.values() for name in one):
        values = _column([one.get(name) for one in combinations.values()])
        found[f"parameter_{name}" if name in taken else name] = ("parameters", values)
    return found


def _stored(
    group: GroupRecord, labels: dict[str, list[Any]], blocks: Iterable[StoredBlock]
) -> StoredGroup:
    """A group of the manifest, with its own blocks."""
    at = {name: {label: i for i, label in enumerate(some)} for name, some in labels.items()}
    t = np.full((len(group.cells), max(len(c.checkpoints) for c in group.cells)), np.nan)
    for row, cell in zip(t, group.cells, strict=True):
        row[: len(cell.checkpoints)] = cell.checkpoints
    columns = zip(CELL, zip(*map(_place, group.cells), strict=True), strict=True)
    return StoredGroup(
        places=tuple(np.array([at[name][label] for label in some]) for name, some in columns),
        measures=np.array([at["definition"][name] for name in group.definitions]),
        t=t,
        num_arms=np.array([cell.num_arms for cell in group.cells]),
        seeds=group.seeds,
        blocks=sorted((b for b in blocks if b.group == group.key), key=lambda b: b.number),
    )


def _statistics(groups: Sequence[StoredGroup], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The variables that are in memory."""
    every = [block for group in groups for block in group.blocks]
    names = ["num_seeds", "planned_seeds", "t"]
    if any(block.batches is not None for block in every):
        names.append("batches_mean")
    if "definition" in sizes:
        names += ["regret_mean", "regret_std", "regret_sem"]
    else:
        names += tallied_names([block.found for block in every])
    shapes = {name: tuple(sizes[dimension] for dimension in DIMENSIONS[name]) for name in names}
    values = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    for name in ("num_seeds", "planned_seeds"):
        values[name] = np.zeros(shapes[name], np.int64)
    for group in groups:
        times = slice(group.t.shape[1])
        values["t"][(*group.places, times)] = group.t
        values["planned_seeds"][group.places] = group.seeds
        if not group.blocks:
            continue
        if isinstance(first := group.blocks[0].found, Tallied):
            best = first.best
            exists = np.arange(best.shape[1]) < group.num_arms[:, None]
            problems = group.places[CELL.index("problem")]
            values["is_best"][problems, : best.shape[1]] = np.where(exists, best, np.nan)
        seeds = sum(block.seeds for block in group.blocks)
        values["num_seeds"][group.places] = seeds
        for name, some in _of_seeds([block.found for block in group.blocks]).items():
            if some.ndim == 1:
                values[name][group.places] = some
                continue
            place = (*(at[:, None] for at in group.places), group.measures, times)
            outside = np.isnan(group.t)[:, None]
            values[name][place] = np.where(outside, np.nan, some[..., times])
        batches = [block.batches for block in group.blocks if block.batches is not None]
        if batches:
            values["batches_mean"][group.places] = sum(batches) / seeds
    return values


def _of_seeds(blocks: list[Any]) -> dict[str, np.ndarray]:
    """Statistics of the seeds of some blocks of a group, by variable: (C, D, M), or (C,)."""
    if isinstance(blocks[0], Tallied):
        return tallied_means(blocks)
    regret = merge(blocks)
    return {"regret_mean": regret.mean, "regret_std": regret.std, "regret_sem": regret.sem}


def _read_blocks(folder: Path, manifest: Manifest) -> list[StoredBlock]:
    """All trusted blocks of a folder, one for each task; damaged files are left out, each with a
    warning."""
    own = {group.key: group for group in manifest.groups}
    blocks: dict[str, StoredBlock] = {}
    seen: set[Path] = set()
    files = block_folder.files_of(folder)
    while files:
        gone = False
        for path in files:
            try:
                block = _read_block(path, own)
            except FileNotFoundError:
                gone = True
            except ValueError as error:
                warn_caller(f"the block '{path}' is left out: {error}.")
            else:
                if block.key not in blocks or blocks[block.key].seeds < block.seeds:
                    blocks[block.key] = block
        seen.update(files)
        # a missing block was replaced by a larger one
        files = [path for path in block_folder.files_of(folder) if path not in seen] if gone else []
    return list(blocks.values())


def _read_block(path: Path, groups: Mapping[str, GroupRecord]) -> StoredBlock:
    block = block_folder.read_block(path)
    if block is None:
        raise FileNotFoundError(path)
    if block.group in groups:
        require_place(block, groups[block.group])
    arrays = block.arrays
    batches = arrays.get("batches")
    return StoredBlock(
        path=path,
        names=frozenset(arrays),
        key=block.key,
        group=block.group,
        number=block.number,
        first=block.first_seed,
        seeds=block.seeds,
        found=tallied(block)
        if "named" in arrays
        else Moments(block.seeds, arrays["regret_mean"], arrays["regret_m2"]),
        batches=None if batches is None else batches.sum(axis=1),
    )


def _place(cell: CellRecord) -> tuple[Any, ...]:
    """The labels of a cell along the dimensions `CELL`."""
    return tuple(axis_of(name).of(cell) for name in CELL)


def _column(values: list[Any]) -> np.ndarray:
    if all(isinstance(v, int | float | None) and not isinstance(v, bool) for v in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(["" if value is None else text_of(value) for value in values])
