"""LUCB: lower and upper confidence bounds, until the leader's lower bound is the largest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import compensated, count_true
from jaxduel.numerics.choice import first_largest
from jaxduel.policies.base import UNDECIDED, Key, Pull, Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_FACTOR = 5 / 4
"""k_1, with which all bounds hold at all times with probability 1 - delta."""
_NOBODY = -1
"""Stands for the second arm where the next pull is the last of its round."""


class LUCBState(NamedTuple):
    """One seed's state."""

    mean: jax.Array  # (K,) float32: of the arm's rewards
    width: jax.Array  # (K,) float32: 1 / sqrt(n)
    pulls: jax.Array  # (K,) int32: n
    total: jax.Array  # (K,) float32: the sum of the arm's rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)
    round: jax.Array  # () int32: t, 0 while every arm is pulled once
    arm: jax.Array  # () int32: the arm that comes next
    second: jax.Array  # () int32: the arm that comes after it in the round, or `_NOBODY`
    answer: jax.Array  # () int32


@register("lucb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class LUCB:
    """LUCB1, Kalyanakrishnan, Tewari, Auer and Stone (ICML 2012), with m = 1: names the best arm,
    at a given error.

    Every arm once, in the order of their numbers. Then rounds t = 1, 2, ... pull two arms, one
    after the other: the leader h, of the largest mean, and the challenger l, of the largest upper
    bound among the others,

        mean_l + beta_l,  beta_i = std sqrt(2 log((5/4) K t^4 / delta) / n_i),

    n_i being the pulls of arm i before the round. Once mean_l + beta_l - (mean_h - beta_h) <
    epsilon the answer is h, which is pulled for ever. On ties the lowest number comes first.

    If rewards are within [0, 1], std = 1/2 gives the paper's bounds; other rewards must have normal
    tails, or lighter ones, of this standard deviation. The answer is then more than epsilon below
    the best with probability at most delta. With epsilon = 0 there may be no answer if two arms are
    the best. A step costs O(K).

    Attributes:
      num_arms: K; the formula counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      delta: the error, in (0, 1).
      epsilon: how far below the best an answer may be, not negative.
      std: standard deviation that the rewards are taken to have, positive; 1/2 for rewards within
        [0, 1].

    Draws nothing: given the rewards it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("lucb", num_arms=3)
      >>> result = jd.simulate(policy, jd.problems.gaussian([1, 0, 0]), 10_000, 100)
      >>> bool((result.plays[:, -1, 0] > 9_000).all())  # all runs have named arm 0
      True
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    delta: float | jax.Array = 0.05
    epsilon: float | jax.Array = 0.0
    std: float | jax.Array = 1.0

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require(self.delta, lambda x: (x > 0) & (x < 1), "lucb: delta must be in (0, 1)")
        require(self.epsilon, lambda x: x >= 0, "lucb: epsilon must not be negative")
        require(self.std, lambda x: x > 0, "lucb: std must be positive")

    def init(self, key: Key) -> LUCBState:
        """No pulls."""
        zeros, none = jnp.zeros(self.num_arms, jnp.float32), jnp.int32(0)
        return LUCBState(
            mean=zeros,
            width=zeros,
            pulls=jnp.zeros(self.num_arms, jnp.int32),
            total=zeros,
            carry=zeros,
            round=none,
            arm=none,
            second=jnp.int32(_NOBODY),
            answer=jnp.int32(UNDECIDED),
        )

    def act(self, state: LUCBState, key: Key) -> Pull:
        """The arm that was decided on."""
        return Pull(state.arm)

    def update(self, state: LUCBState, plan: Pull, outcome: jax.Array, key: Key) -> LUCBState:
        """Counts the reward; at the end of a round, the answer, or the arms of the next."""
        goes_on, arm = state.answer == UNDECIDED, plan.arm
        pulls = state.pulls[arm] + 1
        total, carry = compensated.add(state.total[arm], state.carry[arm], outcome)
        n = pulls.astype(jnp.float32)
        learnt = {
            "mean": compensated.value(total, carry) / n,
            "width": jnp.sqrt(1.0 / n),
            "pulls": pulls,
            "total": total,
            "carry": carry,
        }
        for name, new in learnt.items():
            old = getattr(state, name)
            learnt[name] = old.at[arm].set(
                jnp.where(goes_on, new, old[arm]), mode="promise_in_bounds"
            )
        return self._advanced(state._replace(**learnt), goes_on)

    def _advanced(self, state: LUCBState, goes_on: jax.Array) -> LUCBState:
        """The state after a pull whose reward has been counted, if it `goes_on`."""
        active, first = jnp.asarray(self.active_arms), state.round == 0
        size = count_true(active)
        following = jnp.where(first, state.arm + 1, state.second)
        ends = goes_on & jnp.where(first, following == size, following == _NOBODY)
        t = state.round + ends
        scale = jnp.log(_FACTOR / jnp.asarray(self.delta, jnp.float32) * size.astype(jnp.float32))
        log_term = scale + 4.0 * jnp.log(jnp.maximum(t, 1).astype(jnp.float32))
        radius = self.std * jnp.sqrt(2.0 * log_term) * state.width
        leader = first_largest(jnp.where(active, state.mean, -jnp.inf))
        numbers = lax.iota(jnp.int32, self.num_arms)
        others = active & (numbers != leader)
        upper = jnp.where(others, state.mean + radius, -jnp.inf)
        challenger = first_largest(upper)
        lower = state.mean[leader] - radius[leader]
        stops = ends & (upper[challenger] - lower < self.epsilon)
        return state._replace(
            round=t,
            arm=jnp.where(ends, leader, jnp.where(goes_on, following, state.arm)),
            second=jnp.where(ends & ~stops, challenger, _NOBODY),
            answer=jnp.where(stops, leader, state.answer),
        )

    def quiet(self, state: LUCBState, limit: jax.Array, key: Key) -> tuple[LUCBState, Quiet]:
        """All pulls to come, after the answer."""
        return state, Quiet(state.arm, jnp.where(state.answer == UNDECIDED, 0, limit))

    def answer(self, state: LUCBState) -> jax.Array:
        """The leader of the last round: () int32."""
        return state.answer
