"""Spaces of instances: what is allowed, and the way back to it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.gradients import space
from jaxduel.gradients.spaces import SPACES


def preferences(of, params):
    with jax.enable_x64(True):
        return jd.problems.from_matrix(np.asarray(of.instance(jnp.asarray(params)))).preferences


@pytest.mark.parametrize("name", SPACES)
def test_what_is_projected_is_allowed_and_stays(name):
    of = space(name, 5, min_gap=0.05, most=0.9)
    size = of.draw(jax.random.key(0)).size
    for seed in range(10):
        start = of.draw(jax.random.key(seed))
        far = np.random.default_rng(seed).normal(0, 4, size)
        for params in (of.project(start), of.project(far)):
            np.testing.assert_allclose(of.project(params), params, rtol=1e-9, atol=1e-12)
            p = preferences(of, params)
            problem = jd.problems.from_matrix(p)
            assert p.max() <= 0.9 + 1e-9
            if name == "cycle":
                assert problem.condorcet_winner is None
                assert problem.copeland_winners == (0, 1, 2)
                assert (np.abs(p - 0.5)[~np.eye(5, dtype=bool)] >= 0.05 - 1e-9).all()
            else:
                assert problem.condorcet_winner == 0
                assert (p[0, 1:] >= 0.55 - 1e-9).all()
            if name in ("btl", "thurstone", "sst"):
                order = np.argsort(-p.sum(axis=1), kind="stable")
                above = np.where(np.triu(np.ones((5, 5)), 1) > 0, p[np.ix_(order, order)], np.nan)
                assert not (np.diff(above, axis=1) < -1e-9).any()


@pytest.mark.parametrize("name", SPACES)
def test_what_is_allowed_is_not_moved(name):
    of = space(name, 4, min_gap=0.01, most=0.99)
    params = {
        "btl": [0.0, -0.5, -2.0, -1.0],
        "thurstone": [0.0, -0.5, -1.0, -1.5],
        "sst": [0.1, -1.0, 0.3, -0.5, 0.2, 0.4],
        "condorcet": [0.3, 0.9, 1.5, -2.0, 0.1, 0.5],
        "cycle": [0.3, 0.9, 1.5, -2.0, 0.1, 0.5],
    }[name]
    np.testing.assert_allclose(of.project(np.array(params)), params, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("plackett", 4), "unknown family of instances 'plackett'"),
        (("btl", 1), "'btl': num_arms must be a whole number of at least 2"),
        (("cycle", 2), "'cycle': num_arms must be a whole number of at least 3"),
        (("btl", None), "'btl': num_arms must be a whole number of at least 2, not None"),
    ],
)
def test_bad_spaces(call, message):
    with pytest.raises(InputError, match=message):
        space(*call)


@pytest.mark.parametrize("limits", [(0.0, 0.9), (0.4, 0.9), (0.1, 1.0)])
def test_bad_limits(limits):
    with pytest.raises(InputError, match="must satisfy 0 < min_gap < most - 1/2 < 1/2"):
        space("sst", 4, min_gap=limits[0], most=limits[1])


@pytest.mark.parametrize("limit", [float("nan"), "0.1", None])
def test_limits_are_numbers(limit):
    for name in ("min_gap", "most"):
        with pytest.raises(InputError, match=f"{name} must be a number, not "):
            space("sst", 4, **{name: limit})
