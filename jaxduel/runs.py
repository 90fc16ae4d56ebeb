"""`Runs`: runs of a policy on an instance, or on several of a family, and their statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jaxduel.stats import Moments, interval95, moments_of, standard_error

STATISTICS = ("mean", "sem", "std", "median", "q25", "q75", "lower95", "upper95")
"""Columns of a table of runs, besides policy, t and number of seeds."""


def variant_name(policy: str, changed: Mapping[str, str]) -> str:
    """A policy with its changed parameters and settings in brackets: pcomp[num_batches=8]."""
    parts = ",".join(f"{name}={text}" for name, text in changed.items())
    return f"{policy}[{parts}]" if parts else policy


def problem_parts(name: str) -> tuple[str, list[tuple[str, str]]]:
    """A problem of a sweep, split into name and parameters: "btl" and ("num_arms", "4"),
    ("instance", "0"). Brackets in the name, such as a file's, stay."""
    found = re.fullmatch(r"(.+?)\((|\w+=.*)\)", name)
    if found is None:
        return name, []
    parts = re.split(r",\s*(?=\w+=)", found[2]) if found[2] else []
    return found[1], [(key, value) for key, _, value in (part.partition("=") for part in parts)]


def number_or_text(text: str) -> float | str:
    """The value of a parameter in a label."""
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Runs:
    """Runs of one policy on one instance, or on several of a random family.

    Runs on one instance of a random family are not independent draws from the family. Standard
    errors are therefore of means over groups: a group is an instance if there are several, else a
    run.

    Attributes:
      name: the policy, with parameters in brackets where it is a variant.
      label: its name in legends and tables.
      times: (M,) int64, comparisons or pulls made.
      regret: (n, M) float64, cumulative pseudo-regret of each run, in units of the gap.
      groups: (n,) int, the group of each run, numbered from 0; None: each run is its own.
      moments: moments of all runs, (M,), if `regret` has the first runs only, else None.
      batches: (n,) int, batches used, or None.
      selves: (n, K) int64, comparisons of each arm of the instance with itself up to the last time;
        None if pairs were not recorded.
      separate: whether each time has separate runs, with that time as horizon.
      most: (M,) float64, the largest regret that a run can have; None: the largest of these runs.
      settles: whether the policy may settle on a wrong arm for good.
      confidence: confidence of the intervals by which claims are judged (those of `interval`, which
        figures show, always have 0.95).

    Example:
      >>> import jaxduel as jd
      >>> runs = jd.simulate("rucb", "cyclic", 1000, num_seeds=4, checkpoints=[100, 1000]).runs
      >>> runs.name, runs.num_runs, runs.mean.shape, runs.statistics()["q25"].shape
      ('rucb', 4, (2,), (2,))
    """

    name: str
    label: str
    times: np.ndarray
    regret: np.ndarray = field(repr=False)
    groups: np.ndarray | None = field(default=None, repr=False)
    moments: Moments | None = field(default=None, repr=False)
    batches: np.ndarray | None = field(default=None, repr=False)
    selves: np.ndarray | None = field(default=None, repr=False)
    separate: bool = False
    most: np.ndarray | None = field(default=None, repr=False)
    settles: bool = True
    confidence: float = 0.95

    @property
    def num_runs(self) -> int:
        """Number of runs."""
        return len(self.regret) if self.moments is None else self.moments.num_seeds

    @property
    def num_groups(self) -> int:
        """Number of independent groups."""
        return self.num_runs if self.groups is None else int(self.groups.max()) + 1

    @property
    def final(self) -> np.ndarray:
        """The regret of each run at the last time: (n,) float64."""
        return self.regret[:, -1]

    @property
    def spans_a_decade(self) -> bool:
        """True if the first time is at most a tenth of the last."""
        return int(self.times[0]) * 10 <= int(self.times[-1])

    @property
    def mean(self) -> np.ndarray:
        """Mean regret: (M,) float64."""
        return self.regret.mean(axis=0) if self.moments is None else self.moments.mean

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of regret (divisor n - 1; NaN for one run): (M,) float64."""
        return (self.moments or moments_of(self.regret)).std

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean, from the groups: (M,) float64, NaN for one group."""
        if self.groups is None:
            return (self.moments or moments_of(self.regret)).sem
        return standard_error(self.regret, self.groups)

    @property
    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the 95 % interval of the mean (Student's t over the groups): (M,) float64
        each."""
        return interval95(self.mean, self.sem, self.num_groups)

    def quantile(self, q: float | Sequence[float] | np.ndarray) -> np.ndarray:
        """Quantiles over the runs that have rows: (M,), or (len(q), M), float64."""
        return np.quantile(self.regret, q, axis=0)

    def statistics(self) -> dict[str, np.ndarray]:
        """The `STATISTICS` by name: (M,) float64 each."""
        q25, median, q75 = self.quantile([0.25, 0.5, 0.75])
        numbers = (self.mean, self.sem, self.std, median, q25, q75, *self.interval)
        return dict(zip(STATISTICS, numbers, strict=True))

    def rows(self) -> list[tuple[Any, ...]]:
        """A row for each time: t, the `STATISTICS` and the number of runs."""
        columns = (self.times, *self.statistics().values())
        return [(*row, self.num_runs) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Sums of the runs' values, (n,), over groups, divided by the mean number of runs in a
        group: (G,) float64 with the same mean."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, values) * (self.num_groups / self.num_runs)

    def until(self, time: int) -> Runs:
        """The same runs up to one of their times."""
        (at,) = np.flatnonzero(self.times == time)
        most = None if self.most is None else self.most[: at + 1]
        return replace(self, times=self.times[: at + 1], regret=self.regret[:, : at + 1], most=most)

    def scaled(self, factor: float) -> Runs:
        """The same runs with regret multiplied by a factor (another unit)."""
        most = None if self.most is None else factor * self.most
        return replace(self, regret=factor * self.regret, most=most)

    def shares(self, arms: Sequence[int]) -> np.ndarray:
        """Share of each of the given arms in a run's comparisons of these arms with themselves.

        Args:
          arms: A arms, numbered from 0.

        Returns:
          (n, A) float64, rows with sum 1; NaN where a run has no such comparison.

        Raises:
          ValueError: if pairs were not recorded.
        """
        if self.selves is None:
            raise ValueError(f"pairs of {self.name} were not recorded.")
        counts = self.selves[:, list(arms)].astype(np.float64)
        totals = counts.sum(axis=1, keepdims=True)
        return counts / np.where(totals > 0, totals, np.nan)

    def ordered_shares(self, arms: Sequence[int]) -> np.ndarray:
        """`shares` of the n runs that have any, largest first in each run: (n, A) float64."""
        shares = self.shares(arms)
        return -np.sort(-shares[~np.isnan(shares[:, 0])], axis=1)
