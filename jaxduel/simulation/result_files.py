"""Results as data sets, as tables, and in NetCDF files."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import read_whole, why, write_whole
from jaxduel.simulation.provenance import changed_parameters, same_request, seed_numbers
from jaxduel.simulation.stored_results import FORMAT, decode, sealed
from jaxduel.stats import interval95

if TYPE_CHECKING:
    import pandas
    import xarray

SUFFIX = ".nc"
_MOST_BYTES = 2**36
"""Largest size of a file that is read."""


def dataset_of(result: Any) -> xarray.Dataset:
    """The data set of a result, as `Result.to_xarray` returns it."""
    import xarray

    variables: dict[str, Any] = {
        "regret": (("seed", "checkpoint"), result.regret, {"definition": result.definition}),
        "plays": (("seed", "checkpoint", "arm"), result.plays),
    }
    if result.batches is not None:
        variables["batches"] = (("seed",), result.batches)
    if result.pairs is not None:
        variables["pairs"] = (("seed", "checkpoint", "left", "right"), result.pairs)
    if result.outcomes is not None:
        pair = ("winner", "loser") if result.outcomes.ndim == 4 else ("arm",)
        variables["outcomes"] = (("seed", "checkpoint", *pair), result.outcomes)
    if result.totals is not None:
        moments, plays, batches, most = result.totals
        variables["total_seeds"] = ((), moments.num_seeds)
        variables["total_regret_mean"] = (("checkpoint",), moments.mean)
        variables["total_regret_m2"] = (("checkpoint",), moments.m2)
        variables["total_plays"] = (("checkpoint", "arm"), plays)
        if batches is not None and most is not None:
            variables["total_batches"] = ((), batches)
            variables["most_batches"] = ((), most)
    steps = "pulls" if result.definition == "pulls" else "comparisons"
    names = result.made_by.get("arms")
    named = {} if names is None else {"name": ("arm", names)}
    return xarray.Dataset(
        variables,
        coords={
            "seed": seed_numbers(result.made_by, result.num_kept),
            "checkpoint": ("checkpoint", result.checkpoints, {"units": steps}),
            "arm": np.arange(result.plays.shape[-1]),
            **named,
        },
        attrs={
            "policy": result.policy,
            "problem": result.problem,
            "horizon": result.horizon,
            "root_seed": result.seed,
            "made_by": json.dumps(dict(result.made_by)),
        },
    )


def frame_of(result: Any, seeds: bool) -> pandas.DataFrame:
    """The table of a result, as `Result.to_frame` returns it."""
    import pandas

    changed = changed_parameters(result.made_by)
    shared = {
        "policy": result.policy,
        "parameters": ", ".join(f"{name}={changed[name]}" for name in sorted(changed)),
        "problem": result.problem,
        "num_arms": result.plays.shape[-1],
        "horizon": result.horizon,
        "definition": result.definition,
        "delay": result.made_by.get("delay", 1),
    }
    for name, text in changed.items():
        value = result.made_by["policy"]["parameters"][name]
        shared[name] = text if isinstance(value, dict | list) else value
    if seeds:
        count, times = result.regret.shape
        numbers = {
            "seed": seed_numbers(result.made_by, result.num_kept).repeat(times),
            "t": np.tile(result.checkpoints, count),
            "regret": result.regret.ravel(),
        }
        return pandas.DataFrame({**shared, **numbers})
    lower, upper = interval95(result.mean, result.sem, result.num_seeds)
    quartiles = result.quantile(np.array([0.25, 0.5, 0.75]))
    columns: dict[str, Any] = {
        "t": result.checkpoints,
        "num_seeds": result.num_seeds,
        **{"mean": result.mean, "std": result.std, "sem": result.sem},
        **{"lower95": lower, "upper95": upper},
        **dict(zip(("q25", "median", "q75"), quartiles, strict=True)),
    }
    if result.batches is not None:
        columns["batches_mean"] = result.mean_batches
    return pandas.DataFrame({**shared, **columns})


def read(path: Path) -> dict[str, Any]:
    """The fields of the result in a file, as `jaxduel.load_result` reads it."""
    content = _content(path)
    try:
        fields, is_proved = decode(content)
    except ValueError as error:
        raise InputError(f"'{shorten(str(path), 300)}' is no result of jaxduel: {error}.") from None
    if not is_proved:
        warn_caller(
            f"'{shorten(str(path), 300)}' has no digest, as files of jaxduel 0.2.0: nothing "
            "proves that its numbers are as they were simulated."
        )
    return fields


def require_replaceable(path: Path, request: Mapping[str, Any], force: bool) -> None:
    """Raises InputError unless `path` ends in .nc and, if not `force`, can be written without
    losing anything but an earlier result of the same request."""
    if path.suffix != SUFFIX:
        raise InputError(f"results are NetCDF files: '{path}' must end in {SUFFIX}.")
    if force or not path.exists():
        return
    try:
        made = decode(_content(path))[0]["made_by"]
    except ValueError:  # an InputError, too
        made = None
    if made is None or not same_request(made, request):
        what = "is not a result of jaxduel" if made is None else "has the result of another request"
        raise InputError(
            f"'{path}' {what}: give another name, or --force (force=True in Python) to replace it."
        )


def write(result: Any, path: Path, force: bool) -> Path:
    """Writes a result to a NetCDF file, as `Result.save` does."""
    require_replaceable(path, result.made_by, force)
    image = io.BytesIO()  # HDF5 crashes the process where it meets a full disk itself
    dataset_of(result).assign_attrs(format=FORMAT).to_netcdf(image, engine="h5netcdf")
    content = sealed(image.getvalue())
    try:
        decode(content)
    except ValueError as error:
        raise InputError(f"save: the result would not be read back: {error}.") from None
    return write_whole(path, content)


def _content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
      InputError: if it cannot be read.
    """
    said = f"'{shorten(str(path), 300)}'"
    try:
        return read_whole(path, _MOST_BYTES)
    except FileNotFoundError:
        raise InputError(f"there is no file {said}.") from None
    except IsADirectoryError:
        raise InputError(
            f"{said} is a folder; those of sweeps are opened by jaxduel.open_sweep."
        ) from None
    except OSError as error:
        raise InputError(f"{said} cannot be read: {why(error)}.") from None
