"""Double explore-then-commit for two arms, with a second exploration for small gaps."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.double_etc.stages import (
    AGAIN,
    CHALLENGE,
    COMMIT,
    DoubleETCState,
    UnknownGapSettings,
    after_pull,
    are_apart,
    committed,
    first_commitment,
    first_state,
    is_told_apart,
    last_run,
    next_pull,
    turned,
    with_anchor,
    with_leader,
)
from jaxduel.policies.arms.elimination import best_of
from jaxduel.policies.base import Key, Pull, Quiet
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc-minimax", "DETC, minimax")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCMinimax(UnknownGapSettings):
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

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        self.validate_horizon("detc-minimax")

    def init(self, key: Key) -> DoubleETCState:
        """The beginning of stage I."""
        return first_state(self.active_arms)

    def act(self, state: DoubleETCState, key: Key) -> Pull:
        """Both arms in turn where both are explored, 2' in stage III, else the leader."""
        return next_pull(state, self.active_arms)

    def quiet(
        self, state: DoubleETCState, limit: jax.Array, key: Key
    ) -> tuple[DoubleETCState, Quiet]:
        """Stage IV, or a stage II that lasts to the end."""
        _, commit_at = first_commitment(self, power=10)
        return last_run(state, commit_at, self.horizon, limit)

    def update(
        self, state: DoubleETCState, plan: Pull, outcome: jax.Array, key: Key
    ) -> DoubleETCState:
        """The tests, and the turns between the stages."""
        active, horizon = self.active_arms, jnp.asarray(self.horizon, jnp.float32)
        t_1, commit_at = first_commitment(self, power=10)
        most = in_float64(lambda horizon: to_int32(jnp.ceil(jnp.log(horizon) ** 2)), self.horizon)
        state = after_pull(state, plan, outcome)
        state = with_leader(state, active, are_apart(state.rewards, active, t_1))
        state = with_anchor(state, commit_at)
        ran_out = (state.rounds > 0) & (state.rounds >= most)
        state = turned(state, (state.stage == CHALLENGE) & ran_out, AGAIN)
        state = committed(state, active, is_told_apart(state, active, horizon, jnp.e))
        # s = t / 2: sqrt(8/s log+(T/s)) is sqrt(16/t log+(2T/t))
        again = (state.stage == AGAIN) & are_apart(state.fresh, active, 2.0 * horizon)
        return turned(state, again, COMMIT, best_of(state.fresh, active))
