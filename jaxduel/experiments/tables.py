"""Tables as text, and data frames as CSV and as Parquet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from jaxduel.errors import InputError
from jaxduel.files import spreadsheet_text

if TYPE_CHECKING:
    import pandas

Format = Literal["csv", "parquet"]


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
    """Raises InputError where a library is missing that files of a format need."""
    if to == "parquet" and find_spec("pyarrow") is None:
        raise InputError("Parquet needs pyarrow: pip install 'jaxduel[parquet]'.")


def encoded(frame: pandas.DataFrame, to: Format) -> bytes:
    """The bytes of a file with a table; in CSV floats are written in full, NaN as nothing, and
    texts for spreadsheets (`jaxduel.files.spreadsheet_text`)."""
    if to == "csv":
        texts = frame.select_dtypes(exclude=["number", "bool"])
        shown = frame.assign(**{name: texts[name].map(spreadsheet_text) for name in texts})
        shown = shown.rename(columns=spreadsheet_text)
        return shown.to_csv(index=False, lineterminator="\n").encode(errors="backslashreplace")
    file = io.BytesIO()
    frame.to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()
