import math
from dataclasses import replace

import numpy as np
import pytest

from jaxduel.runs import Runs
from jaxduel.stats import interval95
from jaxduel.studies.estimates import (
    Estimate,
    apart,
    exact,
    final_ratio,
    growth,
    mean_final,
    mean_of,
    ratio_of_seen,
    slope,
    std_over_mean,
    std_ratio,
    unseen_chance,
)


def sample(regret: np.ndarray, times: tuple[int, ...] = (9,), most: float = math.inf) -> Runs:
    """Runs of a policy that settles; the largest regret is that of these runs at most."""
    regret = np.asarray(regret, float).reshape(-1, len(times))
    most_each = np.minimum(most, regret.max(axis=0))
    return Runs("a", "A", np.array(times), regret, np.arange(len(regret)), most=most_each)


def test_interval_of_a_ratio_covers_the_truth_and_gains_by_pairs():
    rng = np.random.default_rng(2)
    covered, widths = 0, []
    for _ in range(400):
        shared = rng.normal(0, 2, 200)
        first = sample(20 + shared + rng.normal(0, 0.5, 200))
        second = sample(10 + shared / 2 + rng.normal(0, 0.5, 200))
        low, high = final_ratio(first, second).interval
        covered += low < 2 < high
        wide = apart(first, second).interval
        widths.append((wide[1] - wide[0]) / (high - low))
    assert covered / 400 > 0.94
    assert np.mean(widths) > 1.1


def test_a_policy_that_settles_may_have_a_run_of_the_largest_regret():
    regret = np.random.default_rng(3).normal(20, 2, 50)
    few = sample(regret)
    settles = replace(few, most=np.array([5_000.0]))
    comes_back = replace(settles, settles=False)
    lowers, uppers = zip(
        *(mean_final(one).interval for one in (few, comes_back, settles)), strict=True
    )
    assert len({round(low, 9) for low in lowers}) == 1
    assert uppers[0] < uppers[1] < uppers[2]
    assert uppers[2] > 5_000 * unseen_chance(50)
    ratio = final_ratio(few, settles)  # of two equal means; the lower end is for the denominator
    assert ratio.upper < 1.2
    assert ratio.lower == pytest.approx(1 / final_ratio(settles, few).upper, rel=1e-3)


def test_runs_on_one_instance_count_as_one():
    rng = np.random.default_rng(4)
    regret = np.repeat(rng.gamma(4.0, size=20), 10)
    alone = sample(regret)
    grouped = replace(alone, groups=np.repeat(np.arange(20), 10))
    assert mean_final(grouped).runs == 20
    assert mean_final(grouped).value == mean_final(alone).value
    of_instances = mean_final(sample(regret[::10]))
    assert mean_final(grouped).interval == pytest.approx(of_instances.interval)


def test_samples_of_different_sizes_count_as_independent():
    rng = np.random.default_rng(3)
    first, second = sample(rng.normal(20, 2, 50)), sample(rng.normal(10, 1, 8))
    assert final_ratio(first, second) == apart(first, second)
    assert final_ratio(first, second).runs == 8
    assert final_ratio(first, second).value == pytest.approx(first.mean[-1] / second.mean[-1])


def test_quotients_and_differences_add_squares_of_the_ends():
    difference = Estimate(6.0, 3.0, 10.0, 10) - Estimate(2.0, -1.0, 6.0, 20)
    assert difference == Estimate(4.0, 4.0 - 5.0, 4.0 + 5.0, 10)
    quotient = Estimate(6.0, 3.0, 12.0, 10) / Estimate(2.0, 1.0, 4.0, None)
    factor = 2 ** math.sqrt(2)
    assert quotient.value == pytest.approx(3)
    assert quotient.interval == pytest.approx((3 / factor, 3 * factor))
    assert quotient.runs == 10
    assert str(difference) == "4 [-1, 9]"
    assert str(Estimate(4.0, np.nan, np.nan, 1)) == "4, no interval"


def test_a_quotient_of_independent_means_covers_the_truth():
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        first, second = sample(rng.gamma(4.0, size=60)), sample(rng.gamma(2.0, size=30))
        low, high = apart(first, second).interval
        covered += low < 2 < high
    assert covered / 400 > 0.94


def test_coefficient_of_variation_by_hand_and_its_interval_covers_the_truth():
    assert std_over_mean(*[sample([1, 2, 3])] * 2).value == pytest.approx(0.5)
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        own = sample(rng.gamma(4.0, size=200))  # its standard deviation is half its mean
        low, high = std_over_mean(own, own).interval
        covered += low < 0.5 < high
    assert covered / 400 > 0.94


def test_ratio_of_standard_deviations_covers_the_truth():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        first, second = sample(rng.normal(50, 3, 100)), sample(rng.normal(90, 6, 80))
        low, high = std_ratio(first, second).interval
        covered += low < 0.5 < high
    assert covered / 400 > 0.94


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_slope_of_a_power_of_time(power):
    times = (10, 99, 100, 400, 1000)
    regret = np.outer(np.linspace(1, 3, 100), np.power(times, power))
    found = slope(sample(regret, times))
    assert found.value == pytest.approx(power)
    assert found.lower <= power <= found.upper
    assert found.upper - found.lower < 0.1


def test_slope_begins_at_most_a_tenth_before_the_end():
    found = slope(sample([[1.0, 5.0, 7.0, 12.0]] * 2, (10, 30, 100, 500)))
    assert found.value == pytest.approx(math.log(12 / 5) / math.log(500 / 30))
    with pytest.raises(IndexError):
        slope(sample([[1.0, 2.0]], (5, 10)))


def test_the_slope_of_regret_that_no_run_adds_to_is_0_at_its_lower_end():
    regret = np.random.default_rng(5).gamma(4.0, size=30)
    found = slope(sample(np.stack([regret, regret], axis=1), (100, 1_000)))
    assert (found.value, found.lower) == (0.0, 0.0)
    assert found.upper > 0


def test_the_slope_of_a_policy_that_settles_may_be_1():
    """An unseen run may begin to lose in the last decade: its regret is 0 before, and large."""
    regret = np.tile([10.0, 11.0], (20, 1))
    settles = replace(sample(regret, (100, 1_000)), most=np.array([50.0, 500.0]))
    assert slope(settles).upper > 0.5
    assert slope(settles).lower <= slope(settles).value == pytest.approx(math.log10(1.1))


def test_mean_of_numbers():
    values = np.array([1.0, 2.0, 3.0, 6.0])
    found = mean_of(values)
    assert (found.value, found.runs) == (3, 4)
    assert found.interval == interval95(3.0, np.std(values, ddof=1) / 2, 4)


def test_ratio_of_numbers_of_instances():
    rng = np.random.default_rng(8)
    below = rng.gamma(4.0, size=400)
    found = ratio_of_seen(3 * below + rng.gamma(0.1, size=400), below)
    assert found.lower < 3 + 0.1 / 4 < found.upper
    assert found.upper - found.lower < 0.2


@pytest.mark.parametrize("regret", [[3.0], [0.0, 0.0]])
def test_where_nothing_can_be_said_the_interval_is_nan(regret):
    one = sample(regret)
    for estimate in (final_ratio(one, one), std_over_mean(one, one), std_ratio(one, one)):
        assert all(math.isnan(end) for end in estimate.interval)


def test_growth_with_the_logarithm_of_time():
    times = (10, 99, 100, 400, 1000)
    regret = np.outer(np.linspace(1, 3, 101), 5 + 4 * np.log(times))
    found = growth(sample(regret, times))
    assert found.value == pytest.approx(8)
    assert found.runs == 101
    assert found.lower < 8 < found.upper
    own = mean_final(sample(np.linspace(4, 12, 101), most=12.0))
    unseen = (5 + 4 * math.log(1000)) * 3 / math.log(1000 / 100)  # from 0 to the largest regret
    assert found.lower == pytest.approx(own.lower)
    assert found.upper == pytest.approx(
        mean_final(replace(sample(np.linspace(4, 12, 101)), most=np.array([unseen]))).upper
    )


def test_an_exact_number_is_its_own_interval():
    assert exact(2.5).interval == (2.5, 2.5)
    assert str(exact(1252.5107)) == "1253"
