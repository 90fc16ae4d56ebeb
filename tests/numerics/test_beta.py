"""The laws of the Beta samplers, and the hat that they draw from."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from jaxduel.numerics import marked as marked_queue
from jaxduel.numerics.beta import beta, logit_above_half, logits_above_half, propose_logit
from jaxduel.numerics.beta_hat import (
    Hat,
    counts_of,
    hat_of,
    log_ratio,
    reference_of,
    weigh,
    weigh_above_half,
)
from jaxduel.numerics.target import tracing_for
from jaxduel.numerics.threefry import KeyWords

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
