"""Text and HTML of values: arrays by dtype and shape, facts in lines and tables, and the public
names of a package for tab completion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from types import ModuleType
from typing import Any
from unicodedata import combining, east_asian_width

import jax
import numpy as np
from jax.core import Tracer

from jaxduel.errors import printable, shorten

_LONGEST = 6
"""Longest array whose entries are all shown."""
_MOST_LISTED = 8
_LONGEST_NAME = 48
"""Most characters of an arm's name in a line, where names that are cut still differ."""


def array_text(value: Any) -> str:
    """An array, traced or not, by dtype and shape: `float32[3,5]`; anything else by its `repr`."""
    if not hasattr(value, "dtype"):  # a placeholder of a pytree transformation
        return repr(value)
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


def bytes_text(size: int) -> str:
    """A number of bytes to four digits, in the largest unit of which it is at least one."""
    units = "bytes", "KiB", "MiB", "GiB", "TiB"
    power = min((max(size, 1).bit_length() - 1) // 10, len(units) - 1)
    return f"{size / 1024**power:.4g} {units[power]}"


def value_text(value: Any) -> str:
    """A parameter as text: floats by the shortest decimals that round to the same float32; traced,
    long or multidimensional arrays by dtype and shape."""
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
    """True if the values of an array can be read: it is not traced, abstract or deleted."""
    if isinstance(value, Tracer | jax.ShapeDtypeStruct):
        return False
    return not (isinstance(value, jax.Array) and value.is_deleted())


def listed(things: Sequence[Any], most: int = _MOST_LISTED) -> str:
    """Things such as arms as text, separated by commas: the first few, then how many more."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(str, things[:most])) + more


def counted(number: float, one: str, many: str = "") -> str:
    """A number of things: `1 cell`, or `2 cells`; `many` is their plural if it has no s alone."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def columns_of(text: str) -> int:
    """Columns that a text takes on a terminal: wide letters and emoji two, accents apart none."""
    return sum(0 if combining(x) else 1 + (east_asian_width(x) in "WF") for x in printable(text))


def padded(text: str, width: int) -> str:
    """A text with spaces up to so many columns of a terminal."""
    return text + " " * (width - columns_of(text))


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Names safe to print, long ones cut in the middle to `most` characters; names that would then
    be alike also get their number, from 1.

    Example:
      >>> from jaxduel.display import told_apart
      >>> told_apart(["ada", "gpt-4-turbo-2024-04-09", "gpt-4-2024-04-09"], 12)
      ['ada', 'gpt-4-…04-09 #2', 'gpt-4-…04-09 #3']
    """
    ends = most // 2 - 1
    safe = [printable(name) for name in names]
    cut = [
        name if len(name) <= most else f"{name[: most - ends - 1]}…{name[-ends:]}" for name in safe
    ]
    alike = Counter(cut)
    return [name if alike[name] == 1 else f"{name} #{number}" for number, name in enumerate(cut, 1)]


def range_text(numbers: Collection[int]) -> str:
    """The least and the largest of whole numbers: "10 to 1,000", or "10" if they are the same."""
    return " to ".join(f"{number:,}" for number in dict.fromkeys([min(numbers), max(numbers)]))


def arms_text(arms: Sequence[int]) -> str:
    """Arms, `listed`: `arm 3`, or `arms 0, 1`."""
    return f"arm{'s' * (len(arms) > 1)} {listed(arms)}"


@lru_cache(maxsize=16)
def short_names(arms: tuple[str, ...]) -> list[str]:
    """Names of arms that are safe to print, and short unless short ones would be alike."""
    safe = [printable(name) for name in arms]
    short = [shorten(name, _LONGEST_NAME) for name in safe]
    return short if len(set(short)) == len(set(safe)) else safe


def html_table(
    caption: str, rows: Sequence[Sequence[str]], header: Sequence[str] | None = None
) -> str:
    """A table in HTML, without scripts or styles; all text is escaped.

    Args:
      caption: text above the table.
      rows: rows of text; the first entry of each is its heading.
      header: column headings; none if None.
    """
    parts = [f"<table><caption>{escape(caption)}</caption>"]
    if header is not None:
        cells = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
        parts.append(f"<tr>{cells}</tr>")
    for heading, *texts in rows:
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        parts.append(f'<tr><th scope="row">{escape(heading)}</th>{cells}</tr>')
    return "\n".join([*parts, "</table>"])


@dataclass(frozen=True)
class Facts:
    """Facts about a thing, under a title."""

    title: str
    rows: Sequence[tuple[str, str | None] | str | Facts]
    """Names and values, without values of None; lines of text; and facts with a title of their
    own."""
    width: int = 0
    """Fewest columns of the names."""

    def lines(self) -> list[str]:
        """The facts as text: the values below each other, all that belongs to a title indented."""
        pairs = [row for row in self.rows if isinstance(row, tuple) and row[1] is not None]
        width = max([self.width, *(len(name) for name, _ in pairs)])
        text = [self.title]
        for row in self.rows:
            if isinstance(row, Facts):
                text += [f"  {line}" for line in row.lines()]
            elif isinstance(row, str):
                text.append(f"  {row}")
            elif row[1] is not None:
                text.append(f"  {row[0]:<{width}}  {row[1]}")
        return text

    def html(self) -> str:
        """The facts as a table in HTML."""
        return html_table(self.title, list(self._table()))

    def _table(self) -> Iterator[Sequence[str]]:
        for row in self.rows:
            if isinstance(row, Facts):
                yield [row.title]
                yield from row._table()
            elif isinstance(row, str):
                yield [row]
            elif row[1] is not None:
                yield row[0], row[1]


class Report:
    """A report, shown by its facts: as text where it is printed, as a table in notebooks."""

    def facts(self) -> Facts:
        """The facts that are shown."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """The report as text, one fact per line."""
        return self.facts().lines()

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return self.facts().html()


def exported(namespace: Mapping[str, Any], modules: Sequence[str] = ()) -> list[str]:
    """The public names in a package's `globals()`, sorted; of modules those listed alone."""
    return sorted(
        name
        for name, value in namespace.items()
        if name in modules or not (name.startswith("_") or isinstance(value, ModuleType))
    )
