"""The laws of the Beta samplers, and the hat that they draw from."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from jaxduel.numerics.beta import beta, logit_above_half, propose_logit
from jaxduel.numerics.beta_hat import (
    Hat,
    counts_of,
    hat_of,
    log_ratio,
    reference_of,
    weigh,
    weigh_above_half,
)

pytestmark = pytest.mark.thorough

DRAWS = 2**18
TINY = 6e-5  # p-value below which a test with fixed keys fails: four standard errors
TAIL = 1e-3
PAIRS = [
    (1, 1), (1, 40), (40, 1), (2, 2), (100, 60), (60, 100), (10**5, 101_000), (10**5, 99_000),
    (1, 10**6), (3 * 10**8, 300_100_000), (3, 1), (1.5, 3.75), (7.25, 1.0),
]  # fmt: skip
LARGE = [(10**9, 2), (2**31 - 1, 2**31 - 1), (1, 2**31 - 1), (2**31 - 1, 2**31 - 100_000)]
GRID = [1, 2, 3, 5, 10, 40, 100, 1_000, 10**5, 10**7, 10**9, 2**31 - 1]


@jax.jit
def sample(key, a, b):
    return beta(key, jnp.broadcast_to(a, DRAWS), jnp.broadcast_to(b, DRAWS))


@jax.jit
def sample_above_half(key, a, b):
    return logit_above_half(key, jnp.broadcast_to(a, DRAWS), jnp.broadcast_to(b, DRAWS))


def number(x):
    return np.int32(x) if isinstance(x, int) else np.float32(x)


def survival_above_half(y, a, b):
    """P(logit(theta) > y), given that it is above 0."""
    if a == 1:  # closed form, since both probabilities may be 0 in float64
        return np.exp(-b * np.log1p(np.expm1(y) / 2))
    return special.betainc(b, a, special.expit(-y)) / special.betainc(b, a, 0.5)


def p_value(u):
    """That of numbers that should be uniform: Kolmogorov and Smirnov's, and both tails' counts."""
    counts = (int(np.sum(u < TAIL)), int(np.sum(u > 1 - TAIL)))
    law = stats.binom(u.size, TAIL)
    tails = [2 * min(law.cdf(count), law.sf(count - 1)) for count in counts]
    return min(stats.kstest(u, "uniform").pvalue, *tails)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_law(a, b):
    draws = np.asarray(sample(jax.random.key(PAIRS.index((a, b))), number(a), number(b)), float)
    assert p_value(special.betainc(a, b, draws)) > TINY


@pytest.mark.parametrize(("a", "b"), PAIRS + LARGE)
def test_law_above_half(a, b):
    key = jax.random.key(100 + (PAIRS + LARGE).index((a, b)))
    y = np.asarray(sample_above_half(key, number(a), number(b)), float)
    assert y.min() > 0
    assert p_value(survival_above_half(y, a, b)) > TINY


@pytest.mark.parametrize(("a", "b", "wrong"), [(2, 2, 2.08), (100, 60, 60.4), (60, 100, 100.4)])
def test_a_slightly_wrong_law_is_noticed(a, b, wrong):
    key = jax.random.key(2)
    draws = np.asarray(sample(key, np.float32(a), np.float32(wrong)), float)
    assert p_value(special.betainc(a, b, draws)) < TINY
    y = np.asarray(sample_above_half(key, np.float32(a), np.float32(b * 1.1)), float)
    assert p_value(survival_above_half(y, a, b)) < TINY


def by_cell(step):
    """The function of (words, a, b) over all pairs of the grid: (cells, words)."""
    a, b = (np.ravel(x).astype(np.int32) for x in np.meshgrid(GRID, GRID))
    words = jnp.asarray(np.linspace(0, 2**32 - 1, 4_096).astype(np.uint32))
    return jax.jit(jax.vmap(lambda a, b: step(words, *counts_of(a, b))))(a, b)


@pytest.mark.parametrize("above_half", [False, True])
def test_the_hat_dominates_and_most_proposals_are_accepted(above_half):
    def step(words, a, b, difference):
        if above_half:
            return weigh_above_half(words, *reference_of(a, b, difference))
        return weigh(words, hat_of(a, b, jnp.zeros_like(a)))

    _, weight = (np.asarray(x, float) for x in by_cell(step))
    assert weight.min() >= 0
    assert weight.max() <= 1 + 1e-5
    assert weight.mean(axis=1).min() > 0.86


def test_hat_at_all_z_scores():
    z = np.concatenate([np.linspace(-8, 8, 65), [-30, -15, 15, 30]])
    n = np.array([4, 30, 100, 3_000, 10**6, 10**9])[:, None]
    a = np.clip(np.rint(n / 2 + z * np.sqrt(n) / 2), 1, n - 1).astype(np.int32)
    words = jnp.asarray(np.linspace(0, 2**32 - 1, 4_096).astype(np.uint32))

    def step(a, b):
        return weigh_above_half(words, *reference_of(*counts_of(a, b)))

    _, weight = jax.jit(jax.vmap(step))(a.ravel(), (n - a).astype(np.int32).ravel())
    assert weight.max() <= 1 + 1e-5
    assert weight.mean(axis=1).min() > 0.86


def test_logarithm_of_the_density_ratio():
    a, b = (np.ravel(x)[:, None] for x in np.meshgrid(GRID, GRID))
    fall = np.where(a == b, a / 4, 0.0)  # a linear term
    t = np.linspace(-1, 1, 201) * np.minimum(6 * np.sqrt(1 / a + 1 / b), 12)
    hat = Hat(*(jnp.asarray(x, jnp.float32) for x in (a, b, fall)), *[jnp.zeros(())] * 4)
    ratio = np.asarray(jax.jit(log_ratio)(hat, jnp.asarray(t, jnp.float32)), float)
    t = t.astype(np.float32).astype(np.longdouble)
    fall = fall.astype(np.float32).astype(np.longdouble)
    expected = (a - fall) * t - (a + b) * np.log1p(a / np.longdouble(a + b) * np.expm1(t))
    size = np.abs(expected) + fall * np.abs(t)
    assert np.all(np.abs(ratio - expected) <= 1e-6 * size + 1e-6)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (60, 60), (60, 100), (100, 60), (10**6, 1_002_000)])
def test_numbers_near_zero_keep_their_digits(a, b):
    k = np.arange(40, dtype=np.uint32)  # few enough for the density to be level
    y, _ = jax.jit(propose_logit)(np.stack([k, k]), np.int32(a), np.int32(b))
    np.testing.assert_allclose(np.asarray(y, float) / (k + 0.5), y[0] * 2, rtol=2e-6)
    assert 0 < y[0] < 1e-6


@pytest.mark.parametrize("above_half", [False, True])
def test_one_proposal(above_half):
    a, b = np.array([[3], [50]], np.int32), np.array([2, 40], np.int32)
    words = jax.random.bits(jax.random.key(3), (2, DRAWS // 8, 2, 2), jnp.uint32)
    y, accepted = jax.jit(propose_logit, static_argnums=3)(words, a, b, above_half)
    assert y.dtype == jnp.float32
    assert y.shape == accepted.shape == words.shape[1:]
    for i in range(2):
        for j in range(2):
            kept = np.asarray(y[:, i, j], float)[np.asarray(accepted[:, i, j])]
            assert kept.size > 0.86 * y.shape[0]
            pair = int(a[i, 0]), int(b[j])
            u = survival_above_half(kept, *pair)
            if not above_half:
                u = special.betainc(*pair, special.expit(kept))
            assert p_value(u) > TINY


def test_theta_near_zero_is_relatively_accurate():
    draws = np.asarray(sample(jax.random.key(4), np.int32(1), np.int32(2**31 - 1)), float)
    assert p_value(-np.expm1((2**31 - 1) * np.log1p(-draws))) > TINY
    assert draws.min() < 1e-13


def counts_of_all_sizes(rng, *shape):
    return np.exp(rng.uniform(0, 16, (2, *shape))).astype(np.int32)


@pytest.mark.parametrize(
    ("draw", "impl"), [(beta, "threefry2x32"), (logit_above_half, "philox4x32")]
)
def test_vmap_over_keys_is_a_loop_over_keys(draw, impl):
    keys = jax.random.split(jax.random.key(5, impl=impl), 16)
    a, b = counts_of_all_sizes(np.random.default_rng(0), 16, 5, 7)
    together, single = jax.jit(jax.vmap(draw))(keys, a, b), jax.jit(draw)
    for i in range(16):
        np.testing.assert_array_equal(together[i], single(keys[i], a[i], b[i]))


@pytest.mark.parametrize(
    ("draw", "impl"), [(beta, "threefry2x32"), (logit_above_half, "philox4x32")]
)
def test_x64_changes_nothing(draw, impl):
    key = jax.random.key(6, impl=impl)
    a, b = counts_of_all_sizes(np.random.default_rng(1), 5, 7)
    expected = jax.jit(draw)(key, a, b)
    assert expected.dtype == jnp.float32
    with jax.enable_x64(True):
        draws = jax.jit(draw)(key, a.astype(np.int64), b.astype(np.int64))
        assert draws.dtype == jnp.float32
        np.testing.assert_array_equal(draws, expected)
        assert jax.eval_shape(draw, key, a.astype(float), b).dtype == jnp.float32


@pytest.mark.parametrize("draw", [beta, logit_above_half])
def test_shapes(draw):
    key = jax.random.key(7)
    for shapes in ((), ()), ((4, 1), (3,)), ((0, 3), ()), ((9,), (9,)):
        draws = jax.eval_shape(draw, key, *(jnp.ones(shape) for shape in shapes))
        assert draws.shape == np.broadcast_shapes(*shapes)


def test_values_that_are_no_parameters_give_nan():
    a, b = jnp.array([0.5, jnp.nan, 2.0, 0.0, -3.0, 1.0]), jnp.array([1.0] * 5 + [0.2])
    draws = beta(jax.random.key(8), a, b)
    np.testing.assert_array_equal(np.isnan(draws), [True, True, False, True, True, True])
