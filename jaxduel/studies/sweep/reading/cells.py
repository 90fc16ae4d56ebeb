"""The cells of a sweep as a table: one row per cell and definition of regret, chosen by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from jaxduel.display import listed
from jaxduel.errors import InputError, unknown_name
from jaxduel.policies import registry
from jaxduel.runs import Runs, number_or_text
from jaxduel.stats import t95
from jaxduel.studies.engine.cells import parameters_label, text_of
from jaxduel.studies.sweep.axes import AXES, BY_OPTION, CELL, Axis, axes_of, axis_of
from jaxduel.studies.sweep.reading.layout import DIMENSIONS, MEASURES, measure_of
from jaxduel.studies.tables import short

if TYPE_CHECKING:
    import xarray

Frame: TypeAlias = Any
"""A `pandas.DataFrame`: its annotations allow any column to be a table, so that nothing
type-checks."""
_SMALL = 2**27
"""Bytes up to which the numbers of all seeds are read at once."""


def choose(dataset: xarray.Dataset, **asked: Sequence[Any]) -> Frame:
    """The cells of a sweep, chosen by name.

    Args:
      **asked: the names or numbers to keep, by `Axis.option`: policy, problem, horizon, regret (its
        definitions), rule. "btl" stands for all problems "btl(...)", "dts" for all combinations of
        the policy's parameters, and "dts[alpha=0.51]" for the ones with that value.

    Returns:
      Some rows of `cells_of`.

    Raises:
      InputError: if a name is not in the sweep, or no cell has all that is asked for.
    """
    every, measure = cells_of(dataset), measure_of(dataset)
    cells = every
    for axis, wanted in ((BY_OPTION[option], some) for option, some in asked.items() if some):
        if axis.part == "measure" and axis.name != measure.dimension:
            raise InputError(f"the sweep measures {MEASURES[axis.name].lacks}.")
        if axis.name == "policy":
            kept = {label for name in wanted for label in find_variants(name, every)}
            cells = cells[cells["variant"].isin(kept)]
        else:
            known = _labels(dataset, axis.column)
            kept = {value for one in wanted for value in _values_for(one, axis, known)}
            cells = cells[cells[axis.column].isin(kept)]
    if cells.empty:
        kind = axis_of(measure.dimension).noun
        raise InputError(
            f"the sweep has no cell with that policy, problem, horizon and {kind} together."
        )
    return cells


def cells_of(dataset: xarray.Dataset) -> Frame:
    """All cells of the grid, run or not, under each of their definitions of regret. Cells that have
    not run get the definitions of other cells on the same problem, or else all. If arms are
    identified, rules that name arms take the place of definitions.

    Returns:
      A row per cell and definition (or rule), policy by policy, with the columns variant
      ("dts[alpha=0.51]"), policy, parameters, problem, num_arms, horizon, the parameters of
      instances by name, definition or rule, delay, the parameters of policies by name (the default
      where only other variants of the policy name it, NaN or None where none does), num_seeds and,
      where there are any, batches_mean. Labels are categories in the order of the grid. The index
      is the place in a variable with the dimensions of `CELL` and "definition" ("rule").
    """
    import pandas

    times = values_in(dataset, "t", (*CELL, "checkpoint"))
    measure = measure_of(dataset)
    full = (*CELL, measure.dimension)
    mean = values_in(dataset, measure.mean, (*full, "checkpoint"))
    measured: Any = np.isfinite(mean).any(axis=-1)
    of_problem = measured.any(axis=(0, 2, 3))  # (problem, definition)
    of_problem |= ~of_problem.any(axis=1, keepdims=True)
    has = measured | (~measured.any(axis=-1, keepdims=True) & of_problem[:, None, None])
    has &= np.isfinite(times).any(axis=-1, keepdims=True)
    index = np.flatnonzero(has)
    at = dict(zip(full, np.unravel_index(index, has.shape), strict=True))
    labels = {name: _labels(dataset, name) for name in full}
    places = zip(at["policy"], at["parameters"], strict=True)
    parts = ((labels["policy"][a], labels["parameters"][d]) for a, d in places)
    variants = [f"{policy}[{label}]" if label else policy for policy, label in parts]
    columns: dict[str, Any] = {"variant": variants}
    for axis in axes_of("policy", "setting", "measure"):
        if axis.along not in full or axis.column not in dataset:
            continue
        if axis.words:
            columns[axis.column] = pandas.Categorical.from_codes(at[axis.name], labels[axis.name])
        else:
            columns[axis.column] = _known(dataset, axis.column)[at[axis.along]]
    columns["delay"] = 1
    for name in parameter_names(dataset):
        values = _known(dataset, name)[at["parameters"]]
        columns[name] = _filled(values, name, columns["policy"])
    for name in ("num_seeds", "batches_mean"):
        if name in dataset:
            columns[name] = values_in(dataset, name, CELL)[tuple(at[dim] for dim in CELL)]
    return pandas.DataFrame(columns, index=index)


def _filled(values: np.ndarray, name: str, policies: Any) -> np.ndarray:
    """The values of a parameter by cell; a cell that does not name it has the default if other
    cells of its policy do."""
    import pandas

    known = pandas.notna(values)
    for policy in set(policies[known]).intersection(registry.names()):
        value = registry.parameters(policy).get(name.removeprefix("parameter_"))
        if isinstance(value, str | int | float):
            values[~known & (policies == policy)] = (
                text_of(value) if values.dtype == object else value
            )
    return values


def parameter_names(dataset: xarray.Dataset) -> list[str]:
    """The names of the coordinates that hold parameters, including "delay" if any is not 1."""
    others = {name for some in DIMENSIONS.values() for name in some}
    others |= {axis.column for axis in AXES if axis.part != "parameter"}
    names = {str(name): one.dims for name, one in dataset.coords.items() if name not in others}
    return [name for name, dims in names.items() if dims in (("parameters",), ())]


def find_variants(name: str, cells: Frame) -> list[str]:
    """The variants that a name stands for: "dts" for all variants of the policy, "dts[alpha=0.6]"
    for the variant with exactly that label, or else for all with that value, set or default, and
    "dts[]" for the variant without a label.

    Raises:
      InputError: if there is none.
    """
    policy, bracket, inside = name.partition("[")
    policies = cells["policy"].astype(object)
    own = cells[policies == policy.strip()].drop_duplicates("variant")
    if own.empty:
        raise unknown_name("policy of the sweep", policy, set(policies))
    wanted = _parts(inside.rstrip().removesuffix("]"))
    has = {
        variant: _parts(label)
        for variant, label in zip(own["variant"], own["parameters"], strict=True)
    }
    same = [variant for variant, parts in has.items() if bracket and parts == wanted]
    usual = _defaults(policy.strip())
    found = same or [
        variant
        for variant, parts in has.items()
        if (wanted or not bracket) and wanted.items() <= {**usual, **parts}.items()
    ]
    if not found:
        raise InputError(f"the sweep has no '{name}': of that policy it has {listed(list(has))}.")
    return found


def by_setting(dataset: xarray.Dataset, cells: Frame) -> Iterator[tuple[Frame, np.ndarray]]:
    """The regret of each seed at the horizon, setting by setting, for some rows of `cells_of`; if
    arms are identified, 1 if the arm named after the last vote is not among the best, else 0.

    Yields:
      The n rows of a setting, and (n, S) float64: NaN for seeds that have not run.
    """
    measure = measure_of(dataset)
    full, names = (*CELL, measure.dimension), measure.of_seeds
    shape = tuple(dataset.sizes.get(name, 1) for name in full)
    if dataset[names[0]].nbytes <= _SMALL:
        dataset[names[0]].load()
    for _, some in cells.groupby(measure.setting, observed=True):
        at = dict(zip(full, np.unravel_index(some.index, shape), strict=True))
        policies, row = np.unique(at["policy"], return_inverse=True)
        parameters, column = np.unique(at["parameters"], return_inverse=True)
        place: dict[str, Any] = {name: some[0] for name, some in at.items()}
        place |= {"policy": policies, "parameters": parameters}
        part = dataset[list(names)].isel(place, missing_dims="ignore")
        yield some, _in_order(measure.final(part), ("policy", "parameters", "seed"))[row, column]


def at_horizon(dataset: xarray.Dataset, cells: Frame, quartiles: bool = False) -> Frame:
    """Statistics over seeds of the regret at the horizon, for some rows of `cells_of`.

    Args:
      quartiles: whether there are the columns q25, median and q75.

    Returns:
      The cells, setting by setting, with num_seeds, mean, std, sem, lower95 and upper95: NaN for
      cells that have not run, deviations also for one seed.
    """
    import pandas

    names = ["mean", "std", "sem", *(["q25", "median", "q75"] if quartiles else [])]
    names += ["lower95", "upper95"]
    rows, index = [], []
    for some, final in by_setting(dataset, cells):
        index.extend(some.index)
        for variant, values in zip(some["variant"], final, strict=True):
            known = values[np.isfinite(values)]
            numbers = dict.fromkeys(names, (np.nan,))
            if len(known):
                end = some["horizon"].iloc[:1].to_numpy()
                numbers = Runs(variant, variant, end, known[:, None]).statistics()
            rows.append([len(known), *(float(numbers[name][0]) for name in names)])
    found = pandas.DataFrame(rows, columns=["num_seeds", *names], index=index)
    return cells.drop(columns="num_seeds").loc[index].join(found)


def at_checkpoints(dataset: xarray.Dataset, cells: Frame, last: bool = False) -> Frame:
    """Statistics of regret at each checkpoint, from the blocks, for some rows of `cells_of`.

    Args:
      last: whether only the last checkpoint of each cell is wanted.

    Returns:
      The cells, each repeated for its checkpoints, with t, mean, std, sem, lower95, upper95.
    """
    columns = {name: f"regret_{name}" for name in ("mean", "std", "sem")}
    return with_interval95(values_at(dataset, cells, columns, last))


def values_at(
    dataset: xarray.Dataset, cells: Frame, columns: Mapping[str, str], last: bool = False
) -> Frame:
    """Some cells, each repeated for its checkpoints, with t and further columns; `columns` has
    their variables, other arguments are as for `at_checkpoints`."""
    width, kind = dataset.sizes.get("checkpoint", 1), measure_of(dataset).dimension
    rows = np.asarray(cells.index)
    times = values_in(dataset, "t", (*CELL, "checkpoint")).reshape(-1, width)
    t = times[rows // dataset.sizes.get(kind, 1)]
    known = np.isfinite(t)
    if last:
        known &= np.cumsum(known, axis=1) == known.sum(axis=1, keepdims=True)
    row, at = np.nonzero(known)
    found = cells.iloc[row].assign(t=t[row, at].astype(np.int64))
    for name, variable in columns.items():
        values = values_in(dataset, variable, (*CELL, kind, "checkpoint")).reshape(-1, width)
        found[name] = values[rows[row], at]
    return found


def with_interval95(frame: Frame) -> Frame:
    """The table with columns lower95 and upper95, the ends of the 95 % intervals of its means."""
    quantiles = {seeds: t95(seeds) for seeds in frame["num_seeds"].unique()}
    half = frame["num_seeds"].map(quantiles) * frame["sem"]
    return frame.assign(lower95=frame["mean"] - half, upper95=frame["mean"] + half)


def with_text(frame: Frame) -> Frame:
    """The table with labels as text in place of categories, and delays as whole numbers."""
    axes = axes_of("policy", "setting", "measure")
    labels = {axis.column: str for axis in axes if axis.words and axis.column in frame}
    return frame.astype({**labels, "delay": np.int64})


def values_in(dataset: xarray.Dataset, name: str, dimensions: Sequence[str]) -> np.ndarray:
    """A variable with these dimensions, even if one of them was selected away."""
    return _in_order(dataset[name], dimensions)


def _in_order(array: xarray.DataArray, dimensions: Sequence[str]) -> np.ndarray:
    """The values of an array with these dimensions, even if one of them was selected away."""
    array = array.expand_dims([one for one in dimensions if one not in array.dims])
    return array.transpose(*dimensions).values


def _labels(dataset: xarray.Dataset, name: str) -> list[Any]:
    """The values of a coordinate, even if it has become a scalar."""
    return np.atleast_1d(dataset[name].values).tolist()


def _known(dataset: xarray.Dataset, name: str) -> np.ndarray:
    """The values of a coordinate of numbers, or of texts: then None where it does not apply."""
    return np.array([None if value == "" else value for value in _labels(dataset, name)])


def _values_for(one: Any, axis: Axis, known: Sequence[Any]) -> list[Any]:
    """The values of an axis that a name or a number stands for."""
    found = [value for value in known if value == one]
    if axis.words is None:
        if not found:
            there = ", ".join(map(short, sorted(set(known))))
            raise InputError(
                f"the sweep has no {axis.name} {short(one)}: its {axis.name}s are {there}."
            )
        return found
    found = found or [value for value in known if value.partition("(")[0] == one]
    if not found:
        raise unknown_name(axis.noun, one, known)
    return found


def _parts(label: str) -> dict[str, float | str]:
    """The parameters of a label; numbers are compared by value, not by spelling."""
    parts: dict[str, float | str] = {}
    for part in re.split(r",\s*", label):
        if part.strip():
            key, _, value = part.partition("=")
            parts[key.strip()] = number_or_text(value.strip())
    return parts


def _defaults(policy: str) -> dict[str, float | str]:
    """The parameters of a policy without a label, if it is registered."""
    known = registry.parameters(policy) if policy in registry.names() else {}
    return _parts(parameters_label({**known, "delay": 1}))
