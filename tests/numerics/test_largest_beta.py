"""The index of the largest of Beta numbers: its law, its parts, and lanes beside each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from jaxduel.numerics.beta_hat import hat_of
from jaxduel.numerics.largest_beta import bound_beyond, largest_of_two, propose_beyond
from jaxduel.numerics.target import tracing_for
from jaxduel.numerics.threefry import KeyWords
from tests.best_of_posterior import TINY, assert_found, best_of

pytestmark = pytest.mark.thorough

DRAWS = 2**18
GRID = [1, 2, 3, 10, 100, 1_000, 10**5, 10**7]
COUNTS = [
    ([0, 0], [0, 0]),
    ([3, 9, 0], [4, 8, 2]),
    ([5, 0, 0, 700], [0, 0, 40, 900]),
    ([40, 30, 20, 10, 35], [20, 30, 40, 10, 15]),
    ([1000, 1010, 990, 400], [900, 900, 910, 390]),
    ([10**6, 10**6 - 900, 3], [10**6, 10**6, 2]),
]


def seeds(number, key=0):
    data = jax.random.key_data(jax.random.split(jax.random.key(key), number))
    return KeyWords(data[:, 0], data[:, 1])


@jax.jit
def largest(seed, wins, losses, among):
    return jax.vmap(largest_of_two, (0, None, None, None))(seed, wins, losses, among)


@pytest.mark.parametrize(("wins", "losses"), COUNTS)
def test_an_index_is_found_as_often_as_its_number_is_the_largest(wins, losses):
    """In both samples, and independently in them; never outside the set."""
    p = best_of(wins, losses)
    wins, losses = (jnp.asarray([*x, 10**6], jnp.int32) for x in (wins, losses))
    among = jnp.arange(len(wins)) < len(p)
    assert_found(*largest(seeds(DRAWS), wins, losses, among), p)


def cases():
    """a, b and floors from far below the mode to 7 standard deviations above it; float64."""
    a, b = (x.ravel() for x in np.meshgrid(GRID, GRID))
    z = np.concatenate([[-3, -0.5, -1e-3], np.logspace(-3, np.log10(7), 40)])[:, None]
    return a, b, np.log(a / b) + z * np.minimum(np.sqrt((a + b) / (a * b)), 2)


def test_the_bound_holds():
    """Up to float32: four roundings of n theta or n (1 - theta) are an error of n d."""
    a, b, floor = cases()
    floor = floor.astype(np.float32).astype(float)
    found = np.asarray(jax.jit(bound_beyond)(*(jnp.asarray(x, jnp.float32) for x in (a, b, floor))))
    theta, rest, n = special.expit(floor), special.expit(-floor), a + b
    truth = special.betainc(b, a, rest)
    distance = np.maximum(theta - a / n, 0)
    error = 2.0**-22 * n * np.minimum(theta, rest)
    slope = distance / np.minimum(theta * rest, a * b / n**2)  # of the exponent, by n d
    assert ((found >= truth * (1 - error * slope - 1e-5)) | (truth < 1e-30)).all()
    assert (found <= 1).all()


def test_the_hat_is_smaller_than_the_exponential_of_the_bound():
    a, b, floor = cases()
    theta, rest, n = special.expit(floor), special.expit(-floor), a + b
    fall = np.where(floor > 0, b - n * rest, n * theta - a)
    shape = [jnp.asarray(x, jnp.float32) for x in (n * theta, n * rest, np.maximum(fall, 0))]
    hat = jax.jit(hat_of)(*shape)
    area = np.asarray(hat.right, float) + 1 / np.asarray(hat.right_slope, float)
    assert (area * fall <= 1 + 1e-6).all()


@pytest.mark.parametrize(
    ("a", "b", "z"),
    [(1, 1, 0.1), (1, 1, 2), (2, 1, 0.5), (1, 40, 0.7), (40, 1, 1.5), (60, 40, 0.01),
     (100, 60, 3), (60, 100, 2), (1_000, 10, 1), (10**5, 101_000, 2.5), (2 * 10**6, 10**6, 1)],
)  # fmt: skip
def test_what_is_proposed_above_the_floor_has_the_law_of_beta(a, b, z):
    floor = np.float32(np.log(a / b) + z * min(np.sqrt((a + b) / (a * b)), 2))
    words = jax.random.bits(jax.random.key(3), (2, DRAWS))
    given = jnp.int32(a - 1), jnp.int32(b - 1), floor
    y, is_last = jax.jit(propose_beyond)(words, *(jnp.full(DRAWS, x) for x in given))
    assert is_last.all()
    y = np.asarray(y, float)
    y = y[np.isfinite(y)]
    beyond = special.betainc(b, a, special.expit(-float(floor)))
    bound = float(bound_beyond(jnp.float32(a), jnp.float32(b), jnp.float32(floor)))
    share = beyond / bound
    error = np.sqrt(share * (1 - share) / DRAWS)
    assert len(y) / DRAWS == pytest.approx(share, abs=4 * error)
    u = special.betainc(b, a, special.expit(-y)) / beyond
    assert stats.kstest(u, "uniform").pvalue > TINY


def test_lanes_do_not_notice_each_other_and_an_accelerator_finds_the_same():
    rng = np.random.default_rng(0)
    wins, losses = (jnp.asarray(rng.integers(0, 30, (64, 20)), jnp.int32) for _ in range(2))
    among = jnp.asarray(rng.random((64, 20)) < 0.7).at[:, 0].set(True)
    case = seeds(64, 5), wins, losses, among
    together = np.asarray(jax.jit(jax.vmap(largest_of_two))(*case))
    few = jax.tree.map(lambda x: x[7:19], case)
    alone = np.asarray(jax.jit(jax.vmap(largest_of_two))(*few))
    assert np.array_equal(alone, together[:, 7:19])
    assert np.array_equal(
        jax.jit(largest_of_two)(*jax.tree.map(lambda x: x[3], case)), together[:, 3]
    )
    with tracing_for("gpu"):
        there = jax.jit(jax.vmap(lambda *c: largest_of_two(*c)))(*case)
    assert np.array_equal(there, together)
    assert np.take_along_axis(np.asarray(among), together.T, axis=1).all()
