"""Ranks against closed forms, exact posteriors, a search over all ranges, and simulation."""

from itertools import permutations

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import posterior
from jaxduel.votes.ranks import _bands, _chances, _ranges, _ranks
from tests.votes.cases import STRONG, btl_on_a_grid, drawn, relabelled

VOTES = jd.votes.from_counts([[0, 9, 8], [5, 0, 4], [1, 6, 0]], arms=["ada", "bob", "cyd"])
ENDS = ["rank_low", "rank_high"]


def by_arm(fit, *arguments):
    return fit.ranks(*arguments).set_index("arm").loc[list(fit.votes.arms)]


def inside(drawn_ranks, low, high):
    """True where all arms are within their ranges."""
    return ((low <= drawn_ranks) & (drawn_ranks <= high)).all(axis=-1)


@pytest.mark.parametrize(("wins", "sure"), [((12, 3), True), ((9, 5), False)])
def test_two_arms(wins, sure):
    """Both ranges are of one rank where the order is known with probability .95."""
    fit = jd.votes.fit(jd.votes.from_counts([[0, wins[0]], [wins[1], 0]], arms=["ada", "bob"]))
    above = fit.difference("ada", "bob").above
    assert (above >= 0.95) == sure
    table = fit.ranks(1)
    assert table.columns.tolist() == ["arm", "rank", *ENDS, "top_1"]
    assert table[["arm", "rank"]].to_numpy().tolist() == [["ada", 1], ["bob", 2]]
    assert table[ENDS].to_numpy().tolist() == ([[1, 1], [2, 2]] if sure else [[1, 2], [1, 2]])
    assert table["top_1"].tolist() == pytest.approx([above, 1 - above])
    assert fit.ranks()["top_3"].tolist() == pytest.approx([1, 1])


def test_chances_are_those_of_the_exact_posterior():
    fit = jd.votes.fit(VOTES)
    strengths, mass = btl_on_a_grid(VOTES, 601)
    ranks = np.argsort(np.argsort(-strengths, axis=0), axis=0)
    error = 4 / 2 / np.sqrt(fit.effective_draws)
    for top in (1, 2):
        exact = [mass[ranks[arm] < top].sum() for arm in range(3)]
        assert np.abs(by_arm(fit, top)[f"top_{top}"] - exact).max() < error + 0.005  # of the grid
    low, high = by_arm(fit)[ENDS].to_numpy().T - 1
    assert mass[inside(np.moveaxis(ranks, 0, -1), low, high)].sum() > 0.95 - error


@pytest.mark.parametrize("seed", range(8))
def test_ranges_are_the_narrowest_of_equal_tails(seed):
    """Every cut of the tails is tried: ranges leave out at either end all ranks that have less than
    the cut. The largest cut is taken that 95 % of draws are above, each by the other draws."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(24, 300, p=rng.dirichlet(np.full(24, 0.2)))
    orders, weights = np.array(list(permutations(range(4))))[kinds], rng.dirichlet(np.full(300, 2))
    low, high = _ranges(orders, weights, _chances(orders, weights))
    least = np.ones(300)
    for n, own in enumerate(orders):
        others = np.where(np.arange(300) == n, 0, weights)
        for arm, rank in enumerate(own):
            lower, upper = (
                others[orders[:, arm] <= rank].sum(),
                others[orders[:, arm] >= rank].sum(),
            )
            least[n] = min(least[n], lower, upper)
    cut = max(c for c in least if weights[least >= c].sum() >= 0.95)
    for arm in range(4):
        kept = [
            rank
            for rank in range(4)
            if weights[orders[:, arm] <= rank].sum() >= cut - 1e-9
            and weights[orders[:, arm] >= rank].sum() >= cut - 1e-9
        ]
        assert (low[arm], high[arm]) == (kept[0], kept[-1])
    assert weights[inside(orders, low, high)].sum() >= 0.95


@pytest.mark.parametrize("seed", range(8))
def test_bands_reach_no_further_than_they_must(seed):
    """Multiples of the deviations are tried from 0 on."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(24, 300, p=rng.dirichlet(np.full(24, 0.2)))
    orders, weights = np.array(list(permutations(range(4))))[kinds], rng.dirichlet(np.full(300, 2))
    low, high = _bands(orders, weights)
    bands = []
    for own in orders.T:
        mean = sum(weights * own)
        ends = [own[own < mean] - mean, own[own > mean] - mean]
        chances = [weights[own < mean], weights[own > mean]]
        bands.append((mean, *(sum(w * x**2) ** 0.5 for w, x in zip(chances, ends, strict=True))))
    mean, below, above = np.array(bands).T
    for reach in np.linspace(0, 6, 6_001):
        first, last = mean - reach * below, mean + reach * above
        if weights[inside(orders, first - 1e-6, last + 1e-6)].sum() >= 0.95:
            break
    assert weights[inside(orders, low, high)].sum() >= 0.95 - 1e-9
    assert low.tolist() == np.ceil(first - 0.01).clip(0).tolist()
    assert high.tolist() == np.floor(last + 0.01).clip(max=3).tolist()


@pytest.mark.parametrize(("num_arms", "gap"), [(6, 0.5), (60, 0.1), (60, 1.0), (500, 0.02)])
def test_ranges_hold_for_new_draws_of_many_arms(num_arms, gap):
    """Arms a few of which are within a deviation, or nearly all. Without leaving the draw out,
    ranges of 60 arms would hold in .94, and of 500 in .8 by their tails."""
    rng, means = np.random.default_rng(0), np.arange(num_arms) * gap
    old, new = (_ranks(means + rng.normal(size=(5_000, num_arms))) for _ in range(2))
    weights = np.full(5_000, 1 / 5_000)
    held = inside(new, *_ranges(old, weights, _chances(old, weights))).mean()
    error = 4 * np.sqrt(2 * 0.95 * 0.05 / 5_000)
    assert held > 0.95 - error
    assert held < 0.95 + error or num_arms < 10  # of few arms ranks are coarse


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_ranges_hold_at_once(model):
    fit = jd.votes.fit(drawn(np.random.default_rng(4), model, per_pair=9), model)
    low, high = by_arm(fit)[ENDS].to_numpy().T - 1
    drawn_ranks = _ranks(fit.draws.strengths)
    assert fit.draws.weights[inside(drawn_ranks, low, high)].sum() + 1e-9 >= 0.95
    assert ((low <= by_arm(fit)["rank"] - 1) & (by_arm(fit)["rank"] - 1 <= high)).all()
    expected = np.array([1 + (fit.strengths > own + 1e-6).sum() for own in fit.strengths])
    assert by_arm(fit)["rank"].tolist() == expected.tolist()


def test_level_arms_share_a_rank():
    fit = jd.votes.fit(jd.votes.from_counts([[0, 6, 9], [6, 0, 9], [3, 3, 0]]))
    assert fit.ranks()["rank"].tolist() == [1, 1, 3]


@pytest.mark.parametrize("model", STRONG)
def test_as_many_arms_are_in_the_top_as_it_has_places(model):
    fit = jd.votes.fit(drawn(np.random.default_rng(4), model, per_pair=9), model)
    np.testing.assert_allclose(by_arm(fit, 1)["top_1"], fit.best)
    for top in (2, 3, 5):
        assert fit.ranks(top)[f"top_{top}"].sum() == pytest.approx(top)
    assert fit.ranks(9)["top_9"].tolist() == pytest.approx([1] * 5)


@pytest.mark.parametrize("model", STRONG)
def test_relabelled_arms_have_relabelled_ranks(model):
    votes, order = drawn(np.random.default_rng(3), model, per_pair=9), [3, 0, 4, 1, 2]
    one, other = (jd.votes.fit(each, model) for each in (votes, relabelled(votes, order)))
    one, other = by_arm(one, 2).loc[list(other.votes.arms)], by_arm(other, 2)
    assert other[["rank", *ENDS]].equals(one[["rank", *ENDS]])
    np.testing.assert_allclose(other["top_2"], one["top_2"], atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("model", STRONG)
def test_ranges_cover_the_ranks_of_strengths_from_the_prior(model, monkeypatch):
    """All arms at once in 95 % or more, as often as the posterior says; single equal-tailed ranges
    cover much less."""
    monkeypatch.setattr(posterior, "_DRAWS", 4_000)
    rng, covered, said, single = np.random.default_rng(7), [], [], []
    for _ in range(1_000):
        strengths = rng.normal(scale=0.5, size=10)
        fit = jd.votes.fit(drawn(rng, model, strengths, per_pair=8), model, prior_std=0.5)
        low, high = by_arm(fit)[ENDS].to_numpy().T - 1
        drawn_ranks, weights = _ranks(fit.draws.strengths), fit.draws.weights
        truth = _ranks(strengths[None])[0]
        covered.append(inside(truth, low, high))
        said.append(weights[inside(drawn_ranks, low, high)].sum())
        below = np.cumsum(_chances(drawn_ranks, weights), axis=1)
        ends = (below >= 0.025).argmax(axis=1), (below >= 0.975).argmax(axis=1)
        single.append(inside(truth, *ends))
    error = 4 * np.std(np.subtract(covered, said)) / np.sqrt(len(said))
    assert min(said) >= 0.95 - 1e-9
    assert abs(np.mean(covered) - np.mean(said)) < error < 0.03
    assert np.mean(single) < np.mean(covered) - error


@pytest.mark.parametrize(
    ("model", "top", "message"),
    [
        ("free", 3, "the free model has no strengths to compare: fit btl"),
        ("btl", 0, "top must be a whole number of at least 1, not 0"),
        ("btl", 1.5, "top must be a whole number of at least 1, not 1.5"),
    ],
)
def test_bad_arguments_get_a_sentence(model, top, message):
    with pytest.raises(InputError, match=message):
        jd.votes.fit(VOTES, model).ranks(top)
