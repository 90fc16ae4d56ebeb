"""Reprs of policies, all of the registry."""

import dataclasses
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies import registry
from tests.registered import arms_for

NAMES = jd.policies.names()
NEEDED = {"horizon": 1000, "num_batches": 4, "gap": 0.5}


def made(name, **values):
    known = jd.policies.parameters(name)
    needed = {key: value for key, value in NEEDED.items() if key in known}
    return jd.policies.make(name, num_arms=arms_for(name, 6), **{**needed, **values})


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_at_its_defaults_shows_what_had_to_be_given(name):
    policy = made(name)
    known = jd.policies.parameters(name).items()
    chosen = [key for key, default in known if default is None and getattr(policy, key) is not None]
    given = [f"{key}={getattr(policy, key)}" for key, _ in known if key in {*NEEDED, *chosen}]
    fields = [f"num_arms={policy.num_arms}", *given]
    assert repr(policy) == f"{type(policy).__name__}({', '.join(fields)})"


@pytest.mark.parametrize("name", NAMES)
def test_parameters_that_were_changed_are_shown(name):
    policy = made(name)
    for field in dataclasses.fields(policy):
        if isinstance(field.default, float):
            changed = registry.to_32_bits(dataclasses.replace(policy, **{field.name: 0.7}))
            assert f", {field.name}=0.7" in repr(changed)
        elif isinstance(field.default, bool):
            changed = dataclasses.replace(policy, **{field.name: not field.default})
            assert f", {field.name}={not field.default}" in repr(changed)
    table = policy._repr_html_()
    for parameter in jd.policies.parameters(name):
        assert f'<th scope="row">{parameter}</th>' in table


@pytest.mark.parametrize("name", NAMES)
def test_policies_that_are_traced_stacked_or_taken_apart_have_reprs(name):
    policy, seen = made(name), []

    def trace(policy):
        seen.append((repr(policy), policy._repr_html_()))
        return policy.active_arms

    jax.eval_shape(trace, policy)
    jax.vmap(trace)(jax.tree.map(lambda leaf: np.stack([leaf, leaf]), policy))
    for text, table in seen:
        assert f"active_arms=bool[{policy.num_arms}]" in text
        assert f"active bool[{policy.num_arms}]" in table
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf] * 9), policy)
    for leaf, other in zip(*map(jax.tree.leaves, (policy, stacked)), strict=True):
        if np.ndim(leaf) == 0:
            assert f"{other.dtype}[9]" in repr(stacked)
    leaves, structure = jax.tree.flatten(policy)
    for placeholder in (None, object(), jax.ShapeDtypeStruct((6,), bool)):
        apart = jax.tree.unflatten(structure, [placeholder] * len(leaves))
        assert repr(apart).startswith(type(policy).__name__)
        assert apart._repr_html_().startswith("<table>")


def test_arms_that_are_missing_are_counted():
    policy = made("dts", active_arms=[True] * 4 + [False] * 2, alpha=0.6)
    assert repr(policy) == "DTS(num_arms=6, active_arms=4 of 6, alpha=0.6)"
    stacked = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), policy)
    assert repr(stacked) == "DTS(num_arms=6, active_arms=bool[2,6], alpha=[0.6, 0.6])"


def test_numbers_are_shown_by_their_shortest_decimals():
    for alpha in (0.1 + 0.2, np.float32(0.3), jnp.float32(0.3), np.array(0.3)):
        policy = jd.policies.DTS(num_arms=3, active_arms=np.ones(3, bool), alpha=alpha)
        assert repr(policy) == "DTS(num_arms=3, alpha=0.3)"
    assert repr(made("base", grid=[100, 1000], num_batches=None)).endswith("grid=[100, 1000])")
    long = [*range(10, 100, 10), 1000]
    assert repr(made("etc", grid=long, num_batches=None)).endswith("grid=int32[10])")
    assert repr(made("etc", grid="geometric")).endswith("grid='geometric')")


def test_what_was_given_away_has_no_numbers():
    policy = jax.tree.map(jnp.asarray, made("dts", alpha=0.6))
    policy.alpha.delete()
    assert repr(policy) == "DTS(num_arms=6, alpha=float32[])"


def test_notebooks_show_all_parameters_and_their_defaults():
    table = made("pcomp", elimination="hoeffding")._repr_html_()
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td>', table)
    assert ("elimination", "&#x27;hoeffding&#x27;", "&#x27;kl&#x27;") in rows
    assert ("horizon", "1000", "") in rows
    assert ("tau", "1", "1") in rows


@dataclasses.dataclass(frozen=True, kw_only=True)
class Own:
    """A policy of a user's; it does nothing."""

    num_arms: int = dataclasses.field(metadata={"static": True})
    active_arms: Any
    names: dict[str, str] = dataclasses.field(
        default_factory=lambda: {"a": "<b>"}, metadata={"static": True}
    )
    weights: Any = None
    hidden: int = dataclasses.field(default=1, repr=False)

    init = act = update = lambda self, *args: None


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    return jd.policies.register


def test_registered_policies_of_users_are_shown_the_same_way(registered):
    own = jax.tree_util.register_dataclass(dataclasses.make_dataclass("Mine", [], bases=(Own,),
        frozen=True, kw_only=True))  # fmt: skip
    registered("mine")(own)
    policy = own(num_arms=2, active_arms=np.ones(2, bool), hidden=2, weights=np.ones((3, 4)))
    assert repr(policy) == "Mine(num_arms=2, weights=float64[3,4])"
    assert "{&#x27;a&#x27;: &#x27;&lt;b&gt;&#x27;}" in policy._repr_html_()
    assert "hidden" not in policy._repr_html_()


def test_reprs_that_users_write_are_kept(registered):
    @jax.tree_util.register_dataclass
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Written(Own):
        def __repr__(self):
            return "my own"

        def _repr_html_(self):
            return "<b>my own</b>"

    registered("written")(Written)
    policy = Written(num_arms=2, active_arms=np.ones(2, bool))
    assert (repr(policy), policy._repr_html_()) == ("my own", "<b>my own</b>")
