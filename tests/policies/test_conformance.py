"""Every registered policy passes the conformance suite; broken ones do not."""

import dataclasses
from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.policies import registry
from jaxduel.policies.base import Duel
from jaxduel.simulation import conformance
from jaxduel.simulation.blocks import plan_kind
from tests.registered import LIKE_OTHERS, arms_for, needed

pytestmark = pytest.mark.usefixtures("quick_compilation")

NAMED_GRIDS = ("base", "etc")
"""Policies that need `num_batches` for a grid with a name, and not for one of the user's own."""


QUICK = ("base", "pcomp", "rucb")
LONG_QUIET = ("ccb", "dts", "ecw-rmed", "merge-rucb", "rcs", "rex3", "rmed1", "rmed2")
"""Policies whose quiet runs are long to check, and are checked in tests of their own."""


def _cases():
    """A case for each policy and check, marked by what runs it."""
    slow = {
        *product(LIKE_OTHERS, conformance.CHECKS),
        *product(LONG_QUIET, [conformance.keeps_its_word_when_quiet]),
    }
    for name, check in product(jd.policies.names(), conformance.CHECKS):
        marks = [] if name in QUICK else [pytest.mark.thorough]
        if (name, check) in slow or (marks and check is conformance.repeats_itself):
            marks = [pytest.mark.slow]
        yield pytest.param(name, check, marks=marks, id=f"{name}-{check.__name__}")


@pytest.mark.parametrize(("name", "check"), list(_cases()))
def test_registered_policy_conforms(name, check):
    check(partial(jd.policies.make, name, **needed(name)))


@pytest.mark.parametrize("name", jd.policies.names())
def test_registered_policy_says_what_it_plans(name):
    policy = jd.policies.make(name, num_arms=arms_for(name, 3), horizon=100, **needed(name))

    def plan(key):
        return policy.act(policy.init(key), key)

    assert plan_kind(policy) is type(jax.eval_shape(plan, jax.random.key(0)))


def test_needed_parameters_are_listed_for_every_registered_policy():
    for name in jd.policies.names():
        defaults = jd.policies.parameters(name)
        missing = {k for k, v in defaults.items() if v is dataclasses.MISSING} - {"horizon"}
        assert missing == (set() if name in NAMED_GRIDS else set(needed(name)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Broken:
    """Plays arm 0 against the last arm, whether it exists or not, and widens its counter."""

    num_arms: int = dataclasses.field(metadata={"static": True})
    active_arms: jax.Array
    widen: bool = dataclasses.field(default=False, metadata={"static": True})
    assumes = ()

    def init(self, key):
        return {"t": jnp.int32(0)}

    def act(self, state, key):
        return Duel(jnp.int32(0), jnp.int32(self.num_arms - 1))

    def update(self, state, plan, outcome, key):
        return {"t": state["t"] + (1.5 if self.widen else 1)}


def _make_broken(num_arms, horizon, active_arms=None, **fields):
    active = jnp.ones(num_arms, bool) if active_arms is None else jnp.asarray(active_arms)
    return Broken(num_arms=num_arms, active_arms=active, **fields)


def test_suite_finds_a_dtype_that_drifts():
    with pytest.raises(conformance.ConformanceError, match=r"changes state\['t'\] from int32"):
        conformance.check_policy(partial(_make_broken, widen=True))


def test_suite_finds_padding_that_is_played():
    with pytest.raises(conformance.ConformanceError, match="2 of padding"):
        conformance.check_policy(_make_broken)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Miscounted(Broken):
    """Its clock, from win counts, is a number for every arm."""

    def from_wins(self, wins, key):
        return {"t": jnp.sum(wins, axis=0, dtype=jnp.int32)}


def test_suite_finds_a_start_from_wins_of_another_shape():
    def make(num_arms, horizon, active_arms=None):
        return Miscounted(num_arms=num_arms, active_arms=jnp.ones(num_arms, bool))

    with pytest.raises(conformance.ConformanceError, match=r"from_wins .* changes state\['t'\]"):
        conformance.starts_from_wins(make)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Late(Broken):
    """Counts wins; what it is told later it forgets, or takes in as floats."""

    forgets: bool = dataclasses.field(metadata={"static": True})

    def update(self, state, plan, outcome, key):
        return {"t": state["t"] + (outcome > 0)}

    def learn(self, state, feedback):
        return state if self.forgets else {"t": state["t"] + 1.0 * jnp.sum(feedback.left_wins)}


@pytest.mark.parametrize(
    ("forgets", "sentence"),
    [
        (True, r"update learns .* but learn, told it later, does not\."),
        (False, r"learn changes state\['t'\] from int32\[\] to float32\[\] \(x64 off\)\."),
    ],
)
def test_suite_finds_outcomes_that_are_not_learnt_late(forgets, sentence):
    def make(num_arms, horizon, active_arms):
        return Late(num_arms=num_arms, active_arms=jnp.ones(num_arms, bool), forgets=forgets)

    with pytest.raises(conformance.ConformanceError, match=sentence):
        conformance.learns_late(make)


@pytest.mark.parametrize("arm", [-1, 5])
def test_suite_finds_an_arm_that_is_none(arm):
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Beyond(Broken):
        def act(self, state, key):
            return Duel(jnp.int32(0), jnp.int32(arm))

    def make(num_arms, horizon, active_arms):
        return Beyond(num_arms=num_arms, active_arms=jnp.ones(num_arms, bool))

    with pytest.raises(conformance.ConformanceError, match=r"0 of padding.* sum to \[300, 300"):
        conformance.plays_only_arms_that_exist(make)


@pytest.mark.parametrize("thing", [Broken, lambda num_arms: None])
def test_suite_needs_a_function_that_makes_a_policy(thing):
    with pytest.raises(jd.InputError, match="needs a function of num_arms, horizon and"):
        jd.check_policy(thing)


def _looked_up(t):
    return t + jnp.asarray(np.array([1, 1, 2], np.int32))[t % 3]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Constant(Broken):
    """Its compacted work reads an array of constants."""

    def update(self, state, plan, outcome, key):
        return {"t": compacted_cond(_looked_up, state["t"] > 3, state["t"] + 1)}


def test_suite_finds_a_step_that_cannot_be_a_branch():
    def make(num_arms, horizon, active_arms=None):
        return Constant(num_arms=num_arms, active_arms=jnp.ones(num_arms, bool))

    with pytest.raises(conformance.ConformanceError, match=r"branch of a vmapped lax\.cond"):
        conformance.is_vmappable_over_leaves(make)


def test_registry_refuses_a_name_that_is_taken():
    with pytest.raises(jd.InputError, match="'rucb' is taken by RUCB"):
        registry.register("rucb")(Broken)
