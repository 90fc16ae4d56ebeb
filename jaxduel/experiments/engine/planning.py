"""Planning: cells that share a program run side by side, as groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.experiments.engine.cells import StudyCell, plan_kind_of, policy_of, problem_of
from jaxduel.experiments.engine.groups import Group, needs_pairs, rounds_of
from jaxduel.experiments.engine.padding import padded_arms
from jaxduel.experiments.engine.widths import need_of, width_of
from jaxduel.policies import registry
from jaxduel.policies.base import Batch, PullBatch, SupportsSkip
from jaxduel.problems import ArmsProblem, PiecewiseProblem
from jaxduel.progress import Progress
from jaxduel.simulation.checking import TIES
from jaxduel.simulation.devices import MEMORY_BYTES


def plan(
    cells: Sequence[StudyCell],
    num_seeds: int,
    *,
    keep: Sequence[str] = (),
    lanes: int | None = None,
    platform: str = "cpu",
    memory: int = MEMORY_BYTES,
    progress: bool | None = False,
) -> tuple[Group, ...]:
    """The groups of a study's cells.

    Cells share a program if their policies are of one class with the same switches and the same
    parameters left at None, if their problems are of one kind, and their delays equal or both
    above 1; numbers of arms are padded where that pays (`padding`). They share a group if besides,
    for policies that make one comparison at a time, they have one horizon; where arms are
    identified the checkpoints and, for a rule that stops, the number of arms. Batched policies are
    sorted by their number of batches and horizon, others by their problem and delay, so that a
    group holds cells that take about as long. Groups of a program are of one size (`widths`) and
    stand together.

    The plan depends on the cells, the platform and, on an accelerator, the memory alone, not on the
    number of seeds.

    Args:
      cells: the cells.
      num_seeds: seeds of each.
      keep: optional records, as those of `Group`.
      lanes: seeds side by side, if they are given.
      platform: platform of the devices: "cpu", "gpu", ...
      memory: most bytes for a block (`simulation.devices.block_memory`).
      progress: as in `jaxduel.simulate`.

    Raises:
      InputError: what building a policy or problem raises.
    """
    families: dict[tuple[Any, ...], list[StudyCell]] = {}
    kinds: dict[str, bool] = {}
    with Progress("plan", len(cells), "cells", progress) as shown:
        for cell in cells:
            if cell.policy not in kinds:
                kind = plan_kind_of(cell.policy, cell.parameters, cell.horizon)
                kinds[cell.policy] = kind in (Batch, PullBatch)
            families.setdefault(family_of(cell), []).append(cell)
            shown.tick()
    groups: list[Group] = []
    for family, members in families.items():
        batched = kinds[members[0].policy]
        wanted = _Wanted(num_seeds, tuple(keep), lanes, batched, platform, memory)
        arms = padded_arms(_loads(members, batched), batched=batched)
        for num_arms in dict.fromkeys(arms.values()):
            sharing = [
                dataclasses.replace(cell, padded_arms=num_arms)
                for cell in members
                if arms[cell.num_arms] == num_arms
            ]
            groups += _groups(family, sharing, wanted)
    return tuple(groups)


def family_of(cell: StudyCell) -> tuple[Any, ...]:
    """Everything that a program depends on besides widths and the number of arms: plain values."""
    made = registry.policy_class(cell.policy)(
        num_arms=cell.num_arms, active_arms=np.ones(cell.num_arms, bool), **cell.all_parameters
    )
    policy = registry.to_32_bits(made)
    structure = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.name in ("num_arms", "active_arms"):
            continue
        if field.metadata.get("static"):
            structure.append((field.name, repr(value)))
        else:
            leaves = tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(value))
            structure.append((field.name, str(jax.tree.structure(value)), leaves))
    problem = problem_of(cell)
    kind = problem.rewards if isinstance(problem, ArmsProblem) else "preferences"
    if isinstance(problem, PiecewiseProblem):
        kind = f"{len(problem.preferences)} stretches"
    modes = cell.delay > 1, cell.shuffle_arms, bool(cell.skip_quiet), cell.prng
    more: tuple[Any, ...] = () if cell.ties == TIES[0] else (cell.ties,)
    if cell.question is not None:  # whose votes make shapes
        most = cell.question.stop and cell.horizon
        more += "identify", cell.question.stop, most, len(cell.checkpoints)
    return cell.policy, tuple(structure), kind, *modes, *more


def _loads(cells: Iterable[StudyCell], batched: bool) -> dict[int, float]:
    """For each number of arms, the comparisons (or rounds) of one seed of all its cells."""
    loads: dict[int, float] = {}
    for cell in cells:
        load = rounds_of(cell, batched=batched)
        loads[cell.num_arms] = loads.get(cell.num_arms, 0.0) + load
    return loads


class _Wanted(NamedTuple):
    """Settings of the groups of a family."""

    num_seeds: int
    keep: tuple[str, ...]
    lanes: int | None
    batched: bool
    platform: str
    memory: int


def _groups(family: tuple[Any, ...], cells: Sequence[StudyCell], wanted: _Wanted) -> list[Group]:
    """The groups of cells that share what `family_of` returns and the padded number of arms."""
    num_seeds, keep, asked, batched, platform, memory = wanted
    together: dict[Any, list[StudyCell]] = {}
    for cell in cells:
        clock: tuple[Any, ...] = (cell.horizon, cell.checkpoints)
        if cell.question is not None:
            clock += (cell.question.stop and cell.num_arms,)
        elif batched:
            clock = ()
        together.setdefault(clock, []).append(cell)
    num_checkpoints = max(len(cell.checkpoints) for cell in cells)
    policy, problem = policy_of(cells[0]), problem_of(cells[0])
    asked_for, votes = cells[0].question, cells[0].checkpoints
    if isinstance(problem, ArmsProblem):
        keep = tuple(name for name in keep if name == "seeds")
    need = need_of(
        policy,
        problem,
        num_checkpoints,
        batched=batched,
        pairs=needs_pairs(cells, keep),
        delayed=cells[0].delay > 1,
        poll=None if asked_for is None else asked_for.poll(cells[0].num_arms, votes),
        platform=platform,
        memory=memory,
    )
    records = num_checkpoints if batched or isinstance(policy, SupportsSkip) else 0
    groups = []
    for members in together.values():
        if batched:
            members = sorted(
                members, key=lambda cell: (rounds_of(cell, batched=True), cell.horizon)
            )
        else:
            members = sorted(members, key=lambda cell: (cell.problem, cell.delay))
        width = width_of(len(members), need, batched=batched, platform=platform, lanes=asked)
        size, lanes = width.size, width.lanes
        num_arms = cells[0].padded_arms
        for start in range(0, len(members), width.cells):
            part = members[start : start + width.cells]
            groups.append(
                Group(
                    cells=tuple(dataclasses.replace(cell, lanes=lanes) for cell in part),
                    size=size,
                    lanes=lanes,
                    block_seeds=width.block_seeds,
                    num_seeds=num_seeds,
                    batched=batched,
                    keep=keep,
                    program=(*family, num_arms, size, lanes, records, needs_pairs(part, keep)),
                    num_checkpoints=num_checkpoints,
                    bytes=need.total * size * lanes,
                )
            )
    return groups
