"""KL-based arm elimination on Copeland scores: the K-armed bandit inside SCB.

Zoghi, Karnin, Whiteson and de Rijke (NIPS 2015), Algorithms 2 and 4. The reward of an arm i is
whether it beats an arm drawn at random. Where that is decided already, the reward costs no
comparison: pulls go on until one needs a comparison, or until the best arm is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.threefry import KeyWords, random_words, uniform
from jaxduel.policies.base import Duel

PULLS = 0
"""The stream of random words; pull number n (from 0) of a step reads word n."""

_HALVINGS = 30

Answers = Callable[[jax.Array, jax.Array], jax.Array]
"""From arms i and j, (K,) int32 each, to (K,) integers: 1 where i surely beats j, -1 where j surely
beats i, 0 where it is not decided."""


class Tally(NamedTuple):
    """State of the elimination, of one seed."""

    remaining: jax.Array  # (K,) bool: B
    rewards: jax.Array  # (K,) int32: R_i
    passes: jax.Array  # () int32: s, rewards of every remaining arm after the last whole pass
    decided: jax.Array  # (K,) int32: decided pairs of i
    beats: jax.Array  # (K,) int32: those of them that i won


class _Pulling(NamedTuple):
    """Carry of the loop over passes."""

    tally: Tally
    cursor: jax.Array  # () int32: the pass goes on from this arm
    pulls: jax.Array  # () int32: pulls made in this step
    duel: Duel  # the result of the loop; -1 twice until it is known


class Confidence(NamedTuple):
    """The right side of the bound s d(m, q) <= scale (log(4 K / delta) + log s + 2 loglog s)."""

    log_ratio: jax.Array  # () float32: log(4 K / delta)
    scale: jax.Array  # () float32


def no_rewards(active: jax.Array) -> Tally:
    """The tally of a round that begins; `active` is the (K,) bool mask of the arms that exist."""
    zeros = jnp.zeros(active.shape, jnp.int32)
    return Tally(active, zeros, jnp.int32(0), zeros, zeros)


def with_decision(tally: Tally, duel: Duel, left_won: jax.Array) -> Tally:
    """The tally once the pair under way is decided: the pulled arm, on the left, has its reward."""
    arms = jnp.arange(len(tally.rewards), dtype=jnp.int32)
    left, right = arms == duel.left, arms == duel.right
    return tally._replace(
        rewards=tally.rewards + (left & left_won),
        decided=tally.decided + (left | right),
        beats=tally.beats + jnp.where(left_won, left, right),
    )


def next_duel(
    tally: Tally,
    cursor: jax.Array,
    active: jax.Array,
    confidence: Confidence,
    seed: KeyWords,
    answers: Answers,
) -> tuple[Tally, Duel]:
    """Pulls until a reward needs a comparison, or until the winner is known.

    Args:
      tally: the tally.
      cursor: () int32, the pass goes on with the first remaining arm from here on.
      active: (K,) bool, the arms that exist.
      confidence: the round's.
      seed: the step's random words.
      answers: the decided pairs.

    Returns:
      The tally, and the pair (i, j) of which arm i needs to know whether it beats j, or the winner
      twice.
    """
    num = len(active)
    size = count_true(active)
    arms = jnp.arange(num, dtype=jnp.int32)

    def rest_of_pass(now: _Pulling) -> _Pulling:
        todo = now.tally.remaining & (arms >= now.cursor)
        rank = jnp.cumsum(todo, dtype=jnp.int32) - 1
        others = _another_arm(seed, now.pulls + rank, arms, size)
        answer = answers(arms, others)
        stop = jnp.min(jnp.where(todo & (answer == 0), arms, num))
        over = stop == num
        free = todo & (arms < stop)
        tally = now.tally._replace(rewards=now.tally.rewards + (free & (answer > 0)))
        tally = after_pass(tally, over, confidence)
        winner = _winner(tally, size)
        opponent = others[jnp.minimum(stop, num - 1)]
        return _Pulling(
            tally=tally,
            cursor=jnp.int32(0),
            pulls=now.pulls + count_true(free),
            duel=Duel(jnp.where(over, winner, stop), jnp.where(over, winner, opponent)),
        )

    winner = _winner(tally, size)
    begin = _Pulling(tally, cursor, jnp.int32(0), Duel(winner, winner))
    end = lax.while_loop(lambda now: now.duel.left < 0, rest_of_pass, begin)
    return end.tally, end.duel


def _another_arm(seed: KeyWords, pull: jax.Array, arm: jax.Array, size: jax.Array) -> jax.Array:
    """j uniform among the arms other than `arm`."""
    u = uniform(random_words(seed, pull, PULLS)[0])
    number = jnp.minimum((u * (size - 1).astype(jnp.float32)).astype(jnp.int32), size - 2)
    return number + (number >= arm)


def _winner(tally: Tally, size: jax.Array) -> jax.Array:
    """The arm to commit to, or -1: one arm is left, or all pairs of the remaining are decided."""
    alone = count_true(tally.remaining) == 1
    settled = jnp.all(~tally.remaining | (tally.decided >= size - 1))
    best = lax.argmax(jnp.where(tally.remaining, tally.beats, -1), 0, jnp.int32)
    return jnp.where(alone | settled, best, -1)


def after_pass(tally: Tally, over: jax.Array, confidence: Confidence) -> Tally:
    """The tally once a pass is over: s := s + 1, B := {i in B : b_i >= max_j a_j}.

    All remaining arms have s rewards, so the largest a_j is that of the largest mean; and b_i >= a
    where m_i >= a or s d(m_i, a) is within the bound.

    Args:
      tally: the tally with the rewards of the pass.
      over: () bool; where the pass is not over, the tally stays as it is.
      confidence: the round's.

    Returns:
      The tally; at least an arm with the most rewards remains.
    """
    s = (tally.passes + 1).astype(jnp.float32)
    bound = confidence.log_ratio + jnp.log(s) + 2 * jnp.log(jnp.maximum(1.0, jnp.log(s)))
    level = confidence.scale * bound / s
    best = jnp.max(jnp.where(tally.remaining, tally.rewards, 0)).astype(jnp.float32) / s
    lower = lower_end(best, level, over)
    mean = tally.rewards.astype(jnp.float32) / s
    stays = (mean >= lower) | (_divergence(mean, lower) <= level)
    return tally._replace(
        remaining=tally.remaining & (stays | ~over), passes=tally.passes + over.astype(jnp.int32)
    )


def lower_end(mean: jax.Array, level: jax.Array, wanted: jax.Array) -> jax.Array:
    """min {q : d(mean, q) <= level}, d the Bernoulli Kullback-Leibler divergence, by bisection.

    Args:
      mean: () float32 in [0, 1].
      level: () float32, positive, in nats.
      wanted: () bool, whether to compute it; else the result is `mean`.

    Returns:
      () float32, with an error below 1e-6.
    """

    def halve(_: jax.Array, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        outside, inside = ends
        middle = 0.5 * (outside + inside)
        within = _divergence(mean, middle) <= level
        return jnp.where(within, outside, middle), jnp.where(within, middle, inside)

    halvings = jnp.where(wanted, jnp.int32(_HALVINGS), jnp.int32(0))
    return lax.fori_loop(jnp.int32(0), halvings, halve, (jnp.zeros_like(mean), mean))[1]


def _divergence(p: jax.Array, q: jax.Array) -> jax.Array:
    """d(p, q) in nats, accurate where p is close to q, too; q is kept inside (0, 1)."""
    q = jnp.clip(q, 1e-30, 1 - 2.0**-24)
    wins = jnp.where(p > 0, p * jnp.log1p((p - q) / q), 0.0)
    return wins + jnp.where(p < 1, (1 - p) * jnp.log1p((q - p) / (1 - q)), 0.0)
