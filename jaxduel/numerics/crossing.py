"""Search for the time at which a monotone condition first fails, and quiet runs cut there."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_PROBES = 16
"""Times tried at once; the first ones differ from the guess by powers of four, up to 2^30."""
_MOST = np.float32(2**31 - 128)
"""The largest float32 that is an int32."""


def count_while_true(
    holds: Callable[[jax.Array], jax.Array],
    t: jax.Array,
    limit: jax.Array,
    guess: jax.Array | None = None,
) -> jax.Array:
    """Number of the times t + 1, t + 2, ... at which a condition holds, before it first fails.

    The condition itself is evaluated, with its rounding, so the crossing is exact. A closed form in
    float32 would miss it by many comparisons where t is large, but may be the guess. The search
    costs rounds of a loop, so every round tries many times: about log2(n) / 4 rounds for a crossing
    n comparisons from the guess.

    Args:
      holds: whether the condition holds at a time, () int32 to () bool; once it fails, it must fail
        at all later times.
      t: () int32, now.
      limit: () int32, at least 0: times after t + limit do not matter, and t + limit must not
        exceed int32.
      guess: () float32, about the last time at which the condition holds; t if None.

    Returns:
      () int32 from 0 to limit.
    """
    probe = jax.vmap(holds)

    def apart(bounds: tuple[jax.Array, jax.Array]) -> jax.Array:
        low, high = bounds
        return high - low > 1

    def narrowed(low: jax.Array, high: jax.Array, ahead: jax.Array) -> tuple[jax.Array, jax.Array]:
        within = (ahead > low) & (ahead < high)
        good = probe(t + jnp.where(within, ahead, low))
        last = jnp.max(jnp.where(within & good, ahead, low))
        return last, jnp.min(jnp.where(within & ~good, ahead, high))

    def section(bounds: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bounds
        gap = lax.div(high - low, jnp.int32(_PROBES + 1)) + 1
        numbers = jnp.arange(1, _PROBES + 1, dtype=jnp.int32)
        return narrowed(low, high, low + jnp.minimum(gap * numbers, high - low))

    near, offsets = jnp.int32(0), 4 ** np.arange(_PROBES)
    if guess is not None:
        ahead = jnp.clip(guess - t.astype(jnp.float32), 0, _MOST)
        near, half = jnp.minimum(ahead.astype(jnp.int32), limit), offsets[: _PROBES // 2]
        offsets = np.concatenate((-half[:-1], [0], half))
    ahead = near + jnp.minimum(jnp.asarray(offsets, jnp.int32), limit - near)
    low, high = lax.while_loop(apart, section, narrowed(jnp.int32(0), limit, ahead))
    return jnp.where((high > low) & holds(t + high), high, low)


def drawn_run(
    asked: jax.Array,
    length: jax.Array,
    holds: Callable[[jax.Array], jax.Array],
    t: jax.Array,
    limit: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Length of a randomly drawn run, cut where the law of the draw ends.

    Args:
      asked: whether there is a run at all, () bool.
      length: the drawn length, () int32 from 0 to limit, which stands for all longer runs.
      holds: as for `count_while_true`: whether the law still applies to comparison number t.
      t: () int32, now.
      limit: () int32, at least 0.

    Returns:
      The run's length, () int32, and () bool, True if it ends as drawn: then the next comparison is
      one that ends a run. After a run that is cut, or reaches the limit, the next comparison is
      unknown.
    """
    longest = jnp.where(asked, length + (length < limit), 0)
    stays = holds(t + longest)  # usually True, and then no search is needed
    within = count_while_true(holds, t, jnp.where(stays, 0, longest))
    within = jnp.where(stays, longest, within)
    n = jnp.minimum(length, within)
    return n, n < within
