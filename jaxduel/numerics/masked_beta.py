"""Beta draws for the few marked entries of an array, by one queue over all lanes of a block.

Under `jax.vmap` a loop over a lane's marked entries takes as many turns as the lane with the most
of them needs. Here the marked entries of all lanes form one queue, served by a fixed number of
slots: a slot proposes until its entry is accepted, then takes the next. Every number depends on its
lane's seed, its position and its number of trials alone, not on the queue: an accelerator, where
turns are dear and slots cheap, serves it otherwise and draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

from jaxduel.numerics.beta import propose_logit
from jaxduel.numerics.choice import nth_bit, pack_bits
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import KeyWords, random_words

_WORD = 32
Reading = Callable[[jax.Array], jax.Array]

_FEWEST_SLOTS, _MANY_SLOTS = 64, 256
_MOST_PAIRS = 2**15
_TRIES = 4
"""Proposals of a slot in a turn on an accelerator: 0.9997 of the entries need no further turn."""
_MOST_ENTRIES = 2**30
"""Most entries of one queue: places in it, and slots beyond its end, are int32."""


def logits_above_half(
    seed: KeyWords,
    stream: int,
    marked: jax.Array,
    wins: jax.Array,
    losses: jax.Array,
    reading: Reading = lambda y: y,
) -> jax.Array:
    """y = logit(theta) > 0, theta ~ Beta(wins + 1, losses + 1) given theta > 1/2, where marked.

    Args:
      seed: the step's seed; () each.
      stream: of the random words; this function uses all from `stream` on.
      marked: (N,) bool, the entries to draw.
      wins: (N,) int32, counts, at least 0.
      losses: (N,) int32.
      reading: an elementwise function of y, to return instead of y.

    Returns:
      (N,) float32, 0 where not marked.
    """
    drawn = _queue(stream, reading)(
        seed.first[None], seed.second[None], marked[None], wins[None], losses[None]
    )
    return drawn[0]


@cache
def _queue(stream: int, reading: Reading) -> Any:
    """`_served_in_parts` such that vmapping it adds lanes to the queue, not a loop in step."""
    queue = custom_vmap(partial(_served_in_parts, stream, reading))

    @queue.def_vmap
    def _(size: int, batched: list[bool], *lanes: jax.Array) -> tuple[jax.Array, bool]:
        wide = [
            x if is_batched else jnp.broadcast_to(x, (size, *x.shape))
            for x, is_batched in zip(lanes, batched, strict=True)
        ]
        drawn = queue(*(x.reshape(size * x.shape[1], *x.shape[2:]) for x in wide))
        return drawn.reshape(wide[2].shape), True

    return queue


class _Lanes(NamedTuple):
    """The entries of all lanes."""

    first: jax.Array  # (L,) uint32, of the seeds, like `second`
    second: jax.Array
    marked: jax.Array  # (L, N) bool
    wins: jax.Array  # (L, N) int32
    losses: jax.Array  # (L, N) int32


def _served_in_parts(stream: int, reading: Reading, *lanes: jax.Array) -> jax.Array:
    """The queue served, or one for each of as few parts of the lanes as their entries need."""
    serve = _served_by_many if for_accelerator() else _served
    total, num = lanes[2].shape
    each = max(_MOST_ENTRIES // num, 1)
    parts = [
        serve(stream, reading, _Lanes(*(x[start : start + each] for x in lanes)))
        for start in range(0, total, each)
    ]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _served(stream: int, reading: Reading, lanes: _Lanes) -> jax.Array:
    """Serves the queue of the marked entries."""
    first, second, marked, wins, losses = lanes
    num = marked.shape[1]
    words = jax.vmap(pack_bits)(marked)  # (L, N / 32)
    per_lane = words.shape[1]
    words = words.ravel()
    counts = lax.population_count(words).astype(jnp.int32)
    ends = jnp.cumsum(counts, dtype=jnp.int32)
    slots = _slots(*marked.shape)

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        number, trial, following, drawn = carry  # number: the slots' places in the queue
        waiting = number < ends[-1]
        row = jnp.minimum(_first_beyond(ends, number), len(ends) - 1)
        bit = nth_bit(words[row], number - (ends[row] - counts[row]))
        lane, position = row // per_lane, row % per_lane * _WORD + bit
        here = KeyWords(first[lane], second[lane])
        pair = random_words(here, position, stream + trial)
        y, accepted = propose_logit(
            jnp.stack(pair), wins[lane, position] + 1, losses[lane, position] + 1
        )
        done = accepted & waiting
        place = jnp.where(done, lane * num + position, marked.size)
        drawn = drawn.at[place].set(reading(y), mode="drop")
        rank = jnp.cumsum(done, dtype=jnp.int32)
        number = jnp.where(done, following + rank - 1, number)
        return number, jnp.where(done, 0, trial + 1), following + rank[-1], drawn

    start = (
        lax.iota(jnp.int32, slots),
        jnp.zeros(slots, jnp.int32),
        jnp.int32(slots),
        jnp.zeros(marked.size, jnp.float32),
    )
    drawn = lax.while_loop(lambda carry: jnp.any(carry[0] < ends[-1]), turn, start)[3]
    return drawn.reshape(marked.shape)


def _served_by_many(stream: int, reading: Reading, lanes: _Lanes) -> jax.Array:
    """`_served` with a slot for each lane, which takes every L-th entry and tries several times at
    once."""
    (slots, num), size = lanes.marked.shape, lanes.marked.size
    first, second, marked, wins, losses = map(jnp.ravel, lanes)
    ends = jnp.cumsum(marked, dtype=jnp.int32)
    place = jnp.where(marked, ends - 1, size)
    queue = jnp.zeros(size, jnp.int32).at[place].set(lax.iota(jnp.int32, size), mode="drop")
    tries = lax.iota(jnp.int32, _TRIES)[:, None]

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        number, trial, drawn = carry
        entry = queue[jnp.minimum(number, size - 1)]
        lane, position = entry // num, entry % num
        pair = random_words(KeyWords(first[lane], second[lane]), position, stream + trial + tries)
        y, accepted = propose_logit(jnp.stack(pair), wins[entry] + 1, losses[entry] + 1)
        earliest = y[-1]
        for i in reversed(range(_TRIES - 1)):
            earliest = jnp.where(accepted[i], y[i], earliest)
        done = jnp.any(accepted, axis=0) & (number < ends[-1])
        place = jnp.where(done, entry, size)
        drawn = drawn.at[place].set(reading(earliest), mode="drop")
        number = jnp.where(done, number + slots, number)
        return number, jnp.where(done, 0, trial + _TRIES), drawn

    start = (
        lax.iota(jnp.int32, slots),
        jnp.zeros(slots, jnp.int32),
        jnp.zeros(size, jnp.float32),
    )
    drawn = lax.while_loop(lambda carry: jnp.any(carry[0] < ends[-1]), turn, start)[2]
    return drawn.reshape(slots, num)


def _first_beyond(ends: jax.Array, numbers: jax.Array) -> jax.Array:
    """The index of the first of ascending `ends` above each number, (S,) int32.

    A few are compared with all, in one pass; more take a binary search, a loop of several passes.
    """
    if len(ends) * len(numbers) > _MOST_PAIRS:
        return jnp.searchsorted(ends, numbers, side="right", method="scan").astype(jnp.int32)
    return jnp.sum(ends[:, None] <= numbers, axis=0, dtype=jnp.int32)


def _slots(lanes: int, entries: int) -> int:
    """Number of slots that serve the queue: one per 16 entries, marked or not, within limits."""
    most = max(_MANY_SLOTS, lanes // 4)
    return min(max(lanes * entries // 16, _FEWEST_SLOTS), most, lanes * entries)
