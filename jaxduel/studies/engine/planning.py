"""Planning: cells that share a program run side by side, as groups. Numbers of arms are padded, so
that more cells share one, where padding costs less than compiling."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.policies import registry
from jaxduel.policies.base import Batch, PullBatch, SupportsSkip
from jaxduel.problems import PiecewiseProblem
from jaxduel.problems.piecewise import rewards_of
from jaxduel.progress import Progress
from jaxduel.simulation.checking import TIES
from jaxduel.simulation.devices import MEMORY_BYTES
from jaxduel.studies.engine.cells import StudyCell, plan_kind_of, policy_of, problem_of
from jaxduel.studies.engine.groups import Group, needs_pairs, rounds_of
from jaxduel.studies.engine.widths import need_of, width_of

BUCKETS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Numbers of arms above one bucket and up to the next may be padded to the largest of them; numbers
above the last bucket are not padded."""

SEEDS = 1_000
"""Nominal seed count for padding decisions: results depend on padding, and must not depend on the
number of seeds that run."""
ARM_STEPS = 4e8
"""Cost of one compilation, for a policy that makes one comparison or pull at a time, in comparisons
times arms: about 4 seconds at 10 ns each."""
PAIR_ROUNDS = 2e8
"""The same for a policy that commits to batches, in rounds times arms squared: about 5 seconds at
25 ns each."""


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
    parameters left at None, if their problems are of one kind, and their delays equal or both above
    1; numbers of arms are padded where that pays (`padded_arms`). Cells of one program share a
    group if they also have, for policies that make one comparison at a time, the same horizon;
    where arms are identified, the same checkpoints and, for a rule that stops, the same number of
    arms. Batched policies are sorted by their number of batches and horizon, others by their
    problem and delay, so that the cells of a group take about equally long. Groups of a program
    have one size (`widths`) and are adjacent.

    The plan depends on the cells, the platform and, on an accelerator, the memory alone, not on the
    number of seeds.

    Args:
      cells: the cells.
      num_seeds: seeds of each.
      keep: optional records, as in `Group`.
      lanes: seeds side by side; None: chosen by `widths`.
      platform: platform of the devices: "cpu", "gpu", ...
      memory: most bytes for a block (`simulation.devices.block_memory`).
      progress: as in `jaxduel.simulate`.

    Raises:
      InputError: from building a policy or problem.
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
    kind = rewards_of(problem) or "preferences"
    if isinstance(problem, PiecewiseProblem):
        law = "" if problem.rewards is None else f" of {problem.rewards} rewards"
        kind = f"{len(problem.stretches)} stretches{law}"
    modes = cell.delay > 1, cell.shuffle_arms, bool(cell.skip_quiet), cell.prng
    more: tuple[Any, ...] = () if cell.ties == TIES[0] else (cell.ties,)
    if cell.question is not None:  # whose votes make shapes
        most = cell.question.stop and cell.horizon
        more += "identify", cell.question.stop, most, len(cell.checkpoints)
    return cell.policy, tuple(structure), kind, *modes, *more


def _loads(cells: Iterable[StudyCell], batched: bool) -> dict[int, float]:
    """By number of arms, the comparisons (or rounds) of one seed, summed over cells."""
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
    """The groups of cells that have one family (`family_of`) and one padded number of arms."""
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
    if rewards_of(problem) is not None:
        keep = tuple(name for name in keep if name == "seeds")
    need = need_of(
        policy,
        problem,
        num_checkpoints,
        batched=batched,
        pairs=needs_pairs(cells, keep),
        delayed=cells[0].delay > 1,
        poll=None if asked_for is None else asked_for.poll(problem, votes),
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


def padded_arms(loads: Mapping[int, float], *, batched: bool) -> dict[int, int]:
    """The padded number of arms for each number of arms.

    All K of one bucket are padded to the largest of them if the inactive arms, for `SEEDS` seeds of
    each cell, cost at most as much as the compilations saved: a comparison costs K, a round K^2.

    Args:
      loads: for each K, the sum over its cells of comparisons (or of rounds).
      batched: whether the policy commits to batches.

    Returns:
      For each K of `loads`, a number of at least K.
    """
    padded = {}
    for bucket in sorted({bucket_of(num) for num in loads}):
        members = [num for num in loads if bucket_of(num) == bucket]
        largest, power = max(members), 2 if batched else 1
        idle = SEEDS * sum(loads[num] * (largest**power - num**power) for num in members)
        saved = (len(members) - 1) * (PAIR_ROUNDS if batched else ARM_STEPS)
        shared = bucket <= BUCKETS[-1] and idle <= saved
        padded.update({num: largest if shared else num for num in members})
    return padded


def bucket_of(num_arms: int) -> int:
    """The smallest bucket for `num_arms` arms; above the last bucket, `num_arms` itself."""
    return next((bucket for bucket in BUCKETS if num_arms <= bucket), num_arms)
