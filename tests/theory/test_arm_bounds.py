import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

import jaxduel as jd
from jaxduel.errors import InputError
from tests.theory.batched_arms import PLAYERS, regret_of

HORIZONS = np.geomspace(1e3, 1e9, 7)


def exponent(values):
    """The slope of log value in log T over `HORIZONS`."""
    return np.polyfit(np.log(HORIZONS), np.log(values), 1)[0]


def minimax_grid(horizon, batches):
    return horizon ** ((2 - 2.0 ** -np.arange(batches)) / (2 - 2.0 ** (1 - batches)))


def geometric_grid(horizon, batches):
    return horizon ** (np.arange(1, batches + 1) / batches)


def arithmetic_grid(horizon, batches):
    return horizon * np.arange(1, batches + 1) / batches


@st.composite
def grids(draw):
    times = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=6, unique=True))
    return sorted(times)


def test_the_rates():
    assert jd.theory.base_minimax_rate(9, 10**7, 3) == pytest.approx(3 * 1e4)
    assert jd.theory.base_minimax_rate(9, 10**7, 3, logarithms=True) == pytest.approx(
        3e4 * math.log(9) * math.sqrt(math.log(9e7))
    )
    assert jd.theory.base_minimax_rate(4, 1000, 1) == pytest.approx(2 * 1000)
    assert jd.theory.base_minimax_rate(4, 10_000, 10_000) == pytest.approx(2 * 100)
    assert jd.theory.base_problem_dependent_rate(9, 1000, 3, 0.5) == pytest.approx(180)
    assert jd.theory.base_problem_dependent_rate(9, 1000, 3, 0.5, logarithms=True) == pytest.approx(
        180 * math.log(9) * math.log(9000)
    )
    assert jd.theory.static_grid_minimax_rate(9, 10**7, 3) == pytest.approx(3e4)
    assert jd.theory.static_grid_problem_dependent_rate(9, 1000, 3) == pytest.approx(90)
    assert jd.theory.adaptive_grid_minimax_rate(9, 10**7, 3) == pytest.approx(3e4 / 9)
    assert jd.theory.adaptive_grid_problem_dependent_rate(9, 1000, 3) == pytest.approx(10)


def test_rates_fall_with_the_number_of_batches_down_to_those_of_one_pull_at_a_time():
    for rate in (
        jd.theory.static_grid_minimax_rate,
        jd.theory.static_grid_problem_dependent_rate,
        lambda *at: jd.theory.base_problem_dependent_rate(*at, 0.1),
    ):
        values = [rate(5, 10_000, batches) for batches in (*range(1, 30), 10_000)]
        assert np.all(np.diff(values) < 0)
    assert jd.theory.static_grid_minimax_rate(5, 10_000, 10_000) == math.sqrt(5e4)
    assert jd.theory.static_grid_problem_dependent_rate(5, 10**4, 10**4) == pytest.approx(5, 1e-3)


def test_lemma_2():
    value = jd.theory.static_grid_lower_bound([10, 40, 100], 3, 0.2)
    terms = 10 + 30 * math.exp(-2 * 10 * 0.04 / 2) + 60 * math.exp(-2 * 40 * 0.04 / 2)
    assert value == pytest.approx(0.2 / 4 * terms, rel=1e-14)
    assert isinstance(value, float)
    assert jd.theory.static_grid_lower_bound([10, 10, 40, 100], 3, 0.2) == value
    gaps = np.geomspace(1e-3, math.sqrt(3), 6).reshape(2, 3)
    several = jd.theory.static_grid_lower_bound([10, 40, 100], 3, gaps)
    one_by_one = [jd.theory.static_grid_lower_bound([10, 40, 100], 3, gap) for gap in gaps.flat]
    np.testing.assert_allclose(several, np.reshape(one_by_one, (2, 3)), rtol=1e-14)


def test_lemma_2_at_its_limits():
    assert jd.theory.static_grid_lower_bound([1000], 4, 1.7) == pytest.approx(1.7 * 250)
    small = jd.theory.static_grid_lower_bound([10, 100, 1000], 4, 1e-6)
    assert small == pytest.approx(1e-6 * 250, rel=1e-6)
    one_at_a_time = jd.theory.static_grid_lower_bound(np.arange(1, 10**6 + 1), 4, 0.02)
    assert one_at_a_time == pytest.approx(3 / (8 * 0.02), rel=1e-3)


@settings(deadline=None, max_examples=200)
@given(grids(), st.integers(2, 20), st.floats(0.001, 1), st.integers(1, 10**6))
def test_one_more_batch_lowers_lemma_2(times, num_arms, share, extra):
    gap = share * math.sqrt(num_arms)
    finer = sorted({*times, min(extra, times[-1])})
    fine = jd.theory.static_grid_lower_bound(finer, num_arms, gap)
    coarse = jd.theory.static_grid_lower_bound(times, num_arms, gap)
    assert fine <= coarse * (1 + 1e-12)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 10**6), st.integers(1, 10**9), st.floats(1e-4, math.sqrt(2)))
def test_two_arms_and_batches_cannot_do_better_than_is_possible(first, more, gap):
    """Arm 0 has the mean gap, arm 1 has 0 or 2 gap. All pulls of batch 1 cost gap / 2 on average;
    pulls of arm 1 tell most, and their mean decides on the arm of batch 2."""
    best = gap * (first / 2 + more * norm.cdf(-math.sqrt(first) * gap))
    assert jd.theory.static_grid_lower_bound([first, first + more], 2, gap) <= best


@pytest.mark.parametrize("first", [1, 100, 10_000])
def test_the_bound_for_two_arms_is_within_a_factor_of_what_is_possible(first):
    """At gap sqrt(first) = 1/2, where the bound is largest, its terms lose factors of 2 and of
    Phi(-1/2) / (exp(-1/2) / 4) = 2.035."""
    gap, more = 0.5 / math.sqrt(first), 1000 * first
    best = gap * (first / 2 + more * norm.cdf(-0.5))
    bound = jd.theory.static_grid_lower_bound([first, first + more], 2, gap)
    assert 2.0 < best / bound < 2.04


@pytest.mark.parametrize("times", [(40, 1000), (30, 200, 1000), (100, 200, 300, 400, 1000)])
@pytest.mark.parametrize("num_arms", [2, 5])
def test_no_policy_is_below_lemma_2(times, num_arms):
    """The mean regret over P_1..P_K of policies that explore, eliminate, are greedy, or know the
    family."""
    rng = np.random.default_rng(1)
    for gap in (0.05, 0.15, 0.5):
        family = jd.problems.static_grid_family(num_arms, gap)
        bound = jd.theory.static_grid_lower_bound(times, num_arms, gap)
        for player in PLAYERS:
            regrets = np.mean(
                [regret_of(player, problem, times, gap, 4000, rng) for problem in family], axis=0
            )
            sem = regrets.std() / math.sqrt(len(regrets))
            assert regrets.mean() - 4 * sem > bound, (player.__name__, gap)


@pytest.mark.parametrize("batches", [1, 2, 3, 5])
@pytest.mark.parametrize("num_arms", [2, 16])
def test_exponents_of_the_lower_bounds_on_three_grids(batches, num_arms):
    def worst(grid):
        return exponent(
            [jd.theory.static_minimax_lower_bound(grid(t, batches), num_arms) for t in HORIZONS]
        )

    rate = [jd.theory.static_grid_minimax_rate(num_arms, int(t), batches) for t in HORIZONS]
    expected = 1 / (2 - 2.0 ** (1 - batches))
    assert exponent(rate) == pytest.approx(expected, abs=1e-9)
    assert worst(minimax_grid) == pytest.approx(expected, abs=0.01)
    assert worst(geometric_grid) == pytest.approx(max(1, batches + 1) / (2 * batches), abs=0.03)
    assert worst(arithmetic_grid) == pytest.approx(1, abs=0.01)
    scaled = exponent(
        [
            jd.theory.static_problem_dependent_lower_bound(geometric_grid(t, batches), num_arms)
            for t in HORIZONS
        ]
    )
    assert scaled == pytest.approx(1 / batches, abs=0.03)


def best_grid(horizon, batches):
    """The least over all grids of the regret on the worst instance, by Lemma 2."""

    def worst(shares):
        times = np.sort(np.append(np.clip(shares, 0, 1), 1))
        return math.log(jd.theory.static_minimax_lower_bound(horizon**times, 4))

    start = np.log(minimax_grid(horizon, batches)[:-1]) / math.log(horizon)
    found = minimize(worst, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    return math.exp(found.fun)


@pytest.mark.parametrize("batches", [2, 3])
def test_the_best_static_grid_is_as_good_as_the_minimax_grid_and_no_better(batches):
    """Theorem 2: whatever the grid, the exponent is that of the minimax grid."""
    horizons = np.array([1e3, 1e6, 1e9])
    best = np.array([best_grid(horizon, batches) for horizon in horizons])
    slope = np.polyfit(np.log(horizons), np.log(best), 1)[0]
    assert slope == pytest.approx(1 / (2 - 2.0 ** (1 - batches)), abs=0.01)
    minimax = [
        jd.theory.static_minimax_lower_bound(minimax_grid(horizon, batches), 4)
        for horizon in horizons
    ]
    assert np.all(best <= minimax)
    assert np.all(best > 0.3 * np.array(minimax))


@settings(deadline=None, max_examples=30)
@given(grids(), st.integers(2, 20), st.sampled_from([None, 1.0, 0.01]))
def test_the_worst_gap_is_found(times, num_arms, largest):
    end = math.sqrt(num_arms) if largest is None else largest
    gaps = np.geomspace(1e-5, end, 20_000)
    values = jd.theory.static_grid_lower_bound(times, num_arms, np.minimum(gaps, end))
    found = jd.theory.static_minimax_lower_bound(times, num_arms, largest)
    assert found == pytest.approx(values.max(), rel=2e-4)
    found = jd.theory.static_problem_dependent_lower_bound(times, num_arms, largest)
    assert found == pytest.approx((gaps * values).max(), rel=2e-4)


def test_the_worst_gap_of_one_batch_is_the_largest():
    assert jd.theory.static_minimax_lower_bound([400], 9) == pytest.approx(300)
    assert jd.theory.static_minimax_lower_bound([400], 9, 0.5) == pytest.approx(50)
    assert jd.theory.static_problem_dependent_lower_bound([400], 9) == pytest.approx(900)


def test_gradients_in_the_gap():
    times = jd.policies.arms.grids.grid_times("minimax", 50_000, 4)
    slope = jax.jit(jax.grad(lambda gap: jd.theory.static_grid_lower_bound(times, 5, gap)))
    for gap in (0.01, 0.1, 0.5):
        step = 1e-6 * gap
        above, below = (
            jd.theory.static_grid_lower_bound(times, 5, gap + sign * step) for sign in (1, -1)
        )
        found = slope(jnp.float32(gap))
        assert found.dtype == jnp.float32
        scale = float(jd.theory.static_grid_lower_bound(times, 5, gap)) / gap
        assert float(found) == pytest.approx((above - below) / (2 * step), abs=2e-5 * scale)
    of_rate = jax.grad(lambda gap: jd.theory.base_problem_dependent_rate(4, 1000, 3, gap))
    assert float(of_rate(jnp.float32(0.5))) == pytest.approx(-160, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jd.theory.base_minimax_rate(1, 10, 2), "at least 2 arms, not 1"),
        (lambda: jd.theory.base_minimax_rate(2.5, 10, 2), "whole number of at least 2 arms"),
        (lambda: jd.theory.base_minimax_rate(2, math.nan, 2), "horizon must be a whole number"),
        (lambda: jd.theory.base_minimax_rate(2, 10, 1.5), "batches must be a whole number"),
        (lambda: jd.theory.base_minimax_rate(2, 10, 0), "0 batches for T = 10.*1 <= M <= T"),
        (lambda: jd.theory.adaptive_grid_minimax_rate(2, 10, 11), "1 <= M <= T"),
        (lambda: jd.theory.static_grid_problem_dependent_rate(2, 10, 11), "1 <= M <= T"),
        (lambda: jd.theory.base_problem_dependent_rate(2, 10, 2, 0.0), "positive and finite"),
        (lambda: jd.theory.base_problem_dependent_rate(2, 10, 2, math.inf), "positive and finite"),
        (lambda: jd.theory.static_grid_lower_bound([10], 4, 2.1), r"2\.1.*in \(0, 2\]"),
        (lambda: jd.theory.static_grid_lower_bound([10], 4, [1, math.nan]), "a gap is nan"),
        (lambda: jd.theory.static_grid_lower_bound([10], 1, 1.0), "at least 2 arms"),
        (lambda: jd.theory.static_grid_lower_bound([], 4, 1.0), r"shape \(0,\)"),
        (lambda: jd.theory.static_grid_lower_bound([0, 5], 4, 1.0), r"times\[0\] is 0 after 0"),
        (lambda: jd.theory.static_grid_lower_bound([9, 5], 4, 1.0), r"times\[1\] is 5 after 9"),
        (lambda: jd.theory.static_minimax_lower_bound([9, math.nan], 4), r"times\[1\] is nan"),
        (lambda: jd.theory.static_minimax_lower_bound([9], 4, 3.0), r"in \(0, 2\]"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
