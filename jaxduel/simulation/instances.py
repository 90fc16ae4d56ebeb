"""Instances as the loops see them: arrays of 32 bits that sample the outcomes of plans.

There is one class for each kind of outcome. `arms` maps the policy's arms to the instance's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.numerics import binomial, normal
from jaxduel.numerics.binomial import wins_of_pairs
from jaxduel.numerics.threefry import bits, fold_in, uniform23
from jaxduel.policies.base import WITHHELD, Batch, Duel, Plan, Pull, PullBatch
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.problems import ArmsProblem, PiecewiseProblem, Problem


class Instance(Protocol):
    """Interface of an instance to the loops over time."""

    def noise(self, keys: jax.Array, times: jax.Array) -> Any:
        """The randomness of single plans, for each of (n,) keys and the numbers, from 1, of their
        comparisons or pulls: (n,) float32, or a tree of such arrays."""
        ...

    def sample(self, arms: jax.Array, plan: Any, noise: Any) -> jax.Array:
        """The outcome of a plan for one comparison or pull, for an entry of what `noise` gave."""
        ...

    def of_arms(self, arms: jax.Array) -> Any:
        """The instance with the policy's arms for its own."""
        ...

    def sample_batch(self, key: jax.Array, plan: Any, made: jax.Array) -> jax.Array:
        """The outcome of a plan for a round, drawn as sums, with the number of comparisons or pulls
        made before it, () int32; of the instance `of_arms`."""
        ...

    def no_outcomes(self) -> Any:
        """Empty sums to gather outcomes in, arrays over arms: of pairs, (K, K) int32 wins of i over
        j, i != j; of arms with rewards, (K,) float32 sums of rewards minus their means, or
        `Rewards` where these are 0 and 1."""
        ...

    def add_outcome(self, so_far: Any, arms: jax.Array, plan: Any, outcome: jax.Array) -> Any:
        """The sums with one more outcome, of the policy's arms."""
        ...


class Coin(NamedTuple):
    """The random number of a comparison, and the stretch of time that it is in."""

    luck: jax.Array  # () float32 in [0, 1): the left arm wins below its probability
    stretch: jax.Array | None = None  # () int32, where preferences change


class Duels(NamedTuple):
    """Arms that are compared in pairs, with `ties`, with `changes` of preferences, or without."""

    preferences: jax.Array  # (K, K) float32, with `ties` where decisive; with `changes` (S, K, K)
    ties: jax.Array | None = None  # (K, K) float32; None: a tie is a fair coin
    changes: jax.Array | None = None  # (S - 1,) int32: as `PiecewiseProblem.changes`

    def noise(self, keys: jax.Array, times: jax.Array) -> Coin:
        """Coins, each with its stretch where preferences change."""
        if self.changes is None:
            return Coin(_coins(keys))
        passed = times[:, None] > self.changes
        return Coin(_coins(keys), jnp.sum(passed, axis=1, dtype=jnp.int32))

    def sample(self, arms: jax.Array, plan: Duel, noise: Coin) -> jax.Array:
        """() int32: +1 if the left arm wins, -1 if the right one does, `WITHHELD` for a tie."""
        luck, stretch = noise
        pair = arms[plan.left], arms[plan.right]
        wins = self.preferences[pair if stretch is None else (stretch, *pair)]
        if self.ties is None:
            return jnp.where(luck < wins, jnp.int32(1), jnp.int32(-1))
        decisive = 1.0 - self.ties[pair]
        lost = jnp.where(luck < decisive, jnp.int32(-1), jnp.int32(WITHHELD))
        return jnp.where(luck < decisive * wins, jnp.int32(1), lost)

    def of_arms(self, arms: jax.Array) -> Duels:
        """The preferences, and ties, of the policy's arms."""
        pair = ..., arms[:, None], arms
        ties = None if self.ties is None else self.ties[pair]
        return self._replace(preferences=self.preferences[pair], ties=ties)

    def sample_batch(self, key: jax.Array, plan: Batch, made: jax.Array) -> jax.Array:
        """(K, K) int32: wins of i over j. Comparisons are made pair by pair, (0, 0) first, (0, 1)
        next, which says in what stretch they are."""
        n = plan.counts
        if self.ties is not None:
            key, of_ties = fold_in(key, 0), fold_in(key, 1)
            n = n - jnp.triu(wins_of_pairs(of_ties, n, self.ties), 1)
        if self.changes is None:
            return wins_of_pairs(key, n, self.preferences)
        rows = jnp.cumsum(plan.counts, axis=1, dtype=jnp.int32)
        starts = jnp.cumsum(rows[:, -1], dtype=jnp.int32) - rows[:, -1]
        last = rows + starts[:, None]
        before = jnp.clip((self.changes - made)[:, None, None] - (last - n), 0, n)
        parts = jnp.diff(before, axis=0, prepend=0, append=n[None])
        keys = jax.vmap(fold_in, in_axes=(None, 0))(key, jnp.arange(len(parts), dtype=jnp.int32))
        each = jax.vmap(wins_of_pairs)(keys, parts, self.preferences)
        return jnp.sum(each, axis=0, dtype=jnp.int32)

    def no_outcomes(self) -> jax.Array:
        """(K, K) int32."""
        return jnp.zeros(self.preferences.shape[-2:], jnp.int32)

    def add_outcome(
        self, so_far: jax.Array, arms: jax.Array, plan: Duel | Batch, outcome: jax.Array
    ) -> jax.Array:
        """(K, K) int32: wins of i over j; an arm that meets itself wins nothing."""
        if isinstance(plan, Batch):
            return so_far + outcome
        return add_result(so_far, duel_result(plan, outcome))


class GaussianArms(NamedTuple):
    """Arms with normal rewards. The sum of n of them is Normal(n mean, n std^2), in one draw."""

    means: jax.Array  # (K,) float32
    std: jax.Array  # (K,) float32

    def noise(self, keys: jax.Array, times: jax.Array) -> jax.Array:
        """Standard normal numbers."""
        return jax.vmap(normal)(keys)

    def sample(self, arms: jax.Array, plan: Pull, noise: jax.Array) -> jax.Array:
        """() float32: the reward."""
        arm = arms[plan.arm]
        return self.means[arm] + self.std[arm] * noise

    def of_arms(self, arms: jax.Array) -> GaussianArms:
        """The rewards of the policy's arms."""
        return GaussianArms(self.means[arms], self.std[arms])

    def sample_batch(self, key: jax.Array, plan: PullBatch, made: jax.Array) -> jax.Array:
        """(K,) float32: the sum of each arm's rewards."""
        n = plan.counts.astype(jnp.float32)
        return n * self.means + self.std * jnp.sqrt(n) * normal(key, n.shape)

    def no_outcomes(self) -> jax.Array:
        """(K,) float32."""
        return jnp.zeros_like(self.means)

    def add_outcome(
        self, so_far: jax.Array, arms: jax.Array, plan: Pull | PullBatch, outcome: jax.Array
    ) -> jax.Array:
        """(K,) float32: sums of rewards minus their means."""
        if isinstance(plan, PullBatch):
            return so_far + (outcome - plan.counts.astype(jnp.float32) * self.means[arms])
        more = outcome - self.means[arms[plan.arm]]
        return so_far.at[plan.arm].add(more, mode="promise_in_bounds")


class Rewards(NamedTuple):
    """Counts of rewards of 1 and of 0: a float32 sum of their deviations would drift."""

    ones: jax.Array  # (K,) int32
    zeros: jax.Array  # (K,) int32


class BernoulliArms(NamedTuple):
    """Arms with rewards 0 and 1. The sum of n of them is Binomial(n, mean), in one draw."""

    means: jax.Array  # (K,) float32

    def noise(self, keys: jax.Array, times: jax.Array) -> jax.Array:
        """Coins in [0, 1): the reward is 1 below the mean."""
        return _coins(keys)

    def sample(self, arms: jax.Array, plan: Pull, noise: jax.Array) -> jax.Array:
        """() float32: the reward."""
        return (noise < self.means[arms[plan.arm]]).astype(jnp.float32)

    def of_arms(self, arms: jax.Array) -> BernoulliArms:
        """The rewards of the policy's arms."""
        return BernoulliArms(self.means[arms])

    def sample_batch(self, key: jax.Array, plan: PullBatch, made: jax.Array) -> jax.Array:
        """(K,) float32: the sum of each arm's rewards."""
        return binomial(key, plan.counts, self.means).astype(jnp.float32)

    def no_outcomes(self) -> Rewards:
        """(K,) int32 each."""
        nothing = jnp.zeros(self.means.shape, jnp.int32)
        return Rewards(nothing, nothing)

    def add_outcome(
        self, so_far: Rewards, arms: jax.Array, plan: Pull | PullBatch, outcome: jax.Array
    ) -> Rewards:
        """(K,) int32 each."""
        ones = outcome.astype(jnp.int32)
        if isinstance(plan, PullBatch):
            ones = jnp.minimum(ones, plan.counts)
            return Rewards(so_far.ones + ones, so_far.zeros + plan.counts - ones)
        mode = "promise_in_bounds"
        return Rewards(
            so_far.ones.at[plan.arm].add(ones, mode=mode),
            so_far.zeros.at[plan.arm].add(1 - ones, mode=mode),
        )


def instance_of(problem: Problem, num_arms: int, with_ties: bool = False) -> Instance:
    """The problem's arrays, padded to `num_arms` with arms that no policy plays; `with_ties`, ties
    are told from fair coins."""
    extra = num_arms - problem.num_arms
    if isinstance(problem, ArmsProblem):
        means: Any = np.pad(problem.means, (0, extra)).astype(np.float32)
        if problem.std is None:
            return BernoulliArms(means)
        std: Any = np.pad(problem.std, (0, extra)).astype(np.float32)
        return GaussianArms(means, std)
    p: Any = problem.preferences
    if isinstance(problem, PiecewiseProblem):
        around = ((0, 0), (0, extra), (0, extra))
        stack: Any = np.pad(p, around, constant_values=0.5).astype(np.float32)
        changes: Any = np.asarray(problem.changes, np.int32)
        return Duels(stack, changes=changes)
    if not with_ties:
        alone: Any = np.pad(p, (0, extra), constant_values=0.5).astype(np.float32)
        return Duels(alone)
    q: Any = np.zeros_like(p) if problem.ties is None else np.asarray(problem.ties)
    won = np.divide(p - q / 2, 1 - q, out=np.full_like(p, 0.5), where=q < 1)
    padded: Any = np.pad(won, (0, extra), constant_values=0.5).astype(np.float32)
    tied: Any = np.pad(q, (0, extra)).astype(np.float32)
    return Duels(padded, tied)


def sums_of(problem: Problem, gathered: Any) -> np.ndarray:
    """The outcomes that an instance has gathered, as in `Result.outcomes`.

    Args:
      problem: the problem.
      gathered: as `Instance.no_outcomes`, with any axes in front, of the problem's arms and more.

    Returns:
      (..., K, K) int32, wins, or (..., K) float64, sums of rewards minus their means.
    """
    num = problem.num_arms
    if not isinstance(problem, ArmsProblem):
        return gathered[..., :num, :num]
    if not isinstance(gathered, Rewards):
        return gathered[..., :num].astype(np.float64)
    ones, zeros = (x[..., :num].astype(np.int64) for x in gathered)
    return ones - (ones + zeros) * problem.means.astype(np.float32).astype(np.float64)


def totals_of(problem: ArmsProblem, gathered: Any, pulls: np.ndarray) -> np.ndarray:
    """The sums of rewards that an instance has gathered, (..., K) float64; `pulls`, (..., K or
    more), are those that gave them, and the rest as in `sums_of`."""
    num = problem.num_arms
    if isinstance(gathered, Rewards):
        return np.asarray(gathered.ones[..., :num], np.float64)
    means = problem.means.astype(np.float32).astype(np.float64)
    return gathered[..., :num] + pulls[..., :num] * means


def plays_of(plan: Plan, num_arms: int) -> jax.Array:
    """Plays of each arm in a plan: (K,) uint32. An arm that meets itself plays twice."""
    if isinstance(plan, PullBatch):
        return plan.counts.astype(jnp.uint32)
    if isinstance(plan, Batch):
        along, across = (jnp.sum(plan.counts, axis=axis, dtype=jnp.int32) for axis in (0, 1))
        return along.astype(jnp.uint32) + across.astype(jnp.uint32)
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    parts = [(arms == arm).astype(jnp.uint32) for arm in plan]
    return parts[0] + parts[1] if len(parts) == 2 else parts[0]


def _coins(keys: jax.Array) -> jax.Array:
    return uniform23(jax.vmap(lambda key: bits(key, ()))(keys))
