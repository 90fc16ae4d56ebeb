"""When skipping quiet runs begins to pay: the step loop is left once a turn of the event loop
stands for more steps than it costs."""

from __future__ import annotations

import numpy as np

from jaxduel.simulation import events
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.steps import StepLane

TURN_COST = 3.0
"""What a turn costs, about, in steps of as many lanes: 1.5 (CCB) to 5 (D-TS on 16 arms), measured.
"""
TRIAL = 1024
"""Comparisons between two counts of those that were of an arm with itself."""
LOOKS = 16
"""Looks at what would be skipped, within a trial, once so many were that skipping may pay."""
_REST = 8
"""After looks in vain there are none for this part of the time that has passed."""


class Settling:
    """Watches a block in the step loop.

    An arm meets itself in comparisons that cannot be skipped, too, where a policy that tosses coins
    does so by chance. So the counts say only when to look, and the looks decide. All are at the
    same times, whatever the checkpoints.

    Args:
      lanes: seeds in the block, of each cell.
      slots: how many of them run side by side in the event loop.
      delay: after how many comparisons outcomes are told. If there are any, that ends a run, and
        all slots wait for the few that are told then, which doubles what a turn costs.
      program: the program.
    """

    def __init__(self, lanes: int, slots: int, delay: int, program: Program) -> None:
        self._program, self._share = program, min(slots, lanes) / lanes
        late = delay > 1
        self._cost, self._told = TURN_COST * (2.0 if late else 1.0), 1 / delay if late else 0.0
        self._selves = np.zeros(())
        self._turns: list[np.ndarray] = []
        self._rests_until = 0

    def following(self, t: int) -> int:
        """The time of the first look, or count, after time t."""
        step = TRIAL // LOOKS if self._turns else TRIAL
        return t - t % step + step

    def is_over(self, cell: Cell, setups: Setup, lanes: StepLane, t: int) -> bool:
        """Whether skipping pays from now on; to be asked at all times of `following`.

        Args:
          cell: the cell, its checkpoints not needed.
          setups, lanes: of the block, at time t.
          t: the time.
        """
        if not self._turns:
            # a copy: the next chunk of steps is given the lanes' memory
            before, self._selves = self._selves, np.array(lanes.selves)
            different = 1.0 - (self._selves - before) / TRIAL
            if t < self._rests_until or not self._pays(different):
                return False
        chance = events.chance_to_skip(cell, setups, lanes, np.int32(t), program=self._program)
        self._turns.append(1.0 - np.asarray(chance))
        if len(self._turns) < LOOKS:
            return False
        turns, self._turns = np.mean(self._turns, axis=0), []
        self._rests_until = t + t // _REST
        return self._pays(turns)

    def _pays(self, turns: np.ndarray) -> bool:
        """Whether that many turns a comparison, (lanes,) or (cells, lanes), cost less than a step.

        A slot whose seed is done takes the next one: its turns are those of as many seeds, or those
        of one seed alone that has more.
        """
        each = np.maximum(np.mean(turns, axis=-1), np.max(turns, axis=-1) * self._share)
        ended_by_news = np.minimum(each, self._told)
        return float(np.max(each + ended_by_news)) * self._cost < 1.0
