"""The commands `jaxduel list`, `check` and `bounds`: names, and what is known of a problem."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Literal

from tyro.conf import Positional

import jaxduel as jd
from jaxduel.cli.numbers import Count


def list_names(what: Positional[Literal["all", "policies", "problems", "papers"]] = "all") -> int:
    """List policies with their parameters, problems, and papers that can be reproduced.

    Args:
      what: what to list.
    """
    if what in ("all", "policies"):
        print("policies (parameters are set with --set NAME=VALUE):")
        for name in jd.policies.names():
            print(f"  {name:<9} {jd.policies.describe(name)}")
            print(f"  {'':<9} {_parameters(name)}")
    if what in ("all", "problems"):
        print("problems, or .npy, .npz, .csv, .txt files (NAME[1,5,9] takes arms, counted from 1):")
        for entry in jd.problems.entries():
            print(f"  {entry.line()}")
        print("  gaussian[0.6,0.5]          arms with normal rewards of those means, deviation 1")
        print("  bernoulli[0.6,0.5]         arms with rewards 0 and 1 of those means")
    if what in ("all", "papers"):
        from jaxduel.experiments import papers

        print("papers:")
        for name, title in papers.TITLES.items():
            print(f"  {name:<16} {title}")
    return 0


def check(problem: Positional[str], key: str | None = None) -> int:
    """Report on a problem: whether it is valid, its winners, assumptions and gaps.

    Args:
      problem: a .npy, .npz, .csv or .txt file, or a name (`jaxduel list problems`).
      key: which array of an .npz file.
    """
    for line in jd.problems.examine(jd.problems.load(problem, key)).lines():
        print(line)
    return 0


def bounds(problem: str, horizon: Count | None = None, batches: Count | None = None) -> int:
    """Print what is proved of the regret on a problem: constants of log T, with their sources.

    Args:
      problem: name of the problem (`jaxduel list problems`), or a file.
      horizon: T, for the bounds of batched policies, together with their number of batches.
      batches: B.
    """
    from jaxduel.policies.checks import require_horizon

    require_horizon(horizon, "bounds")
    for line in jd.theory.bounds(jd.problems.load(problem), horizon, batches).lines():
        print(line)
    return 0


def _parameters(name: str) -> str:
    """The parameters of a policy with their defaults; the horizon is an option of its own."""
    known = jd.policies.parameters(name).items()
    parts = [
        key if default is MISSING else f"{key}={default}"
        for key, default in known
        if key != "horizon"
    ]
    return ", ".join(parts) or "no parameters"
