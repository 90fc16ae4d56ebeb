"""Draws in proportion to weights: beside exact intervals, and rare arms at their rates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.adversarial.sampling import draw, two_words, unit

BITS = 2**31
DRAWN = jax.jit(jax.vmap(draw, (None, 0)))


def test_arms_of_no_weight_are_never_drawn():
    weights = jnp.array([0, 3, 0, 1e-30, 1, 0], jnp.float32)
    words = jnp.array([0, 1, BITS // 5, BITS // 4, BITS // 3, BITS - 2, BITS - 1], jnp.int32)
    chosen = DRAWN(weights, words)
    assert chosen.tolist() == [4, 4, 4, 1, 1, 1, 1]  # the largest comes last
    assert (DRAWN(jnp.array([0, 2, 0], jnp.float32), words) == 1).all()


@pytest.mark.parametrize("size", [2, 5, 16, 129])
def test_an_arm_is_drawn_by_the_interval_that_the_number_falls_in(size):
    rng = np.random.default_rng(size)
    weights = np.float32(rng.exponential(size=(100, size)) ** rng.choice([0.5, 3, 12], (100, 1)))
    weights = np.where(rng.random(weights.shape) < 0.2, np.float32(0), weights)
    weights[:, -1] = weights.max(axis=1) / 2 + np.float32(1e-3)
    words = rng.integers(0, BITS, (100, 200), dtype=np.int32)
    words[:, :20] >>= 20  # close to 0
    chosen = np.asarray(jax.jit(jax.vmap(DRAWN))(jnp.asarray(weights), words))
    for row, arms, word in zip(weights.astype(float), chosen, words, strict=True):
        last = int(row.argmax())
        order = [*(i for i in range(size) if i != last), last]
        ends = np.concatenate([[0], np.cumsum(row[order])])
        place = np.argsort(order)[arms]
        level = (word + 0.5) / BITS * ends[-1]
        slack = 1e-6 * np.minimum(level, ends[-2]) + 1e-7 * level
        assert (ends[place] <= level + slack).all()
        assert (level <= ends[place + 1] + slack).all()
        assert (row[arms] > 0).all()


def test_rare_arms_come_at_their_rates():
    """Beside a large weight: 1e-6 and 3e-7 of it, which prefix sums to 1 would round to 2^-24."""
    weights = jnp.array([1, 1e-6, 3e-7], jnp.float32)
    near = jnp.arange(2**13, dtype=jnp.int32)
    chosen = np.asarray(DRAWN(weights, near))
    first, second = (chosen == 1).sum(), (chosen == 2).sum()
    assert first == pytest.approx(1e-6 * BITS, abs=1)
    assert second == pytest.approx(3e-7 * BITS, abs=1)


def test_words_of_a_step_are_independent_and_uniform():
    keys = jax.random.split(jax.random.key(0), 20_000)
    u = np.asarray(jax.jit(jax.vmap(lambda key: unit(two_words(key))))(keys))
    assert (u > 0).all()
    assert (u <= 1).all()
    error = 1 / np.sqrt(12 * len(u))
    assert (np.abs(u.mean(axis=0) - 0.5) < 4 * error).all()
    assert abs(np.corrcoef(u.T)[0, 1]) < 4 / np.sqrt(len(u))
