"""Double explore-then-commit for two arms whose gap is not known."""

from __future__ import annotations

from dataclasses import dataclass

from jaxduel.policies.arms.double_etc.stages import (
    DoubleETCState,
    PullByPull,
    are_apart,
    committed,
    is_told_apart,
    with_anchor,
    with_leader,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETC(PullByPull):
    """DETC, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 2: two arms whose gap is not known.

    With T_1 = log^2 T:

    - Stage I pulls both arms, then both again, until |mu_1 - mu_2| >= sqrt(16/t log+(T_1/t)) after
      t pulls in all; beyond T_1 pulls that is so of any means.
    - Stage II pulls 1', the arm of the larger mean, until it has more than T_1 pulls; mu' is their
      mean, which is kept.
    - Stage III pulls the other arm, 2', while |mu' - theta| < sqrt(2/t log(T/t (log^2(T/t) + 1)));
      theta is the mean of the t pulls of 2' in this stage, at least one.
    - Stage IV pulls 1' if mu' >= theta, else 2', to the end.

    Regret is asymptotically 2 log(T) / D for rewards of variance 1. At T = 1e6, T_1 = 191 leaves
    mu' with a standard error of 0.07: of arms 0.2 apart, one run in several hundred commits to the
    worse for good, and these runs dominate the mean; a larger `commit_pulls` avoids them. In the
    legend of the paper's figure this is DETC-UG; its text swaps the numbers of Algorithms 1 and 2.

    Given the rewards it is deterministic; ties of means go to the first arm. A step costs O(K), the
    last commitment nothing.

    Attributes: those of `UnknownGapSettings`.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("detc", num_arms=2, horizon=1_000_000, commit_pulls=1_000)
      DETC(num_arms=2, horizon=1000000, commit_pulls=1000.0)
    """

    def tested(self, state: DoubleETCState) -> DoubleETCState:
        """The state after the tests, and the turns between the stages."""
        t_1, commit_at = self.first_commitment()
        active = self.active_arms
        state = with_leader(state, active, are_apart(state.rewards, active, t_1))
        state = with_anchor(state, commit_at)
        return committed(state, active, is_told_apart(state, active, self.horizon))
