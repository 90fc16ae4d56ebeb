"""A `cond` that stays sparse under `vmap`: only the lanes that need the work pay for it.

Under `jax.vmap` a `lax.cond` becomes a `select`: every lane pays for what one needs. Here the lanes
that need the work are gathered, few at a time, worked on and put back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

from jaxduel.numerics.target import for_accelerator

_SLOTS = 8
"""Lanes that are worked on together on a CPU, by default."""
_ACCELERATOR_PART = 4
"""Most turns in which an accelerator serves all lanes: a turn costs its kernels, not its lanes."""


def compacted_cond(
    work: Callable[..., Any],
    needed: jax.Array,
    value: Any,
    *context: Any,
    table: Any = None,
    effort: jax.Array | None = None,
    is_light: bool = False,
    together: int = _SLOTS,
) -> Any:
    """`work(value, *context)` if `needed`, else `value`, like a `lax.cond`.

    Under `jax.vmap` only lanes that need the work pay for it: a few at a time on a CPU, a quarter
    of all (at least 8) on an accelerator. Where the work loops, lanes that go together take as long
    as the slowest. Results do not depend on the grouping, except for the rounding that XLA chooses
    for the shape.

    Args:
      work: a function of arrays of one lane. It must be the same object in every call, as functions
        of a module are, and close over no array, not even one of NumPy: all that it reads is in
        `value` and `context`. JAX refuses such constants where a vmapped `lax.cond` has the work in
        a branch.
      needed: () bool.
      value: a tree of arrays; `work` returns one of the same shapes and dtypes.
      *context: trees of arrays that `work` reads.
      table: a tree of arrays of which `work` reads few entries, too large to be gathered whole. If
        given, `work` has one more argument at the end: a function from indices in range, into the
        first axes of all these arrays, to the tree of the entries there.
      effort: () int32, a guess of how long the work will loop, 0 to 2^31 over the number of lanes:
        on a CPU lanes of similar effort go together.
      is_light: true if the work costs less than finding the lanes that need it on an accelerator:
        then all lanes do it there.
      together: number of lanes that go together on a CPU. One is best where the work loops for
        very different times, over arrays that are large enough by themselves.
    """
    if is_light and table is None and for_accelerator():
        return jax.tree.map(partial(jnp.where, needed), work(value, *context), value)
    over_lanes = _over_lanes(work, together, for_accelerator())
    return over_lanes(needed, value, context, table, effort)


@cache
def _over_lanes(work: Callable[..., Any], together: int, accelerated: bool) -> Any:
    """`compacted_cond` with a batching rule, one per target: JAX may keep its traces."""

    @custom_vmap
    def one(
        needed: jax.Array,
        value: Any,
        context: Any,
        table: Any,
        effort: jax.Array | None,
    ) -> Any:

        def turn(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
            return jnp.zeros_like(needed), work(carry[1], *context, *_reader(table))

        # a loop of one turn or none: where a cond does nothing, XLA copies the value
        return lax.while_loop(lambda carry: carry[0], turn, (needed, value))[1]

    @one.def_vmap
    def _(size: int, batched: Any, *given: Any) -> Any:
        def wide(x: jax.Array, is_batched: bool) -> jax.Array:
            return x if is_batched else jnp.broadcast_to(x, (size, *x.shape))

        arguments = jax.tree.map(wide, given, tuple(batched))
        done = _lanes(work, together, accelerated)(*arguments)
        return done, jax.tree.map(lambda _: True, done)

    return one


@cache
def _lanes(work: Callable[..., Any], together: int, accelerated: bool) -> Any:
    """The work for arrays of lanes; vmapping it adds lanes instead of an axis."""

    @custom_vmap
    def many(*given: Any) -> Any:
        return _compacted(work, together, accelerated, *given)

    @many.def_vmap
    def _(size: int, batched: Any, *given: Any) -> Any:
        def flat(x: jax.Array, is_batched: bool) -> jax.Array:
            x = x if is_batched else jnp.broadcast_to(x, (size, *x.shape))
            return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])

        lanes = given[0].shape[-1]
        arguments = jax.tree.map(flat, given, tuple(batched))
        done = many(*arguments)
        done = jax.tree.map(lambda x: x.reshape(size, lanes, *x.shape[1:]), done)
        return done, jax.tree.map(lambda _: True, done)

    return many


def _reader(table: Any, *lane: jax.Array) -> tuple[Callable[..., Any], ...]:
    """The function that reads a lane's tables, in a tuple; an empty one where there is no table."""
    if table is None:
        return ()

    def read(*index: jax.Array) -> Any:
        return jax.tree.map(lambda x: x.at[(*lane, *index)].get(mode="promise_in_bounds"), table)

    return (read,)


def _compacted(
    work: Callable[..., Any],
    together: int,
    accelerated: bool,
    needed: jax.Array,
    value: Any,
    context: Any,
    table: Any,
    effort: jax.Array | None,
) -> Any:
    """The work for the lanes of (L, ...) arrays that need it, a few at a time."""
    lanes = needed.shape[0]
    if lanes == 1 and not accelerated:
        # no loop: XLA would move work on the context, the same in all turns, out of it
        alone, v, c, t = jax.tree.map(lambda x: x[0], (needed, value, context, table))
        done = lax.cond(alone, lambda v: work(v, *c, *_reader(t)), lambda v: v, v)
        return jax.tree.map(lambda x: x[None], done)
    slots = min(together, lanes)
    if accelerated:
        slots, effort = max(min(_SLOTS, lanes), -(-lanes // _ACCELERATOR_PART)), None
    order, number = _queue(needed, effort, slots)

    def turn(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        left, value = carry
        here = lax.dynamic_slice(order, (left,), (slots,))
        read = jnp.where(here < lanes, here, here[-1])  # spare slots repeat the last lane; dropped
        gathered = jax.tree.map(lambda x: x[read], (value, context))
        done = jax.vmap(lambda lane, v, c: work(v, *c, *_reader(table, lane)))(read, *gathered)
        value = jax.tree.map(lambda x, new: x.at[here].set(new, mode="drop"), value, done)
        return left - slots, value

    return lax.while_loop(lambda carry: carry[0] > 0, turn, (number, value))[1]


def _queue(needed: jax.Array, effort: jax.Array | None, spare: int) -> tuple[jax.Array, jax.Array]:
    """The lanes that need the work, least effort first, behind `spare` entries of L; their number.

    Returns:
      (L + spare,) int32, and () int32.
    """
    lanes = needed.shape[0]
    numbers = lax.iota(jnp.int32, lanes)
    if effort is None:
        ends = jnp.cumsum(needed, dtype=jnp.int32)
        place = jnp.where(needed, spare + ends - 1, lanes + spare)
        nobody = jnp.full(lanes + spare, lanes, jnp.int32)
        return nobody.at[place].set(numbers, mode="drop"), ends[-1]
    last = jnp.iinfo(jnp.int32).max
    # one array: XLA sorts two together in six times the time
    key = lax.sort(jnp.where(needed, effort * lanes + numbers, last))
    order = jnp.where(key < last, key % lanes, lanes)
    return jnp.pad(order, (spare, 0), constant_values=lanes), jnp.sum(needed, dtype=jnp.int32)
