"""Cells of studies: one policy with all its parameters on one problem up to one horizon."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.policies.base import Policy
from jaxduel.problems import Problem
from jaxduel.problems.piecewise import rewards_of
from jaxduel.simulation import blocks
from jaxduel.simulation.cells import Poll
from jaxduel.simulation.checking import TIES
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.traces import program_of_policy
from jaxduel.studies.engine.manifest import digest_of_json
from jaxduel.votes.rewards import unit_of
from jaxduel.votes.stopping import poll_of

HORIZON = "horizon"
"""The parameter of policies that the horizon of a cell sets."""
Parameters = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Question:
    """Settings of a cell that identifies arms: arguments of `jaxduel.identify` besides rules,
    votes, pulls and checkpoints.

    Attributes:
      target, stop, delta: as in `jaxduel.identify`.
    """

    target: str
    stop: str | None
    delta: float

    def poll(self, problem: Problem, checkpoints: Sequence[int]) -> Poll:
        """Votes, or pulls, as the clock of a cell with a problem."""
        law = rewards_of(problem)
        return poll_of(checkpoints, problem.num_arms, self.stop, self.delta, rewards=law)


class Recipe(Protocol):
    """A problem's label and the way to build it; hashable."""

    @property
    def label(self) -> str:
        """The problem's label in data sets."""
        ...

    def build(self) -> Problem:
        """The problem.

        Raises:
          InputError: if it cannot be built.
        """
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyCell:
    """One policy, one problem, one horizon, one delay.

    Attributes:
      policy: its registered name.
      parameters: parameters that the study sets, without the horizon.
      recipe: of the problem.
      digest: hash of the problem's numbers.
      num_arms: K, the problem's arms.
      horizon: T; with a question, the votes or pulls per run, which are also the horizon of the
        policy.
      checkpoints: times to record, or votes, increasing, the last is `horizon`.
      delay: outcomes reach the policy every `delay` comparisons or pulls.
      definitions: the regrets to measure; with a question, the rules that name arms.
      seed: root of all randomness: a whole number, or the words of a key.
      prng: random number generator.
      shuffle_arms: whether each seed has its own order of the arms.
      skip_quiet: as in `jaxduel.simulate`.
      tags: further labels that distinguish the cell in its study; no result depends on them.
      index: the cell's place in the study, from 0; no result depends on it.
      padded_arms: arms of the policy; arms beyond K are inactive. Set when planned; K before.
      lanes: seeds side by side. Set when planned; 0 before.
      ties: as in `jaxduel.simulate`.
      question: set if the cell identifies arms, with votes or pulls as the clock. None: regret is
        measured.
    """

    policy: str
    parameters: Parameters
    recipe: Recipe
    digest: str
    num_arms: int
    horizon: int
    checkpoints: tuple[int, ...]
    delay: int
    definitions: tuple[str, ...]
    seed: int | tuple[int, ...]
    prng: str
    shuffle_arms: bool
    padded_arms: int
    skip_quiet: bool | str = True
    tags: Parameters = ()
    lanes: int = 0
    index: int = 0
    ties: str = TIES[0]
    question: Question | None = None

    @property
    def problem(self) -> str:
        """The problem's label."""
        return self.recipe.label

    @property
    def root(self) -> int | jax.Array:
        """The root of all randomness, for `simulate`."""
        if isinstance(self.seed, int):
            return self.seed
        words: Any = np.array(self.seed, np.uint32)
        return jax.random.wrap_key_data(words, impl=self.prng)

    @property
    def labels(self) -> dict[str, Any]:
        """The parameters and tags, by name."""
        return dict(self.parameters) | dict(self.tags)

    @property
    def label(self) -> str:
        """Label of the parameters in the data set: "alpha=0.51, delay=8"; "" for none."""
        return parameters_label(self.labels, self.delay)

    @property
    def labels_in_data(self) -> tuple[str, str, int, str]:
        """Labels that identify the cell in its study."""
        return self.policy, self.problem, self.horizon, self.label

    @property
    def all_parameters(self) -> dict[str, Any]:
        """All parameters of the policy with their values, defaults and horizon filled in."""
        known = registry.parameters(self.policy)
        given = {**known, **dict(self.parameters)}
        return {**given, HORIZON: self.horizon} if HORIZON in known else given

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the cell's results, and of the problem's label: 16
        hexadecimal digits, final once the cell is planned. The package's code is part of the
        store's identity; the program of a user's policy is hashed here."""
        return digest_of_json(self.determined)

    @property
    def determined(self) -> dict[str, Any]:
        """The values that `key` hashes, by name."""
        determined = {
            "policy": self.policy,
            "parameters": self.all_parameters,
            "problem": [self.problem, self.digest],
            "num_arms": self.padded_arms,
            "horizon": self.horizon,
            "checkpoints": self.checkpoints,
            "delay": self.delay,
            "definitions": self.definitions,
            "shuffle_arms": self.shuffle_arms,
            "skip_quiet": self.skip_quiet,
            "prng": self.prng,
            "seed": self.seed,
            "lanes": self.lanes,
        }
        if self.ties != TIES[0]:
            determined["ties"] = self.ties
        if not registry.is_of_package(registry.policy_class(self.policy)):
            determined["program"] = program_of_policy(policy_of(self))
        if self.question is not None:
            determined["question"] = dataclasses.asdict(self.question)
        return determined

    def __str__(self) -> str:
        settings = f"({self.label})" if self.label else ""
        unit = "" if self.question is None else f" {unit_of(self.definitions)}"
        return f"{self.policy}{settings} on {self.problem} up to {self.horizon}{unit}"


def parameters_label(parameters: dict[str, Any], delay: int = 1) -> str:
    """A combination of parameters as text, such as "B=8, alpha=0.51, delay=4": by name, with the
    delay last and only where it is not 1; "" if there are none."""
    parts = [f"{name}={text_of(parameters[name])}" for name in sorted(parameters)]
    return ", ".join(parts + ([f"delay={delay}"] if delay != 1 else []))


def text_of(value: Any) -> str:
    """A parameter's value in labels: truth values as in TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def problem_of(cell: StudyCell) -> Problem:
    """The problem of a cell, built once per process.

    Raises:
      InputError: if the problem cannot be built, or differs from the cell's: its file has changed.
    """
    problem = cell.recipe.build()
    if problem_digest(problem) != cell.digest:
        raise InputError(
            f"problem '{cell.problem}' is not what it was when it was planned: its numbers "
            "have changed."
        )
    return problem


def policy_of(cell: StudyCell) -> Policy:
    """The policy of a cell, with its padded number of arms.

    Raises:
      InputError: for parameters out of range.
    """
    try:
        return registry.make(
            cell.policy,
            num_arms=cell.padded_arms,
            horizon=cell.horizon,
            active_arms=np.arange(cell.padded_arms) < cell.num_arms,
            **dict(cell.parameters),
        )
    except InputError as error:
        raise InputError(f"{cell}: {error}") from None


@lru_cache(maxsize=256)
def plan_kind_of(policy: str, parameters: Parameters, horizon: int) -> type:
    """The kind of plan that a policy makes: Duel, Pull, Batch or PullBatch.

    Raises:
      InputError: for parameters out of range.
    """
    try:
        made = registry.make(policy, num_arms=2, horizon=horizon, **dict(parameters))
    except InputError as error:
        raise InputError(f"{policy} up to {horizon}: {error}") from None
    return blocks.plan_kind(made)
