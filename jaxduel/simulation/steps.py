"""The step loop: one duel at a time, all lanes of a block in step."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.base import WITHHELD, Duel, Feedback
from jaxduel.simulation import keys
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.lanes import Setup, in_problem_order, set_up

STRETCH = 32
"""Comparisons whose keys and coins are drawn in one wide call; no number depends on it."""


class Drawn(NamedTuple):
    """A seed's randomness for a stretch of comparisons."""

    arms: jax.Array  # (K,) int32: as in its `Setup`
    keys: jax.Array  # (STRETCH,) keys for the policy
    coins: jax.Array  # (STRETCH,) float32 in [0, 1): the left arm wins below its probability


class DuelLane(NamedTuple):
    """What changes while a seed runs."""

    state: Any  # the policy's
    plays: jax.Array  # (K,) uint32: plays of the policy's arms (2 T may exceed int32)
    pairs: jax.Array | None  # (K, K) int32: plays of ordered pairs, where asked for
    pending: Feedback | None  # outcomes not yet told, where feedback is delayed


def start(
    cell: Cell, root: jax.Array, index: jax.Array, program: Program
) -> tuple[Setup, DuelLane]:
    """A seed before its first comparison."""
    num = cell.policy.num_arms
    table = jnp.zeros((num, num), jnp.int32)
    return set_up(root, index, jnp.asarray(cell.policy.active_arms), program.shuffle), DuelLane(
        state=cell.policy.init(keys.stream(root, index, keys.INIT)),
        plays=jnp.zeros(num, jnp.uint32),
        pairs=table if program.pairs else None,
        pending=Feedback(table, table) if program.delayed else None,
    )


@partial(jax.jit, static_argnames="program", donate_argnames="lanes")
def advance(
    cell: Cell,
    setups: Setup,
    lanes: DuelLane,
    begin: jax.Array,
    end: jax.Array,
    delay: jax.Array,
    *,
    program: Program,
) -> DuelLane:
    """Comparisons begin + 1 .. end of every lane.

    The bounds are traced: one compilation serves every spacing of checkpoints, and where a run is
    cut does not change a bit of it.
    """

    tell = each_lane(lambda cell, _, lane: _tell(cell, lane), program)

    def stretch(number: jax.Array, lanes: DuelLane) -> DuelLane:
        first = number * STRETCH

        def one(t: jax.Array, lanes: DuelLane) -> DuelLane:
            lanes = each_lane(partial(_step, number=t - first), program)(cell, drawn, lanes)
            if lanes.pending is not None:
                due = (t + 1) % delay == 0
                lanes = lax.cond(due, lambda x: tell(cell, setups, x), lambda x: x, lanes)
            return lanes

        drawn = each_lane(lambda cell, setup, _: _draw(setup, first), program)(cell, setups, lanes)
        return lax.fori_loop(
            jnp.maximum(begin, first), jnp.minimum(end, first + STRETCH), one, lanes
        )

    return lax.fori_loop(begin // STRETCH, (end + STRETCH - 1) // STRETCH, stretch, lanes)


@partial(jax.jit, static_argnames="program")
def recorded(
    setups: Setup, lanes: DuelLane, *, program: Program
) -> tuple[jax.Array, jax.Array | None]:
    """Plays so far per arm of the problem, and per ordered pair where they are counted."""

    def one(cell: None, setup: Setup, lane: DuelLane) -> tuple[jax.Array, jax.Array | None]:
        del cell
        pairs = None
        if lane.pairs is not None:
            pairs = in_problem_order(setup, in_problem_order(setup, lane.pairs).T).T
        return in_problem_order(setup, lane.plays), pairs

    return each_lane(one, program)(None, setups, lanes)


def _draw(setup: Setup, first: jax.Array) -> Drawn:
    """The keys and coins of comparisons first + 1 .. first + STRETCH of one seed."""
    times = first + jnp.arange(1, STRETCH + 1, dtype=jnp.int32)
    fold = jax.vmap(jax.random.fold_in, in_axes=(None, 0))
    coins = jax.vmap(lambda key: jax.random.uniform(key, (), jnp.float32))
    return Drawn(
        arms=setup.arms, keys=fold(setup.policy, times), coins=coins(fold(setup.environment, times))
    )


def _step(cell: Cell, drawn: Drawn, lane: DuelLane, number: jax.Array) -> DuelLane:
    """One comparison of one seed: number `number` (from 0) of a stretch."""
    policy = cell.policy
    key = drawn.keys[number]
    duel: Duel = policy.act(lane.state, key)
    left, right = duel
    left_wins = drawn.coins[number] < cell.preferences[drawn.arms[left], drawn.arms[right]]
    outcome = jnp.where(left_wins, jnp.int32(1), jnp.int32(-1))
    pending = lane.pending
    if pending is not None:
        won = left_wins.astype(jnp.int32)
        pending = Feedback(
            pending.left_wins.at[left, right].add(won, mode="promise_in_bounds"),
            pending.right_wins.at[left, right].add(1 - won, mode="promise_in_bounds"),
        )
        outcome = jnp.int32(WITHHELD)
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
    plays = lane.plays + (arms == left).astype(jnp.uint32) + (arms == right).astype(jnp.uint32)
    pairs = lane.pairs
    if pairs is not None:
        pairs = pairs.at[left, right].add(1, mode="promise_in_bounds")
    return DuelLane(policy.update(lane.state, duel, outcome, key), plays, pairs, pending)


def _tell(cell: Cell, lane: DuelLane) -> DuelLane:
    """Hands the pending outcomes to the policy."""
    return lane._replace(
        state=cell.policy.learn(lane.state, lane.pending),
        pending=jax.tree.map(jnp.zeros_like, lane.pending),
    )
