"""Tables that policies keep of their counts, after outcomes that came late."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies import Feedback
from tests.choice import some

pytestmark = pytest.mark.usefixtures("quick_compilation")

ARMS, LANES = 5, 40
TABLES = {
    "dts": lambda state: (state.tail, state.lead),
    "rcs": lambda state: (state.record.tail, state.record.lead),
    "rmed1": lambda state: (state.evidence, state.divergence),
    "rmed2": lambda state: (state.main.evidence, state.main.divergence),
    "ecw-rmed": lambda state: state.estimates,
    "cw-rmed": lambda state: state.estimates,
}
ROUNDING = 2e-6
"""Twice the relative error that a tail, 7e-7, or evidence, 1e-6, may have; their sums and quotients
are held to the same."""


def counts(rng, share, most):
    """Wins of i over j of each lane, (LANES, ARMS, ARMS), none in most pairs."""
    compared = rng.random((LANES, ARMS, ARMS)) < share
    wins = np.where(compared, rng.integers(0, most, compared.shape), 0).astype(np.int32)
    return np.where(np.eye(ARMS, dtype=bool), 0, wins)


@pytest.mark.parametrize("name", some(TABLES, ("dts", "rmed1")))
def test_they_are_those_of_all_counts(name):
    """Few and many comparisons; lanes that are told nothing keep theirs to the bit."""
    policy = jd.policies.make(name, num_arms=ARMS, horizon=10_000)
    rng, key = np.random.default_rng(3), jax.random.key(0)
    before = counts(rng, 0.8, 3) + counts(rng, 0.3, 400)
    told = counts(rng, 0.15, 30)
    told[::8] = 0
    start = jax.jit(jax.vmap(lambda wins: policy.from_wins(wins, key)))
    learn = jax.jit(jax.vmap(lambda s, w: policy.learn(s, Feedback(w, jnp.zeros_like(w)))))
    states = start(before)
    late, all_at_once = (TABLES[name](s) for s in (learn(states, told), start(before + told)))
    for one, other in zip(late, all_at_once, strict=True):
        np.testing.assert_allclose(one, other, rtol=ROUNDING, atol=0)
    for one, other in zip(late, TABLES[name](states), strict=True):
        np.testing.assert_array_equal(one[::8], other[::8])
