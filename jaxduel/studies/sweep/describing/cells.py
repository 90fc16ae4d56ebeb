"""The cells of a grid."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.policies.base import Pull, PullBatch, SupportsDelay
from jaxduel.problems import PiecewiseProblem, Problem
from jaxduel.problems.piecewise import require_changes_within, rewards_of, with_changes
from jaxduel.progress import Progress
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.regret import default_of
from jaxduel.studies.engine.cells import (
    Parameters,
    Question,
    StudyCell,
    plan_kind_of,
    policy_of,
)
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.sweep.describing.entries import PolicyEntry
from jaxduel.studies.sweep.describing.fields import GridError
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.describing.recipes import ProblemSpec

MOST_CELLS = 100_000
"""Most cells of a grid."""


def expand(grid: Grid, progress: bool | None = False) -> tuple[StudyCell, ...]:
    """The cells of a grid: all combinations that can run.

    The order is fixed: policies, their parameters, numbers of batches, delays, problems and,
    fastest of all, horizons or votes. Of two cells with the same key only one remains, the one
    described with more parameters. Policies that pull arms have no cell on a preference matrix;
    policies that compare arms have none on arms with rewards; policies that do not support delays
    have none with a delay above 1.

    Args:
      grid: the grid.
      progress: as in `jaxduel.simulate`.

    Raises:
      InputError: more than `MOST_CELLS` combinations, parameters out of range for a cell, a problem
        that cannot be built, two problems of one name, or a policy or problem without a cell.
    """
    count = _require_few(grid)
    specs = list(dict.fromkeys(spec for entry in grid.problems for spec in entry.specs()))
    _require_distinct(specs)
    with Progress("plan", len(specs) + count, "problems and cells", progress) as shown:
        return _cells(grid, specs, shown)


def _require_few(grid: Grid) -> int:
    """The number of combinations of a grid, before any is made; at least the number of cells."""
    problems = sum(entry.count() for entry in grid.problems)
    policies = sum(
        math.prod(map(len, _values(entry, grid.batches).values())) for entry in grid.policies
    )
    count = problems * policies * len(grid.delay) * len(grid.ends)
    if count > MOST_CELLS:
        raise InputError(
            f"the grid has {count:,} combinations of policies, parameters, problems and horizons, "
            f"and at most {MOST_CELLS:,} are planned: split it into several grids, each with a "
            "folder of its own."
        )
    return count


def _cells(grid: Grid, specs: Sequence[ProblemSpec], shown: Progress) -> tuple[StudyCell, ...]:
    """The cells, as `expand` says."""
    built: dict[ProblemSpec, Problem] = {}
    for spec in specs:
        built[spec] = spec.build()
        shown.tick()
    digests = {spec: problem_digest(problem) for spec, problem in built.items()}
    regrets = {spec: _definitions(grid, spec, problem) for spec, problem in built.items()}
    _require_changes_within(built.values(), max(grid.ends))
    checkpoints = {
        (spec, horizon): tuple(with_changes(times, problem).tolist())
        for horizon in grid.ends
        for times in (grid.checkpoints_of(horizon),)
        for spec, problem in built.items()
    }
    question = Question(grid.target or "", grid.stop, grid.delta) if grid.identify else None
    cells: dict[str, StudyCell] = {}
    lonely = {spec.label for spec in specs}
    for entry in grid.policies:
        has_cell = False
        first = next(_combinations(entry, grid.batches))
        kind = plan_kind_of(entry.name, first, grid.ends[0])
        pulls = kind in (Pull, PullBatch)
        learns_late = issubclass(entry.policy_class, SupportsDelay)
        for parameters, delay, spec in itertools.product(
            _combinations(entry, grid.batches), grid.delay, specs
        ):
            has_rewards = rewards_of(built[spec]) is not None
            if pulls != has_rewards or (delay > 1 and not learns_late):
                continue
            lonely.discard(spec.label)
            for horizon in grid.ends:
                shown.tick()
                cell = StudyCell(
                    policy=entry.name,
                    parameters=parameters,
                    recipe=spec,
                    digest=digests[spec],
                    num_arms=built[spec].num_arms,
                    horizon=horizon,
                    checkpoints=checkpoints[spec, horizon],
                    delay=delay,
                    definitions=regrets[spec],
                    seed=grid.seed,
                    prng=grid.prng,
                    shuffle_arms=grid.shuffle_arms,
                    padded_arms=built[spec].num_arms,
                    ties=grid.ties,
                    question=question,
                )
                known = cells.get(cell.key)
                if known is None:
                    policy_of(cell)
                    cells[cell.key] = dataclasses.replace(cell, index=len(cells))
                elif len(known.parameters) < len(parameters):
                    cells[cell.key] = dataclasses.replace(cell, index=known.index)
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


def _require_changes_within(problems: Iterable[Problem], horizon: int) -> None:
    """Raises GridError if a problem changes after the longest horizon of the grid."""
    try:
        for problem in problems:
            require_changes_within(problem, horizon)
    except InputError as error:
        raise GridError(error, "problems") from None


def _combinations(entry: PolicyEntry, batches: Sequence[int]) -> Iterator[Parameters]:
    """The combinations of a policy's parameters: parameters of the entry, later ones varying
    faster, then numbers of batches."""
    values = _values(entry, batches)
    for combination in itertools.product(*values.values()):
        yield tuple(zip(values, combination, strict=True))


def _values(entry: PolicyEntry, batches: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """The values of a policy's parameters, and the numbers of batches if it takes them."""
    values = dict(entry.parameters)
    if BATCHES in registry.parameters(entry.name) and BATCHES not in values and batches:
        values[BATCHES] = tuple(batches)
    return values


def _definitions(grid: Grid, spec: ProblemSpec, problem: Problem) -> tuple[str, ...]:
    """The grid's definitions of regret that apply to a problem, or its rules that name arms."""
    if grid.identify and isinstance(problem, PiecewiseProblem):
        raise GridError(f"'{spec.label}' changes: it has no arm that is to be named.", "problems")
    if grid.identify:
        return grid.recommend or ()
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
