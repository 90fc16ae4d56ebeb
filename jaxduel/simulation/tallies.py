"""Tallies: plays and outcomes counted while a seed runs, and recorded at its checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import Batch, Duel, Plan
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.devices import is_on_cpu
from jaxduel.simulation.instances import Duels, Rewards, plays_of
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


def count(
    cell: Cell, arms: jax.Array, tallies: Tallies, plan: Plan, outcome: jax.Array, when: Any
) -> Tallies:
    """The tallies after a plan and its outcome, whether or not that is withheld from the policy.

    Args:
      cell: the cell.
      arms: (K,) int32, as in the seed's `Setup`.
      tallies: before.
      plan: the plan.
      outcome: as the instance gave it.
      when: as in `Instance.add_outcome`.
    """
    plays, pairs, outcomes = tallies
    if pairs is not None and isinstance(plan, Batch):
        pairs = pairs + plan.counts
    elif pairs is not None and isinstance(plan, Duel):
        pairs = pairs.at[plan.left, plan.right].add(1, mode="promise_in_bounds")
    if outcomes is not None:
        outcomes = cell.instance.add_outcome(outcomes, arms, plan, outcome, when)
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


def of_problem(setups: Setup, tallies: Tallies) -> Tallies:
    """Tallies of the lanes of a block, or a record of them, reordered from the policy's arms to the
    problem's: as `reordered`."""
    of_arms, of_pulls = np.ndim(tallies.plays), isinstance(tallies.outcomes, Rewards)
    return jax.tree.map(  # one more axis is of pairs, or of stretches in `Rewards`
        lambda x: reordered(setups.arms, x, np.ndim(x) > of_arms and not of_pulls), tallies
    )


def reordered(arms: Any, counts: Any, of_pairs: bool) -> Any:
    """Counts of lanes, reordered from the policy's arms to the problem's: where they lie on an
    accelerator, else by NumPy, as a program takes longer to compile than it saves.

    Args:
      arms: (lanes, K) or (cells, lanes, K) int32, as in the `Setup` of each lane.
      counts: (..., M, K) or (..., K), or with `of_pairs` (..., M, K, K) or (..., K, K).
      of_pairs: whether they are of pairs.
    """
    if isinstance(counts, jax.Array) and not is_on_cpu(counts):
        return _gathered(arms, counts, of_pairs=of_pairs)
    arms, counts = np.asarray(arms), np.asarray(counts)
    num = arms.shape[-1]
    places = np.argsort(arms.reshape(-1, num), axis=-1)
    if of_pairs:
        places = (places[:, :, None] * num + places[:, None]).reshape(len(places), -1)
    before = counts.reshape(len(places), -1, places.shape[-1])
    after = np.empty_like(before)
    for here, there, place in zip(before, after, places, strict=True):
        here.take(place, axis=-1, out=there, mode="clip")  # "raise" would copy once more
    return after.reshape(counts.shape)


@compiled_once(static_argnames="of_pairs")
def _gathered(arms: jax.Array, counts: jax.Array, *, of_pairs: bool) -> jax.Array:
    """`reordered`, as a program."""
    num = arms.shape[-1]
    places = jnp.argsort(arms, axis=-1)
    if of_pairs:
        places = (places[..., :, None] * num + places[..., None, :]).reshape(*arms.shape[:-1], -1)
    before = counts.reshape(*arms.shape[:-1], -1, places.shape[-1])
    after = jnp.take_along_axis(before, places[..., None, :], axis=-1, mode="promise_in_bounds")
    return after.reshape(counts.shape)
