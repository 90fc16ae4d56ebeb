"""Differences on common random numbers: seed i of one cell against seed i of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxduel.simulation.intervals import interval95


@dataclass(frozen=True)
class Paired:
    """The regret of a minus that of b, at the horizon, over the seeds that both have run.

    Attributes:
      seeds: number of those seeds.
      mean_a, mean_b: their means.
      difference: mean of the differences.
      lower95, upper95: its 95 % interval (Student t); NaN for fewer than two seeds.
      sem: its standard error, of the differences.
      unpaired_sem: the standard error it would have if the runs of a and b were independent.
    """

    seeds: int
    mean_a: float
    mean_b: float
    difference: float
    lower95: float
    upper95: float
    sem: float
    unpaired_sem: float

    @property
    def verdict(self) -> str:
        """ "better" if a's regret is smaller, the whole interval below 0; "worse" if it is above;
        "undecided" otherwise."""
        if self.upper95 < 0:
            return "better"
        return "worse" if self.lower95 > 0 else "undecided"

    @property
    def tightness(self) -> float:
        """Ratio of the unpaired standard error to the paired one; NaN if both are 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.divide(self.unpaired_sem, self.sem))


def paired(a: np.ndarray, b: np.ndarray) -> Paired | None:
    """Compares the regret of seeds.

    Args:
      a, b: (S,) float64 at the same seeds; NaN for those that have not run.

    Returns:
      The comparison, or None if no seed has run in both.
    """
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    seeds = len(a)
    if seeds == 0:
        return None
    difference = a - b
    mean = float(difference.mean())
    sem, unpaired = float("nan"), float("nan")
    if seeds > 1:
        sem = float(difference.std(ddof=1)) / np.sqrt(seeds)
        unpaired = float(np.hypot(a.std(ddof=1), b.std(ddof=1))) / np.sqrt(seeds)
    lower, upper = interval95(np.array(mean), np.array(sem), seeds)
    return Paired(
        seeds=seeds,
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        difference=mean,
        lower95=float(lower),
        upper95=float(upper),
        sem=float(sem),
        unpaired_sem=float(unpaired),
    )
