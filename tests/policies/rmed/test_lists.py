"""Quiet runs of RMED1, RMED2 and RMED2FH: skipped or played one by one, they are the same runs."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.base import SupportsSkip
from tests.policies.quiet_walks import (
    LAST,
    NUM,
    check_all_plays,
    check_delayed,
    check_two_arms,
    check_walks,
    far,
    make,
)

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

NAMES = ("rmed1", "rmed2", "rmed2fh")


def _but_slow(*fast):
    """All names; tests of those that are not `fast` are slow."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


@pytest.mark.parametrize("name", _but_slow("rmed1"))
def test_a_run_is_what_the_comparisons_then_are(name):
    check_walks(name)


@pytest.mark.slow
def test_two_arms_without_padding():
    check_two_arms("rmed1")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_outcomes_that_come_late(name):
    check_delayed(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_plays_are_the_same(name):
    check_all_plays(name)


def _counted(main, many):
    """RMED2's state, had every pair been compared so often."""
    fewest = jnp.where(main.fewest == LAST, LAST, many)
    return main._replace(made=jnp.full((NUM, NUM), many), fewest=fewest)


@pytest.mark.parametrize("name", _but_slow("rmed2"))
def test_a_list_changes_at_the_comparison_at_which_it_does_without_skipping(name):
    def change(state, more):
        main = state.main if hasattr(state, "main") else state
        at = main.divergence + jnp.where(jnp.arange(NUM) == 1, 0, more)
        if name == "rmed2":
            main = _counted(main, jnp.int32(100))
        main = main._replace(divergence=at)
        return state._replace(main=main) if hasattr(state, "main") else main

    _, _, ends, inside, different = far(name, change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


def test_a_pair_of_rmed2_is_forced_at_the_comparison_at_which_it_is_without_skipping():
    def change(state, more):
        many = (more / 2).astype(jnp.int32) + 6
        at = state.main.divergence + jnp.where(jnp.arange(NUM) == 1, 0, 100.0)
        return state._replace(main=_counted(state.main._replace(divergence=at), many))

    _, _, ends, inside, different = far("rmed2", change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


@pytest.mark.parametrize("name", NAMES)
def test_they_fall_quiet(name):
    assert isinstance(make(name, 3), SupportsSkip)
