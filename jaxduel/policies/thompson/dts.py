"""Double Thompson Sampling (D-TS)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxduel.numerics import masked_choice
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Duel, Key, Quiet
from jaxduel.policies.counts import log_bound
from jaxduel.policies.registry import register
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.quiet import confident_run
from jaxduel.policies.thompson.sampling import DoubleThompsonSettings, ThompsonState
from jaxduel.pytrees import register_dataclass


@register("dts", label="D-TS")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DTS(DoubleThompsonSettings):
    """D-TS, Wu and Liu (NIPS 2016), Algorithm 1, for Copeland winners.

    Lines 4 to 6: with u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij), the candidates C are the arms
    of the largest #{j != i : u_ij > 1/2}. Lines 7 to 11: theta_ij ~ Beta(w_ij + 1, w_ji + 1) for
    pairs i < j; the first arm is the arm of C that beats most arms in this sample, ties at random.
    Lines 13 and 14: theta_i,first is drawn anew for all i, theta_first,first = 1/2; the second arm
    has the largest theta among the arms with l_i,first = w / n - sqrt(alpha log t / n) <= 1/2. The
    first arm itself is always among them: an arm against itself is how D-TS exploits.

    The votes are tossed as coins of probability P(theta_ij > 1/2), and second-phase values are
    drawn only where several arms exceed 1/2, for these: the same law from fewer random numbers
    (`jaxduel.policies.thompson.sampling`). A step costs O(K^2): a coin for each pair.

    With `self_duels=False` no arm meets itself, for those who pay for every comparison and want the
    best arm named: the second arm is the best, in the sample, of the other arms with l_i,first <=
    1/2 (there always is one). The Prompt Duel Optimizer (meta-llama/prompt-ops) has this rule, with
    alpha = 1.2, log max(t, 2) for log t, and a t that stands still within a round of 25 or 50
    comparisons, whose outcomes arrive together; here `delay` withholds outcomes, but t goes on.
    Before any outcome both take a uniformly random pair. There are no quiet runs, and strong and
    average regret grow linearly.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      alpha: width of the confidence bounds, > 1/2 in theory; 0.51 in the paper's experiments.
      self_duels: whether an arm may meet itself, as in the paper.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("dts", num_arms=6, alpha=0.6)
      DTS(num_arms=6, alpha=0.6)
      >>> jd.policies.make("dts", num_arms=6, self_duels=False)
      DTS(num_arms=6, self_duels=False)
      >>> jd.policies.describe("dts").can
      ('learn late (delay)', 'skip quiet runs', 'start from win counts (state_from_wins)')
    """

    self_duels: bool = field(default=True, metadata={"static": True})

    tells_which: ClassVar[bool] = True

    def act(self, state: ThompsonState, key: Key) -> Duel:
        """Lines 4 to 14."""
        seed, active = words_of(key), jnp.asarray(self.active_arms)
        bound = log_bound(self.alpha, state.t + 1)
        candidates = sampling.possible_winners(state, bound, active)
        votes = sampling.sampled_votes(seed, state, active)
        most = jnp.max(jnp.where(candidates, votes, -1))
        elected = masked_choice(candidates & (votes == most), sampling.tie_break(seed))
        left, decided = elected, state.decided
        if decided is not None:
            left = jnp.where(decided.first < 0, elected, decided.first)
        eligible = sampling.undecided_opponents(state, left, bound, active)
        right = sampling.best_reply(seed, state, left, eligible, self.self_duels)
        return Duel(left, right)

    def quiet(
        self, state: ThompsonState, limit: jax.Array, key: Key
    ) -> tuple[ThompsonState, Quiet]:
        """The comparisons with itself of the arm that wins the vote, while no arm replies to it.

        The length is that of a run of independent, equally likely steps, cut where log t changes a
        set of arms. The step after an uncut run ends it: a decisive vote falls on its unlikely
        side, or an arm replies (`jaxduel.policies.thompson.quiet`).
        """
        return confident_run(self, self.self_duels, state, limit, key)

    def quiet_among(
        self, state: ThompsonState, limit: jax.Array, key: Key, among: jax.Array
    ) -> tuple[ThompsonState, Quiet]:
        """As `quiet`, but several arms of `among`, (K,) bool, may have most votes. The votes that
        are still open decide which of them meets itself (`jaxduel.policies.thompson.leaders`).
        """
        return confident_run(self, self.self_duels, state, limit, key, among)
