"""Multi-armed bandit instances: arms with Gaussian or Bernoulli rewards, and their gaps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxduel.arguments import entries_of, real_number, require_text
from jaxduel.display import arms_text, array_text, html_table, is_known
from jaxduel.errors import InputError, shorten, unknown_name
from jaxduel.problems.dueling import MAX_ARMS, frozen
from jaxduel.pytrees import register_dataclass

ARM_GAP_KINDS = ("pulls",)
"""The kinds of gap that `ArmsProblem.gaps` knows."""

MOST_ARMS = 46_340
"""Most arms that policies can have: indices of K x K entries are int32."""
_SHOWN_ARMS = 10
"""Most arms whose means notebooks show."""


@register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ArmsProblem:
    """A K-armed bandit; arms are numbered 0..K-1.

    Build one with `gaussian` or `bernoulli`, which validate; the constructor does not, so that
    traced or stacked means can pass through `jax.jit`, `jax.vmap` and `jax.grad` as leaves.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.gaussian([0.6, 0.5, 0.3])
      >>> problem
      ArmsProblem('gaussian', K=3, gaussian rewards, best arm 0, smallest gap 0.1)
      >>> problem.gaps().round(3).tolist()
      [0.0, 0.1, 0.3]
    """

    means: Any  # (K,) float64 NumPy array, or what a transformation puts in its place
    """The expected reward of each arm."""
    std: Any = None  # (K,) float64; None: Bernoulli rewards, given by their means
    """The standard deviation of the Gaussian rewards of each arm."""
    name: str = dataclasses.field(default="arms", metadata={"static": True})
    """The name of the instance in reports and warnings."""

    @property
    def num_arms(self) -> int:
        """K, the number of arms."""
        return int(np.shape(self.means)[-1])

    @property
    def rewards(self) -> str:
        """The law of the rewards: "gaussian" or "bernoulli"."""
        return "bernoulli" if self.std is None else "gaussian"

    @property
    def best_arms(self) -> tuple[int, ...]:
        """The arms of the largest mean, in increasing order; at least one."""
        means = np.asarray(self.means, np.float64)
        return tuple(int(arm) for arm in np.flatnonzero(means == means.max()))

    def gaps(self, kind: str = "pulls") -> np.ndarray:
        """The regret of a pull of each arm.

        Args:
          kind: "pulls", the largest mean minus the arm's.

        Returns:
          (K,) float64, not negative, zero for the best arms.

        Raises:
          InputError: another kind, which needs comparisons.
        """
        if kind not in ARM_GAP_KINDS:
            raise unknown_name("regret of arms with rewards", kind, ARM_GAP_KINDS)
        means = np.asarray(self.means, np.float64)
        return means.max() - means

    @property
    def smallest_gap(self) -> float | None:
        """The least distance of a mean from the largest; None if all are equal."""
        below = self.gaps()[self.gaps() > 0]
        return float(below.min()) if below.size else None

    def __repr__(self) -> str:
        if not self._is_concrete():
            return f"ArmsProblem({self.name!r}, means={array_text(self.means)})"
        return f"ArmsProblem({self.name!r}, K={self.num_arms}, {', '.join(self._facts())})"

    def _repr_html_(self) -> str:
        """The same facts and, of few arms, their means."""
        if not self._is_concrete():
            return html_table(self.name, [["means", array_text(self.means)]])
        caption = f"{self.name}: K = {self.num_arms}, {', '.join(self._facts())}"
        if self.num_arms > _SHOWN_ARMS:
            return html_table(caption, [])
        columns = {"mean": self.means, "standard deviation": self.std}
        rows = [
            [name, *(f"{number:.4g}" for number in values)]
            for name, values in columns.items()
            if values is not None
        ]
        return html_table(caption, rows, ["arm", *map(str, range(self.num_arms))])

    def _facts(self) -> list[str]:
        best, gap = self.best_arms, self.smallest_gap
        return [
            f"{self.rewards} rewards",
            f"best {arms_text(best)}",
            "all means equal" if gap is None else f"smallest gap {gap:.4g}",
        ]

    def _is_concrete(self) -> bool:
        return all(map(is_known, jax.tree.leaves(self))) and np.ndim(self.means) == 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArmsProblem):
            return NotImplemented
        if (self.name, self.rewards) != (other.name, other.rewards):
            return False
        pairs = zip(jax.tree.leaves(self), jax.tree.leaves(other), strict=True)
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((self, other))):
            return all(one is two for one, two in pairs)
        return all(np.array_equal(one, two) for one, two in pairs)

    def __hash__(self) -> int:
        return hash((self.name, self.rewards, np.shape(self.means)))


def gaussian(
    means: ArrayLike | Sequence[float],
    std: ArrayLike | Sequence[float] = 1.0,
    name: str = "gaussian",
) -> ArmsProblem:
    """Arms whose rewards are normal.

    Args:
      means: (K,) expected rewards, K >= 2.
      std: the standard deviation, positive, of all arms or (K,) of each.
      name: the name of the instance in messages and reports.

    Raises:
      InputError: fewer than two arms, numbers that are not finite, a standard deviation that is not
        positive, or not one for each arm. Arms count from 0.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.gaussian([0.6, 0.5, 0.5], std=[1.0, 2.0, 2.0])
      >>> problem.best_arms
      (0,)
      >>> problem.std.tolist()
      [1.0, 2.0, 2.0]
    """
    values = _means(means, name)
    spread = _numbers(std, name, "std")
    if spread.shape not in ((), values.shape):
        raise InputError(
            f"arms '{name}' have std of shape {spread.shape}: one number, or one for each of the "
            f"{len(values)} arms, is needed."
        )
    spread = np.broadcast_to(spread, values.shape)
    _refuse(name, "std", spread, ~(np.isfinite(spread) & (spread > 0)), "positive and finite")
    return ArmsProblem(frozen(values), frozen(spread), name)


def bernoulli(means: ArrayLike | Sequence[float], name: str = "bernoulli") -> ArmsProblem:
    """Arms whose rewards are 0 or 1.

    Args:
      means: (K,) probabilities of reward 1, K >= 2.
      name: the name of the instance in messages and reports.

    Raises:
      InputError: fewer than two arms, or a mean that is not in [0, 1]. Arms count from 0.

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.bernoulli([0.9, 0.8, 0.8])
      ArmsProblem('bernoulli', K=3, bernoulli rewards, best arm 0, smallest gap 0.1)
    """
    values = _means(means, name)
    _refuse(name, "means", values, (values < 0) | (values > 1), "in [0, 1]")
    return ArmsProblem(frozen(values), None, name)


def one_better_arm(
    num_arms: int, best: float = 0.6, others: float = 0.5, std: float = 1.0
) -> ArmsProblem:
    """The instance of the experiments of "Batched Multi-armed Bandits" (2019), section 4: arm 0 has
    the mean `best`, the others have the mean `others`.

    Args:
      num_arms: K, at least 2.
      best: the mean of arm 0, not below `others`.
      others: the mean of all other arms.
      std: the standard deviation, positive, of all arms.

    Raises:
      InputError: for arguments out of range, or numbers that are not finite.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.one_better_arm(3)
      >>> problem.means.tolist()
      [0.6, 0.5, 0.5]
    """
    num_arms = _checked_arms("one_better_arm", num_arms, MOST_ARMS)
    best, others = (real_number(mean, "one_better_arm: a mean") for mean in (best, others))
    if best < others:
        raise InputError(
            f"one_better_arm: best is {best:g}, which is below the others' {others:g}."
        )
    means = np.full(num_arms, others)
    means[0] = best
    return gaussian(means, std, f"one-better-arm({num_arms})")


def static_grid_family(num_arms: int, gap: float) -> tuple[ArmsProblem, ...]:
    """The K hypotheses behind Theorem 2 of "Batched Multi-armed Bandits" (2019), section 3.1.

    Under P_1 arm 0 has the mean `gap` and all others 0; under P_i, i > 1, arm i - 1 has the mean
    2 * gap besides. Arm i - 1 is the best under P_i, and every other pull costs at least `gap`.

    Args:
      num_arms: K, at least 2.
      gap: in (0, sqrt(K)].

    Raises:
      InputError: for arguments out of range.

    Example:
      >>> import jaxduel as jd
      >>> [p.means.tolist() for p in jd.problems.static_grid_family(3, gap=0.1)]
      [[0.1, 0.0, 0.0], [0.1, 0.2, 0.0], [0.1, 0.0, 0.2]]
    """
    num_arms = _checked_arms("static_grid_family", num_arms)
    gap = real_number(gap, "static_grid_family: gap")
    if not 0 < gap <= math.sqrt(num_arms):
        raise InputError(f"static_grid_family: gap must be in (0, sqrt({num_arms})], not {gap}.")
    family = []
    for arm in range(num_arms):
        means = np.zeros(num_arms)
        means[0] = gap
        if arm > 0:
            means[arm] = 2 * gap
        family.append(gaussian(means, name=f"static-grid-family({num_arms})[{arm + 1}]"))
    return tuple(family)


def adaptive_grid_family(num_arms: int, horizon: int, num_batches: int) -> tuple[ArmsProblem, ...]:
    """The hypotheses behind Theorem 3 of "Batched Multi-armed Bandits" (2019), section 3.2.

    With the gaps of eq. (11), D_j = sqrt(K) / (36 M) T^(-(1 - 2^(1-j)) / (2 (1 - 2^-M))): in P_M
    the last arm has the mean D_M, all others 0; in P_{j,k}, j < M and k < K, arm k - 1 has the mean
    D_j + D_M besides, and is the best. With T_j = floor(T^((1 - 2^-j) / (1 - 2^-M))), T_{j-1} pulls
    are too few to see D_j, and T_j pulls at a gap of D_j cost the regret of the theorem.

    Args:
      num_arms: K, at least 2.
      horizon: T.
      num_batches: M, from 1 to T.

    Returns:
      The (M - 1) (K - 1) instances P_{j,k}, k running faster, and P_M.

    Raises:
      InputError: for arguments out of range.

    Example:
      >>> import jaxduel as jd
      >>> family = jd.problems.adaptive_grid_family(num_arms=3, horizon=1000, num_batches=2)
      >>> [problem.best_arms for problem in family]
      [(0,), (1,), (2,)]
      >>> [round(float(problem.means.max()), 4) for problem in family]
      [0.0265, 0.0265, 0.0024]
    """
    num_arms = _checked_arms("adaptive_grid_family", num_arms)
    most = real_number(horizon, "adaptive_grid_family: horizon")
    if not 1 <= most < np.inf:
        raise InputError(f"adaptive_grid_family: the horizon must be at least 1, not {most:g}.")
    if not isinstance(num_batches, int | np.integer) or not 1 <= num_batches <= most:
        raise InputError(
            f"adaptive_grid_family: num_batches must be a whole number in 1..{most:g}, not "
            f"{shorten(repr(num_batches))}."
        )
    batches = np.arange(1, num_batches + 1)
    exponents = (1 - 2.0 ** (1 - batches)) / (2 * (1 - 2.0**-num_batches))
    gaps = math.sqrt(num_arms) / (36 * num_batches) * most**-exponents
    name = f"adaptive-grid-family({num_arms},{horizon},{num_batches})"
    last = np.zeros(num_arms)
    last[-1] = gaps[-1]
    family = []
    for batch, gap in enumerate(gaps[:-1], start=1):
        for arm in range(num_arms - 1):
            means = last.copy()
            means[arm] = gap + gaps[-1]
            family.append(gaussian(means, name=f"{name}[{batch},{arm + 1}]"))
    return (*family, gaussian(last, name=f"{name}[{num_batches}]"))


def _checked_arms(family: str, num_arms: int, most: int = MAX_ARMS) -> int:
    if not isinstance(num_arms, int | np.integer) or not 2 <= num_arms <= most:
        said = shorten(repr(num_arms))
        raise InputError(
            f"{family}: num_arms must be a whole number from 2 to {most:,}, not {said}."
        )
    return int(num_arms)


def _means(means: Any, name: str) -> np.ndarray:
    if isinstance(means, int | float):
        raise InputError(
            f"the means of arms must be a list of at least two numbers, not {means!r}."
        )
    require_text(name, "the name of an instance")
    values = _numbers(means, name, "means")
    if values.ndim != 1 or len(values) < 2:
        raise InputError(
            f"arms '{name}' have means of shape {values.shape}: a list of at least two is needed."
        )
    _refuse(name, "means", values, ~np.isfinite(values), "finite")
    return values


def _numbers(values: Any, name: str, what: str) -> np.ndarray:
    array = entries_of(values)
    if array.dtype.kind not in "biuf":
        raise InputError(f"arms '{name}' have {what} that are not numbers.")
    return array.astype(np.float64)


def _refuse(name: str, what: str, values: np.ndarray, wrong: np.ndarray, accepted: str) -> None:
    if wrong.any():
        arm = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"arms '{name}' have {what} {values[arm]:.15g} at arm {arm} (counted from 0): "
            f"{what} must be {accepted}."
        )
