"""Records of a cell: tables of its seeds, or of as many as fit, and statistics of all seeds."""

from __future__ import annotations

import numpy as np

from jaxduel.display import bytes_text
from jaxduel.errors import InputError
from jaxduel.policies.registry import name_of
from jaxduel.problems.piecewise import rewards_of
from jaxduel.simulation import regret
from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.instances import sums_of
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.keys import is_key
from jaxduel.simulation.provenance import provenance, request_of
from jaxduel.simulation.result import Result
from jaxduel.simulation.totals import Totals, merged, total_of

_SLICE_BYTES = 2**20
"""Bytes of plays that are counted at once, few enough for a cache."""


class Record:
    """Tables and statistics of a cell's seeds, filled block by block.

    Raises:
      InputError: when built, if pairs or outcomes of all seeds, or one seed, would exceed the
        budget for tables.
    """

    def __init__(
        self, cell: CheckedCell, settings: Settings, batched: bool, budget: int | None
    ) -> None:
        self.cell, self.settings = cell, settings
        points, num = len(cell.grid), cell.problem.num_arms
        seeds = self.rows = _rows(cell, settings, budget)
        self.plays = np.empty((seeds, points, num), np.int64)
        self.regret = np.empty((seeds, points))
        self.pairs = None
        if settings.record_pairs:
            self.pairs = np.zeros((seeds, points, num, num), np.int64)
        self.outcomes: np.ndarray | None = None
        self.batches = np.zeros(seeds, np.int64) if batched else None
        self.totals: Totals | None = None
        self._early: dict[int, Totals] = {}
        self._next = 0

    def keep(self, first: int, record: Recorded) -> None:
        """Enters the block whose first seed is `first`; padding lanes, arms and checkpoints are
        dropped.

        Raises:
          PlaysError: if the plays do not add up.
        """
        lanes = len(record.tallies.plays)
        size = min(lanes, self.settings.num_seeds - first)
        step = max(_SLICE_BYTES // self.plays[0].nbytes, 1)
        totals = []
        for start in range(0, size, step):
            own = slice(start, min(start + step, size))
            rows = slice(first + start, first + own.stop)
            plays = kept = self.plays[rows]
            if len(kept) < own.stop - start:
                plays = np.empty((own.stop - start, *kept.shape[1:]), np.int64)
            values = self._numbers(record, own, plays)
            if plays is not kept:
                kept[...] = plays[: len(kept)]
            self.regret[rows] = values[: len(kept)]
            if self.rows < self.settings.num_seeds:
                totals.append(total_of(plays, values, record.batches, own))
        self._enter_others(first, record)
        if totals:
            self._early[first] = merged(totals)
            while self._next in self._early:  # in order, whichever device was first
                before = [] if self.totals is None else [self.totals]
                self.totals = merged([*before, self._early.pop(self._next)])
                self._next += lanes

    def _numbers(self, record: Recorded, own: slice, plays: np.ndarray) -> np.ndarray:
        """Enters plays of lanes, (lanes, M, K) int64; returns their regret, (lanes, M) float64."""
        cell, (points, num) = self.cell, plays.shape[1:]
        plays[...] = record.tallies.plays[own, :points, :num]
        each = 2 if rewards_of(cell.problem) is None else 1
        regret.require_all_played(name_of(cell.policy), each * cell.grid, plays)
        pairs = record.tallies.pairs
        own_pairs = None if pairs is None else pairs[own, :points, :num, :num]
        return regret.regret_of(cell.problem, cell.definition, cell.grid, plays, own_pairs)

    def _enter_others(self, first: int, record: Recorded) -> None:
        """Enters pairs, outcomes and batches of a block."""
        rows = slice(first, min(first + len(record.tallies.plays), self.rows))
        own = slice(0, max(rows.stop - first, 0))
        pairs, outcomes = record.tallies.pairs, record.tallies.outcomes
        points, num = self.plays.shape[1:]
        if outcomes is not None:
            sums = sums_of(self.cell.problem, outcomes)[own, :points]
            some = sums if self.settings.of_outcomes is None else self.settings.of_outcomes(sums)
            if self.outcomes is None:
                self.outcomes = np.zeros((self.rows, *some.shape[1:]), some.dtype)
            self.outcomes[rows] = some
        if self.pairs is not None and pairs is not None:
            self.pairs[rows] = pairs[own, :points, :num, :num]
        if self.batches is not None and record.batches is not None:
            self.batches[rows] = record.batches[own]

    def result(self, done: int, lanes: int) -> Result:
        """The result of the first `done` seeds, simulated in blocks of `lanes`."""
        cell, settings, rows = self.cell, self.settings, slice(0, min(done, self.rows))
        request = request_of(cell.policy, cell.problem, cell.horizon, settings, cell.grid)
        return Result(
            policy=name_of(cell.policy),
            problem=cell.problem.name,
            horizon=cell.horizon,
            seed="key" if is_key(settings.seed) else int(settings.seed),
            definition=cell.definition,
            checkpoints=cell.grid,
            regret=self.regret[rows],
            plays=self.plays[rows],
            batches=None if self.batches is None else self.batches[rows],
            pairs=None if self.pairs is None else self.pairs[rows],
            outcomes=None if self.outcomes is None else self.outcomes[rows],
            totals=self.totals if done > self.rows else None,
            made_by=provenance(request, lanes),
        )


def _rows(cell: CheckedCell, settings: Settings, budget: int | None) -> int:
    """Number of seeds whose rows are kept."""
    if budget is None:
        return settings.num_seeds
    points, num, seeds = len(cell.grid), cell.problem.num_arms, settings.num_seeds
    size = 8 * points * (num + 1) + 8
    if settings.record_pairs or settings.record_outcomes:
        size += 8 * points * num**2 if settings.record_pairs else 0
        sums = 4 * num**2 if rewards_of(cell.problem) is None else 8 * num
        size += points * sums if settings.record_outcomes else 0
        if seeds * size > budget:
            raise InputError(
                f"pairs or outcomes of {seeds:,} seeds at {points:,} checkpoints would take "
                f"{bytes_text(seeds * size)}, and the tables of a run may take "
                f"{bytes_text(budget)}: give fewer seeds or checkpoints, or a larger table_budget."
            )
    if size > budget:
        raise InputError(
            f"{points:,} checkpoints of {num} arms take {bytes_text(size)} for one seed, and the "
            f"tables of a run may take {bytes_text(budget)}: give fewer checkpoints, or a larger "
            "table_budget."
        )
    return min(budget // size, seeds)
