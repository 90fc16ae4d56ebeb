"""Upper confidence bounds from the last pulls alone (SW-UCB), for means that jump."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.arguments import entries_of
from jaxduel.display import is_known
from jaxduel.errors import InputError
from jaxduel.numerics import compensated
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.memory import materialize
from jaxduel.policies.arms.estimates import at_arm
from jaxduel.policies.arms.unseen import unseen
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.checks import MAX_HORIZON, require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SWUCBState(NamedTuple):
    """One seed's state.

    A row of `recent` is of one pull: the arm, or -2 minus the arm while its reward is withheld, or
    -1 where there was no pull; and the reward.
    """

    mean: jax.Array  # (K,) float32: of the arm's rewards in the window; `unseen` without any
    width: jax.Array  # (K,) float32: 1 / sqrt(N); 0 without any
    pulls: jax.Array  # (K,) int32: N, the arm's rewards in the window
    late: jax.Array  # (K,) int32: its pulls in the window whose rewards are withheld
    total: jax.Array  # (K,) float32: the sum of the rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)
    recent: jax.Array  # (W, 2) float32: pull t in row t mod W
    t: jax.Array  # () int32: pulls made


_NONE, _LATE = -1, -2
"""In place of an arm in `SWUCBState.recent`."""


@register("sw-ucb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SWUCB:
    """SW-UCB, Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit
    Problems" (ALT 2011): rewards whose means jump at unknown times.

    Pulls the arm of the largest

        mean_i + B sqrt(xi log(min(t, W)) / N_i),  B = 2 std,

    the lowest number on ties. N_i and mean_i are the number and the average of the rewards of arm i
    in the last W pulls, t is the number of all pulls. An arm without a pull in the window comes
    first: at the beginning each arm once. With W >= T the policy is `ucb1` with index "anytime" and
    scale 4 xi std^2. With C changes, the paper chooses

        W = 2 B sqrt(T log(T) / C),

    the default where `horizon` is given, for a regret of order sqrt(C T) log T. Given the rewards
    it is deterministic. A step costs O(K), whatever W; a run holds 8 W bytes. Sums do not drift:
    they are exact if rewards are whole numbers, else up to 2^-46 of themselves at each pull.

    With delays late rewards, of which the sum alone is told, enter the window as their average, at
    the places of their pulls; as long as an arm has no known reward there, such arms are pulled in
    turn. Being told costs O(W).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      window: W, at least K; None for 4 std sqrt(horizon log(horizon) / changes), rounded up. It is
        static, since it is the shape of the state: in a sweep each value is compiled on its own,
        and takes no more memory than it needs.
      horizon: T, pulls in all; read when the policy is made, for the default of `window` alone.
      changes: C, the expected number of changes, positive; read as `horizon` is.
      std: standard deviation of the rewards, at most, positive; 1/2 covers rewards within [0, 1],
        for which the paper's B is 1.
      xi: positive; the paper's bound holds above 1/2.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("sw-ucb", num_arms=3, window=1_000)
      SWUCB(num_arms=3, window=1000)
      >>> jd.policies.make("sw-ucb", num_arms=3, horizon=10_000, changes=2, std=0.5).window
      430
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    window: int | None = field(default=None, metadata={"static": True})
    horizon: int | jax.Array | None = None
    changes: float | jax.Array = 1.0
    std: float | jax.Array = 1.0
    xi: float | jax.Array = 0.5

    assumes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.window is None and self.horizon is not None:
            object.__setattr__(self, "window", self._usual_window())

    def _usual_window(self) -> int | None:
        """2 B sqrt(T log(T) / C), at least K; None if it is not one positive number."""
        given = self.horizon, self.changes, self.std
        if not all(map(is_known, (*given, self.active_arms))):
            return None
        entries = [entries_of(x) for x in given]
        if not all(x.ndim == 0 and x.dtype.kind in "iuf" and 0 < x < math.inf for x in entries):
            return None
        horizon, changes, std = map(float, entries)
        exact = 4 * std * math.sqrt(horizon * math.log(max(horizon, 1.0)) / changes)
        return max(math.ceil(exact), int(np.sum(self.active_arms))) if exact < MAX_HORIZON else None

    def validate(self) -> None:
        """Raises InputError for parameters out of range, or without a window and a horizon."""
        require_horizon(self.horizon, "sw-ucb")
        require(self.changes, lambda x: x > 0, "sw-ucb: changes must be positive")
        require(self.std, lambda x: x > 0, "sw-ucb: std must be positive")
        require(self.xi, lambda x: x > 0, "sw-ucb: xi must be positive")
        if self.window is None:
            raise InputError(
                "sw-ucb needs the parameter 'window', or one 'horizon' that gives a window of "
                "fewer than 2^31 pulls."
            )
        arms = int(np.max(np.sum(self.active_arms, axis=-1)))
        require(
            self.window,
            lambda x: (x == np.floor(x)) & (x >= arms) & (x <= MAX_HORIZON),
            "sw-ucb: window must be a whole number from the number of arms to 2^31 - 1",
        )

    def init(self, key: Key) -> SWUCBState:
        """No pulls."""
        zeros = jnp.zeros(self.num_arms, jnp.float32)
        return SWUCBState(
            mean=unseen(jnp.zeros(self.num_arms, jnp.int32)),
            width=zeros,
            pulls=jnp.zeros(self.num_arms, jnp.int32),
            late=jnp.zeros(self.num_arms, jnp.int32),
            total=zeros,
            carry=zeros,
            recent=jnp.full((self.window, 2), jnp.array([-1, 0]), jnp.float32),
            t=jnp.int32(0),
        )

    def act(self, state: SWUCBState, key: Key) -> Pull:
        """The arm of the largest index."""
        seen = jnp.clip(state.t, 1, len(state.recent)).astype(jnp.float32)
        padding = 2 * self.std * jnp.sqrt(self.xi * jnp.log(seen))
        upper = state.mean + padding * state.width
        return Pull(first_largest(jnp.where(self.active_arms, upper, -jnp.inf)))

    def update(self, state: SWUCBState, plan: Pull, outcome: jax.Array, key: Key) -> SWUCBState:
        """The pull takes the place of the oldest one in the window."""
        place = state.t % len(state.recent)
        # Read for good before it is written: otherwise XLA copies the window at each step.
        gone, recent = materialize((state.recent[place], state.recent), state.t < 0)
        was, known = gone[0].astype(jnp.int32), ~jnp.isnan(outcome)
        here, is_late = was >= 0, was < _NONE
        arm = jnp.where(here, was, jnp.maximum(_LATE - was, 0))
        state = _changed(state, arm, -here.astype(jnp.int32), -is_late.astype(jnp.int32), -gone[1])
        reward, n = jnp.where(known, outcome, 0.0), known.astype(jnp.int32)
        state = _changed(state, plan.arm, n, 1 - n, reward)
        arm = jnp.where(known, plan.arm, _LATE - plan.arm)
        row = jnp.stack([arm.astype(jnp.float32), reward])
        recent = recent.at[place].set(row, mode="promise_in_bounds")
        return state._replace(recent=recent, t=state.t + 1)

    def learn(self, state: SWUCBState, feedback: RewardFeedback) -> SWUCBState:
        """Gives each pull whose reward was withheld the average of its arm's late rewards."""
        reward = feedback.totals / jnp.maximum(feedback.pulls, 1).astype(jnp.float32)
        code, late = state.recent[:, 0].astype(jnp.int32), state.late
        arm = jnp.maximum(_LATE - code, 0)
        told = jnp.stack([arm.astype(jnp.float32), reward[arm]], axis=1)
        recent = jnp.where((code < _NONE)[:, None], told, state.recent)
        # in two parts, each of which is exact times up to 2^12 pulls: it is what later leaves
        high = lax.reduce_precision(reward, 8, 11)
        total, carry = compensated.add(state.total, state.carry, late * high)
        state = state._replace(total=total, carry=carry, recent=recent)
        return _with_rewards(state, late, -late, late * (reward - high))


def _changed(
    state: SWUCBState, arm: jax.Array, number: jax.Array, late: jax.Array, reward: jax.Array
) -> SWUCBState:
    """The state with other numbers of an arm's pulls in the window: `_with_rewards`."""
    arms = at_arm(
        state._replace(recent=None, t=None),
        arm,
        lambda one: _with_rewards(one, number, late, reward),
    )
    return arms._replace(recent=state.recent, t=state.t)


def _with_rewards(
    arms: SWUCBState, number: jax.Array, late: jax.Array, reward: jax.Array
) -> SWUCBState:
    """The numbers of all arms, or of one, with more pulls whose rewards are known, more whose
    rewards are withheld, and a sum of rewards."""
    n, late = arms.pulls + number, arms.late + late
    total, carry = compensated.add(arms.total, arms.carry, reward)
    seen, divisor = n > 0, jnp.maximum(n, 1).astype(jnp.float32)
    total, carry = jnp.where(seen, total, 0.0), jnp.where(seen, carry, 0.0)
    return arms._replace(
        mean=jnp.where(seen, compensated.value(total, carry) / divisor, unseen(late)),
        width=jnp.where(seen, jnp.sqrt(1.0 / divisor), 0.0),
        pulls=n,
        late=late,
        total=total,
        carry=carry,
    )
