"""`where_marked`; the draws of the queue are tested with `masked_beta` and `largest_beta`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.marked import draw_marked, where_marked
from jaxduel.numerics.target import tracing_for
from jaxduel.numerics.threefry import KeyWords


def _product(x, y):
    return x * y.astype(jnp.float32)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize("lanes", [1, 150])
def test_marked_entries_get_the_work_and_others_keep_their_values(lanes, platform):
    """Lanes with none, with some and, the last, with all of 5 x 7 entries marked."""
    rng = np.random.default_rng(lanes)
    shape = lanes, 5, 7
    marked = rng.random(shape) < rng.integers(0, 3, (lanes, 1, 1)) / 8
    marked[-1] = True
    values, x = rng.random((2, *shape)).astype(np.float32)
    y = rng.integers(0, 2**20, shape).astype(np.int32)
    expected = np.where(marked, x * y.astype(np.float32), values)
    with tracing_for(platform):
        of_all = jax.jit(jax.vmap(lambda *lane: where_marked(_product, *lane)))
        np.testing.assert_array_equal(of_all(marked, values, x, y), expected)
        alone = jax.jit(lambda *lane: where_marked(_product, *lane))
        last = alone(*(a[-1] for a in (marked, values, x, y)))
    np.testing.assert_array_equal(last, expected[-1])


def _lead(wins, losses):
    return (wins - losses).astype(jnp.float32)


def _opposite(lead, *_):
    return -lead


@pytest.mark.parametrize("num_arms", [6, 20, 40])
@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_pairs_read_and_write_across_the_diagonal(platform, num_arms):
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 100, (40, num_arms, num_arms)).astype(np.int32)
    marked = np.triu(rng.random(wins.shape) < 0.4, 1)
    nothing = np.zeros(wins.shape, np.float32)
    with tracing_for(platform):
        of_all = jax.jit(jax.vmap(lambda *lane: where_marked(_lead, *lane, across=_opposite)))
        found = of_all(marked, nothing, wins)
    both = marked | marked.swapaxes(1, 2)
    np.testing.assert_array_equal(found, np.where(both, wins - wins.swapaxes(1, 2), 0))


def _first_even(words, offset):
    number = (words[0] >> 8).astype(jnp.int32)
    return offset + number, number % 2 == 0


@pytest.mark.thorough
@pytest.mark.parametrize("share", ["one a row", "all"])
def test_numbers_depend_on_neither_queue_nor_target(share):
    """One entry in each row is one in each word: a window of the queue ends within the next."""
    marked = np.zeros((300, 3, 4), bool)
    marked[..., 1 if share == "one a row" else slice(None)] = True
    first = np.arange(300, dtype=np.uint32)
    offset = np.full(marked.shape, 7, np.int32)

    def draw(first, marked, offset):
        seed = KeyWords(first, jnp.uint32(5))
        return draw_marked(_first_even, 2, seed, marked, jnp.full(marked.shape, -3), offset)

    found = {}
    for platform in ("cpu", "gpu"):
        with tracing_for(platform):
            found[platform] = np.asarray(jax.jit(jax.vmap(draw))(first, marked, offset))
    alone = np.stack([jax.jit(draw)(*(x[i] for x in (first, marked, offset))) for i in range(3)])
    np.testing.assert_array_equal(found["cpu"], found["gpu"])
    np.testing.assert_array_equal(found["cpu"][:3], alone)
    assert ((found["cpu"] == -3) == ~marked).all()
    assert (found["cpu"][marked] % 2 == 1).all()
