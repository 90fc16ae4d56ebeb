"""Reproductions of papers, one module each.

A module has `TITLE`, `FIGURES` (descriptions of its panels, by name such as "1a"; tables count as
figures) and `reproduce(figure, full, out, seed, runs, progress) -> Report`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from jaxduel.errors import unknown_name
from jaxduel.experiments.papers.titles import TITLES as TITLES

if TYPE_CHECKING:
    from jaxduel.experiments.reproduction import Report


class Paper(Protocol):
    """Interface of a paper's module."""

    TITLE: str
    FIGURES: dict[str, str]

    def reproduce(
        self,
        figure: str | None = None,
        full: bool = False,
        out: str | Path | None = None,
        seed: int = 0,
        runs: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """Makes the paper's figures and measures its claims."""
        ...


def names() -> tuple[str, ...]:
    """The papers' names on the command line."""
    return tuple(TITLES)


def load(name: str) -> Paper:
    """The module of a paper.

    Raises:
      InputError: if there is no paper of that name; it suggests the nearest.
    """
    if name not in TITLES:
        raise unknown_name("paper", name, TITLES)
    module = importlib.import_module(f"jaxduel.experiments.papers.{name.replace('-', '_')}")
    return cast(Paper, module)
