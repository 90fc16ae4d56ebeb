"""Reproductions of papers, a folder each: `figures` has the panels as data, `claims` what the text
says of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jaxduel.errors import unknown_name

if TYPE_CHECKING:
    from jaxduel.experiments.papers.paper import Paper
    from jaxduel.experiments.reproduction import Report

TITLES = {
    "batched-dueling": "Batched Dueling Bandits (Agarwal, Ghuge and Nagarajan, ICML 2022)",
    "double-thompson": "Double Thompson Sampling for Dueling Bandits (Wu and Liu, NIPS 2016)",
    "copeland-dueling": (
        "Copeland Dueling Bandits (Zoghi, Karnin, Whiteson and de Rijke, NIPS 2015)"
    ),
    "copeland-rmed": (
        "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and "
        "Computationally Efficient Algorithm (Komiyama, Honda and Nakagawa, ICML 2016)"
    ),
    "batched-mab": "Batched Multi-armed Bandits Problem (Gao, Han, Ren and Zhou, NeurIPS 2019)",
    "double-etc": "Double Explore-then-Commit (Jin, Xu, Xiao and Gu, COLT 2021)",
    "winner-stays": "Dueling Bandits with Weak Regret (Chen and Frazier, ICML 2017)",
    "best-of-both": (
        "Versatile Dueling Bandits: Best-of-both World Analyses for Learning from Relative "
        "Preferences (Saha and Gaillard, ICML 2022)"
    ),
    "many-arms": (
        "MergeRUCB (Zoghi, Whiteson and de Rijke, WSDM 2015), MergeDTS (Li, Markov, de Rijke and "
        "Zoghi, TOIS 2020) and REX3 (Gajane, Urvoy and Clerot, ICML 2015) on many arms"
    ),
    "testification": (
        "Testification of Condorcet Winners in Dueling Bandits (Haddenhorst, Bengs, Brandt and "
        "Huellermeier, UAI 2021)"
    ),
}
"""Titles by the papers' names on the command line, for listings that import no paper; folders have
underscores for hyphens."""


def names() -> tuple[str, ...]:
    """The papers' names on the command line."""
    return tuple(TITLES)


def load(name: str) -> Paper:
    """A paper, with `TITLE`, `panels` and `reproduce`.

    Raises:
      InputError: if there is no paper of that name; it suggests the nearest.
    """
    if name not in TITLES:
        raise unknown_name("paper", name, TITLES)
    module = f"jaxduel.experiments.papers.{name.replace('-', '_')}.figures"
    return importlib.import_module(module).PAPER


def reproduce(paper: str, **order: Any) -> Report:
    """Makes the figures of a paper and measures its claims.

    Args:
      paper: one of `names()`.
      **order: the arguments of `Paper.reproduce`, such as `figure`, `full`, `runs` and `out`.

    Returns:
      The report: the files written, the claims with their verdicts, and the numbers as text.

    Raises:
      InputError: for an unknown paper, or as `Paper.reproduce`.

    Example:
      >>> import jaxduel as jd
      >>> jd.reproduce("batched-duelling")
      Traceback (most recent call last):
        ...
      jaxduel.errors.InputError: unknown paper 'batched-duelling': known are batched-dueling, ...
    """
    return load(paper).reproduce(**order)
