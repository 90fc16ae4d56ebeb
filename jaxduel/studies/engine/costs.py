"""What tasks cost, for the order of tasks and the time left."""

from __future__ import annotations

import math

from jaxduel.policies import registry
from jaxduel.policies.base import SupportsSkip
from jaxduel.studies.engine.cells import StudyCell
from jaxduel.studies.engine.groups import Task, rounds_of

_SKIPPED = 100_000
"""Number of comparisons from which on runs with skipping are taken to be quiet, mostly."""


def cost_of(task: Task) -> float:
    """What a whole block of a task's group costs: comparisons times arms, or rounds times pairs.

    Of a policy whose quiet runs are skipped, every tenfold of T beyond 100,000 counts as another
    100,000 comparisons.
    """
    group = task.group
    seeds = min(group.block_seeds, group.num_seeds)
    turns = sum(_turns(cell, group.batched) for cell in group.cells)
    return seeds * turns * group.num_arms ** (2 if group.batched else 1)


def _turns(cell: StudyCell, batched: bool) -> float:
    turns = rounds_of(cell, batched=batched)
    skips = cell.skip_quiet and issubclass(registry.policy_class(cell.policy), SupportsSkip)
    if batched or not skips or turns <= _SKIPPED:
        return turns
    return _SKIPPED * (1 + math.log10(turns / _SKIPPED))
