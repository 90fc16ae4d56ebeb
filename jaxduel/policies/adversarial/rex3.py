"""REX3: exponential weights, moved by the difference of the two arms of a duel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics import compensated, count_true
from jaxduel.numerics.coins import steps_before
from jaxduel.numerics.lanes_last import lanes_last
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.sums import product_to_add, sum_in_order
from jaxduel.numerics.threefry import random_words, words_of
from jaxduel.policies.adversarial.exponential import exponential_weights
from jaxduel.policies.adversarial.sampling import draw, two_words
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class REX3State(NamedTuple):
    """One seed's state."""

    gains: jax.Array  # (K,) float32: R, the sums of psi / p
    gains_carry: jax.Array  # (K,) float32: their carries (`jaxduel.numerics.compensated`)
    chances: jax.Array  # (K,) float32: p of the next comparison
    t: jax.Array  # () int32: outcomes known
    differ: jax.Array | None = None
    """() bool: the next comparison is of two different arms. None but from a quiet run to the
    comparison after it."""


@register("rex3")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class REX3:
    """REX3, Gajane, Urvoy and Clérot (ICML 2015), Algorithm 1: adversarial utilities.

    With weights w_i, 1 at first, both arms a and b are drawn independently with probabilities
    p_i = (1 - g) w_i / sum w + g / K. If they differ, psi = 1 if a won, else -1, and

        w_a *= exp(g / K psi / (2 p_a)),     w_b *= exp(-g / K psi / (2 p_b)).

    An arm against itself changes nothing. g = min(1/2, sqrt(K log K / (e Gmax))), where Gmax =
    `gain` T bounds what the best arm can gain.

    The authors' program leaves out the 1/2 before psi, as does that of Li et al. (chang-li):
    `half=False`, twice the step.

    `anytime` has g of the comparison's number t in place of T, and w = exp(g / K R), R the sums of
    psi / (2 p): a new g also weighs what is past. The paper does not say which Gmax it takes then
    and how g changes; that program multiplies w by the g of the moment instead.

    It makes no assumption on the outcomes but that they are differences of utilities of either arm
    in [0, 1], as probabilities p_ij = 1/2 + (u_i - u_j) / 2 are. On other matrices it runs as well,
    with no guarantee.

    With fixed g, comparisons of arms with themselves are quiet: the number of them before the next
    other one is geometric, each is of arm i with a probability in proportion to p_i^2, and the
    other one then is drawn from p, given that its arms differ. With `anytime` there are none.

    p changes when outcomes become known, and t counts these: outcomes that arrive late enter with
    the probabilities of their draws, if all since the last arrival were withheld. A step costs
    O(K).

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; must be given, unless `anytime`.
      gain: Gmax / T, positive; 0.5 or 0.1 in the paper's experiments.
      half: whether psi is halved, as in the text.
      anytime: whether g follows the number of comparisons.

    `act` reads one random word of its key for either arm.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("rex3", num_arms=6, horizon=10_000, gain=0.1, half=False)
      REX3(num_arms=6, horizon=10000, gain=0.1, half=False)
      >>> jd.policies.make("rex3", num_arms=6, anytime=True)
      REX3(num_arms=6, anytime=True)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array | None = None
    gain: float | jax.Array = 0.5
    half: bool = field(default=True, metadata={"static": True})
    anytime: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "rex3")
        require(self.gain, lambda x: x > 0, "rex3: gain must be positive")
        if self.horizon is None and not self.anytime:
            raise InputError("rex3 needs the parameter 'horizon', unless anytime=True.")

    def init(self, key: Key) -> REX3State:
        """No gains."""
        none = jnp.zeros(self.num_arms, jnp.float32)
        t = jnp.int32(0)
        return REX3State(none, none, self._chances(none, none, t), t)

    def act(self, state: REX3State, key: Key) -> Duel:
        """Two draws, different ones where a quiet run has said so."""
        p, words = state.chances, two_words(key)
        if state.differ is None:
            return Duel(*draw(p[:, None], words))
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        left = draw(jnp.where(state.differ, _chances_to_differ(p), p), words[0])
        right = draw(jnp.where(state.differ & (arms == left), 0.0, p), words[1])
        return Duel(left, right)

    def update(self, state: REX3State, plan: Duel, outcome: jax.Array, key: Key) -> REX3State:
        """Moves the weights of the two arms."""
        return self._told(state, plan, outcome)

    def learn(self, state: REX3State, feedback: Feedback) -> REX3State:
        """Takes in withheld outcomes."""
        left_wins, right_wins = feedback
        ahead = jnp.sum(left_wins - right_wins, axis=1) - jnp.sum(left_wins - right_wins, axis=0)
        return self._after(state, jnp.asarray(ahead, jnp.float32), jnp.sum(left_wins + right_wins))

    def quiet(self, state: REX3State, limit: jax.Array, key: Key) -> tuple[REX3State, Quiet]:
        """The comparisons of arms with themselves before the next of two arms, with fixed g."""
        none = jnp.int32(0)
        if self.anytime:
            return state, Quiet(none, none)
        p, words = state.chances, words_of(key)
        chance = sum_in_order(_chances_to_differ(p), 0)
        decided = jnp.bool_(False) if state.differ is None else state.differ
        longest = jnp.where(decided, 0, limit)
        with jax.enable_x64(True):
            n = steps_before(*random_words(words, 0, 0), chance.astype(jnp.float64), longest)
        state = state._replace(differ=decided | (n < longest))
        return state, Quiet(lax.argmax(p, 0, jnp.int32), n, p * p)

    @lanes_last
    def _told(self, state: REX3State, plan: Duel, outcome: jax.Array) -> REX3State:
        """The state after a comparison."""
        outcome = jnp.asarray(outcome)
        arms = lax.broadcasted_iota(jnp.int32, (self.num_arms, *outcome.shape), 0)
        left, right = (jnp.asarray(arms == arm, jnp.float32) for arm in plan)
        return self._after(state, outcome * (left - right), outcome != 0)

    @lanes_last
    def _after(self, state: REX3State, ahead: jax.Array, number: jax.Array) -> REX3State:
        """The state after outcomes of draws with its probabilities.

        Args:
          state: before them.
          ahead: (K,) float32, the sum of psi of each arm.
          number: (), of outcomes.
        """
        p = jnp.where(self.active_arms, state.chances, 1.0)
        gains = ahead / (2.0 * p if self.half else p)
        sums = compensated.add(state.gains, state.gains_carry, gains)
        sums = materialize(sums, jnp.ravel(number)[0] < 0)  # else the least is searched slowly
        t = state.t + jnp.asarray(number, jnp.int32)
        return REX3State(*sums, self._chances(*sums, t), t)

    def _chances(self, gains: jax.Array, carry: jax.Array, t: jax.Array) -> jax.Array:
        """p after t outcomes: (K,) float32."""
        size = count_true(self.active_arms).astype(jnp.float32)
        horizon = t + 1 if self.anytime else jnp.asarray(self.horizon)
        most = self.gain * horizon.astype(jnp.float32)
        g = jnp.minimum(0.5, jnp.sqrt(size * jnp.log(size) / (jnp.e * most)))
        return exponential_weights(gains, carry, g / size, g, jnp.asarray(self.active_arms))


def _chances_to_differ(p: jax.Array) -> jax.Array:
    """p (1 - p), of each left arm that the right one is another: (K,) float32.

    1 - p of the likeliest arm is added up from the others' p: nothing cancels.
    """
    likeliest = jnp.arange(len(p), dtype=jnp.int32) == lax.argmax(p, 0, jnp.int32)
    others = jnp.where(likeliest, sum_in_order(jnp.where(likeliest, 0.0, p), 0), 1.0 - p)
    return product_to_add(p, others)
