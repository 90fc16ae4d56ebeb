"""D-EXP3: exponential weights of estimated Borda scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import compensated, count_true
from jaxduel.numerics.lanes_last import lanes_last
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.sums import product_to_add
from jaxduel.policies.adversarial.exponential import exponential_weights
from jaxduel.policies.adversarial.sampling import draw, two_words
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class DEXP3State(NamedTuple):
    """One seed's state."""

    scores: jax.Array  # (K,) float32: S, the sums of estimated scores
    scores_carry: jax.Array  # (K,) float32: their carries (`jaxduel.numerics.compensated`)
    chances: jax.Array  # (K,) float32: q of the next comparison


@register("d-exp3")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DEXP3:
    """D-EXP3, Saha, Koren and Mansour (ICML 2021), Algorithm 1: adversarial, for the Borda winner.

    With S_i = 0 at first, eta = (log K / (T sqrt K))^(2/3) and g = min(1, sqrt(eta K)), both arms x
    and y are drawn independently with probabilities

        q_i = (1 - g) e^(eta S_i) / sum_j e^(eta S_j) + g / K,

    and S_x grows by 1 / (K q_x q_y) if x wins: in the mean, by its score, which is that against an
    arm drawn uniformly from all, itself included. An arm against itself is a fair coin and no
    exception.

    With `high_probability`, Algorithm 2, all S_i first grow by beta / q_i, beta = sqrt(log(K /
    delta) / (K T)).

    The text of the paper was not at hand: this follows duelpy (commit d70111f), which names the
    algorithms and Theorem 2. Regret of the kind "borda" is what they bound; the Condorcet winner
    may be another arm.

    q changes when outcomes become known: outcomes that arrive late enter with the probabilities of
    their draws, if all since the last arrival were withheld. A step costs O(K).

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; eta, g and beta depend on it.
      high_probability: whether scores have the bonus of Algorithm 2.
      delta: the error probability of the bonus.

    `act` reads one random word of its key for either arm.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("d-exp3", num_arms=3, horizon=1_000)
      >>> key = jax.random.key(0)
      >>> state = policy.update(policy.init(key), jd.policies.Duel(0, 1), 1, key)
      >>> [round(float(x), 2) for x in state.scores]  # 1 / (3 q q), q = 1 / 3
      [3.0, 0.0, 0.0]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    high_probability: bool = field(default=False, metadata={"static": True})
    delta: float | jax.Array = 0.1

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "d-exp3")
        require(self.delta, lambda x: (x > 0) & (x < 1), "d-exp3: delta must be in (0, 1)")

    def init(self, key: Key) -> DEXP3State:
        """No scores."""
        none = jnp.zeros(self.num_arms, jnp.float32)
        return DEXP3State(none, none, self._chances(none, none))

    def act(self, state: DEXP3State, key: Key) -> Duel:
        """Two independent draws."""
        return Duel(*draw(state.chances[:, None], two_words(key)))

    def update(self, state: DEXP3State, plan: Duel, outcome: jax.Array, key: Key) -> DEXP3State:
        """Adds the estimate of x."""
        return self._told(state, plan, outcome, state.chances[plan.right])

    def learn(self, state: DEXP3State, feedback: Feedback) -> DEXP3State:
        """Takes in withheld outcomes."""
        left_wins, right_wins = feedback
        won = jnp.sum(left_wins / jnp.where(self.active_arms, state.chances, 1.0), axis=1)
        return self._after(state, won, jnp.sum(left_wins + right_wins))

    @lanes_last
    def _told(
        self, state: DEXP3State, plan: Duel, outcome: jax.Array, chance: jax.Array
    ) -> DEXP3State:
        """The state after a comparison with an arm that had this chance."""
        outcome = jnp.asarray(outcome)
        arms = lax.broadcasted_iota(jnp.int32, (self.num_arms, *outcome.shape), 0)
        won = jnp.where((arms == plan.left) & (outcome > 0), 1.0 / chance, 0.0)
        return self._after(state, won, outcome != 0)

    @lanes_last
    def _after(self, state: DEXP3State, won: jax.Array, number: jax.Array) -> DEXP3State:
        """The state after outcomes of draws with its probabilities.

        Args:
          state: before them.
          won: (K,) float32, the sum of 1 / q_y over the duels that each arm x won as the first.
          number: (), of outcomes.
        """
        size = self._size()
        grown = jnp.asarray(won, jnp.float32) / size
        if self.high_probability:
            beta = jnp.sqrt(jnp.log(size / self.delta) / (size * self._horizon()))
            grown = grown + product_to_add(jnp.asarray(number, jnp.float32), beta)
        grown = grown / jnp.where(self.active_arms, state.chances, 1.0)
        sums = compensated.add(state.scores, state.scores_carry, grown)
        sums = materialize(sums, jnp.ravel(number)[0] < 0)  # else the least is searched slowly
        return DEXP3State(*sums, self._chances(*sums))

    def _chances(self, scores: jax.Array, carry: jax.Array) -> jax.Array:
        """q with these sums: (K,) float32."""
        size = self._size()
        eta = (jnp.log(size) / (self._horizon() * jnp.sqrt(size))) ** (2 / 3)
        g = jnp.minimum(1.0, jnp.sqrt(eta * size))
        return exponential_weights(scores, carry, eta, g, jnp.asarray(self.active_arms))

    def _size(self) -> jax.Array:
        return count_true(self.active_arms).astype(jnp.float32)

    def _horizon(self) -> jax.Array:
        return jnp.asarray(self.horizon, jnp.float32)
