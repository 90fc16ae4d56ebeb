"""Length of a quiet run of Thompson sampling, and the coin that ends it.

In the terms of `jaxduel.policies.thompson.quiet`, which defines D, N is drawn as floor(E / -log p)
for E exponential. k or i is the number of the interval in which u (1 - p) falls, u uniform; the
intervals end at the probabilities that D has failed by each coin. 1 - p and the ends are sums of
positive terms, and the draws are made in float64: lengths are exact to the comparison, with the
relative accuracy that q has in `jaxduel.numerics.tail`, whatever its size. Where p <= 1/2 there are
no runs: they would be shorter than one comparison in the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.coins import steps_before, unit
from jaxduel.numerics.crossing import drawn_run
from jaxduel.numerics.threefry import KeyWords, random_words
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.sampling import Decided, ThompsonState

LEAST = 0.5
"""The probability p above which runs are drawn."""
_UNROLLED = 64
"""Most events whose probabilities are a chain of operations, which takes longer to compile."""


class Coins(NamedTuple):
    """The coins that decide whether D happens in a step."""

    votes: jax.Array  # (K, K) bool: V, the votes of i against j, each likely to be won
    leads: jax.Array  # (K,) float32: the probability l_i that i is the first arm, given V
    answers: jax.Array  # (K, K) float32: the chance at [i, j] of a reply of j to i, else 0
    pooled: jax.Array | None = None
    """() bool: True if the l_i are unknown and `leads` is 1 where replies are likeliest. None: the
    l_i are known."""


class Run(NamedTuple):
    """The length of a run, and the coins that it has decided of the step after it."""

    n: jax.Array  # () int32
    decided: Decided


def run_of(
    seed: KeyWords,
    state: ThompsonState,
    coins: Coins,
    settled: Callable[[jax.Array], jax.Array],
    limit: jax.Array,
) -> Run:
    """The run during which D happens.

    Args:
      seed: of this draw.
      state: before the run.
      coins: those of D.
      settled: whether comparison number t still asks for D; once false, always false.
      limit: () int32.
    """
    (votes, leads, answers, pooled), num, before = coins, len(coins.leads), state.decided
    chances = jnp.where(votes, jnp.abs(state.tail), 0.0)
    length, culprit, level, likely = _fall(seed, chances, leads, answers, limit)
    asked = likely & (limit > 0)
    if before is not None:
        asked &= ~before.any
    n, ended = drawn_run(asked, length, settled, state.t, limit)

    low, high = lax.iota(jnp.int32, num)[:, None], lax.iota(jnp.int32, num)

    def fixed(among: jax.Array, place: jax.Array) -> jax.Array:
        side = jnp.where(place < culprit, sampling.LIKELY, sampling.FREE)
        side = jnp.where(place == culprit, sampling.UNLIKELY, side)
        return jnp.where(ended & among, side, sampling.FREE).astype(jnp.int8)

    pairs = fixed(votes, high * num + low) | fixed(votes.T, low * num + high)
    replies = fixed(answers > 0, (num + low) * num + high)
    replied = ended & (culprit >= num * num)
    first = jnp.where(replied, culprit // num - num, -1)
    if pooled is not None:
        replies = jnp.where(replied & pooled, _first_replies(answers, level), replies)
        first = jnp.where(pooled, -1, first)
    decided = Decided(ended, jnp.concatenate([pairs, replies]), first)
    if before is not None:
        decided = jax.tree.map(partial(jnp.where, before.any), before, decided)
    return Run(n, decided)


def any_of(chances: jax.Array) -> jax.Array:
    """The probability that any of some independent events happens, relatively accurate.

    Args:
      chances: (N, ...) float32 or float64 in [0, 1], the events' along the first axis.
    """
    zero = jnp.zeros((), chances.dtype)
    return lax.reduce(chances, zero, lambda one, two: one + two * (1.0 - one), (0,))


def _first_replies(answers: jax.Array, level: jax.Array) -> jax.Array:
    """Sides of all replies, (K, K) int8: the first reply to an arm is where the probability of a
    reply so far passes the level; if it never does, there is none.

    Args:
      answers: as in `Coins`.
      level: () float32.
    """
    passed = -jnp.expm1(jnp.cumsum(jnp.log1p(-answers), axis=1)) > level
    before = jnp.pad(passed, ((0, 0), (1, 0)))[:, :-1]
    side = jnp.where(before, sampling.FREE, sampling.UNLIKELY)
    side = jnp.where(passed, side, sampling.LIKELY)
    return jnp.where(answers > 0, side, sampling.FREE).astype(jnp.int8)


def _fall(
    seed: KeyWords, votes: jax.Array, leads: jax.Array, answers: jax.Array, limit: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """The number of steps until D fails, and the coin by which it fails.

    Args:
      seed: of this draw.
      votes: (K, K) float32, the unlikely sides of V, ordered by columns.
      leads: (K,) float32, as in `Coins`.
      answers: (K, K) float32, as in `Coins`, ordered by rows.
      limit: () int32, at least 0.

    Returns:
      The number of steps without a failure, () int32, at most `limit`; the number of the first coin
      that fails then, () int32, K^2 and more for replies; for these, a uniform number below the
      probability that anybody replies to that arm, () float32; and whether a step without a failure
      is likelier than 1/2, () bool: only then are the other results meaningful.
    """
    num = len(leads)
    first, second = random_words(seed, 0, 0), random_words(seed, 1, 0)
    replied = leads * any_of(answers.T)
    left = jnp.maximum(1.0 - (jnp.cumsum(replied) - replied), replied)
    groups = jnp.concatenate([any_of(votes), replied / jnp.where(left > 0, left, 1.0)])
    with jax.enable_x64(True):
        ends = _first_failure(groups)
        fails = ends[-1]
        past = fails * unit(*second)
        group = _interval(ends, past)
        numbers = lax.iota(jnp.int32, num)
        before = jnp.max(jnp.where(lax.iota(jnp.int32, 2 * num) < group, ends, 0.0))
        after = jnp.min(jnp.where(lax.iota(jnp.int32, 2 * num) < group, fails, ends))
        here = jnp.sum(jnp.where(numbers == group, votes, 0.0), axis=1)
        here = here + jnp.sum(jnp.where(num + numbers[:, None] == group, answers, 0.0), axis=0)
        inner = _first_failure(here)
        level = (past - before) / (after - before) * inner[-1]
        member = _interval(inner, level)
        length = steps_before(*first, fails, limit)
        culprit = (group * num + member).astype(jnp.int32)
        likely = fails < 1.0 - LEAST
        level = level.astype(jnp.float32)
    return length, culprit, level, likely


def _first_failure(chances: jax.Array) -> jax.Array:
    """The probability that any of the first 1, 2, ... of some independent events happens, float64.

    Args:
      chances: (N,) float32.
    """
    chances, numbers = chances.astype(jnp.float64), lax.iota(jnp.int32, len(chances))
    if len(chances) > _UNROLLED:
        return any_of(jnp.where(numbers[:, None] <= numbers, chances[:, None], 0.0))
    failed = jnp.zeros_like(chances)
    for number, chance in enumerate(chances):  # XLA has no vectors for a reduction by this rule
        failed = jnp.where(number <= numbers, failed + chance * (1.0 - failed), failed)
    return failed


def _interval(ends: jax.Array, x: jax.Array) -> jax.Array:
    """The number of the first of the intervals with these ends that x lies in, float64.

    An interval of no length is never found: x is taken to be below the last end.
    """
    x = jnp.minimum(x, ends[-1] * (1.0 - 2.0**-50))
    return jnp.sum(ends <= x, dtype=jnp.int32)
