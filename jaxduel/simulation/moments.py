"""Means and squared deviations of blocks, merged as if all seeds had been in one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """Number of seeds, and mean and squared deviations over them: arrays of one shape."""

    seeds: int
    mean: np.ndarray
    m2: np.ndarray
    """Sum of squared deviations from the mean."""

    @property
    def std(self) -> np.ndarray:
        """Standard deviation (divisor n - 1), NaN for one seed."""
        if self.seeds < 2:
            return np.full(self.mean.shape, np.nan)
        return np.sqrt(self.m2 / (self.seeds - 1))

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean, NaN for one seed."""
        return self.std / np.sqrt(self.seeds)


def merge(parts: Iterable[Moments]) -> Moments:
    """The moments of all seeds from those of disjoint blocks, by Chan, Golub and LeVeque's formula.

    The result depends on the order of the parts only by rounding; the same order gives the same
    bits.

    Args:
      parts: at least one.
    """
    first, *others = parts
    seeds, mean, m2 = first
    for other in others:
        total = seeds + other.seeds
        share = other.seeds / total
        delta = other.mean - mean
        mean = mean + delta * share
        m2 = m2 + other.m2 + delta**2 * (seeds * share)
        seeds = total
    return Moments(seeds, mean, m2)
