"""Numbers for the few marked entries of an array, by one queue over all lanes of a block.

Under `jax.vmap` a loop over a lane's marked entries takes as many turns as the lane with the most
of them needs. Here the marked entries of all lanes form one queue, served by a fixed number of
slots: a slot proposes until its entry is done, then takes the next. Every number depends on its
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

from jaxduel.numerics.choice import nth_bit, pack_bits
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import KeyWords, random_words

_WORD = 32
Proposing = Callable[..., tuple[jax.Array, jax.Array]]

_FEWEST_SLOTS, _MANY_SLOTS = 64, 128
_MOST_PAIRS = 2**15
_TRIES = 4
"""Proposals of a slot in a turn on an accelerator: 0.9997 of the entries need no further turn."""
_MOST_ENTRIES = 2**30
"""Most entries of one queue: places in it, and slots beyond its end, are int32."""
_GOES_ON = 0x7FC0600D
"""In place of a number whose trials go on: a NaN that no arithmetic has."""


def draw_marked(
    propose: Proposing,
    stream: int,
    seed: KeyWords,
    marked: jax.Array,
    drawn: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """Numbers drawn, each in as many trials as it takes, where marked.

    Args:
      propose: an elementwise function of random words, uint32 (2, ...), and the parameters, to a
        number, float32, and whether it ends the trials, bool. It must be the same object in every
        call and close over no array.
      stream: of the random words; this function uses all from `stream` on.
      seed: the step's seed; () each.
      marked: (..., N) bool, the entries to draw.
      drawn: (..., N) float32, the numbers elsewhere.
      *parameters: (..., N) each.

    Returns:
      (..., N) float32.
    """
    rows = (x.reshape(1, -1, x.shape[-1]) for x in (marked, drawn, *parameters))
    serve = _served_by_many if for_accelerator() else _served
    served = _queue(serve, propose, stream)(seed.first[None], seed.second[None], *rows)
    return served.reshape(marked.shape)


def where_marked(
    work: Callable[..., jax.Array], marked: jax.Array, values: jax.Array, *parameters: jax.Array
) -> jax.Array:
    """`work(*parameters)` where marked, `values` elsewhere; only marked entries cost the work.

    On an accelerator all entries do it, which costs less than finding those.

    Args:
      work: an elementwise function of the parameters, to float32; the same object in every call,
        and over no array.
      marked: (..., N) bool.
      values: (..., N) float32.
      *parameters: (..., N) each.

    Returns:
      (..., N) float32.
    """
    if for_accelerator():
        return jnp.where(marked, work(*parameters), values)
    nobody = KeyWords(jnp.uint32(0), jnp.uint32(0))
    return draw_marked(_at_once(work), 0, nobody, marked, values, *parameters)


@cache
def _at_once(work: Callable[..., jax.Array]) -> Proposing:
    """Proposes the work's number, and ends the trials."""

    def propose(_: jax.Array, *parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        number = work(*parameters)
        return number, jnp.ones_like(number, dtype=bool)

    return propose


@cache
def _queue(serve: Callable[..., jax.Array], propose: Proposing, stream: int) -> Any:
    """`_served_in_parts` such that vmapping it adds lanes to the queue, not a loop in step."""
    queue = custom_vmap(partial(_served_in_parts, serve, propose, stream))

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
    marked: jax.Array  # (L, R, N) bool; each row is packed by itself, which costs less
    drawn: jax.Array  # (L, R, N) float32
    parameters: tuple[jax.Array, ...]  # (L, R, N) each


def _served_in_parts(
    serve: Callable[..., jax.Array],
    propose: Proposing,
    stream: int,
    first: jax.Array,
    second: jax.Array,
    marked: jax.Array,
    drawn: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """The queue served, or one for each of as few parts of the lanes as their entries need."""
    lanes = _Lanes(first, second, marked, drawn, parameters)
    total, rows, num = marked.shape
    each = max(_MOST_ENTRIES // (rows * num), 1)
    parts = []
    for start in range(0, total, each):
        here = jax.tree.map(lambda x, start=start: x[start : start + each], lanes)
        parts.append(serve(propose, stream, here))
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _served(propose: Proposing, stream: int, lanes: _Lanes) -> jax.Array:
    """Serves the queue of the marked entries."""
    first, second, marked, before, parameters = lanes
    total, rows, num = marked.shape
    words = jax.vmap(jax.vmap(pack_bits))(marked)  # (L, R, N / 32)
    per_row = words.shape[2]
    words = words.ravel()
    counts = lax.population_count(words).astype(jnp.int32)
    ends = jnp.cumsum(counts, dtype=jnp.int32)
    slots = _slots(total, rows * num)

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        number, trial, following, drawn = carry  # number: the slots' places in the queue
        waiting = number < ends[-1]
        word = jnp.minimum(_first_beyond(ends, number), len(ends) - 1)
        bit = nth_bit(words[word], number - (ends[word] - counts[word]))
        lane, row = word // (rows * per_row), word // per_row % rows
        column = word % per_row * _WORD + bit
        position = row * num + column
        here = KeyWords(first[lane], second[lane])
        pair = random_words(here, position, stream + trial)
        proposed = propose(jnp.stack(pair), *(x[lane, row, column] for x in parameters))
        y, ends_here = _computed_once(*proposed, trial[0] < 0)
        done = ends_here & waiting
        place = jnp.where(done, lane * (rows * num) + position, marked.size)
        drawn = drawn.at[place].set(y, mode="drop")
        rank = jnp.cumsum(done, dtype=jnp.int32)
        number = jnp.where(done, following + rank - 1, number)
        return number, jnp.where(done, 0, trial + 1), following + rank[-1], drawn

    start = (
        lax.iota(jnp.int32, slots),
        jnp.zeros(slots, jnp.int32),
        jnp.int32(slots),
        before.ravel(),
    )
    drawn = lax.while_loop(lambda carry: jnp.any(carry[0] < ends[-1]), turn, start)[3]
    return drawn.reshape(marked.shape)


def _computed_once(
    number: jax.Array, ends_here: jax.Array, never: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """A proposal, kept in memory as one array: XLA would compute all of it for each of the two.

    Args:
      number: float32, of any shape.
      ends_here: bool, the same shape.
      never: as for `materialize`.
    """
    word = jnp.where(ends_here, lax.bitcast_convert_type(number, jnp.int32), _GOES_ON)
    word = materialize(word, never)
    return lax.bitcast_convert_type(word, jnp.float32), word != _GOES_ON


def _served_by_many(propose: Proposing, stream: int, lanes: _Lanes) -> jax.Array:
    """`_served` with a slot for each lane, which takes every L-th entry and tries several times at
    once."""
    size, slots = lanes.marked.size, len(lanes.marked)
    num = size // slots
    first, second, marked, before, parameters = jax.tree.map(jnp.ravel, lanes)
    ends = jnp.cumsum(marked, dtype=jnp.int32)
    place = jnp.where(marked, ends - 1, size)
    queue = jnp.zeros(size, jnp.int32).at[place].set(lax.iota(jnp.int32, size), mode="drop")
    tries = lax.iota(jnp.int32, _TRIES)[:, None]

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        number, trial, drawn = carry
        entry = queue[jnp.minimum(number, size - 1)]
        lane, position = entry // num, entry % num
        pair = random_words(KeyWords(first[lane], second[lane]), position, stream + trial + tries)
        y, accepted = propose(jnp.stack(pair), *(x[entry] for x in parameters))
        earliest = y[-1]
        for i in reversed(range(_TRIES - 1)):
            earliest = jnp.where(accepted[i], y[i], earliest)
        done = jnp.any(accepted, axis=0) & (number < ends[-1])
        place = jnp.where(done, entry, size)
        drawn = drawn.at[place].set(earliest, mode="drop")
        number = jnp.where(done, number + slots, number)
        return number, jnp.where(done, 0, trial + _TRIES), drawn

    start = (
        lax.iota(jnp.int32, slots),
        jnp.zeros(slots, jnp.int32),
        before,
    )
    drawn = lax.while_loop(lambda carry: jnp.any(carry[0] < ends[-1]), turn, start)[2]
    return drawn.reshape(lanes.marked.shape)


def _first_beyond(ends: jax.Array, numbers: jax.Array) -> jax.Array:
    """The index of the first of ascending `ends` above each number, (S,) int32.

    A few are compared with all, in one pass; more take a binary search, a loop of several passes.
    """
    if len(ends) * len(numbers) > _MOST_PAIRS:
        return jnp.searchsorted(ends, numbers, side="right", method="scan").astype(jnp.int32)
    return jnp.sum(ends[:, None] <= numbers, axis=0, dtype=jnp.int32)


def _slots(lanes: int, entries: int) -> int:
    """Number of slots that serve the queue: one per 32 entries, marked or not, within limits."""
    most = max(_MANY_SLOTS, lanes // 4)
    return min(max(lanes * entries // 32, _FEWEST_SLOTS), most, lanes * entries)
