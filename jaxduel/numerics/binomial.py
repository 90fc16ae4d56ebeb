"""Binomial and multinomial draws: exact integers up to n = 2^31 - 1, in float32 arithmetic.

``jax.random.binomial`` works with float32 counts, which cannot hold 2^24 + 1, and loops until its
slowest element is done. Here p is reflected into [0, 1/2] and each element takes one of two ways:

* mean below 10: inversion of the upper tail, by products that never cancel; no loop.
* otherwise: Hormann's transformed rejection (BTRS), written relative to the mode. Displacements
  from the mode are below 2^24, hence exact in float32; the mode itself is an exact integer.

Only elements with n > 0 cost work: one queue serves those of all lanes (`jaxduel.numerics.marked`).

Sources: W. Hormann, "The generation of binomial random variates", Journal of Statistical
Computation and Simulation 46 (1993); C. Loader, "Fast and accurate computation of binomial
probabilities" (2000), for the deviance form of the acceptance ratio.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from jaxduel.numerics.marked import MANY_SLOTS, Across, draw_marked
from jaxduel.numerics.stirling import stirling
from jaxduel.numerics.threefry import fold_in, words_of

_SWITCH = 10.0  # mean from which rejection takes over; Hormann's constants need at least this
_TERMS = 40  # the inversion's largest value: P(K > 40) < 2e-13 at mean 10
_BLOCKED = 127 + 5  # biased exponent of 2^5: from twice that on, sigma is scaled into [32, 64)


@jax.jit
def binomial(key: Array, n: ArrayLike, p: ArrayLike) -> Array:
    """Draws from Binomial(n, p).

    Exact: the algorithm; integers up to 2^31 - 1, the mode among them; n = 0, p = 0 and p = 1.
    Not exact, measured against float64: the inverted distribution function (3e-6, relative, in
    the upper tail; 3e-7, absolute, in the lower one), the edges that float32 gives the blocks of
    the rejection's hat (a total variation of 1e-6), the logarithm of its acceptance ratio (1e-7
    within one standard deviation, 2e-6 within five, 5e-5 at k = 0) and uniforms of 23 bits to
    accept by. Together they leave a total variation distance of a few 1e-6, below 2^-17, for any
    n and p. p means the float32 that it is rounded to.

    Draws are functions of key, shape, n and p: the same under jit, vmap and x64.

    Args:
        key: PRNG key of any implementation that draws bits, scalar.
        n: numbers of trials in 0..2^31 - 1, int32, any shape that broadcasts with `p`.
        p: success probabilities in [0, 1], float32.

    Returns:
        Numbers of successes, int32, of the shape `n` and `p` broadcast to.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxduel.numerics import binomial
        >>> wins = binomial(jax.random.key(0), 4_000_000, jnp.array([0.0, 0.25, 1.0]))
        >>> [round(int(each) / 4_000_000, 2) for each in wins]
        [0.0, 0.25, 1.0]
    """
    trials, chance = jnp.broadcast_arrays(jnp.asarray(n, jnp.int32), jnp.asarray(p, jnp.float32))
    shape = trials.shape
    if trials.size == 0:
        return jnp.zeros(shape, jnp.int32)
    trials, chance = jnp.atleast_1d(trials), jnp.atleast_1d(chance)
    drawn = _drawn(key, trials, chance, trials > 0)
    return drawn.reshape(shape)


def wins_of_pairs(key: Array, n: Array, p: Array) -> Array:
    """Wins of both sides of pairs: `binomial` draws at (i, j), the remaining trials at (j, i).

    Args:
        key: as for `binomial`.
        n: (K, K) int32, numbers of trials at i < j; other entries are not read.
        p: (K, K) float32, success probabilities at i < j.

    Returns:
        (K, K) int32.
    """
    return _drawn(key, n, p, jnp.triu(n > 0, 1), across=_rest)


def _drawn(key: Array, n: Array, p: Array, marked: Array, across: Across | None = None) -> Array:
    """Draws of (..., N) arrays where marked, else 0."""
    seed, nothing, most = words_of(key), jnp.zeros_like(n), MANY_SLOTS
    return draw_marked(_draw, 0, seed, marked, nothing, n, p, across=across, most_slots=most)


def _rest(successes: Array, n: Array, *_: Array) -> Array:
    """The failures."""
    return n - successes


def _draw(words: Array, n: Array, p: Array, *_: Array) -> tuple[Array, Array]:
    """A proposal by either method, int32, and whether it is accepted, bool."""
    n, p = (jnp.broadcast_to(x, words.shape[1:]) for x in (n, p))  # of several trials at once
    mirrored = p > 0.5
    p = jnp.where(mirrored, 1.0 - p, p)
    large = n.astype(jnp.float32) * p >= _SWITCH
    inverted = _invert(words, jnp.where(large, 0, n), jnp.where(large, 0.0, p))
    proposed, accepted = _propose(words, jnp.where(large, n, 64), jnp.where(large, p, 0.5))
    value = jnp.where(large, proposed, inverted)
    return jnp.where(mirrored, n - value, value), accepted | ~large


def _invert(words: Array, n: Array, p: Array) -> Array:
    """Inversion for np < 10: the number of k >= 1 with V < P(K >= k), V a 64-bit uniform.

    With r(k) = P(K = k) / P(K = k - 1), the tails are P(K >= k) = r(1) ... r(k) T(k) / T(0), where
    T(k) = 1 + r(k + 1) T(k + 1): sums and products of positive numbers, hence relatively accurate.
    """
    high, low = words[0].astype(jnp.float32), words[1].astype(jnp.float32)
    uniform = (high + (low + 0.5) * 2.0**-32) * 2.0**-32
    odds, trials = p / (1.0 - p), n.astype(jnp.float32)
    ratios = [jnp.maximum(trials - k, 0.0) * (odds * (1.0 / (k + 1))) for k in range(_TERMS)]
    tails = [jnp.ones_like(p)]
    for ratio in reversed(ratios):
        tails.append(1.0 + ratio * tails[-1])
    level = uniform * tails.pop()
    mass, count = jnp.ones_like(p), jnp.zeros_like(n)
    for ratio in ratios:
        mass = mass * ratio
        count += (level < mass * tails.pop()).astype(jnp.int32)
    return count


def _propose(words: Array, n: Array, p: Array) -> tuple[Array, Array]:
    """One BTRS proposal for np >= 10, p <= 1/2: (value int32, accepted bool), shaped like n."""
    value, weight = _weigh(words, n, p)
    uniform = ((words[1] >> 9).astype(jnp.int32).astype(jnp.float32) + 0.5) * 2.0**-23
    return value, uniform <= weight


def _weigh(words: Array, n: Array, p: Array) -> tuple[Array, Array]:
    """A draw k from the hat, int32, and the probability f(k) G'(u) / alpha to accept it, float32.

    G(u), u uniform, proposes blocks of 2^j integers, with sigma / 2^j < 64, and the last nine bits
    of the second word the place inside the block: float32 resolves the edges of such blocks to
    about 1e-5 of a block. G' integrates to one over every block, hence k is drawn without bias.
    """
    mode, shift = _mode(n, p)
    sigma = jnp.sqrt(n.astype(jnp.float32) * p * (1.0 - p))
    exponent = jnp.maximum(lax.bitcast_convert_type(sigma, jnp.int32) >> 23, _BLOCKED) - _BLOCKED
    shrink = lax.bitcast_convert_type((127 - exponent) << 23, jnp.float32)  # 2^-exponent
    b = 1.15 + 2.53 * (sigma * shrink)
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + jnp.where(exponent > 0, 12.0, 5.1) / b) * (sigma * shrink)

    half = (words[0] >> 1).astype(jnp.int32)  # |u| in 31 bits, exact near 0 and near 1/2; a sign
    edge = (half.astype(jnp.float32) + 0.5) * 2.0**-32
    u = ((half ^ 0x7FFFFFFF).astype(jnp.float32) + 0.5) * 2.0**-32
    u = jnp.where((words[0] & 1) == 1, u, -u)
    block = jnp.floor((2.0 * a / edge + b) * u + (shift + 0.5) * shrink)
    block = jnp.clip(block, -(2.0**14), 2.0**14 - 1).astype(jnp.int32)  # f is zero beyond
    inside = (words[1] & 0x1FF).astype(jnp.int32) >> (9 - exponent)
    delta = lax.shift_left(block, exponent) + inside

    value = mode + delta
    possible = (value >= 0) & (value <= n)
    ratio = jnp.exp(_log_ratio(n, p, mode, shift, jnp.where(possible, delta, 0)))
    return value, jnp.where(possible, ratio * (a / (edge * edge) + b) / alpha, 0.0)


def _mode(n: Array, p: Array) -> tuple[Array, Array]:
    """(m, np - m) with m = floor((n + 1) p): int32 exact, float32 to 1e-6, for p <= 1/2.

    n in pieces of 11 bits times p in pieces of 12 bits: every product is exact in float32.
    """
    bits = lax.bitcast_convert_type(p, jnp.int32)
    p_high = lax.bitcast_convert_type(bits & -(2**12), jnp.float32)
    whole, rest = jnp.zeros_like(n), jnp.zeros_like(p)
    for low_bit in (22, 11, 0):
        piece = ((n >> low_bit) & 0x7FF).astype(jnp.float32) * 2.0**low_bit
        for factor in (p_high, p - p_high):
            product = piece * factor
            floor = jnp.floor(product)
            whole, rest = whole + floor.astype(jnp.int32), rest + (product - floor)
    carry = jnp.floor(rest + p)
    return whole + carry.astype(jnp.int32), rest - carry


def _log_ratio(n: Array, p: Array, mode: Array, shift: Array, delta: Array) -> Array:
    """log f(mode + delta) - log f(mode) of the Binomial(n, p) probabilities, float32."""
    successes, failures = mode + 1, n - mode + 1
    tilt = jnp.log1p((shift - 1.0 + 2.0 * p) / ((1.0 - p) * successes.astype(jnp.float32)))
    return (
        tilt * delta.astype(jnp.float32)
        - _log_factorial_excess(successes, delta)
        - _log_factorial_excess(failures, -delta)
    )


def _log_factorial_excess(x: Array, delta: Array) -> Array:
    """log Gamma(x + delta) - log Gamma(x) - delta log x; int32, x + delta >= 1.

    With y = x + delta and v = delta / (x + y), log(y / x) = 2 atanh(v) = 2 v (1 + w), the leading
    part y log(y / x) - delta is delta (v + (1 + v) w): Loader's deviance, without cancellation.
    """
    start, step = x.astype(jnp.float32), delta.astype(jnp.float32)
    end = start + step  # rounds alike above 2^24; an integer sum could pass 2^31 - 1
    v = step / (start + end)
    near = jnp.abs(v) < 0.25
    square = v * v
    series = square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square / 11))))
    far = 0.5 * jnp.log(end / start) / jnp.where(near, 1.0, v) - 1.0
    w = jnp.where(near, series, far)
    return step * (v + (1.0 + v) * w) - v * (1.0 + w) + stirling(end) - stirling(start)


def multinomial(key: jax.Array, n: jax.Array, weights: jax.Array) -> jax.Array:
    """Counts of each arm in n draws in proportion to weights: one multinomial draw.

    Each arm in turn takes a binomial share of the remaining draws, as exact as
    `binomial`. Under `jax.vmap` nothing is computed where every n is 0.

    Args:
      key: a scalar PRNG key.
      n: () int32, from 0 to 2^31 - 1.
      weights: (K,) float32, not negative; if all are 0, nothing is counted.

    Returns:
      (K,) int32 that sum to n (to 0 if all weights are 0), 0 where the weight is 0.
    """
    arms = lax.iota(jnp.int32, weights.shape[0])

    def share(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        counts, draws, left = carry
        arm = lax.argmax(left > 0, 0, jnp.int32)
        chance = jnp.minimum(left[arm] / jnp.sum(left), 1.0)
        left = jnp.where(arms == arm, 0.0, left)
        chance = jnp.where(jnp.any(left > 0), chance, 1.0)
        number = binomial(fold_in(key, arm), draws, chance)
        return jnp.where(arms == arm, number, counts), draws - number, left

    def goes_on(carry: tuple[jax.Array, ...]) -> jax.Array:
        _, draws, left = carry
        return (draws > 0) & jnp.any(left > 0)

    return lax.while_loop(goes_on, share, (jnp.zeros_like(arms), n, weights))[0]
