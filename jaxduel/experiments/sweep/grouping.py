"""Grouping of a sweep's cells into the facets and curves of a figure, with their labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from jaxduel.errors import InputError
from jaxduel.experiments.sweep.axes import Value, in_order, in_words, value_of
from jaxduel.experiments.sweep.readings import Reading

MOST_FACETS = 48


def facet_axes(cells: Sequence[Reading], used: Collection[str], facet: str | None) -> list[str]:
    """Names of the axes for whose values there are facets: the one asked for, or those that
    distinguish settings.

    Args:
      cells: all that are drawn.
      used: the horizontal and the vertical axis.
      facet: the axis asked for; None for problems and horizons that differ. Definitions of regret
        that differ are always among them.
    """
    axes = [facet] if facet else [*_problem_axis(cells, used), "horizon"]
    axes += ["definition"] if facet != "definition" else []
    return [a for a in axes if a not in used and (a == facet or _varies(cells, a))]


def label_axes(groups: Iterable[Sequence[Reading]], used: Collection[str]) -> list[str]:
    """Those of problem, family and horizon that distinguish cells of a facet and are not used."""
    axes: list[str] = []
    for group in groups:
        if not {"problem", "family"} & set(used):
            axes += [axis for axis in _problem_axis(group, used) if _varies(group, axis)]
        if "horizon" not in used and _varies(group, "horizon"):
            axes.append("horizon")
    return sorted(set(axes), key=["problem", "family", "horizon"].index)


def parameter_axes(cells: Sequence[Reading], used: Collection[str]) -> dict[str, list[str]]:
    """By policy, those of its parameters that differ between cells and are not used."""
    names = dict.fromkeys(name for cell in cells for name in cell.values)
    free = [name for name in names if name not in used and "parameters" not in used]
    varied = [name for name in free if _varies([c for c in cells if name in c.values], name)]
    axes: dict[str, list[str]] = {}
    for policy in dict.fromkeys(cell.variant.policy for cell in cells):
        own = [cell for cell in cells if cell.variant.policy == policy]
        axes[policy] = [n for n in free if n in varied or _varies(own, n)]
    return axes


def label_of(cell: Reading, parameters: dict[str, list[str]], others: Sequence[str]) -> str:
    """Label of a cell's curve in the legend: "dts[alpha=0.6], T = 1e6".

    Args:
      cell: one of the curve's cells.
      parameters: by policy, the parameters in the label.
      others: further axes in the label.
    """
    policy = cell.variant.policy
    inside = [
        in_words(name, cell.values[name]).replace(" = ", "=")
        for name in parameters[policy]
        if name in cell.values
    ]
    label = f"{policy}[{', '.join(inside)}]" if inside else policy
    return ", ".join([label, *(in_words(axis, value_of(cell, axis)) for axis in others)])


def grouped(cells: Sequence[Reading], axes: Sequence[str]) -> dict[str, list[Reading]]:
    """The cells of each facet, by its title, in the order of the facets' values.

    Raises:
      InputError: if there are more than `MOST_FACETS`.
    """
    order = [
        {value: i for i, value in enumerate(in_order([value_of(cell, axis) for cell in cells]))}
        for axis in axes
    ]
    found: dict[tuple[Value, ...], list[Reading]] = {}
    for cell in cells:
        found.setdefault(tuple(value_of(cell, axis) for axis in axes), []).append(cell)
    keys = sorted(found, key=lambda key: [at[v] for at, v in zip(order, key, strict=True)])
    if len(keys) > MOST_FACETS:
        raise too_many(len(keys))
    titles = [", ".join(map(in_words, axes, key)) for key in keys]
    return {title: found[key] for title, key in zip(titles, keys, strict=True)}


def too_many(count: int) -> InputError:
    """An error for more than `MOST_FACETS` sets of axes."""
    return InputError(
        f"a figure would have {count} sets of axes, more than {MOST_FACETS}: choose policies, "
        "problems or horizons, or another facet."
    )


def _varies(cells: Sequence[Reading], axis: str) -> bool:
    return len({value_of(cell, axis) for cell in cells}) > 1


def _problem_axis(cells: Sequence[Reading], used: Collection[str]) -> list[str]:
    """The axis that distinguishes problems: their names; where K is used, their names without it;
    none if K alone distinguishes them and no name has several."""
    if "K" not in used:
        return ["problem"]
    arms: dict[Value, set[int]] = {}
    for cell in cells:
        arms.setdefault(value_of(cell, "family"), set()).add(cell.num_arms)
    single = all(len(some) == 1 for some in arms.values())
    if single and len(set.union(*arms.values())) == len(arms):
        return []
    return ["family"]
