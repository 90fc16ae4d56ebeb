"""Stages of double explore-then-commit: their state, the turns between them, lengths and tests.

Stage I explores all arms, II commits to the leader 1', whose mean mu' is then frozen, III explores
what is left, by means theta of its own pulls alone, and IV commits for good.

Paper: Jin, Xu, Xiao and Gu, "Double Explore-then-Commit" (COLT 2021), Algorithms 1 to 5 and 7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.elimination import (
    Rewards,
    best_of,
    means_of,
    no_rewards,
    pulls_made,
    spread,
    with_round,
)
from jaxduel.policies.base import Key, Pull, PullBatch, Quiet, RewardFeedback
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import name_of

EXPLORE, LEAD, CHALLENGE, COMMIT, AGAIN = 1, 2, 3, 4, 5
"""Stages I to IV, and the second exploration of Algorithms 3 and 7."""


class DoubleETCState(NamedTuple):
    """One seed's state."""

    stage: jax.Array  # () int32: EXPLORE to AGAIN
    rounds: jax.Array  # () int32: rounds of the stage made, or pulls, withheld rewards included
    leader: jax.Array  # (K,) bool: 1' from stage II on, in stage IV the arm committed to
    anchor: jax.Array  # () float32: mu', from stage III on
    rewards: Rewards  # since the start
    fresh: Rewards  # since the stage began


@dataclass(frozen=True, kw_only=True)
class KnownGapSettings:
    """The inputs of an algorithm for two arms whose gap is known, and the turns between its stages.

    Attributes:
      num_arms: K; two arms are active.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all.
      gap: D, the distance of the means, positive, with T D^2 > 1.
      epsilon: e, in (0, 1); None: min(sqrt(log(T D^2) / (D^2 log^2 T)), 1/2), as in the theory.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    gap: float | jax.Array
    epsilon: float | jax.Array | None = None

    assumes: ClassVar[tuple[str, ...]] = ()
    max_arms: ClassVar[int] = 2

    def validate(self) -> None:
        """Raises InputError for a horizon, a gap or an epsilon out of range."""
        name = name_of(self)
        require_horizon(self.horizon, name)
        require(self.gap, lambda x: x > 0, f"{name}: gap must be positive")
        require(self.epsilon, lambda x: (x > 0) & (x < 1), f"{name}: epsilon must be in (0, 1)")
        scaled = np.asarray(self.horizon, float) * np.square(np.asarray(self.gap, float))
        if np.any(scaled <= 1):
            raise InputError(
                f"{name}: the horizon times the square of the gap must exceed 1, not "
                f"{np.min(scaled):.4g}."
            )

    def init(self, key: Key) -> DoubleETCState:
        """The beginning of stage I."""
        return first_state(self.active_arms)

    def update(
        self, state: DoubleETCState, plan: PullBatch, outcome: jax.Array, key: Key
    ) -> DoubleETCState:
        """The turns between the stages."""
        lengths, active = known_gap_lengths(self), self.active_arms
        state = with_leader(after_round(state, plan, outcome), active)
        state = with_anchor(state, lengths.commit_at)
        return committed(state, active, known_gap_test(state, self, lengths))


@dataclass(frozen=True, kw_only=True)
class UnknownGapSettings:
    """The inputs of an algorithm for two arms whose gap is not known.

    Attributes:
      num_arms: K; two arms are active.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all.
      commit_pulls: T_1, not negative, which bounds stage I and which 1' exceeds in stage II; None:
        the theory's.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    commit_pulls: float | jax.Array | None = None

    assumes: ClassVar[tuple[str, ...]] = ()
    max_arms: ClassVar[int] = 2
    power: ClassVar[int] = 2
    """Of the log T that is the theory's T_1."""

    def validate(self) -> None:
        """Raises InputError for a horizon or a T_1 out of range."""
        name = name_of(self)
        require_horizon(self.horizon, name)
        require(self.commit_pulls, lambda x: x >= 0, f"{name}: commit_pulls must be at least 0")

    def first_commitment(self) -> tuple[jax.Array, jax.Array]:
        """T_1, () float32; and the pulls of 1' that end stage II, () int32: the first number above
        T_1."""
        given = () if self.commit_pulls is None else (self.commit_pulls,)

        def formula(horizon: Any, *given: Any) -> tuple[jax.Array, jax.Array]:
            (t_1,) = given or (jnp.log(horizon) ** self.power,)
            return t_1.astype(jnp.float32), to_int32(t_1 + 1)

        return in_float64(formula, self.horizon, *given)


class PullByPull(UnknownGapSettings, ABC):
    """An algorithm for two arms whose gap is not known that goes pull by pull; its tests, `tested`,
    are not here.

    With delays counts and means are of known rewards, so that stages end when rewards become known.
    """

    @abstractmethod
    def tested(self, state: DoubleETCState) -> DoubleETCState:
        """The state after the tests, and the turns between the stages."""

    def init(self, key: Key) -> DoubleETCState:
        """The beginning of stage I."""
        return first_state(self.active_arms)

    def act(self, state: DoubleETCState, key: Key) -> Pull:
        """Both arms in turn where both are explored, 2' in stage III, else the leader."""
        others = self.active_arms & ~state.leader
        one = jnp.where(state.stage == CHALLENGE, others, state.leader)
        in_turn = (state.stage == EXPLORE) | (state.stage == AGAIN)
        return Pull(jnp.where(in_turn, state.rounds % 2, lax.argmax(one, 0, jnp.int32)))

    def update(
        self, state: DoubleETCState, plan: Pull, outcome: jax.Array, key: Key
    ) -> DoubleETCState:
        """The state with the reward, after the tests."""
        pulled = jnp.arange(self.num_arms, dtype=jnp.int32) == plan.arm
        counts = PullBatch((pulled & ~jnp.isnan(outcome)).astype(jnp.int32))
        sums = jnp.where(counts.counts > 0, outcome, 0.0)
        return self.tested(after_round(state, counts, sums))

    def learn(self, state: DoubleETCState, feedback: RewardFeedback) -> DoubleETCState:
        """The state with rewards that were withheld, all of pulls in this stage, after the
        tests."""
        after = after_round(state, PullBatch(feedback.pulls), feedback.totals)
        return self.tested(after._replace(rounds=state.rounds))

    def quiet(
        self, state: DoubleETCState, limit: jax.Array, key: Key
    ) -> tuple[DoubleETCState, Quiet]:
        """All that is left: stage IV, or a stage II that lasts to the end."""
        _, commit_at = self.first_commitment()
        left = jnp.asarray(self.horizon, jnp.int32) - pulls_made(state.rewards)
        leads_on = (state.stage == LEAD) & (commit_at - leader_pulls(state) > left)
        arm = lax.argmax(state.leader, 0, jnp.int32)
        return state, Quiet(arm, jnp.where((state.stage == COMMIT) | leads_on, limit, 0))


class KnownGapLengths(NamedTuple):
    """Numbers of Algorithms 1 and 4."""

    log_term: jax.Array  # () float32: log(T D^2)
    epsilon: jax.Array  # () float32
    explore: jax.Array  # () int32: pulls in stage I
    commit_at: jax.Array  # () int32: pulls of 1' that end stage II


def known_gap_lengths(settings: KnownGapSettings) -> KnownGapLengths:
    """T_1 = ceil(2 log(T D^2) / (e^2 D^2)) and tau = 4 ceil(log(T_1 D^2) / D^2).

    Stage I pulls both arms in turn, once at least, until more than 2 tau pulls are made, stage II
    the leader until it has more than T_1.
    """

    def formula(horizon: Any, gap: Any, epsilon: Any) -> KnownGapLengths:
        square = gap**2
        log_term = jnp.log(horizon * square)
        t_1 = jnp.ceil(2 * log_term / (epsilon**2 * square))
        tau = jnp.maximum(4 * jnp.ceil(jnp.log(t_1 * square) / square), 0)
        small = log_term.astype(jnp.float32), epsilon.astype(jnp.float32)
        return KnownGapLengths(*small, explore=to_int32(2 * tau + 2), commit_at=to_int32(t_1 + 1))

    return of_known_gap(formula, settings)


def of_known_gap(formula: Callable[..., Any], settings: KnownGapSettings, *numbers: Any) -> Any:
    """A formula of T, D, e and further numbers, as 64-bit floats."""
    given = () if settings.epsilon is None else (settings.epsilon,)

    def completed(horizon: Any, gap: Any, *rest: Any) -> Any:
        if given:
            return formula(horizon, gap, *rest)
        theory = jnp.sqrt(jnp.log(horizon * gap**2) / (gap * jnp.log(horizon)) ** 2)
        return formula(horizon, gap, jnp.minimum(theory, 0.5), *rest)

    return in_float64(completed, settings.horizon, settings.gap, *given, *numbers)


def known_gap_test(
    state: DoubleETCState, settings: KnownGapSettings, lengths: KnownGapLengths
) -> jax.Array:
    """True if 2 (1 - e) t_2 D |mu' - theta| < log(T D^2) is so no longer: () bool."""
    t_2 = pulls_made(state.fresh).astype(jnp.float32)
    weight = 2.0 * (1.0 - lengths.epsilon) * t_2 * settings.gap
    return weight * jnp.abs(state.anchor - theta(state, settings.active_arms)) >= lengths.log_term


def are_apart(rewards: Rewards, active: jax.Array, most: float | jax.Array) -> jax.Array:
    """True if two arms have t / 2 pulls each, and means that differ by at least sqrt(16/t
    log+(most/t)): () bool."""
    made = pulls_made(rewards)
    t = jnp.maximum(made, 1).astype(jnp.float32)
    means = means_of(rewards, active)
    lead = jnp.max(means) - jnp.min(jnp.where(active, means, jnp.inf))
    wide = lead >= jnp.sqrt(16.0 / t * jnp.log(jnp.maximum(most / t, 1.0)))
    return wide & (made > 0) & (made % 2 == 0)


def challenge_radius(t: jax.Array, horizon: Any, factor: float = 1.0) -> jax.Array:
    """sqrt(2 / t log(factor x (log^2 x + 1))) with x = T / t, of t pulls: float32, as t.

    No log below 0 counts.
    """
    n = jnp.maximum(t, 1).astype(jnp.float32)
    log_ratio = jnp.log(jnp.asarray(horizon, jnp.float32) / n)
    log_term = log_ratio + jnp.log(jnp.square(log_ratio) + 1.0) + jnp.log(jnp.float32(factor))
    return jnp.sqrt(2.0 / n * jnp.maximum(log_term, 0.0))


def is_told_apart(
    state: DoubleETCState, active: jax.Array, horizon: Any, factor: float = 1.0
) -> jax.Array:
    """True if |mu' - theta| has reached the radius of the pulls of stage III: () bool."""
    radius = challenge_radius(pulls_made(state.fresh), horizon, factor)
    return jnp.abs(state.anchor - theta(state, active)) >= radius


def first_state(active: jax.Array) -> DoubleETCState:
    """The beginning of stage I."""
    none = no_rewards(active.shape[-1])
    arms = jnp.asarray(active)
    return DoubleETCState(
        stage=jnp.int32(EXPLORE),
        rounds=jnp.int32(0),
        leader=jnp.zeros_like(arms),
        anchor=jnp.float32(0),
        rewards=none,
        fresh=none,
    )


def theta(state: DoubleETCState, active: jax.Array) -> jax.Array:
    """The mean of the stage's pulls of what is not the leader, the largest: () float32."""
    return jnp.max(means_of(state.fresh, active & ~state.leader))


def leader_pulls(state: DoubleETCState) -> jax.Array:
    """Pulls of the leader since the start: () int32."""
    return jnp.sum(jnp.where(state.leader, state.rewards.pulls, 0), dtype=jnp.int32)


def planned(
    state: DoubleETCState,
    active: jax.Array,
    horizon: int | jax.Array,
    *,
    explore: int | jax.Array,
    lead: jax.Array,
    challenge: int | jax.Array = 1,
    again: int | jax.Array = 0,
    challenger: jax.Array | None = None,
) -> PullBatch:
    """The next round.

    Args:
      state: before it.
      active: (K,) bool, the arms that exist.
      horizon: T; no round goes beyond it.
      explore, lead, challenge, again: pulls in the round by stage; in stage IV all that is left.
      challenger: (K,) bool, the arm of stage III; all but the leader if None.
    """
    others = active & ~state.leader if challenger is None else challenger
    left = jnp.asarray(horizon, jnp.int32) - pulls_made(state.rewards)
    stage = state.stage
    arms = jnp.where((stage == EXPLORE) | (stage == AGAIN), active, state.leader)
    arms = jnp.where(stage == CHALLENGE, others, arms)
    sizes = [jnp.asarray(size, jnp.int32) for size in (explore, lead, challenge, left, again)]
    return spread(arms, jnp.minimum(jnp.stack(sizes)[stage - 1], left))


def after_round(state: DoubleETCState, plan: PullBatch, sums: jax.Array) -> DoubleETCState:
    """The state with the rewards of a round, before any turn to another stage."""
    return state._replace(
        rounds=state.rounds + 1,
        rewards=with_round(state.rewards, plan, sums),
        fresh=with_round(state.fresh, plan, sums),
    )


def turned(
    state: DoubleETCState, now: jax.Array, stage: int, leader: jax.Array | None = None
) -> DoubleETCState:
    """The state at the beginning of a stage if `now`, else as it is; a leader comes with it."""
    begin = state._replace(
        stage=jnp.int32(stage),
        rounds=jnp.int32(0),
        leader=state.leader if leader is None else leader,
        fresh=no_rewards(state.leader.shape[0]),
    )
    return jax.tree.map(lambda new, old: jnp.where(now, new, old), begin, state)


def with_leader(
    state: DoubleETCState, active: jax.Array, explored: jax.Array | bool = True
) -> DoubleETCState:
    """Stage I ends once it has `explored`: 1' is the arm of the largest mean."""
    now = (state.stage == EXPLORE) & explored
    return turned(state, now, LEAD, best_of(state.rewards, active))


def with_anchor(state: DoubleETCState, commit_at: jax.Array) -> DoubleETCState:
    """Stage II ends once 1' has `commit_at` pulls; mu' is the mean of all of them."""
    now = (state.stage == LEAD) & (leader_pulls(state) >= commit_at)
    mean = jnp.max(means_of(state.rewards, state.leader))
    state = state._replace(anchor=jnp.where(now, mean, state.anchor))
    return turned(state, now, CHALLENGE)


def committed(state: DoubleETCState, active: jax.Array, decided: jax.Array) -> DoubleETCState:
    """Stage III of two arms ends once it has `decided`, with a known reward at least: 1' if mu' >=
    theta, else the other."""
    now = (state.stage == CHALLENGE) & (pulls_made(state.fresh) > 0) & decided
    stays = state.anchor >= theta(state, active)
    return turned(state, now, COMMIT, jnp.where(stays, state.leader, active & ~state.leader))
