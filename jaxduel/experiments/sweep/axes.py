"""Axes of a sweep's figures: the quantities that it varies, by the names that users give them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxduel.errors import unknown_name
from jaxduel.experiments.sweep.describing.entries import BATCHES
from jaxduel.experiments.sweep.numbers import number
from jaxduel.experiments.sweep.readings import Reading

Value = float | str | None
"""A value of an axis; None for a parameter that the policy does not have."""

_ALIASES = {
    "num_arms": "K",
    "arms": "K",
    "k": "K",
    "T": "horizon",
    "time": "t",
    "B": BATCHES,
    "batches": BATCHES,
    "regret": "definition",
}
_OF_CELLS = ("problem", "family", "K", "horizon", "definition", "policy", "parameters")
_WORDS = {"K": "arms $K$", "horizon": "horizon $T$", BATCHES: "batches $B$", "t": "comparisons $t$"}


def axis_name(name: str, readings: Sequence[Reading]) -> str:
    """The axis that a name stands for: "t", "problem", "K", "horizon", "definition", "policy",
    "parameters", or a parameter of a policy; "batches" and "B" are the number of batches.

    Raises:
      InputError: if there is none of that name.
    """
    parameters = {key for reading in readings for key in reading.values}
    known = {"t", *_OF_CELLS, *parameters} - {"family"}
    for one in (name, f"parameter_{name}", _ALIASES.get(name, name)):
        if one in known:
            return one
    raise unknown_name("axis of a figure", name, known)


def value_of(reading: Reading, axis: str) -> Value:
    """The value of a cell on an axis. "family" is the problem without its number of arms."""
    match axis:
        case "problem":
            return reading.setting.problem
        case "family":
            return family_of(reading.setting.problem)
        case "K":
            return reading.num_arms
        case "horizon":
            return reading.setting.horizon
        case "definition":
            return reading.setting.definition
        case "policy":
            return reading.variant.policy
        case "parameters":
            return reading.variant.parameters
    return reading.values.get(axis)


def family_of(problem: str) -> str:
    """The name of a problem without its number of arms: "btl(instance=0)"."""
    what, bracket, inside = problem.partition("(")
    if not bracket:
        return problem
    parts = [part for part in re.split(r",\s*", inside.removesuffix(")")) if part]
    rest = [part for part in parts if not part.startswith("num_arms=")]
    return f"{what}({', '.join(rest)})" if rest else what


def in_words(axis: str, value: Value) -> str:
    """A value of an axis in a title: "K = 8", "T = 1e6", "arxiv", "alpha = 0.6"."""
    if axis in ("problem", "family", "definition", "policy"):
        return str(value)
    if axis == "parameters":
        return str(value) or "no parameters"
    if value is None:
        return f"without {axis}"
    name = "T" if axis == "horizon" else axis.removeprefix("parameter_")
    return f"{name} = {number(value) if isinstance(value, int | float) else value}"


def axis_label(axis: str) -> str:
    """Label of an axis in a figure."""
    return _WORDS.get(axis, axis.removeprefix("parameter_"))


def in_order(values: Sequence[Value]) -> list[Value]:
    """Distinct values: numbers increasing, others as they come, None last."""
    distinct = list(dict.fromkeys(values))
    numbers = sorted(v for v in distinct if isinstance(v, int | float))
    words = [v for v in distinct if isinstance(v, str)]
    return [*numbers, *words, *([None] if None in distinct else [])]
