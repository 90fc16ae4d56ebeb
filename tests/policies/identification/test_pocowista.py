"""POCOWISTA: the density that ends a pair's duels, indifference by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import betaln

import jaxduel as jd
from jaxduel.policies.base import TIED
from jaxduel.policies.identification.pocowista import log_density_at_half
from tests.policies.histories import played


def test_density_at_one_half():
    small = np.arange(40)
    pairs = [(a, b) for a in small for b in small]
    rng = np.random.default_rng(0)
    pairs += [tuple(pair) for pair in rng.integers(0, 10 ** rng.integers(2, 9, (500, 1)), (500, 2))]
    a, b = np.array(pairs).T
    expected = -betaln(a + 1.0, b + 1.0) - (a + b) * np.log(2)
    close = np.abs(expected) < 100  # where a decision may hang on it
    found = np.asarray(log_density_at_half(jnp.asarray(a, jnp.int32), jnp.asarray(b, jnp.int32)))
    error = np.abs(found - expected) / (1 + np.abs(expected))
    assert close.sum() > 1_000
    assert error.max() < 3e-6


def test_pairs_need_one_most_frequent_outcome_of_those_that_are_told():
    ties = [[0, 0.6], [0.6, 0]]
    problem = jd.problems.from_matrix([[0.5, 0.5], [0.5, 0.5]], ties=ties)
    policy = jd.policies.make("pocowista", num_arms=2)
    with pytest.warns(jd.AssumptionWarning, match="a single most frequent outcome of every pair"):
        jd.simulate(policy, problem, 10, num_seeds=1, ties="coin")
    jd.simulate(policy, problem, 10, num_seeds=1, ties="tell")  # without a warning


def test_indifference_gives_half_a_point_each():
    policy = jd.policies.make("pocowista", num_arms=3)
    duels, state = played(policy, lambda i, j: TIED if {i, j} == {0, 1} else 1 if i < j else -1, 60)
    assert int(policy.answer(state)) == 0
    assert state.points.tolist() == [3, 1, 0]  # arm 1 may still get 3
    assert list(dict.fromkeys(duels)) == [(0, 1), (2, 0), (0, 0)]
