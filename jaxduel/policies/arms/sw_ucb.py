"""Upper confidence bounds from the last pulls alone (SW-UCB), for means that jump."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.arguments import entries_of
from jaxduel.display import is_known
from jaxduel.errors import InputError
from jaxduel.numerics import compensated
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.memory import materialize
from jaxduel.policies.base import Key, Pull
from jaxduel.policies.checks import MAX_HORIZON, require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SWUCBState(NamedTuple):
    """One seed's state."""

    mean: jax.Array  # (K,) float32: of the arm's rewards in the window; infinite without any
    width: jax.Array  # (K,) float32: 1 / sqrt(N); 0 without any
    pulls: jax.Array  # (K,) int32: N, the arm's rewards in the window
    total: jax.Array  # (K,) float32: their sum,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)
    recent: jax.Array  # (W, 2) float32: arm and reward of pull t in row t mod W; arm -1: no pull
    t: jax.Array  # () int32: pulls made


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
            mean=jnp.full(self.num_arms, jnp.inf, jnp.float32),
            width=zeros,
            pulls=jnp.zeros(self.num_arms, jnp.int32),
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
        is_there = (gone[0] >= 0).astype(jnp.int32)
        state = _changed(state, jnp.maximum(gone[0], 0.0).astype(jnp.int32), -is_there, -gone[1])
        state = _changed(state, plan.arm, jnp.int32(1), outcome)
        row = jnp.stack([plan.arm.astype(jnp.float32), outcome])
        recent = recent.at[place].set(row, mode="promise_in_bounds")
        return state._replace(recent=recent, t=state.t + 1)


def _changed(state: SWUCBState, arm: jax.Array, number: jax.Array, reward: jax.Array) -> SWUCBState:
    """The state with the pulls of an arm in the window changed by a number, their sum by a
    reward."""
    n = state.pulls[arm] + number
    total, carry = compensated.add(state.total[arm], state.carry[arm], reward)
    total, carry = jnp.where(n > 0, total, 0.0), jnp.where(n > 0, carry, 0.0)
    mean = jnp.where(n > 0, compensated.value(total, carry) / n.astype(jnp.float32), jnp.inf)
    width = jnp.where(n > 0, jnp.sqrt(1.0 / n.astype(jnp.float32)), 0.0)
    mode = "promise_in_bounds"
    return state._replace(
        mean=state.mean.at[arm].set(mean, mode=mode),
        width=state.width.at[arm].set(width, mode=mode),
        pulls=state.pulls.at[arm].set(n, mode=mode),
        total=state.total.at[arm].set(total, mode=mode),
        carry=state.carry.at[arm].set(carry, mode=mode),
    )
