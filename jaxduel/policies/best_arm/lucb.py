"""LUCB: lower and upper confidence bounds, until the leader's lower bound is the largest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.choice import first_largest
from jaxduel.policies.arms.estimates import (
    Estimates,
    all_known,
    nothing_known,
    with_reward,
    with_rewards,
)
from jaxduel.policies.base import UNDECIDED, Key, Pull, Quiet, RewardFeedback
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_FACTOR = 5 / 4
"""k_1, with which all bounds hold at all times with probability 1 - delta."""
_NOBODY, _TURNS = -1, -2
"""Stand for the second arm where the next pull is the last of its round, and where arms take
turns."""


class LUCBState(NamedTuple):
    """One seed's state."""

    estimates: Estimates
    round: jax.Array  # () int32: t; turns of all arms made, while arms take turns
    arm: jax.Array  # () int32: the arm that comes next
    second: jax.Array  # () int32: the arm that comes after it in the round, `_NOBODY` or `_TURNS`
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
    the best. With delays n_i and means are of known rewards, and all arms take turns, each of which
    counts as a round, until a reward of each is known. A step costs O(K).

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
        none = jnp.int32(0)
        return LUCBState(
            estimates=nothing_known(self.num_arms),
            round=none,
            arm=none,
            second=jnp.int32(_TURNS),
            answer=jnp.int32(UNDECIDED),
        )

    def act(self, state: LUCBState, key: Key) -> Pull:
        """The arm that was decided on."""
        return Pull(state.arm)

    def update(self, state: LUCBState, plan: Pull, outcome: jax.Array, key: Key) -> LUCBState:
        """Counts the reward; at the end of a round comes the answer, or the next."""
        goes_on, in_turn = state.answer == UNDECIDED, state.second == _TURNS
        following = jnp.where(in_turn, state.arm + 1, state.second)
        end = jnp.where(in_turn, count_true(jnp.asarray(self.active_arms)), _NOBODY)
        over = goes_on & (following == end)
        after = LUCBState(
            estimates=with_reward(state.estimates, plan.arm, outcome, goes_on),
            round=state.round + over,
            arm=jnp.where(over, 0, jnp.where(goes_on, following, state.arm)),
            second=jnp.where(in_turn, _TURNS, _NOBODY),
            answer=state.answer,
        )
        return self._begun(after, over)

    def learn(self, state: LUCBState, feedback: RewardFeedback) -> LUCBState:
        """Counts rewards that were withheld, unless there is an answer; a round that has not begun
        begins anew."""
        goes_on = state.answer == UNDECIDED
        told = (jnp.where(goes_on, x, 0) for x in feedback)
        after = state._replace(estimates=with_rewards(state.estimates, *told))
        waits = (state.second >= 0) | ((state.second == _TURNS) & (state.arm == 0))
        return self._begun(after, goes_on & waits)

    def _begun(self, state: LUCBState, now: jax.Array) -> LUCBState:
        """The state at the beginning of round t, if it is `now` and all arms are known."""
        now &= all_known(state.estimates, jnp.asarray(self.active_arms))
        leader, challenger, apart = self._pair(state.estimates, state.round)
        stops = now & (apart < self.epsilon)
        second = jnp.where(stops, _NOBODY, challenger)
        return state._replace(
            arm=jnp.where(now, leader, state.arm),
            second=jnp.where(now, second, state.second),
            answer=jnp.where(stops, leader, state.answer),
        )

    def _pair(self, estimates: Estimates, t: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """h and l of round t, () int32 each, and mean_l + beta_l - (mean_h - beta_h)."""
        active = jnp.asarray(self.active_arms)
        size = count_true(active).astype(jnp.float32)
        ratio = _FACTOR / jnp.asarray(self.delta, jnp.float32) * size
        log_term = jnp.log(ratio) + 4.0 * jnp.log(jnp.maximum(t, 1).astype(jnp.float32))
        beta = self.std * jnp.sqrt(2.0 * log_term) * estimates.width
        leader = first_largest(jnp.where(active, estimates.mean, -jnp.inf))
        others = active & (lax.iota(jnp.int32, self.num_arms) != leader)
        upper = jnp.where(others, estimates.mean + beta, -jnp.inf)
        challenger = first_largest(upper)
        lower = estimates.mean[leader] - beta[leader]
        return leader, challenger, upper[challenger] - lower

    def quiet(self, state: LUCBState, limit: jax.Array, key: Key) -> tuple[LUCBState, Quiet]:
        """All pulls to come, after the answer."""
        return state, Quiet(state.arm, jnp.where(state.answer == UNDECIDED, 0, limit))

    def answer(self, state: LUCBState) -> jax.Array:
        """The leader of the last round: () int32."""
        return state.answer
