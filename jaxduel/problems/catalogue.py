"""The catalogue of instances of the papers, by name, and `load`, which also reads files and makes
arms with rewards.

Every name also has its submatrices: "mslr-informational[1,5,9]" is the instance with arms 1, 5 and
9 only, counted from 1 as in the papers. "D-TS" is Wu and Liu (2016), "Double Thompson Sampling for
Dueling Bandits".
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jaxduel.errors import InputError, shorten, unknown_name
from jaxduel.problems import arena, generators, printed
from jaxduel.problems.arms import ArmsProblem, bernoulli, gaussian
from jaxduel.problems.downloads import mslr_matrix, sushi_matrix
from jaxduel.problems.dueling import DuelingProblem, from_matrix
from jaxduel.problems.files import SUFFIXES, from_file
from jaxduel.problems.piecewise import PiecewiseProblem, piecewise, require_problem

_SUBMATRIX = re.compile(r"(.+)\[([^\[\]]*)\]")
_LAWS = {"gaussian": gaussian, "bernoulli": bernoulli}
_ARMS = re.compile(r"(gaussian|bernoulli)(?:\[([^\[\]]*)\])?")
_PIECES = re.compile(r"piecewise(?:\[(.*)\])?")
_BETWEEN = re.compile(r",(?![^\[]*\])")
"""A comma that is not within brackets."""


@dataclasses.dataclass(frozen=True)
class CatalogueEntry:
    """One instance of the catalogue.

    Example:
      >>> import jaxduel as jd
      >>> entry = jd.problems.entries()[0]
      >>> entry.name, entry.num_arms, entry.source
      ('arxiv', 6, 'D-TS table 3')
      >>> entry.downloaded
      False
    """

    name: str
    """The name that `load` takes."""
    num_arms: int
    """K."""
    what: str
    """A description, in half a line."""
    source: str
    """Paper and table, or place, that its numbers come from."""
    downloaded: bool
    """True if its numbers are a file to be found or downloaded (`jaxduel.problems.downloads`)."""
    build: Callable[[], DuelingProblem] = dataclasses.field(repr=False)
    """Makes the instance."""


def _tabulated(
    name: str, table: tuple[tuple[float, ...], ...], what: str, source: str
) -> CatalogueEntry:
    return CatalogueEntry(name, len(table), what, source, False, lambda: from_matrix(table, name))


def _mslr(click_model: str, what: str) -> CatalogueEntry:
    name = f"mslr-{click_model.lower()}"
    source = "Zoghi et al. 2015, MSLR data"
    return CatalogueEntry(
        name, 136, what, source, True, lambda: from_matrix(mslr_matrix(click_model), name)
    )


def _mslr_subset(name: str, what: str) -> CatalogueEntry:
    arms = [arm - 1 for arm in printed.MSLR_SUBSETS[name]]

    def build() -> DuelingProblem:
        whole = mslr_matrix("Informational")
        return from_matrix(whole[np.ix_(arms, arms)], name)

    return CatalogueEntry(name, len(arms), what, "D-TS table 9, of mslr-informational", True, build)


def _arena(
    name: str,
    num_arms: int,
    preferences: Callable[[], tuple[np.ndarray, tuple[str, ...]]],
    what: str,
) -> CatalogueEntry:
    def build() -> DuelingProblem:
        matrix, models = preferences()
        return from_matrix(matrix, name, arms=models)

    source = "Chatbot Arena 2024-08-14 via github suquark/leaderbot"
    return CatalogueEntry(name, num_arms, what, source, True, build)


_ENTRIES = (
    _tabulated(
        "arxiv",
        printed.ARXIV,
        "six rankers of ArXiv's search engine, one tied pair, no SST",
        "D-TS table 3",
    ),
    CatalogueEntry(
        "sushi",
        16,
        "16 kinds of sushi, totally ordered",
        "Kamishima 2003 via github zw-cao/dueling_bandits",
        True,
        lambda: from_matrix(sushi_matrix(), "sushi"),
    ),
    _tabulated(
        "cyclic",
        printed.CYCLIC,
        "a Condorcet winner above a strong 3-cycle",
        "D-TS table 1, Komiyama et al. 2016 table 2",
    ),
    _tabulated(
        "strong-borda",
        printed.STRONG_BORDA,
        "a Condorcet winner that is not the Borda winner",
        "D-TS table 2",
    ),
    _tabulated(
        "gap",
        printed.GAP,
        "where the bounds of ECW-RMED and CW-RMED lie far apart",
        "D-TS table 4, from Komiyama et al. 2016",
    ),
    CatalogueEntry(
        "arithmetic",
        8,
        "p_ij = 0.5 + 0.05 (j - i)",
        "Komiyama's duelingbanditlib",
        False,
        generators.arithmetic,
    ),
    _tabulated(
        "mslr5-condorcet",
        printed.MSLR5_CONDORCET,
        "five MSLR rankers with a Condorcet winner",
        "D-TS table 7, 3 decimals",
    ),
    _tabulated(
        "mslr5-noncondorcet",
        printed.MSLR5_NONCONDORCET,
        "five MSLR rankers, three Copeland winners",
        "D-TS table 8, 3 decimals",
    ),
    _tabulated(
        "noncondorcet-cyclic",
        printed.NONCONDORCET_CYCLIC,
        "three groups of three, Copeland scores 6, 4, 2",
        "D-TS table 6",
    ),
    _tabulated(
        "noncondorcet-strong-borda",
        printed.NONCONDORCET_STRONG_BORDA,
        "a Copeland winner that loses to the Borda winner",
        "D-TS table 5",
    ),
    _mslr("Informational", "rankers, informational clicks, no Condorcet winner"),
    _mslr("Navigational", "rankers, navigational clicks"),
    _mslr("Perfect", "rankers, perfect clicks"),
    _mslr_subset("mslr16-condorcet", "rankers with a Condorcet winner"),
    _mslr_subset("mslr32-condorcet", "rankers with a Condorcet winner"),
    _mslr_subset("mslr16-noncondorcet", "rankers, three Copeland winners"),
    _mslr_subset("mslr32-noncondorcet", "rankers, two Copeland winners"),
    CatalogueEntry(
        "copeland500",
        500,
        "three Copeland winners in a cycle; the gaps, all 0.1, are jaxduel's choice",
        "Zoghi et al. 2015 as described by D-TS D.1.2",
        False,
        generators.copeland_cycle,
    ),
    _arena("arena31", 31, arena.core_preferences, "chatbots, 100 votes a pair or more, no SST"),
    _arena("arena129", 129, arena.btl_preferences, "chatbots, preferences by BTL strengths"),
)
_BY_NAME = {entry.name: entry for entry in _ENTRIES}


def names() -> tuple[str, ...]:
    """The names of the catalogue.

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.names()[:3]
      ('arxiv', 'sushi', 'cyclic')
    """
    return tuple(_BY_NAME)


def entries() -> tuple[CatalogueEntry, ...]:
    """The catalogue, with each instance's size, description and source.

    Example:
      >>> import jaxduel as jd
      >>> [entry.name for entry in jd.problems.entries() if entry.num_arms <= 5]
      ['cyclic', 'strong-borda', 'gap', 'mslr5-condorcet', 'mslr5-noncondorcet']
    """
    return _ENTRIES


def load(name_or_path: str | os.PathLike[str], key: str | None = None) -> Any:
    """An instance of the catalogue, arms with rewards, or a matrix read from a file.

    Args:
      name_or_path: a name of the catalogue; "gaussian[0.6,0.5]" or "bernoulli[0.6,0.5]" for arms
        with rewards of these means (Gaussian ones have standard deviation 1);
        "piecewise[gap,10000,strong-borda]" for the first for 10,000 comparisons, or pulls, then the
        second, and so on (`piecewise`); else the path of a .npy, .npz, .csv or .txt file
        (`jaxduel.problems.files`). Names of matrices and paths may be followed by arms, counted
        from 1, as in "mslr-informational[1,5,9]".
      key: the array of an .npz file to take; may be left out where there is only one.

    Returns:
      A `DuelingProblem`, an `ArmsProblem` for arms with rewards or a `PiecewiseProblem`, named as
      it was asked for (a file by its name without the folder). In all of them arms are numbered
      0..K-1.

    Raises:
      InputError: neither a name nor a file, a file that holds no preference matrix, arms that do
        not exist, means that are no numbers or out of range, pieces that do not fit, or an instance
        that must be downloaded and cannot.

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.load("arxiv")
      DuelingProblem('arxiv', K=6, Condorcet winner 0, smallest gap 0.01)
      >>> jd.problems.load("arxiv[3,1]").condorcet_winner  # its arms 0 and 1 are arxiv's 2 and 0
      1
      >>> jd.problems.load("bernoulli[0.6,0.5]").best_arms
      (0,)
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(
            "load takes the name of a problem or the path of a file, not one of type "
            f"{type(name_or_path).__name__}: jaxduel.problems.from_matrix takes a matrix."
        )
    text = os.fsdecode(name_or_path)
    if "\0" in text:
        raise InputError("load: no name of a problem and no path holds a NUL character.")
    path = Path(os.path.expanduser(text))
    is_file = os.path.isfile(path)
    is_path = is_file or path.suffix.lower() in SUFFIXES or os.sep in text
    if text in _BY_NAME or not is_path or (not is_file and _PIECES.fullmatch(text)):
        return _named(text, key)
    if not is_file and (submatrix := _SUBMATRIX.fullmatch(text)):
        return _submatrix(text, key, *submatrix.groups())
    return from_file(path, key)


def as_problem(problem: Any, where: str) -> Any:
    """An instance, returned unchanged, or the one that `load` returns for a name or path.

    Raises:
      InputError: as `load`; for other arguments, such as a matrix, with `where` in front.
    """
    if isinstance(problem, str | os.PathLike):
        return load(problem)
    require_problem(problem, where)
    return problem


def pieces_of(text: str) -> tuple[list[str], list[int]] | None:
    """Instances and times in a name such as "piecewise[gap,10000,strong-borda]"; None for others.

    Raises:
      InputError: it names no instances with times between them.
    """
    if not (found := _PIECES.fullmatch(text)):
        return None
    parts = [part.strip() for part in _BETWEEN.split(found.group(1) or "")]
    try:
        times = [float(part) for part in parts[1::2]]
        whole = [int(time) for time in times]
    except (OverflowError, ValueError):
        whole = times = []
    if len(parts) < 3 or len(parts) % 2 == 0 or whole != times or not whole:
        raise InputError(
            f"'{shorten(text)}' does not name instances with the times of changes between them, as "
            "in piecewise[gap,10000,strong-borda]."
        )
    return parts[::2], whole


def _named(text: str, key: str | None) -> DuelingProblem | ArmsProblem | PiecewiseProblem:
    if arms := _ARMS.fullmatch(text):
        problem = _arms(text, *arms.groups())
    elif text in _BY_NAME:
        problem = dataclasses.replace(_BY_NAME[text].build(), name=text)
    elif pieces := pieces_of(text):
        problem = piecewise([load(name) for name in pieces[0]], pieces[1], text)
    elif submatrix := _SUBMATRIX.fullmatch(text):
        return _submatrix(text, key, *submatrix.groups())
    else:
        raise unknown_name("problem", text, (*_BY_NAME, *_LAWS, "piecewise"))
    if key is not None:
        raise InputError(f"'{shorten(text)}' has no arrays with keys: only .npz files have.")
    return problem


def _submatrix(text: str, key: str | None, base: str, arms: str) -> DuelingProblem:
    whole = load(base, key)
    if isinstance(whole, ArmsProblem):
        raise InputError(
            f"'{shorten(text)}' asks for some of the arms with rewards '{shorten(base)}': "
            "give their means instead."
        )
    return whole.submatrix(_parsed_arms(text, arms))


def _arms(text: str, law: str, means: str | None) -> ArmsProblem:
    try:
        values = [float(mean) for mean in (means or "").split(",")]
    except ValueError:
        raise InputError(
            f"'{shorten(text)}' does not give means: numbers separated by commas go in brackets, "
            f"as in {law}[0.6,0.5]."
        ) from None
    return _LAWS[law](values, name=text)


def _parsed_arms(text: str, arms: str) -> list[int]:
    try:
        return [int(arm) - 1 for arm in arms.split(",")]
    except ValueError:
        raise InputError(
            f"'{shorten(text)}' does not name arms: numbers from 1, separated by commas, go in the "
            "brackets."
        ) from None
