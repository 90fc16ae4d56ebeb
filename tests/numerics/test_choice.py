"""The selected member of a set, against counting; and that it is uniform."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics import count_true, masked_choice


@pytest.mark.parametrize("num_arms", [2, 5, 32, 33, 100])
def test_member_number_floor_u_size(num_arms):
    rng = np.random.default_rng(num_arms)
    masks = rng.random((2000, num_arms)) < rng.random((2000, 1))
    masks[np.arange(2000), rng.integers(0, num_arms, 2000)] = True
    u = rng.random(2000, dtype=np.float32)
    u[:2] = 0.0, np.nextafter(np.float32(1), np.float32(0))
    got = np.asarray(jax.jit(jax.vmap(masked_choice))(masks, u))
    sizes = masks.sum(axis=1)
    wanted = np.minimum((u * sizes.astype(np.float32)).astype(int), sizes - 1)
    members = [np.flatnonzero(mask)[k] for mask, k in zip(masks, wanted, strict=True)]
    assert (got == members).all()
    assert (np.asarray(jax.vmap(count_true)(masks)) == sizes).all()


def test_uniform_over_the_members():
    mask = jnp.asarray(np.isin(np.arange(70), [0, 3, 31, 32, 64, 69, 68]))
    u = jax.random.uniform(jax.random.key(0), (70_000,))
    counts = np.bincount(jax.vmap(masked_choice, in_axes=(None, 0))(mask, u), minlength=70)
    assert set(np.flatnonzero(counts)) == {0, 3, 31, 32, 64, 68, 69}
    expected = 10_000
    assert (np.abs(counts[counts > 0] - expected) < 4.5 * np.sqrt(expected * 6 / 7)).all()
