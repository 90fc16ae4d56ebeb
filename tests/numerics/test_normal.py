"""Standard normal draws: the transform of given bits, and the law, far tails included."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxduel.numerics import normal
from jaxduel.numerics.normal import normal_from_bits

DRAWS = 2**20
TINY = 6e-5  # p-value below which a test with fixed keys fails: four standard errors
WORD = 2**32
END = 7.4466
"""The largest draw there is."""

transformed = jax.jit(normal_from_bits)


def exact(first, second):
    """What the bits stand for, in float64."""
    radius = (first.astype(np.int64) >> 1) * 256 + (second & 0xFF)
    near, far = (radius + 0.5) * 2.0**-39, (2**39 - 1 - radius + 0.5) * 2.0**-39
    exponential = np.where(near < 0.5, -np.log(near), -np.log1p(-far))
    angle = second.view(np.int32) >> 8
    return np.sqrt(2 * exponential) * np.sin(np.pi * (angle + 0.5) * 2.0**-24)


def all_scales(rng, size):
    """Words, half of them close to one of the ends: (size,) uint32."""
    words = rng.integers(0, WORD, size, dtype=np.uint32)
    words = np.where(rng.random(size) < 0.5, words, words >> rng.integers(0, 32, size))
    return np.where(rng.random(size) < 0.5, words, ~words.astype(np.uint32)).astype(np.uint32)


@pytest.fixture(scope="module")
def draws():
    """(2^20,) float64, from one key."""
    return np.asarray(normal(jax.random.key(0), (DRAWS,)), np.float64)


def test_the_transform_is_right_to_rounding():
    rng = np.random.default_rng(0)
    first, second = all_scales(rng, 500_000), all_scales(rng, 500_000)
    second = np.where(rng.random(second.size) < 0.5, second, (second << 8) | (second >> 24))
    got = np.asarray(transformed(first, second.astype(np.uint32)), np.float64)
    expected = exact(first, second.astype(np.uint32))
    assert (np.abs(got - expected) <= 5e-7 * np.abs(expected)).all()


def test_the_transform_at_the_ends():
    low, high = 0, WORD - 1
    quarter = 0x7FFFFF00  # the largest angle, and the radius nearest to 0 or to the end
    first = np.array([low, low, low, high, high, high], np.uint32)
    second = np.array([quarter, ~quarter & 0xFFFFFF00, low, quarter | 255, low, 255], np.uint32)
    got = np.asarray(transformed(first, second), np.float64)
    assert np.allclose(got, exact(first, second), rtol=5e-7, atol=0)
    end = np.sqrt(2 * 40 * np.log(2))
    assert np.allclose(got[:2], [end, -end], rtol=1e-6)
    assert got[:2].max() < END
    assert got[2] > 0  # an angle next to 0
    assert 0 < got[3] < 2e-6  # a radius next to 0
    assert np.isfinite(got).all()


def test_the_other_sign_is_equally_likely():
    """The angles c and -1 - c are the two sides, with the same radius."""
    rng = np.random.default_rng(1)
    first, second = (rng.integers(0, WORD, 500_000, dtype=np.uint32) for _ in range(2))
    turned = second ^ np.uint32(0xFFFFFF00)
    assert np.array_equal(transformed(first, turned), -np.asarray(transformed(first, second)))


@pytest.mark.parametrize(("level", "zeros"), [(3, 6), (4, 11), (5, 18), (6, 25), (6.5, 30)])
def test_the_transforms_tail_given_the_bits_that_reach_it(level, zeros):
    """|z| > level needs u < exp(-level^2 / 2): the first word begins with as many zeros."""
    assert 2.0**-zeros >= np.exp(-(level**2) / 2)
    rng = np.random.default_rng(int(10 * level))
    size = 500_000
    first, second = (rng.integers(0, WORD, size, dtype=np.uint32) for _ in range(2))
    z = np.abs(np.asarray(transformed(first >> np.uint32(zeros), second)))
    chance = 2 * stats.norm.sf(level) * 2.0**zeros
    assert chance > 0.05
    assert abs(np.mean(z > level) - chance) <= 4 * np.sqrt(chance * (1 - chance) / size)


def test_moments(draws):
    for power, mean in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        variance = stats.norm.moment(2 * power) - mean**2
        assert abs(np.mean(draws**power) - mean) <= 4 * np.sqrt(variance / DRAWS), power


def test_law(draws):
    assert stats.kstest(draws, "norm").pvalue > TINY
    assert stats.cramervonmises(draws, "norm").pvalue > TINY
    cells = np.bincount((stats.norm.cdf(draws) * 4096).astype(int), minlength=4096)
    assert stats.chisquare(cells).pvalue > TINY


def test_a_slightly_wrong_law_is_noticed(draws):
    assert stats.kstest(draws * 1.02, "norm").pvalue < TINY
    assert stats.kstest(draws + 0.01, "norm").pvalue < TINY


@pytest.mark.thorough
def test_tail_frequencies():
    """Of 2^26 draws, beyond 2, 3, 4 and 5 on both sides."""
    levels, batches = np.array([2.0, 3.0, 4.0, 5.0], np.float32), 32

    @jax.jit
    def count(keys):
        def one(key):
            z = normal(key, (2**21,))
            return jnp.stack([jnp.sum(jnp.abs(z) > x, dtype=jnp.int32) for x in levels])

        return jax.lax.map(one, keys)

    counts = np.asarray(count(jax.random.split(jax.random.key(1), batches)), np.int64).sum(axis=0)
    size = batches * 2**21
    chance = 2 * stats.norm.sf(levels.astype(np.float64))
    assert (np.abs(counts / size - chance) <= 4 * np.sqrt(chance / size)).all()


def test_neighbours_are_independent(draws):
    keys = jax.random.split(jax.random.key(2), 2**17)
    several = np.asarray(jax.vmap(partial(normal, shape=(4,)))(keys), np.float64)
    for x in (several, several**2):
        assert np.abs(np.corrcoef(x.T) - np.eye(4)).max() < 4.5 / np.sqrt(len(keys))
        assert abs(np.corrcoef(x[:-1, 0], x[1:, 0])[0, 1]) < 4.5 / np.sqrt(len(keys))
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4.5 / np.sqrt(DRAWS)


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
def test_the_same_bits_under_vmap_jit_and_x64(impl):
    keys = jax.random.split(jax.random.key(3, impl=impl), 37)
    wide = np.asarray(jax.jit(jax.vmap(partial(normal, shape=(5, 3))))(keys))
    alone = np.stack([normal(key, (5, 3)) for key in keys])
    assert np.array_equal(wide, alone)
    single = np.asarray(jax.vmap(normal)(keys))
    assert single.shape == (37,)
    assert np.array_equal(single, alone[:, 0, 0])
    assert len(np.unique(alone)) == alone.size
    with jax.enable_x64(True):
        z = normal(keys[0], (5, 3))
        assert z.dtype == jnp.float32
        assert np.array_equal(z, alone[0])


def test_no_draws():
    assert normal(jax.random.key(0), (0, 3)).shape == (0, 3)
