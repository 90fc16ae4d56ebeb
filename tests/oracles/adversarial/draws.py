"""Draws of two arms from probabilities, given the uniform numbers or not."""

from __future__ import annotations

import numpy as np

from ..choices import TOLERANCE, Choices
from ..sequential import Pair, SequentialOracle


def drawn(p: np.ndarray, u: float | None) -> list[int]:
    """The arms that may be drawn with probabilities p, (K,) float64.

    With a uniform number it is the one in whose interval u falls, or a neighbour where that is too
    close to tell: intervals are in index order, that of the largest p after all others.
    """
    support = [i for i in range(len(p)) if p[i] > 0]
    if u is None:
        return support
    found = set()
    for last in np.flatnonzero(p >= p.max() * (1 - TOLERANCE)).tolist():
        end = 0.0
        for i in [*(i for i in support if i != last), last]:
            start, end = end, end + p[i]
            if start - TOLERANCE <= u <= end + TOLERANCE:
                found.add(i)
    return sorted(found)


class DrawingOracle(SequentialOracle):
    """An oracle whose arms are drawn independently. No memory.

    Args:
      num_arms: K.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.u: float | None = None
        self.v: float | None = None
        self._now = 0, np.empty(0)  # t and the probabilities then

    def probabilities(self) -> np.ndarray:
        """(K,) or (2, K) float64, of the arms of step t; a subclass says."""
        raise NotImplementedError

    def chances(self) -> np.ndarray:
        """(2, K) float64, the probabilities of the left and of the right arm."""
        t, found = self._now
        if t != self.t:
            found = np.broadcast_to(self.probabilities(), (2, self.K))
            self._now = self.t, found
        return found

    def allowed(self, u: float | None = None, v: float | None = None) -> set[Pair]:
        """Every pair that may be compared next; given the uniform numbers, with these."""
        self.u, self.v, self._allowed = u, v, None
        return super().allowed()

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        p, q = self.chances()
        return (choices.any_of(drawn(p, self.u)), choices.any_of(drawn(q, self.v))), None
