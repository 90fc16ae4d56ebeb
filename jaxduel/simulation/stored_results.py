"""Results in bytes: a NetCDF file, and after its end the digest of all before."""

from __future__ import annotations

import hashlib
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np

from jaxduel.netcdf import read_netcdf, require_readable
from jaxduel.simulation.invariants import require_sound
from jaxduel.simulation.provenance import seed_numbers
from jaxduel.simulation.totals import Totals
from jaxduel.stats import Moments

FORMAT = 2
"""The number of the layout, an attribute of the file; without it, and a digest, in 0.2.0."""
_TABLES = ("regret", "plays", "batches", "pairs", "outcomes")
_SEAL = b"jaxduel result sha256 %s\n"
_SEALED = re.compile(_SEAL % b"([0-9a-f]{64})")
_LENGTH = len(_SEAL) - 2 + 64


def sealed(content: bytes) -> bytes:
    """The content of a file with its digest. Programs that read NetCDF pass over what follows the
    end of the file proper."""
    return content + _SEAL % hashlib.sha256(content).hexdigest().encode()


def decode(content: bytes) -> tuple[dict[str, Any], bool]:
    """The fields of the result in the bytes of a file, and whether its digest proves them.

    Raises:
      ValueError: if it is none, its digest does not hold or was taken away, or an invariant does
        not hold.
    """
    seal = _SEALED.fullmatch(content[-_LENGTH:])
    if seal is None:
        require_readable(content)
    elif hashlib.sha256(memoryview(content)[:-_LENGTH]).hexdigest().encode() != seal[1]:
        raise ValueError("its digest does not hold, it is not as it was written")
    from pydantic import ValidationError

    from jaxduel.simulation.result_schema import TYPES, Attributes

    types = {**TYPES, "seed": np.int64}
    names = [name for name in Attributes.model_fields if name != "definition"]
    arrays, attributes = read_netcdf(content, types, {"/": names, "regret": ["definition"]})
    missing = {"regret", "plays", "checkpoint", "seed"} - arrays.keys()
    if missing:
        raise ValueError(f"it has no {', '.join(sorted(missing))}")
    try:
        found = Attributes.model_validate(attributes, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
    if found.format > FORMAT:
        raise ValueError(f"it is of format {found.format}, this jaxduel reads up to {FORMAT}")
    if seal is None and found.format == FORMAT:
        raise ValueError("its digest is missing, it is not as it was written")
    result = SimpleNamespace(
        policy=found.policy,
        problem=found.problem,
        horizon=found.horizon,
        seed=found.root_seed,
        definition=found.definition,
        checkpoints=arrays["checkpoint"],
        totals=_totals(arrays),
        made_by=json.loads(attributes["made_by"]),
        **{name: arrays.get(name) for name in _TABLES},
    )
    require_sound(result)
    if not np.array_equal(arrays["seed"], seed_numbers(result.made_by, len(result.regret))):
        raise ValueError("its seeds are numbered otherwise")
    return vars(result), seal is not None


def _totals(arrays: dict[str, Any]) -> Totals | None:
    """Statistics of all seeds; None where every seed has rows."""
    names = [f"total_{name}" for name in ("seeds", "regret_mean", "regret_m2", "plays")]
    some: list[Any] = [arrays.get(name) for name in (*names, "total_batches", "most_batches")]
    if all(array is None for array in some):
        return None
    if any(array is None for array in some[:4]):
        raise ValueError("its totals are not complete")
    if any(array is not None and array.size != 1 for array in (some[0], *some[4:])):
        raise ValueError("its totals are no numbers")
    seeds, mean, m2, plays, *batches = some
    counted = [None if array is None else int(array.item()) for array in batches]
    return Totals(Moments(int(seeds.item()), mean, m2), plays, *counted)
