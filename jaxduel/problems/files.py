"""Preference matrices from a user's files: .npy, .npz, .csv and .txt."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import as_path, utf8_name, why
from jaxduel.problems.dueling import DuelingProblem, from_matrix
from jaxduel.problems.tables import file_text, read_table, require_few_arms

SUFFIXES = (".npy", ".npz", ".csv", ".txt")
"""The endings of the names of files that can be read."""

MAX_MIB = 512
"""The largest file that is read, in MiB, before and after it is unpacked."""

_KEYS_SHOWN = 10


def from_file(path: str | os.PathLike[str], key: str | None = None) -> DuelingProblem:
    """A problem from a file that holds a preference matrix; its name is the file's.

    Where every other entry is fine, a blank, NaN or 0 on the diagonal is 1/2, with a warning. Names
    of arms in a text file (`read_matrix`) are the problem's `arms`.

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
    array, arms = _read(path, key)
    matrix, blank = _with_diagonal(array)
    problem = from_matrix(matrix, name=utf8_name(path.name), arms=arms)
    if blank:
        warn_caller(f"{file_text(path)} has {blank} on its diagonal, which are read as 1/2.")
    return problem


def _with_diagonal(array: np.ndarray) -> tuple[np.ndarray, str]:
    """A square matrix with 1/2 for the blanks (NaN) and zeros on its diagonal, and their name."""
    if array.ndim != 2 or len(array) != len(array.T) or array.dtype.kind not in "biuf":
        return array, ""
    matrix = array.astype(np.float64)
    diagonal = np.diagonal(matrix)
    found = {"blanks": np.isnan(diagonal), "zeros": diagonal == 0}
    np.fill_diagonal(matrix, np.where(found["blanks"] | found["zeros"], 0.5, diagonal))
    return matrix, " and ".join(name for name, here in found.items() if here.any())


def read_matrix(path: str | os.PathLike[str], key: str | None = None) -> np.ndarray:
    """The array in a file, not validated.

    .npy and .npz are NumPy's; arrays of Python objects (pickles) are refused. .csv and .txt hold
    one row per line, entries separated by commas, semicolons or white space, with decimal points,
    or decimal commas unless commas separate; "#" starts a comment, and empty lines are skipped.
    Names of arms may stand above the rows, and before them in the same order, as pandas writes
    them. The first line may be K alone; numbers of arms from 0 or 1 on, in place of names, are
    dropped. Blanks on the diagonal are NaN. Only regular files of up to `MAX_MIB` MiB with up to
    `MAX_ARMS` columns are read.

    Args:
      path: the file.
      key: the array of an .npz file to take.

    Returns:
      The array, for text files (rows, columns) float64.

    Raises:
      InputError: no such file, another kind of file, no array in it, or too large a one.
    """
    return _read(as_path(path, "read_matrix"), key)[0]


def _read(path: Path, key: str | None) -> tuple[np.ndarray, list[str] | None]:
    """The array in a file, and the names of its arms, if it has any."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{file_text(path)} is of an unknown kind: {', '.join(SUFFIXES)} files can be read."
        )
    if key is not None and suffix != ".npz":
        raise InputError(f"{file_text(path)} has no arrays with keys: only .npz files have.")
    try:
        _require_size(path, path.stat())
        numpys = suffix in (".npy", ".npz")
        array, arms = (_read_numpy(path, key), None) if numpys else read_table(path)
    except FileNotFoundError:
        raise InputError(f"{file_text(path)} does not exist.") from None
    except OSError as error:
        raise InputError(f"{file_text(path)} cannot be read: {why(error)}.") from None
    require_few_arms(path, max(array.shape, default=0))
    return array, arms


def _require_size(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or device"
        raise InputError(f"{file_text(path)} cannot be read: it is {what}, not a regular file.")
    _require_few_bytes(path, status.st_size)


def _require_few_bytes(path: Path, size: int) -> None:
    if size > MAX_MIB << 20:
        raise InputError(
            f"{file_text(path)} holds {size >> 20:,} MiB: matrices of at most {MAX_MIB} MiB can be "
            "read."
        )


def _read_numpy(path: Path, key: str | None) -> np.ndarray:
    with path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if not start.startswith((b"\x93NUMPY", b"PK")):
            raise InputError(
                f"{file_text(path)} is no NumPy file: a matrix saved with numpy.save or "
                "numpy.savez, without pickling, is needed."
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
                f"{file_text(path)} {what}: an array of numbers saved by NumPy is needed."
            ) from None


def _chosen(path: Path, keys: list[str], key: str | None) -> str:
    if key is None and len(keys) == 1:
        return keys[0]
    if key in keys:
        return key
    if not keys:
        raise InputError(f"{file_text(path)} holds no array: a matrix saved by NumPy is needed.")
    held = ", ".join(f"'{shorten(name)}'" for name in keys[:_KEYS_SHOWN])
    if len(keys) > _KEYS_SHOWN:
        held += f" and {len(keys) - _KEYS_SHOWN} more"
    asked = "which one is not said" if key is None else f"none is called '{shorten(str(key))}'"
    raise InputError(
        f"{file_text(path)} holds the arrays {held} and {asked}: choose one by its key."
    )
