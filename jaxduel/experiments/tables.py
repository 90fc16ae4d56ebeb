"""Tables as text and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; floats are written in full, so that they read back to the same bits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(
        [repr(float(entry)) if isinstance(entry, float) else entry for entry in row] for row in rows
    )
    return file.getvalue()


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines of text: the first column aligned left, the others right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [entry.rjust(width) for entry, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return [line(header), *(line(row) for row in rows)]
