import math

import numpy as np
import pytest

from jaxduel.experiments.estimates import (
    Exact,
    Number,
    Ratio,
    apart,
    final_ratio,
    growth,
    mean_of,
    slope,
    std_over_mean,
    std_ratio,
)
from jaxduel.experiments.samples import Sample
from jaxduel.stats import t95


def sample(regret: np.ndarray, times: tuple[int, ...] = (9,)) -> Sample:
    regret = np.asarray(regret, float).reshape(-1, len(times))
    return Sample("a", "A", np.array(times), regret, np.arange(len(regret)))


def test_interval_of_a_ratio_covers_the_truth():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        shared = rng.normal(0, 2, 20)
        first = sample(20 + shared + rng.normal(0, 1, 20))
        second = sample(10 + shared / 2 + rng.normal(0, 1, 20))
        low, high = final_ratio(first, second).interval
        covered += low < 2 < high
    assert 0.91 < covered / 400 < 0.98


def test_samples_of_different_sizes_count_as_independent():
    rng = np.random.default_rng(3)
    first, second = rng.normal(20, 2, 50), rng.normal(10, 1, 8)
    ratio = final_ratio(sample(first), sample(second))
    errors = [x.std(ddof=1) / math.sqrt(len(x)) / x.mean() for x in (first, second)]
    assert ratio.value == pytest.approx(first.mean() / second.mean())
    assert ratio.log_error == pytest.approx(math.hypot(*errors))
    assert ratio.groups == 8


def test_quotient_of_ratios_adds_variances():
    quotient = Ratio(6.0, 0.3, 10) / Ratio(2.0, 0.4, 20)
    assert quotient.value == 3
    assert quotient.log_error == pytest.approx(0.5)
    assert quotient.groups == 10


def test_difference_of_numbers_adds_variances():
    difference = Number(6.0, 0.3, 10) - Number(2.0, 0.4, 20)
    assert difference.value == 4
    assert difference.error == pytest.approx(0.5)
    assert difference.interval == pytest.approx((4 - 0.5 * t95(10), 4 + 0.5 * t95(10)))
    assert str(difference) == "4 [2.87, 5.13]"


def test_coefficient_of_variation_by_hand_and_its_interval_covers_the_truth():
    assert std_over_mean(*[sample([1, 2, 3])] * 2).value == pytest.approx(0.5)
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        own = sample(rng.gamma(4.0, size=200))  # its standard deviation is half its mean
        low, high = std_over_mean(own, own).interval
        covered += low < 0.5 < high
    assert 0.90 < covered / 400 < 0.98


def test_ratio_of_standard_deviations_covers_the_truth():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        first, second = sample(rng.normal(50, 3, 100)), sample(rng.normal(90, 6, 80))
        low, high = std_ratio(first, second).interval
        covered += low < 0.5 < high
    assert 0.90 < covered / 400 < 0.98


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_slope_of_a_power_of_time(power):
    times = (10, 99, 100, 400, 1000)
    regret = np.outer([1.0, 2.0, 3.0], np.power(times, power))
    found = slope(sample(regret, times))
    assert found.value == pytest.approx(power)
    assert found.error == pytest.approx(0, abs=1e-12)  # every run has the same slope


def test_slope_begins_at_most_a_tenth_before_the_end():
    found = slope(sample([[1.0, 5.0, 7.0, 12.0]], (10, 30, 100, 500)))
    assert found.value == pytest.approx(math.log(12 / 5) / math.log(500 / 30))
    with pytest.raises(IndexError):
        slope(sample([[1.0, 2.0]], (5, 10)))


def test_mean_of_numbers():
    found = mean_of(np.array([1.0, 2.0, 3.0, 6.0]))
    assert found.value == 3
    assert found.error == pytest.approx(np.std([1, 2, 3, 6], ddof=1) / 2)


@pytest.mark.parametrize("regret", [[3.0], [0.0, 0.0]])
def test_where_nothing_can_be_said_the_interval_is_nan(regret):
    one = sample(regret)
    for estimate in (final_ratio(one, one), std_over_mean(one, one), std_ratio(one, one)):
        assert all(math.isnan(end) for end in estimate.interval)


def test_growth_with_the_logarithm_of_time():
    times = (10, 99, 100, 400, 1000)
    regret = np.outer([1.0, 2.0, 3.0], 5 + 4 * np.log(times))
    found = growth(sample(regret, times))
    assert found.value == pytest.approx(8)
    assert found.error == pytest.approx(4 / math.sqrt(3))
    assert found.groups == 3


def test_runs_that_have_nothing_in_common_are_independent():
    rng = np.random.default_rng(6)
    shared = rng.normal(0, 2, 50)
    first, second = 20 + shared, 10 + shared / 2
    ratio = apart(sample(first), sample(second))
    errors = [x.std(ddof=1) / math.sqrt(50) / x.mean() for x in (first, second)]
    assert ratio.log_error == pytest.approx(math.hypot(*errors))
    assert ratio.value == final_ratio(sample(first), sample(second)).value


def test_an_exact_number_is_its_own_interval():
    assert Exact(2.5).interval == (2.5, 2.5)
    assert str(Exact(1252.5107)) == "1253"
