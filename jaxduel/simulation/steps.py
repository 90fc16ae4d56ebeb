"""The step loop: one comparison or pull at a time, all lanes of a block in step."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.target import for_accelerator, gpu_loops
from jaxduel.numerics.threefry import fold_in
from jaxduel.policies.base import TIED, WITHHELD, Duel, Pull
from jaxduel.simulation.ballots import Ballots, cast, first_state, hear, is_full, no_ballots
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.instances import Noise
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.tallies import Tallies, count, no_tallies
from jaxduel.simulation.withheld import Withheld, feedback_of, nothing_withheld, withhold

STRETCH = 32
"""Steps whose keys and noise are drawn in one wide call on a CPU; steps of a loop of known length
on a GPU; results do not depend on it."""


class Drawn(NamedTuple):
    """A seed's randomness for N steps."""

    arms: jax.Array  # (K,) int32: as in its `Setup`
    keys: jax.Array  # (N,) keys for the policy
    noise: Noise  # arrays of (N,), which decide the outcomes


class StepLane(NamedTuple):
    """The part of a seed that changes while it runs."""

    state: Any  # the policy's
    tallies: Tallies
    pending: Withheld | None  # outcomes not yet told, where feedback is delayed
    selves: jax.Array | None  # () int32: plans that may be of quiet runs, where those are skipped
    ballots: Ballots | None  # where votes are the clock


def start(cell: Cell, arms: jax.Array, key: jax.Array, program: Program) -> StepLane:
    """A seed before its first step; the key is for its first state."""
    return StepLane(
        state=first_state(cell, arms, key),
        tallies=no_tallies(cell, program),
        pending=nothing_withheld(cell) if program.delayed else None,
        selves=jnp.int32(0) if program.skips else None,
        ballots=no_ballots(cell, arms),
    )


@compiled_once(static_argnames="program")
def started(cell: Cell, arms: jax.Array, keys: jax.Array, *, program: Program) -> StepLane:
    """The lanes of a block before their first step."""
    return each_lane(partial(start, program=program), program)(cell, arms, keys)


@compiled_once(lasting=True, static_argnames="program", donate_argnames="lanes")
def advance(
    cell: Cell,
    setups: Setup,
    lanes: StepLane,
    begin: jax.Array,
    end: jax.Array,
    *,
    program: Program,
) -> StepLane:
    """Makes steps begin + 1 .. end of every lane.

    The bounds are traced: one compilation serves every spacing of checkpoints, and results do not
    depend, to the bit, on where a run is cut.
    """

    def draw(first: jax.Array, number: int) -> Drawn:
        return each_lane(partial(_draw, first=first, number=number), program)(cell, setups, lanes)

    def stretch(number: jax.Array, lanes: StepLane) -> StepLane:
        first = number * STRETCH

        def one(t: jax.Array, lanes: StepLane) -> StepLane:
            now, number = (draw(t, 1), 0) if drawn is None else (drawn, t - first)
            lanes = each_lane(partial(_step, number=number), program)(cell, now, lanes)
            if program.delayed:
                now_due = each_lane(lambda cell, *_: (t + 1) % cell.delay == 0, program)
                lanes = tell(cell, lanes, now_due(cell, setups, lanes), program)
            return lanes

        def whole(lanes: StepLane) -> StepLane:
            return lax.fori_loop(0, STRETCH, lambda n, lanes: one(first + n, lanes), lanes)

        def part(lanes: StepLane) -> StepLane:
            last = first + jnp.minimum(end - first, STRETCH)  # first + STRETCH may pass 2^31 - 1
            return lax.fori_loop(jnp.maximum(begin, first), last, one, lanes)

        drawn = None if for_accelerator() else draw(first, STRETCH)
        if for_accelerator() and gpu_loops() == "static":
            is_whole = (begin <= first) & (end - first >= STRETCH)
            return lax.cond(is_whole, whole, part, lanes)
        return part(lanes)

    return lax.fori_loop(begin // STRETCH, (end - 1) // STRETCH + 1, stretch, lanes)


@compiled_once(static_argnames="program")
def narrowed(
    setups: Setup, lanes: StepLane, order: jax.Array, *, program: Program
) -> tuple[Setup, StepLane]:
    """Some of the lanes of a block; `order` is (S,) int, of each cell, their places."""

    def take(x: jax.Array, order: jax.Array) -> jax.Array:
        return x.at[order].get(mode="promise_in_bounds", unique_indices=True)

    of_block = jax.vmap(take) if program.stacked else take
    return jax.tree.map(lambda x: of_block(x, order), (setups, lanes))


def _draw(cell: Cell, setup: Setup, _: StepLane, first: jax.Array, number: int) -> Drawn:
    """The keys and the noise of steps first + 1 .. first + number of one seed."""
    times = first + jnp.arange(1, number + 1, dtype=jnp.int32)
    fold = jax.vmap(fold_in, in_axes=(None, 0))
    noise = cell.instance.noise(fold(setup.environment, times), times)
    return Drawn(arms=setup.arms, keys=fold(setup.policy, times), noise=noise)


def _step(cell: Cell, drawn: Drawn, lane: StepLane, number: jax.Array | int) -> StepLane:
    """One step of one seed: number `number` (from 0) of a stretch."""
    noise = jax.tree.map(lambda x: x[number], drawn.noise)
    return play(cell, drawn.arms, drawn.keys[number], noise, lane)


def play(
    cell: Cell,
    arms: jax.Array,
    key: jax.Array,
    noise: Noise,
    lane: StepLane,
    counts: jax.Array | bool = True,
) -> StepLane:
    """One comparison or pull of one seed.

    Args:
      cell: the cell.
      arms: (K,) int32, as in the seed's `Setup`.
      key: the policy's for this step.
      noise: what decides the outcome, of `Instance.noise`.
      lane: before the step.
      counts: () bool, whether a vote counts.
    """
    policy = cell.policy
    plan = policy.act(lane.state, key)
    outcome = cell.instance.sample(arms, plan, noise)
    tallies = count(cell, arms, lane.tallies, plan, outcome, noise.stretch)
    pending, ballots = lane.pending, lane.ballots
    if ballots is not None:
        counts = counts & ~is_full(cell, ballots)
        ballots = cast(cell, arms, ballots, plan, outcome, counts)
    if pending is not None:
        pending, outcome = withhold(pending, plan, outcome)
    elif cell.tells_ties is not None:
        outcome = jnp.where(outcome == WITHHELD, jnp.int32(TIED), outcome)
    selves = lane.selves
    if selves is not None:
        selves = selves + _may_be_quiet(policy, lane.state, plan, key)
    state = policy.update(lane.state, plan, outcome, key)
    return StepLane(state, tallies, pending, selves, hear(cell, ballots, state, counts))


def _may_be_quiet(policy: Any, state: Any, plan: Duel | Pull, key: jax.Array) -> jax.Array:
    """True if a comparison may be one of a quiet run, () bool; of a pull, if it is."""
    if isinstance(plan, Duel):
        return plan.left == plan.right
    _, run = policy.quiet(state, jnp.int32(1), key)
    return run.n > 0


def tell(cell: Cell, lanes: StepLane, due: jax.Array, program: Program) -> StepLane:
    """Hands the pending outcomes to the policies of the lanes where they are due.

    A cell costs something only where any of its lanes is due.

    Args:
      cell: the cell.
      lanes: of the block.
      due: bool, for each of the lanes.
      program: the program.
    """

    def one(policy: Any, lanes: StepLane, due: jax.Array) -> StepLane:
        return compacted_cond(_told, jnp.any(due), lanes, policy, due, together=1)

    return (jax.vmap(one) if program.stacked else one)(cell.policy, lanes, due)


def _told(lanes: StepLane, policy: Any, due: jax.Array) -> StepLane:
    """The lanes of one cell after `tell`."""

    def one(lane: StepLane, due: jax.Array) -> StepLane:
        told = lane.pending
        if not for_accelerator():  # where only what is told costs work
            told = jax.tree.map(lambda x: jnp.where(due, x, 0), told)
        after = policy.learn(lane.state, feedback_of(told))
        state = jax.tree.map(partial(jnp.where, due), after, lane.state)
        kept = jax.tree.map(lambda x: jnp.where(due, 0, x), lane.pending)
        return lane._replace(state=state, pending=kept)

    return jax.vmap(one)(lanes, due)
