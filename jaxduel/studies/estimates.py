"""Estimates with intervals that claims are judged by: ratios, spreads, slopes, constants.

Intervals have the confidence of their runs (`Runs.confidence`): 95 %, or more if claims are judged
several times (`jaxduel.studies.deciding`). Those of regret allow for rare runs that no sample shows
(`jaxduel.studies.weighting`). Independent estimates are combined by the method of G. Zou and A.
Donner, Statistics in Medicine 27 (2008): squared distances of the ends are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jaxduel.runs import Runs
from jaxduel.stats import standard_error
from jaxduel.studies.weighting import ratio_interval, unseen_cost


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty.

    Attributes:
      value: the number.
      lower, upper: the ends of its interval; NaN if unknown.
      runs: number of independent runs or instances, the smaller one of two samples; None for a
        number that was computed, not estimated, such as the constant of a bound.
    """

    value: float
    lower: float
    upper: float
    runs: int | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.lower, self.upper

    def times(self, factor: float) -> Estimate:
        """The number in another unit: a positive multiple."""
        return Estimate(self.value * factor, self.lower * factor, self.upper * factor, self.runs)

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two independent estimates."""
        value = self.value - other.value
        below = math.hypot(self.value - self.lower, other.upper - other.value)
        above = math.hypot(self.upper - self.value, other.value - other.lower)
        return Estimate(value, value - below, value + above, _fewer(self.runs, other.runs))

    def __truediv__(self, other: Estimate) -> Estimate:
        """The quotient of two independent positive estimates, combined by their logarithms."""
        return _exp(self.log() - other.log())

    def log(self) -> Estimate:
        """The logarithm of a positive number; NaN for others."""
        with np.errstate(all="ignore"):
            value, lower, upper = np.log([self.value, self.lower, self.upper]).tolist()
        return Estimate(value, lower, upper, self.runs)

    def __str__(self) -> str:
        if self.runs is None:
            return f"{self.value:.4g}"
        if math.isnan(self.lower) and math.isnan(self.upper):
            return f"{self.value:.3g}, no interval"
        return f"{self.value:.3g} [{self.lower:.3g}, {self.upper:.3g}]"


def exact(value: float) -> Estimate:
    """A computed number: both ends of the interval are the number."""
    return Estimate(value, value, value)


def final_ratio(above: Runs, below: Runs) -> Estimate:
    """Mean final regret of one policy over that of another, on the same instances.

    Run i of both policies sees the same instance, so that the interval is based on pairs of runs;
    policies with different numbers of runs count as independent.
    """
    first, second = (
        np.arange(runs.num_runs) if runs.groups is None else runs.groups for runs in (above, below)
    )
    if not np.array_equal(first, second):
        return apart(above, below)
    pairs = above.by_group(above.final), below.by_group(below.final)
    high, low = _unseen(above, above.final), _unseen(below, below.final)
    return _ratio(*pairs, (high, 0.0), (0.0, low), above.confidence)


def apart(above: Runs, below: Runs) -> Estimate:
    """Mean final regret of some runs over that of independent runs: on another instance, to another
    horizon, or in another number."""
    return mean_final(above) / mean_final(below)


def mean_final(runs: Runs) -> Estimate:
    """Mean final regret."""
    return _mean(runs, runs.final, _unseen(runs, runs.final))


def std_ratio(above: Runs, below: Runs) -> Estimate:
    """Ratio of the standard deviations of two policies' final regrets, taken as independent."""
    return _std(above) / _std(below)


def std_over_mean(above: Runs, below: Runs) -> Estimate:
    """Standard deviation of a policy's final regret over the mean of another policy's, or of its
    own (the coefficient of variation), taken as independent. A run of large regret raises both, so
    that the interval of the coefficient of variation is somewhat wide."""
    return _std(above) / mean_final(below)


def slope(runs: Runs) -> Estimate:
    """Slope of log mean regret against log t over the last decade: 1 is linear, 0 constant.

    The decade ends at the last checkpoint T and begins at the last checkpoint up to T / 10.

    Raises:
      IndexError: if there is no such checkpoint.
    """
    begin, length = _last_decade(runs)
    first, last = runs.regret[:, begin], runs.final
    late, early = _unseen(runs, last), _unseen(runs, first, begin)
    pairs = runs.by_group(last), runs.by_group(first)
    ratio = _ratio(*pairs, (late, 0.0), (early, early), runs.confidence)
    return ratio.log().times(1 / length)


def growth(runs: Runs) -> Estimate:
    """Growth of mean regret per unit of log t over the last decade, for comparison with the
    constant of a bound; the decade is that of `slope`.

    Raises:
      IndexError: if there is no such checkpoint.
    """
    begin, length = _last_decade(runs)
    grown = runs.final - runs.regret[:, begin]
    return _mean(runs, grown, _unseen(runs, grown)).times(1 / length)


def mean_of(values: np.ndarray, confidence: float = 0.95) -> Estimate:
    """The mean of independent numbers, (n,), one per run or instance, with the interval of
    Student's t: for numbers that rare runs do not dominate, such as shares."""
    from scipy.special import stdtrit

    mean, count = float(values.mean()), len(values)
    half = math.nan
    if count > 1:
        error = standard_error(values, np.arange(count))
        half = float(stdtrit(count - 1, (1 + confidence) / 2) * error)
    return Estimate(mean, mean - half, mean + half, count)


def ratio_of_seen(above: np.ndarray, below: np.ndarray) -> Estimate:
    """Ratio of the means of two positive numbers of the same instances, (n,) each; unseen instances
    are assumed to have numbers within the range of these."""
    highest, lowest = (above.max(), below.min()), (above.min(), below.max())
    return _ratio(above, below, highest, lowest)


def _unseen(runs: Runs, values: np.ndarray, at: int = -1) -> float:
    """Expected number of a run beyond the largest of these numbers.

    Args:
      values: (n,) numbers of the runs, such as their regret at a time.
      at: the time whose largest regret bounds them.
    """
    largest = float(values.max())
    most = largest if runs.most is None else float(runs.most[at])
    return unseen_cost(largest, most, runs.settles)


def _last_decade(runs: Runs) -> tuple[int, float]:
    """Number of the checkpoint at which the last decade begins, and the decade's length in log
    t."""
    times = runs.times
    begin = int(np.flatnonzero(times * 10 <= times[-1])[-1])
    return begin, math.log(times[-1] / times[begin])


def _ratio(
    above: np.ndarray,
    below: np.ndarray,
    highest: tuple[float, float],
    lowest: tuple[float, float],
    confidence: float = 0.95,
) -> Estimate:
    """The ratio of means of groups; arguments as in `ratio_interval`."""
    with np.errstate(all="ignore"):
        value = float(np.float64(above.mean()) / below.mean())
    ends = ratio_interval(above, below, highest, lowest, confidence)
    return Estimate(value, *ends, len(above))


def _mean(runs: Runs, values: np.ndarray, most: float) -> Estimate:
    """The mean of numbers of runs, each at least 0; an unseen run has at most `most`."""
    own = runs.by_group(values)
    ones = runs.by_group(np.ones(len(values)))
    return _ratio(own, ones, (most, 1.0), (0.0, 1.0), runs.confidence)


def _std(runs: Runs) -> Estimate:
    """Standard deviation of the final regret: the root of the mean squared distance from the
    mean."""
    mean, count = runs.final.mean(), runs.num_runs
    squares = (runs.final - mean) ** 2 * (count / max(count - 1, 1))
    most = max((_unseen(runs, runs.final) - mean) ** 2, float(squares.max()))
    return _exp(_mean(runs, squares, most).log().times(0.5))


def _exp(log: Estimate) -> Estimate:
    value, lower, upper = np.exp([log.value, log.lower, log.upper]).tolist()
    return Estimate(value, lower, upper, log.runs)


def unseen_chance(runs: int) -> float:
    """The probability of an event that `runs` runs all miss with probability 2.5 %."""
    return 1 - 0.025 ** (1 / runs)


def _fewer(*runs: int | None) -> int | None:
    return min((number for number in runs if number is not None), default=None)
