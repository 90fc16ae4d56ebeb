"""The index of the largest of independent Beta numbers, with few of them drawn.

One number is drawn in any case: the floor, of the largest mean. (In the few samples in which it is
not accepted soon, the floor is 0 and all numbers are drawn.) Another number matters if it exceeds
the floor theta. For theta at distance d > 0 above p = a / n, the mean of Beta(a, b) with n = a + b,

    P(beyond theta) <= exp(-n d^2 / (2 v)) / (n d sqrt(2 pi n / (a b))),

v being the largest x (1 - x) between p and theta. For the density of logit(theta) falls from there
on at the rate n d or more; relative to its mode it is exp(-n KL(p, theta)) there, KL being the
integral of (x - p) / (x (1 - x)) from p to theta; and its integral, relative to the mode, is
sqrt(2 pi n / (a b)) by Stirling's formula, whose remainders only add to it. Such a number is
proposed with the probability of that bound, or 1 if that is less, from a hat above the density
beyond theta, whose area is at most that of an exponential of rate n d (the tests measure it). It is
accepted with the density's share of the proposal; a rejected number is below the floor, and its
value does not matter. Where d <= 0 the number is drawn in full.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from jaxduel.numerics.beta import propose_logit
from jaxduel.numerics.beta_hat import (
    counts_of,
    hat_of,
    is_accepted,
    log_ratio,
    mode_of,
    uniform_of,
    weigh,
)
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.marked import draw_marked
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.stirling import close_stirling
from jaxduel.numerics.threefry import KeyWords, random_words

_PROPOSALS, _FLOORS, _OTHERS = 0, 1, 1 << 16
"""Streams of random words; the last two are offset by the trial's number."""
_TRIES = 3
"""Proposals of the floor: at least 0.997 of the samples have one."""


def largest_of_two(seed: KeyWords, wins: Array, losses: Array, among: Array) -> tuple[Array, Array]:
    """The index of the largest theta_i ~ Beta(wins_i + 1, losses_i + 1), i in a set, in each of two
    independent samples.

    Exact but for float32, as `jaxduel.numerics.propose_logit`, and uniforms of 32 bits.

    Args:
      seed: the step's seed, () each; it must not be used for anything else.
      wins: (N,) int32, at least 0.
      losses: (N,) int32.
      among: (N,) bool, the set, not empty.

    Returns:
      () int32 each.
    """
    numbers = lax.iota(jnp.int32, len(wins))
    a, b, _ = counts_of(wins + 1, losses + 1)
    first = first_largest(jnp.where(among, a / (a + b), -1.0))
    floors = [_floor(seed, sample, wins[first], losses[first]) for sample in range(2)]
    floors = materialize(floors, first < 0)
    words = random_words(seed, numbers, _PROPOSALS)
    proposed = [
        among
        & ((numbers != first) | (floor == -jnp.inf))
        & (uniform_of(word) <= bound_beyond(a, b, floor))
        for floor, word in zip(floors, words, strict=True)
    ]
    proposed = jnp.stack(materialize(proposed, first < 0))  # else not vectorized
    floor = jnp.stack(floors)[:, None]
    known = jnp.where(numbers == first, floor, -jnp.inf)
    each = [jnp.broadcast_to(x, known.shape) for x in (wins, losses, floor)]
    left, right = draw_marked(propose_beyond, _OTHERS, seed, proposed, known, *each)
    return first_largest(left), first_largest(right)


def _floor(seed: KeyWords, sample: int, wins: Array, losses: Array) -> Array:
    """The first accepted of a few proposals of logit(theta), minus infinity if none is."""
    floor = jnp.float32(-jnp.inf)
    for trial in reversed(range(_TRIES)):  # a scalar each: vectorized over lanes
        words = jnp.stack(random_words(seed, jnp.int32(sample), _FLOORS + trial))
        y, accepted = propose_logit(words, wins + 1, losses + 1, above_half=False)
        floor = jnp.where(accepted, y, floor)
    return floor


def _beyond(a: Array, b: Array, floor: Array) -> tuple[Array, Array, Array]:
    """theta and 1 - theta of the floor, a logit, and n d."""
    theta, rest = 1.0 / (1.0 + jnp.exp(-floor)), 1.0 / (1.0 + jnp.exp(floor))
    n = a + b
    return theta, rest, jnp.where(floor > 0, b - n * rest, n * theta - a)


def _scale(a: Array, b: Array) -> Array:
    """Stirling's formula, without its remainders, for the integral of a density whose mode is 1."""
    return jnp.sqrt(2.0 * math.pi * (a + b) / a / b)


def bound_beyond(a: Array, b: Array, floor: Array) -> Array:
    """The bound of P(logit(theta) > floor), at most 1, theta ~ Beta(a, b)."""
    theta, rest, fall = _beyond(a, b, floor)
    n = a + b
    across = (a - b) * floor < 0
    v = jnp.where(across, 0.25, jnp.maximum(theta * rest, (a / n) * (b / n)))
    bound = jnp.exp(-0.5 * fall * (fall / n) / v) / (fall * _scale(a, b))
    return jnp.where(fall > 0, jnp.minimum(bound, 1.0), 1.0)


def propose_beyond(words: Array, wins: Array, losses: Array, floor: Array) -> tuple[Array, Array]:
    """A proposal of logit(theta), minus infinity if it is rejected; whether the trials end."""
    a, b, difference = counts_of(wins + 1, losses + 1)
    n = a + b
    theta, rest, fall = _beyond(a, b, floor)
    above = fall > 0
    hat = hat_of(
        jnp.where(above, n * theta, a),
        jnp.where(above, n * rest, b),
        jnp.where(above, fall, 0.0),
    )
    hat = hat._replace(
        left=jnp.where(above, 0.0, hat.left),
        left_slope=jnp.where(above, jnp.inf, hat.left_slope),
    )
    t, weight = weigh(words[0], hat)
    mode = mode_of(a, b, difference)
    around = hat._replace(a=a, b=b, fall=jnp.zeros_like(a))
    height = jnp.exp(log_ratio(around, floor - mode))
    remainders = close_stirling(a) + close_stirling(b) - close_stirling(n)
    area = _scale(a, b) * jnp.exp(remainders)
    beyond = height * (hat.right + 1.0 / hat.right_slope) / area
    share = jnp.where(above, beyond / bound_beyond(a, b, floor), 1.0)
    accepted = is_accepted(words[1], share * weight)
    y = jnp.where(above, floor, mode) + t
    return jnp.where(accepted, y, -jnp.inf), accepted | above
