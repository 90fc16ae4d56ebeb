"""Results as data sets, as tables, and in NetCDF files."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.files import as_path, write_whole
from jaxduel.simulation.provenance import changed_parameters, same_request, seed_numbers
from jaxduel.simulation.result import Result, Totals
from jaxduel.stats import Moments, interval95

if TYPE_CHECKING:
    import pandas
    import xarray

SUFFIX = ".nc"
_TABLES = ("regret", "plays", "batches", "pairs", "outcomes")


def dataset_of(result: Result) -> xarray.Dataset:
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
        variables["total_seeds"] = ((), moments.seeds)
        variables["total_regret_mean"] = (("checkpoint",), moments.mean)
        variables["total_regret_m2"] = (("checkpoint",), moments.m2)
        variables["total_plays"] = (("checkpoint", "arm"), plays)
        if batches is not None and most is not None:
            variables["total_batches"] = ((), batches)
            variables["most_batches"] = ((), most)
    steps = "pulls" if result.definition == "pulls" else "comparisons"
    return xarray.Dataset(
        variables,
        coords={
            "seed": seed_numbers(result.made_by, result.num_kept),
            "checkpoint": ("checkpoint", result.checkpoints, {"units": steps}),
            "arm": np.arange(result.plays.shape[-1]),
        },
        attrs={
            "policy": result.policy,
            "problem": result.problem,
            "horizon": result.horizon,
            "root_seed": result.seed,
            "made_by": json.dumps(dict(result.made_by)),
        },
    )


def frame_of(result: Result, seeds: bool) -> pandas.DataFrame:
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


def load_result(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `Result.save` or `jaxduel run --out` has written.

    Raises:
      InputError: if there is no such file, or it is not one of theirs.

    Example:
      >>> import jaxduel as jd
      >>> policy, problem = jd.policies.make("rucb", num_arms=4), jd.problems.load("cyclic")
      >>> result = jd.simulate(policy, problem, 1000, num_seeds=4, checkpoints=[100, 1000])
      >>> path = result.save("rucb.nc")
      >>> again = jd.load_result(path)
      >>> bool((again.regret == result.regret).all()), again.made_by == result.made_by
      (True, True)
    """
    data = _read(as_path(path, "load_result"))
    tables = {name: data[name].values for name in _TABLES if name in data}
    seed = data.attrs["root_seed"]
    return Result(
        policy=data.attrs["policy"],
        problem=data.attrs["problem"],
        horizon=int(data.attrs["horizon"]),
        seed=seed if isinstance(seed, str) else int(seed),
        definition=data["regret"].attrs["definition"],
        checkpoints=data["checkpoint"].values,
        totals=_totals(data) if "total_seeds" in data else None,
        made_by=json.loads(data.attrs["made_by"]),
        **tables,
    )


def require_replaceable(path: Path, request: Mapping[str, Any], force: bool) -> None:
    """Raises InputError unless `path` ends in .nc and, if not `force`, can be written without
    losing anything but an earlier result of the same request."""
    if path.suffix != SUFFIX:
        raise InputError(f"results are NetCDF files: '{path}' must end in {SUFFIX}.")
    if force or not path.exists():
        return
    try:
        made = json.loads(_read(path, tables=False).attrs["made_by"])
    except InputError:
        made = None
    if made is None or not same_request(made, request):
        what = "is not a result of jaxduel" if made is None else "has the result of another request"
        raise InputError(
            f"'{path}' {what}: give another name, or --force (force=True in Python) to replace it."
        )


def write(result: Result, path: Path, force: bool) -> Path:
    """Writes a result to a NetCDF file, as `Result.save` does."""
    require_replaceable(path, result.made_by, force)
    image = io.BytesIO()  # HDF5 crashes the process where it meets a full disk itself
    dataset_of(result).to_netcdf(image, engine="h5netcdf")
    return write_whole(path, image.getvalue())


def _read(path: Path, tables: bool = True) -> xarray.Dataset:
    """The data set in a file; without its tables if only its attributes are wanted."""
    import xarray

    if not os.path.isfile(path):
        what = f"'{path}' is a folder; those of sweeps are opened by jaxduel.open_sweep."
        raise InputError(what if os.path.isdir(path) else f"there is no file '{path}'.")
    try:
        with xarray.open_dataset(path, engine="h5netcdf") as data:
            known = "made_by" in data.attrs and "regret" in data
            if known and tables:
                data.load()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"'{path}' cannot be read as NetCDF: {error}.") from None
    if not known:
        raise InputError(f"'{path}' is not a result that jaxduel saved.")
    return data


def _totals(data: xarray.Dataset) -> Totals:
    counted = "total_batches" in data
    return Totals(
        regret=Moments(
            int(data["total_seeds"]),
            data["total_regret_mean"].values,
            data["total_regret_m2"].values,
        ),
        plays=data["total_plays"].values,
        batches=int(data["total_batches"]) if counted else None,
        most_batches=int(data["most_batches"]) if counted else None,
    )
