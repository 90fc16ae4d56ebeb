"""The manifest of a store: its groups of cells and its environment; and the keys of cells, groups
and blocks, which are digests of plain values."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxduel.errors import InputError, shorten
from jaxduel.files import read_whole, why

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

FORMAT = 4
"""The number of the layout of folders that this version writes and reads."""
FILE = "manifest.json"
MOST_BYTES = 2**28
"""Largest size of the manifest's file."""
_MOST_CELLS, _MOST_ARMS = 2**22, 2**16
"""Most cells of all groups, and most arms of a cell: readers allocate tables by them."""
BOUND = ("policy", "problem", "horizon", "checkpoints", "delay")
"""Names of values that determine a cell's results and are among its labels."""
_SEALED = re.compile(rb'(\{.*), "sha256": "([0-9a-f]{64})"\}\n', re.DOTALL)


@dataclass(frozen=True)
class CellRecord:
    """One policy on one problem up to one horizon.

    Attributes:
      index: the cell's place in the grid, from 0: labels appear in the data set in this order.
      policy: the policy's name.
      problem: the problem's name.
      digest: hash of the problem's numbers.
      horizon: T; the votes per run if arms are identified.
      parameters: the parameters that are set or vary, by name: numbers, truth values or text.
      delay: number of comparisons or pulls after which outcomes reach the policy.
      num_arms: the problem's arms, without padding.
      checkpoints: (M,) increasing times, or votes; the last is the horizon. If a cell has fewer
        than others of its group, its last columns in the group's blocks mean nothing.
      others: everything else that determines the cell's results, by name, in plain JSON values.

    Raises:
      InputError: when built, for numbers out of range, or if `parameters` and `others` disagree.
    """

    index: int
    policy: str
    problem: str
    digest: str
    horizon: int
    parameters: dict[str, Any]
    delay: int
    num_arms: int
    checkpoints: tuple[int, ...]
    others: dict[str, Any]

    def __post_init__(self) -> None:
        times = (0, *self.checkpoints)
        if any(one >= next for one, next in pairwise(times)) or times[-1] != self.horizon:
            raise InputError(f"checkpoints of {self.policy} do not increase to {self.horizon}.")
        _require_counts(self, "horizon", "delay", "num_arms")
        if self.num_arms > _MOST_ARMS:
            raise InputError(f"{self.policy} has num_arms = {self.num_arms}.")
        made_with = self.others.get("parameters", {})
        for name, value in self.parameters.items():
            if made_with.get(name, value) != value:
                raise InputError(f"{self.policy} had {name} = {made_with[name]}, not {value}.")

    @cached_property
    def key(self) -> str:
        """The hash of everything that determines the cell's results, and of its labels: other
        labels are another cell."""
        bound = {name: getattr(self, name) for name in BOUND}
        return digest_of_json({**self.others, **bound, "problem": [self.problem, self.digest]})

    @property
    def labels(self) -> tuple[str, str, int, str, int]:
        """Labels that identify the cell in its study."""
        parameters = json.dumps(self.parameters, sort_keys=True)
        return self.policy, self.problem, self.horizon, parameters, self.delay


@dataclass(frozen=True)
class GroupRecord:
    """Cells that one program simulates together.

    Attributes:
      policy: the policies' name.
      cells: C cells, in the order in which blocks hold them.
      definitions: D names of regret definitions, or of rules that name arms, in the order in
        which blocks hold them.
      block_seeds: seeds in a whole block: block n holds seeds n x block_seeds to
        (n + 1) x block_seeds - 1.
      seeds: seeds of each cell.
      size, keep, program: as in `jaxduel.studies.engine.groups.Group`, in plain JSON values.

    Raises:
      InputError: when built, for numbers out of range, or if the cells have another policy or other
        definitions.
    """

    policy: str
    cells: tuple[CellRecord, ...]
    definitions: tuple[str, ...]
    block_seeds: int
    seeds: int
    size: int
    keep: tuple[str, ...]
    program: list[Any]

    def __post_init__(self) -> None:
        _require_counts(self, "block_seeds", "seeds", "size")
        measured = [name for cell in self.cells for name in cell.others.get("definitions", ())]
        if {cell.policy for cell in self.cells} != {self.policy}:
            raise InputError(f"a group of {self.policy} has no cell, or one of another policy.")
        if self.definitions != tuple(dict.fromkeys(measured)):
            raise InputError(f"a group of {self.policy} has other definitions than its cells.")

    @cached_property
    def key(self) -> str:
        """The hash of everything that determines the results of the group's cells."""
        last = -len(self.cells) % self.size * self.cells[-1:]
        cells = [cell.key for cell in (*self.cells, *last)]
        return digest_of_json([self.program, self.block_seeds, self.keep, cells])

    @property
    def num_blocks(self) -> int:
        """Number of blocks of all seeds."""
        return -(-self.seeds // self.block_seeds)

    def seeds_of_block(self, number: int) -> int:
        """Number of seeds in block `number` once finished: fewer in the last block."""
        return min(self.block_seeds, self.seeds - number * self.block_seeds)


@dataclass(frozen=True)
class Manifest:
    """Description of the study in a folder.

    Attributes:
      grid: the request, in plain JSON values: a sweep's grid, or a paper's sizes.
      groups: all groups of cells.
      version: version of jaxduel.
      environment: versions, device, PRNG, ... (`jaxduel.studies.engine.identity`).
      format: number of the layout.

    Raises:
      InputError: when built, if there are no groups, two cells have the same labels, or groups are
        too large.
    """

    grid: dict[str, Any]
    groups: tuple[GroupRecord, ...]
    version: str
    environment: dict[str, str | int | float | None]
    format: int = FORMAT

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("there are no groups of cells.")
        seen = set()
        for cell in (cell for group in self.groups for cell in group.cells):
            if cell.labels in seen:
                policy, problem, horizon, parameters, _ = cell.labels
                raise InputError(
                    f"the grid has {policy} on {problem} up to {horizon} with the parameters "
                    f"{parameters} twice: name each once."
                )
            seen.add(cell.labels)
        if sum(max(group.size, len(group.cells)) for group in self.groups) > _MOST_CELLS:
            raise InputError(f"its groups have room for more than {_MOST_CELLS:,} cells.")

    @property
    def seeds(self) -> int:
        """The most seeds of a cell."""
        return max(group.seeds for group in self.groups)

    def joined(self, other: Manifest) -> Manifest:
        """This manifest, with the groups of `other` that share no cell labels with it, and with the
        environment of `other`."""
        own = {cell.labels for group in self.groups for cell in group.cells}
        more = [g for g in other.groups if own.isdisjoint(cell.labels for cell in g.cells)]
        groups = (*self.groups, *more)
        return replace(self, groups=groups, environment=other.environment)

    def encode(self) -> bytes:
        """The content of the file: JSON that ends with the digest of everything before."""
        text = json.dumps(asdict(self)).encode().removesuffix(b"}")
        return text + f', "sha256": "{hashlib.sha256(text).hexdigest()}"}}\n'.encode()


def task_key(group: str, number: int) -> str:
    """A hash of everything that determines block `number` of the group with key `group`: 16
    hexadecimal digits."""
    return digest_of_json([group, number])


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder.

    Raises:
      InputError: if the folder holds no sweep, or one of another format.
    """
    path = folder / FILE
    try:
        content = read_whole(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        what = f"it has no {FILE}" if folder.is_dir() else "it does not exist"
        if folder.is_file():
            what = "it is a file; those of results are read by jaxduel.load_result"
        elif folder.exists() and not folder.is_dir():
            what = "it is a pipe or a device"
        raise InputError(f"'{shorten(str(folder), 300)}' holds no sweep: {what}.") from None
    except OSError as error:
        raise InputError(f"'{shorten(str(path), 300)}' cannot be read: {why(error)}.") from None
    return decode_manifest(content, folder)


def decode_manifest(content: bytes, folder: Path) -> Manifest:
    """The manifest in the content of a file of `folder`.

    Raises:
      InputError: if it is of another format, or no manifest.
    """
    from pydantic import TypeAdapter, ValidationError

    where = f"'{shorten(str(folder / FILE), 300)}'"
    try:
        number = TypeAdapter(_Head).validate_json(content, strict=True).format
    except ValidationError:
        raise InputError(f"{where} is damaged: it is not a sweep's manifest.") from None
    if number != FORMAT:
        raise InputError(
            f"'{shorten(str(folder), 300)}' holds a sweep of format {number}, and this version of "
            f"jaxduel reads format {FORMAT}."
        )
    if len(content) > MOST_BYTES:
        raise InputError(f"{where} would have more than {MOST_BYTES:,} bytes: give fewer cells.")
    found = _SEALED.fullmatch(content)
    if found is None or hashlib.sha256(found[1]).hexdigest().encode() != found[2]:
        raise InputError(f"{where} is not as it was written: its digest does not hold.")
    try:
        return _schema().validate_json(found[1] + b"}", strict=True)
    except ValidationError as error:
        raise InputError(f"{where} is no manifest of a sweep: {_first(error)}.") from None


@dataclass(frozen=True)
class _Head:
    format: int


@cache
def _schema() -> TypeAdapter[Manifest]:
    from pydantic import TypeAdapter

    return TypeAdapter(Manifest)


def _first(error: ValidationError) -> str:
    """The first error that a schema found, in words."""
    fault = error.errors(include_url=False)[0]
    where = ".".join(map(str, fault["loc"]))
    what = fault["msg"].removeprefix("Value error, ").rstrip(".")
    return shorten(f"{where}: {what}" if where else what, 200)


def _require_counts(record: CellRecord | GroupRecord, *names: str) -> None:
    """Raises InputError unless the fields are from 1 to 2^31 - 1."""
    for name in names:
        if not 1 <= getattr(record, name) < 2**31:
            raise InputError(f"{record.policy} has {name} = {getattr(record, name)}.")


def digest_of_json(value: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of canonical JSON."""
    return hashlib.sha256(_canonical(value).encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """A value after a round trip through JSON, which has the same digest."""
    return json.loads(_canonical(value))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
