"""Results of parts of the seeds, joined."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from jaxduel.errors import InputError
from jaxduel.simulation.result import Result

_OF_A_PART = ("first_seed", "num_seeds", "lanes", "command")
"""Entries of `made_by` in which the parts of a run may differ."""
_ROWS = ("regret", "plays", "batches", "pairs", "outcomes")


def join(results: Iterable[Result]) -> Result:
    """One result of the seeds of several, which differ in `first_seed` and `num_seeds`.

    Args:
      results: of `jaxduel.simulate` with the same other arguments, in any order: each begins with
        the seed after the last one of another.

    Returns:
      What a single run of all these seeds returns, bit for bit as `simulate` says of `first_seed`.

    Raises:
      InputError: for results of different runs or code, or of seeds that do not follow on each
        other; or where not all seeds have rows (`table_budget`).

    Example:
      >>> import jaxduel as jd
      >>> policy, problem = jd.policies.make("rucb", num_arms=4), jd.problems.load("cyclic")
      >>> first = jd.simulate(policy, problem, 1000, num_seeds=20)
      >>> more = jd.simulate(policy, problem, 1000, num_seeds=30, first_seed=20)
      >>> jd.join([first, more]).num_seeds
      50
    """
    parts = list(results) if isinstance(results, Iterable) else []
    if not parts or not all(isinstance(part, Result) for part in parts):
        raise InputError("join needs a list of results, as jaxduel.simulate returns them.")
    if any(part.totals is not None for part in parts):
        raise InputError("join needs results with rows of all seeds: see table_budget.")
    parts.sort(key=lambda part: part.made_by.get("first_seed", 0))
    made = [json.loads(json.dumps({"first_seed": 0, **part.made_by})) for part in parts]
    differing = {
        name
        for name in set().union(*made).difference(_OF_A_PART)
        if any(one.get(name) != made[0].get(name) for one in made)
    }
    if differing:
        names = ", ".join(sorted(differing))
        raise InputError(f"join needs results that differ in their seeds alone, not in {names}.")
    for (one, before), (other, _) in pairwise(zip(made, parts, strict=True)):
        end = one["first_seed"] + before.num_seeds
        if other["first_seed"] != end:
            raise InputError(
                f"join needs seeds that follow on each other: one result ends before seed {end}, "
                f"and the next begins with {other['first_seed']}."
            )
    rows = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in _ROWS
        if getattr(parts[0], name) is not None
    }
    number = sum(part.num_seeds for part in parts)
    return replace(parts[0], **rows, made_by={**parts[0].made_by, "num_seeds": number})
