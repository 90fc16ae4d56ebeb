"""Coins of pairs: each pair has one that is read, from both sides."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.thompson import pairs

pytestmark = pytest.mark.usefixtures("quick_compilation")

NUMBERS = [2, 3, 6, 7, 64, 65, 130]
"""K, even and odd; columns of coins take several words for K > 64, rows for K > 32."""


@pytest.mark.parametrize("num", NUMBERS)
def test_every_pair_is_read_from_both_sides_by_one_coin(num):
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


@pytest.mark.parametrize("num", NUMBERS)
def test_losses_are_counted_without_reading_each_pair(num):
    rng = np.random.default_rng(num)
    active = rng.random(num) < 0.7
    coins = rng.random((-(-num // 2), num)) < 0.5
    beats = np.asarray(jax.jit(pairs.unfolded)(coins)) & ~np.eye(num, dtype=bool)
    losses = np.asarray(jax.jit(pairs.losses_of)(coins, active))
    np.testing.assert_array_equal(losses[active], beats[active].sum(axis=0)[active])
