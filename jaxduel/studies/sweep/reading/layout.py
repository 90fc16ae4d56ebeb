"""The layout of a sweep's data set: its dimensions, its measure, the stored blocks, and sums over
seeds in the blocks of a sweep that identifies arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxduel.policies.base import NO_WINNER, UNDECIDED
from jaxduel.stats import Moments, Paired, paired, paired_shares
from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.sweep.axes import CELL, axes_of
from jaxduel.studies.tables import rounded, with_interval
from jaxduel.votes.rewards import unit_of

if TYPE_CHECKING:
    import xarray

MEANS = ("probability", "simple_regret", "tau")
"""Variables of all sweeps that identify arms."""

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "regret_mean": (*CELL, "definition", "checkpoint"),
    "regret_std": (*CELL, "definition", "checkpoint"),
    "regret_sem": (*CELL, "definition", "checkpoint"),
    "num_seeds": CELL,
    "planned_seeds": CELL,
    "t": (*CELL, "checkpoint"),
    "batches_mean": CELL,
    "final_regret": (*CELL, "definition", "seed"),
    "plays_mean": (*CELL, "checkpoint", "arm"),
    "regret": (*CELL, "definition", "seed", "checkpoint"),
    "pairs_mean": (*CELL, "checkpoint", "left", "right"),
    "probability": (*CELL, "rule", "checkpoint"),
    "simple_regret": (*CELL, "rule", "checkpoint"),
    "tau": (*CELL, "rule", "checkpoint"),
    "is_best": ("problem", "arm"),
    "share_stopped": CELL,
    "share_wrong": CELL,
    "named": (*CELL, "rule", "seed", "checkpoint"),
    "cast": (*CELL, "seed"),
    "stopped": (*CELL, "seed"),
}
"""The dimensions of every variable."""


@dataclass(frozen=True)
class Measure:
    """A number that a sweep measures for its cells.

    Attributes:
      dimension: the dimension of its kinds: "definition" of regret, or "rule" that names arms.
      kinds: the kinds in words.
      clock: the end of a cell in words: "T", or "votes".
      across: the end of a cell beside the axis of a figure.
      words: the number at the end of a cell, in words.
      lacks: words to say that a sweep measures the other number.
      of: text after "95 %": the number whose interval is drawn.
      compared: the meaning of two policies' columns in a comparison; "" if it needs no words.
      mean: the variable that is known wherever something has run.
      of_seeds: variables by which seeds are compared; the first has a number for each seed.
      tabled: variables that tables need.
      lazy: variables that are read from blocks when they are used.
      final: computes from `of_seeds` the number of each seed at the end; smaller is better.
      paired: compares the final numbers of two policies.
      texts: the two means and the difference of a row of a comparison, as text.
    """

    dimension: str
    kinds: str
    clock: str
    across: str
    words: str
    lacks: str
    of: str
    compared: str
    mean: str
    of_seeds: tuple[str, ...]
    tabled: tuple[str, ...]
    lazy: tuple[str, ...]
    final: Callable[[xarray.Dataset], xarray.DataArray]
    paired: Callable[[np.ndarray, np.ndarray], Paired | None]
    texts: Callable[[Mapping[str, Any]], list[str]]

    @property
    def setting(self) -> list[str]:
        """The columns that identify a setting, in which policies are compared."""
        return [*(axis.name for axis in axes_of("setting") if axis.is_dimension), self.dimension]


def _are_wrong(part: xarray.Dataset) -> xarray.DataArray:
    """1 where the arm named after the last vote is not among the best, for cells of one setting."""
    last = int(part["t"].notnull().sum("checkpoint").max()) - 1 if "checkpoint" in part.dims else 0
    named = part["named"].isel(checkpoint=last, missing_dims="ignore")
    best = part["is_best"].values[np.nan_to_num(named.values).astype(np.int64)]
    return named.where(named.isnull(), 1.0 - best)


def _regrets(one: Mapping[str, Any]) -> list[str]:
    half = (one["upper95"] - one["lower95"]) / 2
    means = (rounded(one[name], half) for name in ("mean_a", "mean_b"))
    return [*means, with_interval(one["difference"], half)]


def _shares(one: Mapping[str, Any]) -> list[str]:
    a, b, apart, lower, upper = (
        f"{one[name]:.3f}" for name in ("mean_a", "mean_b", "difference", "lower95", "upper95")
    )
    return [a, b, f"{apart} [{lower}, {upper}]"]


REGRET = Measure(
    dimension="definition",
    kinds="regret",
    clock="T",
    across="horizon $T$",
    words="regret at T",
    lacks="no regret, and has no definitions of it",
    of=" of the mean",
    compared="",
    mean="regret_mean",
    of_seeds=("final_regret",),
    tabled=("final_regret", "regret_mean", "regret_std", "regret_sem"),
    lazy=("final_regret", "plays_mean", "regret", "pairs_mean"),
    final=itemgetter("final_regret"),
    paired=paired,
    texts=_regrets,
)
"""Regret, by definitions."""
NAMED = Measure(
    dimension="rule",
    kinds="rules",
    clock="votes",
    across="votes",
    words="wrong arm named",
    lacks="regret, and has no rules",
    of="",
    compared="share of seeds for which none of the best arms is named after the last vote.",
    mean="probability",
    of_seeds=("named", "is_best", "t"),
    tabled=("probability", "simple_regret", "tau"),
    lazy=("named", "cast", "stopped"),
    final=_are_wrong,
    paired=paired_shares,
    texts=_shares,
)
"""The share of runs in which a rule names the best arm."""


NAMED_BY_PULLS = replace(
    NAMED,
    clock="pulls",
    across="pulls",
    compared="share of seeds for which none of the best arms is named after the last pull.",
)
"""The share of runs in which a rule names the best of arms with rewards."""
MEASURES = {measure.dimension: measure for measure in (REGRET, NAMED)}
"""The measures, by their dimension."""


def measure_of(table: Any) -> Measure:
    """The measure of a data set, or of a table of its cells."""
    if NAMED.dimension not in table:
        return REGRET
    rules = np.asarray(table[NAMED.dimension]).ravel()[:1]  # a sweep's rules are of one kind
    return NAMED_BY_PULLS if unit_of(rules) == "pulls" else NAMED


class Tallied(NamedTuple):
    """Sums over the seeds of a block, by the variable that is their mean: `MEANS` (C, R, M), and
    share_stopped and share_wrong (C,) if a rule or policy stops; and the best arms, (C, K) bool."""

    seeds: int
    sums: dict[str, np.ndarray]
    best: np.ndarray


def tallied(block: Block) -> Tallied:
    """The sums over the seeds of a block."""
    arrays = block.arrays
    named, best, stops = arrays["named"], arrays["best"], arrays.get("stopped_named")
    cells = np.arange(len(named))
    at = cells[:, None, None, None], named
    sums = {
        "probability": best[at].sum(axis=2),
        "simple_regret": arrays["gaps"][at].sum(axis=2),
        "tau": arrays["tau"].sum(axis=2, dtype=np.float64),
    }
    if stops is not None:
        stopped, of_cell = stops != UNDECIDED, cells[:, None]
        none = np.all(~best, axis=1)
        right = np.where(stops == NO_WINNER, none[of_cell], best[of_cell, stops])
        sums["share_stopped"] = stopped.sum(axis=1)
        sums["share_wrong"] = (stopped & ~right).sum(axis=1)
    return Tallied(block.seeds, sums, best)


def tallied_names(blocks: Sequence[Any]) -> list[str]:
    """The variables of a data set with such blocks."""
    return list(dict.fromkeys([*MEANS, "is_best", *(name for b in blocks for name in b.sums)]))


def tallied_means(blocks: Sequence[Tallied]) -> dict[str, np.ndarray]:
    """Means over the seeds of several blocks of a group, by variable."""
    seeds = sum(block.seeds for block in blocks)
    return {name: np.sum([b.sums[name] for b in blocks], axis=0) / seeds for name in blocks[0].sums}


class StoredBlock(NamedTuple):
    """A block that was read and checked, without its large arrays."""

    path: Path
    names: frozenset[str]  # of its arrays
    key: str
    group: str
    number: int
    first: int  # seed
    seeds: int
    found: Moments | Tallied  # regret, (C, D, M), or sums over seeds
    batches: np.ndarray | None  # (C,) sums over seeds


class StoredGroup(NamedTuple):
    """Cells that blocks hold together.

    Attributes:
      places: the cells' indices along the dimensions `CELL`: four (C,) int64.
      measures: (D,) int64, the indices of the blocks' definitions of regret, or of their rules.
      t: (C, M) float64, the checkpoints, NaN beyond a cell's last.
      num_arms: (C,) int64.
      seeds: number of seeds of each cell, once all blocks are there.
      blocks: the blocks in the order of their numbers.
    """

    places: tuple[np.ndarray, ...]
    measures: np.ndarray
    t: np.ndarray
    num_arms: np.ndarray
    seeds: int
    blocks: list[StoredBlock]
