"""Arrays and attributes of NetCDF files as jaxduel writes them, from bytes, in bounded memory."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def read_netcdf(
    content: bytes, types: Mapping[str, Any], attributes: Mapping[str, Iterable[str]]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Those of some arrays and attributes that a file has.

    Args:
      content: the bytes of a NetCDF 4 file.
      types: the types that an array may have, by its name.
      attributes: names of attributes that hold one value, by the array, or "/" for the file.

    Returns:
      The arrays, and the values of the attributes, by name.

    Raises:
      ValueError: if it is no such file, or one whose arrays are compressed, of other types, outside
        the file, or larger than it.
    """
    import h5py

    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            there = set(file)  # quicker than to ask for one name after the other
            arrays = {
                name: _array(file, name, allowed, len(content))
                for name, allowed in types.items()
                if name in there
            }
            found = {}
            for place in attributes.keys() & {"/", *there}:
                names, held = attributes[place], file[place].attrs
                found |= {name: _one(held, name) for name in names if name in held}
            return arrays, found
    except Exception as error:  # a fault that HDF5 meets reaches Python as almost any kind
        raise ValueError(f"it is no NetCDF file of jaxduel ({error})") from None


def require_readable(content: bytes) -> None:
    """Raises ValueError if HDF5 crashes on a file, or comes to no end.

    It does so on some files whose structure is damaged, and cannot be interrupted: another process
    tries. Files with a digest that holds need no trial.
    """
    seconds = _SECONDS + len(content) / 2**24
    try:
        subprocess.run(
            [sys.executable, "-c", _TRIAL],
            input=content,
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"it cannot be read as NetCDF within {seconds:.0f} seconds") from None
    except subprocess.CalledProcessError as error:
        (*_, line) = error.stderr.decode(errors="replace").splitlines() or [""]
        raise ValueError(f"it cannot be read as NetCDF ({line})") from None


_SECONDS = 20.0
_TRIAL = """
import io, sys, h5py
content = sys.stdin.buffer.read()
with h5py.File(io.BytesIO(content), "r") as file:
    for name in ("/", *file):
        dict(file[name].attrs)
        if isinstance(file[name], h5py.Dataset) and file[name].nbytes <= len(content):
            file[name][()]
"""


def _array(file: Any, name: str, allowed: Any, most: int) -> np.ndarray:
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link")
    stored = file[name]
    plain = stored.chunks is None and stored.external is None and not stored.is_virtual
    if stored.dtype not in (np.dtype(one) for one in np.atleast_1d(allowed)) or not plain:
        raise ValueError(f"{name} is of another type, or not stored plainly")
    if stored.nbytes > most:
        raise ValueError(f"{name} is larger than the file")
    return stored[()]


def _one(held: Any, name: str) -> Any:
    """An attribute's value as a plain number or text."""
    if np.prod(held.get_id(name).shape, dtype=float) != 1:
        raise ValueError(f"the attribute {name} has not one value")
    value = np.asarray(held[name]).item()
    return value.decode() if isinstance(value, bytes) else value
