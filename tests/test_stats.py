"""Statistics of proportions, against their definition, exact coverage and exact tests."""

import numpy as np
import pytest
from scipy import stats

from jaxduel.errors import InputError
from jaxduel.stats import independent, paired, paired_shares, standard_error, wilson95
from tests.oracles.recommending import wilson


@pytest.mark.parametrize("n", [1, 7, 400])
def test_wilson_is_its_definition(n):
    successes = np.unique(np.linspace(0, n, 9).astype(int))
    found = np.transpose(wilson95(successes, n))
    np.testing.assert_allclose(found, [wilson(k, n) for k in successes], atol=1e-10)
    assert found[0, 0] == 0
    assert found[-1, 1] == 1


def test_wilson_covers_about_95_percent():
    """Exactly, averaged over probabilities; the counts broadcast."""
    p = np.linspace(0.01, 0.99, 99)
    low, high = wilson95(np.arange(101)[:, None], np.full(99, 100))
    mass = stats.binom.pmf(np.arange(101)[:, None], 100, p)
    covered = np.sum(mass * ((low <= p) & (p <= high)), axis=0)
    assert covered.mean() == pytest.approx(0.95, abs=0.005)
    assert covered.min() > 0.9


@pytest.mark.parametrize("n", [20, 60])
def test_the_difference_of_shares_is_covered_about_95_percent(n):
    """Exactly: by the counts of seeds that differ either way, of all that can be."""
    counts = np.array([(x, y, n - x - y) for x in range(n + 1) for y in range(n + 1 - x)])
    found = [paired_shares(np.repeat([1, 0, 1.0], c), np.repeat([0, 1, 1.0], c)) for c in counts]
    low, high = np.array([(one.lower95, one.upper95) for one in found]).T
    covered = []
    for p in np.linspace(0.01, 0.6, 12):
        for q in np.linspace(0.01, min(p, 0.98 - p), 6):
            mass = stats.multinomial.pmf(counts, n, [p, q, 1 - p - q])
            covered.append(np.sum(mass[(low <= p - q) & (p - q <= high)]))
    assert min(covered) > 0.93
    assert 0.945 < np.mean(covered) < 0.985


def test_shares_differ_where_an_exact_test_says_so():
    """McNemar's exact test; at p between 0.01 and 0.1 they may judge differently."""
    for only_a in range(30):
        for only_b in range(30):
            a = np.repeat([1.0, 0.0, 1.0, 0.0, np.nan], [only_a, only_b, 20, 20, 3])
            b = np.repeat([0.0, 1.0, 1.0, 0.0, 1.0], [only_a, only_b, 20, 20, 3])
            found = paired_shares(a, b)
            assert found.num_seeds == only_a + only_b + 40
            assert found.difference == pytest.approx((only_a - only_b) / found.num_seeds)
            p = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
            if not 0.01 < p < 0.1:
                ahead = "worse" if only_a > only_b else "better"
                assert found.verdict == ("undecided" if p > 0.05 else ahead)


def test_shares_without_a_seed_in_both_are_not_compared():
    assert paired_shares(np.array([1.0, np.nan]), np.array([np.nan, 0.0])) is None


def test_tables_of_checkpoints_are_no_pairs():
    tables = np.zeros((4, 5))
    for a, b in ((tables, tables), (tables[:, 0], tables[0]), (1.0, 1.0)):
        with pytest.raises(InputError, match="a number for each seed"):
            paired(a, b)
    with pytest.raises(InputError, match="0, 1 or NaN"):
        paired_shares([40.0, 50.0], [0.0, 1.0])
    assert paired([1, 2], [1, 4]) == paired(np.array([1.0, 2.0]), np.array([1.0, 4.0]))


def test_groups_may_have_any_labels():
    values = np.array([1.0, 1.0, 3.0, 3.0])
    assert standard_error(values, np.array([0, 0, 1, 1])) == 1  # by hand: means 1 and 3
    for labels in ([1, 1, 2, 2], [-3, -3, 7, 7], ["a", "a", "b", "b"]):
        assert standard_error(values, np.array(labels)) == 1
    with pytest.raises(InputError, match="4 runs need as many groups"):
        standard_error(values, np.array([0, 1]))


@pytest.mark.parametrize("sizes", [(5, 40), (30, 2)])
def test_independent_samples_are_compared_by_welchs_interval(sizes):
    rng = np.random.default_rng(sum(sizes))
    a, b = rng.normal(3, 2, sizes[0]), rng.normal(2, 0.5, sizes[1])
    found, wanted = independent(a, b), stats.ttest_ind(a, b, equal_var=False)
    assert found.difference == pytest.approx(a.mean() - b.mean())
    assert (found.lower95, found.upper95) == pytest.approx(tuple(wanted.confidence_interval()))
    assert found.sem == found.unpaired_sem == pytest.approx(found.difference / wanted.statistic)
    assert found.num_seeds == min(sizes)


def test_samples_without_spread_have_no_interval_but_a_point():
    found = independent(np.full(4, 2.0), np.full(3, 1.0))
    assert (found.lower95, found.upper95, found.verdict) == (1, 1, "worse")
    assert np.isnan(independent(np.ones(1), np.zeros(3)).lower95)
    with pytest.raises(InputError, match="one number for each seed"):
        independent(np.ones((2, 2)), np.ones(3))
