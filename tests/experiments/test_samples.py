import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments.samples import Sample
from jaxduel.stats import interval95, standard_error, t95


def sample_of(regret: np.ndarray, groups: np.ndarray | None = None, **more) -> Sample:
    times = np.arange(1, regret.shape[1] + 1)
    own = np.arange(len(regret)) if groups is None else groups
    return Sample("rucb", "RUCB", times, regret, own, **more)


def test_one_result_has_the_statistics_of_the_result():
    regret = np.random.default_rng(0).exponential(size=(30, 4))
    plays = np.zeros((*regret.shape, 2), np.int64)
    runs = jd.Result("rucb", "toy", 4, 0, "average", np.arange(1, 5), regret, plays)
    sample = sample_of(regret)
    np.testing.assert_allclose(sample.mean, runs.mean)
    np.testing.assert_allclose(sample.sem, runs.sem)
    curve = sample.curve()
    np.testing.assert_allclose(curve.std, runs.std)
    np.testing.assert_allclose(curve.median, runs.quantile(0.5))
    assert (sample.num_runs, sample.num_groups) == (30, 30)


def test_several_instances_have_the_standard_error_of_their_means():
    rng = np.random.default_rng(1)
    regrets = [rng.normal(10 * i, 1.0, (5, 3)) for i in range(8)]
    sample = sample_of(np.concatenate(regrets), np.repeat(np.arange(8), 5))
    means = np.array([regret.mean(axis=0) for regret in regrets])
    np.testing.assert_allclose(sample.sem, means.std(axis=0, ddof=1) / np.sqrt(8))
    assert (sample.num_runs, sample.num_groups) == (40, 8)


def test_one_group_has_no_standard_error():
    assert np.isnan(standard_error(np.ones((3, 2)), np.zeros(3, int))).all()
    lower, upper = interval95(np.array(1.0), np.array(np.nan), 1)
    assert np.isnan(lower)
    assert np.isnan(upper)


def test_student_quantiles():
    assert t95(10) == pytest.approx(2.262157)
    assert t95(100_000) == pytest.approx(1.96, abs=1e-3)


def test_a_curve_of_separate_runs_says_so():
    assert sample_of(np.ones((3, 2)), separate=True).curve().separate
    assert not sample_of(np.ones((3, 2))).curve().separate


def test_shares_of_exploitations_by_hand():
    sample = sample_of(np.ones((3, 2)), selves=np.array([[6, 2, 100], [0, 5, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(sample.shares((0, 1)), [[0.75, 0.25], [0, 1], [np.nan, np.nan]])
    np.testing.assert_array_equal(sample.ordered_shares((0, 1)), [[0.75, 0.25], [1, 0]])
    with pytest.raises(ValueError, match="not recorded"):
        sample_of(np.ones((3, 2))).shares((0, 1))


def test_samples_until_a_checkpoint_and_in_another_unit():
    regret = np.array([[1.0, 2.0, 4.0], [3.0, 4.0, 8.0]])
    runs = Sample("a", "A", np.array([10, 50, 100]), regret, np.arange(2))
    assert runs.spans_a_decade
    half = runs.until(50)
    np.testing.assert_array_equal(half.final, [2, 4])
    np.testing.assert_array_equal(half.checkpoints, [10, 50])
    assert not half.spans_a_decade
    np.testing.assert_array_equal(runs.scaled(2.0).final, [8, 16])
    np.testing.assert_array_equal(runs.final, [4, 8])
