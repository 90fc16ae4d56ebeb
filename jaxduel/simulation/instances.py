"""Instances as the loops see them: arrays of 32 bits that sample the outcomes of plans.

There is one class for each kind of outcome. `arms` maps the policy's arms to the instance's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError, warn_caller
from jaxduel.numerics import binomial, normal
from jaxduel.numerics.binomial import wins_of_pairs
from jaxduel.numerics.threefry import bits, fold_in, uniform23
from jaxduel.policies.base import WITHHELD, Batch, Duel, Plan, Pull, PullBatch
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.problems import ArmsProblem, DuelingProblem, PiecewiseProblem, Problem
from jaxduel.problems.piecewise import rewards_of

_LEAST, _MOST = 1e-12, 1e12
"""Least and largest standard deviation, and largest mean: squares and sums fit float32."""
_LOST = 0.01
"""Part of a gap that rounding to float32 may take or add."""


class Instance(Protocol):
    """Interface of an instance to the loops over time."""

    def noise(self, keys: jax.Array, times: jax.Array) -> Noise:
        """The randomness of single plans, for each of (n,) keys and the numbers, from 1, of their
        comparisons or pulls: arrays of (n,)."""
        ...

    def sample(self, arms: jax.Array, plan: Any, noise: Noise) -> jax.Array:
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

    def add_outcome(
        self, so_far: Any, arms: jax.Array, plan: Any, outcome: jax.Array, when: Any
    ) -> Any:
        """The sums with one more outcome, of the policy's arms; `when` is the stretch of a single
        plan, as in `Noise`, or the number of comparisons or pulls made before a round."""
        ...


class Noise(NamedTuple):
    """The random number of a comparison or pull, and the stretch of time that it is in."""

    number: jax.Array  # () float32: a coin in [0, 1), or standard normal for Gaussian rewards
    stretch: jax.Array | None = None  # () int32, where the instance changes


class Duels(NamedTuple):
    """Arms that are compared in pairs, with `ties`, with `changes` of preferences, or without."""

    preferences: jax.Array  # (K, K) float32, with `ties` where decisive; with `changes` (S, K, K)
    ties: jax.Array | None = None  # (K, K) float32; None: a tie is a fair coin
    changes: jax.Array | None = None  # (S - 1,) int32: as `PiecewiseProblem.changes`

    def noise(self, keys: jax.Array, times: jax.Array) -> Noise:
        """Coins."""
        return Noise(_coins(keys), _stretches(self.changes, times))

    def sample(self, arms: jax.Array, plan: Duel, noise: Noise) -> jax.Array:
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
        parts = _shares(self.changes - made, n, rows + starts[:, None])
        keys = jax.vmap(fold_in, in_axes=(None, 0))(key, jnp.arange(len(parts), dtype=jnp.int32))
        each = jax.vmap(wins_of_pairs)(keys, parts, self.preferences)
        return jnp.sum(each, axis=0, dtype=jnp.int32)

    def no_outcomes(self) -> jax.Array:
        """(K, K) int32."""
        return jnp.zeros(self.preferences.shape[-2:], jnp.int32)

    def add_outcome(
        self, so_far: jax.Array, arms: jax.Array, plan: Duel | Batch, outcome: jax.Array, when: Any
    ) -> jax.Array:
        """(K, K) int32: wins of i over j; an arm that meets itself wins nothing."""
        if isinstance(plan, Batch):
            return so_far + outcome
        return add_result(so_far, duel_result(plan, outcome))


class GaussianArms(NamedTuple):
    """Arms with normal rewards, with `changes` or without. The sum of n of them is Normal(n mean,
    n std^2), in one draw."""

    means: jax.Array  # (K,) float32; with `changes` (S, K)
    std: jax.Array  # (K,) float32; with `changes` (S, K)
    changes: jax.Array | None = None  # (S - 1,) int32: as `PiecewiseProblem.changes`

    def noise(self, keys: jax.Array, times: jax.Array) -> Noise:
        """Standard normal numbers."""
        return Noise(jax.vmap(normal)(keys), _stretches(self.changes, times))

    def sample(self, arms: jax.Array, plan: Pull, noise: Noise) -> jax.Array:
        """() float32: the reward."""
        at = _entry(arms[plan.arm], noise.stretch)
        return self.means[at] + self.std[at] * noise.number

    def of_arms(self, arms: jax.Array) -> GaussianArms:
        """The rewards of the policy's arms."""
        return self._replace(means=self.means[..., arms], std=self.std[..., arms])

    def sample_batch(self, key: jax.Array, plan: PullBatch, made: jax.Array) -> jax.Array:
        """(K,) float32: the sum of each arm's rewards. Pulls are made arm by arm, which says in
        what stretch they are."""
        n = _pulls(self.changes, plan, made).astype(jnp.float32)
        if self.changes is None:
            return n * self.means + self.std * jnp.sqrt(n) * normal(key, n.shape)
        spread = jnp.sqrt(jnp.sum(n * jnp.square(self.std), axis=0))
        return jnp.sum(n * self.means, axis=0) + spread * normal(key, spread.shape)

    def no_outcomes(self) -> jax.Array:
        """(K,) float32."""
        return jnp.zeros(self.means.shape[-1], jnp.float32)

    def add_outcome(
        self,
        so_far: jax.Array,
        arms: jax.Array,
        plan: Pull | PullBatch,
        outcome: jax.Array,
        when: Any,
    ) -> jax.Array:
        """(K,) float32: sums of rewards minus their means."""
        if isinstance(plan, PullBatch):
            pulls = _pulls(self.changes, plan, when).astype(jnp.float32)
            expected = pulls * self.means[..., arms]
            total = expected if self.changes is None else jnp.sum(expected, axis=0)
            return so_far + (outcome - total)
        mean = self.means[_entry(arms[plan.arm], when)]
        return so_far.at[plan.arm].add(outcome - mean, mode="promise_in_bounds")


class Rewards(NamedTuple):
    """Counts of rewards of 1 and of pulls: a float32 sum of their deviations would drift."""

    ones: jax.Array  # (K,) int32
    pulls: jax.Array  # (K,) int32; with changes (S, K)


class BernoulliArms(NamedTuple):
    """Arms with rewards 0 and 1, with `changes` or without. The sum of n of them is Binomial(n,
    mean), in one draw of each stretch."""

    means: jax.Array  # (K,) float32; with `changes` (S, K)
    changes: jax.Array | None = None  # (S - 1,) int32: as `PiecewiseProblem.changes`

    def noise(self, keys: jax.Array, times: jax.Array) -> Noise:
        """Coins: the reward is 1 below the mean."""
        return Noise(_coins(keys), _stretches(self.changes, times))

    def sample(self, arms: jax.Array, plan: Pull, noise: Noise) -> jax.Array:
        """() float32: the reward."""
        mean = self.means[_entry(arms[plan.arm], noise.stretch)]
        return (noise.number < mean).astype(jnp.float32)

    def of_arms(self, arms: jax.Array) -> BernoulliArms:
        """The rewards of the policy's arms."""
        return self._replace(means=self.means[..., arms])

    def sample_batch(self, key: jax.Array, plan: PullBatch, made: jax.Array) -> jax.Array:
        """(K,) float32: the sum of each arm's rewards. Pulls are made arm by arm, which says in
        what stretch they are."""
        ones = binomial(key, _pulls(self.changes, plan, made), self.means)
        return (ones if self.changes is None else jnp.sum(ones, axis=0)).astype(jnp.float32)

    def no_outcomes(self) -> Rewards:
        """Counts of nothing."""
        ones = jnp.zeros(self.means.shape[-1], jnp.int32)
        return Rewards(ones, jnp.zeros(self.means.shape, jnp.int32))

    def add_outcome(
        self,
        so_far: Rewards,
        arms: jax.Array,
        plan: Pull | PullBatch,
        outcome: jax.Array,
        when: Any,
    ) -> Rewards:
        """Counts of ones and pulls."""
        ones = outcome.astype(jnp.int32)
        if isinstance(plan, PullBatch):
            ones = so_far.ones + jnp.minimum(ones, plan.counts)
            return Rewards(ones, so_far.pulls + _pulls(self.changes, plan, when))
        mode = "promise_in_bounds"
        return Rewards(
            so_far.ones.at[plan.arm].add(ones, mode=mode),
            so_far.pulls.at[_entry(plan.arm, when)].add(1, mode=mode),
        )


def require_in_float32(problem: ArmsProblem) -> None:
    """Checks that policies, which see rewards in float32, can tell the arms apart.

    Raises:
      InputError: Gaussian arms with means or standard deviations beyond 1e12, or with standard
        deviations below 1e-12.

    Warns:
      UserWarning: if the means are so far from 0 that rounding changes a gap by more than 1 %, or a
        reward by half its standard deviation.
    """
    if problem.std is None:
        return
    means, std = np.asarray(problem.means), np.asarray(problem.std)
    far, least, most = np.abs(means).max(), std.min(), std.max()
    if max(far, most) > _MOST or least < _LEAST:
        raise InputError(
            f"arms '{problem.name}' have means up to {far:g} from 0 and std from {least:g} to "
            f"{most:g}: float32, in which they are simulated, allows means up to {_MOST:g} from 0 "
            f"and std from {_LEAST:g} to {_MOST:g}."
        )
    seen = means.astype(np.float32)
    gaps, left = means.max() - means, (seen.max() - seen).astype(np.float64)
    if (np.abs(left - gaps) > _LOST * gaps).any() or (np.spacing(np.abs(seen)) > std).any():
        warn_caller(
            f"arms '{problem.name}' have means so far from 0 that policies, which see rewards in "
            "float32, lose the differences: subtract a number from all means."
        )


def instance_of(problem: Problem, num_arms: int, with_ties: bool = False) -> Instance:
    """The problem's arrays, padded to `num_arms` with arms that no policy plays; `with_ties`, ties
    are told from fair coins."""
    extra = num_arms - problem.num_arms

    def padded(values: np.ndarray, axes: int, fill: float) -> Any:
        around = [(0, 0)] * (values.ndim - axes) + [(0, extra)] * axes
        return np.pad(values, around, constant_values=fill).astype(np.float32)

    changes: Any = None
    if isinstance(problem, PiecewiseProblem):
        changes = np.asarray(problem.changes, np.int32)
    given: Any = problem  # with other attributes for each kind
    if rewards_of(problem) is not None:
        means = padded(given.means, 1, 0.0)
        if given.std is None:
            return BernoulliArms(means, changes)
        return GaussianArms(means, padded(given.std, 1, 0.0), changes)
    p: Any = given.preferences
    if not with_ties:
        return Duels(padded(p, 2, 0.5), changes=changes)
    q: Any = np.zeros_like(p) if given.ties is None else np.asarray(given.ties)
    won = np.divide(p - q / 2, 1 - q, out=np.full_like(p, 0.5), where=q < 1)
    return Duels(padded(won, 2, 0.5), padded(q, 2, 0.0))


def sums_of(problem: Problem, gathered: Any) -> np.ndarray:
    """The outcomes that an instance has gathered, as in `Result.outcomes`.

    Args:
      problem: the problem.
      gathered: as `Instance.no_outcomes`, with any axes in front, of the problem's arms and more.

    Returns:
      (..., K, K) int32, wins, or (..., K) float64, sums of rewards minus their means.
    """
    num = problem.num_arms
    if isinstance(problem, DuelingProblem) or problem.rewards is None:
        return gathered[..., :num, :num]
    if not isinstance(gathered, Rewards):
        return gathered[..., :num].astype(np.float64)
    ones, pulls = (np.asarray(x[..., :num], np.int64) for x in gathered)
    expected = pulls * problem.means.astype(np.float32).astype(np.float64)
    return ones - (expected.sum(axis=-2) if isinstance(problem, PiecewiseProblem) else expected)


def totals_of(problem: ArmsProblem, gathered: Any, pulls: np.ndarray) -> np.ndarray:
    """The sums of rewards that an instance has gathered, (..., K) float64; `pulls`, (..., K or
    more), are the pulls that gave the rewards; the other arguments are those of `sums_of`."""
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


def _stretches(changes: jax.Array | None, times: jax.Array) -> jax.Array | None:
    """The stretch, from 0, of each of (n,) comparisons or pulls, numbered from 1: (n,) int32."""
    if changes is None:
        return None
    return jnp.sum(times[:, None] > changes, axis=1, dtype=jnp.int32)


def _entry(arm: jax.Array, stretch: jax.Array | None) -> Any:
    """The index of an arm's number, (K,), or (S, K) where there are stretches."""
    return arm if stretch is None else (stretch, arm)


def _pulls(changes: jax.Array | None, plan: PullBatch, made: jax.Array) -> jax.Array:
    """Pulls of each arm in a round, (K,) int32, or with changes in each stretch, (S, K)."""
    n = plan.counts
    return n if changes is None else _shares(changes - made, n, jnp.cumsum(n, dtype=jnp.int32))


def _shares(left: jax.Array, n: jax.Array, last: jax.Array) -> jax.Array:
    """The comparisons or pulls of a round in each stretch: (S, ...) int32.

    Args:
      left: (S - 1,) int32, number of plays, from the round's first on, that come before each
        change; may be negative.
      n: (...) int32, of each pair or arm, made one pair or arm after another.
      last: (...) int32, the number of the last of them in the round, from 1.
    """
    before = jnp.clip(left.reshape(-1, *[1] * n.ndim) - (last - n), 0, n)
    return jnp.diff(before, axis=0, prepend=0, append=n[None])
