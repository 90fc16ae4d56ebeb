"""Top-two Thompson sampling for arms with Gaussian rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import unknown_name
from jaxduel.numerics import count_true
from jaxduel.numerics.choice import first_largest, first_least
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.normal import normal_from_bits
from jaxduel.numerics.threefry import KeyWords, random_words, uniform, words_of
from jaxduel.policies.arms.estimates import (
    Estimates,
    all_known,
    nothing_known,
    with_reward,
    with_rewards,
)
from jaxduel.policies.base import Key, Pull, RewardFeedback
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

CHALLENGERS = ("resampled", "transport")

COIN, DRAWS = 0, 1
"""Streams of a step's random words: its coin; the draw that finds the leader, and later draws."""
_LEAST = 0.1
"""Stands for smaller d_j, so that w_j is large: then all theta are drawn."""
_ROOT = 0.5 * math.log(2 * math.pi)
_TINY = float(jnp.finfo(jnp.float32).tiny)


class TopTwoThompsonState(NamedTuple):
    """One seed's state."""

    estimates: Estimates
    arm: jax.Array  # () int32: the arm whose turn it is, while arms take turns


@register("top-two-thompson", label="top-two Thompson sampling")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class TopTwoThompson:
    """Top-two Thompson sampling, Russo (COLT 2016), for Gaussian rewards of a known standard
    deviation, with the flat prior of Shang, de Heide, Menard, Kaufmann and Valko (AISTATS 2020).

    Every arm once, in the order of their numbers. Then a step draws theta_i from the posterior
    Normal(mean_i, std^2 / n_i) of every arm i; the arm of the largest is the leader I. With
    probability beta it is pulled. Else theta is drawn again until another arm is the largest, the
    challenger, which is pulled.

    The surer the leader is, the longer that would take. Where it is sure enough, the challenger is
    drawn by its law in another way (`_challenger`), in a few draws at most.

    T3C of Shang et al., `challenger="transport"`, takes the arm j of the least transport cost,

        W(I, j) = max(mean_I - mean_j, 0)^2 / (2 std^2 (1 / n_I + 1 / n_j)),

    the lowest number on ties. Neither stops by itself. With delays posteriors are those given the
    known rewards, and all arms take turns until a reward of each is known. A step costs O(K).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      std: standard deviation that the rewards are taken to have, positive.
      beta: the share of steps that pull the leader, from 0 to 1.
      challenger: "resampled", as Russo's, or "transport".

    `act` draws a coin, and a normal number for each arm and draw.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("top-two-thompson", num_arms=3)
      >>> result = jd.simulate(policy, jd.problems.gaussian([1.0, 0.0, 0.0]), 10_000, 10)
      >>> bool((abs(result.plays[:, -1, 0] - 5_000) < 500).all())  # the share of beta = 1/2
      True
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    std: float | jax.Array = 1.0
    beta: float | jax.Array = 0.5
    challenger: str = field(default="resampled", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        name = "top-two-thompson"
        require(self.std, lambda x: x > 0, f"{name}: std must be positive")
        require(self.beta, lambda x: (x >= 0) & (x <= 1), f"{name}: beta must be from 0 to 1")
        if self.challenger not in CHALLENGERS:
            raise unknown_name(f"challenger of {name}", self.challenger, CHALLENGERS)

    def init(self, key: Key) -> TopTwoThompsonState:
        """No pulls."""
        return TopTwoThompsonState(nothing_known(self.num_arms), jnp.int32(0))

    def act(self, state: TopTwoThompsonState, key: Key) -> Pull:
        """The arm whose turn it is at first, then the leader or the challenger."""
        active, seed = jnp.asarray(self.active_arms), words_of(key)
        mean, width = state.estimates.mean, self.std * state.estimates.width
        theta = mean + width * _normals(seed, self.num_arms, 0)
        leader = first_largest(jnp.where(active, theta, -jnp.inf))
        explores = uniform(random_words(seed, 0, COIN)[0]) >= self.beta
        in_turn = ~all_known(state.estimates, active)
        if self.challenger == "transport":
            chosen = jnp.where(explores, _costs_least(leader, mean, width, active), leader)
        else:
            needed = explores & ~in_turn
            chosen = compacted_cond(_challenger, needed, leader, mean, width, active, seed)
        return Pull(jnp.where(in_turn, state.arm, chosen))

    def update(
        self, state: TopTwoThompsonState, plan: Pull, outcome: jax.Array, key: Key
    ) -> TopTwoThompsonState:
        """The posterior given one more reward; only the pulled arm's changes."""
        following = state.arm + 1
        over = following == count_true(jnp.asarray(self.active_arms))
        return TopTwoThompsonState(
            estimates=with_reward(state.estimates, plan.arm, outcome),
            arm=jnp.where(over, 0, following),
        )

    def learn(self, state: TopTwoThompsonState, feedback: RewardFeedback) -> TopTwoThompsonState:
        """The posterior given rewards that were withheld."""
        return state._replace(estimates=with_rewards(state.estimates, *feedback))


def _normals(seed: KeyWords, num_arms: int, draw: jax.Array | int) -> jax.Array:
    """The standard normal numbers of a draw of all arms: (K,) float32."""
    arms = lax.iota(jnp.int32, num_arms)
    return normal_from_bits(*random_words(seed, arms, DRAWS + draw))


def _costs_least(
    leader: jax.Array, mean: jax.Array, width: jax.Array, active: jax.Array
) -> jax.Array:
    """The arm of the least transport cost: () int32."""
    apart = jnp.maximum(jnp.square(width) + jnp.square(width[leader]), _TINY)
    cost = jnp.square(jnp.maximum(mean[leader] - mean, 0.0)) / apart
    others = active & (lax.iota(jnp.int32, len(mean)) != leader)
    return first_least(jnp.where(others, cost, jnp.inf))


def _challenger(
    leader: jax.Array, mean: jax.Array, width: jax.Array, active: jax.Array, seed: KeyWords
) -> jax.Array:
    """The arm of the largest theta, given that this is not the leader: () int32.

    Arm j exceeds the leader I where x, the difference theta_j - theta_I in standard deviations
    from its mean, is above d_j = (mean_I - mean_j) / sqrt(width_I^2 + width_j^2). If d_j is large,
    that is rare, but easily drawn: x has the density of a normal number above d_j, of which
    phi(d_j) / d_j =: w_j is about the probability. If the w_j sum to 1 at least, all theta are
    drawn until the leader's is not the largest. Else a draw

    - takes an arm j with probability w_j / sum w,
    - draws x as sqrt(d_j^2 - 2 log u), which is kept with probability d_j / x (Devroye's method for
      the tail of the normal law), then theta_I given x, and the other arms' theta,
    - is kept with probability 1 / N, where N arms exceed the leader, as any of these might have
      been j.

    What is kept has the law of the former draws, and no method needs more than a few draws.
    """
    numbers = lax.iota(jnp.int32, len(mean))
    rivals = active & (numbers != leader)
    below, own = mean - mean[leader], width[leader]
    apart = jnp.sqrt(jnp.square(width) + jnp.square(own))
    d = jnp.maximum(-below / apart, _LEAST)
    far = -0.5 * jnp.square(d) - jnp.log(d)
    nearest = jnp.max(jnp.where(rivals, far, -jnp.inf))
    weight = jnp.where(rivals, jnp.exp(far - nearest), 0.0)
    ends = jnp.cumsum(weight)
    is_rare = nearest + jnp.log(ends[-1]) < _ROOT

    def turn(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        draw, _ = carry
        z = _normals(seed, len(mean), draw)
        words = jnp.stack(random_words(seed, len(mean) + lax.iota(jnp.int32, 2), DRAWS + draw))
        u, v, w, y = (1.0 - uniform(words)).ravel()
        j = jnp.minimum(jnp.sum(ends < u * ends[-1], dtype=jnp.int32), len(mean) - 1)
        x = jnp.sqrt(jnp.square(d[j]) - 2.0 * jnp.log(v))
        share = own / apart[j]
        low = own * jnp.where(is_rare, width[j] / apart[j] * z[leader] - share * x, z[leader])
        theta = below + width * z
        theta = jnp.where(is_rare & (numbers == j), low + apart[j] * (x - d[j]), theta)
        above = rivals & ((theta > low) | (is_rare & (numbers == j)))
        kept = (w * x < d[j]) & (y * count_true(above) <= 1.0)
        found = jnp.where(is_rare, kept, jnp.any(above))
        best = first_largest(jnp.where(above, theta, -jnp.inf))
        return draw + 1, jnp.where(found, best, leader)

    begin = jnp.int32(1), leader
    return lax.while_loop(lambda carry: carry[1] == leader, turn, begin)[1]
