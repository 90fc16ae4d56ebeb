"""Numbers for the few marked entries of an array, by one queue over all lanes of a block.

Under `jax.vmap` a loop over a lane's marked entries takes as many turns as the lane with the most
of them needs. Here the marked entries of all lanes form one queue, served by a fixed number of
slots: a slot proposes until its entry is done, then takes the next. Every number depends on its
lane's seed, its position and its number of trials alone, not on the queue: an accelerator, where
turns are expensive and slots cheap, serves the queue in another way and draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

from jaxduel.numerics import pairs
from jaxduel.numerics.choice import nth_bit, pack_bits, pack_rows
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.queues import owners
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import KeyWords, random_words

_WORD = 32
Proposing = Callable[..., tuple[jax.Array, jax.Array]]
Across = Callable[..., jax.Array]

_FEWEST_SLOTS = 64
FEW_SLOTS, MANY_SLOTS = 128, 512
"""About the most slots on a CPU, where few entries are marked at a time, and where many are."""
_SHORT = 16
"""Up to so many arms the bits of pairs are packed down the columns: XLA unrolls loops along rows so
short, and then reads them without vectors."""
_TRIES = 4
"""Proposals per slot and turn on an accelerator: 0.9997 of the entries need no further turn."""
_MOST_ENTRIES = 2**30
"""Most entries of one queue: places in it, and slots beyond its end, are int32."""
_GOES_ON = {"float32": 0x7FC0600D, "int32": -(2**31)}
"""Marks of a number whose trials go on: a NaN that no arithmetic gives; the least integer."""


def draw_marked(
    propose: Proposing,
    stream: int,
    seed: KeyWords,
    marked: jax.Array,
    drawn: jax.Array,
    *parameters: jax.Array,
    across: Across | None = None,
    most_slots: int = FEW_SLOTS,
) -> jax.Array:
    """Numbers drawn where marked, each in as many trials as it takes.

    Args:
      propose: an elementwise function of random words, uint32 (2, ...), and the parameters, to a
        number, float32 or int32, and whether it ends the trials, bool. It must be the same object
        in every call and close over no array.
      stream: the first stream of random words used; all later streams are used, too.
      seed: the step's seed; () each.
      marked: (..., N) bool, the entries to draw.
      drawn: (..., N), the numbers elsewhere, of the same dtype; none may be the least integer.
      *parameters: (..., N) each.
      across: for arrays (N, N) of pairs, marked on one side of the diagonal: a function of a number
        and its parameters to the number across the diagonal. Then `propose` and `across` also get
        the parameters' entries across the diagonal, last. It must be the same object in every call.
      most_slots: about the most entries served side by side on a CPU: more where more are marked at
        once.

    Returns:
      (..., N), like `drawn`.
    """
    if across is not None and for_accelerator():
        parameters = _both_ways(parameters)
    rows = (x.reshape(1, -1, x.shape[-1]) for x in (marked, drawn, *parameters))
    serve = _served_by_many if for_accelerator() else _served
    draws = _Draws(propose, stream, across, most_slots)
    served = _queue(serve, draws)(seed.first[None], seed.second[None], *rows)
    served = served.reshape(marked.shape)
    if across is not None and for_accelerator():
        return _mirrored(across, marked, served, parameters)
    return served


class _Draws(NamedTuple):
    """The static arguments of a queue."""

    propose: Proposing
    stream: int
    across: Across | None
    most_slots: int


def _both_ways(parameters: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """The parameters of pairs, then their entries across the diagonal."""
    return *parameters, *(pairs.across(x) for x in parameters)


def _mirrored(
    across: Across, marked: jax.Array, numbers: jax.Array, parameters: tuple[jax.Array, ...]
) -> jax.Array:
    """The numbers of pairs; each marked pair also gets its number across the diagonal."""
    other = across(numbers, *parameters)
    return jnp.where(pairs.across(marked), pairs.across(other), numbers)


def where_marked(
    work: Callable[..., jax.Array],
    marked: jax.Array,
    values: jax.Array,
    *parameters: jax.Array,
    across: Across | None = None,
    most_slots: int = FEW_SLOTS,
) -> jax.Array:
    """`work(*parameters)` where marked, `values` elsewhere; only marked entries cost the work.

    On an accelerator all entries are computed, which costs less than finding the marked ones.

    Args:
      work: an elementwise function of the parameters, to float32; the same object in every call,
        closing over no array.
      marked: (..., N) bool.
      values: (..., N) float32.
      *parameters: (..., N) each.
      across, most_slots: as for `draw_marked`.

    Returns:
      (..., N) float32.
    """
    if for_accelerator():
        read = _both_ways(parameters) if across else parameters
        numbers = jnp.where(marked, work(*read), values)
        return _mirrored(across, marked, numbers, read) if across else numbers
    nobody = KeyWords(jnp.uint32(0), jnp.uint32(0))
    return draw_marked(
        _at_once(work), 0, nobody, marked, values, *parameters, across=across, most_slots=most_slots
    )


@cache
def _at_once(work: Callable[..., jax.Array]) -> Proposing:
    """Proposes the work's number, and ends the trials."""

    def propose(_: jax.Array, *parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        number = work(*parameters)
        return number, jnp.ones_like(number, dtype=bool)

    return propose


@cache
def _queue(serve: Callable[..., jax.Array], draws: _Draws) -> Any:
    """`_served_in_parts`; vmapping it adds lanes to the queue."""
    queue = custom_vmap(partial(_served_in_parts, serve, draws))

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
    marked: jax.Array  # (L, R, N) bool
    drawn: jax.Array  # (L, R, N) float32 or int32
    parameters: tuple[jax.Array, ...]  # (L, R, N) each


def _served_in_parts(
    serve: Callable[..., jax.Array],
    draws: _Draws,
    first: jax.Array,
    second: jax.Array,
    marked: jax.Array,
    drawn: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """Serves one queue, or, if the entries are too many, one for each of a few parts of the
    lanes."""
    lanes = _Lanes(first, second, marked, drawn, parameters)
    total, rows, num = marked.shape
    each = max(_MOST_ENTRIES // (rows * num), 1)
    parts = []
    for start in range(0, total, each):
        here = jax.tree.map(lambda x, start=start: x[start : start + each], lanes)
        parts.append(serve(draws, here))
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _served(draws: _Draws, lanes: _Lanes) -> jax.Array:
    """Serves the queue of the marked entries."""
    propose, stream, across, most_slots = draws
    first, second, marked, before, parameters = lanes
    total, rows, num = marked.shape
    by_columns = rows == num <= _SHORT
    pack = pack_rows if by_columns else jax.vmap(pack_bits)
    words = jax.vmap(pack)(marked)  # (L, 1, N) or (L, R, N / 32)
    _, along, beside = words.shape
    width = min(rows if by_columns else num, _WORD)
    slots = _slots(total, rows * num, most_slots)
    queue = _queue_of(words.ravel(), slots)

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        at, trial, following, place, drawn = carry
        free = at < 0
        rank = jnp.cumsum(free, dtype=jnp.int32)
        come, places = _next_entries(queue, following, place, slots, width)
        at = jnp.where(free, come[jnp.maximum(rank - 1, 0)], at)
        following = following + rank[-1]
        place = places[jnp.minimum(rank[-1], slots - 1)]
        waiting, entry = at >= 0, jnp.maximum(at, 0)
        word, bit = entry // width, entry % width
        lane, row, column = word // (along * beside), word // beside % along, word % beside
        row, column = (bit, column) if by_columns else (row, column * _WORD + bit)
        position = row * num + column
        here = KeyWords(first[lane], second[lane])
        pair = random_words(here, position, stream + trial)
        read = [x[lane, row, column] for x in parameters]
        if across is not None:
            read += [x[lane, column, row] for x in parameters]
        proposed = propose(jnp.stack(pair), *read)
        y, ends_here = _computed_once(*proposed, trial[0] < 0)
        done = ends_here & waiting
        start = jnp.where(done, lane * (rows * num), marked.size)
        drawn = drawn.at[start + position].set(y, mode="drop")
        if across is not None:
            drawn = drawn.at[start + column * num + row].set(across(y, *read), mode="drop")
        return jnp.where(done, -1, at), jnp.where(done, 0, trial + 1), following, place, drawn

    nobody = jnp.full(slots, -1, jnp.int32)
    start = (nobody, jnp.zeros(slots, jnp.int32), jnp.int32(0), jnp.int32(0), before.ravel())
    drawn = lax.while_loop(
        lambda carry: (carry[2] < queue.size) | jnp.any(carry[0] >= 0), turn, start
    )[4]
    return drawn.reshape(marked.shape)


class _Queue(NamedTuple):
    """The marked entries in order, as bits of words."""

    words: jax.Array  # (W,) uint32
    starts: jax.Array  # (W,) int32, marked entries before each word
    filled: jax.Array  # (W + S + 1,) int32, numbers of the words with marked entries, then W
    size: jax.Array  # () int32, of marked entries


def _queue_of(words: jax.Array, slots: int) -> _Queue:
    """The queue of the bits of (W,) words."""
    counts, size = lax.population_count(words).astype(jnp.int32), len(words)
    ends, is_filled = jnp.cumsum(counts, dtype=jnp.int32), counts > 0
    place = jnp.where(is_filled, jnp.cumsum(is_filled, dtype=jnp.int32) - 1, 2 * size + slots)
    filled = jnp.full(size + slots + 1, size, jnp.int32)
    filled = filled.at[place].set(lax.iota(jnp.int32, size), mode="drop")
    return _Queue(words, ends - counts, filled, ends[-1])


def _next_entries(
    queue: _Queue, following: jax.Array, place: jax.Array, slots: int, width: int
) -> tuple[jax.Array, jax.Array]:
    """The next entries of the queue.

    Args:
      queue: the queue.
      following: () int32, the number of the first entry.
      place: () int32, the place in `filled` of its word, or of the word before.
      slots: S.
      width: bits of a word.

    Returns:
      (S,) int32, the entries, word times width plus bit, -1 beyond the last; (S,) int32, the places
      of their words.
    """
    here = lax.dynamic_slice(queue.filled, (place,), (slots + 1,))  # the first may be used up
    there = here < len(queue.words)
    starts = jnp.where(there, queue.starts.at[here].get(mode="clip"), jnp.iinfo(jnp.int32).max)
    which = owners(starts, following, slots)
    word = here[which]
    number = following + lax.iota(jnp.int32, slots)
    bit = nth_bit(queue.words.at[word].get(mode="clip"), number - starts[which])
    return jnp.where(number < queue.size, word * width + bit, -1), place + which


def _computed_once(
    number: jax.Array, ends_here: jax.Array, never: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """A proposal, kept in memory as one array: XLA would compute it twice, for number and flag.

    Args:
      number: float32 or int32, of any shape.
      ends_here: bool, the same shape.
      never: as for `materialize`.
    """
    goes_on = _GOES_ON[number.dtype.name]
    word = jnp.where(ends_here, lax.bitcast_convert_type(number, jnp.int32), goes_on)
    word = materialize(word, never)
    return lax.bitcast_convert_type(word, number.dtype), word != goes_on


def _served_by_many(draws: _Draws, lanes: _Lanes) -> jax.Array:
    """`_served` with a slot for each lane, which takes every L-th entry and tries several times at
    once; without `across`."""
    propose, stream = draws.propose, draws.stream
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


def _slots(lanes: int, entries: int, most_slots: int) -> int:
    """Number of slots that serve the queue: one per 32 entries, marked or not, within limits."""
    most = max(most_slots, lanes // 4)
    return min(max(lanes * entries // 32, _FEWEST_SLOTS), most, lanes * entries)
