"""Numbers on the command line, and the parameters of policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from tyro.constructors import PrimitiveConstructorSpec

from jaxduel.errors import InputError
from jaxduel.policies import registry


def whole_number(text: str) -> int:
    """An integer written as 1000000, 1_000_000 or 1e6."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if "." in text or not number.is_integer():
        raise ValueError(f"{text} is not a whole number")
    return int(number)


Whole = Annotated[
    int,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: whole_number(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    ),
]


def settings_of(policy: str, settings: Sequence[str]) -> dict[str, Any]:
    """A policy's parameters from NAME=VALUE: numbers, true, false, or text where it takes text."""
    values: dict[str, Any] = {}
    known = registry.parameters(policy)
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name and equals and text):
            raise InputError(f"--set {setting}: NAME=VALUE is needed.")
        if isinstance(known.get(name), str):
            values[name] = text
        elif text.lower() in ("true", "false"):
            values[name] = text.lower() == "true"
        else:
            try:
                values[name] = _number(text)
            except ValueError:
                raise InputError(f"--set {setting}: {name} takes a number.") from None
    return values


def _number(text: str) -> int | float:
    try:
        return whole_number(text)
    except ValueError:
        return float(text)
