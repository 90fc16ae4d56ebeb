"""Quiet runs of ECW-RMED and CW-RMED with few arms or rare looks, and where they end."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.policies.histories import random_preferences
from tests.policies.quiet_walks import (
    LANES,
    NUM,
    check_walk,
    far,
    make,
    padded,
    steep,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_compilation")]


def test_a_run_of_cw_rmed_with_few_arms():
    p = padded(steep(3), 4)
    _, n = check_walk(make("cw-rmed", 3, 4), p)
    assert np.mean(n > 0) > 0.3


def test_a_run_where_line_4_is_asked_once_per_pass():
    p = padded(random_preferences(5, LANES, seed=5))
    _, n = check_walk(make("ecw-rmed", 5, line4="pass"), p)
    assert np.mean(n > 0) > 0.2


@pytest.mark.parametrize("what", ["confident_until", "due_log_t"])
def test_the_lists_of_ecw_rmed_change_at_the_comparison_at_which_they_do(what):
    def change(state, more):
        demand = state.demand
        if what == "confident_until":
            demand = demand._replace(
                confident_until=jnp.where(demand.confident_until >= 0, 7 + more, -1.0)
            )
        else:
            unequal = ~jnp.eye(NUM, dtype=bool) & (jnp.arange(NUM) < 5)[:, None]
            due = jnp.where(unequal & unequal.T, 7 + more, jnp.inf)
            demand = demand._replace(confident_until=demand.confident_until * 0 - 1, due_log_t=due)
        return state._replace(demand=demand, fewest=jnp.float32(1e6))

    _, _, ends, inside, different = far("ecw-rmed", change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


def test_line_4_of_ecw_rmed_looks_at_the_comparison_at_which_it_does():
    def change(state, more):
        demand = state.demand._replace(confident_until=jnp.full(NUM, jnp.inf).at[0].set(-1.0))
        return state._replace(demand=demand, fewest=3 * jnp.sqrt(7 + more))

    policy, later, _, inside, different = far("ecw-rmed", change)
    assert not np.any(different)
    key = jax.random.key(0)
    after = jax.vmap(lambda s: policy.update(s, policy.act(s, key), jnp.int32(1), key))(later)
    looked = np.any(np.asarray(after.forced) != 0, axis=(1, 2))
    assert np.all(looked[inside])
