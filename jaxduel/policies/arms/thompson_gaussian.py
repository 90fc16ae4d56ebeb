"""Thompson sampling for arms with Gaussian rewards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.numerics import compensated, normal
from jaxduel.numerics.choice import first_largest
from jaxduel.policies.arms.estimates import at_arm
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_RATIO = 1e15
"""std / prior_std is below it: float32 must hold the square."""


class ThompsonGaussianState(NamedTuple):
    """One seed's state."""

    centre: jax.Array  # (K,) float32: the posterior's mean
    width: jax.Array  # (K,) float32: the posterior's standard deviation
    pulls: jax.Array  # (K,) int32: n, those whose rewards are known
    total: jax.Array  # (K,) float32: the sum S of the arm's rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)


@register("thompson-gaussian", label="Thompson sampling")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class ThompsonGaussian:
    """Thompson sampling with a Gaussian prior and Gaussian rewards of a known standard deviation.

    Each step draws theta_i from the posterior of every active arm i and pulls the arm of the
    largest. With r = (std / prior_std)^2, S_i the sum and n_i the number of the rewards of i,

        theta_i ~ Normal((r prior_mean + S_i) / (r + n_i), std^2 / (r + n_i)).

    The defaults, r = 1 and prior_mean = 0, are Agrawal and Goyal, "Near-optimal regret bounds for
    Thompson sampling" (Journal of the ACM 64, 2017), Algorithm 2: Normal(S / (n + 1), 1 / (n + 1)).
    A step costs O(K). With delays the posterior is given the rewards that are known.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      std: standard deviation that the rewards are taken to have, positive.
      prior_mean: what every arm's mean is expected to be before it is pulled.
      prior_std: by how much, positive.

    `act` draws one normal number per arm from its key.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("thompson-gaussian", num_arms=3, prior_mean=0.5, prior_std=2)
      ThompsonGaussian(num_arms=3, prior_mean=0.5, prior_std=2.0)
      >>> jd.policies.describe("thompson-gaussian").plays
      'one pull at a time, of arms with rewards'
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    std: float | jax.Array = 1.0
    prior_mean: float | jax.Array = 0.0
    prior_std: float | jax.Array = 1.0

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError unless all are finite and the standard deviations are positive."""
        name = "thompson-gaussian"
        require(self.std, lambda x: x > 0, f"{name}: std must be positive")
        require(self.prior_mean, np.isfinite, f"{name}: prior_mean must be finite")
        require(self.prior_std, lambda x: x > 0, f"{name}: prior_std must be positive")
        ratio = np.asarray(self.std) / np.asarray(self.prior_std)
        require(ratio, lambda x: x < _RATIO, f"{name}: std / prior_std must be below {_RATIO:g}")

    def init(self, key: Key) -> ThompsonGaussianState:
        """The prior."""
        zeros = jnp.zeros(self.num_arms, jnp.float32)
        return ThompsonGaussianState(
            centre=zeros + jnp.asarray(self.prior_mean, jnp.float32),
            width=zeros + jnp.asarray(self.prior_std, jnp.float32),
            pulls=jnp.zeros(self.num_arms, jnp.int32),
            total=zeros,
            carry=zeros,
        )

    def act(self, state: ThompsonGaussianState, key: Key) -> Pull:
        """The arm of the largest theta."""
        theta = state.centre + state.width * normal(key, (self.num_arms,))
        return Pull(first_largest(jnp.where(self.active_arms, theta, -jnp.inf)))

    def update(
        self, state: ThompsonGaussianState, plan: Pull, outcome: jax.Array, key: Key
    ) -> ThompsonGaussianState:
        """The posterior given one more reward; only the pulled arm's changes."""
        known = ~jnp.isnan(outcome)
        more = known.astype(jnp.int32), jnp.where(known, outcome, 0.0)
        return at_arm(state, plan.arm, lambda one: self._given(one, *more))

    def learn(
        self, state: ThompsonGaussianState, feedback: RewardFeedback
    ) -> ThompsonGaussianState:
        """The posterior given rewards that were withheld."""
        return self._given(state, *feedback)

    def _given(
        self, state: ThompsonGaussianState, pulls: jax.Array, totals: jax.Array
    ) -> ThompsonGaussianState:
        """The posterior given more rewards, of all arms or of one."""
        number = state.pulls + pulls
        total, carry = compensated.add(state.total, state.carry, totals)
        weight = jnp.square(jnp.asarray(self.std / self.prior_std, jnp.float32))
        n = weight + number.astype(jnp.float32)
        centre = (weight * self.prior_mean + compensated.value(total, carry)) / n
        return ThompsonGaussianState(
            centre=jnp.where(number > 0, centre, state.centre),
            width=jnp.where(number > 0, self.std / jnp.sqrt(n), state.width),
            pulls=number,
            total=total,
            carry=carry,
        )
