"""The check of `quiet` finds runs that are not what the policy would have done."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxduel.policies.base import Duel, Quiet
from jaxduel.simulation.conformance import suite as conformance
from tests.simulation.toys import Cycle

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Explorer:
    """Compares arm 0 with arm 1 at a tenth of the times, and otherwise either with itself."""

    num_arms: int = dataclasses.field(metadata={"static": True})
    active_arms: Any
    fault: str = dataclasses.field(default="", metadata={"static": True})
    assumes = ()

    def init(self, key):
        return {"awake": jnp.bool_(False), "t": jnp.int32(0)}

    def act(self, state, key):
        one, two = jax.random.uniform(key, (2,), jnp.float32)
        awake = state["awake"] | (one < 0.1)
        arm = (two < 0.3).astype(jnp.int32)
        return Duel(jnp.where(awake, 0, arm), jnp.where(awake, 1, arm))

    def update(self, state, plan, outcome, key):
        return {"awake": jnp.bool_(False), "t": state["t"] + 1}

    def quiet(self, state, limit, key):
        rate = 0.105 if self.fault == "rate" else 0.1
        drawn = jnp.log(jax.random.uniform(key, (), jnp.float32)) / jnp.log1p(-rate)
        length = jnp.where(state["awake"], 0, drawn.astype(jnp.int32))
        n = jnp.minimum(length, limit)
        wakes = (length < limit) & (self.fault != "forgets")
        state = {"awake": state["awake"] | wakes, "t": state["t"] + n}
        if self.fault == "wide":
            state["t"] = state["t"].astype(jnp.float32)
        if self.fault == "beyond":
            n = length
        arm = {"padding": 4, "third": 2}.get(self.fault, 0)
        often = 0.65 if self.fault == "weights" else 0.7
        weights = jnp.zeros(self.num_arms, jnp.float32).at[1].set(0.3).at[arm].set(often)
        return state, Quiet(jnp.int32(arm), n, weights)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Alternating(Cycle):
    """Four comparisons of arm 0 with itself, then one with arm 1."""

    pairs: tuple = dataclasses.field(default=(*[(0, 0)] * 4, (0, 1)), metadata={"static": True})
    fault: str = dataclasses.field(default="", metadata={"static": True})

    def quiet(self, state, limit, key):
        left = 4 - state["t"] % 5
        late = (state["t"] == 280) & (state["wins"][0, 1] == 56) & (self.fault == "late")
        n = jnp.minimum(left + late, jnp.maximum(limit, 1) if self.fault == "no end" else limit)
        return {**state, "t": state["t"] + n}, Quiet(jnp.int32(0), n)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Undecided(Alternating):
    """The same, but of the four each is of arm 0 or of arm 1, by a coin."""

    def act(self, state, key):
        busy = state["t"] % 5 == 4
        arm = jnp.where(busy, 0, jax.random.bernoulli(key).astype(jnp.int32))
        return Duel(arm, jnp.where(busy, 1, arm))

    def quiet(self, state, limit, key):
        state, run = super().quiet(state, limit, key)
        return state, run._replace(weights=jnp.float32([1, 1, 0, 0, 0]))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Impressed(Alternating):
    """The same as `Alternating`, but goes one comparison further for what it is told late."""

    def learn(self, state, feedback):
        state, before = super().learn(state, feedback), state["told"]
        return {**state, "t": state["t"] + (state["told"] > before)}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Repaired(Alternating):
    """The same as `Alternating`, but a run spoils what follows the next, unless told between."""

    def init(self, key):
        return {**super().init(key), "runs": jnp.int32(0)}

    def act(self, state, key):
        left, right = super().act(state, key)
        return Duel(jnp.where(state["runs"] > 1, 1, left), right)

    def update(self, state, plan, outcome, key):
        return {**super().update(state, plan, outcome, key), "runs": state["runs"]}

    def quiet(self, state, limit, key):
        state, run = super().quiet(state, limit, key)
        return {**state, "runs": state["runs"] + (run.n > 0)}, run

    def learn(self, state, feedback):
        return {**super().learn(state, feedback), "runs": jnp.int32(0)}


def _make(kind, num_arms, horizon, active_arms=None, **fields):
    active = jnp.ones(num_arms, bool) if active_arms is None else jnp.asarray(active_arms)
    return kind(num_arms=num_arms, active_arms=active, **fields)


def test_right_runs_pass():
    conformance.keeps_its_word_when_quiet(partial(_make, Explorer))
    conformance.keeps_its_word_when_quiet(partial(_make, Alternating))
    conformance.keeps_its_word_when_quiet(partial(_make, Undecided))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            "rate",
            r"arm 0 is compared with arm 1 1\d\.\d+ times in 100 comparisons, without them \d\.\d+",
        ),
        ("forgets", "quiet runs of at most 100, arm 0 .* without them 63"),
        ("weights", "quiet runs of at most 100, arm 0 .* without them 63"),
        ("third", r"arm 0 is compared with arm 0 0 times in 100 comparisons, without them 63"),
        ("padding", "an arm that is inactive"),
        ("beyond", r"n not within 0 \.\. limit"),
        ("wide", "changes state"),
    ],
)
def test_wrong_runs_are_found(fault, sentence):
    with pytest.raises(conformance.ConformanceError, match=sentence):
        conformance.keeps_its_word_when_quiet(partial(_make, Explorer, fault=fault))


def test_one_comparison_too_many_in_few_seeds_is_found_where_nothing_is_drawn():
    with pytest.raises(conformance.ConformanceError, match="and quiet draws nothing"):
        conformance.keeps_its_word_when_quiet(partial(_make, Alternating, fault="late"))


def test_a_run_where_there_is_no_time_for_one_is_found():
    with pytest.raises(conformance.ConformanceError, match=r"n not within 0 \.\. limit"):
        conformance.keeps_its_word_when_quiet(partial(_make, Alternating, fault="no end"))


def test_what_a_run_spoils_is_found_though_learn_repairs_it():
    with pytest.raises(conformance.ConformanceError, match="runs of at most 100, arm 0"):
        conformance.keeps_its_word_when_quiet(partial(_make, Repaired))


def test_a_policy_that_learns_from_the_outcomes_of_a_run_is_found():
    sentence = r"at most 100, of which `learn` is told, arm 0 is compared with arm 0 .* without"
    with pytest.raises(conformance.ConformanceError, match=sentence):
        conformance.keeps_its_word_when_quiet(partial(_make, Impressed))
