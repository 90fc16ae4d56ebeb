"""Efficient Copeland Winners Relative Minimum Empirical Divergence (ECW-RMED)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax

from jaxduel.policies.base import Key, Quiet
from jaxduel.policies.copeland_rmed import demands
from jaxduel.policies.copeland_rmed.loop import LoopSettings, LoopState
from jaxduel.policies.copeland_rmed.quiet import quiet_run
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("ecw-rmed")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class ECWRMED(LoopSettings):
    """ECW-RMED, Komiyama, Honda and Nakagawa (ICML 2016), Algorithm 1 with Theorem 5.

    Before each comparison, line 4: while there is a pair with n_ij < alpha sqrt(log t), or with
    |mu_ij - 1/2| < beta / log log t, the first of them is compared (t is the comparison's number;
    log log t is taken to be at least 1). Otherwise the next pair of L_C is compared, in
    lexicographic order of (i, j), i >= j, i on the left; after each of these pairs (lines 7 to 15),
    L_N gets

    - (i*, i*) of an empirical Copeland winner i* that the counts show to be one, condition (3) (the
      lowest index of several), or if there is none,
    - the pairs with q*_ij > n_ij / log t, and (i*, i*), where q* is the optimum over R^E_i* by
      Theorem 5 and i* the empirical winner of the smallest one,

    unless they are in L_R, the rest of L_C. L_N is the next L_C.

    Readings: line 15 says "L_NC and the pairs i != j not in L_R", but (i*, i*) is no such pair; it
    must be "all pairs not in L_R", else nothing is ever exploited. Condition (3) demands of every
    pair that n_ij / log t <= 1 / d(mu_ij, 1/2), which one pair compared too often violates; here
    surplus comparisons are allowed, so that only the sums of (2) count (on "cyclic" the box costs a
    fifth more regret at T = 3e4). A pair of mu_ij = 1/2 belongs to no arm's superiors, needs
    nothing, and is compared by line 4 while beta > 0.

    Demands change with outcomes only, and are recomputed only in lanes that learnt something. They
    hold the log t at which decisions change, so that a step that teaches nothing costs O(K) words
    and one comparison of K x K numbers.

    Attributes: those of `LoopSettings`.

    The order of the pairs matters on matrices like "gap", where few comparisons suffice in one
    order of the arms: `simulate(..., shuffle_arms=False)` keeps the table's order. Draws nothing.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("ecw-rmed", num_arms=6, beta=0.1)
      ECWRMED(num_arms=6, beta=0.1)
      >>> jd.policies.describe("ecw-rmed").assumes  # but no Condorcet winner
      ('a preference in every pair',)
    """

    demand_of = staticmethod(partial(demands.demand_with, demands.allocate_ecw))
    adjusted = staticmethod(demands.adjust_ecw)

    def quiet(self, state: LoopState, limit: jax.Array, key: Key) -> tuple[LoopState, Quiet]:
        """The comparisons of i* with itself until another pair's turn.

        Their outcomes are ignored, so that i* and the lists change with log t only, by the tests
        that `update` makes: the run ends at the exact comparison.
        """
        return quiet_run(self, state, limit)
