"""A folder for results, checked to be writable before anything is computed, and names of
files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jaxduel.errors import InputError, shorten
from jaxduel.files import escaped, require_writable_folder, why, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
_LONGEST = 100
_PLAIN = re.compile(r"[^A-Za-z0-9.,+=_\[\]-]")


class OutputFolder:
    """A folder for results. Files appear in it complete or not at all.

    Attributes:
      path: the folder; it is created, with its parents.
      files: the files written so far, in order.

    Raises:
      InputError: when built, if the folder cannot be created or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.files: list[Path] = []
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            said = shorten(str(self.path), 300)
            raise InputError(
                f"the output folder '{said}' cannot be created: {why(error)}."
            ) from None
        require_writable_folder(self.path)

    def write(self, name: str, content: bytes | str) -> Path:
        """Writes or replaces a file in one step, and returns its path."""
        path = self.path / name
        write_whole(path, content)
        if path not in self.files:
            self.files.append(path)
        return path

    def write_figure(self, name: str, figure: Figure, numbers: str | None = None) -> list[Path]:
        """Writes NAME.png, NAME.pdf and, with its numbers, NAME.csv, and returns their paths."""
        from jaxduel import plotting

        png, pdf = plotting.png(figure), plotting.pdf(figure)
        paths = [self.write(f"{name}.png", png), self.write(f"{name}.pdf", pdf)]
        if numbers is not None:
            paths.append(self.write(f"{name}.csv", numbers))
        return paths


def named_after(stem: str, **chosen: Sequence[object]) -> str:
    """A file name without its suffix: the stem, then the choices, such as
    curves-t-problem=arxiv,gap-policy=dts.

    Different choices have different names: a name with replaced letters, or one cut short, ends in
    a digest of the whole.

    Args:
      stem: beginning of the name.
      **chosen: values by the name of a choice; empty choices are left out.
    """
    parts = [f"{key}={','.join(map(str, some))}" for key, some in chosen.items() if some]
    whole = "-".join([stem, *parts])
    name = _PLAIN.sub("_", whole)[:_LONGEST]
    if name == whole:
        return name
    return f"{name}-{hashlib.sha256(escaped(whole)).hexdigest()[:8]}"
