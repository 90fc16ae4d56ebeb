"""Versatile-DB: two players that minimise their losses, whatever the outcomes are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import unknown_name
from jaxduel.numerics import compensated
from jaxduel.numerics.lanes_last import lanes_last
from jaxduel.numerics.sums import product_to_add
from jaxduel.policies.adversarial.sampling import draw, two_words
from jaxduel.policies.adversarial.tsallis import tsallis_weights
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

ESTIMATES = ("iw", "rv")


class VersatileDBState(NamedTuple):
    """One seed's state, of S players: 2, or 1 that is shared."""

    losses: jax.Array  # (K, S) float32: L, the sums of estimated losses
    losses_carry: jax.Array  # (K, S) float32: their carries (`jaxduel.numerics.compensated`)
    weights: jax.Array  # (K, S) float32: w, the probabilities of the next arms
    t: jax.Array  # () int32: outcomes known


@register("versatile-db", "Versatile-DB")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class VersatileDB:
    """Versatile-DB, Saha and Gaillard (ICML 2022), Algorithm 3: best of both worlds.

    There are two players, left and right, each with losses L_i, 0 at first. In step t each draws an
    arm of its own, independently, with probabilities w_i = 4 / (eta (L_i - x))^2, x < min L such
    that they sum to 1. The loss of an arm that loses is 1, of the other 0. L_i grows by an unbiased
    estimate of the loss of i, in which a is the player's arm:

    - estimates "rv", with reduced variance: b_i for every i, and (loss - b_a) / w_a for a, where
      b_i = 1/2 if w_i >= eta^2, else 0; eta = 4 / sqrt t.
    - estimates "iw": loss / w_a for a; eta = 2 / sqrt t.

    With `shared` there is one player, Remark 2, who draws both arms independently and takes in half
    of either estimate. An arm against itself is a fair coin and is no exception: its estimates
    change the weights.

    The text of the paper was not at hand: this follows a public program, which names Algorithm 3
    and Remark 2, but for its estimates "rv". It adds b_a for the drawn arm alone, so that its
    estimates of the other arms are too low, and its regret grows almost linearly.

    Weights and eta change when outcomes become known, and t counts these: outcomes that arrive late
    enter with the probabilities of their draws, if all since the last arrival were withheld.

    A step costs O(K): Newton's method for x takes a fixed number of iterations
    (`jaxduel.policies.adversarial.tsallis`).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      estimates: "rv" or "iw".
      shared: whether one player draws both arms.

    `act` reads one random word of its key for either arm.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("versatile-db", num_arms=3, estimates="iw", shared=True)
      >>> key = jax.random.key(0)
      >>> state = policy.update(policy.init(key), jd.policies.Duel(0, 1), 1, key)  # 1 lost
      >>> [round(float(x), 2) for x in state.losses[:, 0]]  # half of 1 / (1 / 3)
      [0.0, 1.5, 0.0]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    estimates: str = field(default="rv", metadata={"static": True})
    shared: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for an unknown kind of estimates."""
        if self.estimates not in ESTIMATES:
            raise unknown_name("estimates", self.estimates, ESTIMATES)

    def init(self, key: Key) -> VersatileDBState:
        """No losses."""
        none = jnp.zeros((self.num_arms, 1 if self.shared else 2), jnp.float32)
        t = jnp.int32(0)
        return VersatileDBState(none, none, self._weights(none, none, t), t)

    def act(self, state: VersatileDBState, key: Key) -> Duel:
        """An arm of either player."""
        return Duel(*draw(state.weights, two_words(key)))

    def update(
        self, state: VersatileDBState, plan: Duel, outcome: jax.Array, key: Key
    ) -> VersatileDBState:
        """Adds the estimates; the weights of the next step."""
        return self._told(state, plan, outcome)

    def learn(self, state: VersatileDBState, feedback: Feedback) -> VersatileDBState:
        """Takes in withheld outcomes."""
        left_wins, right_wins = feedback
        duels = left_wins + right_wins
        played = jnp.stack([jnp.sum(duels, axis=1), jnp.sum(duels, axis=0)], axis=1)
        lost = jnp.stack([jnp.sum(right_wins, axis=1), jnp.sum(left_wins, axis=0)], axis=1)
        return self._after(state, played, lost, jnp.sum(duels))

    @lanes_last
    def _told(self, state: VersatileDBState, plan: Duel, outcome: jax.Array) -> VersatileDBState:
        """The state after a comparison."""
        outcome = jnp.asarray(outcome)
        shape = self.num_arms, 2, *outcome.shape
        arms, sides = (lax.broadcasted_iota(jnp.int32, shape, axis) for axis in range(2))
        played = (arms == jnp.where(sides == 0, *plan)) & (outcome != 0)
        lost = played & jnp.where(sides == 0, outcome < 0, outcome > 0)
        return self._after(state, played, lost, outcome != 0)

    @lanes_last
    def _after(
        self, state: VersatileDBState, played: jax.Array, lost: jax.Array, number: jax.Array
    ) -> VersatileDBState:
        """The state after outcomes of draws with its weights.

        Args:
          state: before them.
          played: (K, 2), the plays of each arm on the left and on the right.
          lost: (K, 2), those that it lost.
          number: (), of outcomes.
        """
        counts = (jnp.asarray(x, jnp.float32) for x in (played, lost, number))
        estimates = self._estimates(state, *counts)
        if self.shared:
            estimates = 0.5 * jnp.sum(estimates, axis=1, keepdims=True)
        sums = compensated.add(state.losses, state.losses_carry, estimates)
        t = state.t + jnp.asarray(number, jnp.int32)
        return VersatileDBState(*sums, self._weights(*sums, t), t)

    def _estimates(
        self, state: VersatileDBState, played: jax.Array, lost: jax.Array, number: jax.Array
    ) -> jax.Array:
        """Sums of the estimated losses on the left and on the right: (K, 2) float32."""
        usual, weights = jnp.zeros_like(state.weights), state.weights
        if self.estimates == "rv":
            usual = jnp.where(weights >= self._rate(state.t) ** 2, 0.5, usual)
        weights = jnp.where(weights > 0, weights, 1.0)  # of arms that do not exist
        return number * usual + (lost - played * usual) / weights

    def _weights(self, losses: jax.Array, carry: jax.Array, t: jax.Array) -> jax.Array:
        """w after t outcomes: (K, S) float32."""
        active = jnp.expand_dims(self.active_arms, 1)
        above = compensated.above_least(losses, carry, active)
        half = product_to_add(0.5 * self._rate(t), above)
        return tsallis_weights(jnp.where(active, half, jnp.inf))

    def _rate(self, t: jax.Array) -> jax.Array:
        """eta of the step after t outcomes: () float32."""
        scale = 4.0 if self.estimates == "rv" else 2.0
        return jnp.sqrt(scale * scale / (t + 1).astype(jnp.float32))
