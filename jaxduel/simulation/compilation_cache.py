"""`use_compilation_cache`: keeps compiled programs on disk for later processes."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import why
from jaxduel.simulation.program_folder import ProgramFolder

VARIABLE = "JAXDUEL_CACHE"
"""The environment variable that names the folder, or is `off`."""
OFF = "off"
MOST_BYTES = 512 * 2**20

_folder: ProgramFolder | None = None


def use_compilation_cache(
    folder: str | os.PathLike[str] | None = None, *, most_bytes: int = MOST_BYTES
) -> None:
    """Keeps the compiled programs of simulations on disk, where later processes find them.

    Compiling a policy's loops takes seconds to tens of seconds, loading them a tenth of a second;
    the numbers are the same, bit for bit. The command line does this by default. A program is found
    again by the same versions of the package, Python and JAX, on the same kind of processor, for a
    policy with as many arms. Policies of your own are kept too. Any number of processes of one user
    may share a folder; files that are damaged are compiled anew. Programs are pickles: a folder
    that is another user's, or that others may write to, is not used, nor is one that cannot be
    written; one warning says so.

    Where JAX's own persistent cache is in use (`jax_compilation_cache_dir`), simulations use only
    that one.

    Args:
      folder: where programs are kept. If None, the folder that the environment variable
        JAXDUEL_CACHE names, else `jaxduel/programs` in the user's cache folder. `"off"`, here or in
        the variable, keeps none. Folders that are made on the way have mode 0700.
      most_bytes: largest size of the folder; the least recently used programs are removed.

    Raises:
      InputError: if `most_bytes` is not a whole number of at least 0, or `folder` no path.

    Example:
      >>> import jaxduel as jd
      >>> jd.use_compilation_cache()
    """
    global _folder
    if isinstance(most_bytes, bool) or not isinstance(most_bytes, int) or most_bytes < 0:
        raise InputError(
            f"most_bytes must be a whole number of at least 0, not {shorten(repr(most_bytes))}."
        )
    if not isinstance(folder, str | os.PathLike | None) or folder == "":
        raise InputError(f"folder must be a path, 'off' or None, not {shorten(repr(folder))}.")
    chosen = os.environ.get(VARIABLE) or None if folder is None else os.fspath(folder)
    if chosen == OFF:
        _folder = None
        return
    root = _default() if chosen is None else Path(chosen).expanduser()
    _folder = ProgramFolder(root, f"jaxlib-{version('jaxlib')}", most_bytes)


def current() -> ProgramFolder | None:
    """The folder in use; None if programs are not kept."""
    return _folder


def warn_of_failure() -> None:
    """Warns if programs cannot be written, and does not try again."""
    global _folder
    folder = _folder
    if folder is not None and folder.failure is not None:
        _folder = None
        warn_caller(
            f"compiled programs cannot be kept in '{shorten(str(folder.root), 300)}' "
            f"({why(folder.failure)}), so that every process compiles: set {VARIABLE} to another "
            f"folder, or to '{OFF}'."
        )


def _default() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("jaxduel")) / "programs"
