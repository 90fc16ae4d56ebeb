"""Statistics over seeds: means, deviations, standard errors, 95 % intervals, paired differences.

All floors use these, in float64 and by NumPy, on what the simulator returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


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
            return np.full(np.shape(self.mean), np.nan)
        return np.sqrt(self.m2 / (self.seeds - 1))

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean, NaN for one seed."""
        return self.std / np.sqrt(self.seeds)


def moments_of(values: np.ndarray) -> Moments:
    """The moments of values of seeds along the first axis, at least one: (n, ...) float64."""
    mean = values.mean(axis=0)
    return Moments(len(values), mean, ((values - mean) ** 2).sum(axis=0))


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


def standard_error(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Standard error of the mean over runs that are independent only between groups.

    With one run per group it is the usual standard error.

    Args:
      values: (n, ...) one value per run.
      groups: (n,) int, numbered from 0.

    Returns:
      (...) float64, NaN if there is only one group.
    """
    count = int(groups.max()) + 1
    if count < 2:
        return np.full(values.shape[1:], np.nan)
    sums = np.zeros((count, *values.shape[1:]))
    np.add.at(sums, groups, values - values.mean(axis=0))
    return np.sqrt(np.sum(sums**2, axis=0) * count / (count - 1)) / len(values)


def t95(groups: int) -> float:
    """The 97.5 % quantile of Student's t with `groups` - 1 degrees of freedom; NaN for one group.

    It is 2.26 for 10 independent runs and 1.96 for many.
    """
    from scipy.special import stdtrit  # here: it takes as long to import as all of jaxduel

    return float(stdtrit(groups - 1, 0.975)) if groups > 1 else float("nan")


def interval95(mean: ArrayLike, sem: ArrayLike, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the 95 % interval of a mean.

    Args:
      mean: estimated means, any shape.
      sem: their standard errors.
      groups: number of independent values behind each mean (seeds, or instances).
    """
    half = t95(groups) * np.asarray(sem)
    return np.asarray(mean) - half, np.asarray(mean) + half


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
    of_a, of_b, apart = moments_of(a), moments_of(b), moments_of(a - b)
    lower, upper = interval95(apart.mean, apart.sem, seeds)
    return Paired(
        seeds=seeds,
        mean_a=float(of_a.mean),
        mean_b=float(of_b.mean),
        difference=float(apart.mean),
        lower95=float(lower),
        upper95=float(upper),
        sem=float(apart.sem),
        unpaired_sem=float(np.hypot(of_a.std, of_b.std) / np.sqrt(seeds)),
    )
