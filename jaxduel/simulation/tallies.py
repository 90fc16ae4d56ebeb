"""Tallies: plays and outcomes counted while a seed runs, and recorded at its checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Batch, Duel, Plan
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.instances import Duels, plays_of
from jaxduel.simulation.lanes import Setup


class Tallies(NamedTuple):
    """Counts so far, of the policy's arms; as a record, with an axis for checkpoints in front."""

    plays: Any  # (K,) uint32: plays (2 T may exceed int32)
    pairs: Any  # (K, K) int32: plays of ordered pairs; None unless asked for
    outcomes: Any  # as `Instance.no_outcomes`; None unless asked for


def no_tallies(cell: Cell, program: Program, points: int | None = None) -> Tallies:
    """Empty tallies; with `points`, an empty record of so many checkpoints."""
    num = cell.policy.num_arms
    nothing = Tallies(
        plays=jnp.zeros(num, jnp.uint32),
        pairs=jnp.zeros((num, num), jnp.int32) if program.pairs else None,
        outcomes=cell.instance.no_outcomes() if program.outcomes else None,
    )
    if points is None:
        return nothing
    return jax.tree.map(lambda x: jnp.zeros((points, *x.shape), x.dtype), nothing)


def count(cell: Cell, arms: jax.Array, tallies: Tallies, plan: Plan, outcome: jax.Array) -> Tallies:
    """The tallies after a plan and its outcome, whether or not that is withheld from the policy.

    Args:
      cell: the cell.
      arms: (K,) int32, as in the seed's `Setup`.
      tallies: before.
      plan: the plan.
      outcome: as the instance gave it.
    """
    plays, pairs, outcomes = tallies
    if pairs is not None and isinstance(plan, Batch):
        pairs = pairs + plan.counts
    elif pairs is not None and isinstance(plan, Duel):
        pairs = pairs.at[plan.left, plan.right].add(1, mode="promise_in_bounds")
    if outcomes is not None:
        outcomes = cell.instance.add_outcome(outcomes, arms, plan, outcome)
    return Tallies(plays + plays_of(plan, cell.policy.num_arms), pairs, outcomes)


def count_quiet(cell: Cell, tallies: Tallies, number: jax.Array) -> Tallies:
    """The tallies after a quiet run: comparisons of arms with themselves, two plays each, or pulls,
    (K,) int32 of each arm."""
    pairs = None if tallies.pairs is None else tallies.pairs + jnp.diag(number)
    plays = number.astype(jnp.uint32) * (2 if isinstance(cell.instance, Duels) else 1)
    return tallies._replace(plays=tallies.plays + plays, pairs=pairs)


def enter(record: Tallies, at: jax.Array, now: Tallies, reached: jax.Array) -> Tallies:
    """A record with the tallies `now` entered at checkpoint number `at`, if that is reached."""

    def put(all_times: jax.Array, one: jax.Array) -> jax.Array:
        return all_times.at[jnp.where(reached, at, len(all_times))].set(one, mode="drop")

    return jax.tree.map(put, record, now)


def of_problem(setup: Setup, tallies: Tallies) -> Tallies:
    """Tallies, or a record of them, reordered from the policy's arms to the problem's."""

    of_arms = tallies.plays.ndim

    def ordered(x: jax.Array) -> jax.Array:
        return (
            _ordered(x, jnp.argsort(setup.arms)) if x.ndim == of_arms else of_pairs(setup.arms, x)
        )

    return jax.tree.map(ordered, tallies)


def of_pairs(arms: jax.Array, counts: jax.Array) -> jax.Array:
    """Counts of pairs, (..., K, K), reordered from the policy's arms to the problem's; `arms` as in
    the seed's `Setup`."""
    place = jnp.argsort(arms)
    flat = counts.reshape(*counts.shape[:-2], -1)
    return _ordered(flat, place[:, None] * len(place) + place)


def _ordered(x: jax.Array, order: jax.Array) -> jax.Array:
    return x.at[..., order].get(mode="promise_in_bounds", unique_indices=True)
