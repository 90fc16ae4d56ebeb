"""The round loop: one batch at a time, its outcomes drawn as sums.

A round costs the same however many comparisons it holds, so the cost of a run grows with its number
of rounds, not with T (exact: n comparisons of a pair are Binomial(n, p), n pulls of a Gaussian arm
sum to Normal(n mean, n std^2)). Within a round the order is fixed, so the plays at a checkpoint
inside it follow from the plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.threefry import fold_in
from jaxduel.policies.base import Batch, PullBatch
from jaxduel.simulation.ballots import Ballots, cast_batch, first_state, hear, is_full, no_ballots
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.tallies import (
    Tallies,
    count,
    enter,
    no_tallies,
    of_problem,
)


class RoundLane(NamedTuple):
    """The part of a seed that changes while it runs."""

    state: Any  # the policy's
    round: jax.Array  # () int32: rounds played, empty ones included
    batches: jax.Array  # () int32: rounds that held a comparison or pull
    done: jax.Array  # () int32: comparisons or pulls made
    tallies: Tallies
    cursor: jax.Array  # () int32: checkpoints recorded
    record: Tallies  # at the checkpoints; outcomes without those of the round that they lie in
    ballots: Ballots | None  # where votes are the clock


def start(cell: Cell, arms: jax.Array, key: jax.Array, program: Program) -> RoundLane:
    """A seed before its first round; the key is for its first state."""
    return RoundLane(
        state=first_state(cell, arms, key),
        round=jnp.int32(0),
        batches=jnp.int32(0),
        done=jnp.int32(0),
        tallies=no_tallies(cell, program),
        cursor=jnp.int32(0),
        record=no_tallies(cell, program, cell.checkpoints.shape[0]),
        ballots=no_ballots(cell, arms),
    )


@compiled_once(lasting=True, static_argnames="program", donate_argnames="lanes")
def advance(
    cell: Cell, setups: Setup, lanes: RoundLane, rounds: Any, *, program: Program
) -> tuple[RoundLane, jax.Array, jax.Array]:
    """Plays at most `rounds` more rounds of every lane.

    Returns:
      The lanes; () bool, True if all have reached their horizon; () bool, True if one stopped short
      of it, by committing to nothing.
    """
    unfinished = each_lane(_is_unfinished, program)
    behind = each_lane(_is_behind, program)

    def going(loop: tuple[jax.Array, RoundLane, jax.Array]) -> jax.Array:
        turn, lanes, stuck = loop
        return (turn < rounds) & jnp.any(unfinished(cell, setups, lanes)) & ~stuck

    def play(
        loop: tuple[jax.Array, RoundLane, jax.Array],
    ) -> tuple[jax.Array, RoundLane, jax.Array]:
        turn, lanes, _ = loop
        lanes, plans, empty = each_lane(_play, program)(cell, setups, lanes)
        stuck = jnp.any(empty & unfinished(cell, setups, lanes))

        def record(loop: tuple[RoundLane, Any]) -> tuple[RoundLane, Any]:
            lanes, plans = loop
            return each_lane(_record, program)(cell, plans, lanes), plans

        lanes, _ = lax.while_loop(
            lambda loop: jnp.any(behind(cell, setups, loop[0])), record, (lanes, plans)
        )
        return turn + 1, lanes, stuck

    _, lanes, stuck = lax.while_loop(going, play, (jnp.int32(0), lanes, jnp.bool_(False)))
    return lanes, ~jnp.any(unfinished(cell, setups, lanes)), stuck


@compiled_once(static_argnames="program")
def recorded(setups: Setup, lanes: RoundLane, *, program: Program) -> Tallies:
    """The records of a block, of the problem's arms."""

    def one(_: None, setup: Setup, lane: RoundLane) -> Tallies:
        return of_problem(setup, lane.record)

    return each_lane(one, program)(None, setups, lanes)


def _is_unfinished(cell: Cell, _: Setup, lane: RoundLane) -> jax.Array:
    """True if a lane has not reached its horizon, nor its last checkpoint in votes: () bool."""
    return (lane.done < cell.checkpoints[-1]) & ~is_full(cell, lane.ballots)


class Played(NamedTuple):
    """A round that was played, for the checkpoints inside it."""

    plan: Batch | PullBatch
    totals: jax.Array  # (K,) int32: comparisons with each arm as the first, or its pulls
    starts: jax.Array  # (K,) int32: comparisons or pulls of the round before these
    above: jax.Array | None  # (K, K) int32: of a `Batch`, sums of its counts over the rows before
    began: jax.Array  # () int32: comparisons or pulls made before the round
    tallies: Tallies  # before the round


def _play(cell: Cell, setup: Setup, lane: RoundLane) -> tuple[RoundLane, Played, jax.Array]:
    """One round of one seed."""
    policy, number = cell.policy, lane.round + 1
    key = fold_in(setup.policy, number)
    plan: Batch | PullBatch = policy.act(lane.state, key)
    noise = fold_in(setup.environment, number)
    outcome = cell.instance.sample_batch(noise, setup.arms, plan, lane.done)

    counts, above = plan.counts, None
    totals = counts
    if isinstance(plan, Batch):
        totals = jnp.sum(counts, axis=1, dtype=jnp.int32)
        above = jnp.cumsum(counts, axis=0, dtype=jnp.int32) - counts
    ends = jnp.cumsum(totals, dtype=jnp.int32)
    total = ends[-1]
    played = Played(plan, totals, ends - totals, above, lane.done, lane.tallies)
    ballots = lane.ballots
    if ballots is not None and isinstance(plan, Batch):
        ballots = cast_batch(cell, ballots, plan, outcome)
    state = policy.update(lane.state, plan, outcome, key)
    lane = lane._replace(
        state=state,
        round=number,
        batches=lane.batches + (total > 0),
        done=lane.done + total,
        tallies=count(cell, setup.arms, lane.tallies, plan, outcome),
        ballots=hear(cell, ballots, state),
    )
    return lane, played, total == 0


def _is_behind(cell: Cell, setup: Setup | None, lane: RoundLane) -> jax.Array:
    """True if a lane has reached a checkpoint that is not recorded yet: () bool."""
    times = cell.checkpoints
    upcoming = times[jnp.minimum(lane.cursor, times.shape[0] - 1)]
    return (lane.cursor < cell.points) & (upcoming <= lane.done)


def _record(cell: Cell, played: Played, lane: RoundLane) -> RoundLane:
    """Records the next checkpoint, if it lies in the round just played."""
    behind = _is_behind(cell, None, lane)
    times = cell.checkpoints
    at = jnp.minimum(lane.cursor, times.shape[0] - 1)
    now = _tallied(played, times[at] - played.began)
    return lane._replace(cursor=lane.cursor + behind, record=enter(lane.record, at, now, behind))


def _tallied(played: Played, within: jax.Array) -> Tallies:
    """The tallies after the first `within` comparisons or pulls of a round, outcomes left out.

    Of a `Batch` these are whole rows and a part of one row: O(K), if pairs are not counted.
    """
    counts, pairs = played.plan.counts, played.tallies.pairs
    plays = jnp.clip(within - played.starts, 0, played.totals).astype(jnp.uint32)
    if played.above is not None:
        row = jnp.maximum(jnp.sum(played.starts <= within, dtype=jnp.int32) - 1, 0)
        here = counts[row]
        before = played.starts[row] + jnp.cumsum(here, dtype=jnp.int32) - here
        part = jnp.clip(within - before, 0, here)
        plays += (played.above[row] + part).astype(jnp.uint32)
        if pairs is not None:
            rows = jnp.arange(len(counts), dtype=jnp.int32)[:, None]
            pairs = pairs + jnp.where(rows < row, counts, jnp.where(rows == row, part, 0))
    return played.tallies._replace(plays=played.tallies.plays + plays, pairs=pairs)
