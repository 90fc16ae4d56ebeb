"""Compensated sums beside exact ones, as XLA compiles them."""

from fractions import Fraction
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.compensated import above_least, add, value

ZERO = jnp.float32(0)
ROUNDING = Fraction(2) ** -24
STEP = Fraction(2) ** -46  # what an addition may change the sum by, relative to it


def as_fraction(total, carry):
    return Fraction(float(total)) + Fraction(float(carry))


@jax.jit
def summed(total, carry, xs):
    """The pair after all numbers of `xs`, in order."""
    return jax.lax.scan(lambda pair, x: (add(*pair, x), None), (total, carry), xs)[0]


def repeated(total, carry, x, times):
    """The pair after `times` additions of x, none of which the compiler can foresee."""
    return jax.lax.fori_loop(0, times, lambda _, pair: add(*pair, x), (total, carry))


@pytest.mark.parametrize("compiled", [True, False])
def test_what_a_sum_rounds_away_is_kept(compiled):
    step = jax.jit(add) if compiled else add
    for total, x in ((2.0**24, 1.0), (1.0, 2.0**24), (1e8, 0.1), (-3e7, 1.0), (0.1, 1e-9)):
        pair = step(jnp.float32(total), ZERO, jnp.float32(x))
        exact = Fraction(float(np.float32(total))) + Fraction(float(np.float32(x)))
        assert as_fraction(*pair) == exact
        assert np.float32(pair[0]) == np.float32(pair[0]) + np.float32(pair[1])


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e6])
def test_sums_of_random_numbers(size):
    rng = np.random.default_rng(0)
    xs = np.float32(size * (0.5 + rng.standard_normal(200_000)))
    pair = summed(ZERO, ZERO, xs)
    exact = sum(map(Fraction, xs.astype(np.float64).tolist()))
    error = 200_000 * STEP
    assert abs(as_fraction(*pair) - exact) <= exact * error
    assert abs(Fraction(float(value(*pair))) - exact) <= exact * (error + ROUNDING)


def test_numbers_that_cancel():
    rng = np.random.default_rng(1)
    xs = np.float32(rng.standard_normal(50_000) * 10.0 ** rng.integers(-6, 7, 50_000))
    both = rng.permutation(np.concatenate([xs, -xs, np.float32([0.7])]))
    pair = summed(ZERO, ZERO, both)
    assert abs(float(as_fraction(*pair)) - float(np.float32(0.7))) < 1e-3  # a plain sum: 1e2
    assert abs(float(np.add.accumulate(both)[-1]) - 0.7) > 1e-3


def test_small_numbers_reach_a_large_total():
    """A plain sum stalls from 2^21 on for 0.1, and from 2^24 on for 1."""
    start, times = np.float32(2.0**30), 1_000_000
    for x in (np.float32(0.1), np.float32(1.0), np.float32(-0.3)):
        pair = jax.jit(repeated)(start, ZERO, x, times)
        exact = Fraction(float(start)) + times * Fraction(float(x))
        assert abs(as_fraction(*pair) - exact) <= exact * times * STEP
        assert abs(Fraction(float(value(*pair))) - exact) <= exact * (times * STEP + ROUNDING)
        plain = jax.jit(lambda total, x: jax.lax.fori_loop(0, times, lambda _, s: s + x, total))
        assert plain(start, x) == start


def test_a_hundred_million_additions():
    """Of one number, whose rounding errors are alike: the mean is still right to float32."""
    times = 10**8
    total, carry = jax.jit(repeated, static_argnums=3)(ZERO, ZERO, jnp.float32(0.1), times)
    assert abs(float(as_fraction(total, carry)) / times / float(np.float32(0.1)) - 1) < 2.0**-24


def test_the_same_elementwise_under_vmap_and_x64():
    xs = np.random.default_rng(2).standard_normal((300, 7)).astype(np.float32) * 1e3
    alone = np.array([np.stack(summed(ZERO, ZERO, column)) for column in xs.T])
    wide = np.stack(jax.vmap(partial(summed, ZERO, ZERO), in_axes=1)(xs), axis=1)
    nothing = jnp.zeros(7, jnp.float32)
    assert np.array_equal(wide, alone)
    assert np.array_equal(np.stack(summed(nothing, nothing, xs), axis=1), alone)
    with jax.enable_x64(True):
        pair = summed(nothing, nothing, xs)
        assert pair[0].dtype == pair[1].dtype == value(*pair).dtype == jnp.float32
        assert np.array_equal(np.stack(pair, axis=1), alone)


def test_sums_less_the_least_keep_what_the_pairs_hold():
    total = jnp.array([[2.0**30, 2.0**30, 2.0**31], [1.0, 2.0, 3.0]], jnp.float32)
    carry = jnp.array([[0.25, -3.5, 1.0], [0.0, 1e-9, 0.0]], jnp.float32)
    found = above_least(total.T, carry.T, jnp.ones((3, 1), bool)).T
    assert found[0].tolist() == [3.75, 0.0, float(np.float32(2.0**30 + 4.5))]
    np.testing.assert_allclose(found[1], [0, 1 + 1e-9, 2])
    found = above_least(total.T, carry.T, jnp.array([[False], [True], [True]])).T
    np.testing.assert_allclose(found[1, 1:], [0, 1 - 1e-9])
