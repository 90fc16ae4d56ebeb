"""Samples: the runs of one policy on one data set, pooled over the instances of the data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jaxduel.experiments.weighting import unseen_cost
from jaxduel.plotting import Curve, few_runs
from jaxduel.stats import interval95, standard_error


@dataclass(frozen=True)
class Sample:
    """Runs of a policy on a data set.

    As draws from a random family, runs on one instance are not independent of each other. Standard
    errors are therefore those of means over groups: a group is an instance if there are several,
    else a run.

    Attributes:
      name: the competitor's name, a key of `jaxduel.plotting.STYLES`.
      label: its name in legends and tables.
      checkpoints: (M,) comparisons made.
      regret: (n, M) float64, cumulative pseudo-regret of each run.
      groups: (n,) int, the group of each run, numbered from 0.
      batches: (n,) int, batches used, or None.
      selves: (n, K) int64, comparisons of each arm of the problem with itself up to the last
        checkpoint; None if pairs were not recorded.
      separate: whether each checkpoint has separate runs, to that horizon.
      most: (M,) float64, the largest regret that a run can have; None: that of these runs.
      settles: whether the policy may settle on a wrong arm for good.
    """

    name: str
    label: str
    checkpoints: np.ndarray
    regret: np.ndarray = field(repr=False)
    groups: np.ndarray = field(repr=False)
    batches: np.ndarray | None = field(default=None, repr=False)
    selves: np.ndarray | None = field(default=None, repr=False)
    separate: bool = False
    most: np.ndarray | None = field(default=None, repr=False)
    settles: bool = True

    @property
    def num_runs(self) -> int:
        """Number of runs, n."""
        return len(self.regret)

    @property
    def num_groups(self) -> int:
        """Number of independent groups."""
        return int(self.groups.max()) + 1

    @property
    def final(self) -> np.ndarray:
        """The regret of each run at the last checkpoint: (n,) float64."""
        return self.regret[:, -1]

    @property
    def spans_a_decade(self) -> bool:
        """True if the first checkpoint is at most a tenth of the last."""
        return int(self.checkpoints[0]) * 10 <= int(self.checkpoints[-1])

    @property
    def mean(self) -> np.ndarray:
        """Mean regret over runs: (M,) float64."""
        return self.regret.mean(axis=0)

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean, from the groups: (M,) float64, NaN for one group."""
        return standard_error(self.regret, self.groups)

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Sums of the runs' values, (n,), over groups, in units of a group's mean number of runs:
        (G,) float64 with the same mean."""
        return np.bincount(self.groups, values) * (self.num_groups / self.num_runs)

    def unseen(self, values: np.ndarray, at: int = -1) -> float:
        """Number of a run beyond the largest of the sample, on average.

        Args:
          values: (n,) the runs' numbers, such as their regret at a checkpoint.
          at: the checkpoint whose largest regret bounds them.
        """
        largest = float(values.max())
        most = largest if self.most is None else float(self.most[at])
        return unseen_cost(largest, most, self.settles)

    def until(self, time: int) -> Sample:
        """The same runs up to the checkpoint `time`."""
        (at,) = np.flatnonzero(self.checkpoints == time)
        return replace(
            self,
            checkpoints=self.checkpoints[: at + 1],
            regret=self.regret[:, : at + 1],
            most=None if self.most is None else self.most[: at + 1],
        )

    def scaled(self, factor: float) -> Sample:
        """The same runs with regret multiplied by a factor (another unit)."""
        most = None if self.most is None else factor * self.most
        return replace(self, regret=factor * self.regret, most=most)

    def curve(self) -> Curve:
        """The sample as a curve, with a Student t interval of the mean over the groups."""
        std = (
            self.regret.std(axis=0, ddof=1) if self.num_runs > 1 else np.full_like(self.sem, np.nan)
        )
        q25, median, q75 = np.quantile(self.regret, [0.25, 0.5, 0.75], axis=0)
        lower, upper = interval95(self.mean, self.sem, self.num_groups)
        return Curve(
            name=self.name,
            label=self.label,
            times=self.checkpoints,
            mean=self.mean,
            sem=self.sem,
            std=std,
            median=median,
            q25=q25,
            q75=q75,
            lower95=lower,
            upper95=upper,
            num_seeds=self.num_runs,
            separate=self.separate,
            runs=few_runs(self.regret),
        )

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
        """`shares` of the n runs that have any, largest first in each: (n, A) float64."""
        shares = self.shares(arms)
        return -np.sort(-shares[~np.isnan(shares[:, 0])], axis=1)
