"""Checks of the arguments of `reproduce`, and plans of the panels whose data are available."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jaxduel.errors import InputError, warn_caller
from jaxduel.experiments.plans import Plan
from jaxduel.policies.checks import require_horizon


def require_request(paper: str, seed: int, runs: int | None, horizon: int | None) -> None:
    """Raises InputError unless the seed, the number of runs and the horizon can be used.

    Args:
      paper: name of the paper, for the message.
      seed: root of all randomness, from 0 to 2^32 - 1.
      runs: at least 1, or None for the default.
      horizon: a whole number from 1 to 2^31 - 1, or None for the default.
    """
    if runs is not None and runs < 1:
        raise InputError(f"runs must be at least 1, not {runs}.")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed must be from 0 to 2^32 - 1, not {seed}.")
    if horizon is not None:
        require_horizon(horizon, paper)


def plans_at_hand(
    panels: Sequence[str], what: Mapping[str, str], plan: Callable[[str], Plan]
) -> tuple[list[Plan], list[str]]:
    """Plans of the panels whose data are available.

    Args:
      panels: names of the panels asked for.
      what: by panel, its content in words.
      plan: makes the plan of a panel, or raises InputError if its data are not available.

    Returns:
      The plans, and a note for each missing panel that says why; it is also a warning.

    Raises:
      InputError: if none of the plans can be made.
    """
    plans: list[Plan] = []
    notes: list[str] = []
    failures: list[InputError] = []
    for panel in panels:
        try:
            plans.append(plan(panel))
        except InputError as error:
            failures.append(error)
            notes.append(f"panel {panel}, {what[panel]}, is missing: {error}")
            warn_caller(notes[-1])
    if not plans:
        raise failures[0]
    return plans, notes
