"""Voters of several votes: against independent votes, copies, resampled voters, and simulation."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.design import spread_of
from jaxduel.votes.facts import facts
from jaxduel.votes.sides import Sides
from jaxduel.votes.voters import Voters
from tests.votes.cases import STRENGTHS, STRONG, probabilities


def by_voters(rows):
    """Votes of rows (voter, left, right, wins, losses, ties)."""
    rows = np.array(rows, float)
    voter, left, right = rows[:, :3].T.astype(np.int32)
    num_arms = max(left.max(), right.max()) + 1
    counts = np.zeros((3, num_arms, num_arms), int)
    for kind, column in zip(counts, rows.T[3:], strict=True):
        np.add.at(kind, (left, right), column.astype(int))
    votes = jd.votes.from_counts(counts[0] + counts[1].T, counts[2] + counts[2].T)
    voters = Voters(voter, left, right, *rows.T[3:])
    return dataclasses.replace(votes, sides=Sides(*counts), voters=voters)


def drawn(rng, model, num_voters, each, copies=1):
    win, tie = probabilities(model, STRENGTHS)
    rows = []
    for voter in range(num_voters):
        for _ in range(each):
            i, j = rng.choice(5, 2, replace=False)
            outcome = rng.multinomial(1, [win[i, j], win[j, i], tie[i, j]])
            rows.append([voter, i, j, *copies * outcome])
    return by_voters(rows)


def without(votes):
    return dataclasses.replace(votes, voters=None)


def width_error(fit):
    """Four relative errors of an interval's width: of the root of a variance from as many scores,
    whose squares deviate by about their mean, and of the ends, which are quantiles of draws."""
    ends = np.sqrt(2 * 0.025 * 0.975 / fit.effective_draws) / stats.norm.pdf(1.96) / (2 * 1.96)
    return 4 * (0.5 / np.sqrt(fit.votes.voters.num_voters) + ends)


@pytest.mark.parametrize("model", STRONG)
def test_voters_of_one_vote_give_the_usual_posterior(model):
    votes = drawn(np.random.default_rng(0), model, 1_500, 1)
    fit, usual = jd.votes.fit(votes, model), jd.votes.fit(without(votes), model)
    width, expected = (np.ptp(each.strength_intervals, axis=1) for each in (fit, usual))
    np.testing.assert_allclose(width, expected, rtol=width_error(fit))
    assert fit.design_effect == pytest.approx(1, abs=4 / np.sqrt(1_500))
    slope = 0.242  # the largest of a probability by the logarithm of the width: z phi(z) at z = 1
    error = 4 * 0.5 / np.sqrt(fit.effective_draws) + slope * width_error(fit)
    np.testing.assert_allclose(fit.best, usual.best, atol=error)
    assert usual.design_effect is None


@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize("model", STRONG)
def test_copies_of_a_vote_by_its_voter_tell_nothing_more(model, side):
    votes = drawn(np.random.default_rng(1), model, 1_000, 1, copies=6)
    fit = jd.votes.fit(votes, model, side=side)
    assert fit.design_effect == pytest.approx(6, rel=4 / np.sqrt(1_000))
    once = jd.votes.fit(drawn(np.random.default_rng(1), model, 1_000, 1), model, side=side)
    width, usual = (np.ptp(each.strength_intervals, axis=1) for each in (fit, once))
    np.testing.assert_allclose(width, usual, rtol=width_error(fit))
    assert f"are {fit.design_effect:.2f} times those of independent votes" in facts(fit)[1]
    if side:
        wide, narrow = (each.side.high - each.side.low for each in (fit, once))
        assert wide == pytest.approx(narrow, rel=width_error(fit))
        assert fit.side.low < fit.side.value < fit.side.high


@pytest.mark.parametrize("model", STRONG)
def test_variances_are_those_over_resampled_voters(model):
    """The mode of as many voters, drawn with replacement."""
    votes = drawn(np.random.default_rng(2), model, 200, 8)
    fit, voters, rng, modes = jd.votes.fit(votes, model), votes.voters, np.random.default_rng(3), []
    for _ in range(400):
        times = np.bincount(rng.integers(200, size=200), minlength=200)[voters.voter]
        rows = np.column_stack([*voters[:3], *(times * kind for kind in voters[3:])])
        modes.append(jd.votes.fit(without(by_voters(rows)), model).strengths)
    own, _ = spread_of(fit.posterior, fit.mode, voters).covariances(fit.mode)
    ratio = np.var(modes, axis=0).sum() / own.diagonal()[:5].sum()
    assert abs(ratio - 1) < 4 * np.sqrt(2 / 400 / 4)


def width(votes, *arms):
    found = jd.votes.fit(votes).difference(*arms)
    return found.high - found.low


def test_an_arm_that_never_loses_hides_no_repeated_votes():
    """Of 200 voters each repeats one vote on three arms five times, and 60 more voters one for a
    fourth, which always wins: nothing says how these voters differ."""
    rng, once = np.random.default_rng(7), []
    for voter in range(260):
        i, j = rng.choice(3, 2, replace=False)
        once.append([voter, i, j, 1, 0, 0] if voter < 200 else [voter, 3, i, 1, 0, 0])
    often = by_voters([[*row[:3], 5, 0, 0] for row in once])
    assert jd.votes.fit(often).design_effect == pytest.approx(5, rel=4 / np.sqrt(200))
    expected = width(without(by_voters(once)), 0, 1)
    assert width(often, 0, 1) == pytest.approx(expected, rel=width_error(jd.votes.fit(often)))
    assert width(often, 3, 0) > width(without(often), 3, 0)


def test_pairs_are_as_wide_as_their_own_voters_make_them():
    """Sixty voters repeat a vote on arms 0, 1 and 2 twenty times; 1,200 give one on 2, ..., 5."""
    rng, once = np.random.default_rng(8), []
    for voter in range(1_260):
        i, j = rng.choice([0, 1, 2] if voter < 60 else [2, 3, 4, 5], 2, replace=False)
        once.append([voter, i, j, 1, 0, 0])
    often = by_voters([[*row[:3], 20 if row[0] < 60 else 1, 0, 0] for row in once])
    usual = without(by_voters(once))
    assert width(often, 0, 1) == pytest.approx(width(usual, 0, 1), rel=4 * 0.5 / np.sqrt(60))
    assert width(often, 3, 4) < 1.5 * width(usual, 3, 4)  # 1.8 with one factor for all


@pytest.mark.parametrize("num_voters", [2, 40])
def test_a_lopsided_log_is_no_surer_for_its_voters(num_voters):
    """All votes are for one arm: they say nothing of how voters differ."""
    votes = by_voters([[voter, 0, 1, 40 // num_voters, 0, 0] for voter in range(num_voters)])
    fit, usual = jd.votes.fit(votes), jd.votes.fit(without(votes))
    assert fit.design_effect < 0.5
    own, other = fit.difference(0, 1), usual.difference(0, 1)
    assert own.low < other.low
    assert own.high > other.high
    assert own.above <= other.above
    if num_voters == 2:  # Cauchy's law
        assert own.above < 0.95


def test_a_few_voters_tell_little():
    """Six voters, each of an own mind, of which the mean is 0: seldom is either arm sure."""
    rng, sure = np.random.default_rng(4), []
    for _ in range(200):
        wins = rng.binomial(30, expit(rng.normal(size=6)))
        votes = by_voters([[v, 0, 1, n, 30 - n, 0] for v, n in enumerate(wins)])
        sure.append(jd.votes.fit(votes).difference(0, 1).above)
    beyond = np.mean(np.abs(np.array(sure) - 0.5) > 0.475)
    assert beyond < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.thorough
def test_intervals_cover_where_voters_differ():
    """Each of 50 voters has an own difference, of deviation 1.5, and gives 20 votes: the difference
    that explains the mean share of wins is covered; as independent votes, in .6 of logs."""
    rng, covered, single = np.random.default_rng(4), [], []
    mean_share = expit(0.5 + 1.5 * np.random.default_rng(5).normal(size=1_000_000)).mean()
    for _ in range(400):
        wins = rng.binomial(20, expit(0.5 + 1.5 * rng.normal(size=50)))
        votes = by_voters([[v, 0, 1, n, 20 - n, 0] for v, n in enumerate(wins)])
        for kept, found in ((votes.voters, covered), (None, single)):
            gap = jd.votes.fit(dataclasses.replace(votes, voters=kept)).difference(0, 1)
            found.append(gap.low <= logit(mean_share) <= gap.high)
    error = 4 * np.sqrt(0.95 * 0.05 / 400)
    assert abs(np.mean(covered) - 0.95) < error
    assert np.mean(single) < 0.75


def test_the_free_model_takes_no_voters():
    votes = drawn(np.random.default_rng(6), "btl", 20, 3)
    with pytest.raises(InputError, match="takes neither sides nor voters: fit btl"):
        jd.votes.fit(votes, "free")
    assert "so few voters tell little of it, hence long" in facts(jd.votes.fit(votes))[1]
