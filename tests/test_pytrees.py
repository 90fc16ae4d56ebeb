"""Pytrees of dataclasses."""

from dataclasses import field, make_dataclass
from itertools import combinations

import jax
import jax.numpy as jnp
import pytest

import jaxduel as jd
from jaxduel.pytrees import register_dataclass
from tests.registered import arms_for, needed


def of_fields_alike(name):
    fields = [("leaf", object), ("size", int, field(metadata={"static": True})), ("other", object)]
    return register_dataclass(make_dataclass(name, fields, frozen=True))


One, Another = map(of_fields_alike, ("One", "Another"))


def test_static_fields_are_structure_and_the_others_leaves():
    paths, structure = jax.tree_util.tree_flatten_with_path(One(1.5, 3, (2, 4)))
    assert [(jax.tree_util.keystr(path), leaf) for path, leaf in paths] == [
        (".leaf", 1.5),
        (".other[0]", 2),
        (".other[1]", 4),
    ]
    assert jax.tree.leaves(One(1.5, 3, (2, 4))) == [1.5, 2, 4]
    assert jax.tree.unflatten(structure, [7, 8, 9]) == One(7, 3, (8, 9))
    assert structure == jax.tree.structure(One(0, 3, (0, 0)))
    assert structure != jax.tree.structure(One(0, 4, (0, 0)))


def test_structures_name_their_class():
    one, another = (jax.tree.structure(cls(1.0, 3, None)) for cls in (One, Another))
    assert one != another
    with pytest.raises(ValueError, match="Another"):
        jax.tree.map(jnp.add, One(1.0, 3, 0.0), Another(1.0, 3, 0.0))


def test_registered_policies_differ_in_structure():
    made = [
        jd.policies.make(name, num_arms=arms_for(name, 4), horizon=1000, **needed(name))
        for name in jd.policies.names()
    ]
    for one, another in combinations(map(jax.tree.structure, made), 2):
        assert one != another
