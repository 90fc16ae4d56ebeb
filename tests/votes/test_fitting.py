"""Fits against closed forms, quadrature of exact posteriors, choix, and simulation."""

from itertools import product

import choix
import jax
import numpy as np
import pytest
from scipy import integrate, optimize, stats

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.problems.strengths import davidson, preferences
from jaxduel.votes import posterior
from tests.votes.cases import NU, STRENGTHS, drawn, probabilities, relabelled

STRONG = ("btl", "thurstone", "davidson")
SIZE = 2_000


def log_posterior(model, votes, strengths, log_nu, prior_std=2.0):
    """From the definition, without constants; pairs one by one."""
    win, tie = probabilities(model, strengths, np.exp(log_nu))
    value = -(np.sum(strengths**2) + log_nu**2) / (2 * prior_std**2)
    for i, j in zip(*np.triu_indices(len(strengths), 1), strict=True):
        value += votes.wins[i, j] * np.log(win[i, j]) + votes.wins[j, i] * np.log(win[j, i])
        if model == "davidson":
            value += votes.ties[i, j] * np.log(tie[i, j])
    return value


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


def exact_moments(model, votes):
    """Mean and deviation of d_01, and the mean preference p_01, by quadrature over d_01 and, at
    K = 3, d_02, or log nu."""
    fit = jd.votes.fit(votes, model)
    num_arms = len(votes.arms)
    d, cov = fit.strengths[0] - fit.strengths, fit.posterior.covariance
    axes = [(d[arm], cov[0, 0] + cov[arm, arm] - 2 * cov[0, arm]) for arm in range(1, num_arms)]
    if model == "davidson":
        axes.append((np.log(fit.nu), cov[-1, -1]))
    steps = np.linspace(-8, 8, 61)  # spectrally accurate: 0.27 deviations apart
    grids = [centre + np.sqrt(variance) * steps for centre, variance in axes]
    values, first, p = [], [], []
    for point in product(*grids):
        strengths = np.append(0.0, -np.array(point[: num_arms - 1]))
        log_nu = point[-1] if model == "davidson" else 0.0
        # the level of all strengths is integrated out: their mean has a prior of its own
        values.append(log_posterior(model, votes, strengths - strengths.mean(), log_nu))
        win, tie = probabilities(model, strengths, np.exp(log_nu))
        first.append(point[0])
        p.append(win[0, 1] + tie[0, 1] / 2)
    weights = np.exp(np.array(values) - max(values))
    weights /= weights.sum()
    mean = weights @ np.array(first)
    std = np.sqrt(weights @ (np.array(first) - mean) ** 2)
    laplace = d[1], np.sqrt(axes[0][1]), fit.posterior.mean_preferences()[0, 1]
    return (mean, std, weights @ np.array(p)), laplace


@pytest.mark.parametrize(
    ("model", "num_arms"), [("btl", 2), ("thurstone", 2), ("davidson", 2), ("btl", 3)]
)
def test_laplace_against_the_exact_posterior(model, num_arms):
    """The next term of a Laplace approximation is of order 1/n, for the mean in units of the
    deviation 1/sqrt(n). So with n = 100 and 400 votes a pair errors are below 1/sqrt(n)
    deviations, 1/n and 4/n, and about halve and quarter: nothing of lower order is wrong."""
    errors = []
    for n in (100, 400):
        wins, ties = np.zeros((2, num_arms, num_arms), int)
        win, tie = probabilities(model, STRENGTHS[[0, 2, 4]][:num_arms])
        for i, j in zip(*np.triu_indices(num_arms, 1), strict=True):
            ties[i, j] = ties[j, i] = round(n * tie[i, j])
            wins[i, j] = round(n * win[i, j])
            wins[j, i] = n - wins[i, j] - ties[i, j]
        (mean, std, p), laplace = exact_moments(model, jd.votes.from_counts(wins, ties))
        error = np.abs([(mean - laplace[0]) / std, p - laplace[2], laplace[1] / std - 1])
        assert np.all(error < np.array([1 / np.sqrt(n), 1 / n, 4 / n]))
        errors.append(error)
    assert np.all(errors[1] < np.array([0.6, 0.35, 0.35]) * errors[0])


@pytest.mark.parametrize("model", STRONG)
def test_draws_against_the_exact_posterior_of_few_votes(model):
    """One arm won all of ten votes: skewed, and thurstone's normal p is .04 too low."""
    votes = jd.votes.from_counts([[0, 10], [0, 0]])
    (mean, std, p), (mode, *_) = exact_moments(model, votes)
    fit = jd.votes.fit(votes, model)
    error = 1 / np.sqrt(fit.draws.effective)  # of a mean of weighted draws, in deviations
    d = fit.draws.strengths @ [1, -1]
    assert abs(fit.draws.weights @ d - mean) < 4 * error * std < mean - mode
    drawn_p = preferences(model, d, fit.draws.log_nu)
    spread = np.sqrt(fit.draws.weights @ (drawn_p - p) ** 2)
    assert abs(fit.problem.preferences[0, 1] - p) < 4 * error * spread < 0.01


@pytest.mark.parametrize("model", STRONG)
def test_draws_of_many_votes_are_normal(model):
    votes = drawn(np.random.default_rng(4), model, per_pair=10**7)
    fit = jd.votes.fit(votes, model)
    std = np.sqrt(np.diagonal(fit.posterior.covariance)[:5])
    z = stats.norm.ppf(0.975)
    error = np.sqrt(0.025 * 0.975 / fit.draws.effective) / stats.norm.pdf(z)  # of a quantile
    normal = fit.strengths[:, None] + np.outer(std, [-z, z])
    assert (np.abs(fit.strength_intervals - normal) < 4 * error * std[:, None]).all()
    assert fit.draws.effective > 0.85 * len(fit.draws.weights)
    np.testing.assert_allclose(
        fit.problem.preferences, fit.posterior.mean_preferences(), atol=std.max() * error
    )


def test_too_few_effective_draws_leave_the_normal_approximation(monkeypatch):
    votes, rng = drawn(np.random.default_rng(4), per_pair=6), np.random.default_rng(1)
    assert not jd.votes.fit(votes).normal
    monkeypatch.setattr(posterior, "_LEAST_EFFECTIVE", 20_001)
    fit = jd.votes.fit(votes)
    assert fit.normal
    assert "the posterior taken as normal" in str(fit)
    strengths, _ = fit.posterior.draws(rng.standard_normal((SIZE, 5)))
    best = np.bincount(strengths.argmax(axis=1), minlength=5) / SIZE
    assert (np.abs(fit.best - best) < 4 * np.sqrt(0.25 / SIZE + 0.25 / 20_000)).all()
    np.testing.assert_allclose(fit.strength_intervals.mean(axis=1), fit.strengths)
    np.testing.assert_allclose(
        fit.problem.preferences, fit.posterior.mean_preferences(), rtol=1e-14
    )
    assert not jd.votes.fit(votes, "free").normal


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


def covered(repetitions, per_pair, model):
    """Share of intervals that hold the strength that was drawn from the prior, per repetition."""
    rng = np.random.default_rng(6)
    shares = []
    for _ in range(repetitions):
        strengths = rng.normal(size=5)
        votes = drawn(rng, model, strengths, per_pair)
        low, high = jd.votes.fit(votes, model, prior_std=1.0).strength_intervals.T
        centred = strengths - strengths.mean()
        shares.append(np.mean((low <= centred) & (centred <= high)))
    return np.array(shares)


@pytest.fixture
def few_draws(monkeypatch):
    """Draws of which ends of intervals have errors of less than .07 deviations, which cost less
    than .001 of their coverage."""
    monkeypatch.setattr(posterior, "_DRAWS", 2_000)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("model", STRONG)
def test_few_votes_of_strengths_from_the_prior_are_calibrated(model):
    """Intervals cover, and the arm with the largest P(best) is the best as often as that says.
    Normal at the mode, intervals of thurstone cover .89 here, and P(best) is .065 too low."""
    rng, covers, surplus = np.random.default_rng(9), [], []
    for _ in range(400):
        strengths = rng.normal(scale=2.0, size=3)
        fit = jd.votes.fit(drawn(rng, model, strengths, per_pair=4), model)
        low, high = fit.strength_intervals.T
        centred, named = strengths - strengths.mean(), np.argmax(fit.best)
        covers.append(np.mean((low <= centred) & (centred <= high)))
        surplus.append((named == np.argmax(strengths)) - fit.best[named])
        assert not fit.normal
    for values, expected in ((covers, 0.95), (surplus, 0)):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - expected) < 4 * error


@pytest.mark.usefixtures("few_draws")
def test_intervals_cover():
    shares = covered(1_000, 40, "btl")
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    assert error < 0.006  # intervals of 4/5 of the length would cover 12 of these less
    assert abs(shares.mean() - 0.95) < 4 * error


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("model", ["btl", "thurstone"])
def test_intervals_cover_to_half_a_percent(model):
    shares = covered(10_000, 100, model)
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    assert abs(shares.mean() - 0.95) < 4 * error < 0.006


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


def test_ties_alone_are_for_davidson():
    votes = jd.votes.from_counts(np.zeros((2, 2)), [[0, 4], [4, 0]])
    fit = jd.votes.fit(votes, "davidson")
    np.testing.assert_allclose(fit.strengths, 0, atol=1e-12)
    assert fit.nu > 2
    assert fit.misfit.worst is None
    for model in ("free", "btl", "thurstone"):
        with pytest.raises(InputError, match="hold ties alone: only the model davidson"):
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


def test_the_mean_instance_of_davidson_has_the_mean_ties():
    votes = jd.votes.from_counts(
        [[0, 12, 14], [8, 0, 11], [6, 9, 0]], ties=[[0, 5, 2], [5, 0, 3], [2, 3, 0]]
    )
    fit = jd.votes.fit(votes, "davidson")
    normals = np.random.default_rng(0).standard_normal((20_000, 4))
    strengths, log_nu = fit.posterior.draws(normals)
    d = strengths[:, :, None] - strengths[:, None, :]
    ties = davidson(d, log_nu[:, None, None])[2]
    error = np.abs(fit.posterior.mean_ties() - ties.mean(axis=0))[~np.eye(3, dtype=bool)]
    sem = ties.std(axis=0)[~np.eye(3, dtype=bool)] / np.sqrt(20_000)
    assert (error < 4 * sem).all()
    weighted, log_nu = fit.draws.resampled(np.random.default_rng(0), 20_000)
    d = weighted[:, :, None] - weighted[:, None, :]
    ties = davidson(d, log_nu[:, None, None])[2].mean(axis=0)
    assert (np.abs(fit.problem.ties - ties)[~np.eye(3, dtype=bool)] < 4 * sem).all()
    assert jd.votes.fit(votes, "btl").problem.ties is None
