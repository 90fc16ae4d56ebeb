"""Choice of an arm in proportion to weights, by one uniform number."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def weighted_choice(weights: jax.Array, u: jax.Array) -> jax.Array:
    """An arm with a probability in proportion to its weight; one of weight 0 is never chosen.

    Prefix sums are added up as a tree, in an order that no width of a block changes, and so rounded
    that they may fall: of the arms of positive weight, the first whose prefix sum is above u times
    the sum of all is chosen, or else the last.

    Args:
      weights: (K,) float32, not negative, one at least positive (else the result is meaningless).
      u: () float32, uniform in [0, 1).

    Returns:
      () int32.
    """
    arms, ends = jnp.arange(len(weights), dtype=jnp.int32), jnp.cumsum(weights)
    members = weights > 0
    first = jnp.min(jnp.where(members & (ends > u * ends[-1]), arms, len(weights)))
    return jnp.maximum(jnp.minimum(first, jnp.max(jnp.where(members, arms, -1))), 0)
