"""`make` and `register` at the boundary: kinds of values, whole numbers, classes that are no
policies."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies import RUCB, registry

make = jd.policies.make


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("dts", {"alpha": [1, 2]}, "alpha must be a number, not"),
        ("dts", {"alpha": "0.6"}, "alpha must be a number, not '0.6'"),
        ("dts", {"alpha": None}, "alpha must be a number, not None"),
        ("dts", {"alpha": True}, "alpha must be a number, not True"),
        ("dts", {"alpha": 1e300}, "fits 32 bits, not 1e\\+300"),
        ("dts", {"alpha": 1e-300}, "fits 32 bits"),
        ("nts", {"gamma": 1e-38}, "fits 32 bits, not 1e-38"),  # 0 in a program: no walk would end
        ("dts", {"alhpa": 0.6}, "did you mean 'alpha'"),
        ("dts", {"K": 6}, "did you mean 'num_arms'"),
        ("dts+", {"over_candidates": 1}, "over_candidates must be True or False, not 1"),
        ("pcomp", {"num_batches": 2.5, "horizon": 9}, "num_batches must be a whole number"),
        ("pcomp", {"num_batches": 2, "horizon": [9, 9]}, "horizon must be a whole number"),
        ("pcomp", {"num_batches": 2, "horizon": 9, "elimination": 3}, "must be text, not 3"),
        ("pcomp", {"num_batches": 2}, "needs the parameter 'horizon'"),
        ("scb", {"first_length": 2**40}, "first_length must be"),
        ("dst", {}, "did you mean 'dts'"),
        (6, {}, "unknown policy '6'"),
    ],
)
def test_values_that_are_no_parameters_are_refused_in_a_sentence(name, values, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        make(name, num_arms=3, **values)


@pytest.mark.parametrize("num_arms", [None, "6", 6.5, 1, True, [6], 46_341, 2**31 - 1, 10**12])
def test_numbers_of_arms_that_are_none_are_refused(num_arms):
    with pytest.raises(jd.InputError, match="num_arms"):
        make("dts", num_arms=num_arms)


def test_an_instance_gives_the_number_of_arms():
    arxiv = jd.problems.load("arxiv")
    for problem in (arxiv, "arxiv"):
        assert make("rucb", problem=problem).num_arms == 6
    assert make("thompson-gaussian", problem="gaussian[0.5,0.2,0.1]").num_arms == 3
    for settings in ({}, {"problem": arxiv, "num_arms": 6}):
        with pytest.raises(jd.InputError, match=r"rucb needs either .*'num_arms' or a problem"):
            make("rucb", **settings)
    with pytest.raises(jd.InputError, match="rucb: the problem must be one that"):
        make("rucb", problem=np.full((6, 6), 0.5))


def test_all_arms_are_active_by_default():
    policy = jd.policies.RUCB(num_arms=4)
    assert policy.active_arms.tolist() == [True] * 4
    assert repr(policy) == repr(make("rucb", num_arms=4))
    few = jd.policies.RUCB(num_arms=3, active_arms=np.array([True, True, False]))
    assert dataclasses.replace(few, alpha=0.6).active_arms.tolist() == [True, True, False]
    with pytest.raises(TypeError, match="num_arms"):
        jd.policies.RUCB()


def test_what_follows_the_name_is_given_by_name():
    with pytest.raises(jd.InputError, match="by name, such as num_arms=6"):
        make("dts", 6)


def test_whole_numbers_given_as_floats_are_exact():
    policy = make("pcomp", num_arms=3.0, horizon=123_456_789.0, num_batches=np.float64(2))
    assert (policy.num_arms, policy.horizon, policy.num_batches) == (3, 123_456_789, 2)
    assert policy.horizon.dtype == policy.num_batches.dtype == np.int32
    stacked = jd.policies.PCOMP(
        num_arms=3, active_arms=np.ones(3, bool), horizon=np.array([123_456_789.0]), num_batches=2
    )
    assert registry.to_32_bits(stacked).horizon.tolist() == [123_456_789]


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("nts", {"gamma": 1 - 1e-9}, r"gamma must be in \(0, 1\), not 1.0"),
        ("nts", {"margin": 0.5 - 1e-9}, r"margin must be in \(0, 1/2\), not 0.5"),
        ("savage", {"horizon": 2**32 + 5}, "not 4294967301"),
        ("savage", {"horizon": 10**30}, f"not {10**30}"),
    ],
)
def test_values_are_checked_as_they_are_in_32_bits(name, values, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        make(name, num_arms=3, **values)
    policy = dataclasses.replace(make(name, num_arms=3, horizon=9), **values)
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate(policy, jd.problems.arithmetic(3), 9)


# ---- register -----------------------------------------------------------------------------------


@jax.tree_util.register_dataclass
@dataclass(frozen=True, kw_only=True)
class Fine(RUCB):
    """A policy under a name of its own."""


class NoDataclass:
    pass


@dataclass(kw_only=True)
class Thawed:
    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array


@dataclass(frozen=True)
class Positional(RUCB):
    num_arms: int = 0


@dataclass(frozen=True, kw_only=True)
class NoMethods:
    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array


@dataclass(frozen=True, kw_only=True)
class NoPytree(RUCB):
    pass


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("fine", 6, "is no class"),
        ("fine", Fine(num_arms=2, active_arms=np.ones(2, bool)), "is no class"),
        ("fine", NoDataclass, "is no dataclass"),
        ("fine", Thawed, "is not frozen"),
        ("fine", Positional, r"has no keyword field num_arms \(kw_only=True\)"),
        ("fine", NoMethods, "has no method init, act, update"),
        ("fine", NoPytree, "is not registered by a decorator below this one"),
        ("", Fine, "a policy's name is"),
        ("a[b=1]", Fine, "a policy's name is"),
        ("x" * 5_000, Fine, "5,002 characters"),
        (7, Fine, "a policy's name is"),
        ("dts", Fine, "'dts' is taken by DTS"),
    ],
)
def test_what_is_no_policy_is_not_registered(name, value, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        jd.policies.register(name)(value)
    assert name not in jd.policies.names() or name == "dts"


def test_the_decorator_wants_a_name():
    with pytest.raises(jd.InputError, match="a policy's name is"):
        jd.policies.register(Fine)  # type: ignore[arg-type]


def test_a_class_defined_anew_replaces_itself(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    jd.policies.register("fine-2")(Fine)
    again = type("Fine", (Fine,), {"__module__": Fine.__module__, "__doc__": "Again."})
    again = jax.tree_util.register_dataclass(dataclass(frozen=True, kw_only=True)(again))
    jd.policies.register("fine-2")(again)
    assert type(make("fine-2", num_arms=2)) is again


def test_defaults_may_come_from_a_factory(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))

    @jd.policies.register("fine-3")
    @jax.tree_util.register_dataclass
    @dataclass(frozen=True, kw_only=True)
    class Levels(Fine):
        levels: Any = field(default_factory=lambda: (1, 2), metadata={"static": True})

    assert jd.policies.parameters("fine-3")["levels"] == (1, 2)
    assert make("fine-3", num_arms=2).levels == (1, 2)
    assert "levels=(1, 2)" in str(jd.policies.describe("fine-3"))
