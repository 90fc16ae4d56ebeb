"""Uniform sampling of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.arm_sets import number_below
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class UniformState(NamedTuple):
    """One seed's state."""

    t: jax.Array  # () int32: comparisons made; they change nothing


@register("uniform", label="uniform")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Uniform sampling of pairs.

    In every step all K (K - 1) / 2 pairs of different arms are equally likely, and so are their two
    sides, whatever was seen. It learns nothing: the baseline for policies that choose their pairs.
    Its average regret is t times the mean over all arms, the best one included, of their gaps to
    the best. A step costs O(1).

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.

    `act` reads two uniform numbers of its key: the left arm, and the right one among the others.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("uniform", num_arms=3)
      >>> problem = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
      >>> result = jd.simulate(policy, problem, horizon=300, num_seeds=500, regret="average")
      >>> round(float(result.mean[-1]) / 300, 2)  # (0 + 0.1 + 0.4) / 3
      0.17
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()

    def init(self, key: Key) -> UniformState:
        """No comparisons."""
        return UniformState(jnp.int32(0))

    def from_wins(self, wins: jax.Array, key: Key) -> UniformState:
        """The comparisons counted in `wins`."""
        return UniformState(jnp.sum(wins, dtype=jnp.int32))

    def act(self, state: UniformState, key: Key) -> Duel:
        """Two different arms."""
        return uniform_pair(count_true(self.active_arms), *uniforms(key, 2))

    def update(self, state: UniformState, plan: Duel, outcome: jax.Array, key: Key) -> UniformState:
        """Counts the comparison, whatever its outcome."""
        return UniformState(state.t + 1)

    def learn(self, state: UniformState, feedback: Feedback) -> UniformState:
        """Withheld outcomes change nothing."""
        return state


def uniform_pair(size: jax.Array, u: jax.Array, v: jax.Array) -> Duel:
    """A uniformly random ordered pair of different arms.

    Args:
      size: () int32, the number of arms, at least 2: arms 0 to size - 1.
      u, v: () float32, uniform in [0, 1).
    """
    left, right = number_below(size, u), number_below(size - 1, v)
    return Duel(left, right + (right >= left))
