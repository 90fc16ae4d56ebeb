"""Variables of a sweep's data set that are read from its blocks on use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from jaxduel.errors import InputError, warn_caller
from jaxduel.stats import Moments, merge
from jaxduel.studies.engine.block_folder import read_block
from jaxduel.studies.engine.blocks import OPTIONAL
from jaxduel.studies.sweep.axes import CELL
from jaxduel.studies.sweep.reading.layout import (
    DIMENSIONS,
    MEASURES,
    REGRET,
    StoredBlock,
    StoredGroup,
    measure_of,
)

if TYPE_CHECKING:
    import pandas


class SweepDataset(xarray.Dataset):
    """The results of a sweep, as `jaxduel.open_sweep` returns them, or a part of them."""

    __slots__ = ()

    def to_frame(self, *, final: bool = False) -> pandas.DataFrame:
        """The results as a table with one row per cell, definition of regret (or rule that names
        arms) and checkpoint.

        Columns: policy, parameters (the label), problem, num_arms, horizon, one per parameter of
        generators (NaN for other problems), definition, delay, one per parameter of policies (its
        default where only other cells of the policy name it, NaN where none does), t, num_seeds,
        mean, std, sem, lower95, upper95 (the 95 % interval of the mean), batches_mean (where
        policies are batched). NaN for cells that have not run. At the horizon the statistics are of
        `final_regret`, equal to the numbers of `jaxduel show` to the last bit. If arms are
        identified, rule replaces definition, and after delay and parameters come votes, num_seeds,
        probability, lower95, upper95 (its 95 % interval, Wilson), simple_regret, tau (means over
        seeds) and, if a rule stops, share_stopped and share_wrong.

        Args:
          final: whether there are only rows at the horizon, with q25, median and q75 over seeds
            where regret is measured.

        Raises:
          InputError: if a needed dimension or variable was dropped.

        Example:
          >>> import jaxduel as jd
          >>> from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
          >>> rucb = PolicyEntry("rucb", parameters={"alpha": (0.51, 1.0)})
          >>> grid = Grid(policies=rucb, problems=ProblemEntry(name="cyclic"), horizons=1000)
          >>> outcome = run_sweep(grid, "results")
          >>> frame = jd.open_sweep("results").sel(policy="rucb").to_frame(final=True)
          >>> frame[["policy", "alpha", "t"]].values.tolist()
          [['rucb', 0.51, 1000], ['rucb', 1.0, 1000]]
        """
        from jaxduel.studies.sweep.reading.table import frame_of

        return frame_of(self, final=final)

    def needed(self, target: float) -> pandas.DataFrame:
        """Votes, or pulls, after which a rule names one of the best arms with probability `target`,
        for a sweep that identifies arms: a row per cell and rule.

        Columns: policy, parameters (the label), problem, num_arms, horizon (votes or pulls of a
        run), one per parameter of generators, rule, delay, one per parameter of policies,
        num_seeds, needed, lower95, upper95 (a 95 % interval): inf where the last checkpoint is not
        enough. There are no rows for cells that have not run.

        Args:
          target: a probability, strictly between 0 and 1.

        Raises:
          InputError: for a sweep that measures regret, or a target out of range.

        Example:
          >>> import jaxduel as jd
          >>> from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
          >>> rucb, cyclic = PolicyEntry("rucb"), ProblemEntry(name="cyclic")
          >>> grid = Grid(policies=rucb, problems=cyclic, identify=True, votes=500, num_seeds=20)
          >>> outcome = run_sweep(grid, "found")
          >>> needed = jd.open_sweep("found").needed(0.5)
          >>> needed["rule"].tolist()
          ['copeland', 'borda', 'btl']
          >>> bool((needed["lower95"] <= needed["upper95"]).all())
          True
        """
        from jaxduel.studies.sweep.reading.cells import cells_of
        from jaxduel.studies.sweep.reading.found_table import needed_frame

        if measure_of(self) is REGRET:
            raise InputError("needed: the sweep measures regret, and names no arms.")
        cells = needed_frame(self, cells_of(self), target).drop(columns="variant")
        last = ["num_seeds", "needed", "lower95", "upper95"]
        first = [name for name in cells if name not in (*last, "batches_mean")]
        return cells[[*first, *last]].reset_index(drop=True)


def lazily(array: BackendArray) -> Any:
    """An array for a data set, cached once read as a whole."""
    cached: Any = indexing.MemoryCachedArray(indexing.LazilyIndexedArray(array))
    return indexing.CopyOnWriteArray(cached)


class LazyVariable(BackendArray):
    """A variable with a value per seed, or a mean over seeds, in the files of blocks.

    Args:
      name: a name in `lazy` of a `Measure`.
      sizes: the length of each dimension.
      groups: the cells, with their blocks.
    """

    def __init__(self, name: str, sizes: dict[str, int], groups: Sequence[StoredGroup]) -> None:
        self.name = name
        self.shape = tuple(sizes[dimension] for dimension in DIMENSIONS[name])
        self.dtype = np.dtype(np.float64)
        self._groups = groups

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._outer)

    def _outer(self, key: tuple[Any, ...]) -> np.ndarray:
        """The values at a whole number, a slice or an array of indices for each dimension."""
        indices = [
            np.arange(*one.indices(size)) if isinstance(one, slice) else np.atleast_1d(one) % size
            for one, size in zip(key, self.shape, strict=True)
        ]
        pairs = [np.unique(index, return_inverse=True) for index in indices]
        values = self._read([index for index, _ in pairs])
        for axis, (index, back) in enumerate(pairs):
            if len(back) != len(index) or (back[1:] < back[:-1]).any():
                values = values.take(back, axis)
        return values[tuple(slice(None) if np.ndim(k) or isinstance(k, slice) else 0 for k in key)]

    def _read(self, asked: list[np.ndarray]) -> np.ndarray:
        """The values at sorted distinct indices along each dimension."""
        values = np.full([len(index) for index in asked], np.nan)
        for group in self._groups if values.size else ():
            own = list(zip(asked, group.places, strict=False))
            at = [np.searchsorted(index, place) for index, place in own]
            there = [index.take(i, mode="clip") == p for i, (index, p) in zip(at, own, strict=True)]
            cells = np.flatnonzero(np.all(there, axis=0))
            parts = (self._part(group, block, cells, asked[len(CELL) :]) for block in group.blocks)
            found = (part for part in parts if part is not None)
            if "seed" not in DIMENSIONS[self.name]:  # the mean over the seeds of all blocks
                found = _merged(found)
            for targets, part in found:
                _, *rest = np.ix_(cells, *targets)
                shape = (-1, *(1 for _ in rest))
                values[(*(index[cells].reshape(shape) for index in at), *rest)] = part.mean
        return values

    def _part(
        self, group: StoredGroup, block: StoredBlock, cells: np.ndarray, asked: list[np.ndarray]
    ) -> tuple[list[np.ndarray], Moments] | None:
        """Values of some of a block's cells at sorted indices along the dimensions after those of a
        cell: the positions of the values in `asked`, and the values as means; None if there are
        none."""
        stored = _checked(block, self.name) if len(cells) else None
        if stored is None:
            return None
        dimensions = DIMENSIONS[self.name][len(CELL) :]
        sources, targets = [cells], []
        for name, index, size in zip(dimensions, asked, stored.shape[1:], strict=True):
            if name in MEASURES:
                both = np.intersect1d(index, group.measures, return_indices=True)
                _, target, source = both
            else:
                first = block.first if name == "seed" else 0
                target = np.arange(*np.searchsorted(index, (first, first + size)))
                source = index[target] - first
            sources.append(source)
            targets.append(target)
        if not all(map(len, sources)):
            return None
        values = stored[np.ix_(*sources)].astype(self.dtype, copy=False)
        limits = {name: group.num_arms for name in ("arm", "left", "right")}
        limits["checkpoint"] = np.isfinite(group.t).sum(axis=1)
        for axis, (name, source) in enumerate(zip(dimensions, sources[1:], strict=True), 1):
            if name in limits:
                outside = source >= limits[name][cells, None]
                others = [i for i in range(1, values.ndim) if i != axis]
                np.copyto(values, np.nan, where=np.expand_dims(outside, others))
        return targets, Moments(block.seeds, values, np.zeros(()))


def _merged(
    parts: Iterator[tuple[list[np.ndarray], Moments]],
) -> Iterator[tuple[list[np.ndarray], Moments]]:
    """The mean over blocks at the same positions, if there are blocks."""
    for targets, first in parts:
        yield targets, merge(chain([first], (moments for _, moments in parts)))


def _checked(block: StoredBlock, name: str) -> np.ndarray | None:
    """An array of a block, read and checked again; None if it is missing, with a warning if the
    file has changed."""
    try:
        found = read_block(block.path, OPTIONAL - {name})
    except ValueError:
        found = None
    if found is None:
        warn_caller(f"the block '{block.path}' is left out: it changed after it was checked.")
        return None
    return found.arrays.get(name)
