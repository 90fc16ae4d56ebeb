"""Numbers and tables as text, matrices as CSV, and data frames as CSV and as Parquet."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from jaxduel.errors import InputError, printable
from jaxduel.files import csv_text, spreadsheet_text

if TYPE_CHECKING:
    import numpy as np
    import pandas


_LARGE = 1e5
"""Numbers from here on have an exponent."""
_MOST_DECIMALS = 4
Format = Literal["csv", "parquet"]


def short(value: float) -> str:
    """A number as short text, exactly where it is whole: 1000, 0.51, 1e6, 2.5e6, 123457."""
    if value != value or math.isinf(value) or value != int(value):
        return f"{value:g}"
    plain = str(int(value))
    digits = plain.rstrip("0").lstrip("-")
    if len(plain) < 5 or len(plain) - len(digits) < 3:
        return plain
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    found = f"{'-' if value < 0 else ''}{mantissa}e{len(str(abs(int(value)))) - 1}"
    return found if len(found) < len(plain) else plain


def rounded(value: float, error: float) -> str:
    """A number to the second digit of its error: 12.3 for an error of 1.4, 1.2346e6 for 140."""
    if math.isnan(value):
        return "-"
    if not error > 0:  # 0 or unknown
        return _significant(value, 4)
    last = math.floor(math.log10(error)) - 1  # the power of ten of the last digit that is kept
    if abs(value) < _LARGE:
        return f"{value:.{min(max(0, -last), _MOST_DECIMALS)}f}"
    kept = math.floor(math.log10(abs(value))) - last + 1
    return _significant(value, min(max(kept, 2), 7))


def with_interval(value: float, half: float) -> str:
    """A mean and half the width of its interval: "12.3 ± 1.4", "(1.2346 ± 0.0014)e6"; "12.3 ± ?" if
    the width is unknown."""
    if math.isnan(half):
        return f"{rounded(value, half)} ± ?"
    largest = max(abs(value), half)
    if largest < _LARGE or not half > 0:
        return f"{rounded(value, half)} ± {rounded(half, half)}"
    power = math.floor(math.log10(largest))
    decimals = min(max(1, power - math.floor(math.log10(half)) + 1), 6)
    scaled = (f"{x / 10.0**power:.{decimals}f}" for x in (value, half))
    return f"({' ± '.join(scaled)})e{power}"


def _significant(value: float, digits: int) -> str:
    """A number with at most `digits` digits; with an exponent if it is large or tiny."""
    if value == 0 or 1e-3 <= abs(value) < _LARGE:
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows as lines of text: the first `left` columns aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [
            entry.ljust(width) if number < left else entry.rjust(width)
            for number, (entry, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return [line(header), *(line(row) for row in rows)]


def require_format(to: Format) -> None:
    """Raises InputError if a library that files of a format need is missing."""
    if to == "parquet" and find_spec("pyarrow") is None:
        raise InputError("Parquet needs pyarrow: pip install 'jaxduel[parquet]'.")


def matrix_text(names: Sequence[str], matrix: np.ndarray) -> str:
    """A matrix as CSV with names above and before it, each in one line, for `jaxduel check`.

    Example:
      >>> import numpy as np
      >>> from jaxduel.studies.tables import matrix_text
      >>> matrix_text(["ada", "bea"], np.array([[0.5, 0.7], [0.3, 0.5]])).splitlines()
      [',ada,bea', 'ada,0.5,0.7', 'bea,0.3,0.5']
    """
    safe = [printable(name) for name in names]
    rows = zip(safe, matrix.tolist(), strict=True)
    return csv_text(["", *safe], [[name, *row] for name, row in rows])


def encoded(frame: pandas.DataFrame, to: Format) -> bytes:
    """The bytes of a file with a table. In CSV, floats are written in full, NaN as nothing, and
    texts are safe for spreadsheets (`jaxduel.files.spreadsheet_text`)."""
    if to == "csv":
        texts = frame.select_dtypes(exclude=["number", "bool"])
        shown = frame.assign(**{name: texts[name].map(spreadsheet_text) for name in texts})
        shown = shown.rename(columns=spreadsheet_text)
        return shown.to_csv(index=False, lineterminator="\n").encode(errors="backslashreplace")
    file = io.BytesIO()
    frame.to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()
