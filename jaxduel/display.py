"""How objects show themselves: arrays by dtype and shape, small tables in HTML for notebooks, and
the names of a package that tab completion offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import ModuleType
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

_LONGEST = 6
"""Most entries of an array that are shown one by one."""


def array_text(value: Any) -> str:
    """An array, traced or not, by dtype and shape: `float32[3,5]`. What is none by its `repr`."""
    if not hasattr(value, "dtype"):  # what a transformation of pytrees puts in its place
        return repr(value)
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


def value_text(value: Any) -> str:
    """A parameter as text: numbers by the shortest decimals that give their 32 bits, arrays that
    are traced, long or stacked by dtype and shape."""
    if not is_known(value):
        return array_text(value)
    if isinstance(value, float | np.floating):
        return repr(float(str(np.float32(value))))
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray | jax.Array):
        array = np.asarray(value)
        if array.ndim == 0:
            return value_text(array[()])
        if array.ndim == 1 and array.size <= _LONGEST:
            return f"[{', '.join(map(value_text, array))}]"
        return array_text(array)
    return repr(value)


def is_known(value: Any) -> bool:
    """Whether an array has numbers: it is neither traced nor its memory given away."""
    if isinstance(value, Tracer | jax.ShapeDtypeStruct):
        return False
    return not (isinstance(value, jax.Array) and value.is_deleted())


def listed(arms: Sequence[int], most: int = 8) -> str:
    """Arms by their numbers, the first of them where there are many."""
    more = f" and {len(arms) - most} more" if len(arms) > most else ""
    return ", ".join(map(str, arms[:most])) + more


def html_table(
    caption: str, rows: Sequence[Sequence[str]], header: Sequence[str] | None = None
) -> str:
    """A table in HTML, without scripts or styles; all text is escaped.

    Args:
      caption: what stands above it.
      rows: of text; the first entry of each is its heading.
      header: headings of the columns; none if None.
    """
    parts = [f"<table><caption>{escape(caption)}</caption>"]
    if header is not None:
        cells = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
        parts.append(f"<tr>{cells}</tr>")
    for heading, *texts in rows:
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        parts.append(f'<tr><th scope="row">{escape(heading)}</th>{cells}</tr>')
    return "\n".join([*parts, "</table>"])


def exported(namespace: Mapping[str, Any], modules: Sequence[str] = ()) -> list[str]:
    """The public names of a package, sorted: neither private ones nor the modules behind them.

    Args:
      namespace: the package's `globals()`.
      modules: modules that are public all the same.
    """
    return sorted(
        name
        for name, value in namespace.items()
        if name in modules or not (name.startswith("_") or isinstance(value, ModuleType))
    )
