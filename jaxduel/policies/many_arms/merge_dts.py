"""MergeDTS: double Thompson sampling within small groups of arms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import masked_choice
from jaxduel.numerics.coins import bernoulli_from_tail
from jaxduel.numerics.threefry import KeyWords, words_of
from jaxduel.policies.base import Duel, Key
from jaxduel.policies.many_arms.groups import GroupSettings, GroupState
from jaxduel.policies.registry import register
from jaxduel.policies.thompson import sampling
from jaxduel.pytrees import register_dataclass


@register("merge-dts", "MergeDTS")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class MergeDTS(GroupSettings):
    """MergeDTS, Li, Markov, de Rijke and Zoghi (TOIS 2020), Algorithm 1.

    Groups of arms ("batches") take turns, lose arms that are surely beaten, and are merged, as in
    `MergeRUCB`. The two arms of a group that meet:

    - theta_ij ~ Beta(w_ij, w_ji), with wins w that begin at 1, and theta_ji = 1 - theta_ij. c is
      the arm with most j in the group such that theta_cj > 1/2, ties at random.
    - With theta_jc sampled afresh, d = argmin_j theta_jc over the j != c of the group: the arm most
      likely to lose, so that it leaves soon.

    Only whether theta_cj > 1/2 counts in the first phase, and in the second unless several arms are
    on the side of the smallest: both toss coins, and draw the values of those arms alone
    (`jaxduel.policies.thompson.sampling`). A step costs O(p^2), a merge O(K p).

    The text was not at hand: this follows the authors' program, but for t, which goes on from stage
    to stage (`restarts`), theta, which is mirrored (`mirrored`), and a group of one arm, which
    passes its turn on. There it joins the next group, which can get more than 1.5 p arms.

    Attributes:
      mirrored: whether theta_ij + theta_ji = 1, as in D-TS; the authors' program draws both
        independently.

    The other attributes are those of `GroupSettings`, whose defaults are the theory's. The
    experiments are with alpha = 0.8^6, C = 400,000 and p = 16, for which less is proved and regret
    is much smaller.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("merge-dts", num_arms=136, group_size=16)
      MergeDTS(num_arms=136, group_size=16)
      >>> jd.policies.describe("merge-dts").assumes
      ('a Condorcet winner',)
    """

    mirrored: bool = field(default=True, metadata={"static": True})

    keeps_tail: ClassVar[bool] = True

    def act(self, state: GroupState, key: Key) -> Duel:
        """The two arms of the group whose turn it is."""
        seed, row, wins = words_of(key), state.members[state.turn], state.wins[state.turn]
        exists, tail = row >= 0, self._tail(state)
        votes = sampling.votes_of(self._losses(seed, tail), exists)
        left = masked_choice(exists & (votes == jnp.max(votes)), sampling.tie_break(seed))
        others = exists & (lax.iota(jnp.int32, len(row)) != left)
        chances = sampling.strongest(seed, tail[left], wins[left], wins[:, left], others)
        right = jnp.where(jnp.any(others), lax.argmax(chances, 0, jnp.int32), left)
        return Duel(row[left], row[right])

    def _tail(self, state: GroupState) -> jax.Array:
        """The tails of the group whose turn it is: (S, S) float32."""
        assert state.tail is not None
        return state.tail[state.turn]

    def _losses(self, seed: KeyWords, tail: jax.Array) -> jax.Array:
        """True at [j, i] where theta_ij < 1/2: (S, S) bool."""
        if self.mirrored:
            return sampling.tossed(seed, tail)
        numbers = lax.iota(jnp.int32, tail.size).reshape(tail.shape)
        return bernoulli_from_tail(seed, numbers, sampling.VOTES, tail)
