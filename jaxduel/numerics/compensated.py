"""Compensated summation: running sums that do not stall, as unevaluated pairs of float32.

A plain float32 sum of numbers around 0.1 stops growing at 2^21: each is less than half the total's
grain. Here the rounding error of each addition is kept in a second number, the carry. Together they
hold 47 bits or more: sums of numbers of one size do not stall before 2^40 of them.

Source: D. E. Knuth, "The art of computer programming", volume 2, section 4.2.2, theorem B, for the
exact error of a sum; T. J. Dekker, "A floating-point technique for extending the available
precision", Numerische Mathematik 18 (1971), for the pair.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxduel.numerics.lanes_last import least


def add(total: jax.Array, carry: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Adds x to a pair: the pair that stands for (total + carry) + x.

    Exact but for a rounding of at most 2^-46 of the sum, before or after, whichever is larger: over
    1e9 rewards, 1e-5 of the total if all were rounded the same way, next to nothing if they are
    random. Elementwise; there are no products, so contraction to fused multiply-adds changes no
    bit. It relies on a compiler that does not reassociate, as XLA does not.

    Args:
      total: float32, any shape: 0, or from a previous call.
      carry: of the same shape: 0, or from the same call.
      x: float32, finite, of a shape that broadcasts with them; rounded sums must stay finite.

    Returns:
      total and carry, float32 of the broadcast shape; total is total + carry, rounded.
    """
    high = total + x
    added = high - total
    lost = (total - (high - added)) + (x - added)
    low = carry + lost
    rounded = high + low
    return rounded, low - (rounded - high)


def value(total: jax.Array, carry: jax.Array) -> jax.Array:
    """The sum that a pair stands for, rounded to float32: accurate to 2^-24 of itself."""
    return total + carry


def above_least(total: jax.Array, carry: jax.Array, among: jax.Array) -> jax.Array:
    """The sums minus the least of them, without cancellation: accurate even if all are large.

    Args:
      total: float32, (K, ...).
      carry: the same.
      among: bool, of a shape that broadcasts with them: the sums that exist, at least one.

    Returns:
      float32, (K, ...): at least 0, and 0 for the least; meaningless where not `among`.
    """

    apart = (total - least(jnp.where(among, total, jnp.inf), jnp.inf)) + carry
    return apart - least(jnp.where(among, apart, jnp.inf), jnp.inf)
