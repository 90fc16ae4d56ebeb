"""Reproductions of papers, a folder each: `figures` has the panels as data, `claims` the statements
of the text about them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jaxduel.errors import unknown_name
from jaxduel.studies.papers.titles import TITLES as TITLES

if TYPE_CHECKING:
    from jaxduel.studies.papers.paper import Paper
    from jaxduel.studies.papers.varying import OpenReport
    from jaxduel.studies.reproduction import Report


def names() -> tuple[str, ...]:
    """The papers' names on the command line."""
    return tuple(TITLES)


def load(name: str) -> Paper:
    """A paper: its panels and claims.

    Raises:
      InputError: if there is no paper of that name; the message suggests the nearest.
    """
    if name not in TITLES:
        raise unknown_name("paper", name, TITLES)
    module = f"jaxduel.studies.papers.{name.replace('-', '_')}.figures"
    return importlib.import_module(module).PAPER


def open_choices(paper: str, claim: str, **order: Any) -> OpenReport:
    """Measures claims of a paper over the choices that its text leaves open.

    Args:
      paper: one of `names()`.
      claim: the number of a claim, from 1, or "all" for all claims with open choices.
      **order: further arguments of `papers.varying.measure_open`: full, out, seed, runs, progress
        and horizon.

    Returns:
      The report: files written, the claims at each value, and numbers as text.

    Raises:
      InputError: for an unknown paper, a claim without open choices, or an order that cannot be
        carried out.

    Example:
      >>> from jaxduel.studies import papers
      >>> papers.open_choices("many-arms", "1")
      Traceback (most recent call last):
        ...
      jaxduel.errors.InputError: many-arms: no claim has an open choice.
    """
    from jaxduel.studies.papers import varying

    return varying.measure_open(load(paper), claim, **order)


def reproduce(paper: str, **order: Any) -> Report:
    """Makes the figures of a paper and measures its claims.

    Args:
      paper: one of `names()`.
      **order: further arguments of `papers.reproducing.reproduce`: figure, full, out, seed, runs,
        progress, horizon, num_arms and decide.

    Returns:
      The report: files written, claims with their verdicts, and numbers as text.

    Raises:
      InputError: for an unknown paper, or an order that cannot be carried out.

    Example:
      >>> import jaxduel as jd
      >>> jd.reproduce("batched-duelling")
      Traceback (most recent call last):
        ...
      jaxduel.errors.InputError: unknown paper 'batched-duelling' (did you mean ...
    """
    from jaxduel.studies.papers import reproducing

    return reproducing.reproduce(load(paper), **order)
