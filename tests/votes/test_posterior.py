"""Posteriors of strengths against quadrature of the exact ones, and simulation."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.problems.strengths import davidson, preferences
from jaxduel.votes import posterior
from tests.votes.cases import STRENGTHS, STRONG, btl_on_a_grid, drawn, log_posterior, probabilities

SIZE = 2_000


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
    count, first = len(fit.draws.weights), np.eye(len(fit.posterior.factor) - 1)[0]
    target = stats.multivariate_normal(0 * first)
    proposal = stats.multivariate_t(0 * first, df=posterior._LEAST_DEGREES)
    expected = stats.chi(len(first)).expect(
        lambda r: np.exp(target.logpdf(r * first) - proposal.logpdf(r * first))
    )
    squares = (count * fit.draws.weights) ** 2
    error_of_squares = squares.std() / np.sqrt(count / 2)  # draws are pairs
    assert abs(count / fit.draws.effective - expected) < 4 * error_of_squares < 0.05
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


TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"
VOTES = jd.votes.from_counts([[0, 9, 8], [5, 0, 4], [1, 6, 0]], arms=["ada", "bob", "cyd"])


@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 1), (0, 2)])
def test_a_difference_is_that_of_the_exact_posterior(first, second):
    """The ends are quantiles to four standard errors of their levels; the grid is fine enough."""
    fit = jd.votes.fit(VOTES)
    found = fit.difference(first, VOTES.arms[second])
    strengths, mass = btl_on_a_grid(VOTES)
    d = strengths[first] - strengths[second]
    error = 1 / np.sqrt(fit.draws.effective)
    assert abs(found.above - mass[d > 0].sum() - mass[d == 0].sum() / 2) < 4 * error / 2
    step = 20 / 300 * mass.sum(axis=1).max()  # of the distribution, between points of the grid
    for end, level in ((found.low, 0.025), (found.high, 0.975)):
        assert abs(mass[d < end].sum() - level) < 4 * error * np.sqrt(0.025) + step / 2
    assert found.value == fit.strengths[first] - fit.strengths[second]
    assert found.arms == (VOTES.arms[first], VOTES.arms[second])


def test_the_other_way_round_is_the_opposite():
    fit = jd.votes.fit(VOTES)
    one, other = fit.difference("ada", "bob"), fit.difference(1, 0)
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low))
    assert other.above == pytest.approx(1 - one.above)


@pytest.mark.parametrize("model", STRONG)
def test_a_normal_posterior_has_normal_differences(model, monkeypatch):
    monkeypatch.setattr(posterior, "_LEAST_EFFECTIVE", 20_001)
    fit = jd.votes.fit(drawn(np.random.default_rng(1), model, per_pair=9), model)
    assert fit.normal
    found = fit.difference(0, 1)
    normals = np.random.default_rng(2).standard_normal((100_000, len(fit.posterior.factor)))
    d = fit.posterior.draws(normals)[0] @ [1, -1, 0, 0, 0]
    law = stats.norm(found.value, (found.high - found.low) / 2 / stats.norm.ppf(0.975))
    assert stats.kstest(d, law.cdf).pvalue > 6e-5
    assert found.above == pytest.approx(law.sf(0))
    assert (found.low + found.high) / 2 == pytest.approx(found.value)


def test_overlapping_intervals_are_no_test():
    """Of the guide's tournament: dan's interval reaches into ada's, whose lead is clear of 0."""
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT))
    intervals = dict(zip(fit.votes.arms, fit.strength_intervals.tolist(), strict=True))
    found = fit.difference("ada", "dan")
    assert intervals["dan"][1] > intervals["ada"][0]
    assert 0 < found.low < found.high
    assert found.above > 0.98


def test_the_table_has_the_differences_to_the_first():
    fit = jd.votes.fit(VOTES)
    first, *others = fit.table().to_dict("records")
    assert all(np.isnan(first[name]) for name in ("gap", "gap_low", "gap_high", "gap_above"))
    for row in others:
        numbers = row["gap"], row["gap_low"], row["gap_high"], row["gap_above"]
        assert numbers == pytest.approx(fit.difference(first["arm"], row["arm"])[1:])
    assert "gap" not in jd.votes.fit(VOTES, "free").table()


@pytest.mark.parametrize(
    ("model", "arms", "message"),
    [
        ("free", (0, 1), "the free model has no strengths to compare: fit btl"),
        ("btl", (0, 0), "the arm 'ada' is compared with itself"),
        ("btl", (0, "ada"), "the arm 'ada' is compared with itself"),
        ("btl", ("adda", 1), "unknown arm 'adda': .* did you mean 'ada'"),
        ("btl", (0, 3), "votes has arms 0 to 2, not 3"),
        ("btl", (0, -1), "an arm's number must be a whole number of at least 0, not -1"),
    ],
)
def test_bad_arms_get_a_sentence(model, arms, message):
    with pytest.raises(InputError, match=message):
        jd.votes.fit(VOTES, model).difference(*arms)
