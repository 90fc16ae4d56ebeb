"""Checks of the inputs of the relaxed simulator."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.policies import PCOMP, SCOMP, SCOMP2
from jaxduel.policies.batched_dueling.rounds import comparisons_per_pair
from jaxduel.policies.checks import require_number, whole_number
from jaxduel.problems import ArmsProblem, DuelingProblem, Problem

REGRETS = ("average", "borda")
"""The regrets whose gaps are smooth in the preferences."""

_MOST_ROUNDS = 1024


def checked(policy: Any, horizon: Any, temperature: Any, regret: str) -> np.ndarray:
    """Checks policy and numbers, and returns the sizes of the batches, (R + 1,) float64."""
    if not isinstance(policy, PCOMP | SCOMP | SCOMP2):
        raise InputError(
            "the relaxed simulator knows the policies pcomp, scomp and scomp2, not "
            f"{type(policy).__name__}."
        )
    require_known("regret of the relaxed simulator", regret, REGRETS)
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((policy, horizon))):
        raise InputError(
            "the relaxed simulator needs the policy's numbers and the horizon to be known, not "
            "traced: they fix how many rounds there are."
        )
    if not isinstance(temperature, Tracer):
        require_number(temperature, lambda x: x > 0, "temperature must be a positive number")
    with jax.ensure_compile_time_eval():
        policy.validate()
    horizon = whole_number(horizon, 1, "the relaxed simulator: the horizon")
    if horizon > policy.horizon:
        raise InputError(
            f"the relaxed simulator: the horizon {horizon} exceeds the {policy.horizon} that the "
            "policy was made for."
        )
    if not isinstance(policy, PCOMP) and policy.width is not None and not policy.width > 0:
        raise InputError(
            "the relaxed simulator needs a positive width of A', of which a smooth test is a "
            f"multiple, not {policy.width}."
        )
    return _sizes(policy, horizon)


def _sizes(policy: Any, horizon: int) -> np.ndarray:
    """Sizes c_(r - 1), ... of the most rounds that T can last: if every round compares a single
    pair, and the round is played twice in which PCOMP takes over."""
    first = int(policy.tau) if isinstance(policy, PCOMP) else 1
    with jax.ensure_compile_time_eval():
        rounds = jnp.arange(first - 1, first + _MOST_ROUNDS, dtype=jnp.int32)
        sizes = np.asarray(jax.vmap(partial(comparisons_per_pair, policy))(rounds), np.float64)
    ends = np.cumsum(sizes[1:])
    if ends[-1] < horizon:
        raise InputError(
            f"the relaxed simulator: the batches grow so slowly that {_MOST_ROUNDS} rounds do not "
            f"surely hold {horizon} comparisons, and it accepts no more rounds."
        )
    last = int(np.searchsorted(ends, horizon)) + (1 if isinstance(policy, PCOMP) else 2)
    return sizes[: last + 1]


def playable(policy: Any, problem: Problem, regret: str) -> DuelingProblem:
    """Checks that the policy can play the instance and that its regret is defined; returns it."""
    if not isinstance(problem, DuelingProblem):
        kind = "has arms with rewards" if isinstance(problem, ArmsProblem) else "changes"
        raise InputError(
            f"the relaxed simulator compares arms in pairs, and '{problem.name}' {kind}: it "
            "accepts matrices of preferences."
        )
    if problem.num_arms != policy.num_arms:
        raise InputError(
            f"the policy has {policy.num_arms} arms and {problem.name} has {problem.num_arms}: "
            "they must agree."
        )
    active = np.flatnonzero(policy.active_arms)
    played = DuelingProblem(problem.preferences[np.ix_(active, active)], problem.name)
    if regret == "average" and played.condorcet_winner is None:
        raise InputError(
            f"'{problem.name}' has no Condorcet winner, which 'average' regret needs: use 'borda'."
        )
    return problem
