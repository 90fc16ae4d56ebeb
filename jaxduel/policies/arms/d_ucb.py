"""Upper confidence bounds from discounted rewards (D-UCB), for means that jump."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError
from jaxduel.numerics import compensated
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.policies.arms.estimates import at_arm
from jaxduel.policies.arms.unseen import pulled_once_more, unseen
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_GROWN = 20.0
"""The unit's logarithm at which sums are divided by it: float32 holds them, and it is rare."""
_FASTEST = 60.0
"""The largest -log gamma: faster ones forget no more, in float32."""


class DUCBState(NamedTuple):
    """One seed's state.

    In place of all sums shrinking by gamma at each pull, the unit of the next reward grows by
    1 / gamma. So a pull changes the sums of one arm, and none is rounded again and again, which
    would keep long ones from growing.
    """

    mean: jax.Array  # (K,) float32: discounted, of the arm's rewards; `unseen` without any
    width: jax.Array  # (K,) float32: 1 / sqrt(weight); 0 without any
    weight: jax.Array  # (K,) float32: gamma^-age N,
    lost: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)
    total: jax.Array  # (K,) float32: gamma^-age times the discounted sum of the arm's rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out
    age: jax.Array  # () int32: pulls since the unit was 1
    t: jax.Array  # () int32: pulls made


@register("d-ucb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DUCB:
    """D-UCB, Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
    Problems" (ALT 2011): rewards whose means jump at unknown times.

    Each active arm once, in the order of their numbers; then the arm of the largest

        mean_i + 2 B sqrt(xi log(n) / N_i),  B = 2 std,

    the lowest number on ties. The reward of s pulls ago counts gamma^s: N_i is the discounted
    number of pulls of arm i, mean_i the discounted average of their rewards, n the sum of all N_i.
    With gamma = 1 the policy is `ucb1` with index "anytime" and scale 16 xi std^2. With C changes,
    the paper chooses

        gamma = 1 - sqrt(C / T) / (4 B),

    the default where `horizon` is given, for a regret of order sqrt(C T) log T. Given the rewards
    it is deterministic. A step costs O(K).

    With delays late rewards count as if they were of the pull after which they are told; as long
    as an arm has no known reward, such arms are pulled in turn.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      gamma: discount, in (0, 1]; None for 1 - sqrt(changes / horizon) / (8 std).
      horizon: T, pulls in all; read by the default of `gamma` only.
      changes: C, the expected number of changes, positive; read as `horizon` is.
      std: standard deviation of the rewards, at most, positive; 1/2 covers rewards within [0, 1],
        for which the paper's B is 1.
      xi: positive; the paper's bound holds above 1/2.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("d-ucb", num_arms=3, gamma=0.999)
      DUCB(num_arms=3, gamma=0.999)
      >>> jd.policies.make("d-ucb", num_arms=3, horizon=10_000, changes=4, std=0.5)  # gamma 0.995
      DUCB(num_arms=3, horizon=10000, changes=4.0, std=0.5)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    gamma: float | jax.Array | None = None
    horizon: int | jax.Array | None = None
    changes: float | jax.Array = 1.0
    std: float | jax.Array = 1.0
    xi: float | jax.Array = 0.5

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range, or without a discount and a horizon."""
        require(self.gamma, lambda x: (x > 0) & (x <= 1), "d-ucb: gamma must be in (0, 1]")
        require_horizon(self.horizon, "d-ucb")
        require(self.changes, lambda x: x > 0, "d-ucb: changes must be positive")
        require(self.std, lambda x: x > 0, "d-ucb: std must be positive")
        require(self.xi, lambda x: x > 0, "d-ucb: xi must be positive")
        if self.gamma is None:
            if self.horizon is None:
                raise InputError("d-ucb needs the parameter 'gamma', or 'horizon' to compute it.")
            share = np.asarray(self.changes) / np.asarray(self.horizon)
            usual = "the default gamma, 1 - sqrt(changes / horizon) / (8 std), must be positive"
            forgotten = np.sqrt(share) / (8 * np.asarray(self.std))
            require(1 - forgotten, lambda x: x > 0, f"d-ucb: {usual}")

    def init(self, key: Key) -> DUCBState:
        """No pulls."""
        zeros = jnp.zeros(self.num_arms, jnp.float32)
        return DUCBState(
            mean=unseen(jnp.zeros(self.num_arms, jnp.int32)),
            width=zeros,
            weight=zeros,
            lost=zeros,
            total=zeros,
            carry=zeros,
            age=jnp.int32(0),
            t=jnp.int32(0),
        )

    def _rate(self) -> jax.Array:
        """-log gamma."""
        if self.gamma is not None:
            rate = -jnp.log(jnp.float32(self.gamma))
        else:
            share = jnp.float32(self.changes) / jnp.float32(self.horizon)
            rate = -jnp.log1p(-jnp.sqrt(share) / (8 * jnp.float32(self.std)))
        return jnp.minimum(rate, _FASTEST)

    def act(self, state: DUCBState, key: Key) -> Pull:
        """The arm of the largest index."""
        rate, t = self._rate(), state.t.astype(jnp.float32)
        seen = jnp.where(rate > 0, jnp.expm1(-rate * t) / jnp.expm1(-rate), t)
        explore = jnp.sqrt(self.xi * jnp.log(jnp.maximum(seen, 1.0)))
        per_unit = jnp.exp(0.5 * rate * state.age.astype(jnp.float32))
        upper = state.mean + 4 * self.std * explore * per_unit * state.width
        return Pull(first_largest(jnp.where(self.active_arms, upper, -jnp.inf)))

    def update(self, state: DUCBState, plan: Pull, outcome: jax.Array, key: Key) -> DUCBState:
        """Counts the reward in the unit of its time; only the pulled arm's sums change."""
        known, age = ~jnp.isnan(outcome), state.age + 1
        grown = self._rate() * age.astype(jnp.float32)
        weight = jnp.where(known, jnp.exp(grown), 0.0)
        more = weight, jnp.where(known, weight * outcome, 0.0)

        def pulled(one: DUCBState) -> DUCBState:
            return _with_rewards(one._replace(mean=pulled_once_more(one.mean)), *more)

        arms = at_arm(state._replace(age=None, t=None), plan.arm, pulled)
        state = arms._replace(age=age, t=state.t + 1)
        return compacted_cond(_with_unit_1, grown >= _GROWN, state, grown)

    def learn(self, state: DUCBState, feedback: RewardFeedback) -> DUCBState:
        """Counts rewards that were withheld as if they were all of the last pull."""
        unit = jnp.exp(self._rate() * state.age.astype(jnp.float32))
        return _with_rewards(state, unit * feedback.pulls, unit * feedback.totals)


def _with_rewards(state: DUCBState, weights: jax.Array, totals: jax.Array) -> DUCBState:
    """The state with more rewards, of all arms or of one; `mean` stays where there are none."""
    weight, lost = compensated.add(state.weight, state.lost, weights)
    total, carry = compensated.add(state.total, state.carry, totals)
    seen = weight > 0
    n = jnp.where(seen, compensated.value(weight, lost), 1.0)
    return state._replace(
        mean=jnp.where(seen, compensated.value(total, carry) / n, state.mean),
        width=jnp.where(seen, jnp.sqrt(1.0 / n), state.width),
        weight=weight,
        lost=lost,
        total=total,
        carry=carry,
    )


def _with_unit_1(state: DUCBState, grown: jax.Array) -> DUCBState:
    """The same sums in a unit of 1, where the unit's logarithm was `grown`."""
    shrunk, most = jnp.exp(-grown), jnp.finfo(jnp.float32).max
    return state._replace(
        width=jnp.minimum(state.width * jnp.exp(0.5 * grown), most),
        weight=state.weight * shrunk,
        lost=state.lost * shrunk,
        total=state.total * shrunk,
        carry=state.carry * shrunk,
        age=jnp.int32(0),
    )
