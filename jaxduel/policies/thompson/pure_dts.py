"""D-TS without confidence bounds (pure D-TS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from jaxduel.numerics import masked_choice
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Duel, Key
from jaxduel.policies.registry import register
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.sampling import ThompsonSettings, ThompsonState
from jaxduel.pytrees import register_dataclass


@register("pure-dts", label="pure D-TS")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class PureDTS(ThompsonSettings):
    """Pure D-TS, Wu and Liu (NIPS 2016), appendix D.2.4: D-TS that eliminates no arm.

    The first arm is the arm that beats most arms in a sample of theta, ties at random; the second
    arm has the largest theta_i,first of all arms in a new sample, theta_first,first = 1/2. If a
    Copeland winner loses to an arm that is none, regret is linear. A step costs O(K^2): a coin for
    each pair.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("pure-dts", num_arms=6)
      PureDTS(num_arms=6)
      >>> jd.policies.parameters("pure-dts")
      {}
    """

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def act(self, state: ThompsonState, key: Key) -> Duel:
        """Algorithm 1 without lines 4 to 6 and without the condition of line 14."""
        seed, active = words_of(key), jnp.asarray(self.active_arms)
        votes = sampling.sampled_votes(seed, state, active)
        left = masked_choice(votes == jnp.max(votes), sampling.tie_break(seed))
        return Duel(left, sampling.best_reply(seed, state, left, active))
