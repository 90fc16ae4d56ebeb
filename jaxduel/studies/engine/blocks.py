"""Blocks: results of a group's cells for a fixed range of seeds, as arrays and as bytes of a NetCDF
file.

The libraries for NetCDF are imported where a file is made or read: planning a sweep needs none.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.netcdf import read_netcdf
from jaxduel.studies.engine.manifest import GroupRecord, task_key

if TYPE_CHECKING:
    from pydantic import BaseModel

LAYOUT: dict[str, tuple[tuple[str, ...], type]] = {
    "regret_count": ((), np.int64),
    "regret_mean": (("cell", "definition", "checkpoint"), np.float64),
    "regret_m2": (("cell", "definition", "checkpoint"), np.float64),
    "final_regret": (("cell", "definition", "seed"), np.float64),
    "plays_mean": (("cell", "checkpoint", "arm"), np.float64),
    "regret": (("cell", "definition", "seed", "checkpoint"), np.float64),
    "pairs_mean": (("cell", "checkpoint", "left", "right"), np.float64),
    "selves": (("cell", "seed", "arm"), np.int64),
    "batches": (("cell", "seed"), np.int64),
    "named": (("cell", "rule", "seed", "checkpoint"), np.int32),
    "tau": (("cell", "rule", "seed", "checkpoint"), np.float32),
    "cast": (("cell", "seed"), np.int64),
    "gaps": (("cell", "arm"), np.float64),
    "best": (("cell", "arm"), np.bool_),
    "stopped": (("cell", "seed"), np.int64),
    "stopped_named": (("cell", "seed"), np.int64),
}
"""Dimensions and type of every array a block may hold."""
_REGRET = frozenset({"regret_count", "regret_mean", "regret_m2", "final_regret", "plays_mean"})
_FOUND = frozenset({"named", "tau", "cast", "gaps", "best"})
"""Arrays that every block has: the former, or the latter if arms are identified."""
OPTIONAL = frozenset({"regret", "pairs_mean", "selves", "batches"})
_STOPS = frozenset({"batches", "stopped", "stopped_named"})
"""Further arrays that a block may have in either case."""
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable. "
"""Name of the scale of a dimension without coordinate, before its length."""


@dataclass(frozen=True)
class Block:
    """Results of the C cells of a group for S seeds.

    Attributes:
      key: hash of the task that makes this block, in hexadecimal digits.
      group: the group's key.
      number: number of the block in the group, from 0.
      first_seed: index of its first seed.
      arrays: by name; D regret definitions, M checkpoints, K arms of the group:
        regret_count () int64, the number of seeds S; regret_mean (C, D, M) float64, mean regret;
        regret_m2 (C, D, M) float64, sum of squared deviations from that mean; final_regret
        (C, D, S) float64, regret of each seed at the last checkpoint; plays_mean (C, M, K) float64,
        mean plays of each arm. Optional: regret (C, D, S, M) float64; pairs_mean
        (C, M, K, K) float64, mean plays of each ordered pair; selves (C, S, K) int64, comparisons
        of each arm with itself up to the last checkpoint. Of batched policies: batches (C, S)
        int64. Where R rules identify arms, these instead: named (C, R, S, M)
        int32, the arms; tau (C, R, S, M) float32, Kendall's tau; cast (C, S) int64, votes; gaps
        (C, K) float64, and best (C, K) bool, of the problem's arms; where a rule stops, stopped and
        stopped_named (C, S) int64, the votes then and the arm, -1 if it never did.
      attributes: anything else to keep, in plain JSON values, up to 60 kB. Facts that vary between
        runs of the task (times, hosts) are excluded, so that equal blocks have equal bytes.

    Raises:
      ValueError: when built, if an array is missing or unknown, or sizes do not fit together.
    """

    key: str
    group: str
    number: int
    first_seed: int
    arrays: dict[str, np.ndarray] = field(repr=False)
    attributes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = set(self.arrays)
        needed, others = (_FOUND, _STOPS) if "named" in names else (_REGRET, OPTIONAL)
        if names - needed - others or needed - names:
            raise ValueError(f"a block cannot hold exactly the arrays {sorted(names)}")
        if set(self.key) - set("0123456789abcdef") or not self.key:
            raise ValueError(f"the key '{self.key}' is not in hexadecimal digits")
        plain = {name: np.asarray(self.arrays[name], LAYOUT[name][1]) for name in sorted(names)}
        object.__setattr__(self, "arrays", plain)
        if "named" not in names and self.sizes["seed"] != self.seeds:
            raise ValueError(f"regret_count is {self.seeds}, not {self.sizes['seed']} as in arrays")

    @property
    def seeds(self) -> int:
        """S, the number of seeds."""
        if "named" in self.arrays:
            return self.arrays["cast"].shape[1]
        return int(self.arrays["regret_count"])

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each dimension."""
        sizes: dict[str, int] = {}
        for name, array in self.arrays.items():
            dimensions = LAYOUT[name][0]
            if array.ndim != len(dimensions):
                raise ValueError(f"{name} has shape {array.shape}, not {dimensions}")
            for dimension, length in zip(dimensions, array.shape, strict=True):
                if sizes.setdefault(dimension, length) != length:
                    raise ValueError(f"{name} has shape {array.shape}: {dimension} is another size")
        return sizes


def encode_block(block: Block, cells: Sequence[str], measures: Sequence[str]) -> bytes:
    """The bytes of a NetCDF 4 file with the block; equal blocks have equal bytes.

    The file is written with h5py, by the conventions of NetCDF 4 (every dimension is a dimension
    scale with a number), in an eighth of the time of h5netcdf.

    Args:
      block: the block.
      cells: (C,) keys of the cells, the coordinate `cell`.
      measures: (D,) or (R,) names, the coordinate `definition` or `rule`.
    """
    import h5py

    image, text = io.BytesIO(), h5py.string_dtype()
    seeds = np.arange(block.first_seed, block.first_seed + block.seeds, dtype=np.int64)
    names = np.array(measures, text)
    coordinates = {"cell": np.array(cells, text), "definition": names, "rule": names, "seed": seeds}
    with h5py.File(image, "w", track_order=True) as file:
        scales = []
        for number, (name, length) in enumerate(block.sizes.items()):
            values = coordinates.get(name, np.zeros(length, ">f4"))
            scales.append(file.create_dataset(name, data=values, track_order=True))
            scales[-1].make_scale(name if name in coordinates else f"{_NO_VARIABLE}{length:10d}")
            scales[-1].attrs["_Netcdf4Dimid"] = np.int32(number)
        places = list(block.sizes)
        for name, array in block.arrays.items():
            variable = file.create_dataset(name, data=array, track_order=True)
            for axis, dimension in enumerate(LAYOUT[name][0]):
                scale = scales[places.index(dimension)]
                h5py.h5ds.attach_scale(variable.id, scale.id, axis)
        file.attrs["task"] = block.key
        file.attrs["group"] = block.group
        file.attrs["number"] = np.int64(block.number)
        file.attrs["first_seed"] = np.int64(block.first_seed)
        file.attrs["attributes"] = json.dumps(block.attributes, sort_keys=True)
    return image.getvalue()


def decode_block(content: bytes, skip: Collection[str] = ()) -> Block:
    """The block in the bytes of a file.

    Args:
      content: bytes made by `encode_block`.
      skip: names of optional arrays to leave out.

    Raises:
      ValueError: if the bytes are not a file of a block.
    """
    from pydantic import ValidationError

    types = {name: LAYOUT[name][1] for name in LAYOUT if name not in skip}
    schema = _attributes()
    arrays, attributes = read_netcdf(content, types, {"/": schema.model_fields})
    try:
        found: Any = schema.model_validate(attributes, strict=True)
    except ValidationError as error:
        raise ValueError(f"no block: {error.errors()[0]['msg']}") from None
    return Block(found.task, found.group, found.number, found.first_seed, arrays, found.attributes)


def require_place(block: Block, group: GroupRecord) -> None:
    """Raises ValueError unless the group has a place for such a block."""
    sizes, most, cells = block.sizes, group.block_seeds, group.cells
    measures = sizes.get("definition", sizes.get("rule"))
    longest, arms = max(len(c.checkpoints) for c in cells), max(c.num_arms for c in cells)
    enough = sizes["checkpoint"] >= longest and sizes["arm"] >= arms
    if (sizes["cell"], measures) != (len(cells), len(group.definitions)) or not enough:
        raise ValueError(f"the block's sizes {sizes} are not those of its group")
    if block.first_seed != block.number * most or not 1 <= block.seeds <= most:
        raise ValueError(f"block {block.number} cannot begin with seed {block.first_seed}")
    if block.key != task_key(group.key, block.number):
        raise ValueError(f"block {block.number} of its group has another key")


@cache
def _attributes() -> type[BaseModel]:
    """The schema of a file's attributes."""
    from pydantic import Json, create_model

    return create_model(
        "Attributes", task=str, group=str, number=int, first_seed=int, attributes=Json[dict]
    )
