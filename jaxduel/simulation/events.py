"""The event loop: from one informative comparison to the next, with quiet runs skipped.

Lanes have clocks of their own. Few of them run side by side, in slots; a slot whose seed has
reached the horizon takes the next seed of its block, so that no slot waits for the slowest.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.binomial import multinomial
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import fold_in
from jaxduel.policies.base import Quiet
from jaxduel.simulation.ballots import is_full
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.steps import StepLane, play, tell
from jaxduel.simulation.tallies import Tallies, count_quiet, enter, no_tallies, of_problem
from jaxduel.simulation.withheld import is_any_withheld

MOST_SLOTS = 64
"""Most seeds side by side on a CPU: more would wait longer for the last, fewer cost more each."""
ACCELERATOR_SLOTS, ACCELERATOR_PART = 2**16, 8
"""On an accelerator so many cost little more than one; of wider blocks one seed in 8 has a slot."""
FEW_SLOTS = 8
"""Fewest slots on a CPU, for the last seeds of a block: fewer cost little less."""


class EventLane(NamedTuple):
    """One seed in a slot, or one that waits for a slot."""

    setup: Setup
    step: StepLane
    t: jax.Array  # () int32: comparisons made
    turns: jax.Array  # () int32: comparisons simulated here, quiet runs left out
    cursor: jax.Array  # () int32: checkpoints recorded
    record: Tallies  # at the checkpoints


class Slots(NamedTuple):
    """Seeds of a block that run side by side."""

    seed: jax.Array  # (S,) int32: the seed's number in its block; the block's size if none
    lane: EventLane


def slots_for(lanes: int, platform: str) -> int:
    """Number of slots for a block of so many lanes on a platform: "cpu", "gpu", ..."""
    if platform == "cpu":
        return min(lanes, MOST_SLOTS)
    return min(lanes, max(ACCELERATOR_SLOTS, lanes // ACCELERATOR_PART))


@compiled_once(static_argnames="program")
def begin(
    cell: Cell,
    setups: Setup,
    steps: StepLane,
    t: jax.Array,
    recorded: jax.Array,
    *,
    program: Program,
) -> EventLane:
    """The lanes of a block that the step loop has brought to time t.

    Args:
      cell: the cell.
      setups, steps: of the block.
      t: () int32.
      recorded: () int32, number of checkpoints recorded: those before t, with or without that at t.
      program: the program.
    """

    def one(cell: Cell, setup: Setup, step: StepLane) -> EventLane:
        return EventLane(
            setup=setup,
            step=step,
            t=t,
            turns=jnp.int32(0),
            cursor=jnp.where(is_full(cell, step.ballots), cell.points, recorded),
            record=no_tallies(cell, program, cell.checkpoints.shape[0]),
        )

    return each_lane(one, program)(cell, setups, steps)


@compiled_once(static_argnames="program", donate_argnames="slots")
def advance(cell: Cell, slots: Slots, turns: jax.Array, *, program: Program) -> Slots:
    """Takes turns of all slots: each skips a quiet run and plays the comparison after it."""
    fall_quiet = each_lane(partial(_fall_quiet, program=program), program)
    is_left = each_lane(_is_left, program)
    count = each_lane(_count, program)
    resume = each_lane(_resume, program)

    def one(_: jax.Array, lane: EventLane) -> EventLane:
        setup = lane.setup
        loop = lax.while_loop(
            lambda loop: jnp.any(is_left(cell, setup, loop)),
            lambda loop: count(cell, setup, loop),
            fall_quiet(cell, setup, lane),
        )
        lane = resume(cell, setup, loop)
        if program.delayed:
            due = each_lane(_is_due, program)(cell, setup, lane)
            lane = lane._replace(step=tell(cell, lane.step, due, program))
        return lane

    return slots._replace(lane=lax.fori_loop(0, turns, one, slots.lane))


@compiled_once(static_argnames=("number", "program"))
def occupy(waiting: EventLane, first: jax.Array, *, number: int, program: Program) -> Slots:
    """The seeds of a block from number `first` on, in `number` slots; so many must follow."""

    def one(waiting: EventLane) -> Slots:
        lane = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, first, number), waiting)
        return Slots(first + jnp.arange(number, dtype=jnp.int32), lane)

    return (jax.vmap(one) if program.stacked else one)(waiting)


@compiled_once(static_argnames="program", donate_argnames=("waiting", "slots"))
def exchange(
    cell: Cell, waiting: EventLane, slots: Slots, following: jax.Array, *, program: Program
) -> tuple[EventLane, Slots, jax.Array]:
    """Puts finished seeds, all of whose checkpoints are recorded, back; the next get their slots.

    Args:
      cell: the cell.
      waiting: the seeds of the block.
      slots: those that run.
      following: () int32 (of each cell), the next seed that has not had a slot.
      program: the program.

    Returns:
      The block, the slots, and the next seed; it exceeds the block's size by the number of slots
      once all seeds are back.
    """

    def one(
        cell: Cell, waiting: EventLane, slots: Slots, following: jax.Array
    ) -> tuple[EventLane, Slots, jax.Array]:
        size, lane = waiting.t.shape[0], slots.lane
        free = lane.cursor == cell.points
        home = jnp.where(free, slots.seed, size)

        def back(there: jax.Array, here: jax.Array) -> jax.Array:
            return there.at[home].set(here, mode="drop")

        results = ("t", "turns", "cursor", "record")
        waiting = waiting._replace(
            **{
                name: jax.tree.map(back, getattr(waiting, name), getattr(lane, name))
                for name in results
            }
        )
        ballots = jax.tree.map(back, waiting.step.ballots, lane.step.ballots)
        waiting = waiting._replace(step=waiting.step._replace(ballots=ballots))
        come = following + jnp.cumsum(free, dtype=jnp.int32) - 1
        seed = jnp.minimum(jnp.where(free, come, slots.seed), size)
        loaded = free & (seed < size)

        def load(there: jax.Array, here: jax.Array) -> jax.Array:
            chosen = loaded.reshape(-1, *[1] * (here.ndim - 1))
            return jnp.where(chosen, there[jnp.minimum(seed, size - 1)], here)

        following = following + jnp.sum(free, dtype=jnp.int32)
        return waiting, Slots(seed, jax.tree.map(load, waiting, lane)), following

    return (jax.vmap(one) if program.stacked else one)(cell, waiting, slots, following)


@compiled_once(static_argnames="number")
def close_up(slots: Slots, size: jax.Array, *, number: int) -> Slots:
    """The same seeds in fewer slots.

    Args:
      slots: the slots (of each cell) after `exchange`, at most `number` of them with a seed.
      size: () int32, the block's size.
      number: the new number of slots.
    """
    order = jnp.argsort(slots.seed == size, axis=-1, stable=True)[..., :number]
    take = jax.vmap(lambda x, order: x[order]) if order.ndim > 1 else lambda x, order: x[order]
    return jax.tree.map(lambda x: take(x, order), slots)


def resized(slots: Slots, number: int) -> Slots:
    """The shapes of slots, if they were so many."""
    axis = slots.seed.ndim - 1

    def of(x: jax.Array) -> jax.ShapeDtypeStruct:
        shape = (*x.shape[:axis], number, *x.shape[axis + 1 :])
        return jax.ShapeDtypeStruct(shape, x.dtype, sharding=x.sharding)

    return jax.tree.map(of, slots)


def recorded(block: EventLane) -> Tallies:
    """The records of a finished block, of the problem's arms: arrays of NumPy that can be
    written."""
    record = of_problem(block.setup, block.record)
    return jax.tree.map(lambda x: np.require(x, requirements="W"), record)


def _fall_quiet(
    cell: Cell, setup: Setup, lane: EventLane, program: Program
) -> tuple[EventLane, Quiet]:
    """The lane with the policy's state after its next quiet run, and the run, not counted yet."""
    limit = cell.checkpoints[-1] - lane.t
    if program.delayed:
        until_told = jnp.minimum(limit, cell.delay - 1 - lane.t % cell.delay)
        limit = jnp.where(_withholds(lane), until_told, limit)
    key = fold_in(setup.quiet, lane.t)
    if program.among:
        among = cell.among[setup.arms]
        state, run = cell.policy.quiet_among(lane.step.state, limit, key, among)
    else:
        state, run = cell.policy.quiet(lane.step.state, limit, key)
    return lane._replace(step=lane.step._replace(state=state)), run


def _reaches(cell: Cell, lane: EventLane, run: Quiet) -> jax.Array:
    """True if the rest of a run reaches the next checkpoint: () bool."""
    upcoming = cell.checkpoints[jnp.minimum(lane.cursor, cell.checkpoints.shape[0] - 1)]
    return (lane.cursor < cell.points) & (upcoming - lane.t <= run.n)


def _is_left(cell: Cell, _: Setup, loop: tuple[EventLane, Quiet]) -> jax.Array:
    """True if a checkpoint in a run is to be recorded, or comparisons of several arms are to be
    counted: () bool."""
    lane, run = loop
    return _reaches(cell, lane, run) | (_has_several(run) & (run.n > 0))


def _count(cell: Cell, setup: Setup, loop: tuple[EventLane, Quiet]) -> tuple[EventLane, Quiet]:
    """Counts the comparisons of a run up to the next checkpoint, which is recorded if it is
    reached, or to the run's end."""
    lane, run = loop
    reached = _reaches(cell, lane, run)
    at = jnp.minimum(lane.cursor, cell.checkpoints.shape[0] - 1)
    part = run._replace(n=jnp.where(reached, cell.checkpoints[at] - lane.t, run.n))
    lane = _counted(cell, lane, part, _shares(setup, lane, part))
    lane = lane._replace(
        cursor=lane.cursor + reached, record=enter(lane.record, at, lane.step.tallies, reached)
    )
    return lane, run._replace(n=run.n - part.n)


def _counted(cell: Cell, lane: EventLane, run: Quiet, number: jax.Array) -> EventLane:
    """The lane after a run, counted; `number` is the comparisons in it of each arm, (K,) int32."""
    step = lane.step._replace(tallies=count_quiet(cell, lane.step.tallies, number))
    return lane._replace(step=step, t=lane.t + run.n)


def _has_several(run: Quiet) -> jax.Array:
    """True if several arms share a run: () bool."""
    return jnp.bool_(False) if run.weights is None else count_true(run.weights > 0) > 1


def _shares(setup: Setup, lane: EventLane, run: Quiet) -> jax.Array:
    """Comparisons of each arm in a run: (K,) int32."""
    alone = _alone(lane, run)
    if run.weights is None:
        return alone
    several = _has_several(run)
    key = fold_in(setup.shares, lane.t)
    return jnp.where(several, multinomial(key, jnp.where(several, run.n, 0), run.weights), alone)


def _alone(lane: EventLane, run: Quiet) -> jax.Array:
    """`_shares` for a run of one arm."""
    arms = jnp.arange(lane.step.tallies.plays.shape[0], dtype=jnp.int32)
    return jnp.where(arms == run.arm, run.n, 0)


def _resume(cell: Cell, setup: Setup, loop: tuple[EventLane, Quiet]) -> EventLane:
    """Counts the rest of a run, which is of one arm, and plays the comparison after it. A lane at
    its horizon, or with all its votes, plays on with its clock stopped: nothing of what it plays is
    recorded."""
    lane, run = loop
    lane = _counted(cell, lane, run, _alone(lane, run))
    number = lane.t + 1
    streams = jnp.stack([setup.policy, setup.environment])
    key, environment = jax.vmap(fold_in, in_axes=(0, None))(streams, number)
    drawn = cell.instance.noise(environment[None], number[None])
    noise = materialize(jax.tree.map(lambda x: x[0], drawn), number < 0)  # else drawn at each use
    goes_on = (lane.t < cell.checkpoints[-1]) & ~is_full(cell, lane.step.ballots)
    step = play(cell, setup.arms, key, noise, lane.step, goes_on)
    return lane._replace(
        step=step,
        t=lane.t + goes_on,
        turns=lane.turns + goes_on,
        cursor=jnp.where(is_full(cell, step.ballots), cell.points, lane.cursor),
    )


def _is_due(cell: Cell, _: Setup, lane: EventLane) -> jax.Array:
    """True if outcomes are told now: () bool. Comparisons of quiet runs teach nothing when they are
    told, either, so without others nothing is told, and a run goes on."""
    return _withholds(lane) & (lane.t % cell.delay == 0) & (lane.t < cell.checkpoints[-1])


def _withholds(lane: EventLane) -> jax.Array:
    """True if outcomes of comparisons outside quiet runs are not told yet: () bool."""
    return is_any_withheld(lane.step.pending)
