"""Chains against laws of which moments and quantiles are known, and their diagnoses."""

from itertools import islice

import numpy as np
import pytest
from scipy import special, stats

from jaxduel.numerics.hamiltonian import chains, diagnosed

SHAPES = np.array([0.5, 1, 3, 8, 30])


def log_gammas(seed, count, num_chains=16):
    """Draws (N, C, P) of a skewed law: logarithms of gamma variables, mixed by a random matrix, and
    the draws unmixed. The mode of log x is log a, with the information a."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(5, 5)) + 2 * np.eye(5)
    back = np.linalg.inv(mixing)

    def log_density(x):
        y = back @ x
        return np.sum(SHAPES[:, None] * y - np.exp(y), axis=0)

    def slope(x):
        return back.T @ (SHAPES[:, None] - np.exp(back @ x))

    start = mixing @ (np.log(SHAPES)[:, None] + rng.normal(size=(5, num_chains)))

    def normals():
        return rng.standard_normal((5, num_chains))

    drawn = chains(log_density, slope, back.T @ np.diag(SHAPES) @ back, start, normals, rng)
    points = np.stack(list(islice(drawn, count))).transpose(0, 2, 1)
    return points, points @ back.T


def test_draws_have_the_moments_and_quantiles_of_a_skewed_law():
    _, draws = log_gammas(0, 3_000)
    effective, r_hat = diagnosed(draws)
    assert (effective > 10_000).all()
    assert (r_hat < 1.001).all()
    flat = draws.reshape(-1, 5)
    deviation = np.sqrt(special.polygamma(1, SHAPES))
    assert (
        np.abs(flat.mean(axis=0) - special.digamma(SHAPES)) < 4 * deviation / np.sqrt(effective)
    ).all()
    of_squares, _ = diagnosed((draws - special.digamma(SHAPES)) ** 2)
    fourth = special.polygamma(3, SHAPES) + 2 * deviation**4
    error = np.abs(((flat - special.digamma(SHAPES)) ** 2).mean(axis=0) - deviation**2)
    assert (error < 4 * np.sqrt(fourth / of_squares)).all()
    for level in (0.025, 0.5, 0.975):
        below = draws < np.log(stats.gamma(SHAPES).ppf(level))
        count, _ = diagnosed(below.astype(float))
        error = np.abs(below.mean(axis=(0, 1)) - level)
        assert (error < 4 * np.sqrt(level * (1 - level) / count)).all()


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_draws_of_an_autoregression(correlation):
    """Of N draws, N (1 - c) / (1 + c)."""
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(4_000, 8, 20))
    for n in range(1, 4_000):
        draws[n] = correlation * draws[n - 1] + np.sqrt(1 - correlation**2) * draws[n]
    effective, r_hat = diagnosed(draws)
    expected = 32_000 * (1 - correlation) / (1 + correlation)
    assert effective.mean() == pytest.approx(expected, rel=0.05)
    assert r_hat.max() < 1.02


def test_chains_apart_are_seen():
    """Half a deviation between chains: R-hat is sqrt(1 + 1/4) of a variance of 1/4 between them."""
    rng = np.random.default_rng(3)
    places = rng.permutation(np.tile([-0.5, 0.5], 8))[:, None]
    effective, r_hat = diagnosed(rng.normal(size=(2_000, 16, 1)) + places)
    assert r_hat[0] == pytest.approx(np.sqrt(1 + 0.25 * 16 / 15), rel=0.02)
    assert effective[0] < 400


def test_a_variable_that_never_moves_is_no_failure():
    effective, r_hat = diagnosed(np.ones((8, 4, 2)))
    assert effective.tolist() == [32, 32]
    assert r_hat.tolist() == [1, 1]
