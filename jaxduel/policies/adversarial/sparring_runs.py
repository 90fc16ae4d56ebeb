"""Quiet runs of Self-Sparring: duels of the arm of the largest mean, i, with itself.

In a step, y is the logit of the number of i in a sample, and x_j that of another arm. The duel is
of i with itself unless some x_j exceeds y in one of the two samples, for which some x_j must exceed
a level c, or y fall below it. Such duels add 1 to both counts of i, whatever their outcome, and
change no x_j. Hence, as long as they last,

* each x_j exceeds c with the same probability, which has a bound (`jaxduel.numerics.largest_beta`);
* y ~ Beta(a, b), a and b being n more after n such duels, falls below c with a probability of at
  most E exp(s (c - y)) = exp(s c) B(a - s, b + s) / B(a, b), whatever s > 0 (Chernoff). With s
  fixed this rises or falls all the way as n grows, since the derivative of log Gamma is concave: it
  rises if s < a - b. The larger of its values at the ends of a stretch of steps is a bound between
  them. s is best where the mode of Beta(a - s, b + s) is c.

In each step of a stretch all these events, of both samples, are proposed independently with the
probabilities of their bounds. The number of steps before the first one in which any is proposed is
geometric. In that step, there is a first proposal, those before it in any order not being made, and
those after it being free. A proposal is accepted with the share of the event's probability in its
bound, as x_j is drawn, or with that of the densities at a y drawn from Beta(a - s, b + s). What
exceeds y is played; if nothing does, i meets itself. A run that reaches the end of its stretch is
cut, and what comes then is drawn anew.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxduel.numerics.beta import propose_from, propose_logit
from jaxduel.numerics.beta_hat import counts_of, uniform_of
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.coins import steps_before, unit
from jaxduel.numerics.largest_beta import bound_beyond, propose_beyond
from jaxduel.numerics.marked import draw_marked
from jaxduel.numerics.sums import prefix_sums, sum_in_order
from jaxduel.numerics.threefry import KeyWords, random_words

_COINS, _ACCEPTANCE, _TILTED, _OWN, _RIVALS = 0, 1, 1 << 8, 1 << 16, 1 << 24
"""Streams of random words; the last three go on with the number of trials."""
_MOST = 0.5
"""There are no runs where a proposal is likelier: they would be shorter than a step in the mean."""
_STRETCH = 4
"""The arm has won a quarter more by the end of a stretch, in which the bounds hardly change; then
there are few stretches, about log T / log 1.25."""
_LEAST = 1e-30
"""Below it probabilities are taken for it, where c is chosen."""


class Proposal(NamedTuple):
    """The comparison after a quiet run, as far as the run has decided it."""

    is_made: Array  # () bool: an event is proposed
    arm: Array  # () int32: i
    first: Array  # () int32: the first event: y of a sample, or 2 + sample K + j
    level: Array  # () float32: c
    tilt: Array  # () float32: s
    excess: Array  # () float32: the bound for y over its value in this step


def run_of(
    seed: KeyWords, won: Array, lost: Array, active: Array, limit: Array
) -> tuple[Array, Proposal]:
    """The length of a run, () int32, and what comes after it.

    Args:
      seed: of this draw.
      won, lost: (K,) int32, the arms' counts.
      active: (K,) bool.
      limit: () int32, at least 0.
    """
    a, b, _ = counts_of(won + 1, lost + 1)
    arm = first_largest(jnp.where(active, a / (a + b), -1.0))
    own_a, own_b = a[arm], b[arm]
    stretch = jnp.minimum(limit, jnp.maximum(won[arm] // _STRETCH, 1))
    later = stretch.astype(jnp.float32)
    mode = jnp.minimum(jnp.log(own_a / own_b), jnp.log((own_a + later) / (own_b + later)))
    rivals = active & (lax.iota(jnp.int32, len(won)) != arm)

    def beyond(level: Array) -> Array:
        return jnp.where(rivals, bound_beyond(a, b, level), 0.0)

    some = jnp.maximum(sum_in_order(beyond(mode), 0), _LEAST)
    depth = jnp.sqrt(2.0 * jnp.maximum(2.0 - jnp.log(some), 2.0))  # y below c is rarer than others
    level = mode - depth * jnp.sqrt((own_a + own_b) / own_a / own_b)
    tilt = jnp.clip(own_a - (own_a + own_b) / (1.0 + jnp.exp(-level)), 0.0, own_a - 1.0)
    with jax.enable_x64(True):

        def below(n: Array) -> Array:
            return _log_bound(won[arm], lost[arm], level, tilt, n)

        most = jnp.maximum(below(jnp.int32(0)), below(stretch))
        own = jnp.exp(jnp.minimum(most, 0.0)).astype(jnp.float32)
        rates = -jnp.log1p(-jnp.concatenate([jnp.stack([own, own]), *[beyond(level)] * 2]))
        ends = prefix_sums(rates)
        chance = jnp.minimum(-jnp.expm1(-ends[-1].astype(jnp.float64)), _MOST)
        longest = jnp.where(chance < _MOST, stretch, 0)
        n = steps_before(*random_words(seed, 0, 0), chance, longest)
        place = -jnp.log1p(-unit(*random_words(seed, 1, 0)) * chance)
        excess = jnp.exp(most - below(n)).astype(jnp.float32)
    last = ends[-1] * (1.0 - 2.0**-22)  # below the last end, also where that is rounded
    place = jnp.minimum(place.astype(jnp.float32), last)
    first = lax.argmax((ends > place) & (rates > 0.0), 0, jnp.int32)
    return n, Proposal(n < longest, arm, first, level, tilt, excess)


def duel_of(
    seed: KeyWords, won: Array, lost: Array, active: Array, proposal: Proposal
) -> tuple[Array, Array]:
    """The arms of the comparison after a run: () int32 each.

    Args:
      seed: the step's.
      won, lost: (K,) int32, the arms' counts.
      active: (K,) bool.
      proposal: of the run.
    """
    made, arm, first, level, tilt, excess = proposal
    samples, by_own = lax.iota(jnp.int32, 2), made & (first < 2)
    own = [jnp.broadcast_to(x[arm], 2) for x in (won, lost)]
    lowest = jnp.where(made & ~(by_own & (samples > first)), level, -jnp.inf)
    drawn, everyone = jnp.zeros(2, jnp.float32), jnp.ones(2, bool)
    y = draw_marked(_propose_above, _OWN, seed, everyone, drawn, *own, lowest)
    alone = (x[None] for x in (by_own, level, won[arm], lost[arm], tilt))
    low = draw_marked(_propose_tilted, _TILTED, seed, *alone)[0]
    share = jnp.exp(tilt * (low - level)) / excess
    falls = by_own & (low < level) & (uniform_of(random_words(seed, 0, _ACCEPTANCE)[0]) <= share)
    y = jnp.where(falls & (samples == first), low, y)
    floor = jnp.where(made, jnp.where(by_own, -jnp.inf, level), y)[:, None]
    a, b, _ = counts_of(won + 1, lost + 1)
    numbers = lax.iota(jnp.int32, len(won))
    place = 2 + samples[:, None] * len(won) + numbers
    coins = uniform_of(jnp.stack(random_words(seed, numbers, _COINS)))
    proposed = (coins <= bound_beyond(a, b, floor)) & ~(made & (place < first))
    proposed = active & (numbers != arm) & (proposed | (made & (place == first)))
    known = jnp.where(numbers == arm, y[:, None], -jnp.inf)
    each = [jnp.broadcast_to(x, known.shape) for x in (won, lost, floor)]
    left, right = draw_marked(propose_beyond, _RIVALS, seed, proposed, known, *each)
    return first_largest(left), first_largest(right)


def _log_bound(won: Array, lost: Array, level: Array, tilt: Array, n: Array) -> Array:
    """The logarithm of the bound of P(y < c) after n duels of the arm with itself: () float64."""
    a, b, s = (x.astype(jnp.float64) for x in (won + 1, lost + 1, tilt))
    a, b = a + n, b + n
    moved = lax.lgamma(a - s) - lax.lgamma(a) + lax.lgamma(b + s) - lax.lgamma(b)
    return s * level.astype(jnp.float64) + moved


def _propose_tilted(words: Array, wins: Array, losses: Array, tilt: Array) -> tuple[Array, Array]:
    """A proposal of logit(theta), theta ~ Beta(wins + 1 - tilt, losses + 1 + tilt), and whether it
    is accepted."""
    a, b, difference = counts_of(wins + 1, losses + 1)
    return propose_from(words, a - tilt, b + tilt, difference - 2.0 * tilt)


def _propose_above(words: Array, wins: Array, losses: Array, lowest: Array) -> tuple[Array, Array]:
    """A proposal of logit(theta) given that it is not below `lowest`, and whether it is
    accepted."""
    y, accepted = propose_logit(words, wins + 1, losses + 1, above_half=False)
    return y, accepted & (y >= lowest)
