"""The evidence against a fair coin, beside scipy in float64."""

import jax.numpy as jnp
import numpy as np
from scipy.special import rel_entr

from jaxduel.numerics import evidence_against_half


def _exact(wins, losses):
    """n d(w / n, 1/2), by the power series where float64 itself would cancel."""
    w, loss = wins.astype(np.float64), losses.astype(np.float64)
    n = np.maximum(w + loss, 1)
    x = (w - loss) / n
    series = sum(x ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 40))
    direct = rel_entr(w, n / 2) + rel_entr(loss, n / 2)
    return np.where(np.abs(x) < 0.5, n * series, direct)


def test_relative_error_is_as_documented():
    rng = np.random.default_rng(0)
    n = np.exp(rng.uniform(0, np.log(2.0**31 - 1), 200_000)).astype(np.int64)
    special = [0.0, 1e-4, 0.1, 0.27, 0.275, 0.3, 0.45, 0.4999, 0.5, 0.725, 0.74, 0.9, 1.0]
    wins = (n * rng.choice([*special, *rng.random(100)], n.size)).astype(np.int64)
    wins = np.clip(wins + rng.integers(-3, 4, n.size), 0, n)
    losses = n - wins
    got = np.asarray(evidence_against_half(jnp.int32(wins), jnp.int32(losses)), np.float64)
    expected = _exact(wins, losses)
    bound = np.where(np.abs(wins - losses) <= 0.45 * n, 6e-7, 2e-6)
    assert (np.abs(got - expected) <= bound * expected).all()


def test_small_counts_and_the_ends():
    wins, losses = np.divmod(np.arange(40 * 40), 40)
    got = np.asarray(evidence_against_half(jnp.int32(wins), jnp.int32(losses)), np.float64)
    expected = _exact(wins, losses)
    assert (np.abs(got - expected) <= 1e-6 * expected).all()
    assert got[0] == 0
    assert evidence_against_half(jnp.int32(5), jnp.int32(5)) == 0
