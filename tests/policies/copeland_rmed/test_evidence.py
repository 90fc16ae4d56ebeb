"""ECW-RMED's levels: Theorem 5 against sorting, in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.copeland_rmed.demands import lead_and_price
from jaxduel.policies.copeland_rmed.evidence import ecw_levels, standing

pytestmark = pytest.mark.usefixtures("quick_compilation")


def _counts(num_arms, num, rng):
    """(num, K, K) win counts; in a third of them all pairs are alike but for who leads."""
    shape = num, num_arms, num_arms
    most = rng.choice([1, 4, 30, 1_000], (num, 1, 1))
    n = np.where(rng.random((num, 1, 1)) < 0.3, most, rng.integers(0, most + 1, shape))
    first_better = rng.random(shape) < rng.choice([0.5, 0.7, 0.9, 1.0], (num, 1, 1))
    wins = rng.binomial(n, np.where(first_better, 0.8, 0.2))
    total, share = rng.integers(1, 400, (num, 1, 1)), rng.random((num, 1, 1))
    ahead = total // 2 + 1 + (share * ((total + 1) // 2)).astype(int)
    alike = rng.random((num, 1, 1)) < 1 / 3
    n = np.where(alike, total, n)
    wins = np.where(alike, np.where(first_better, ahead, total - ahead), wins)
    wins = np.triu(wins, 1) + np.triu(n - wins, 1).swapaxes(1, 2)
    order = np.argsort(rng.random((num, num_arms)), axis=1)
    wins = np.take_along_axis(wins, order[:, :, None], axis=1)
    return np.take_along_axis(wins, order[:, None, :], axis=2).astype(np.int32)


@jax.jit
def _found(wins, number, guess):
    """One of the winners, its levels, and which (j, i2) they give e to: (), Level, (K, K)."""

    def one(wins, number, guess):
        now = standing(*lead_and_price(wins, wins.T), jnp.ones(len(wins), bool))
        place = jnp.cumsum(now.winners) - 1
        winner = jnp.argmax(now.winners & (place == number % (place[-1] + 1))).astype(jnp.int32)
        level = ecw_levels(now, winner, guess)
        return winner, level, now.costs <= level.cost

    return jax.vmap(one)(wins, number, guess)


def _problems(wins, winner):
    """(6) for every i2 of every run.

    Returns:
      The costs of (j, i2), infinite where j is no superior of i2 or the winner; of how many
      superiors any need a sum of 1; the optimum by Theorem 5, -1 where nothing can be asked for.
    """
    runs, num, _ = wins.shape
    n = wins + wins.swapaxes(1, 2)
    mu = np.where(n > 0, wins / np.maximum(n, 1), 0.5)
    ahead = mu > 0.5
    losses = ahead.sum(axis=1)
    extra = losses - losses.min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.where(mu < 1, (1 - mu) * np.log(2 * (1 - mu)), 0)
        divergence = mu * np.log(2 * mu) + other
        regret = (extra[:, :, None] + extra[:, None]) / divergence
    costs = np.where(ahead, regret, np.inf)
    costs[np.arange(runs), winner] = np.inf
    size, needed = np.isfinite(costs).sum(axis=1), extra + 1
    k = (size - needed)[:, None]
    h = np.arange(1, num + 1)[:, None]
    sums = np.cumsum(np.sort(costs, axis=1), axis=1)
    values = np.where(h > k, sums / np.maximum(h - k, 1), np.inf).min(axis=1)
    asked = (size >= needed) & (np.arange(num) != winner[:, None])
    return costs, needed, np.where(asked, values, -1.0)


@pytest.mark.parametrize(("num_arms", "num"), [(3, 1_000), (5, 3_000), (16, 6_000), (33, 600)])
def test_theorem_5_is_solved_from_any_guess(num_arms, num):
    rng = np.random.default_rng(num_arms)
    wins = _counts(num_arms, num, rng)
    guess = np.exp(rng.normal(4, 4, (num, num_arms))) * rng.choice([-1, 0, 1, 1], (num, num_arms))
    guess = np.where(rng.random((num, 1)) < 0.1, 3e38, guess).astype(np.float32)
    number = rng.integers(0, num_arms, num).astype(np.int32)
    winner, level, chosen = jax.tree.map(np.asarray, _found(wins, number, guess))
    costs, needed, optimum = _problems(wins, winner)
    asked = optimum >= 0
    assert asked.sum() > num / 10
    assert ((level.cost >= 0) == asked).all()
    off = 1e-6 + num_arms * 2.0**-23  # rounding, and what is more than rounding
    np.testing.assert_allclose(level.cost, optimum, rtol=off)

    superior = np.isfinite(costs)
    e = np.where(superior & chosen, 1 / level.parts[:, None], 0.0)
    smallest = np.cumsum(np.sort(np.where(superior, e, np.inf), axis=1), axis=1)
    at = np.clip(needed - 1, 0, num_arms - 1)[:, None]
    sums = np.take_along_axis(smallest, at, axis=1)[:, 0]
    np.testing.assert_allclose(sums[asked], 1.0, rtol=1e-6)
    paid = np.sum(np.where(superior, costs, 0.0) * e, axis=1)
    np.testing.assert_allclose(paid[asked], optimum[asked], rtol=off)
