"""Upper confidence bounds on the arms' mean rewards (UCB1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError, unknown_name
from jaxduel.numerics.choice import first_largest
from jaxduel.policies.arms.estimates import at_arm, with_rewards
from jaxduel.policies.arms.unseen import pulled_once_more, unseen
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

INDICES = ("horizon", "anytime")


class UCB1State(NamedTuple):
    """One seed's state."""

    mean: jax.Array  # (K,) float32: of the arm's rewards; `unseen` without any
    width: jax.Array  # (K,) float32: 1 / sqrt(n); 0 without rewards
    pulls: jax.Array  # (K,) int32: n, those whose rewards are known
    total: jax.Array  # (K,) float32: the sum of the arm's rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)
    t: jax.Array  # () int32: pulls made


@register("ucb1")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class UCB1:
    """UCB1, Auer, Cesa-Bianchi and Fischer (Machine Learning 47, 2002), Figure 1.

    Each active arm once, in the order of their numbers; then the arm of the largest

        mean_i + sqrt(scale log(tau) / n_i),

    the lowest number on ties. n_i counts the pulls of arm i, mean_i averages their rewards, which
    scale = 2 takes to be within [0, 1], or Gaussian of standard deviation 1 at most. A step costs
    O(K). With delays n_i and mean_i are of the rewards that are known; as long as an arm has none,
    such arms are pulled in turn.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all; read by the index "horizon" only.
      index: "horizon" (tau = T, as in the program behind the figure of Gao, Han, Ren and Zhou,
        NeurIPS 2019) or "anytime" (tau = t, the pulls made so far, as in the paper of 2002).
      scale: positive; 2 in both.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("ucb1", num_arms=3, horizon=10_000)
      UCB1(num_arms=3, horizon=10000)
      >>> jd.policies.make("ucb1", num_arms=3, index="anytime")  # needs no horizon
      UCB1(num_arms=3, index='anytime')
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array | None = None
    index: str = field(default="horizon", metadata={"static": True})
    scale: float | jax.Array = 2.0

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for an unknown index, scale <= 0, or a horizon missing or wrong."""
        if self.index not in INDICES:
            raise unknown_name("index of ucb1", self.index, INDICES)
        if self.index == "horizon" and self.horizon is None:
            raise InputError("ucb1 needs the parameter 'horizon' where its index is \"horizon\".")
        require_horizon(self.horizon, "ucb1")
        require(self.scale, lambda x: x > 0, "ucb1: scale must be positive")

    def init(self, key: Key) -> UCB1State:
        """No pulls."""
        zeros = jnp.zeros(self.num_arms, jnp.float32)
        return UCB1State(
            mean=unseen(jnp.zeros(self.num_arms, jnp.int32)),
            width=zeros,
            pulls=jnp.zeros(self.num_arms, jnp.int32),
            total=zeros,
            carry=zeros,
            t=jnp.int32(0),
        )

    def act(self, state: UCB1State, key: Key) -> Pull:
        """The arm of the largest index."""
        tau = jnp.asarray(state.t if self.index == "anytime" else self.horizon)
        explore = self.scale * jnp.log(jnp.maximum(tau, 1).astype(jnp.float32))
        upper = state.mean + jnp.sqrt(explore) * state.width
        return Pull(first_largest(jnp.where(self.active_arms, upper, -jnp.inf)))

    def update(self, state: UCB1State, plan: Pull, outcome: jax.Array, key: Key) -> UCB1State:
        """Counts the reward; nothing changes but the entries of the arm pulled."""
        known = ~jnp.isnan(outcome)
        more = known.astype(jnp.int32), jnp.where(known, outcome, 0.0)

        def pulled(one: UCB1State) -> UCB1State:
            return with_rewards(one._replace(mean=pulled_once_more(one.mean)), *more)

        return at_arm(state._replace(t=None), plan.arm, pulled)._replace(t=state.t + 1)

    def learn(self, state: UCB1State, feedback: RewardFeedback) -> UCB1State:
        """Counts rewards that were withheld."""
        return with_rewards(state, *feedback)
