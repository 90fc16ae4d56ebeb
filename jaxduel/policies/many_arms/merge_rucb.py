"""MergeRUCB: relative upper confidence bounds within small groups of arms."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import masked_choice
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import random_words, uniform, words_of
from jaxduel.policies.base import Duel, Key
from jaxduel.policies.counts import upper_bounds
from jaxduel.policies.many_arms import groups
from jaxduel.policies.many_arms.groups import GroupSettings, GroupState
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_PICK, _TIE = 0, 1
"""Streams of random words."""


@register("merge-rucb", "MergeRUCB")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class MergeRUCB(GroupSettings):
    """MergeRUCB, Zoghi, Whiteson and de Rijke (WSDM 2015), Algorithm 1.

    The arms are shuffled and cut into groups ("batches") of p, which play in turn, one comparison
    each. With wins w_ij that begin at 1, n_ij = w_ij + w_ji and mu_ij = w_ij / n_ij, a turn is:

    1. A group of one arm passes its turn on.
    2. With u_ij = mu_ij + sqrt(alpha log(t + C) / n_ij), while some u_ij < 1/2, i and j of the
       group: one such i, at random, leaves for ever. If one arm is left, back to 1.
    3. c is uniform in the group, d = argmax_j u_jc over the j != c of the group, ties at random.
       c and d are compared.
    4. Stage s = 1, 2, ... ends once at most K / 2^s + 1 arms are left, if in several groups. These
       are sorted by size, ties at random: the smallest joins the largest, and so on inwards; where
       both together have more than 1.5 p arms, the larger stays alone. If a group has at most p / 2
       arms then, all are merged so once more.

    A single arm plays itself for ever. The last arms of all groups may be alone before the stage
    ends: then one of them plays itself, once. A step costs O(p^2), and O(K / p) more where a turn
    is passed on; a merge, of which there are at most 2 log2 K, costs O(K p).

    Sources differ, and the text was not at hand: this follows the program of the first author, but
    removes arms one at a time (it takes positions from before the first removal). MergeDTS's
    program lets a group of one arm play itself in its turn, and restarts t (`restarts`).

    The attributes are those of `GroupSettings`, whose defaults are the theory's and this paper's.
    MergeDTS's experiments tune alpha and C to less than what is proved.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("merge-rucb", num_arms=136)
      MergeRUCB(num_arms=136)
      >>> jd.policies.describe("merge-rucb").can
      ('learn late (delay)', 'skip quiet runs')
    """

    def act(self, state: GroupState, key: Key) -> Duel:
        """Step 3."""
        seed, row = words_of(key), state.members[state.turn]
        exists = row >= 0
        left = masked_choice(exists, uniform(random_words(seed, 0, _PICK)[0]))
        wins, losses = state.wins[state.turn, :, left] + 1, state.wins[state.turn, left] + 1
        upper = upper_bounds(wins, losses, groups.bound_of(self, state.t))
        others = exists & (lax.iota(jnp.int32, len(row)) != left)
        upper = jnp.where(others, upper, -jnp.inf)
        best = (upper == jnp.max(upper)) & others
        right = masked_choice(best, uniform(random_words(seed, 0, _TIE)[0]))
        right = jnp.where(jnp.any(others), right, left)
        return Duel(row[left], row[materialize(right, right < 0)])  # else recomputed when read
