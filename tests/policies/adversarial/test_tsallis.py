"""Weights of Tsallis-INF beside SciPy's root of the formula that defines them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

from jaxduel.policies.adversarial import tsallis
from tests.choice import some
from tests.oracles.adversarial import versatile_db


def by_scipy(losses, eta):
    """4 / (eta (L - x))^2 for the x < min L with which they sum to 1, in float64."""

    def excess(x):
        return (4 / (eta * (losses - x)) ** 2).sum() - 1

    high = losses.min() - 2 / eta
    if excess(high) == 0:
        return 4 / (eta * (losses - high)) ** 2
    low = losses.min() - 2 * np.sqrt(len(losses)) / eta
    x = optimize.brentq(excess, low * (1 + 1e-9) - 1e-9, high, xtol=1e-300, rtol=1e-15)
    return 4 / (eta * (losses - x)) ** 2


def losses_of(rng, size):
    """Losses of all kinds: alike, of very different sizes, in steps, of two sizes."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.exponential(10 ** rng.uniform(-3, 6), size)
    if kind == 1:
        return 10 ** rng.uniform(-4, 7, size)
    if kind == 2:
        return 10 ** rng.uniform(-2, 5) * np.arange(size)
    return np.where(rng.random(size) < rng.random(), 0, 10 ** rng.uniform(-3, 6))


@pytest.mark.parametrize("size", some([2, 5, 16, 64, 1024, 46_340], [2, 16]))
def test_weights_are_those_of_the_formula(size):
    rng = np.random.default_rng(size)
    num = 100 if size < 1000 else 12
    rates = 10 ** rng.uniform(-4, 0.6, num)
    losses = np.array([losses_of(rng, size) for _ in range(num)])
    losses -= losses.min(axis=1, keepdims=True)
    scaled = np.float32(0.5 * rates[:, None] * losses)
    found = np.asarray(jax.jit(tsallis.tsallis_weights)(scaled.T)).T
    np.testing.assert_allclose(found.sum(axis=1, dtype=float), 1, rtol=3e-6)
    for weights, half, eta in zip(found, scaled.astype(float), rates, strict=True):
        expected = by_scipy(2 * half / eta, eta)
        np.testing.assert_allclose(weights, expected, rtol=2e-5)
        np.testing.assert_allclose(versatile_db.weights(2 * half / eta, eta), expected, rtol=1e-6)


@pytest.mark.parametrize("size", some([2, 16, 64, 1024, 46_340], [16]))
def test_one_iteration_fewer_is_enough_and_two_fewer_up_to_1000_arms(size, monkeypatch):
    """In float64: float32 would add what its sums round away."""
    rng = np.random.default_rng(size)
    far = 10 ** np.linspace(-3, 4, 100 if size <= 1024 else 20)
    alike = [np.where(np.arange(size) < m, 0, a) for m in {1, 2, size // 3 + 1} for a in far]
    others = [losses_of(rng, size) for _ in range(3 * len(far))]
    half = np.array([x - x.min() for x in (*alike, *others)])
    with jax.enable_x64(True):
        all_of_them = np.asarray(jax.jit(tsallis.tsallis_weights)(half.T))
        fewer = tsallis.ITERATIONS - (2 if size <= 1024 else 1)
        monkeypatch.setattr(tsallis, "ITERATIONS", fewer)
        some_of_them = np.asarray(jax.jit(lambda x: tsallis.tsallis_weights(x))(half.T))
    np.testing.assert_allclose(some_of_them, all_of_them, rtol=1e-6)


def test_arms_that_do_not_exist_have_no_weight():
    half = jnp.array([[0.3, 0, 2, jnp.inf], [0, 0, jnp.inf, jnp.inf]], jnp.float32)
    weights = tsallis.tsallis_weights(half.T).T
    assert weights[0, 3] == 0
    np.testing.assert_allclose(weights[0, :3], tsallis.tsallis_weights(half[0, :3]), rtol=1e-6)
    np.testing.assert_allclose(weights[1], [0.5, 0.5, 0, 0], rtol=1e-6)
