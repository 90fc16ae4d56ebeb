"""Round robin of arms with rewards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class UniformArmsState(NamedTuple):
    """One seed's state."""

    arm: jax.Array  # () int32: the arm whose turn it is


@register("uniform-arms", label="uniform pulls")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class UniformArms:
    """Uniform pulls: all arms in turn, whatever was seen, to compare with.

    Arms are pulled in the order of their numbers, one at a time, so that the numbers of pulls of
    two arms never differ by more than one, whenever a run ends. A step costs O(1).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.

    Draws nothing. Which arms have a pull more depends on their order; `simulate` shuffles them for
    every seed.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("uniform-arms", num_arms=3)
      >>> result = jd.simulate(policy, "gaussian[0.5,0.2,0.1]", 1_000, 5, shuffle_arms=False)
      >>> result.plays[0, -1].tolist()
      [334, 333, 333]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()

    def init(self, key: Key) -> UniformArmsState:
        """The first arm."""
        return UniformArmsState(jnp.int32(0))

    def act(self, state: UniformArmsState, key: Key) -> Pull:
        """The arm whose turn it is."""
        return Pull(state.arm)

    def update(
        self, state: UniformArmsState, plan: Pull, outcome: jax.Array, key: Key
    ) -> UniformArmsState:
        """The next arm, whatever the reward."""
        following = state.arm + 1
        over = following == count_true(jnp.asarray(self.active_arms))
        return UniformArmsState(jnp.where(over, 0, following))

    def learn(self, state: UniformArmsState, feedback: RewardFeedback) -> UniformArmsState:
        """Withheld rewards change nothing."""
        return state
