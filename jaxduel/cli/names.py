"""The commands `jaxduel list`, `describe`, `check` and `bounds`: facts about policies, problems and
papers."""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal

from tyro.conf import Positional

import jaxduel as jd
from jaxduel.cli.lines import in_one_line, say, write
from jaxduel.cli.options import MaybeCount, MaybeName, Name
from jaxduel.errors import InputError, shorten

_UNLISTED = {
    "gaussian[0.6,0.5]": "arms with normal rewards of those means, deviation 1",
    "bernoulli[0.6,0.5]": "arms with rewards 0 and 1 of those means",
    "piecewise[A,1e4,B]": "problem A for 10,000 comparisons or pulls, then B",
}
"""Examples of problems outside the catalogue, with descriptions."""
_PARTLESS = {name.partition("[")[0] for name in _UNLISTED}
_NAMES_WIDTH = 24
"""Longest row of names of policies, a paper's."""


def list_names(what: Positional[Literal["all", "policies", "problems", "papers"]] = "all") -> int:
    """List policies, problems and papers; describe says more of each.

    Args:
      what: kind of names to list.
    """
    lists = {"policies": _policies, "problems": _problems, "papers": _papers}
    for kind, lines in lists.items():
        if what in ("all", kind):
            for line in lines():
                write(in_one_line(line))
    write("(more of each: jaxduel describe NAME)")
    return 0


def describe(name: Positional[Name]) -> int:
    """Describe a policy, a problem, or a paper.

    Args:
      name: a name (`jaxduel list`), or the file of a problem.
    """
    from jaxduel.studies.papers import TITLES, load

    if name in jd.policies.names():
        say(_policy(name))
    elif name in TITLES:
        from jaxduel.studies.papers import report

        say(report.lines(load(name)))
    elif name in _PARTLESS.union(jd.problems.names()) or set("[." + os.sep) & set(name):
        say(_problem(name))  # or an error that says which parts are missing
    else:
        known = (*jd.policies.names(), *jd.problems.names(), *TITLES)
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'? All are" if near else "they are"
        raise InputError(
            f"unknown policy, problem or paper '{shorten(name)}': {hint} in jaxduel list."
        )
    return 0


def check(problem: Positional[Name], key: MaybeName = None) -> int:
    """Report on a problem: is it valid, its winners, assumptions, gaps.

    Args:
      problem: a .npy, .npz, .csv or .txt file, or a name (`jaxduel list problems`).
      key: name of an array in an .npz file.
    """
    say(_reported(jd.problems.load(problem, key)))
    return 0


def bounds(problem: Name, horizon: MaybeCount = None, batches: MaybeCount = None) -> int:
    """Print proven bounds on the regret on a problem, with sources.

    Args:
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, for the bounds of batched policies, together with their number of batches.
      batches: B.
    """
    from jaxduel.policies.checks import require_horizon

    require_horizon(horizon, "bounds")
    say(jd.theory.bounds(jd.problems.load(problem), horizon, batches).lines())
    return 0


def _policies() -> Iterator[str]:
    from jaxduel.policies import report

    for kind, papers in report.by_paper().items():
        yield f"policies, {kind}:"
        rows = [
            (textwrap.wrap(", ".join(names), _NAMES_WIDTH, break_on_hyphens=False), paper)
            for paper, names in papers.items()
        ]
        width = max(len(names[-1]) for names, _ in rows)
        for (*before, last), paper in rows:
            yield from (f"  {names}" for names in before)
            yield f"  {last:<{width}}  {paper}"


def _problems() -> Iterator[str]:
    yield "problems (or files: .npy, .npz, .csv, .txt; NAME[1,5,9] takes arms, from 1):"
    for entry in jd.problems.entries():
        yield f"  {entry.name:<25} {f'K={entry.num_arms}':<5} {entry.what}"
    for name, what in _UNLISTED.items():
        yield f"  {name:<25}       {what}"


def _papers() -> Iterator[str]:
    from jaxduel.studies.papers import TITLES

    yield "papers:"
    for name, title in TITLES.items():
        yield f"  {name:<16} {title}"


def _policy(name: str) -> list[str]:
    facts, proved = jd.policies.describe(name).facts(), jd.theory.proved(name)
    values = "(their values: jaxduel bounds --problem NAME)"
    more = [("proved", "; ".join(proved)), values] if proved else []
    return replace(facts, rows=[*facts.rows, *more]).lines()


def _problem(name: str) -> Iterator[str]:
    problem = jd.problems.load(name)
    if isinstance(problem, jd.problems.PiecewiseProblem):
        yield from _reported(problem)
        return
    facts = jd.problems.examine(problem).facts()
    entry = next((each for each in jd.problems.entries() if each.name == name), None)
    more = []
    if entry is not None:
        downloaded = "; downloaded, or found in $JAXDUEL_DATA" if entry.downloaded else ""
        more = [("what", entry.what), ("source", f"{entry.source}{downloaded}")]
    proved = f"(what is proved: jaxduel bounds --problem {shlex.quote(name)})"
    yield from replace(facts, rows=[*more, *facts.rows, proved]).lines()


def _reported(problem: Any) -> Iterator[str]:
    """The report on a problem, or on each of its stretches, line by line."""
    changes = isinstance(problem, jd.problems.PiecewiseProblem)
    for one in problem.stretches if changes else (problem,):
        yield from jd.problems.examine(one).lines()
