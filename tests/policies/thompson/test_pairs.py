"""Coins of pairs: each pair has one that is read, from both sides."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.thompson import pairs


@pytest.mark.parametrize("num", [2, 3, 6, 7, 64, 65, 130])
def test_every_pair_is_read_from_both_sides_by_one_coin(num):
    """Also where the coins of a column take several words, K > 64."""
    rng = np.random.default_rng(num)
    beats = np.triu(rng.random((num, num)) < 0.5, 1)
    beats |= np.tril(~beats.T, -1)
    numbers = pairs.numbers_of(num)
    coins = beats.ravel()[numbers]
    assert coins.shape == (-(-num // 2), num)
    np.testing.assert_array_equal(pairs.folded(jnp.asarray(beats)), coins)
    read = np.asarray(jax.jit(pairs.unfolded)(coins))
    different = ~np.eye(num, dtype=bool)
    np.testing.assert_array_equal(read[different], beats[different])
