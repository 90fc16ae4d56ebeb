"""Where quiet runs of RMED1, RMED2 and RMED2FH end: at the comparison that changes a list."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.choice import some
from tests.policies.quiet_walks import (
    LAST,
    NUM,
    far,
)

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


def _counted(main, many):
    """RMED2's state, had every pair been compared so often."""
    fewest = jnp.where(main.fewest == LAST, LAST, many)
    return main._replace(made=jnp.full((NUM, NUM), many), fewest=fewest)


@pytest.mark.parametrize(
    "name", some(("rmed1", "rmed2", "rmed2fh"), ("rmed2",), ("rmed1", "rmed2fh"))
)
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
