"""Draws for marked entries: the law, and that lanes do not notice each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from jaxduel.numerics import marked as marked_queue
from jaxduel.numerics.masked_beta import logits_above_half
from jaxduel.numerics.target import tracing_for
from jaxduel.numerics.threefry import KeyWords

pytestmark = pytest.mark.thorough


def _case(lanes, entries, seed=0):
    rng = np.random.default_rng(seed)
    marked = rng.random((lanes, entries)) < rng.choice([0.0, 0.1, 0.9], size=(lanes, 1))
    wins = rng.integers(0, 50, (lanes, entries))
    losses = rng.integers(0, 50, (lanes, entries))
    data = jax.random.key_data(jax.random.split(jax.random.key(seed), lanes))
    return (
        KeyWords(data[:, 0], data[:, 1]),
        jnp.asarray(marked),
        jnp.asarray(wins, jnp.int32),
        jnp.asarray(losses, jnp.int32),
    )


def _draw(seed, marked, wins, losses):
    return logits_above_half(seed, 9, marked, wins, losses)


_draw_lanes = jax.jit(jax.vmap(_draw))


def _part(case, index):
    return jax.tree.map(lambda x: x[index], case)


def test_only_marked_entries_are_drawn():
    case = _case(40, 7)
    y = np.asarray(_draw_lanes(*case))
    assert (y[~case[1]] == 0).all()
    assert (y[case[1]] > 0).all()
    nothing = _draw_lanes(case[0], jnp.zeros_like(case[1]), *case[2:])
    assert (nothing == 0).all()


@pytest.mark.parametrize("entries", [5, pytest.param(40, marks=pytest.mark.slow)])
def test_a_lane_draws_the_same_alone_among_others_and_nested(entries):
    case = _case(48, entries)
    together = np.asarray(_draw_lanes(*case))
    half = _draw_lanes(*_part(case, slice(24, None)))
    np.testing.assert_allclose(half, together[24:], rtol=1e-6)
    alone = jax.jit(_draw)(*_part(case, 3))
    np.testing.assert_allclose(alone, together[3], rtol=1e-6)
    grid = jax.tree.map(lambda x: x.reshape(6, 8, *x.shape[1:]), case)
    nested = jax.jit(jax.vmap(jax.vmap(_draw)))(*grid)
    np.testing.assert_allclose(nested.reshape(48, entries), together, rtol=1e-6)
    shared = jax.jit(jax.vmap(_draw, in_axes=(0, None, None, None)))
    shared = shared(case[0], *_part(case[1:], 3))
    np.testing.assert_allclose(shared[3], together[3], rtol=1e-6)


@pytest.mark.parametrize("entries", [5, 40])
def test_an_accelerator_draws_the_same(entries):
    case = _case(48, entries)
    with tracing_for("gpu"):
        there = jax.jit(jax.vmap(lambda *c: _draw(*c)))(*case)
    np.testing.assert_allclose(there, _draw_lanes(*case), rtol=1e-6)


@pytest.mark.parametrize("most", [100, 7 * 47])
def test_lanes_in_several_queues_draw_the_same(monkeypatch, most):
    case = _case(48, 7)
    whole = _draw_lanes(*case)
    monkeypatch.setattr(marked_queue, "_MOST_ENTRIES", most)
    marked_queue._queue.cache_clear()
    parts = jax.jit(jax.vmap(lambda *c: _draw(*c)))(*case)
    marked_queue._queue.cache_clear()
    np.testing.assert_allclose(parts, whole, rtol=1e-6)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize("lanes", [2**18, 2**19, 2**19 + 1, 2**20])
def test_places_in_queues_fit_32_bits(lanes, platform):
    """dts+ on 64 arms has 4,096 entries a lane: at 2^19 lanes they are as many as int32 counts."""
    entries = 64 * 64
    words = jax.ShapeDtypeStruct((lanes,), jnp.uint32)
    counts = jax.ShapeDtypeStruct((lanes, entries), jnp.int32)
    mask = jax.ShapeDtypeStruct(counts.shape, bool)
    with tracing_for(platform):
        drawn = jax.vmap(lambda *c: _draw(*c))
        jaxpr = jax.make_jaxpr(drawn)(KeyWords(words, words), mask, counts, counts)
    assert jaxpr.out_avals[0].shape == counts.shape
    queues = _drawn_of_queues(jaxpr.jaxpr)
    assert sum(queues) == lanes * entries
    for size in queues:
        slots = marked_queue._slots(size // entries, entries, marked_queue.MANY_SLOTS)
        assert size + (slots if platform == "cpu" else size // entries) < 2**31


def _drawn_of_queues(jaxpr):
    """The sizes of the arrays that the loops of a program fill."""
    sizes = []
    for equation in jaxpr.eqns:
        if equation.primitive.name == "while":
            sizes.append(max(x.aval.size for x in equation.outvars))
        else:
            inner = [x for x in equation.params.values() if hasattr(x, "jaxpr")]
            sizes += [size for x in inner for size in _drawn_of_queues(x.jaxpr)]
    return sizes


def test_a_reading_is_returned_instead():
    case = _case(20, 6)
    plain = _draw_lanes(*case)
    read = jax.vmap(lambda *c: logits_above_half(c[0], 9, *c[1:], jnp.negative))
    read = jax.jit(read)(*case)
    assert np.array_equal(read, -plain)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 9), (60, 40), (900, 1000)])
def test_the_law_is_that_of_beta_beyond_one_half(wins, losses):
    lanes, entries = 5000, 16
    seed = _case(lanes, 1)[0]
    full = (lanes, entries)
    y = _draw_lanes(seed, jnp.ones(full, bool), jnp.full(full, wins), jnp.full(full, losses))
    beta = stats.beta(wins + 1, losses + 1)
    below = beta.cdf(0.5)

    def cdf(y):
        return (beta.cdf(special.expit(y)) - below) / (1 - below)

    assert stats.kstest(np.asarray(y, float).ravel(), cdf).pvalue > 6e-5
