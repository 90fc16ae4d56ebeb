"""Estimates with 95 % intervals that claims are judged by: ratios, spreads, slopes, constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jaxduel.experiments.samples import Sample
from jaxduel.stats import standard_error, t95


@dataclass(frozen=True)
class Ratio:
    """A positive number, such as a ratio of means, with a standard error on the log scale.

    Attributes:
      value: the ratio.
      log_error: standard error of its logarithm.
      groups: number of independent groups behind it; the interval has groups - 1 degrees of
        freedom.
    """

    value: float
    log_error: float
    groups: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, symmetric on the log scale; NaN for one group."""
        half = t95(self.groups) * self.log_error
        return self.value * math.exp(-half), self.value * math.exp(half)

    def __truediv__(self, other: Ratio) -> Ratio:
        """The quotient of two independent ratios."""
        return Ratio(
            self.value / other.value,
            math.hypot(self.log_error, other.log_error),
            min(self.groups, other.groups),
        )

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True)
class Number:
    """A number with a standard error on its own scale, such as a slope or a share.

    Attributes:
      value: the number.
      error: its standard error.
      groups: number of independent groups behind it; the interval has groups - 1 degrees of
        freedom.
    """

    value: float
    error: float
    groups: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval; NaN for one group."""
        half = t95(self.groups) * self.error
        return self.value - half, self.value + half

    def __sub__(self, other: Number) -> Number:
        """The difference of two independent numbers."""
        return Number(
            self.value - other.value,
            math.hypot(self.error, other.error),
            min(self.groups, other.groups),
        )

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True)
class Exact:
    """A number that was computed, not estimated, such as the constant of a bound."""

    value: float

    @property
    def interval(self) -> tuple[float, float]:
        """The number itself, twice."""
        return self.value, self.value

    def __str__(self) -> str:
        return f"{self.value:.4g}"


Estimate = Ratio | Number | Exact
"""A number with its uncertainty: `value` and the 95 % `interval`; `str` shows both."""


def _text(estimate: Estimate) -> str:
    lower, upper = estimate.interval
    return f"{estimate.value:.3g} [{lower:.3g}, {upper:.3g}]"


class _Statistic(NamedTuple):
    """A positive statistic of the runs' final regrets, with the terms of its delta method."""

    of: Callable[[np.ndarray], float]
    """The statistic of (n,) regrets."""
    contributions: Callable[[np.ndarray], np.ndarray]
    """Contribution of each run to its logarithm, up to a constant: (n,)."""


_MEAN = _Statistic(lambda x: float(x.mean()), lambda x: x / x.mean())
_STD = _Statistic(
    lambda x: float(x.std(ddof=1)) if len(x) > 1 else float("nan"),
    lambda x: 0.5 * (x - x.mean()) ** 2 / x.var(),
)


def final_ratio(above: Sample, below: Sample) -> Ratio:
    """Mean final regret of one policy over that of another, on the same instances.

    The error is that of the delta method. Run i of both policies sees the same instance, so the
    error is that of the differences, run by run; if one policy has more runs than the other, the
    two count as independent.
    """
    return _quotient(above, _MEAN, below, _MEAN)


def apart(above: Sample, below: Sample) -> Ratio:
    """Mean final regret of some runs over that of independent ones: on another data set, to another
    horizon, or of another number."""
    return _quotient(above, _MEAN, below, _MEAN, paired=False)


def std_ratio(above: Sample, below: Sample) -> Ratio:
    """Standard deviation of one policy's final regret over that of another's, with the delta
    method's error."""
    return _quotient(above, _STD, below, _STD)


def std_over_mean(above: Sample, below: Sample) -> Ratio:
    """Standard deviation of a policy's final regret over the mean of another's, or of its own (its
    coefficient of variation), with the delta method's error."""
    return _quotient(above, _STD, below, _MEAN)


def slope(sample: Sample) -> Number:
    """Slope of log mean regret against log t over the last decade: 1 is linear, 0 constant.

    The decade ends at the last checkpoint and begins at the last one that is at most a tenth of it.

    Raises:
      IndexError: if there is no such checkpoint.
    """
    first, last, length = _last_decade(sample)
    with np.errstate(all="ignore"):
        change = float(np.log(last.mean() / first.mean()))
        parts = _MEAN.contributions(last) - _MEAN.contributions(first)
        error = float(standard_error(parts, sample.groups))
    return Number(change / length, error / length, sample.num_groups)


def growth(sample: Sample) -> Number:
    """Growth of mean regret per unit of log t over the last decade, for comparison with the
    constant of a bound; the decade is that of `slope`.

    Raises:
      IndexError: if there is no such checkpoint.
    """
    first, last, length = _last_decade(sample)
    error = float(standard_error(last - first, sample.groups))
    return Number(float(np.mean(last - first)) / length, error / length, sample.num_groups)


def _last_decade(sample: Sample) -> tuple[np.ndarray, np.ndarray, float]:
    """Regret of each run, (n,), at the two ends of the last decade, and the difference of log t."""
    times = sample.checkpoints
    begin = int(np.flatnonzero(times * 10 <= times[-1])[-1])
    return sample.regret[:, begin], sample.final, math.log(times[-1] / times[begin])


def mean_of(values: np.ndarray) -> Number:
    """The mean of independent numbers, (n,), one per run."""
    error = float(standard_error(values, np.arange(len(values))))
    return Number(float(values.mean()), error, len(values))


def _quotient(
    above: Sample, over: _Statistic, below: Sample, under: _Statistic, paired: bool = True
) -> Ratio:
    """The quotient of two statistics; NaN where they are not positive."""
    with np.errstate(all="ignore"):
        value = float(np.float64(over.of(above.final)) / under.of(below.final))
        first, second = over.contributions(above.final), under.contributions(below.final)
        if paired and np.array_equal(above.groups, below.groups):
            error = standard_error(first - second, above.groups)
        else:
            error = np.hypot(
                standard_error(first, above.groups), standard_error(second, below.groups)
            )
    return Ratio(value, float(error), min(above.num_groups, below.num_groups))
