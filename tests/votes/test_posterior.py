"""Posteriors of strengths against quadrature of the exact ones, and simulation."""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_expit

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.numerics.hamiltonian import diagnosed
from jaxduel.problems.strengths import davidson, preferences
from jaxduel.votes import posterior
from tests.votes.cases import STRENGTHS, STRONG, btl_on_a_grid, drawn, log_posterior, probabilities


def exact_moments(model, votes):
    """Mean and deviation of d_01, and the mean preference p_01, by quadrature over d_01 and, at
    K = 3, d_02, or log nu; and d_01 and its deviation by the curvature at the mode."""
    fit = jd.votes.fit(votes, model)
    num_arms = len(votes.arms)
    d, cov = fit.strengths[0] - fit.strengths, fit.mode.factor @ fit.mode.factor.T
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
    return (mean, std, weights @ np.array(p)), (d[1], np.sqrt(axes[0][1]))


@pytest.mark.parametrize(
    ("model", "num_arms"), [("btl", 2), ("thurstone", 2), ("davidson", 2), ("btl", 3)]
)
def test_mode_and_curvature_against_the_exact_posterior(model, num_arms):
    """The next term of a Laplace approximation is of order 1/n, for the mean in units of the
    deviation 1/sqrt(n). So with n = 100 and 400 votes a pair errors are below 1/sqrt(n)
    deviations and 4/n, and about halve and quarter: nothing of lower order is wrong."""
    errors = []
    for n in (100, 400):
        wins, ties = np.zeros((2, num_arms, num_arms), int)
        win, tie = probabilities(model, STRENGTHS[[0, 2, 4]][:num_arms])
        for i, j in zip(*np.triu_indices(num_arms, 1), strict=True):
            ties[i, j] = ties[j, i] = round(n * tie[i, j])
            wins[i, j] = round(n * win[i, j])
            wins[j, i] = n - wins[i, j] - ties[i, j]
        (mean, std, _), laplace = exact_moments(model, jd.votes.from_counts(wins, ties))
        error = np.abs([(mean - laplace[0]) / std, laplace[1] / std - 1])
        assert np.all(error < np.array([1 / np.sqrt(n), 4 / n]))
        errors.append(error)
    assert np.all(errors[1] < np.array([0.6, 0.35]) * errors[0])


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_draws_against_the_exact_posterior_of_few_votes(model):
    """One arm won all of ten votes: skewed, and thurstone's normal p is .04 too low."""
    votes = jd.votes.from_counts([[0, 10], [0, 0]])
    (mean, std, p), (mode, _) = exact_moments(model, votes)
    fit = jd.votes.fit(votes, model)
    error = 1 / np.sqrt(fit.draws.effective)  # of a mean of weighted draws, in deviations
    d = fit.draws.strengths @ [1, -1]
    assert abs(fit.draws.weights @ d - mean) < 4 * error * std < mean - mode
    drawn_p = preferences(model, d, fit.draws.log_nu)
    spread = np.sqrt(fit.draws.weights @ (drawn_p - p) ** 2)
    assert abs(fit.problem.preferences[0, 1] - p) < 4 * error * spread < 0.01


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_draws_of_many_votes_are_normal(model):
    votes = drawn(np.random.default_rng(4), model, per_pair=10**7)
    fit = jd.votes.fit(votes, model)
    std = np.linalg.norm(fit.mode.factor, axis=1)[:5]
    z = stats.norm.ppf(0.975)
    error = np.sqrt(0.025 * 0.975 / fit.draws.effective) / stats.norm.pdf(z)  # of a quantile
    normal = fit.strengths[:, None] + np.outer(std, [-z, z])
    assert (np.abs(fit.strength_intervals - normal) < 4 * error * std[:, None]).all()
    p = preferences(model, fit.strengths[:, None] - fit.strengths, np.log(fit.nu or 1))
    np.testing.assert_allclose(fit.problem.preferences, p, atol=std.max() * error)


@pytest.mark.parametrize("model", STRONG)
def test_weights_are_as_effective_as_their_law_says(model):
    """Of a normal posterior: its density over t's, squared, by quadrature."""
    fit = jd.votes.fit(drawn(np.random.default_rng(4), model, per_pair=10**7), model)
    count, first = len(fit.draws.weights), np.eye(len(fit.mode.parameters) - 1)[0]
    target = stats.multivariate_normal(0 * first)
    proposal = stats.multivariate_t(0 * first, df=posterior._LEAST_DEGREES)
    expected = stats.chi(len(first)).expect(
        lambda r: np.exp(target.logpdf(r * first) - proposal.logpdf(r * first))
    )
    squares = (count * fit.draws.weights) ** 2
    error_of_squares = squares.std() / np.sqrt(count / 2)  # draws are pairs
    assert abs(count / fit.draws.effective - expected) < 4 * error_of_squares < 0.05


@pytest.mark.parametrize("model", STRONG)
def test_chains_and_weights_agree(model, monkeypatch):
    votes = drawn(np.random.default_rng(4), model, per_pair=6)
    one = jd.votes.fit(votes, model)
    monkeypatch.setattr(posterior, "_weighted", lambda *arguments: None)
    other = jd.votes.fit(votes, model)
    assert len(other.draws.weights) == 4_096
    assert other.draws.effective > 1_000
    error = np.sqrt(1 / one.draws.effective + 1 / other.draws.effective)
    assert np.abs(one.best - other.best).max() < 4 * error / 2
    d = one.draws.strengths[:, :, None] - one.draws.strengths[:, None, :]
    spread = preferences(model, d, one.draws.log_nu[:, None, None]).std(axis=0)
    apart = np.abs(one.problem.preferences - other.problem.preferences)
    assert (apart <= 4 * error * spread).all()
    std = np.linalg.norm(one.mode.factor, axis=1)[:5, None]
    error_of_ends = error * np.sqrt(0.025 * 0.975) / stats.norm.pdf(1.96)
    assert (
        np.abs(one.strength_intervals - other.strength_intervals) < 4 * error_of_ends * std
    ).all()
    assert np.abs(one.stronger - other.stronger).max() < 4 * error / 2


def gibbs(votes, sweeps, rng):
    """Strengths of btl (sweeps, K), centred, of one chain that draws each strength in turn from its
    conditional law on a grid."""
    num_arms, steps = votes.num_arms, np.linspace(-9, 9, 451)
    strengths, drawn_strengths = np.zeros(num_arms), np.empty((sweeps, num_arms))
    met = [np.flatnonzero(n) for n in votes.decisive]
    for sweep in range(sweeps):
        for arm, others in enumerate(met):
            d = steps[:, None] - strengths[others]
            log = log_expit(d) @ votes.wins[arm, others] + log_expit(-d) @ votes.wins[others, arm]
            log -= steps**2 / 8
            below = np.cumsum(np.exp(log - log.max()))
            strengths[arm] = np.interp(rng.random() * below[-1], below, steps)
        drawn_strengths[sweep] = strengths
    return drawn_strengths - drawn_strengths.mean(axis=1, keepdims=True)


@pytest.mark.thorough
def test_few_votes_of_many_arms_against_another_sampler():
    """60 arms with 12 votes each, of which the weights of too few draws count."""
    rng = np.random.default_rng(5)
    strengths, wins = rng.normal(scale=1.5, size=60), np.zeros((60, 60), int)
    for i, j in rng.integers(60, size=(360, 2)):
        if i != j:
            first = rng.random() < expit(strengths[i] - strengths[j])
            wins[(i, j) if first else (j, i)] += 1
    votes = jd.votes.from_counts(wins)
    fit = jd.votes.fit(votes)
    assert np.ptp(fit.draws.weights) == 0
    chains = np.stack([gibbs(votes, 4_000, np.random.default_rng(seed)) for seed in range(4)], 1)
    effective, r_hat = diagnosed(chains[200:])
    assert r_hat.max() < 1.01
    other = chains[200:].reshape(-1, 60)
    error = np.sqrt(1 / effective + 1 / fit.draws.effective)
    means = fit.draws.weights @ fit.draws.strengths
    assert (np.abs(other.mean(axis=0) - means) < 4 * error * other.std(axis=0)).all()
    for end, level in zip(fit.strength_intervals.T, (0.025, 0.975), strict=True):
        below = (other < end).mean(axis=0)
        assert (np.abs(below - level) < 4 * error * np.sqrt(0.025 * 0.975)).all()
    assert (
        np.abs(np.bincount(other.argmax(axis=1), minlength=60) / len(other) - fit.best).max()
        < 2 * error.max()
    )


@pytest.mark.parametrize(
    ("num_arms", "num_votes"),
    [
        pytest.param(5, 20, marks=pytest.mark.thorough),
        *(pytest.param(*size, marks=pytest.mark.slow) for size in ((50, 300), (120, 800))),
    ],
)
@pytest.mark.parametrize("model", STRONG)
def test_the_truth_s_rank_among_draws_is_uniform(model, num_arms, num_votes):
    """Simulation-based calibration (Talts et al., 2018): of 200 instances from the prior, the share
    of each strength's posterior that is below it has the mean and the variance of a uniform law."""
    rng, shares = np.random.default_rng([num_arms, 8]), []
    pairs = np.array(list(zip(*np.triu_indices(num_arms, 1), strict=True)))
    for _ in range(200):
        strengths, nu = rng.normal(scale=2.0, size=num_arms), np.exp(rng.normal(scale=2.0))
        win, tie = probabilities(model, strengths, nu)
        wins, ties = np.zeros((2, num_arms, num_arms), int)
        for i, j in pairs[rng.integers(len(pairs), size=num_votes)]:
            outcome = rng.choice(3, p=[win[i, j], win[j, i], tie[i, j]])
            wins[i, j] += outcome == 0
            wins[j, i] += outcome == 1
            ties[i, j] += outcome == 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # arms that never met
            draws = jd.votes.fit(jd.votes.from_counts(wins, ties + ties.T), model).draws
        truth = strengths - strengths.mean()
        shares.append(draws.weights @ (draws.strengths < truth))
    shares = np.array(shares) - 0.5
    for power, expected in ((1, 0), (2, 1 / 12), (4, 1 / 80)):
        means = (shares**power).mean(
            axis=1
        )  # of the arms of an instance, which are not independent
        error = means.std(ddof=1) / np.sqrt(len(means))
        assert abs(means.mean() - expected) < 4 * error < 0.05


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


@pytest.mark.thorough
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("model", STRONG)
def test_few_votes_of_strengths_from_the_prior_are_calibrated(model):
    """Intervals cover, and the arm with the largest P(best) is the best as often as that says.
    Normal at the mode, intervals of thurstone would cover .89 here, and P(best) be .065 too low."""
    rng, covers, surplus = np.random.default_rng(9), [], []
    for _ in range(400):
        strengths = rng.normal(scale=2.0, size=3)
        fit = jd.votes.fit(drawn(rng, model, strengths, per_pair=4), model)
        low, high = fit.strength_intervals.T
        centred, named = strengths - strengths.mean(), np.argmax(fit.best)
        covers.append(np.mean((low <= centred) & (centred <= high)))
        surplus.append((named == np.argmax(strengths)) - fit.best[named])
    for values, expected in ((covers, 0.95), (surplus, 0)):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - expected) < 4 * error


@pytest.mark.thorough
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


@pytest.mark.usefixtures("kind")
def test_the_mean_instance_of_davidson_has_the_mean_ties():
    votes = jd.votes.from_counts(
        [[0, 12, 14], [8, 0, 11], [6, 9, 0]], ties=[[0, 5, 2], [5, 0, 3], [2, 3, 0]]
    )
    fit = jd.votes.fit(votes, "davidson")
    strengths, log_nu = fit.draws.resampled(np.random.default_rng(0), 200_000)
    d = strengths[:, :, None] - strengths[:, None, :]
    ties = davidson(d, log_nu[:, None, None])[2].mean(axis=0)
    away = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(fit.problem.ties[away], ties[away], atol=1e-4)
    assert jd.votes.fit(votes, "btl").problem.ties is None


TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"
VOTES = jd.votes.from_counts([[0, 9, 8], [5, 0, 4], [1, 6, 0]], arms=["ada", "bob", "cyd"])


@pytest.mark.usefixtures("kind")
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
        ("btl", ("adda", 1), "unknown arm 'adda' .did you mean 'ada'"),
        ("btl", (0, 3), "votes has arms 0 to 2, not 3"),
        ("btl", (0, -1), "an arm's number must be a whole number of at least 0, not -1"),
    ],
)
def test_bad_arms_get_a_sentence(model, arms, message):
    with pytest.raises(InputError, match=message):
        jd.votes.fit(VOTES, model).difference(*arms)
