"""Differences of strengths against quadrature of the exact posterior, and closed forms."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import posterior
from tests.votes.cases import STRONG, btl_on_a_grid, drawn

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
