"""Text about a plan (its cells, programs, blocks and memory) and about a running sweep."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from jaxduel.display import counted
from jaxduel.studies.engine.groups import Group, tasks_of
from jaxduel.studies.engine.store import Store


def summary(groups: Sequence[Group]) -> list[str]:
    """Lines of text with a plan's numbers of cells, groups, programs, blocks and comparisons."""
    cells = [cell for group in groups for cell in group.cells]
    programs = {group.program for group in groups}
    every = tasks_of(groups)
    steps = sum(task.amount for task in every)
    unit = groups[0].unit
    ends = (f"number of {unit}", f"numbers of {unit}") if unit else ("horizon", "horizons")
    lines = [
        f"{counted(len(cells), 'cell')}: "
        f"{counted(len({c.policy for c in cells}), 'policy', 'policies')}, "
        f"{counted(len({c.problem for c in cells}), 'problem')}, "
        f"{counted(len({c.horizon for c in cells}), *ends)}",
        f"{counted(len(groups), 'group')} of cells that run together, "
        f"{counted(len(programs), 'program')} to compile",
        f"{counted(len(every), 'block')} for {counted(groups[0].num_seeds, 'seed')} a cell: "
        f"{steps:.4g} {unit or 'comparisons or pulls'}",
    ]
    for policy in dict.fromkeys(group.policy for group in groups):
        own = [group for group in groups if group.policy == policy]
        arms = ", ".join(str(num) for num in sorted({group.num_arms for group in own}))
        lines.append(
            f"  {policy}: {counted(sum(len(group.cells) for group in own), 'cell')}, "
            f"{counted(len({group.program for group in own}), 'program')}, K = {arms}"
        )
    return lines


def memory_line(groups: Sequence[Group], num_devices: int) -> str:
    """Line with the memory of the largest blocks that may run at once, one on each device."""
    largest = sorted((group.bytes for group in groups), reverse=True)[:num_devices]
    return (
        f"at most {sum(largest) / 2**20:,.0f} MiB for the blocks that run at once on "
        f"{counted(num_devices, 'device')}"
    )


def cell_lines(groups: Sequence[Group]) -> list[str]:
    """Lines with all cells, in the order of the grid; cells that differ only in T, or in votes
    or pulls, share a line."""
    clock = groups[0].unit or "T"
    horizons: dict[str, list[int]] = {}
    for cell in sorted((c for group in groups for c in group.cells), key=lambda cell: cell.index):
        settings = f"({cell.label})" if cell.label else ""
        horizons.setdefault(f"{cell.policy}{settings} on {cell.problem}", []).append(cell.horizon)
    return [
        f"  {what}: {clock} = {', '.join(f'{t:,}' for t in ts)}" for what, ts in horizons.items()
    ]


def status_lines(folder: str | os.PathLike[str]) -> list[str]:
    """Lines about a sweep, in any process: the stored blocks in total and of each policy.

    Raises:
      InputError: if the folder holds no sweep.
    """
    store = Store.open(folder)
    stored = Counter(file.group for file in store.files())
    groups = store.manifest.groups
    lines = []
    for policy in dict.fromkeys(group.policy for group in groups):
        own = [group for group in groups if group.policy == policy]
        done, blocks = sum(stored[g.key] for g in own), sum(g.num_blocks for g in own)
        cells = sum(len(g.cells) for g in own if stored[g.key] == g.num_blocks)
        of = sum(len(g.cells) for g in own)
        lines.append(f"  {policy}: {done:,} of {blocks:,} blocks, {cells:,} of {of:,} cells whole")
    done, blocks = sum(stored.values()), sum(group.num_blocks for group in groups)
    runs = counted(len(store.claimed()), "block runs", "blocks run")
    state = "finished" if done == blocks else f"{runs} now"
    return [f"{done:,} of {blocks:,} blocks are stored in {store.folder}; {state}", *lines]
