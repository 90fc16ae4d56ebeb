"""The manifest of a store: its groups of cells and its environment."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jaxduel.errors import InputError, shorten
from jaxduel.files import why

FORMAT = 3
"""The number of the layout of folders that this version writes and reads."""
FILE = "manifest.json"


@dataclass(frozen=True)
class CellRecord:
    """One policy on one problem up to one horizon.

    Attributes:
      index: the cell's place in the grid, from 0: labels appear in the data set in this order.
      key: hash of all that determines the cell's results.
      policy: the policy's name.
      problem: the problem's name.
      horizon: T; the votes of a run where arms are identified.
      parameters: the parameters that are set or vary, by name: numbers, truth values or text.
      delay: comparisons after which outcomes reach the policy.
      num_arms: the problem's arms, without padding.
      checkpoints: (M,) increasing times, or votes; the last is the horizon. Where cells of a group
        have fewer than others, their last columns in the group's blocks mean nothing.
    """

    index: int
    key: str
    policy: str
    problem: str
    horizon: int
    parameters: dict[str, Any]
    delay: int
    num_arms: int
    checkpoints: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, str, int, str, int]:
        """Labels that tell the cell from all others of its study."""
        parameters = json.dumps(self.parameters, sort_keys=True)
        return self.policy, self.problem, self.horizon, parameters, self.delay


@dataclass(frozen=True)
class GroupRecord:
    """Cells that one program simulates together.

    Attributes:
      key: the group's hash.
      policy: the policies' name.
      cells: C cells, in the order in which blocks hold them.
      definitions: D names of regret definitions, or of rules that name arms, in the order in
        which blocks hold them.
      block_seeds: seeds in a whole block: block n holds seeds n x block_seeds to
        (n + 1) x block_seeds - 1.
      seeds: seeds of each cell.
    """

    key: str
    policy: str
    cells: tuple[CellRecord, ...]
    definitions: tuple[str, ...]
    block_seeds: int
    seeds: int

    @property
    def num_blocks(self) -> int:
        """Number of blocks of all seeds."""
        return -(-self.seeds // self.block_seeds)

    def seeds_of_block(self, number: int) -> int:
        """Number of seeds that block `number` holds once it is finished: fewer in the last."""
        return min(self.block_seeds, self.seeds - number * self.block_seeds)


@dataclass(frozen=True)
class Manifest:
    """Description of the study in a folder.

    Attributes:
      grid: what was asked for, in plain JSON values: a sweep's grid, or a paper's sizes.
      groups: all groups of cells.
      version: version of jaxduel.
      environment: versions, device, PRNG, ... (`jaxduel.experiments.engine.identity`).
      format: number of the layout.

    Raises:
      InputError: when built, if two cells have the same labels.
    """

    grid: dict[str, Any]
    groups: tuple[GroupRecord, ...]
    version: str
    environment: dict[str, Any]
    format: int = FORMAT

    def __post_init__(self) -> None:
        seen = set()
        for cell in (cell for group in self.groups for cell in group.cells):
            if cell.labels in seen:
                policy, problem, horizon, parameters, _ = cell.labels
                raise InputError(
                    f"the grid has {policy} on {problem} up to {horizon} with the parameters "
                    f"{parameters} twice: name each once."
                )
            seen.add(cell.labels)

    @property
    def seeds(self) -> int:
        """The most seeds of a cell."""
        return max(group.seeds for group in self.groups)

    def joined(self, other: Manifest) -> Manifest:
        """This manifest with the groups of another that have no cell of the same labels, and the
        environment that the other was begun in."""
        own = {cell.labels for group in self.groups for cell in group.cells}
        more = [g for g in other.groups if own.isdisjoint(cell.labels for cell in g.cells)]
        groups = (*self.groups, *more)
        return replace(self, groups=groups, environment=other.environment)

    def encode(self) -> bytes:
        """The content of the file."""
        return (json.dumps(asdict(self)) + "\n").encode()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder.

    Raises:
      InputError: if the folder holds no sweep, or one of another format.
    """
    path = folder / FILE
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        what = f"it has no {FILE}" if folder.is_dir() else "it does not exist"
        if folder.is_file():
            what = "it is a file; those of results are read by jaxduel.load_result"
        raise InputError(f"'{shorten(str(folder), 300)}' holds no sweep: {what}.") from None
    except OSError as error:
        raise InputError(f"'{shorten(str(path), 300)}' cannot be read: {why(error)}.") from None
    return decode_manifest(content, folder)


def decode_manifest(content: bytes, folder: Path) -> Manifest:
    """The manifest in the content of a file of `folder`.

    Raises:
      InputError: if it is of another format, or none.
    """
    try:
        plain = json.loads(content)
        number = plain["format"]
        if number == FORMAT:
            return Manifest(
                grid=plain["grid"],
                groups=tuple(_group(group) for group in plain["groups"]),
                version=plain["version"],
                environment=plain["environment"],
            )
    except (ValueError, TypeError, KeyError):
        raise InputError(f"'{folder / FILE}' is damaged: it is not a sweep's manifest.") from None
    raise InputError(
        f"'{folder}' holds a sweep of format {number}, and this version of jaxduel reads "
        f"format {FORMAT}."
    )


def _group(plain: dict[str, Any]) -> GroupRecord:
    cells = tuple(
        CellRecord(**{**cell, "checkpoints": tuple(cell["checkpoints"])}) for cell in plain["cells"]
    )
    return GroupRecord(**{**plain, "cells": cells, "definitions": tuple(plain["definitions"])})
