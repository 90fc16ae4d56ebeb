"""Numbers on the command line."""

from __future__ import annotations

from typing import Annotated

from tyro.constructors import PrimitiveConstructorSpec


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
