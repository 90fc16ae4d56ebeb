"""The round loop: one batch at a time, its outcomes drawn as sums.

A round costs the same however many comparisons it holds, so the cost of a run grows with its number
of rounds, not with T (exact: n comparisons of a pair are Binomial(n, p), n pulls of a Gaussian arm
sum to Normal(n mean, n std^2)). Within a round the order is fixed, so the plays at a checkpoint
inside it follow from the plan.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.queues import owners
from jaxduel.numerics.threefry import fold_in
from jaxduel.policies.base import Batch, PullBatch
from jaxduel.simulation.ballots import Ballots, cast_batch, first_state, hear, is_full, no_ballots
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.instances import Instance
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.tallies import Tallies, count, no_tallies

EXCHANGED = 8
"""An eighth of all slots must be free of seeds that run before waiting ones take their places:
loading costs about a fifth of a round of all slots."""


class RoundLane(NamedTuple):
    """The part of a seed that changes while it runs."""

    state: Any  # the policy's
    round: jax.Array  # () int32: rounds played, empty ones included
    batches: jax.Array  # () int32: rounds that held a comparison or pull
    done: jax.Array  # () int32: comparisons or pulls made
    tallies: Tallies
    cursor: jax.Array  # () int32: checkpoints recorded
    ballots: Ballots | None  # where votes are the clock


class Seed(NamedTuple):
    """The part of a seed that does not change while it runs."""

    setup: Setup
    instance: Instance  # of the policy's arms


class Block(NamedTuple):
    """The seeds of a block: S of them run side by side, in slots, and another one takes the place
    of one that has ended. With stacked cells, each array has the cells in front."""

    seeds: jax.Array  # (S,) int32: number in the block of the seed in each slot
    lanes: RoundLane  # of the slots
    following: jax.Array  # () int32: the next seed that has had no slot
    record: Tallies  # (N, M, ...): at the checkpoints; outcomes without those of the round that
    # they lie in
    batches: jax.Array  # (N,) int32: rounds of each seed that held a comparison or pull


def start(cell: Cell, arms: jax.Array, key: jax.Array, program: Program) -> RoundLane:
    """A seed before its first round; the key is for its first state."""
    return RoundLane(
        state=first_state(cell, arms, key),
        round=jnp.int32(0),
        batches=jnp.int32(0),
        done=jnp.int32(0),
        tallies=no_tallies(cell, program),
        cursor=jnp.int32(0),
        ballots=no_ballots(cell, arms),
    )


@compiled_once(static_argnames=("slots", "program"))
def started(
    cell: Cell, arms: jax.Array, keys: jax.Array, *, slots: int, program: Program
) -> tuple[Block, RoundLane | None]:
    """A block before its first round, the first seeds in its slots, and the lanes of all seeds, if
    there are more; `arms` and `keys` are those of all seeds."""

    def empty(cell: Cell, *_: jax.Array) -> Tallies:
        return no_tallies(cell, program, cell.checkpoints.shape[0])

    cells, axis = keys.shape[:-1], keys.ndim - 1
    lanes = each_lane(partial(start, program=program), program)(cell, arms, keys)
    is_shared = slots < keys.shape[-1]
    first = jax.tree.map(lambda x: lax.slice_in_dim(x, 0, slots, axis=axis), lanes)
    block = Block(
        seeds=jnp.broadcast_to(jnp.arange(slots, dtype=jnp.int32), (*cells, slots)),
        lanes=first,
        following=jnp.full(cells, slots, jnp.int32),
        record=each_lane(empty, program)(cell, arms, keys),
        batches=jnp.zeros(keys.shape, jnp.int32),
    )
    return block, lanes if is_shared else None


@compiled_once(lasting=True, static_argnames="program", donate_argnames="block")
def advance(
    cell: Cell,
    setups: Setup,
    block: Block,
    waiting: RoundLane | None,
    number: jax.Array,
    rounds: Any,
    *,
    program: Program,
) -> tuple[Block, jax.Array, jax.Array]:
    """Plays at most `rounds` more rounds of every slot.

    Args:
      cell: the cell.
      setups: of the block's seeds.
      block: the block.
      waiting: the lanes of all its seeds before their first round; None: all have slots.
      number: () int32, the first so many of its seeds are to run.
      rounds: () int32.
      program: the program.

    Returns:
      The block; () bool, True if all seeds have reached their horizon; () bool, True if one stopped
      short of it, by committing to nothing.
    """
    unfinished = each_lane(_is_unfinished, program)
    play_round = each_lane(_play, program)

    def seen(block: Block) -> Seed:
        return each_lane(_seed, program)(cell, *_of(block.seeds, (setups, None)))

    def wait(block: Block) -> jax.Array:
        """True for the cells with seeds that wait for a slot."""
        return (block.following < number) & (waiting is not None)

    def going(loop: tuple[jax.Array, Block, Seed, jax.Array]) -> jax.Array:
        turn, block, _, stuck = loop
        left = jnp.any(wait(block)) | jnp.any(unfinished(cell, block.seeds, block.lanes))
        return (turn < rounds) & left & ~stuck

    def is_due(loop: tuple[Block, Seed]) -> jax.Array:
        block = loop[0]
        ended = ~unfinished(cell, block.seeds, block.lanes)
        free = ended & wait(block)[..., None]
        many = EXCHANGED * jnp.sum(free, dtype=jnp.int32) >= free.size
        return jnp.any(free) & (many | jnp.all(ended))

    def exchange(loop: tuple[Block, Seed]) -> tuple[Block, Seed]:
        block = loop[0]
        ended = ~unfinished(cell, block.seeds, block.lanes)
        following = block.following[..., None] + jnp.cumsum(ended, axis=-1, dtype=jnp.int32) - 1
        comes = ended & (following < number)
        seeds = jnp.where(comes, following, block.seeds)
        lanes = jax.tree.map(partial(_where, comes), _of(seeds, waiting), block.lanes)
        block = block._replace(
            seeds=seeds,
            lanes=lanes,
            following=block.following + jnp.sum(comes, axis=-1, dtype=jnp.int32),
        )
        return block, seen(block)

    def play(
        loop: tuple[jax.Array, Block, Seed, jax.Array],
    ) -> tuple[jax.Array, Block, Seed, jax.Array]:
        turn, block, seeds, _ = loop
        if waiting is not None:
            block, seeds = lax.while_loop(is_due, exchange, (block, seeds))
        lanes, plays, empty = play_round(cell, seeds, block.lanes)
        block = block._replace(lanes=lanes)
        stuck = jnp.any(empty & unfinished(cell, block.seeds, lanes))
        return turn + 1, _recorded(cell, plays, block, program), seeds, stuck

    loop = jnp.int32(0), block, seen(block), jnp.bool_(False)
    _, block, _, stuck = lax.while_loop(going, play, loop)
    left = jnp.any(wait(block)) | jnp.any(unfinished(cell, block.seeds, block.lanes))
    return block, ~left, stuck


def _seed(cell: Cell, setup: Setup, _: None) -> Seed:
    return Seed(setup, cell.instance.of_arms(setup.arms))


def _of(seeds: jax.Array, arrays: Any) -> Any:
    """The entries of seeds, (S,), in arrays over all seeds of a block; of each cell."""

    def take(seeds: jax.Array, x: jax.Array) -> jax.Array:
        return x.at[seeds].get(mode="promise_in_bounds")

    of_cells = jax.vmap(take) if seeds.ndim > 1 else take
    return jax.tree.map(partial(of_cells, seeds), arrays)


def _where(chosen: jax.Array, new: jax.Array, old: jax.Array) -> jax.Array:
    """`new` in the lanes that are chosen."""
    axes = tuple(range(chosen.ndim, new.ndim))
    return jnp.where(jnp.expand_dims(chosen, axes), new, old)


def _is_unfinished(cell: Cell, _: Any, lane: RoundLane) -> jax.Array:
    """True if a lane has not reached its horizon, nor its last checkpoint in votes: () bool."""
    return (lane.done < cell.checkpoints[-1]) & ~is_full(cell, lane.ballots)


class Played(NamedTuple):
    """A round that was played, for the checkpoints inside it."""

    plan: Batch | PullBatch
    totals: jax.Array  # (K,) int32: comparisons with each arm as the first, or its pulls
    starts: jax.Array  # (K,) int32: comparisons or pulls of the round before these
    above: jax.Array | None  # (K / R, K) int32: of a `Batch`, sums over the rows before every R-th
    began: jax.Array  # () int32: comparisons or pulls made before the round
    tallies: Tallies  # before the round
    reached: jax.Array  # () int32: checkpoints up to its end


def _play(cell: Cell, seed: Seed, lane: RoundLane) -> tuple[RoundLane, Played, jax.Array]:
    """One round of one seed."""
    policy, setup, number = cell.policy, seed.setup, lane.round + 1
    key = fold_in(setup.policy, number)
    plan: Batch | PullBatch = policy.act(lane.state, key)
    noise = fold_in(setup.environment, number)
    outcome = seed.instance.sample_batch(noise, plan, lane.done)

    counts, above = plan.counts, None
    totals = counts
    if isinstance(plan, Batch):
        totals = jnp.sum(counts, axis=1, dtype=jnp.int32)
        parts = jnp.pad(counts, ((0, -len(counts) % _rows(counts)), (0, 0)))
        parts = parts.reshape(-1, _rows(counts), len(counts))
        sums = jnp.sum(parts, axis=1, dtype=jnp.int32)
        above = jnp.cumsum(sums, axis=0, dtype=jnp.int32) - sums
    ends = jnp.cumsum(totals, dtype=jnp.int32)
    total = ends[-1]
    done, times = lane.done + total, cell.checkpoints
    counting = lax.iota(jnp.int32, len(times)) < cell.points
    reached = jnp.sum((times <= done) & counting, dtype=jnp.int32)
    played = Played(plan, totals, ends - totals, above, lane.done, lane.tallies, reached)
    ballots = lane.ballots
    if ballots is not None:
        ballots = cast_batch(cell, setup.arms, ballots, plan, outcome)
    state = policy.update(lane.state, plan, outcome, key)
    lane = lane._replace(
        state=state,
        round=number,
        batches=lane.batches + (total > 0),
        done=done,
        tallies=count(cell, setup.arms, lane.tallies, plan, outcome, lane.done),
        ballots=hear(cell, ballots, state),
    )
    return lane, played, total == 0


def _rows(counts: jax.Array) -> int:
    """R of a `Played`: of so many rows a checkpoint adds up one by one."""
    return math.isqrt(len(counts))


def _recorded(cell: Cell, played: Played, block: Block, program: Program) -> Block:
    """The block with the checkpoints in the round just played, of all slots one after another, as
    many at a time as there are slots."""
    axes = 2 if program.stacked else 1
    lanes, shape = block.lanes, block.seeds.shape

    def flat(x: jax.Array) -> jax.Array:
        return x.reshape(-1, *x.shape[axes:])

    of_lanes, size = jax.tree.map(flat, played), block.seeds.size
    record, seeds, cursors = jax.tree.map(flat, (block.record, block.seeds, lanes.cursor))
    if program.stacked:
        cells = jnp.repeat(jnp.arange(shape[0], dtype=jnp.int32), shape[1])
        seeds += cells * block.batches.shape[1]
    number = jnp.maximum(of_lanes.reached - cursors, 0)
    ends = jnp.cumsum(number, dtype=jnp.int32)
    starts = ends - number

    def turn(loop: tuple[jax.Array, Tallies]) -> tuple[jax.Array, Tallies]:
        first, record = loop
        entry = first + lax.iota(jnp.int32, size)
        lane = owners(starts, first, size)
        at = cursors[lane] + entry - starts[lane]
        time = cell.checkpoints[(lane // shape[-1], at) if program.stacked else at]

        def tallied(lane: jax.Array, time: jax.Array) -> Tallies:
            return _tallied(of_lanes, lane, time)

        now = jax.vmap(tallied)(lane, time)
        home = jnp.where(entry < ends[-1], seeds[lane], block.batches.size)
        record = jax.tree.map(lambda x, new: x.at[home, at].set(new, mode="drop"), record, now)
        return first + size, record

    _, record = lax.while_loop(lambda loop: loop[0] < ends[-1], turn, (jnp.int32(0), record))
    batches = block.batches.ravel().at[seeds].set(lanes.batches.ravel(), mode="promise_in_bounds")
    whole = block.batches.shape
    return block._replace(
        lanes=lanes._replace(cursor=lanes.cursor + number.reshape(shape)),
        record=jax.tree.map(lambda x: x.reshape(*whole, *x.shape[1:]), record),
        batches=batches.reshape(whole),
    )


def _tallied(of_lanes: Played, lane: jax.Array, time: jax.Array) -> Tallies:
    """The tallies of a lane at a time in the round that it has just played, outcomes left out.

    Of a `Batch` these are whole rows and a part of one row: O(K^1.5), if pairs are not counted.
    """
    counts, above = of_lanes.plan.counts, of_lanes.above
    starts, within = of_lanes.starts[lane], time - of_lanes.began[lane]
    tallies = jax.tree.map(lambda x: x[lane], of_lanes.tallies)
    plays = jnp.clip(within - starts, 0, of_lanes.totals[lane])
    if above is None:
        return tallies._replace(plays=tallies.plays + plays.astype(jnp.uint32))
    row = jnp.maximum(jnp.sum(starts <= within, dtype=jnp.int32) - 1, 0)
    here = counts[lane, row]
    before = starts[row] + jnp.cumsum(here, dtype=jnp.int32) - here
    part = jnp.clip(within - before, 0, here)
    size = _rows(counts[0])
    rows = row // size * size + lax.iota(jnp.int32, size)
    last = counts.at[lane, rows].get(mode="clip")
    plays += above[lane, row // size] + part
    plays += jnp.sum(jnp.where(rows[:, None] < row, last, 0), axis=0, dtype=jnp.int32)
    pairs = tallies.pairs
    if pairs is not None:
        rows = lax.iota(jnp.int32, len(pairs))[:, None]
        pairs = pairs + jnp.where(rows < row, counts[lane], jnp.where(rows == row, part, 0))
    return tallies._replace(plays=tallies.plays + plays.astype(jnp.uint32), pairs=pairs)
