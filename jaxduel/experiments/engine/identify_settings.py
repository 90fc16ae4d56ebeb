"""Questions to the votes of a cell's runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxduel.simulation.cells import Poll
from jaxduel.votes.stopping import poll_of


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
        return poll_of(checkpoints, num_arms, self.stop, self.delta)
