"""Rows of Parquet files; tables inside a row are columns such as a.b."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import IO

from jaxduel.errors import InputError
from jaxduel.votes.tables import text_of


class Parquet:
    """Rows of a Parquet file, read in parts.

    Raises:
      InputError: pyarrow is missing, or the file is damaged.
    """

    certain, sided = True, True
    unit, unfinished, undecided, remarks, nothing = "row", 0, (), (), "it has no row"

    def __init__(self, file: IO[bytes], name: str):
        if find_spec("pyarrow") is None:
            raise InputError(
                f"{name} is Parquet, which needs pyarrow: pip install 'jaxduel[parquet]'."
            )
        from pyarrow import ArrowException, types
        from pyarrow.parquet import ParquetFile

        try:
            self._file = ParquetFile(file)
            self.header: list[str] = []
            for field in self._file.schema_arrow:
                inside = list(field.type) if types.is_struct(field.type) else []
                self.header += [f"{field.name}.{inner.name}" for inner in inside] or [field.name]
        except (ArrowException, OSError) as error:
            said = " ".join(str(error).split()).rstrip(".")
            raise InputError(f"{name} is damaged: {said}.") from None
        self.place = 0

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each row."""
        names = [self.header[place] for place in wanted]
        for batch in self._file.iter_batches(columns=names):
            flat = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name, column in list(flat.items()):
                if hasattr(column, "flatten") and hasattr(column.type, "fields"):
                    inner = [f"{name}.{field.name}" for field in column.type]
                    flat.update(zip(inner, column.flatten(), strict=True))
            for row in zip(*(flat[name].to_pylist() for name in names), strict=True):
                self.place += 1
                yield tuple(map(text_of, names, row))
