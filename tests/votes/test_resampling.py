"""Draws by resampled voters: against posteriors of independent votes, copies, and simulation."""

import dataclasses

import numpy as np
import pytest
from scipy.special import expit, logit

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import resampling
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


@pytest.mark.parametrize("model", STRONG)
def test_voters_of_one_vote_give_the_usual_posterior(model):
    votes = drawn(np.random.default_rng(0), model, 1_500, 1)
    fit, usual = (
        jd.votes.fit(each, model) for each in (votes, dataclasses.replace(votes, voters=None))
    )
    std = np.linalg.norm(usual.mode.factor, axis=1)[:5]
    error = 4 / np.sqrt(2 * fit.draws.effective)
    assert np.abs(fit.draws.strengths.std(axis=0) / std - 1).max() < error + 0.03  # of weights
    assert np.abs(fit.draws.strengths.mean(axis=0) - fit.strengths).max() < 4 * std.max() / 31
    assert fit.design_effect == pytest.approx(1, abs=2 * error)
    assert np.abs(fit.best - usual.best).max() < 4 * np.sqrt(0.25 / 1_000 + 0.25 / 5_000)
    assert usual.design_effect is None


@pytest.mark.parametrize("model", STRONG)
def test_copies_of_a_vote_by_its_voter_tell_nothing_more(model):
    votes = drawn(np.random.default_rng(1), model, 1_000, 1, copies=6)
    fit = jd.votes.fit(votes, model)
    assert fit.design_effect == pytest.approx(6, rel=0.25)
    once = jd.votes.fit(drawn(np.random.default_rng(1), model, 1_000, 1), model)
    width, usual = (np.ptp(each.strength_intervals, axis=1) for each in (fit, once))
    np.testing.assert_allclose(width, usual, rtol=0.25)  # ends of quantiles of 1,000 draws
    assert f"are {fit.design_effect:.2f} times those of independent votes" in facts(fit)[1]


@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize("model", STRONG)
def test_draws_are_modes_by_newton_s_method(model, side, monkeypatch):
    votes = drawn(np.random.default_rng(2), model, 40, 5)
    monkeypatch.setattr(resampling, "_DRAWS", 40)
    steps = jd.votes.fit(votes, model, side=side).draws
    monkeypatch.setattr(resampling, "_MOST_STEPS", 1)
    newton = jd.votes.fit(votes, model, side=side).draws
    deviation = newton.strengths.std(axis=0)
    assert (np.abs(steps.strengths - newton.strengths) < 0.05 * deviation).all()
    assert np.ptp(newton.strengths, axis=0).min() > 0


@pytest.mark.parametrize("sided", [False, True])
def test_rows_find_their_pairs(sided):
    votes = drawn(np.random.default_rng(3), "davidson", 30, 4)
    fit = jd.votes.fit(votes, "davidson", side=sided)
    pair, wins, losses, ties = resampling._by_pair(fit.posterior, votes.voters)
    compared = fit.posterior.votes
    for kind, expected in ((wins, compared.wins), (losses, compared.losses), (ties, compared.ties)):
        assert np.bincount(pair, kind, len(compared.first)).tolist() == expected.tolist()
    ignoring = jd.votes.fit(votes, "btl", side=sided).posterior
    pair, wins, losses, ties = resampling._by_pair(ignoring, votes.voters)
    assert not ties.any()
    assert np.bincount(pair, wins, len(ignoring.votes.first)).tolist() == list(ignoring.votes.wins)


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
    assert abs(np.mean(covered) - 0.94) < error  # .94: weights of 50 voters
    assert np.mean(single) < 0.75


def test_the_free_model_takes_no_voters():
    votes = drawn(np.random.default_rng(6), "btl", 20, 3)
    with pytest.raises(InputError, match="takes neither sides nor voters: fit btl"):
        jd.votes.fit(votes, "free")
    assert "with fewer than 30 voters intervals are too short" in facts(jd.votes.fit(votes))[1]
