"""Labels of a sweep's cells in figures: the facet and the curve of each cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from jaxduel import policies
from jaxduel.errors import InputError
from jaxduel.runs import problem_parts
from jaxduel.studies.sweep.axes import AXES, FAMILY, OF_PROBLEMS, axis_of, plain_name
from jaxduel.studies.sweep.reading.cells import Frame
from jaxduel.studies.sweep.reading.layout import measure_of
from jaxduel.studies.tables import short

MOST_FACETS = 48


def family_of(problem: str, apart: Collection[str] = ()) -> str:
    """The name of a problem without the parameters `apart`: "btl(instance=0)" without num_arms."""
    what, settings = problem_parts(problem)
    rest = [f"{name}={value}" for name, value in settings if name not in apart]
    return f"{what}({', '.join(rest)})" if rest else what


def labelled(
    cells: Frame,
    names: Sequence[str],
    axes: Collection[str],
    facet: str | None,
    *,
    horizons_apart: bool = True,
    lasting: Collection[str] = (),
) -> list[Frame]:
    """The cells of each facet, in the order of its values, with columns for tables and for figures:
    facet and title; curve and label of each cell's curve, "dts[alpha=0.6], T = 1e6" and "D-TS,
    alpha = 0.6, T = 10^6"; and setting, the parts of the setting that are not on the axes.

    Facets are the values of the axis asked for, or else problems and, if `horizons_apart`, horizons
    that differ; and definitions of regret, if they differ. Labels have the other values that
    distinguish cells, except the single horizons of `lasting` policies.
    """
    from jaxduel.plotting.words import policy_words

    apart = [facet] if facet else [*_problem_axis(cells, axes), *["horizon"] * horizons_apart]
    apart += ["definition"] if facet != "definition" and "definition" in cells else []
    apart = [a for a in apart if a not in axes and (a == facet or _varies(cells, a))]
    used = {*axes, *apart}
    ranks = [ranks_of(cells[axis]) for axis in apart]
    groups = [some for _, some in cells.groupby([*ranks, np.zeros(len(cells))])]
    require_few(len(groups))
    others: set[str] = {"horizon"} if any(_varies(some, "horizon") for some in groups) else set()
    if not {"problem", FAMILY.name} & used:
        found = [(some, axis) for some in groups for axis in _problem_axis(some, used)]
        others |= {axis for some, axis in found if _varies(some, axis)}
    others |= {"rule"} if "rule" in cells and _varies(cells, "rule") else set()
    beside = [axis.name for axis in (FAMILY, *AXES) if axis.name in others - used]
    free = [name for name in names if name not in used and "parameters" not in used]
    varied = [name for name in free if cells[name].nunique() > 1]
    inside = {
        policy: [name for name in free if name in varied or _varies(own, name)]
        for policy, own in cells.groupby("policy", observed=True)
    }

    clock = measure_of(cells).clock
    words, in_titles = partial(_in_words, clock=clock), partial(_shown, clock=clock)

    def besides(cell: dict[str, Any]) -> list[str]:
        return [a for a in beside if a != "horizon" or cell["policy"] not in lasting]

    def label(cell: dict[str, Any]) -> str:
        known = [name for name in inside[cell["policy"]] if cell[name] is not None]
        values = ", ".join(_in_words(name, cell[name]).replace(" = ", "=") for name in known)
        policy = f"{cell['policy']}[{values}]" if values else cell["policy"]
        return ", ".join([policy, *(words(axis, cell[axis]) for axis in besides(cell))])

    def shown(cell: dict[str, Any]) -> str:
        known = [name for name in inside[cell["policy"]] if cell[name] is not None]
        known += [n for n in free if n not in known and _is_told(cell["policy"], n, cell[n])]
        values = {plain_name(name): cell[name] for name in known}
        policy = policy_words(cell["policy"], values)
        return ", ".join([policy, *(in_titles(axis, cell[axis]) for axis in besides(cell))])

    settings = [a for a in (*apart, *beside) if axis_of(a).part in ("setting", "measure")]
    found = []
    for some in groups:
        records = some.to_dict("records")
        found.append(
            some.assign(
                facet=", ".join(words(axis, some[axis].iloc[0]) for axis in apart),
                title=", ".join(in_titles(axis, some[axis].iloc[0]) for axis in apart),
                curve=[label(cell) for cell in records],
                label=[shown(cell) for cell in records],
                setting=[", ".join(in_titles(a, cell[a]) for a in settings) for cell in records],
            )
        )
    return found


def lasting(cells: Frame) -> set[str]:
    """The policies that do not depend on the horizon."""
    known = {name for name in cells["policy"].unique() if name in policies.names()}
    return {name for name in known if "horizon" not in policies.parameters(name)}


def _is_told(policy: str, name: str, value: Any) -> bool:
    """True if labels show a parameter's value even if it is the same everywhere: numbers of
    batches, and values other than the default."""
    if value is None or policy not in policies.names():
        return False
    name = plain_name(name)
    if name == "delay":
        return value != 1
    return name == "num_batches" or policies.parameters(policy).get(name, value) != value


def _shown(axis: str, value: Any, clock: str) -> str:
    """A value of an axis in the title of a figure: "K = 8", "T = 10^6", "D-TS"."""
    from jaxduel.plotting.words import setting_words

    known = axis_of(axis)
    if known.words:
        return known.words(_in_words(axis, value))
    if value is None:
        return _in_words(axis, value)
    name = clock if axis == "horizon" else plain_name(known.column)
    return setting_words(name, value)


def _problem_axis(cells: Frame, used: Collection[str]) -> list[str]:
    """The axis that distinguishes problems: their names; if properties such as K are used, their
    names without them; none if the properties alone distinguish them and no name has several."""
    own = [axis.name for axis in OF_PROBLEMS if axis.name in used]
    if not own:
        return ["problem"]
    pairs = cells[[FAMILY.name, *own]].drop_duplicates()
    alone = len(pairs) == pairs[FAMILY.name].nunique() == len(pairs[own].drop_duplicates())
    return [] if alone else [FAMILY.name]


def _varies(cells: Frame, axis: str) -> bool:
    return cells[axis].nunique(dropna=False) > 1


def ranks_of(column: Frame) -> list[int]:
    """Ranks of values: numbers increasing, others in order of appearance, None last."""
    numbers = [value for value in column if isinstance(value, int | float)]
    words = [value for value in column if isinstance(value, str)]
    order = {v: i for i, v in enumerate(dict.fromkeys([*sorted(numbers), *words, None]))}
    return [order[value] for value in column]


def require_few(count: int) -> None:
    """Raises InputError for more facets than a figure can have."""
    if count > MOST_FACETS:
        raise InputError(
            f"a figure would have {count} sets of axes, more than {MOST_FACETS}: choose policies, "
            "problems or horizons, or another facet."
        )


def _in_words(axis: str, value: float | str | None, clock: str = "T") -> str:
    """A value of an axis in a title: "K = 8", "T = 1e6", "arxiv", "alpha = 0.6"."""
    if axis_of(axis).words:
        return str(value) or f"no {axis}"
    if value is None:
        return f"without {axis}"
    name = clock if axis == "horizon" else plain_name(axis)
    return f"{name} = {value if isinstance(value, str) else short(value)}"
