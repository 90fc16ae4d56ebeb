"""Preference matrices from a user's files: .npy, .npz, .csv and .txt."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from jaxduel.errors import InputError
from jaxduel.problems.dueling import DuelingProblem, from_matrix

SUFFIXES = (".npy", ".npz", ".csv", ".txt")
"""The endings of the names of files that can be read."""

_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")


def from_file(path: str | os.PathLike[str], key: str | None = None) -> DuelingProblem:
    """A problem from a file that holds a preference matrix; its name is the file's.

    Args:
      path: a file of one of the kinds of `read_matrix`.
      key: which array of an .npz file to take; may be left out where there is only one.

    Raises:
      InputError: the file cannot be read, or its content is no preference matrix (`from_matrix`).
    """
    return from_matrix(read_matrix(path, key), name=Path(path).name)


def read_matrix(path: str | os.PathLike[str], key: str | None = None) -> np.ndarray:
    """The array in a file, not validated.

    .npy and .npz are NumPy's; arrays of Python objects (pickles) are refused. .csv and .txt hold
    one row per line, entries separated by commas, semicolons or white space; "#" starts a comment,
    empty lines are skipped, and so is a header: a first line that holds no number, or the arms'
    numbers 0..K-1 or 1..K above a matrix that is square without them.

    Args:
      path: the file.
      key: which array of an .npz file to take.

    Returns:
      The array, for text files (rows, columns) float64.

    Raises:
      InputError: no such file, another kind of file, or no array in it.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"file '{path}' is of an unknown kind: {', '.join(SUFFIXES)} files can be read."
        )
    try:
        if path.suffix.lower() in (".npy", ".npz"):
            return _read_numpy(path, key)
        return _read_text(path)
    except FileNotFoundError:
        raise InputError(f"file '{path}' does not exist.") from None
    except OSError as error:
        raise InputError(f"file '{path}' cannot be read: {error.strerror or error}.") from None


def _read_numpy(path: Path, key: str | None) -> np.ndarray:
    with path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if not start.startswith((b"\x93NUMPY", b"PK")):
            raise InputError(
                f"file '{path}' is no NumPy file: a matrix saved with numpy.save or numpy.savez, "
                "without pickling, is needed."
            )
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            with loaded:
                return np.asarray(loaded[_chosen(path, loaded.files, key)])
        except (InputError, OSError):
            raise
        except Exception as error:  # zipfile, zlib and NumPy each have errors of their own
            what = "holds pickled objects" if "pickle" in str(error) else "is damaged"
            raise InputError(
                f"file '{path}' {what}: an array of numbers saved by NumPy is needed."
            ) from None


def _chosen(path: Path, keys: list[str], key: str | None) -> str:
    if key is None and len(keys) == 1:
        return keys[0]
    if key in keys:
        return key
    held = ", ".join(f"'{name}'" for name in keys) or "none"
    asked = "which one is not said" if key is None else f"none is called '{key}'"
    raise InputError(f"file '{path}' holds the arrays {held} and {asked}: pass key=NAME.")


def _read_text(path: Path) -> np.ndarray:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"file '{path}' is no text: rows of numbers are needed.") from None
    rows: list[list[float]] = []
    first = True
    for number, line in enumerate(lines, start=1):
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        header, first = first, False
        entries = _SEPARATORS.split(content)
        if header and not any(_is_number(entry) for entry in entries):
            continue
        wrong = [entry for entry in entries if not _is_number(entry)]
        if wrong:
            raise InputError(
                f"file '{path}' has '{wrong[0][:20]}' in line {number}: "
                "a matrix has rows of numbers only."
            )
        if rows and len(entries) != len(rows[0]):
            raise InputError(
                f"file '{path}' has {len(entries)} entries in line {number} but {len(rows[0])} in "
                "its first row: all rows of a matrix are of one length."
            )
        rows.append([float(entry) for entry in entries])
    if not rows:
        raise InputError(f"file '{path}' holds no matrix: rows of numbers are needed.")
    return _without_arm_numbers(np.array(rows, dtype=np.float64))


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
