"""How often arms are drawn in proportion to weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.binomial import multinomial

pytestmark = pytest.mark.usefixtures("quick_compilation")

WEIGHTS = np.array(
    [[1, 1, 1, 0], [0, 0.1, 0, 0.3], [0, 0, 0.7, 0], [0.05, 0.2, 0, 0.5]], np.float32
)


@pytest.fixture(scope="module")
def counted():
    """(weights, n, draws, K) counts for n = 0, 7, 1000 and 2^31 - 1."""
    n = jnp.array([0, 7, 1000, 2**31 - 1], jnp.int32)
    keys = jax.random.split(jax.random.key(3), (len(WEIGHTS), len(n), 20_000))
    over_keys = jax.vmap(multinomial, in_axes=(0, None, None))
    over_n = jax.vmap(over_keys, in_axes=(0, 0, None))
    counts = jax.jit(jax.vmap(over_n, in_axes=(0, None, 0)))(keys, n, jnp.asarray(WEIGHTS))
    return np.asarray(n), np.asarray(counts)


@pytest.mark.thorough
def test_all_draws_have_weight(counted):
    n, counts = counted
    assert (counts.sum(axis=-1, dtype=np.int64) == n[:, None]).all()
    assert (counts >= 0).all()
    assert not counts.transpose(1, 2, 0, 3)[..., WEIGHTS == 0].any()


@pytest.mark.thorough
def test_means_variances_and_covariances_are_multinomial(counted):
    n, counts = counted
    for weights, of_row in zip(WEIGHTS.astype(float), counts, strict=True):
        p = weights / weights.sum()
        law = np.diag(p) - np.outer(p, p)
        for number, draws in zip(n[1:], of_row[1:], strict=True):
            off = (draws - number * p) / np.sqrt(number)
            bound = 4.5 / np.sqrt(len(draws))
            assert (np.abs(off.mean(axis=0)) <= bound * np.sqrt(np.diag(law)) + 1e-9).all()
            products = off[:, :, None] * off[:, None]
            error = products.std(axis=0) / np.sqrt(len(draws))
            assert (np.abs(products.mean(axis=0) - law) <= 4.5 * error + 1e-9).all()


@pytest.mark.thorough
def test_no_weight_and_no_draw_count_nothing():
    key, nothing = jax.random.key(0), jnp.zeros(3, jnp.float32)
    assert not np.any(multinomial(key, jnp.int32(5), nothing))
    assert not np.any(multinomial(key, jnp.int32(0), nothing + 1))
