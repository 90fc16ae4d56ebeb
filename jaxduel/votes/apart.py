"""Columns of many different entries, kept as numbers apart from the rest of a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator


def apart(
    rows: Iterable[tuple[str, ...]], numbers: array[int], required: bool = False
) -> Iterator[tuple[str, ...]]:
    """Rows without their last entry: of millions of votes by many voters few differ but for them.

    Args:
      rows: the rows.
      numbers: takes the number of each row's last entry, which counts up as entries are new; -1
        for a blank entry.
      required: True to keep rows whole whose last entry is blank, since they are wrong.

    Example:
      >>> from array import array
      >>> from jaxduel.votes.apart import apart
      >>> numbers = array("i")
      >>> list(apart([("ada", "bob", "v"), ("ada", "bob", "w"), ("bob", "ada", "v ")], numbers))
      [('ada', 'bob'), ('ada', 'bob'), ('bob', 'ada')]
      >>> numbers.tolist()
      [0, 1, 0]
    """
    known, append = {"": -1}, numbers.append
    for row in rows:
        number = known.get(row[-1])
        if number is None:
            number = known[row[-1]] = known.setdefault(row[-1].strip(), len(known) - 1)
        append(number)
        yield row[:-1] if number >= 0 or not required else row
