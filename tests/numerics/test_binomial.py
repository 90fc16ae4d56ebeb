"""The law of the binomial sampler, to the precision that its docstring claims."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxduel.numerics.binomial import (
    _TERMS,
    _invert,
    _log_ratio,
    _mode,
    _weigh,
    binomial,
    wins_of_pairs,
)
from jaxduel.numerics.target import tracing_for

pytestmark = pytest.mark.thorough

DRAWS = 2**17
TINY = 1e-6  # p-value below which a test with fixed keys fails
SIZES = [1, 2, 10, 100, 1_000, 10**6, 2 * 10**7, 2**24 + 1, 2 * 10**9, 2**31 - 1]
CHANCES = [1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.500001, 0.9, 0.9999, 1 - 1e-7]


@jax.jit
def sample(key, n, p):
    shape = (DRAWS,)
    return binomial(key, jnp.broadcast_to(n, shape), jnp.broadcast_to(p, shape))


def draw(seed, n, p, batches=1):
    keys = jax.random.split(jax.random.key(seed), batches)
    return np.concatenate([np.asarray(sample(k, np.int32(n), np.float32(p))) for k in keys])


def integral_transform(draws, n, p, rng):
    """Uniform on (0, 1) under Binomial(n, p): randomised inside the probability of each draw."""
    values, inverse = np.unique(draws, return_inverse=True)
    below, mass = stats.binom.cdf(values - 1, n, p), stats.binom.pmf(values, n, p)
    return below[inverse] + rng.random(draws.size) * mass[inverse]


def check_law(draws, n, p, cells=64):
    assert draws.min() >= 0
    assert draws.max() <= n
    u = integral_transform(draws, n, p, np.random.default_rng(0))
    counts = np.bincount(np.minimum((u * cells).astype(int), cells - 1), minlength=cells)
    assert stats.chisquare(counts).pvalue > TINY
    assert stats.kstest(u, "uniform").pvalue > TINY


def check_moments(draws, n, p):
    size, variance = draws.size, n * p * (1 - p)
    successes = int(draws.astype(np.int64).sum())  # itself binomial
    total = stats.binom(size * n, p)
    assert 2 * min(total.cdf(successes), total.sf(successes - 1)) > TINY
    if variance * size > 100:
        error = variance * np.sqrt((2 + (1 - 6 * p * (1 - p)) / variance) / size)
        assert abs(np.mean((draws - n * p) ** 2) - variance) <= 5 * error


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("n", SIZES)
def test_law(n, p):
    draws = draw(SIZES.index(n) * 100 + CHANCES.index(p), n, p)
    p = float(np.float32(p))
    check_law(draws, n, p)
    check_moments(draws, n, p)


@pytest.mark.parametrize(
    ("n", "p"),
    [(2, 0.5), (20, 0.4999), (20, 0.5), (19, 0.51), (1000, 0.00999), (1000, 0.01001), (60, 0.7)],
)
def test_small_supports_and_both_sides_of_the_switch(n, p):
    draws = draw(5, n, p, batches=16)
    p = float(np.float32(p))
    expected = draws.size * stats.binom.pmf(np.arange(n + 1), n, p)
    counts = np.bincount(draws, minlength=n + 1)
    often = expected >= 10
    rest = np.array([max(expected[~often].sum(), 1e-300)])
    expected, counts = (
        np.concatenate([expected[often], rest]),
        np.append(counts[often], counts[~often].sum()),
    )
    expected *= draws.size / expected.sum()
    if expected[-1] < 1:  # cells too rare for a chi-square: only not too many of them
        assert stats.poisson.sf(counts[-1] - 1, max(expected[-1], 1e-12)) > TINY or counts[-1] == 0
        expected, counts = expected[:-1], counts[:-1]
        expected *= counts.sum() / expected.sum()
    assert stats.chisquare(counts, expected).pvalue > TINY
    check_moments(draws, n, p)


@pytest.mark.parametrize("p", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [2**24 + 1, 2 * 10**9, 2**31 - 1])
def test_last_digits_are_uniform_for_large_n(n, p):
    draws = draw(6, n, p, batches=8)
    for modulus in (2, 64, 1000):
        if modulus < np.sqrt(n * p * (1 - p)):
            counts = np.bincount(draws % modulus, minlength=modulus)
            assert stats.chisquare(counts).pvalue > TINY
    check_law(draws, n, float(np.float32(p)), cells=512)


def test_inverted_distribution_function_is_accurate():
    n, p = np.array([(1, 0.5), (2, 1e-9), (19, 0.5), (100, 0.0999), (2**31 - 1, 4.6e-9)]).T
    n, p = n.astype(np.int32), p.astype(np.float32)
    k = np.arange(1, _TERMS + 1)
    shape = (n.size, k.size)
    wide_n, wide_p = (jnp.broadcast_to(x[:, None], shape) for x in (n, p))
    invert = jax.jit(lambda high: _invert(jnp.stack([high, jnp.zeros_like(high)]), wide_n, wide_p))
    low, high = np.zeros(shape, np.int64), np.full(shape, 2**32)
    for _ in range(32):  # bisection: the number of first words for which the draw is at least k
        middle = (low + high) // 2
        above = np.asarray(invert(jnp.asarray(middle.astype(np.uint32)))) >= k
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    tails = stats.binom.sf(k - 1, n[:, None], p.astype(float)[:, None])
    np.testing.assert_allclose(high * 2.0**-32, tails, rtol=3e-6, atol=2.0**-31)


CENTRES = [
    (20, 0.5), (21, 0.49), (100, 0.1), (1000, 0.0101), (5_000, 0.5), (16_384, 0.5), (10**6, 1e-5),
    (10**6, 0.3), (2 * 10**7, 0.3), (2 * 10**9, 0.5), (2**31 - 1, 0.1), (2**31 - 1, 1e-8),
]  # fmt: skip


@pytest.mark.parametrize(("n", "p"), CENTRES)
def test_logarithm_of_the_acceptance_ratio(n, p):
    p32 = np.float32(p)
    sigma = np.sqrt(n * float(p32) * (1 - float(p32)))
    mode, shift = _mode(jnp.int32(n), jnp.float32(p))
    for width, tolerance in ((1, 2e-7), (3, 2e-6), (5, 5e-5)):
        delta = np.round(np.linspace(-width, width, 2001) * sigma).astype(np.int32)
        values = int(mode) + delta.astype(np.int64)
        inside = (values >= 0) & (values <= n)
        probabilities = stats.binom.pmf(values[inside], n, float(p32))
        expected = np.log(probabilities / stats.binom.pmf(int(mode), n, float(p32)))
        ratio = _log_ratio(jnp.int32(n), p32, mode, shift, jnp.asarray(delta[inside]))
        np.testing.assert_allclose(ratio, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("n", "p"), CENTRES)
def test_the_hat_dominates(n, p):
    rng = np.random.default_rng(0)
    first = np.linspace(0, 2**32 - 1, DRAWS).astype(np.uint32)
    second = rng.integers(2**32, size=DRAWS, dtype=np.uint32)
    shape = (DRAWS,)
    trials, chances = jnp.full(shape, n, jnp.int32), jnp.full(shape, p, jnp.float32)
    _, weight = jax.jit(_weigh)(jnp.asarray(np.stack([first, second])), trials, chances)
    assert weight.max() < 1
    assert weight.mean() > 0.69


def test_mode_is_exact():
    rng = np.random.default_rng(0)
    p = np.minimum(0.5, 10 ** rng.uniform(-8, -0.2, 2000)).astype(np.float32)
    n = rng.integers(1, 2**31, 2000)
    mode, shift = _mode(jnp.asarray(n, jnp.int32), jnp.asarray(p))
    for i in range(2000):
        mean = Fraction(int(n[i])) * Fraction(float(p[i]))
        assert int(mode[i]) == (mean + Fraction(float(p[i]))) // 1
        assert abs(float(mean - int(mode[i])) - float(shift[i])) < 1e-6


def test_degenerate_cases():
    n = np.array([0, 0, 0, 7, 7, 2**31 - 1, 2**31 - 1, 2**31 - 1, 1, 5], np.int32)
    p = np.array([0, 0.3, 1, 0, 1, 0, 1, 1e-38, 1e-45, 0], np.float32)
    expected = np.where(p == 1, n, 0)
    np.testing.assert_array_equal(binomial(jax.random.key(0), n, p), expected)


def test_every_ordinary_and_odd_pair_in_one_array():
    n = np.repeat([0, 1, 9, 20, 21, 40, 10**4, 2**24 + 1, 2**31 - 1], 12).reshape(9, 12)
    p = np.tile(
        [0, 1e-45, 1e-9, 4.7e-9, 1e-3, 0.25, 0.5, 0.50001, 0.75, 0.999, 1 - 6e-8, 1], (9, 1)
    )
    draws = np.asarray(binomial(jax.random.key(1), n, p), np.int64)
    assert np.all((draws >= 0) & (draws <= n))
    p = p.astype(np.float32).astype(float)
    assert np.all(np.abs(draws - n * p) <= 6 * np.sqrt(n * p * (1 - p)) + 2)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (9,), (2, 3, 5)])
def test_shapes(shape):
    key = jax.random.key(2)
    draws = jax.jit(binomial)(key, jnp.full(shape, 1000), 0.5)
    assert draws.shape == shape
    assert draws.dtype == jnp.int32


def test_shapes_broadcast():
    draws = jax.eval_shape(binomial, jax.random.key(2), jnp.full((4, 1), 50), jnp.full(6, 0.5))
    assert draws.shape == (4, 6)


def test_elements_are_independent():
    key = jax.random.key(3)
    lanes = jax.jit(jax.vmap(lambda k: binomial(k, jnp.full(16, 25), 0.5)))
    draws = np.asarray(lanes(jax.random.split(key, 20_000)), float)
    correlation = np.corrcoef(draws.T)[np.triu_indices(16, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
def test_vmap_over_keys_is_a_loop_over_keys(impl):
    keys = jax.random.split(jax.random.key(4, impl=impl), 20)
    rng = np.random.default_rng(0)
    n = rng.choice(np.array([0, 3, 50, 10**6, 2**31 - 1], np.int32), (20, 4, 4))
    n[:5] = 0  # lanes that have nothing, or only small or large elements, to draw
    n[5:8] = np.minimum(n[5:8], 3)
    n[8:11] = np.maximum(n[8:11], 50)
    p = rng.uniform(0.2, 0.8, (4, 4)).astype(np.float32)
    together = jax.jit(jax.vmap(binomial, (0, 0, None)))(keys, n, p)
    single = jax.jit(binomial)
    for i in range(20):
        np.testing.assert_array_equal(together[i], single(keys[i], n[i], p))
        np.testing.assert_array_equal(single(keys[i], n[i], p), single(keys[i], n[i], p))


def test_vmaps_over_single_arguments_are_loops_over_these():
    keys, n = jax.random.split(jax.random.key(4), 3), jnp.array([0, 3, 50, 10**6, 2**31 - 1])
    p = jnp.array([[0.2], [0.5]])
    of_keys = jax.vmap(binomial, (0, None, None))
    together = jax.jit(jax.vmap(of_keys, (None, None, 0)))(keys, n, p)
    single = jax.jit(binomial)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[i, j], single(keys[j], n, p[i]))


def test_philox_keys_have_the_same_law():
    keys = jax.random.split(jax.random.key(5, impl="philox4x32"), 2)
    for key, (n, p) in zip(keys, [(7, 0.3), (2 * 10**9, 0.3)], strict=True):
        draws = np.asarray(sample(key, np.int32(n), np.float32(p)))
        check_law(draws, n, float(np.float32(p)))


def test_x64_changes_nothing():
    n = np.tile(np.array([0, 5, 60, 10**6, 2**31 - 1], np.int32), 20)
    p = np.linspace(0, 1, 100).astype(np.float32)
    expected = jax.jit(binomial)(jax.random.key(6), n, p)
    with jax.enable_x64(True):
        draws = jax.jit(binomial)(jax.random.key(6), n.astype(np.int64), p.astype(float))
        assert draws.dtype == jnp.int32
        np.testing.assert_array_equal(draws, expected)
        keys = jax.random.split(jax.random.key(6), 3)
        lanes = jax.eval_shape(jax.vmap(binomial, (0, None, None)), keys, n, p)
        assert lanes.dtype == jnp.int32


def test_usable_inside_scan():
    def step(total, key):
        draws = binomial(key, total, 0.5)
        return draws, draws

    start = jnp.full((3, 3), 2**31 - 1, jnp.int32)
    _, draws = jax.lax.scan(step, start, jax.random.split(jax.random.key(7), 40))
    assert np.all(np.diff(np.asarray(draws, np.int64), axis=0) <= 0)
    assert np.all(draws[-1] == 0)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_pairs_share_their_comparisons(platform):
    """The upper triangle holds the draws, the lower one what they leave; the rest is not read."""
    n = jnp.arange(36, dtype=jnp.int32).reshape(6, 6) * 100
    p = jnp.full((6, 6), 0.3)
    keys = jax.random.split(jax.random.key(0), 50)
    draws = np.asarray(jax.vmap(lambda key: binomial(key, n, p))(keys))
    with tracing_for(platform):
        wins = np.asarray(jax.jit(jax.vmap(lambda key: wins_of_pairs(key, n, p)))(keys))
    upper = np.broadcast_to(np.triu(np.asarray(n), 1), wins.shape)
    np.testing.assert_array_equal(wins + wins.swapaxes(1, 2), upper + upper.swapaxes(1, 2))
    np.testing.assert_array_equal(np.triu(wins, 1), np.triu(draws, 1))
