"""Checks that a folder's sweep is the one asked for, with errors that name the difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jaxduel.errors import InputError, warn_caller
from jaxduel.studies.engine.manifest import GroupRecord, Manifest

ROUNDING = ("jax", "jaxlib", "numpy", "device", "processor", "x64")
"""Environment fields that affect rounding."""


def require_same(folder: Path, there: Manifest, wanted: Manifest, extend: bool) -> None:
    """Refuses a folder with another sweep; with `extend`, `wanted` may have more seeds.

    Raises:
      InputError: if the version of jaxduel, the code that simulates, the grid or the cells differ;
        the message names the keys.
    """
    if there.version != wanted.version:
        raise InputError(
            f"'{folder}' holds a sweep of jaxduel {there.version}, and this is {wanted.version}: "
            "go on with that version, or begin in a new folder."
        )
    require_same_code(folder, there, wanted)
    differing = sorted(
        name
        for name in there.grid.keys() | wanted.grid.keys()
        if there.grid.get(name) != wanted.grid.get(name)
    )
    more_seeds = wanted.seeds > there.seeds
    if differing == ["seeds"] and not (extend and more_seeds):
        hint = "--extend-seeds adds the others" if more_seeds else "seeds cannot be taken away"
        raise InputError(
            f"'{folder}' holds this grid with {there.seeds} seeds, not {wanted.seeds}: {hint}."
        )
    if set(differing) - {"seeds"}:
        raise InputError(
            f"'{folder}' holds another grid, which differs in {', '.join(differing)}: give a new "
            "folder, or the grid it was begun with."
        )
    if _without_seeds(there) != _without_seeds(wanted):
        raise InputError(
            f"'{folder}' holds this grid with other cells, {_first_difference(there, wanted)}: "
            "give a new folder, or run it where it was begun, with the same files and policies "
            "of your own."
        )


def _without_seeds(manifest: Manifest) -> tuple[GroupRecord, ...]:
    return tuple(replace(group, seeds=1) for group in manifest.groups)


def require_same_code(folder: Path, there: Manifest, wanted: Manifest) -> None:
    """Refuses to resume a sweep whose blocks were simulated by other code.

    Raises:
      InputError: if the code's digests differ; the message names them, and known revisions.
    """
    if there.environment.get("code") != wanted.environment.get("code"):
        raise InputError(
            f"'{folder}' holds a sweep begun by other code, {_code_of(there)}, and this is "
            f"{_code_of(wanted)}: go on with that code, or begin in a new folder."
        )


def _code_of(manifest: Manifest) -> str:
    code, revision = manifest.environment.get("code"), manifest.environment.get("git_revision")
    known = f"digest {code}" if code else "its digest unknown"
    return f"{known} (revision {revision})" if revision else known


def warn_of_environment(folder: Path, there: Manifest, wanted: Manifest) -> None:
    """Warns if a sweep is resumed where numbers may round differently."""
    for name in ROUNDING:
        before, now = there.environment.get(name), wanted.environment.get(name)
        if before != now:
            warn_caller(
                f"the sweep in '{folder}' was begun with {name} {before} and goes on with {now}: "
                "the blocks from here on may round differently."
            )


def _first_difference(there: Manifest, wanted: Manifest) -> str:
    if len(there.groups) != len(wanted.groups):
        return f"in {len(there.groups)} groups instead of {len(wanted.groups)}"
    for old, new in zip(there.groups, wanted.groups, strict=True):
        if old.block_seeds != new.block_seeds:
            seeds = f"{old.block_seeds} seeds a block instead of {new.block_seeds}"
            return f"with {seeds} for {old.policy}"
        for before, after in zip(old.cells, new.cells, strict=False):
            if before != after:
                return f"{before.policy} on {before.problem} up to {before.horizon} among them"
    return "grouped differently"
