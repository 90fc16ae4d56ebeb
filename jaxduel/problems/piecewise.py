"""Instances that change with time: one for each stretch of comparisons, or pulls."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import entries_of, items_of, require_text
from jaxduel.display import listed
from jaxduel.errors import InputError, shorten
from jaxduel.problems.arm_names import label
from jaxduel.problems.arms import ArmsProblem
from jaxduel.problems.dueling import DuelingProblem, from_matrix
from jaxduel.pytrees import register_dataclass

_MOST = 2**31 - 1
_KINDS = {
    None: "compares arms",
    "gaussian": "has arms with gaussian rewards",
    "bernoulli": "has arms with bernoulli rewards",
}


@register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PiecewiseProblem:
    """A bandit whose preferences, or rewards, change at known times, of which policies are not
    told.

    Build one with `piecewise`. Comparisons, or pulls, 1 .. `changes[0]` are of the first stretch,
    those up to `changes[1]` of the second, and so on. Regret is against the best arm of each
    stretch; that against a fixed arm is `regret_against`.

    Example:
      >>> import jaxduel as jd
      >>> first = jd.problems.from_matrix([[0.5, 0.9], [0.1, 0.5]])
      >>> second = jd.problems.from_matrix([[0.5, 0.2], [0.8, 0.5]])
      >>> jd.problems.piecewise([first, second], [1_000])
      PiecewiseProblem('piecewise', K=2, changes after 1,000, best arms 0, 1)
    """

    stretches: tuple[DuelingProblem, ...] | tuple[ArmsProblem, ...]
    """The instance of each stretch."""
    changes: Any  # (S - 1,) int64, increasing: the last comparison of each stretch but the last
    name: str = dataclasses.field(default="piecewise", metadata={"static": True})

    @property
    def num_arms(self) -> int:
        """K, the number of arms."""
        return self.stretches[0].num_arms

    @property
    def rewards(self) -> str | None:
        """The law of the rewards, "gaussian" or "bernoulli"; None where arms are compared."""
        return rewards_of(self.stretches[0])

    @property
    def preferences(self) -> np.ndarray:
        """A matrix for each stretch, (S, K, K) float64, where arms are compared."""
        return self._stacked("preferences")

    @property
    def means(self) -> np.ndarray:
        """The expected rewards in each stretch, (S, K) float64, of arms with rewards."""
        return self._stacked("means")

    @property
    def std(self) -> np.ndarray | None:
        """The standard deviations of Gaussian rewards, (S, K) float64; None of Bernoulli ones."""
        return None if self.rewards == "bernoulli" else self._stacked("std")

    @property
    def arms(self) -> tuple[str, ...] | None:
        """The names of the arms, if all stretches have the same."""
        names = {getattr(stretch, "arms", None) for stretch in self.stretches}
        return names.pop() if len(names) == 1 else None

    def _stacked(self, name: str) -> np.ndarray:
        return np.stack([np.asarray(getattr(one, name), np.float64) for one in self.stretches])

    def gaps(self, kind: str) -> np.ndarray:
        """The gaps of each stretch, (S, K) float64, as `DuelingProblem.gaps` or `ArmsProblem.gaps`.

        Raises:
          InputError: the kind is unknown, or a stretch has no Condorcet winner and it needs one.
        """
        return np.stack([stretch.gaps(kind) for stretch in self.stretches])

    def regret_against(self, checkpoints: ArrayLike, plays: ArrayLike) -> np.ndarray:
        """Regret against each arm k, as if it had been played all the time: the sum of
        (p_ki + p_kj - 1) / 2 over comparisons of i and j, or of mu_k - mu_i over pulls of i, by the
        numbers of each one's stretch. It can be negative.

        The largest mean over seeds is the pseudo-regret against the best fixed arm.

        Args:
          checkpoints: (M,) times, among them the changes that lie before the last.
          plays: (N, M, K), as in `Result`.

        Returns:
          (N, M, K) float64.

        Raises:
          InputError: a change is not among the checkpoints, or `plays` has other times or arms.

        Example:
          >>> import jaxduel as jd
          >>> p = [[0.5, 0.9], [0.1, 0.5]]
          >>> problem = jd.problems.piecewise([p, [[0.5, 0.2], [0.8, 0.5]]], [500])
          >>> policy = jd.policies.make("rucb", num_arms=2)
          >>> result = jd.simulate(policy, problem, 5_000, 20, regret="average")
          >>> against = problem.regret_against(result.checkpoints, result.plays)
          >>> int(against[:, -1].mean(axis=0).argmax())  # the arm of the longer stretch
          1
        """

        def of_one(stretch: DuelingProblem | ArmsProblem, counts: np.ndarray) -> np.ndarray:
            if isinstance(stretch, DuelingProblem):
                return counts.astype(np.float64) @ (np.asarray(stretch.preferences).T - 0.5) / 2
            means = np.asarray(stretch.means)
            return counts.astype(np.float64) @ (means - means[:, None])

        times, counts = np.asarray(checkpoints), np.asarray(plays)
        if counts.ndim != 3 or counts.shape[1:] != (len(times), self.num_arms):
            raise InputError(
                f"{len(times)} checkpoints of {self.num_arms} arms need plays of the shape (N, "
                f"{len(times)}, {self.num_arms}), not {counts.shape}."
            )
        return self.summed(of_one, times, counts)

    def summed(self, of_one: Any, checkpoints: np.ndarray, tallies: np.ndarray) -> np.ndarray:
        """A sum over comparisons, or pulls, each by the instance of its stretch.

        Args:
          of_one: the sum, (N, m, ...) float64, of tallies (N, m, ...) by a stretch.
          checkpoints: (M,) times, among them the changes that lie before the last.
          tallies: (N, M, ...), cumulative.

        Raises:
          InputError: a change is not among the checkpoints.
        """
        self.require_among(checkpoints)
        parts: list[np.ndarray] = []
        begin, before, total = 0, np.zeros_like(tallies[:, :1]), np.float64(0)
        for stretch, end in zip(self.stretches, [*np.asarray(self.changes), _MOST], strict=True):
            stop = int(np.searchsorted(checkpoints, end, side="right"))
            if stop > begin:
                parts.append(total + of_one(stretch, tallies[:, begin:stop] - before))
                before, total, begin = tallies[:, stop - 1 : stop], parts[-1][:, -1:], stop
        return np.concatenate(parts, axis=1)

    def require_among(self, checkpoints: np.ndarray) -> None:
        """Raises InputError unless all changes before the last checkpoint are among them."""
        changes = np.asarray(self.changes)
        lacking = np.setdiff1d(changes[changes < checkpoints[-1]], checkpoints)
        if len(lacking) > 0:
            raise InputError(
                f"checkpoints must include the changes of '{self.name}': "
                f"{listed([f'{t:,}' for t in lacking])} is missing."
            )

    def __repr__(self) -> str:
        best = [
            stretch.copeland_winners[0]
            if isinstance(stretch, DuelingProblem)
            else stretch.best_arms[0]
            for stretch in self.stretches
        ]
        changes = listed([f"{t:,}" for t in np.asarray(self.changes)])
        rewards = "" if self.rewards is None else f"{self.rewards} rewards, "
        return (
            f"PiecewiseProblem({self.name!r}, K={self.num_arms}, {rewards}changes after {changes}, "
            f"best arms {listed([label(self, arm) for arm in best])})"
        )


def rewards_of(problem: Any) -> str | None:
    """The law of an instance's rewards, "gaussian" or "bernoulli"; None where arms are compared."""
    return None if isinstance(problem, DuelingProblem) else problem.rewards


def with_changes(times: ArrayLike, problem: Any) -> np.ndarray:
    """Increasing times, and those before the last at which a problem, of any kind, changes: (M,)
    int64."""
    grid = np.asarray(times)
    if not isinstance(problem, PiecewiseProblem):
        return grid
    changes = np.asarray(problem.changes)
    return np.union1d(grid, changes[changes < grid[-1]])


def require_changes_within(problem: Any, horizon: int) -> None:
    """Raises InputError if a problem, of any kind, changes after the horizon."""
    if isinstance(problem, PiecewiseProblem) and (last := int(problem.changes[-1])) > horizon:
        raise InputError(
            f"'{shorten(problem.name)}' changes after {last:,}, beyond the horizon {horizon:,}: "
            "changes must lie within it."
        )


def require_problem(problem: Any, what: str) -> None:
    """Raises InputError for anything but a problem, such as a problem's name or a matrix."""
    if not isinstance(problem, DuelingProblem | ArmsProblem | PiecewiseProblem):
        names = isinstance(problem, list | tuple) and all(isinstance(one, str) for one in problem)
        several = "; simulate_many takes several" if names else ""
        raise InputError(
            f"{what}: the problem must be one that jaxduel.problems.load, from_matrix or gaussian "
            f"returns, not one of type {type(problem).__name__}{several}."
        )


def require_constant(problem: Any, what: str) -> None:
    """Raises InputError for anything but a problem that does not change with time."""
    require_problem(problem, what)
    if isinstance(problem, PiecewiseProblem):
        raise InputError(
            f"{what}: '{problem.name}' changes with time, and an instance that does not is needed, "
            "such as one of its stretches."
        )


def piecewise(
    problems: Sequence[Any], times: Sequence[int], name: str = "piecewise"
) -> PiecewiseProblem:
    """An instance whose preferences, or rewards, change.

    Args:
      problems: S >= 2 instances of as many arms each: matrices, without ties apart, or arms with
        rewards of one law.
      times: S - 1 increasing times: the last comparison, or pull, of each stretch but the last.
      name: the instance's name.

    Raises:
      InputError: fewer than two instances, of different numbers of arms or of different kinds, or
        with ties that are told from coins; times that do not increase, or too many
        or too few of them.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> keys = jax.random.split(jax.random.key(0), 3)
      >>> thirds = [jd.problems.random_condorcet(key, num_arms=5) for key in keys]
      >>> problem = jd.problems.piecewise(thirds, times=[1_000, 2_000])
      >>> result = jd.simulate(jd.policies.make("dts", num_arms=5), problem, 3_000, 10)
      >>> bool((result.plays[:, -1].sum(axis=1) == 6_000).all())
      True
      >>> arms = [jd.problems.bernoulli(means) for means in ([0.9, 0.5], [0.4, 0.5])]
      >>> jd.problems.piecewise(arms, times=[1_000])
      PiecewiseProblem('piecewise', K=2, bernoulli rewards, changes after 1,000, best arms 0, 1)
    """
    require_text(name, "the name of an instance")
    given = items_of(problems, "piecewise: the instances")
    made: list[DuelingProblem | ArmsProblem] = []
    for one in given:
        if isinstance(one, PiecewiseProblem):
            raise InputError(
                f"piecewise: '{shorten(one.name)}' changes itself: give its stretches."
            )
        made.append(one if isinstance(one, DuelingProblem | ArmsProblem) else from_matrix(one))
    kinds = {_KINDS[rewards_of(one)]: one.name for one in made}
    if len(kinds) > 1:
        said = listed([f"'{shorten(of)}' {kind}" for kind, of in kinds.items()])
        raise InputError(f"piecewise: its instances must be of one kind, and {said}.")
    if len(made) < 2 or len({one.num_arms for one in made}) > 1:
        numbers = listed([one.num_arms for one in made])
        raise InputError(
            f"piecewise needs two or more instances of as many arms, not of {numbers}."
        )
    if any(isinstance(one, DuelingProblem) and one.ties is not None for one in made):
        raise InputError("piecewise: its instances cannot have ties that are told from coins.")
    ends = np.atleast_1d(entries_of(times)).tolist()
    whole = all(type(t) in (int, float) and t % 1 == 0 and 1 <= t < _MOST for t in ends)
    if len(ends) != len(made) - 1 or not whole or any(a >= b for a, b in pairwise(ends)):
        raise InputError(
            f"piecewise: times must be {len(made) - 1} increasing whole numbers of comparisons or "
            f"pulls, not {ends!r}."
        )
    stretches: Any = tuple(
        dataclasses.replace(one, name=f"{name}, stretch {number}")
        for number, one in enumerate(made, start=1)
    )
    return PiecewiseProblem(stretches, np.array(ends, np.int64), name)
