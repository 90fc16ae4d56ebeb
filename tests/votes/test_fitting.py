"""Fits against closed forms, quadrature of exact posteriors, choix, and simulation."""

import warnings
from itertools import product

import choix
import jax
import numpy as np
import pytest
from scipy import integrate, optimize, stats

import jaxduel as jd
from jaxduel.errors import InputError, SolverError
from jaxduel.problems.strengths import davidson
from tests.votes.cases import NU, STRONG, drawn, log_posterior, relabelled

SIZE = 2_000


# The free model.


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (7, 3), (40, 0), (900, 1_100)])
def test_free_is_the_exact_posterior(won, lost):
    """K = 3, of which one pair has these votes; its mean by quadrature of likelihood x prior."""
    votes = jd.votes.from_counts([[0, won, 1], [lost, 0, 1], [1, 1, 0]])

    def density(logit):  # of log(p / (1 - p)); the Jacobian makes the prior's -1/2 a +1/2
        return np.exp(
            (won + 0.5) * -np.logaddexp(0, -logit)
            + (lost + 0.5) * -np.logaddexp(0, logit)
            - (won + 0.5) * np.log((won + 0.5) / (won + lost + 1))
            - (lost + 0.5) * np.log((lost + 0.5) / (won + lost + 1))
        )

    centre = np.log((won + 0.5) / (lost + 0.5))
    grid = centre + np.linspace(-60, 60, 400_001)
    mass = integrate.simpson(density(grid), x=grid)
    mean = integrate.simpson(density(grid) / (1 + np.exp(-grid)), x=grid) / mass
    fit = jd.votes.fit(votes, "free")
    assert fit.problem.preferences[0, 1] == pytest.approx(mean, abs=1e-9)
    draws = fit.sample(jax.random.key(0), SIZE)
    law = stats.beta(won + 0.5, lost + 0.5)
    assert stats.kstest(draws[:, 0, 1], law.cdf).pvalue > 6e-5  # four standard errors


def test_free_best_is_that_of_all_tournaments():
    votes = drawn(np.random.default_rng(1), per_pair=5)
    fit = jd.votes.fit(votes, "free")
    pairs = list(zip(*np.triu_indices(5, 1), strict=True))
    exact = np.zeros(5)
    for winners in product((0, 1), repeat=len(pairs)):
        chance, scores = 1.0, np.zeros(5)
        for (i, j), lower in zip(pairs, winners, strict=True):
            above = stats.beta.sf(0.5, votes.wins[i, j] + 0.5, votes.wins[j, i] + 0.5)
            chance *= 1 - above if lower else above
            scores[(i, j)[lower]] += 1
        exact += chance * (scores == scores.max())
    error = np.sqrt(exact * (1 - exact) / 20_000)
    assert exact.sum() > 1.05  # several winners at once are in it
    assert np.all(np.abs(fit.best - exact) < 4 * error)


# Models of strengths.


def games(votes):
    """A pair (winner, loser) for each decisive vote, as choix takes them."""
    return [pair for pair in np.argwhere(votes.wins).tolist() for _ in range(votes.wins[*pair])]


def test_btl_is_that_of_choix():
    votes = drawn(np.random.default_rng(2))
    with_prior = choix.opt_pairwise(5, games(votes), alpha=1 / 8, tol=1e-12)  # 1 / (2 sigma^2)
    np.testing.assert_allclose(jd.votes.fit(votes).strengths, with_prior, atol=1e-6)
    without = choix.ilsr_pairwise(5, games(votes), tol=1e-12)
    np.testing.assert_allclose(jd.votes.fit(votes, prior_std=1e5).strengths, without, atol=1e-6)


@pytest.mark.parametrize("model", STRONG)
def test_the_mode_is_where_another_optimiser_finds_it(model):
    votes = drawn(np.random.default_rng(3), model)
    fit = jd.votes.fit(votes, model)
    found = optimize.minimize(
        lambda x: -log_posterior(model, votes, x[:5], x[5]), np.zeros(6), options={"gtol": 1e-7}
    ).x
    np.testing.assert_allclose(fit.strengths, found[:5] - found[:5].mean(), atol=2e-5)
    if model == "davidson":
        assert fit.nu == pytest.approx(np.exp(found[5]), rel=2e-5)
    else:
        assert fit.nu is None


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("model", STRONG)
def test_newton_converges_on_extreme_votes(model, scale):
    """One arm won all its votes, however many; one has none; one ties."""
    wins = np.zeros((4, 4), int)
    wins[0, 1], wins[0, 2], wins[1, 2] = 1, int(1e6 * scale), 1 + int(10 * scale)
    ties = np.zeros((4, 4), int)
    ties[1, 2] = ties[2, 1] = int(1e4 * scale)
    with pytest.warns(UserWarning, match="2 groups that never met"):
        fit = jd.votes.fit(jd.votes.from_counts(wins, ties), model)
    mode = np.append(fit.strengths, np.log(fit.nu) if fit.nu else 0.0)
    slope = optimize.approx_fprime(
        mode, lambda x: log_posterior(model, fit.votes, x[:4], x[4]), 1e-6
    )
    largest = 1e6 * scale + 1e4 * scale + 1  # of a slope's rounding: the log-likelihood's
    assert np.abs(slope).max() < 1e-3 + 1e-9 * largest
    assert fit.misfit.degrees_of_freedom == (3 if model == "davidson" else 1)
    assert np.isfinite(fit.misfit.p_value)  # of a fit without prior


@pytest.mark.parametrize("ties", [1, 100, 2 * 10**9])
@pytest.mark.parametrize("won", [10, 10**6, 2 * 10**9])
@pytest.mark.parametrize("prior_std", [2.0, 1e3])
def test_the_slope_vanishes_where_many_votes_drown_gains_in_rounding(won, ties, prior_std):
    votes = jd.votes.from_counts([[0, won], [0, 0]], [[0, ties], [ties, 0]])
    fit = jd.votes.fit(votes, "davidson", prior_std=prior_std)
    strength = fit.strengths[0]
    win, loss, tie = davidson(2 * strength, np.log(fit.nu))
    slope = won * (loss + tie / 2) - ties * (win - loss) / 2 - strength / prior_std**2
    information = (won + ties) * (4 * win * loss + tie * (win + loss)) / 4 + prior_std**-2
    assert slope**2 / information < 1e-5  # at most the squared Newton decrement of the last step


def test_a_direction_that_neither_votes_nor_prior_tell_is_said():
    votes = jd.votes.from_counts([[0, 10**8], [0, 0]], [[0, 10**6], [10**6, 0]])
    with pytest.raises(SolverError, match=r"is not determined: .* give a smaller prior_std"):
        jd.votes.fit(votes, "davidson", prior_std=1e6)


@pytest.mark.parametrize("model", jd.votes.MODELS)
def test_samples_have_the_mean_of_the_problem(model):
    votes = drawn(np.random.default_rng(4), model if model in STRONG else "btl", per_pair=6)
    fit = jd.votes.fit(votes, model)
    draws = fit.sample(jax.random.key(1), SIZE)
    assert draws.shape == (SIZE, 5, 5)
    assert draws.dtype == np.float64
    np.testing.assert_array_equal(draws + np.swapaxes(draws, 1, 2), np.ones_like(draws))
    error = draws.std(axis=0, ddof=1) / np.sqrt(SIZE)
    assert np.all(np.abs(draws.mean(axis=0) - fit.problem.preferences) <= 4 * error + 1e-12)
    np.testing.assert_array_equal(fit.sample(jax.random.key(1), SIZE), draws)
    assert (fit.sample(jax.random.key(2), 3) != draws[:3]).any()
    for matrix in draws[:3]:
        jd.problems.from_matrix(matrix)
    if model in STRONG:  # the strongest arm is the Condorcet winner of its draw
        wins = (draws + np.eye(5) > 0.5).all(axis=2).mean(axis=0)
        assert np.all(np.abs(wins - fit.best) < 4 * np.sqrt(0.25 / SIZE + 0.25 / 20_000))


@pytest.mark.parametrize("model", jd.votes.MODELS)
def test_relabelling_arms_relabels_results(model):
    votes = drawn(np.random.default_rng(5), "davidson", per_pair=8)
    order = np.array([3, 0, 4, 1, 2])
    fit, other = (jd.votes.fit(v, model) for v in (votes, relabelled(votes, order)))
    np.testing.assert_allclose(
        other.problem.preferences, fit.problem.preferences[np.ix_(order, order)], atol=1e-8
    )
    assert np.all(np.abs(other.best - fit.best[order]) < 4 * np.sqrt(2 * 0.25 / 20_000))
    assert other.misfit.deviance == pytest.approx(fit.misfit.deviance, abs=1e-6)
    assert len(other.misfit.cycles) == len(fit.misfit.cycles)
    assert other.misfit.expected_cycles == pytest.approx(fit.misfit.expected_cycles)
    kept = [column for column in fit.table() if column != "best"]
    first, second = fit.table()[kept], other.table()[kept]
    if model in STRONG:
        np.testing.assert_allclose(other.strengths, fit.strengths[order], atol=1e-8)
        assert first["arm"].tolist() == second["arm"].tolist()
    columns = kept[1:]
    np.testing.assert_allclose(
        first.set_index("arm").loc[:, columns],
        second.set_index("arm").loc[first["arm"], columns],
        atol=1e-7,
    )


@pytest.mark.parametrize("num_arms", [129, pytest.param(400, marks=pytest.mark.slow)])
def test_many_arms(num_arms):
    """1/5 of the pairs compared: the strengths that made the votes."""
    rng = np.random.default_rng(num_arms)
    strengths = rng.normal(size=num_arms)
    votes = drawn(rng, "davidson", strengths, 100)
    apart = np.triu(rng.random((num_arms, num_arms)) < 0.8, 1)
    keep = ~(apart | apart.T)
    fit = jd.votes.fit(jd.votes.from_counts(votes.wins * keep, votes.ties * keep), "davidson")
    low, high = fit.strength_intervals.T
    errors = (fit.strengths - strengths + strengths.mean()) / ((high - low) / 3.92)
    assert np.abs(errors).max() < 5
    assert errors.std() == pytest.approx(1, abs=4 / np.sqrt(2 * num_arms))
    assert fit.nu == pytest.approx(NU, rel=0.05)


# Votes that cannot be fitted, or only with a warning.


def test_groups_that_never_met_are_named():
    wins = [[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 5, 0]]
    votes = jd.votes.from_counts(wins, arms=["a", "b", "c", "d"])
    for model in jd.votes.MODELS:
        with pytest.warns(UserWarning, match=r"2 groups that never met \(a, b; c, d\): between"):
            fit = jd.votes.fit(votes, model)
        assert fit.misfit.never_compared.tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
        assert fit.misfit.degrees_of_freedom == 0
        assert np.isnan(fit.misfit.p_value)
        assert np.isfinite(fit.problem.preferences).all()
    with pytest.warns(UserWarning, match="2 groups"):
        free = jd.votes.fit(votes, "free").problem.preferences
    assert free[0, 2] == 0.5


def test_groups_that_only_tied_are_not_said_never_to_have_met():
    wins, ties = np.zeros((2, 4, 4), int)
    wins[0, 1] = wins[2, 3] = 2
    ties[1, 2] = ties[2, 1] = 3
    votes = jd.votes.from_counts(wins, ties, arms=["a", "b", "c", "d"])
    said = (
        r"2 groups that met but only tied \(a, b; c, d\): between groups the prior decides, since"
    )
    for model in ("btl", "free"):
        with pytest.warns(UserWarning, match=said):
            jd.votes.fit(votes, model)
    with warnings.catch_warnings(action="error"):
        jd.votes.fit(votes, "davidson")
    apart = jd.votes.from_counts(np.pad(wins, (0, 1)), np.pad(ties, (0, 1)))
    with pytest.warns(UserWarning, match=r"3 groups that only tied or never met \(0, 1; 2, 3; 4\)"):
        jd.votes.fit(apart, "btl")
    with pytest.warns(
        UserWarning, match=r"2 groups that never met \(0, 1, 2, 3; 4\): .* decides\."
    ):
        jd.votes.fit(apart, "davidson")


@pytest.mark.parametrize("model", jd.votes.MODELS)
def test_level_arms_are_level(model):
    fit = jd.votes.fit(jd.votes.from_counts([[0, 5], [5, 0]], [[0, 3], [3, 0]]), model)
    np.testing.assert_array_equal(fit.problem.preferences, np.full((2, 2), 0.5))
    assert fit.problem.condorcet_winner is None


def test_decisive_votes_of_davidson_are_those_of_btl():
    votes = jd.votes.from_counts([[0, 8, 9], [2, 0, 6], [1, 4, 0]], 30 - 30 * np.eye(3, dtype=int))
    fit, key = jd.votes.fit(votes, "davidson"), jax.random.key(3)
    p, decisive = fit.sample(key, 50), fit.sample(key, 50, decisive=True)
    assert ((decisive > 0.5) == (p > 0.5)).all()
    assert (np.abs(decisive - 0.5) >= np.abs(p - 0.5)).all()
    odds = np.log(decisive / (1 - decisive))
    np.testing.assert_allclose(odds[:, 0, 1] + odds[:, 1, 2], odds[:, 0, 2], atol=1e-9)
    btl = jd.votes.fit(votes, "btl")
    np.testing.assert_array_equal(btl.sample(key, 9), btl.sample(key, 9, decisive=True))


@pytest.mark.parametrize("model", ["free", "btl", "davidson"])
def test_instances_are_samples_with_names_and_the_ties_of_davidson(model):
    votes = jd.votes.from_counts([[0, 8, 9], [2, 0, 6], [1, 4, 0]], 9 - 9 * np.eye(3), [*"abc"])
    fit, key = jd.votes.fit(votes, model), jax.random.key(3)
    instances = fit.instances(key, 500)
    assert instances[0].arms == votes.arms
    p = np.stack([instance.preferences for instance in instances])
    np.testing.assert_allclose(p, fit.sample(key, 500), atol=1e-15)
    if model != "davidson":
        assert all(instance.ties is None for instance in instances)
        return
    q = np.stack([instance.ties for instance in instances])
    assert (np.diagonal(q, axis1=1, axis2=2) == 0).all()
    decisive = (p - q / 2) / (1 - q)
    np.testing.assert_allclose(decisive, fit.sample(key, 500, decisive=True), atol=1e-12)
    nu = q / (1 - q) / np.sqrt(decisive * (1 - decisive))
    np.testing.assert_allclose(nu[:, 0, 1], nu[:, 1, 2], rtol=1e-9)
    errors = q.std(axis=0) / np.sqrt(500)
    assert (np.abs(q.mean(axis=0) - fit.problem.ties) <= 4 * errors).all()


def test_ties_alone_are_for_davidson():
    votes = jd.votes.from_counts(np.zeros((2, 2)), [[0, 4], [4, 0]])
    fit = jd.votes.fit(votes, "davidson")
    np.testing.assert_allclose(fit.strengths, 0, atol=1e-12)
    assert fit.nu > 2
    assert fit.misfit.worst is None
    for model in ("free", "btl", "thurstone"):
        with pytest.raises(InputError, match="holds ties alone: only the model davidson"):
            jd.votes.fit(votes, model)


@pytest.mark.parametrize("prior_std", [0, -1, 1e-9, 1e9, np.nan, np.inf, None, "2", [1.0, 2.0]])
def test_bad_priors_get_a_sentence(prior_std):
    votes = drawn(np.random.default_rng(8))
    with pytest.raises(InputError, match="prior_std must be from 1e-6 to 1e6"):
        jd.votes.fit(votes, prior_std=prior_std)


def test_bad_models_and_numbers_get_a_sentence():
    votes = drawn(np.random.default_rng(8))
    with pytest.raises(InputError, match=r"unknown model 'elo': known are .*btl"):
        jd.votes.fit(votes, "elo")
    with pytest.raises(InputError, match="n must be a whole number of at least 1, not 0"):
        jd.votes.fit(votes).sample(jax.random.key(0), 0)
    with pytest.raises(InputError, match="seed must be one key"):
        jd.votes.fit(votes).sample(jax.random.split(jax.random.key(0)), 2)
    with pytest.raises(InputError, match=r"fit: the votes must be such as .* not of type list"):
        jd.votes.fit([[0, 1], [2, 0]])
