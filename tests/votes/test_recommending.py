"""Recommendations against their definitions, other programs and laws."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from jaxduel.errors import InputError
from jaxduel.problems.strengths import fit_btl
from jaxduel.votes import RULES
from jaxduel.votes.recommending import btl_strengths, kendall_tau, order, votes_needed
from tests.oracles import recommending as oracle


def counts(rng, shape, num_arms, most):
    """Wins whose diagonals hold what must not matter."""
    return rng.integers(0, most + 1, (*shape, num_arms, num_arms))


@pytest.mark.parametrize("most", [1, 2, 10, 1_000])
@pytest.mark.parametrize("num_arms", [2, 3, 6])
@pytest.mark.parametrize("rule", ["copeland", "borda"])
def test_orders_are_those_of_the_definitions(rule, num_arms, most):
    """Few votes: most scores are tied, with rationals that floats sum differently."""
    rng = np.random.default_rng([num_arms, most])
    wins = counts(rng, (50, 4), num_arms, most)
    noise = rng.random((50, 4, num_arms))
    found = order(rule, wins, noise)
    assert found.shape == noise.shape
    for at in np.ndindex(50, 4):
        assert found[at].tolist() == oracle.order(rule, wins[at], noise[at])


@pytest.mark.parametrize("rule", RULES)
def test_relabelling_arms_relabels_the_order(rule):
    rng = np.random.default_rng(1)
    wins, noise = counts(rng, (300,), 5, 3), rng.random((300, 5))
    labels = np.array([3, 0, 4, 1, 2])  # arm labels[i] is at place i
    moved = order(rule, wins[:, labels][:, :, labels], noise[:, labels])
    np.testing.assert_array_equal(labels[moved], order(rule, wins, noise))


@pytest.mark.parametrize("rule", RULES)
def test_equal_arms_come_in_the_order_of_noise(rule):
    """No votes; a cycle of three; and two copies of an arm beside a weaker one."""
    rng = np.random.default_rng(2)
    none, cycle = np.zeros((3, 3), int), np.array([[0, 7, 3], [3, 0, 7], [7, 3, 0]])
    noise = rng.random((50, 3))
    for wins in (none, cycle):
        found = order(rule, np.broadcast_to(wins, (50, 3, 3)), noise)
        np.testing.assert_array_equal(found, np.argsort(noise, axis=-1))
    copies = np.array([[0, 1, 0], [5, 0, 4], [4, 1, 0]])  # arms 0 and 2 against 1: 1 of 6, 1 of 5
    assert order(rule, copies, noise[0])[0] == 1
    twins = np.array([[0, 4, 1_000], [4, 0, 1_000], [999, 999, 0]])
    found = order(rule, np.broadcast_to(twins, (50, 3, 3)), noise)
    np.testing.assert_array_equal(found[:, 0], np.argmin(noise[:, :2], axis=1))
    assert (found[:, 2] == 2).all()


def test_level_arms_count_half():
    """Arm 0 leads one of three and never met the others; arm 1 leads none and is level with two."""
    wins = np.zeros((4, 4), int)
    wins[0, 1], wins[2, 3] = 1, 2
    wins[1, 2] = wins[2, 1] = 5
    assert order("copeland", wins, np.arange(4) / 4).tolist() == [2, 0, 1, 3]
    assert order("copeland", wins, np.arange(4)[::-1] / 4).tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize("num_arms", [2, 5, 31])
@pytest.mark.parametrize("most", [1, 30, 2**31 - 1])
def test_strengths_are_those_of_the_fit(num_arms, most):
    """Lopsided counts among them: arms that won or lost all, or never met; groups apart."""
    rng = np.random.default_rng([num_arms, most])
    wins = counts(rng, (8,), num_arms, most)
    wins[1] = np.triu(wins[1])
    wins[2] *= rng.random((num_arms, num_arms)) < 0.1
    wins[3, :, 0] = wins[4, 0] = wins[5] = 0
    wins[6, : num_arms // 2, num_arms // 2 :] = wins[6, num_arms // 2 :, : num_arms // 2] = 0
    found = btl_strengths(wins.reshape(2, 4, num_arms, num_arms)).reshape(8, num_arms)
    for one, counted in zip(found, wins, strict=True):
        np.fill_diagonal(counted, 0)
        fitted = fit_btl(counted)
        # its squared decrement is at most 1e-10, of a Hessian of at least 1/4
        np.testing.assert_allclose(one, fitted, atol=2e-5)
        np.testing.assert_allclose(
            btl_strengths(counted), one, atol=1e-10 if most < 2**31 - 1 else 1e-6
        )


def test_strengths_maximise_the_posterior_to_the_accuracy_of_ties():
    """The gradient at them, in fractions of the Hessian's least eigenvalue."""
    rng = np.random.default_rng(3)
    wins = counts(rng, (40,), 6, 200).astype(float)
    found = btl_strengths(wins)
    d = found[:, :, None] - found[:, None, :]
    surprise = wins / (1 + np.exp(d))
    gradient = surprise.sum(axis=2) - surprise.sum(axis=1) - found / 4
    assert np.linalg.norm(gradient, axis=1).max() * 4 < 1e-10
    np.testing.assert_allclose(found[0], oracle.strengths(wins[0]), atol=2e-6)


def test_strengths_are_those_of_choix():
    rng = np.random.default_rng(4)
    wins = counts(rng, (), 5, 12)
    np.fill_diagonal(wins, 0)
    games = [pair for pair in np.argwhere(wins).tolist() for _ in range(wins[*pair])]
    other = choix.opt_pairwise(5, games, alpha=1 / 8, tol=1e-12)
    np.testing.assert_allclose(btl_strengths(wins), other, atol=1e-6)


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0, 9))
def test_strengths_converge_on_any_counts(num_arms, seed, digits):
    rng = np.random.default_rng(seed)
    wins = counts(rng, (20,), num_arms, int(10**digits)) * (rng.random((20, num_arms, 1)) < 0.6)
    found = btl_strengths(wins)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)


def test_steps_are_shortened_where_full_ones_diverge():
    """Arm 1 beat 0 four times in all, and 3 a hundred million times."""
    wins = np.zeros((4, 4), np.int64)
    wins[0, 2:], wins[1, 0], wins[1, 3], wins[2, 1] = (2_073_682, 170_097), 4, 105_480_347, 448
    fitted = fit_btl(wins)
    np.testing.assert_allclose(btl_strengths(wins), fitted, atol=2e-5)


def test_many_problems_are_worked_on_in_parts():
    rng = np.random.default_rng(5)
    wins = counts(rng, (700,), 20, 9)
    found = btl_strengths(wins)
    for at in (0, 163, 164, 699):
        np.testing.assert_allclose(found[at], btl_strengths(wins[at]), atol=1e-10)


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_tau_is_that_of_the_definition(num_arms, seed, levels):
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(num_arms), (6, 1)), axis=1)
    truth = rng.integers(0, levels, num_arms) / levels
    found = kendall_tau(orders.reshape(2, 3, num_arms), truth).ravel()
    np.testing.assert_allclose(found, [oracle.kendall_tau(one, truth) for one in orders])
    if len(set(truth)) == num_arms:
        places = np.argsort(orders, axis=1)
        others = [stats.kendalltau(-one, truth).statistic for one in places]
        np.testing.assert_allclose(found, others, atol=1e-12)


def test_tau_of_extremes():
    truth = np.array([0.9, 0.5, 0.5, 0.1])
    orders = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0], [1, 0, 2, 3]])
    np.testing.assert_allclose(kendall_tau(orders, truth), [1, 1, -1, 3 / 5])
    assert np.isnan(kendall_tau(np.arange(3), np.ones(3)))
    each = np.array([truth, -truth])
    np.testing.assert_array_equal(kendall_tau(orders[:2], each), [1, -1])


CHECKPOINTS = np.array([0, 10, 30, 100, 300, 1_000, 3_000])


@pytest.mark.parametrize("target", [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("runs", [1, 20, 500])
def test_votes_needed_are_those_of_the_definition(runs, target):
    rng = np.random.default_rng(runs)
    for curve in (np.linspace(0.1, 0.97, 7), np.full(7, target), np.array([0.1, 0.99] * 3 + [1])):
        correct = rng.random((runs, 7)) < curve
        found = votes_needed(CHECKPOINTS, correct, target)
        slow = oracle.votes_needed(CHECKPOINTS, correct, target)
        np.testing.assert_allclose(found, slow, rtol=2e-4, atol=2e-4)
        assert found[1] <= found[0] <= found[2]


def test_votes_needed_of_clear_cases():
    always, never = np.ones((1_000, 7), bool), np.zeros((1_000, 7), bool)
    assert votes_needed(CHECKPOINTS, always, 0.9) == (0, 0, 0)
    assert votes_needed(CHECKPOINTS, never, 0.9) == (np.inf, np.inf, np.inf)
    from_100 = np.arange(7) >= 3 + np.zeros((1_000, 1))
    value, low, high = votes_needed(CHECKPOINTS, from_100, 0.5)
    assert value == pytest.approx(np.sqrt(31 * 101) - 1)
    assert (low, high) == (30, 100)
    exactly = np.arange(1_000)[:, None] < 1_000 * np.array([0.1, 0.2, 0.95, 0.95, 0.95, 0.96, 1])
    assert votes_needed(CHECKPOINTS, exactly, 0.95)[0] == pytest.approx(30)


def test_a_curve_that_jumps_between_checkpoints_is_in_the_interval():
    """Runs that are all right from 1,000 votes on, and one in four before."""
    rng, checkpoints = np.random.default_rng(0), np.array([800, 921, 1_075, 2_000])
    correct = (checkpoints >= 1_000) | (rng.random((1_000, 1)) < 0.25)
    for target in (0.5, 0.9):
        assert votes_needed(checkpoints, correct, target)[1:] == (921, 1_075)


@pytest.mark.parametrize("target", [0, 1, -0.1, np.nan])
def test_targets_that_are_no_probability(target):
    with pytest.raises(InputError, match="target must be a probability between 0 and 1, not"):
        votes_needed(CHECKPOINTS, np.ones((3, 7), bool), target)


@pytest.mark.parametrize("correlated", [True, False])
def test_the_interval_of_votes_needed_covers(correlated):
    """The true curve is log(1 + v) / log(3,001): runs that are right from a random vote on, or
    right at each checkpoint independently, where a running maximum would be early by 0.1."""
    rng, covered, late = np.random.default_rng(6), [], []
    checkpoints = np.unique(np.geomspace(1, 3_000, 400 if correlated else 40).astype(int))
    truth = np.expm1(0.8 * np.log(3_001))
    for _ in range(2_000):
        draws = rng.random((100, 1 if correlated else len(checkpoints)))
        correct = checkpoints >= np.expm1(draws * np.log(3_001))
        value, low, high = votes_needed(checkpoints, correct, 0.8)
        covered.append(low <= truth <= high)
        late.append(np.log(value / truth))
    assert np.mean(covered) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 2_000)
    assert abs(np.mean(late)) < 0.06
    if correlated:
        assert np.mean(covered) < 0.98  # no wider than it has to be


def test_an_unknown_rule_gets_a_sentence():
    with pytest.raises(InputError, match=r"unknown rule 'bordo' .did you mean 'borda'"):
        order("bordo", np.zeros((2, 2), int), np.zeros(2))
