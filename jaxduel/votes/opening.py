"""Files of votes as tables: unpacked, and read as the format that their beginning shows."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO

from jaxduel.errors import InputError, shorten
from jaxduel.files import why
from jaxduel.votes.delimited import Delimited
from jaxduel.votes.games import TAG, Games
from jaxduel.votes.parquet import Parquet
from jaxduel.votes.rankings import SUFFIXES, Rankings
from jaxduel.votes.records import Records
from jaxduel.votes.tables import Table

_BEGINNING = 4_096
"""Characters that tell formats apart."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PACKERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zX": lzma.open}
"""Functions that unpack files, by the bytes these begin with."""
_ENDINGS = (".gz", ".bz2", ".xz")
_UNKNOWN = {b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7z", b"Rar!": "rar"}
_MOST_LAYERS = 2
"""Most packers around a file, such as gzip inside a zip archive: archives may hold themselves."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
DEFAULT = "utf-8-sig"
"""Encoding of files, if none is given: UTF-8, with or without a mark at the beginning."""


@contextmanager
def opened(
    path: Path, file: str, encoding: str, names: Sequence[str], certain: bool
) -> Iterator[Table]:
    """The table of a file.

    Args:
      path: the file; may be packed by gzip, bzip2 or xz, or a zip archive of one file.
      file: its name, for messages.
      encoding: of the text. Bytes that are no text become surrogates: unused columns may have some.
      names: names of the columns of a file without a header.
      certain: True to read columns from all rows, not from the first alone.

    Raises:
      InputError: it cannot be read, while the table is used, too.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{file} is not a regular file: a file of votes is needed.")
        with path.open("rb") as packed, _unpacked(packed, path.name, file) as (content, name):
            start = content.read(4)
            content.seek(0)
            if start == b"PAR1":
                yield Parquet(content, file)
                return
            if start.startswith(_UTF16) and encoding == DEFAULT:
                raise InputError(
                    f"{file} is text in UTF-16: save it as UTF-8 (in Python encoding='utf-16')."
                )
            text = io.TextIOWrapper(content, encoding, "surrogateescape", newline="")
            yield _table(text, name, file, names, certain)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise InputError(f"{file} is damaged: it cannot be unpacked.") from None
    except (UnicodeError, LookupError):
        raise InputError(f"{file} is no text in {shorten(encoding)}.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {why(error)}.") from None


@contextmanager
def _unpacked(
    packed: IO[bytes], name: str, file: str, layers: int = _MOST_LAYERS
) -> Iterator[tuple[IO[bytes], str]]:
    """Bytes of a file, unpacked from at most so many layers, and its name there."""
    start = packed.read(4)
    packed.seek(0)
    if layers == 0 and (start in _ZIP or start.startswith(tuple(_PACKERS))):
        raise InputError(f"{file} is packed more than {_MOST_LAYERS} times: unpack it first.")
    unpack = next((f for first, f in _PACKERS.items() if start.startswith(first)), None)
    if unpack is not None:
        inner = next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)
        with unpack(packed) as content, _unpacked(content, inner, file, layers - 1) as unpacked:
            yield unpacked
    elif start in _UNKNOWN:
        raise InputError(
            f"{file} is packed by {_UNKNOWN[start]}: a plain file, or one packed by gzip, bzip2, "
            "xz or zip, is needed."
        )
    elif start in _ZIP:
        with zipfile.ZipFile(packed) as archive:
            files = (member for member in archive.infolist() if not member.is_dir())
            # what a Mac adds beside the file
            members = [member for member in files if not member.filename.startswith("__MACOSX/")]
            if len(members) != 1:
                raise InputError(
                    f"{file} is a zip archive, or a workbook, of {len(members)} files: one file of "
                    "votes is needed."
                )
            try:
                content = archive.open(members[0])
            except (RuntimeError, NotImplementedError) as error:
                raise InputError(f"{file} cannot be unpacked: {error}.") from None
            inner = members[0].filename
            with content, _unpacked(content, inner, file, layers - 1) as unpacked:
                yield unpacked
    else:
        yield packed, name


def _table(text: IO[str], name: str, file: str, names: Sequence[str], certain: bool) -> Table:
    beginning = text.read(_BEGINNING)
    text.seek(0)
    suffix = PurePath(name).suffix.lower()
    bare = beginning.lstrip("\ufeff \t\r\n")
    array = bare.startswith("[") and not TAG.match(bare)
    form: Table
    if suffix in SUFFIXES:
        form = Rankings(text, file, suffix)
    elif suffix == ".pgn" or TAG.match(bare):
        form = Games(text)
    elif array or bare.startswith("{"):
        form = Records(text, file, array, certain)
    else:
        return Delimited(text, file, names)
    if names:
        raise InputError(f"{file} names its columns: no names of columns can be given.")
    return form
