"""Every registered policy passes the conformance suite; broken ones do not."""

import dataclasses
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.policies import registry
from jaxduel.policies.base import Batch, Duel, Pull, PullBatch
from jaxduel.simulation.blocks import plan_kind
from jaxduel.simulation.conformance import quiet, shapes
from jaxduel.simulation.conformance import suite as conformance
from tests.registered import ESTABLISHED, LIKE_OTHERS, NAMED_GRIDS, arms_for, needed

pytestmark = pytest.mark.usefixtures("quick_compilation")

QUICK = ("base", "pcomp", "rucb")
"""Those of the established policies that are checked in every run."""
LONG_QUIET = ("ccb", "dts", "ecw-rmed", "merge-rucb", "rcs", "rex3", "rmed1", "rmed2")
"""Policies whose quiet runs are long to check, and are checked in tests of their own."""


def _cases():
    """A case for each policy and check, marked by what runs it."""
    slow = {
        *product(LIKE_OTHERS, conformance.CHECKS),
        *product(LONG_QUIET, [conformance.keeps_its_word_when_quiet]),
    }
    for name, check in product(jd.policies.names(), conformance.CHECKS):
        marks = [pytest.mark.thorough] if name in ESTABLISHED and name not in QUICK else []
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


def test_established_policies_are_registered():
    assert set(ESTABLISHED) <= set(jd.policies.names())


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
    other: Any = 0
    assumes = ()

    def init(self, key):
        return {"t": jnp.int32(0)}

    def act(self, state, key):
        return Duel(jnp.int32(0), jnp.int32(self.num_arms - 1))

    def update(self, state, plan, outcome, key):
        return {"t": state["t"] + (1.5 if self.widen else 1)}


def _make_broken(num_arms, horizon, active_arms=None, policy_class=None, **fields):
    active = jnp.ones(num_arms, bool) if active_arms is None else jnp.asarray(active_arms)
    return (policy_class or Broken)(num_arms=num_arms, active_arms=active, **fields)


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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class LatePulls(Late):
    """Adds up rewards, withheld ones too unless they are told apart."""

    tells_apart: bool = dataclasses.field(metadata={"static": True})

    def init(self, key):
        return {"sum": jnp.float32(0)}

    def act(self, state, key):
        return Pull(jnp.int32(0))

    def update(self, state, plan, outcome, key):
        reward = jnp.nan_to_num(outcome) if self.tells_apart else outcome
        return {"sum": state["sum"] + reward}

    def learn(self, state, feedback):
        return state if self.forgets else {"sum": state["sum"] + jnp.sum(feedback.totals)}


@pytest.mark.parametrize(
    ("forgets", "tells_apart", "sentence"),
    [
        (False, False, r"update lets a withheld reward, NaN, into the state\."),
        (True, True, r"update learns .* but learn, told it later, does not\."),
        (False, True, None),
    ],
)
def test_suite_finds_rewards_that_are_not_learnt_late(forgets, tells_apart, sentence):
    def make(num_arms, horizon, active_arms):
        active = jnp.ones(num_arms, bool)
        return LatePulls(
            num_arms=num_arms, active_arms=active, forgets=forgets, tells_apart=tells_apart
        )

    if sentence is None:
        conformance.learns_late(make)
    else:
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

    with pytest.raises(conformance.ConformanceError, match=r"0 of padding, .* sum to 1, not 2"):
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


class Played(NamedTuple):
    """A state of one field."""

    t: jax.Array  # () int32


def _changed(**methods):
    """A function that makes policies of `Broken`'s methods but for these; arms 0 and 1 duel."""
    usual = {
        "init": lambda self, key: Played(jnp.int32(0)),
        "act": lambda self, state, key: Duel(jnp.int32(0), jnp.int32(1)),
        "update": lambda self, state, plan, outcome, key: Played(state.t + 1),
        "__annotations__": {},
    }
    changed = dataclasses.dataclass(frozen=True, kw_only=True)(
        type("Changed", (Broken,), usual | methods)
    )
    return partial(_make_broken, policy_class=jax.tree_util.register_dataclass(changed))


def _if_traced(self, state, key):
    return Duel(jnp.int32(0), jnp.int32(1)) if state.t > 3 else None


MISTAKES = {
    "traced if": (
        {"act": _if_traced},
        rf"act ends in TracerBoolConversionError at .*{Path(__file__).name}:"
        rf"{_if_traced.__code__.co_firstlineno + 1}: .* lax\.cond, not `if`, and jnp, not NumPy\.$",
    ),
    "missing argument": (
        {"update": lambda self, state, plan, outcome: state},
        r"^update ends in TypeError: .* takes 4 positional arguments but 5 were given\.$",
    ),
    "64 bits": (
        {"init": lambda self, key: Played(jnp.zeros(2))},
        r"state\.t is float64\[2\]: give its dtype, int32 or float32 \(x64 on\)\.$",
    ),
    "an array for a plan": (
        {"act": lambda self, state, key: jnp.zeros(2, jnp.int32)},
        r"must return a Duel, Pull, Batch or PullBatch, not int32\[2\] \(x64 off\)\.$",
    ),
    "an arm with an axis": (
        {"act": lambda self, state, key: Duel(jnp.int32(0), jnp.ones(1, jnp.int32))},
        r"must be int32\[\], and `right` of the Duel that act returns is int32\[1\]",
    ),
    "counts of floats": (
        {"act": lambda self, state, key: Batch(jnp.eye(5))},
        r"must be int32\[5, 5\], and `counts` of the Batch that act returns is float32\[5, 5\]",
    ),
    "missing argument of learn": (
        {"learn": lambda self, state: state},
        r"^learn ends in TypeError: .* takes 2 positional arguments but 3 were given\.$",
    ),
    "numbers of NumPy's": (
        {
            "act": lambda self, state, key: Duel(
                jnp.int32(0), jnp.int32(np.random.default_rng().integers(2**31))
            )
        },
        "act or update depends on more than its arguments, such as numpy.random",
    ),
}


def _is_traced_well(make):
    conformance.keeps_shapes_and_dtypes(make)
    conformance.is_pure_and_compiles_once(make)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_suite_says_what_is_wrong_and_where(mistake):
    methods, sentence = MISTAKES[mistake]
    make = _changed(**methods)
    with pytest.raises(conformance.ConformanceError, match=sentence):
        _is_traced_well(make)


def test_suite_takes_a_policy_without_mistakes():
    _is_traced_well(_changed())


@pytest.mark.parametrize("forgets", [False, True])
def test_suite_finds_what_is_forgotten_of_the_first_comparison_that_teaches(forgets):
    """The first 20 are of an arm with itself."""
    make = _changed(
        init=lambda self, key: Played(jnp.zeros(2, jnp.int32)),
        act=lambda self, state, key: Duel(jnp.int32(0), (state.t[0] >= 20).astype(jnp.int32)),
        update=lambda self, state, plan, outcome, key: Played(
            state.t + jnp.stack([1, jnp.where(plan.left == plan.right, 0, outcome)])
        ),
        learn=lambda self, state, feedback: Played(
            state.t.at[1].add(0 if forgets else jnp.sum(feedback.left_wins - feedback.right_wins))
        ),
    )
    policy = make(num_arms=5, horizon=300)
    sentence = quiet.wrong_lesson(policy)
    assert (sentence is not None) == forgets


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([[50, 50], [0, 0]], None),
        ([[50, 51], [0, 0]], "round 3 has 101 where 98 are left"),
        ([[0, 0], [1, 0]], "upper triangle, and those of round 1 are not"),
        ([[9, -1], [0, 0]], "must not be negative, and -1 is in round 1"),
        ([0, 151], "round 2 has 151 where 149 are left"),
    ],
)
def test_suite_finds_counts_of_a_round_that_cannot_be(counts, sentence):
    plan = (Batch if len(np.shape(counts)) == 2 else PullBatch)(jnp.array(counts, jnp.int32))
    policy = _changed(act=lambda self, state, key: plan)(num_arms=2, horizon=300)
    found = shapes.wrong_counts(policy, 300)
    assert sentence is None if found is None else sentence in found


def test_suite_takes_an_answer_of_a_policy_that_compares_in_batches():
    make = _changed(
        act=lambda self, state, key: Batch(jnp.eye(self.num_arms, dtype=jnp.int32)),
        answer=lambda self, state: jnp.int32(-1),
    )
    conformance.keeps_its_answer(make)


def test_a_leaf_that_is_no_number_is_refused():
    def make(num_arms, horizon, active_arms):
        return Broken(num_arms=num_arms, active_arms=np.ones(num_arms, bool), other="text")

    with pytest.raises(jd.InputError, match=r"Broken: other must be a number .*, not 'text', unl"):
        jd.check_policy(make)


def test_an_array_in_a_static_field_is_refused():
    with pytest.raises(jd.InputError, match=r"Broken: widen is an array, and .* not be static\."):
        jd.check_policy(partial(_make_broken, widen=np.ones(2)))


def test_registry_refuses_a_name_that_is_taken():
    with pytest.raises(jd.InputError, match="'rucb' is taken by RUCB"):
        registry.register("rucb")(Broken)


@pytest.mark.thorough
@pytest.mark.parametrize("name", jd.policies.names())
def test_programs_do_not_grow_with_the_arms(name):
    """Compilation takes longer than the square of their length: one grew from 5,000 to 14,000 lines
    and took 650 s."""

    def length(num_arms):
        policy = registry.make(name, num_arms=num_arms, horizon=100_000, **needed(name))
        policy = registry.to_32_bits(policy)

        def turn(policy, key):
            state = policy.init(key)
            plan = policy.act(state, key)
            shape = plan.counts.shape if hasattr(plan, "counts") else ()
            pulled = isinstance(plan, Pull | PullBatch)
            outcome = jnp.zeros(shape, jnp.float32 if pulled else jnp.int32)
            state = policy.update(state, plan, outcome, key)
            return policy.quiet(state, jnp.int32(9), key) if hasattr(policy, "quiet") else state

        keys = jax.random.split(jax.random.key(0), 8)
        turns = jax.jit(jax.vmap(turn, in_axes=(None, 0)))
        return len(turns.lower(policy, keys).as_text().splitlines())

    few, many = (length(arms_for(name, num_arms)) for num_arms in (16, 256))
    assert many < 2 * few  # counts of 33 arms and more are sums of parts
