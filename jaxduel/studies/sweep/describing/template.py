"""A small study to begin with: a grid, a matrix, an analysis and the commands of all steps."""

from __future__ import annotations

import os
from pathlib import Path

from jaxduel.errors import InputError, shorten
from jaxduel.studies.output import OutputFolder

SOURCE = Path(__file__).parent / "examples" / "study"
"""The folder that is copied."""


def write_study(folder: str | os.PathLike[str]) -> list[Path]:
    """Writes the files of the study into a new folder, or an empty one.

    Args:
      folder: the folder; it is created, with its parents.

    Returns:
      The paths of the files.

    Raises:
      InputError: if the folder has files already, or cannot be created or written.
    """
    files = OutputFolder(folder)
    if any(files.path.iterdir()):
        raise InputError(
            f"the folder '{shorten(str(files.path), 300)}' is not empty: a study takes a new or an "
            "empty folder."
        )
    for path in sorted(SOURCE.iterdir()):
        if path.is_file():  # not the folder of bytecode that installers make
            files.write(path.name, path.read_bytes())
    return files.files
