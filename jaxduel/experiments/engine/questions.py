"""Questions to the votes of a cell's runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxduel.simulation.cells import Poll
from jaxduel.votes.stopping import wins_needed


@dataclass(frozen=True)
class Question:
    """Arguments of `jaxduel.identify` besides its rules, votes and checkpoints.

    Attributes:
      target, stop, delta: as there.
    """

    target: str
    stop: str | None
    delta: float

    def poll(self, num_arms: int, checkpoints: Sequence[int]) -> Poll:
        """Votes as the clock of a cell with so many arms."""
        needed = None
        if self.stop is not None:
            needed = wins_needed(num_arms / self.delta, checkpoints[-1])
        return Poll(np.array(checkpoints, np.int32), needed=needed)
