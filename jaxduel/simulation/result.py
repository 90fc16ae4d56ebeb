"""What a simulation returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Result:
    """Regret and plays of a policy on an instance, for many seeds.

    Attributes:
      policy: the policy's name.
      problem: the instance's name.
      horizon: T.
      seed: root seed (or "key" if a JAX key was given).
      definition: which regret it is.
      checkpoints: (M,) int64, comparisons or pulls made.
      regret: (num_seeds, M) float64, cumulative pseudo-regret, in units of the gap.
      plays: (num_seeds, M, K) int64, plays of each arm of the problem; they sum to twice the
        checkpoint, of pulls to the checkpoint.
      batches: (num_seeds,) int64, batches used up to the horizon; None for policies that are not
        batched.
      pairs: (num_seeds, M, K, K) int64, comparisons of each ordered pair (left, right) of the
        problem's arms, where they were asked for, else None. In the matrix plus its transpose, the
        rows sum to the plays of the arms.
      outcomes: where they were asked for, else None: (num_seeds, M, K, K) int32, wins of i over j,
        comparisons of an arm with itself left out; of arms with rewards (num_seeds, M, K) float64,
        sums of the rewards minus their means. For batched policies without those of the round that
        a checkpoint lies in or ends: plays up to there cannot depend on them.
    """

    policy: str
    problem: str
    horizon: int
    seed: int | str
    definition: str
    checkpoints: np.ndarray
    regret: np.ndarray = field(repr=False)
    plays: np.ndarray = field(repr=False)
    batches: np.ndarray | None = field(default=None, repr=False)
    pairs: np.ndarray | None = field(default=None, repr=False)
    outcomes: np.ndarray | None = field(default=None, repr=False)

    @property
    def num_seeds(self) -> int:
        """How many seeds ran to the end."""
        return self.regret.shape[0]

    @property
    def mean(self) -> np.ndarray:
        """Mean regret over seeds: (M,) float64."""
        return self.regret.mean(axis=0)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of regret over seeds (divisor n - 1; NaN for one seed): (M,)
        float64."""
        if self.num_seeds < 2:
            return np.full(self.checkpoints.shape, np.nan)
        return self.regret.std(axis=0, ddof=1)

    @property
    def sem(self) -> np.ndarray:
        """Standard error of the mean: (M,) float64."""
        return self.std / np.sqrt(self.num_seeds)

    def quantile(self, q: float | np.ndarray) -> np.ndarray:
        """Quantiles of regret over seeds: (M,), or (len(q), M), float64."""
        return np.quantile(self.regret, q, axis=0)

    def to_xarray(self) -> xarray.Dataset:
        """The result as a data set with dimensions seed, checkpoint and arm (numbered from 0; of a
        pair, left and right)."""
        import xarray

        steps = "pulls" if self.definition == "pulls" else "comparisons"
        variables = {
            "regret": (("seed", "checkpoint"), self.regret, {"definition": self.definition}),
            "plays": (("seed", "checkpoint", "arm"), self.plays),
        }
        if self.batches is not None:
            variables["batches"] = (("seed",), self.batches)
        if self.pairs is not None:
            variables["pairs"] = (("seed", "checkpoint", "left", "right"), self.pairs)
        if self.outcomes is not None:
            pair = ("winner", "loser") if self.outcomes.ndim == 4 else ("arm",)
            variables["outcomes"] = (("seed", "checkpoint", *pair), self.outcomes)
        return xarray.Dataset(
            variables,
            coords={
                "seed": np.arange(self.num_seeds),
                "checkpoint": ("checkpoint", self.checkpoints, {"units": steps}),
                "arm": np.arange(self.plays.shape[-1]),
            },
            attrs={
                "policy": self.policy,
                "problem": self.problem,
                "horizon": self.horizon,
                "root_seed": self.seed,
            },
        )
