"""Preference matrices from a user's files: .npy, .npz, .csv and .txt."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import as_path, utf8_name, why
from jaxduel.problems.dueling import MAX_ARMS, DuelingProblem, from_matrix

SUFFIXES = (".npy", ".npz", ".csv", ".txt")
"""The endings of the names of files that can be read."""

MAX_MIB = 512
"""The largest file that is read, in MiB, before and after it is unpacked."""

_LONGEST_LINE = MAX_ARMS * 64
_KEYS_SHOWN = 10
_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")
_SHARE = re.compile(r"[\d.]+\s*%|\d+\s*/\s*\d+")
"""A percentage or a fraction, which is no number here but makes no header either."""


def from_file(path: str | os.PathLike[str], key: str | None = None) -> DuelingProblem:
    """A problem from a file that holds a preference matrix; its name is the file's.

    Args:
      path: a file of one of the kinds of `read_matrix`.
      key: the array of an .npz file to take; may be left out where there is only one.

    Raises:
      InputError: the file cannot be read, its name is not UTF-8, or its content is no preference
        matrix (`from_matrix`).

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> np.savetxt("rankers.csv", [[0.5, 0.7], [0.3, 0.5]], delimiter=",")
      >>> jd.problems.from_file("rankers.csv")
      DuelingProblem('rankers.csv', K=2, Condorcet winner 0, smallest gap 0.2)
    """
    path = as_path(path, "from_file")
    return from_matrix(read_matrix(path, key), name=utf8_name(path.name))


def read_matrix(path: str | os.PathLike[str], key: str | None = None) -> np.ndarray:
    """The array in a file, not validated.

    .npy and .npz are NumPy's; arrays of Python objects (pickles) are refused. .csv and .txt hold
    one row per line, entries separated by commas, semicolons or white space; "#" starts a comment,
    empty lines are skipped, and so is a header: a first line that holds no number, or the number
    of arms alone, or the arms' numbers 0..K-1 or 1..K above a matrix that is square without them.
    The names of a header may stand before the rows, too, in the same order. Blanks on the diagonal
    are 1/2, with a warning. Only regular files of up to `MAX_MIB` MiB with up to `MAX_ARMS` columns
    are read.

    Args:
      path: the file.
      key: the array of an .npz file to take.

    Returns:
      The array, for text files (rows, columns) float64.

    Raises:
      InputError: no such file, another kind of file, no array in it, or too large a one.
    """
    path = as_path(path, "read_matrix")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{_file(path)} is of an unknown kind: {', '.join(SUFFIXES)} files can be read."
        )
    if key is not None and suffix != ".npz":
        raise InputError(f"{_file(path)} has no arrays with keys: only .npz files have.")
    try:
        _require_size(path, path.stat())
        array = _read_numpy(path, key) if suffix in (".npy", ".npz") else _read_text(path)
    except FileNotFoundError:
        raise InputError(f"{_file(path)} does not exist.") from None
    except OSError as error:
        raise InputError(f"{_file(path)} cannot be read: {why(error)}.") from None
    _require_few_arms(path, max(array.shape, default=0))
    return array


def _file(path: Path) -> str:
    return f"file '{shorten(str(path), 300)}'"


def _require_size(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or device"
        raise InputError(f"{_file(path)} cannot be read: it is {what}, not a regular file.")
    _require_few_bytes(path, status.st_size)


def _require_few_bytes(path: Path, size: int) -> None:
    if size > MAX_MIB << 20:
        raise InputError(
            f"{_file(path)} holds {size >> 20:,} MiB: matrices of at most {MAX_MIB} MiB can be "
            "read."
        )


def _require_few_arms(path: Path, columns: int) -> None:
    if columns > MAX_ARMS:
        raise InputError(
            f"{_file(path)} has {columns:,} columns or rows: matrices of at most {MAX_ARMS:,} arms "
            "can be read."
        )


def _read_numpy(path: Path, key: str | None) -> np.ndarray:
    with path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if not start.startswith((b"\x93NUMPY", b"PK")):
            raise InputError(
                f"{_file(path)} is no NumPy file: a matrix saved with numpy.save or numpy.savez, "
                "without pickling, is needed."
            )
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            with loaded:
                chosen = _chosen(path, loaded.files, key)
                for member in loaded.zip.infolist():
                    if member.filename in (chosen, f"{chosen}.npy"):
                        _require_few_bytes(path, member.file_size)
                return np.asarray(loaded[chosen])
        except (InputError, OSError):
            raise
        except Exception as error:  # zipfile, zlib and NumPy each have errors of their own
            what = "holds pickled objects" if "pickle" in str(error) else "is damaged"
            raise InputError(
                f"{_file(path)} {what}: an array of numbers saved by NumPy is needed."
            ) from None


def _chosen(path: Path, keys: list[str], key: str | None) -> str:
    if key is None and len(keys) == 1:
        return keys[0]
    if key in keys:
        return key
    if not keys:
        raise InputError(f"{_file(path)} holds no array: a matrix saved by NumPy is needed.")
    held = ", ".join(f"'{shorten(name)}'" for name in keys[:_KEYS_SHOWN])
    if len(keys) > _KEYS_SHOWN:
        held += f" and {len(keys) - _KEYS_SHOWN} more"
    asked = "which one is not said" if key is None else f"none is called '{shorten(str(key))}'"
    raise InputError(f"{_file(path)} holds the arrays {held} and {asked}: choose one by its key.")


def _read_text(path: Path) -> np.ndarray:
    rows: list[np.ndarray] = []
    names: list[str] = []
    count = ""
    first, blank = True, False
    for number, line in _lines(path):
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        header, first = first, False
        if "," in content and ";" in content:
            raise InputError(
                f"{_file(path)} has both commas and semicolons in line {number}: decimals are "
                "written with points, as in 0.5."
            )
        entries = _entries(content)
        _require_few_arms(path, max(len(entries), len(rows)))
        if header and len(entries) == 1 and entries[0].isdecimal():
            count = entries[0]
            continue
        if header and not any(_is_number(one) or _SHARE.fullmatch(one) for one in entries):
            names = entries
            continue
        if entries[0] and entries[0] in names:
            name, *entries = entries
            if [name] != names[-len(entries) :][len(rows) : len(rows) + 1]:
                raise InputError(
                    f"{_file(path)} has '{shorten(name)}' before row {len(rows) + 1}, in line "
                    f"{number}: names of rows are those of the columns, in the same order."
                )
        if "" in entries[len(rows) : len(rows) + 1]:
            entries[len(rows)], blank = "0.5", True
        row = _numbers(path, number, entries)
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{_file(path)} has {len(row)} entries in line {number} but {len(rows[0])} in "
                "its first row: all rows of a matrix are of one length."
            )
        rows.append(row)
    if not rows:
        raise InputError(f"{_file(path)} holds no matrix: rows of numbers are needed.")
    if count and count.lstrip("0") != str(len(rows)):
        raise InputError(
            f"{_file(path)} has {shorten(count)} alone in its first line, which is not the number "
            f"of its rows, {len(rows):,}."
        )
    if blank:
        warn_caller(f"{_file(path)} has blanks on its diagonal, which are read as 1/2.")
    return _without_arm_numbers(np.array(rows))


def _numbers(path: Path, number: int, entries: list[str]) -> np.ndarray:
    try:
        return np.array([float(entry) for entry in entries])
    except ValueError:
        wrong = next(entry for entry in entries if not _is_number(entry))
        hint = ", such as 0.5 for 50 % or 1/2" if _SHARE.fullmatch(wrong) else ""
        raise InputError(
            f"{_file(path)} has '{wrong[:20]}' in line {number}: "
            f"a matrix has rows of numbers only{hint}."
        ) from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file, none of which is long."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE and not line.endswith("\n"):
                    raise InputError(
                        f"{_file(path)} has more than {_LONGEST_LINE:,} characters in line "
                        f"{number}: matrices of at most {MAX_ARMS:,} arms can be read."
                    )
                yield number, line
    except UnicodeDecodeError:
        raise InputError(f"{_file(path)} is no text: rows of numbers are needed.") from None


def _entries(content: str) -> list[str]:
    for separator in ",;":
        if separator in content:
            entries = [entry.strip() for entry in content.split(separator)]
            mixed = any(len(entry.split()) > 1 for entry in entries)
            return _SEPARATORS.split(content) if mixed else entries
    return content.split()


def _is_number(entry: str) -> bool:
    try:
        float(entry)
    except ValueError:
        return False
    return True


def _without_arm_numbers(table: np.ndarray) -> np.ndarray:
    rows, columns = table.shape
    if rows == columns + 1:
        numbers = np.arange(columns)
        if np.array_equal(table[0], numbers) or np.array_equal(table[0], numbers + 1):
            return table[1:]
    return table
