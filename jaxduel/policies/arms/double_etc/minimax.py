"""Double explore-then-commit for two arms, with a second exploration for small gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.double_etc.stages import (
    AGAIN,
    CHALLENGE,
    COMMIT,
    DoubleETCState,
    PullByPull,
    are_apart,
    committed,
    is_told_apart,
    turned,
    with_anchor,
    with_leader,
)
from jaxduel.policies.arms.elimination import best_of, pulls_made
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc-minimax", "DETC, minimax")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCMinimax(PullByPull):
    """DETC minimax, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 3: two arms whose gap is not known,
    and may be small.

    As Algorithm 2 (`DETC`), but

    - T_1 = log^10 T, which exceeds every T from 4 to 3e15: with it stage II lasts to the end, so
      that the policy explores once and commits. A smaller `commit_pulls` lets it go on.
    - Stage III goes on while |mu' - theta| < sqrt(2/t log(e T/t (log^2(T/t) + 1))) and t < log^2 T.
    - If it ends with t >= log^2 T, both arms are pulled, then both again, until |p_1 - p_2| >=
      sqrt(8/s log+(T/s)) after s pulls of each, whose means are p; the arm of the larger is
      committed to.

    The factor e multiplies T/t in front of the bracket alone, and s counts the pulls of one arm:
    readings.

    Given the rewards it is deterministic; ties of means go to the first arm. A step costs O(K), the
    last commitment nothing.

    Attributes: those of `UnknownGapSettings`.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("detc-minimax", num_arms=2, horizon=10_000, commit_pulls=200)
      DETCMinimax(num_arms=2, horizon=10000, commit_pulls=200.0)
    """

    power: ClassVar[int] = 10

    def tested(self, state: DoubleETCState) -> DoubleETCState:
        """The state after the tests, and the turns between the stages."""
        active, horizon = self.active_arms, jnp.asarray(self.horizon, jnp.float32)
        t_1, commit_at = self.first_commitment()
        most = in_float64(lambda horizon: to_int32(jnp.ceil(jnp.log(horizon) ** 2)), self.horizon)
        state = with_leader(state, active, are_apart(state.rewards, active, t_1))
        state = with_anchor(state, commit_at)
        made = pulls_made(state.fresh)
        ran_out = (made > 0) & (made >= most)
        state = turned(state, (state.stage == CHALLENGE) & ran_out, AGAIN)
        state = committed(state, active, is_told_apart(state, active, horizon, jnp.e))
        # s = t / 2: sqrt(8/s log+(T/s)) is sqrt(16/t log+(2T/t))
        again = (state.stage == AGAIN) & are_apart(state.fresh, active, 2.0 * horizon)
        return turned(state, again, COMMIT, best_of(state.fresh, active))
