"""A grid's cells: one policy with all its parameters on one problem up to one horizon."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.experiments.sweep.entries import BATCHES, HORIZON, PolicyEntry
from jaxduel.experiments.sweep.grid import Grid
from jaxduel.experiments.sweep.problem_specs import ProblemSpec, build, specs_of
from jaxduel.experiments.sweep.reading.names import parameters_label
from jaxduel.experiments.sweep.values import GridError
from jaxduel.policies import registry
from jaxduel.policies.base import Policy, Pull, PullBatch, SupportsDelay
from jaxduel.problems import ArmsProblem, Problem
from jaxduel.simulation import blocks
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.regret import default_of

Parameters = tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SweepCell:
    """One policy, one problem, one horizon, one delay.

    Attributes:
      policy: its registered name.
      parameters: those that the grid sets, with the number of batches, without the horizon.
      spec: recipe of the problem.
      digest: hash of the problem's numbers.
      num_arms: K, the problem's arms.
      horizon: T.
      checkpoints: times to record, increasing, the last is T.
      delay: outcomes reach the policy after so many comparisons.
      definitions: the regrets to measure.
      seed: root of all randomness.
      prng: random number generator.
      shuffle_arms: whether each seed has an order of the arms of its own.
      index: its place in the grid, from 0; no result depends on it.
      padded_arms: arms of the policy; those beyond K are inactive. Set by `plan`; K before.
      lanes: seeds side by side. Set by `plan`; 0 before.
    """

    policy: str
    parameters: Parameters
    spec: ProblemSpec
    digest: str
    num_arms: int
    horizon: int
    checkpoints: tuple[int, ...]
    delay: int
    definitions: tuple[str, ...]
    seed: int
    prng: str
    shuffle_arms: bool
    padded_arms: int
    lanes: int = 0
    index: int = 0

    @property
    def problem(self) -> str:
        """The problem's label."""
        return self.spec.label

    @property
    def label(self) -> str:
        """Label of the parameters in the data set: "alpha=0.51, delay=8"; "" for none."""
        return parameters_label(dict(self.parameters), self.delay)

    @property
    def all_parameters(self) -> dict[str, Any]:
        """All parameters of the policy with their values, defaults and horizon filled in."""
        known = registry.parameters(self.policy)
        given = {**known, **dict(self.parameters)}
        return {**given, HORIZON: self.horizon} if HORIZON in known else given

    @cached_property
    def key(self) -> str:
        """A hash of all that determines the cell's results, and of the problem's label: 16
        hexadecimal digits. It is final once the cell is planned."""
        determined = {
            "policy": self.policy,
            "parameters": self.all_parameters,
            "problem": [self.problem, self.digest],
            "num_arms": self.padded_arms,
            "horizon": self.horizon,
            "checkpoints": self.checkpoints,
            "delay": self.delay,
            "shuffle_arms": self.shuffle_arms,
            "prng": self.prng,
            "seed": self.seed,
            "lanes": self.lanes,
        }
        return digest_of_json(determined)

    def __str__(self) -> str:
        settings = f"({self.label})" if self.label else ""
        return f"{self.policy}{settings} on {self.problem} up to {self.horizon}"


def digest_of_json(value: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def problem_of(cell: SweepCell) -> Problem:
    """The problem of a cell, built once per process.

    Raises:
      InputError: if it cannot be built, or is not the problem that the cell was made for: its file
        has changed.
    """
    problem = build(cell.spec)
    if problem_digest(problem) != cell.digest:
        raise InputError(
            f"problem '{cell.problem}' is not what it was when the sweep was planned: its numbers "
            "have changed."
        )
    return problem


def policy_of(cell: SweepCell) -> Policy:
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


def expand(grid: Grid) -> tuple[SweepCell, ...]:
    """The cells of a grid: all combinations that can run.

    The order is fixed: policies, their parameters, numbers of batches, delays, problems and,
    fastest of all, horizons. A cell that is described twice (its key is the same) is there once. A
    policy that pulls arms has no cell on a preference matrix, one that compares them has none on
    arms with rewards, and one that does not support delays has none with a delay above 1.

    Raises:
      InputError: parameters out of range for a cell, a problem that cannot be built, two problems
        of one name, or a policy or problem without a cell.
    """
    specs = list(dict.fromkeys(spec for entry in grid.problems for spec in specs_of(entry)))
    _require_distinct(specs)
    built = {spec: build(spec) for spec in specs}
    digests = {spec: problem_digest(problem) for spec, problem in built.items()}
    regrets = {spec: _definitions(grid, spec, problem) for spec, problem in built.items()}
    checkpoints = {horizon: grid.checkpoints_of(horizon) for horizon in grid.horizons}
    cells: dict[str, SweepCell] = {}
    lonely = {spec.label for spec in specs}
    for entry in grid.policies:
        has_cell = False
        first = next(_combinations(entry, grid.batches))
        kind = plan_kind_of(entry.name, first, grid.horizons[0])
        pulls = kind in (Pull, PullBatch)
        learns_late = issubclass(entry.policy_class, SupportsDelay)
        for parameters, delay, spec in itertools.product(
            _combinations(entry, grid.batches), grid.delays, specs
        ):
            if pulls != isinstance(built[spec], ArmsProblem) or (delay > 1 and not learns_late):
                continue
            lonely.discard(spec.label)
            for horizon in grid.horizons:
                cell = SweepCell(
                    policy=entry.name,
                    parameters=parameters,
                    spec=spec,
                    digest=digests[spec],
                    num_arms=built[spec].num_arms,
                    horizon=horizon,
                    checkpoints=checkpoints[horizon],
                    delay=delay,
                    definitions=regrets[spec],
                    seed=grid.seed,
                    prng=grid.prng,
                    shuffle_arms=grid.shuffle_arms,
                    padded_arms=built[spec].num_arms,
                )
                if cell.key not in cells:
                    policy_of(cell)
                    cells[cell.key] = dataclasses.replace(cell, index=len(cells))
                has_cell = True
        if not has_cell:
            raise _no_cell(entry, pulls)
    if lonely:
        label = next(spec.label for spec in specs if spec.label in lonely)
        raise GridError(
            f"no policy of the grid can play '{label}': matrices need policies that compare arms, "
            "arms with rewards need policies that pull them.",
            "problems",
        )
    return tuple(cells.values())


def _combinations(entry: PolicyEntry, batches: Sequence[int]) -> Iterator[Parameters]:
    """The settings of a policy's parameters: those of the entry, later ones varying faster, then
    the numbers of batches."""
    values = dict(entry.parameters)
    if BATCHES in registry.parameters(entry.name) and BATCHES not in values and batches:
        values[BATCHES] = tuple(batches)
    for combination in itertools.product(*values.values()):
        yield tuple(zip(values, combination, strict=True))


def _definitions(grid: Grid, spec: ProblemSpec, problem: Problem) -> tuple[str, ...]:
    """The grid's definitions of regret that are defined for a problem."""
    if not grid.regret:
        return (default_of(problem),)
    found, reason = [], ""
    for definition in dict.fromkeys(grid.regret):
        try:
            problem.gaps(definition)
        except InputError as error:
            reason = str(error)
        else:
            found.append(definition)
    if not found:
        raise GridError(
            f"problem '{spec.label}' has none of the regrets asked for: {reason}", "regret"
        )
    return tuple(found)


def _require_distinct(specs: Sequence[ProblemSpec]) -> None:
    seen: dict[str, ProblemSpec] = {}
    for spec in specs:
        if seen.setdefault(spec.label, spec) != spec:
            raise GridError(
                f"two problems are called '{spec.label}' ({seen[spec.label].what} and "
                f"{spec.what}): files must differ in their names.",
                "problems",
            )


def _no_cell(entry: PolicyEntry, pulls: bool) -> GridError:
    if pulls:
        need = "it pulls arms, and needs a problem of arms with rewards"
    else:
        need = "it compares arms, and needs a preference matrix"
    late = ", and a delay of 1 unless it can learn late"
    return GridError(f"{entry.name} has no cell in the grid: {need}{late}.", "policies")
