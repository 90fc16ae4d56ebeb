"""ECW-RMED's updated demands equal those computed anew from its estimates."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.copeland_rmed import demands
from jaxduel.policies.copeland_rmed.ecw_rmed import ECWRMED

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.thorough
@pytest.mark.parametrize("num_arms", [pytest.param(2, marks=pytest.mark.slow), 7])
def test_an_adjusted_demand_is_that_of_all_estimates(num_arms):
    active = jnp.arange(num_arms + 1) < num_arms  # one arm does not exist
    policy = ECWRMED(num_arms=num_arms + 1, active_arms=active)
    demand_of = partial(demands.demand_with, demands.allocate_ecw)

    def step(state, key):
        plan = policy.act(state, key)
        advantage = 0.08 * (plan.right - plan.left)
        won = jax.random.uniform(key) < 0.5 + jnp.clip(advantage, -0.4, 0.4)
        after = policy.update(state, plan, jnp.where(won, 1, -1), key)
        anew = demand_of(after.demand, after.estimates, active)
        known = ~after.stale & jnp.any(after.estimates.wins != state.estimates.wins)
        same = jnp.all(jnp.sign(after.estimates.lead) == jnp.sign(state.estimates.lead))
        adjusted = known & ~state.stale & same & (after.demand.best == state.demand.best)
        winner = (anew.losses == jnp.min(anew.losses))[:, None]
        levels = (jnp.where(winner, demand.levels, 0) for demand in (after.demand, anew))
        return after, (known, adjusted, after.demand, anew, tuple(levels))

    def run(key):
        return jax.lax.scan(step, policy.init(key), jax.random.split(key, 600))[1]

    seen = jax.jit(jax.vmap(run))(jax.random.split(jax.random.key(num_arms), 40))
    known, adjusted, demand, anew, levels = jax.tree.map(np.asarray, seen)
    for several in (False, True)[: num_arms - 1]:  # both of two arms win in a tie only
        assert (adjusted & ((demand.winners > 1) == several)).sum() > 1_000
    assert (known & ~adjusted).sum() > 100
    for name in ("winners", "best", "losses"):
        np.testing.assert_array_equal(getattr(demand, name)[known], getattr(anew, name)[known])
    for name in ("confidence_bound", "evidence", "due_log_t"):
        got, expected = getattr(demand, name)[known], getattr(anew, name)[known]
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(levels[0][known], levels[1][known], rtol=1e-5)
