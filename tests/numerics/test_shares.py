"""How often members of a set are drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.shares import member_counts

pytestmark = pytest.mark.usefixtures("quick_compilation")

SETS = np.array([[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]], bool)


@pytest.fixture(scope="module")
def counted():
    """(sets, n, draws, K) counts for n = 0, 7, 1000 and 2^31 - 1."""
    n = jnp.array([0, 7, 1000, 2**31 - 1], jnp.int32)
    keys = jax.random.split(jax.random.key(3), (len(SETS), len(n), 20_000))
    over_keys = jax.vmap(member_counts, in_axes=(0, None, None))
    over_n = jax.vmap(over_keys, in_axes=(0, 0, None))
    counts = jax.jit(jax.vmap(over_n, in_axes=(0, None, 0)))(keys, n, jnp.asarray(SETS))
    return np.asarray(n), np.asarray(counts)


def test_all_draws_are_members(counted):
    n, counts = counted
    assert (counts.sum(axis=-1, dtype=np.int64) == n[:, None]).all()
    assert (counts >= 0).all()
    assert not counts.transpose(1, 2, 0, 3)[..., ~SETS].any()


def test_means_variances_and_covariances_are_multinomial(counted):
    n, counts = counted
    for members, of_set in zip(SETS, counts, strict=True):
        p = members / members.sum()
        law = np.diag(p) - np.outer(p, p)
        for number, draws in zip(n[1:], of_set[1:], strict=True):
            off = (draws - number * p) / np.sqrt(number)
            bound = 4.5 / np.sqrt(len(draws))
            assert (np.abs(off.mean(axis=0)) <= bound * np.sqrt(np.diag(law)) + 1e-9).all()
            products = off[:, :, None] * off[:, None]
            error = products.std(axis=0) / np.sqrt(len(draws))
            assert (np.abs(products.mean(axis=0) - law) <= 4.5 * error + 1e-9).all()


def test_no_member_and_no_draw_count_nothing():
    key, nobody = jax.random.key(0), jnp.zeros(3, bool)
    assert not np.any(member_counts(key, jnp.int32(5), nobody))
    assert not np.any(member_counts(key, jnp.int32(0), ~nobody))
