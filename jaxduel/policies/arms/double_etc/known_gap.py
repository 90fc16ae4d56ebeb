"""Double explore-then-commit for two arms whose gap is known."""

from __future__ import annotations

from dataclasses import dataclass

from jaxduel.policies.arms.double_etc.stages import (
    DoubleETCState,
    KnownGapSettings,
    known_gap_lengths,
    leader_pulls,
    planned,
)
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc-known-gap", "DETC, known gap")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCKnownGap(KnownGapSettings):
    """DETC known gap, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 1: two arms whose gap is known.

    With T_1 = ceil(2 log(T D^2) / (e^2 D^2)) and tau = 4 ceil(log(T_1 D^2) / D^2):

    - Stage I pulls both arms in turn until more than 2 tau pulls are made.
    - Stage II pulls 1', the arm of the larger mean, until it has more than T_1 pulls; mu' is their
      mean, which is kept.
    - Stage III pulls the other arm, 2', while 2 (1 - e) t D |mu' - theta| < log(T D^2); theta is
      the mean of the t pulls of 2' in this stage.
    - Stage IV pulls 1' if mu' >= theta, else 2', to the end.

    Regret is asymptotically log(T) / (2 D) for rewards of variance 1. In the legend of the paper's
    figure this is DETC-KG; its text swaps the numbers of Algorithms 1 and 2.

    Stages I, II and IV are a round each. In stage III, where a test follows each pull, a pull is a
    round. Draws nothing: given the rewards it is deterministic. Ties of means go to the first arm.

    Attributes: those of `KnownGapSettings`.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("detc-known-gap", num_arms=2, horizon=10_000, gap=0.5)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # stage I: tau + 1 pulls each
      [69, 69]
    """

    def act(self, state: DoubleETCState, key: Key) -> PullBatch:
        """A whole stage, or one pull of stage III."""
        lengths = known_gap_lengths(self)
        return planned(
            state,
            self.active_arms,
            self.horizon,
            explore=lengths.explore,
            lead=lengths.commit_at - leader_pulls(state),
        )
