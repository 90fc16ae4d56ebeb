"""Runs that a paper's panels want: a policy on instances, as cells of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import jax
import numpy as np

from jaxduel.policies import registry
from jaxduel.policies.base import Batch, PullBatch, SupportsAnswer
from jaxduel.problems import Problem
from jaxduel.simulation.checking import WINNERS
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.regret import largest_regret
from jaxduel.studies.engine.cells import HORIZON, StudyCell, plan_kind_of

MOST_LANES = 128
"""Most lanes of a block; more runs on one instance are cut into equal blocks."""


@dataclass(frozen=True)
class Competitor:
    """A policy with its parameters and mode of play, as an entry of a legend.

    Attributes:
      name: a key of `jaxduel.plotting.STYLES`.
      label: its name in legends and tables.
      policy: the policy's registered name.
      parameters: arguments of `jaxduel.policies.make`.
      quick: whether its runs are fast compared with the others'. Slow competitors begin first.
      delay: outcomes reach the policy every `delay` comparisons or pulls; 1: at once.
      shuffle_arms: whether each run permutes the arms.
      per_horizon: whether the policy is made for a horizon: it is then shown by separate runs to
        each of 10, 30, 100, 300, ... and T, from the first checkpoint on.
      record_pairs: whether to record comparisons of arms with themselves (`Runs.selves`).
      settles: whether a run may settle on a wrong arm for good; None: batched policies, policies
        with a horizon, and policies that name an arm may, unless duels until the answer count.
    """

    name: str
    label: str
    policy: str
    parameters: Mapping[str, Any]
    quick: bool = False
    delay: int = 1
    shuffle_arms: bool = True
    per_horizon: bool = False
    record_pairs: bool = False
    settles: bool | None = None


@dataclass(frozen=True)
class Draw:
    """An instance (dueling or multi-armed), with the key and the number of the runs on it.

    Blocks have the size that `sized_for` runs would have (None: `num_runs`), so that the first of
    more runs are taken from a store that has them.
    """

    problem: Any
    key: jax.Array
    num_runs: int
    sized_for: int | None = None


@dataclass(frozen=True)
class Wanted:
    """Runs that a panel wants, of one competitor, on an instance or on several of a random family.

    Every instance has its own key and as many lanes as runs (many runs: equal blocks), so that no
    lane is padding and runs on different instances are independent. Separate runs for each horizon
    are independent, too.

    Attributes:
      where: name of the instances in tables.
      title: their title in panels.
      draws: the instances, all with the same number of arms.
      competitor: the policy.
      horizon: T.
      checkpoints: (M,) int64, the times at which regret is recorded.
      regret: the definition of regret.
      units: the first digits of the horizons of separate runs, increasing.
    """

    where: str
    title: str
    draws: tuple[Draw, ...] = field(repr=False)
    competitor: Competitor
    horizon: int
    checkpoints: np.ndarray = field(repr=False)
    regret: str
    units: tuple[int, ...] = (1, 3)

    @property
    def num_runs(self) -> int:
        """Number of runs."""
        return sum(draw.num_runs for draw in self.draws)

    @property
    def problem(self) -> Any:
        """The instance, the first if there are several."""
        return self.draws[0].problem

    @property
    def key(self) -> tuple[str, str]:
        """Names of the instances and of the competitor, which identify the runs."""
        return self.where, self.competitor.name

    @property
    def lanes(self) -> int:
        """Number of lanes in a block."""
        most = max(draw.sized_for or draw.num_runs for draw in self.draws)
        return -(-most // -(-most // MOST_LANES))

    @property
    def horizons(self) -> list[int]:
        """Horizons of the runs: one, or one for each of the separate runs."""
        if not self.competitor.per_horizon:
            return [self.horizon]
        every = horizons_up_to(self.horizon, self.units)
        return [h for h in every if h >= self.checkpoints[0]]

    @property
    def keep(self) -> tuple[str, ...]:
        """Optional records of the runs."""
        return ("seeds", "selves") if self.competitor.record_pairs else ("seeds",)

    @property
    def batched(self) -> bool:
        """True if the policy commits to batches."""
        entry = self.competitor
        parameters = tuple(sorted(entry.parameters.items()))
        return plan_kind_of(entry.policy, parameters, self.horizon) in (Batch, PullBatch)

    @property
    def settles(self) -> bool:
        """True if a run may settle on a wrong arm for good, at a cost. A policy that has named an
        arm makes no more duels of two arms, so that "votes" have no such cost."""
        if self.competitor.settles is not None:
            return self.competitor.settles
        name = self.competitor.policy
        if issubclass(registry.policy_class(name), SupportsAnswer):
            return self.regret != "votes"
        return self.batched or HORIZON in registry.parameters(name)

    @property
    def most(self) -> np.ndarray:
        """The largest regret that a run can have by each of its times: (M,) float64."""
        times = np.array(self.horizons) if self.competitor.per_horizon else self.checkpoints
        each = [largest_regret(draw.problem, self.regret, times) for draw in self.draws]
        return np.max(each, axis=0)

    def joined(self, other: Wanted) -> Wanted:
        """This and `other`, of the same key, in one: with the larger number of runs, and pairs if
        either records them."""
        most = max(self, other, key=lambda one: one.num_runs)
        pairs = self.competitor.record_pairs or other.competitor.record_pairs
        competitor = replace(self.competitor, record_pairs=pairs)
        return replace(self, draws=most.draws, competitor=competitor)

    @cached_property
    def cells(self) -> dict[int, list[StudyCell]]:
        """Cells by horizon, one for each instance; separate runs have separate keys."""
        return {horizon: self._cells(horizon) for horizon in self.horizons}

    def _cells(self, horizon: int) -> list[StudyCell]:
        entry, draws = self.competitor, self.draws
        times = [horizon] if entry.per_horizon else self.checkpoints.tolist()
        tags = {} if entry.shuffle_arms else {"shuffle_arms": False}
        tags |= {"record_pairs": True} if entry.record_pairs else {}
        tags |= {"separate": True} if entry.per_horizon else {}
        made = []
        for number, draw in enumerate(draws, start=1):
            key = jax.random.fold_in(draw.key, horizon) if entry.per_horizon else draw.key
            label = self.where if len(draws) == 1 else f"{self.where} {number}"
            digest = problem_digest(draw.problem)
            cell = StudyCell(
                policy=entry.policy,
                parameters=tuple(sorted(entry.parameters.items())),
                recipe=GivenProblem(label, digest, draw.problem),
                digest=digest,
                num_arms=draw.problem.num_arms,
                horizon=horizon,
                checkpoints=tuple(times),
                delay=entry.delay,
                definitions=(self.regret,),
                seed=tuple(jax.random.key_data(key).tolist()),
                prng=str(jax.random.key_impl(key)),
                shuffle_arms=entry.shuffle_arms,
                skip_quiet=True if entry.record_pairs else WINNERS,
                tags=tuple(tags.items()),
                padded_arms=draw.problem.num_arms,
                lanes=self.lanes,
            )
            made.append(cell)
        return made


@dataclass(frozen=True)
class GivenProblem:
    """A given problem as a recipe.

    Attributes:
      label: its label in data sets.
      digest: hash of its numbers.
      problem: the problem.
    """

    label: str
    digest: str
    problem: Problem = field(repr=False, compare=False)

    def build(self) -> Problem:
        """The problem."""
        return self.problem


def horizons_up_to(horizon: int, units: Sequence[int] = (1, 3)) -> list[int]:
    """10, 30, 100, 300, ... below the horizon, and the horizon; other units instead of 1 and 3."""
    steps = [unit * 10**power for power in range(1, 10) for unit in units]
    return [*(step for step in steps if step < horizon), horizon]
