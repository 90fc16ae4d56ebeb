"""Statistics over seeds: means, deviations, standard errors, 95 % intervals, paired differences.

All floors use these, in float64 and by NumPy, on what the simulator returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import entries_of, items_of, real_number, real_numbers
from jaxduel.errors import InputError


class Moments(NamedTuple):
    """Number of seeds, and mean and squared deviations over them: arrays of one shape.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import Moments
      >>> moments = Moments(num_seeds=4, mean=np.array([10.0]), m2=np.array([12.0]))
      >>> moments.std.tolist(), moments.sem.tolist()  # sqrt(12 / 3), and that over sqrt(4)
      ([2.0], [1.0])
    """

    num_seeds: int
    mean: np.ndarray
    m2: np.ndarray
    """Sum of squared deviations from the mean."""

    @property
    def std(self) -> np.ndarray:
        """Standard deviation (divisor n - 1), NaN for one seed."""
        if self.num_seeds < 2:
            return np.full(np.shape(self.mean), np.nan)
        return np.sqrt(self.m2 / (self.num_seeds - 1))

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean, NaN for one seed."""
        return self.std / np.sqrt(self.num_seeds)


def moments_of(values: np.ndarray) -> Moments:
    """The moments of values of seeds along the first axis, at least one: (n, ...) float64.

    Raises:
      InputError: for what is no such array.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import moments_of
      >>> regret = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])  # seeds x checkpoints
      >>> moments = moments_of(regret)
      >>> moments.mean.tolist(), moments.std.tolist()
      ([2.0, 20.0], [1.0, 10.0])
    """
    values = _of_runs(values)
    mean = values.mean(axis=0)
    return Moments(len(values), mean, ((values - mean) ** 2).sum(axis=0))


def merge(parts: Iterable[Moments]) -> Moments:
    """The moments of all seeds from those of disjoint blocks, by Chan, Golub and LeVeque's formula.

    The result depends on the order of the parts only by rounding; the same order gives the same
    bits.

    Args:
      parts: at least one.

    Raises:
      InputError: if there is none, or one is no `Moments`.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import merge, moments_of
      >>> both = merge([moments_of(np.array([1.0, 2.0])), moments_of(np.array([3.0, 4.0, 5.0]))])
      >>> both.num_seeds, round(float(both.mean), 3), round(float(both.std**2), 3)
      (5, 3.0, 2.5)
    """
    blocks = items_of(parts, "parts")
    if not blocks or not all(isinstance(block, Moments) for block in blocks):
        raise InputError("moments are merged of a list of Moments, at least one.")
    seeds, mean, m2 = blocks[0]
    for other in blocks[1:]:
        total = seeds + other.num_seeds
        share = other.num_seeds / total
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
      groups: (n,) the group of each run: equal labels, of any kind.

    Returns:
      (...) float64, NaN if there is only one group.

    Raises:
      InputError: if there is not one label for each run.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import standard_error
      >>> values = np.array([1.0, 1.0, 3.0, 3.0])
      >>> round(float(standard_error(values, np.array([0, 1, 2, 3]))), 3)  # four independent runs
      0.577
      >>> round(float(standard_error(values, np.array([0, 0, 1, 1]))), 3)  # two instances
      1.0
    """
    values, groups = _of_runs(values), entries_of(groups)
    if groups.shape != (len(values),):
        raise InputError(f"{len(values)} runs need as many groups, not {groups.shape}.")
    try:
        labels, groups = np.unique(groups, return_inverse=True)
    except TypeError:
        raise InputError("groups must have labels of one kind.") from None
    count = len(labels)
    if count < 2:
        return np.full(values.shape[1:], np.nan)
    sums = np.zeros((count, *values.shape[1:]))
    np.add.at(sums, groups, values - values.mean(axis=0))
    return np.sqrt(np.sum(sums**2, axis=0) * count / (count - 1)) / len(values)


def t95(groups: float) -> float:
    """The 97.5 % quantile of Student's t with `groups` - 1 degrees of freedom; NaN for one group.

    It is 2.26 for 10 independent runs and 1.96 for many.

    Raises:
      InputError: if `groups` is no number.

    Example:
      >>> from jaxduel.stats import t95
      >>> round(t95(10), 3), round(t95(100_000), 3)
      (2.262, 1.96)
    """
    from scipy.special import stdtrit  # here: it takes as long to import as all of jaxduel

    groups = real_number(groups, "the number of groups")
    return float(stdtrit(groups - 1, 0.975)) if groups > 1 else float("nan")


def interval95(mean: ArrayLike, sem: ArrayLike, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the 95 % interval of a mean.

    Skewed values need many seeds. Share of intervals that hold the mean, of 4,000 (standard errors
    up to 0.008): exponential values, lognormal ones of log-deviation 1, and exponential ones of
    which a tenth is 50 times as large, as where few seeds lose the best arm:

        seeds                  10     50    200   1000
        exponential          0.90   0.93   0.94   0.95
        lognormal            0.84   0.90   0.93   0.95
        a tenth is large     0.52   0.83   0.90   0.94

    Args:
      mean: estimated means, any shape.
      sem: their standard errors.
      groups: number of independent values behind each mean (seeds, or instances).

    Raises:
      InputError: for what are no numbers, or shapes that do not broadcast.

    Example:
      >>> from jaxduel.stats import interval95
      >>> low, high = interval95(mean=50.0, sem=2.0, groups=10)
      >>> round(float(low), 2), round(float(high), 2)  # 50 -+ 2.262 x 2
      (45.48, 54.52)
    """
    mean, sem = _broadcast("means and standard errors", mean, sem)
    half = t95(groups) * sem
    return mean - half, mean + half


def wilson95(successes: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of Wilson's 95 % interval of a probability.

    The probabilities p with |successes / n - p| <= 1.96 sqrt(p (1 - p) / n): unlike an interval
    from the standard error it is sound at 0 and n successes.

    Args:
      successes: counts from 0 to n, any shape.
      n: numbers of independent trials, at least 1, of a shape that broadcasts.

    Returns:
      Two arrays, float64 in [0, 1].

    Raises:
      InputError: for other numbers, or shapes that do not broadcast.

    Example:
      >>> from jaxduel.stats import wilson95
      >>> low, high = wilson95([0, 50, 100], 100)
      >>> low.round(3).tolist(), high.round(3).tolist()
      ([0.0, 0.404, 0.963], [0.037, 0.596, 1.0])
    """
    won, n = _broadcast("successes and trials", successes, n)
    if not np.all((won >= 0) & (won <= n) & (n >= 1) | np.isnan(won) | np.isnan(n)):
        raise InputError("successes must be from 0 to the number of trials, at least 1.")
    z = NormalDist().inv_cdf(0.975)
    half = z * np.sqrt(won * (n - won) / n + z**2 / 4)
    low, high = ((won + z**2 / 2 + sign * half) / (n + z**2) for sign in (-1, 1))
    return np.where(won == 0, 0.0, low), np.where(won == n, 1.0, high)


@dataclass(frozen=True)
class Paired:
    """The regret of a minus that of b, at the horizon, over the seeds that both have run; or their
    shares of seeds of some kind.

    Attributes:
      num_seeds: number of those seeds.
      mean_a, mean_b: their means.
      difference: mean of the differences.
      lower95, upper95: its 95 % interval (Student t, NaN for fewer than two seeds; for shares as in
        `paired_shares`).
      sem: its standard error, of the differences.
      unpaired_sem: the standard error it would have if the runs of a and b were independent.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import paired
      >>> a, b = np.array([10.0, 20.0, 30.0, 40.0]), np.array([15.0, 24.0, 36.0, 45.0])
      >>> comparison = paired(a, b)
      >>> comparison.difference, comparison.verdict
      (-5.0, 'better')
      >>> comparison.unpaired_sem > 10 * comparison.sem  # pairing pays where seeds differ alike
      True
    """

    num_seeds: int
    mean_a: float
    mean_b: float
    difference: float
    lower95: float
    upper95: float
    sem: float
    unpaired_sem: float

    @property
    def verdict(self) -> str:
        """ "better" if a's number is smaller, the whole interval below 0; "worse" if it is above;
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

    Raises:
      InputError: for arrays of other shapes, such as the regret at all checkpoints.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import paired
      >>> comparison = paired(np.array([12.0, 14.0, 16.0]), np.array([10.0, 13.0, np.nan]))
      >>> comparison.num_seeds, comparison.mean_a, comparison.mean_b
      (2, 13.0, 11.5)
      >>> comparison.difference, comparison.verdict
      (1.5, 'undecided')
    """
    a, b = (real_numbers(values, "the numbers of seeds") for values in (a, b))
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"pairs need a number for each seed, (S,) twice, not {a.shape} and {b.shape}."
        )
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    seeds = len(a)
    if seeds == 0:
        return None
    of_a, of_b, apart = moments_of(a), moments_of(b), moments_of(a - b)
    lower, upper = interval95(apart.mean, apart.sem, seeds)
    return Paired(
        num_seeds=seeds,
        mean_a=float(of_a.mean),
        mean_b=float(of_b.mean),
        difference=float(apart.mean),
        lower95=float(lower),
        upper95=float(upper),
        sem=float(apart.sem),
        unpaired_sem=float(np.hypot(of_a.std, of_b.std) / np.sqrt(seeds)),
    )


def independent(a: np.ndarray, b: np.ndarray) -> Paired:
    """Compares the regret of two independent samples, by Welch's interval.

    Args:
      a, b: (S,) and (S',) float64, of any sizes of at least one.

    Returns:
      The comparison; `num_seeds` is the smaller size, and both standard errors are the same.

    Raises:
      InputError: for arrays of other shapes.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import independent
      >>> comparison = independent(np.array([1.0, 2.0, 3.0]), np.array([11.0, 12.0]))
      >>> comparison.difference, comparison.verdict
      (-9.5, 'better')
    """
    of_a, of_b = moments_of(a), moments_of(b)
    if np.ndim(of_a.mean) or np.ndim(of_b.mean):
        raise InputError("samples need one number for each seed, (S,).")
    squares = np.array([of_a.sem, of_b.sem]) ** 2
    with np.errstate(all="ignore"):
        freedom = squares.sum() ** 2 / (squares**2 / [of_a.num_seeds - 1, of_b.num_seeds - 1]).sum()
    sem, apart = float(np.sqrt(squares.sum())), float(of_a.mean - of_b.mean)
    half = t95(freedom + 1) * sem if sem > 0 else sem
    return Paired(
        num_seeds=min(of_a.num_seeds, of_b.num_seeds),
        mean_a=float(of_a.mean),
        mean_b=float(of_b.mean),
        difference=apart,
        lower95=apart - half,
        upper95=apart + half,
        sem=sem,
        unpaired_sem=sem,
    )


def paired_shares(a: np.ndarray, b: np.ndarray) -> Paired | None:
    """Compares shares of seeds, such as of those for which the wrong arm was named.

    The interval is the adjusted Wald interval of D. G. Bonett and R. M. Price, Journal of
    Educational and Behavioral Statistics 37 (2012): one seed more is counted in which a is 1 and b
    is 0, and one the other way round. Unlike one from the standard error it is sound where few
    seeds differ, or all do.

    Args:
      a, b: (S,) float64 of 0 and 1, at the same seeds; NaN for those that have not run.

    Returns:
      The comparison, or None if no seed has run in both.

    Raises:
      InputError: as `paired`, and for other numbers.

    Example:
      >>> import numpy as np
      >>> from jaxduel.stats import paired_shares
      >>> wrong, seldom = np.repeat([1.0, 0.0], [4, 96]), np.zeros(100)
      >>> comparison = paired_shares(wrong, seldom)  # four seeds differ: by a fair coin, 1 in 8
      >>> round(comparison.lower95, 3), comparison.difference, round(comparison.upper95, 3)
      (-0.007, 0.04, 0.086)
      >>> comparison.verdict
      'undecided'
    """
    a, b = (real_numbers(values, "the numbers of seeds") for values in (a, b))
    for values in (a, b):
        if not (np.isin(values, (0, 1)) | np.isnan(values)).all():
            raise InputError("shares are of seeds that are 0, 1 or NaN, and there are others.")
    found = paired(a, b)
    if found is None:
        return None
    only_a, only_b = ((np.sum(x > y) + 1) / (found.num_seeds + 2) for x, y in ((a, b), (b, a)))
    apart, both = only_a - only_b, only_a + only_b
    half = NormalDist().inv_cdf(0.975) * np.sqrt((both - apart**2) / (found.num_seeds + 2))
    lower, upper = np.clip([apart - half, apart + half], -1.0, 1.0)
    return replace(found, lower95=float(lower), upper95=float(upper))


def _of_runs(values: Any) -> np.ndarray:
    """Values of runs along the first axis, at least one: (n, ...) float64."""
    array = real_numbers(values, "the values of runs")
    if array.ndim == 0 or len(array) == 0:
        raise InputError(f"values of at least one run are needed, not of shape {array.shape}.")
    return array


def _broadcast(what: str, *values: ArrayLike) -> list[np.ndarray]:
    """Real numbers as arrays of one shape, float64."""
    arrays = [real_numbers(value, what) for value in values]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise InputError(f"{what} have shapes {shapes}, which do not broadcast.") from None
