from dataclasses import replace

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments.samples import Sample
from jaxduel.stats import interval95, standard_error, t95


def result(regret: np.ndarray, batches: np.ndarray | None = None) -> jd.Result:
    times = np.arange(1, regret.shape[1] + 1)
    plays = np.zeros((*regret.shape, 2), np.int64)
    return jd.Result("rucb", "toy", len(times), 0, "average", times, regret, plays, batches)


def test_one_result_has_the_statistics_of_the_result():
    runs = result(np.random.default_rng(0).exponential(size=(30, 4)))
    sample = Sample.pooled("rucb", "RUCB", [runs])
    np.testing.assert_allclose(sample.mean, runs.mean)
    np.testing.assert_allclose(sample.sem, runs.sem)
    curve = sample.curve()
    np.testing.assert_allclose(curve.std, runs.std)
    np.testing.assert_allclose(curve.median, runs.quantile(0.5))
    assert (sample.num_runs, sample.num_groups) == (30, 30)


def test_several_instances_have_the_standard_error_of_their_means():
    rng = np.random.default_rng(1)
    regrets = [rng.normal(10 * i, 1.0, (5, 3)) for i in range(8)]
    sample = Sample.pooled("rucb", "RUCB", [result(regret) for regret in regrets])
    means = np.array([regret.mean(axis=0) for regret in regrets])
    np.testing.assert_allclose(sample.sem, means.std(axis=0, ddof=1) / np.sqrt(8))
    assert (sample.num_runs, sample.num_groups) == (40, 8)


def test_batches_are_pooled():
    parts = [result(np.ones((2, 1)), np.array([1, 2])), result(np.ones((1, 1)), np.array([3]))]
    np.testing.assert_array_equal(Sample.pooled("scomp", "SCOMP", parts).batches, [1, 2, 3])


def test_one_group_has_no_standard_error():
    assert np.isnan(standard_error(np.ones((3, 2)), np.zeros(3, int))).all()
    lower, upper = interval95(np.array(1.0), np.array(np.nan), 1)
    assert np.isnan(lower)
    assert np.isnan(upper)


def test_student_quantiles():
    assert t95(10) == pytest.approx(2.262157)
    assert t95(100_000) == pytest.approx(1.96, abs=1e-3)


def test_a_curve_of_separate_runs_says_so():
    runs = result(np.ones((3, 2)))
    assert Sample.pooled("btm", "BTM", [runs], separate=True).curve().separate
    assert not Sample.pooled("btm", "BTM", [runs]).curve().separate


def test_shares_of_exploitations_by_hand():
    runs = result(np.ones((3, 2)))
    pairs = np.zeros((3, 2, 3, 3), np.int64)
    pairs[:, 0] = 50  # an earlier checkpoint
    pairs[0, 1] = [[6, 9, 9], [9, 2, 9], [9, 9, 100]]
    pairs[1, 1] = [[0, 9, 9], [9, 5, 9], [9, 9, 0]]
    sample = Sample.pooled("dts", "D-TS", [replace(runs, pairs=pairs)])
    np.testing.assert_array_equal(sample.selves, [[6, 2, 100], [0, 5, 0], [0, 0, 0]])
    np.testing.assert_array_equal(sample.shares((0, 1)), [[0.75, 0.25], [0, 1], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="not recorded"):
        Sample.pooled("dts", "D-TS", [runs]).shares((0, 1))


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
