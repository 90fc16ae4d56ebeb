"""Policies that do something known in advance, to test the loops with."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Batch, Duel, Pull, PullBatch, Quiet


def _static(default):
    return dataclasses.field(default=default, metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Cycle:
    """Compares pair number t of a fixed list, over and over; counts what it is told."""

    num_arms: int = _static(3)
    active_arms: Any
    pairs: tuple = _static(((0, 1),))
    assumes = ()

    def init(self, key):
        table = jnp.zeros((self.num_arms, self.num_arms), jnp.int32)
        return {"t": jnp.int32(0), "wins": table, "told": jnp.int32(0)}

    def act(self, state, key):
        pair = jnp.asarray(self.pairs, jnp.int32)[state["t"] % len(self.pairs)]
        return Duel(pair[0], pair[1])

    def update(self, state, plan, outcome, key):
        left = state["wins"].at[plan.left, plan.right].add((outcome > 0).astype(jnp.int32))
        wins = left.at[plan.right, plan.left].add((outcome < 0).astype(jnp.int32))
        told = state["told"] + (outcome != 0)
        return {"t": state["t"] + 1, "wins": wins, "told": told}

    def learn(self, state, feedback):
        told = (feedback.left_wins + feedback.right_wins).sum(dtype=jnp.int32)
        wins = state["wins"] + feedback.left_wins + feedback.right_wins.T
        return {**state, "wins": wins, "told": state["told"] + told}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Copycat:
    """Duels (0, 1) first; then the winner of the last outcome it knows against itself."""

    num_arms: int = _static(2)
    active_arms: Any
    assumes = ()

    def init(self, key):
        return {"winner": jnp.int32(-1)}

    def act(self, state, key):
        known = state["winner"] >= 0
        return Duel(
            jnp.where(known, state["winner"], 0).astype(jnp.int32),
            jnp.where(known, state["winner"], 1).astype(jnp.int32),
        )

    def update(self, state, plan, outcome, key):
        winner = jnp.where(outcome > 0, plan.left, plan.right)
        return {"winner": jnp.where(outcome == 0, state["winner"], winner).astype(jnp.int32)}

    def learn(self, state, feedback):
        wins = feedback.left_wins.sum(axis=1) + feedback.right_wins.sum(axis=0)
        return {"winner": jnp.argmax(wins).astype(jnp.int32)}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Rounds:
    """Commits to the same counts in every round, as long as they fit the horizon."""

    num_arms: int = _static(3)
    active_arms: Any
    horizon: Any
    counts: Any
    assumes = ()

    def init(self, key):
        return {"left": jnp.asarray(self.horizon, jnp.int32)}

    def act(self, state, key):
        before = jnp.cumsum(self.counts.ravel()).reshape(self.counts.shape) - self.counts
        return Batch(jnp.clip(state["left"] - before, 0, self.counts).astype(jnp.int32))

    def update(self, state, plan, outcome, key):
        return {"left": state["left"] - plan.counts.sum(dtype=jnp.int32)}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class PullCycle:
    """Pulls arm number t of a fixed list, over and over."""

    num_arms: int = _static(3)
    active_arms: Any
    arms: tuple = _static((0,))
    assumes = ()

    def init(self, key):
        return {"t": jnp.int32(0)}

    def act(self, state, key):
        return Pull(jnp.asarray(self.arms, jnp.int32)[state["t"] % len(self.arms)])

    def update(self, state, plan, outcome, key):
        return {"t": state["t"] + 1}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class PullRounds(Rounds):
    """Commits to the same pulls in every round, as long as they fit the horizon."""

    def act(self, state, key):
        before = jnp.cumsum(self.counts) - self.counts
        return PullBatch(jnp.clip(state["left"] - before, 0, self.counts).astype(jnp.int32))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Sleeper:
    """Compares 0 and 1 at every `period`-th comparison, else 1 with itself; counts both."""

    num_arms: int = _static(2)
    active_arms: Any
    period: Any
    assumes = ()

    def init(self, key):
        return {"t": jnp.int32(0), "awake": jnp.int32(0)}

    def act(self, state, key):
        awake = (state["t"] + 1) % self.period == 0
        return Duel(jnp.where(awake, 0, 1).astype(jnp.int32), jnp.int32(1))

    def update(self, state, plan, outcome, key):
        awake = plan.left != plan.right
        return {"t": state["t"] + 1, "awake": state["awake"] + awake}

    def quiet(self, state, limit, key):
        n = jnp.minimum(self.period - 1 - state["t"] % self.period, limit)
        return {**state, "t": state["t"] + n}, Quiet(jnp.int32(1), n)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Dozer(Sleeper):
    """Skips a random number of comparisons of 1 with itself, then compares 0 and 1; what it learns
    makes it doze longer."""

    def act(self, state, key):
        return Duel(jnp.int32(0), jnp.int32(1))

    def update(self, state, plan, outcome, key):
        return {"t": state["t"] + 1, "awake": state["awake"] + (outcome > 0)}

    def quiet(self, state, limit, key):
        mean = self.period + state["awake"]
        n = jnp.minimum((mean * jax.random.exponential(key)).astype(jnp.int32), limit)
        return {**state, "t": state["t"] + n}, Quiet(jnp.int32(1), n)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Insomniac(Sleeper):
    """As `Sleeper`, but some seeds compare 0 and 1 all the time, and others never tell a run."""

    sleepless: Any = 0.0
    secretive: Any = 0.0

    def init(self, key):
        sleepless, secretive = jax.random.uniform(key, 2) < jnp.array(
            [self.sleepless, self.secretive], jnp.float32
        )
        return {**super().init(key), "sleepless": sleepless, "secretive": secretive}

    def act(self, state, key):
        duel = super().act(state, key)
        return Duel(jnp.where(state["sleepless"], 0, duel.left), duel.right)

    def update(self, state, plan, outcome, key):
        return {**state, **super().update(state, plan, outcome, key)}

    def learn(self, state, feedback):
        return state

    def quiet(self, state, limit, key):
        silent = state["sleepless"] | state["secretive"]
        return super().quiet(state, jnp.where(silent, 0, limit), key)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Shared(Sleeper):
    """As `Sleeper`, but one of arms 1 and 2 meets itself, by a coin."""

    def act(self, state, key):
        duel = super().act(state, key)
        arm = 1 + jax.random.bernoulli(key).astype(jnp.int32)
        awake = duel.left == 0
        return Duel(jnp.where(awake, 0, arm), jnp.where(awake, 1, arm))

    def quiet(self, state, limit, key):
        state, run = super().quiet(state, limit, key)
        return state, run._replace(weights=jnp.array([0.0, 0.5, 0.5], jnp.float32))
