"""Runs, and their statistics."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import Line
from jaxduel.runs import Runs
from jaxduel.stats import interval95, moments_of, standard_error, t95


def runs_of(regret: np.ndarray, groups: np.ndarray | None = None, **more) -> Runs:
    times = np.arange(1, regret.shape[1] + 1)
    return Runs(name="rucb", label="RUCB", times=times, regret=regret, groups=groups, **more)


def test_a_result_gives_its_runs():
    regret = np.random.default_rng(0).exponential(size=(30, 4))
    plays = np.zeros((*regret.shape, 2), np.int64)
    result = jd.Result("rucb", "toy", 4, 0, "average", np.arange(1, 5), regret, plays)
    statistics = result.runs.statistics()
    own = {"mean": result.mean, "sem": result.sem, "std": result.std}
    own |= {"q25": result.quantile(0.25), "median": result.quantile(0.5)}
    own |= dict(zip(("lower95", "upper95"), result.interval, strict=True))
    for name, numbers in own.items():
        np.testing.assert_array_equal(statistics[name], numbers)
    by_hand = regret.mean(axis=0) + t95(30) * regret.std(axis=0, ddof=1) / np.sqrt(30)
    np.testing.assert_allclose(statistics["upper95"], by_hand)
    assert [row[0] for row in result.runs.rows()] == [1, 2, 3, 4]
    assert result.runs.rows()[-1][1] == result.mean[-1]
    assert result.runs.rows()[0][-1] == 30


def test_each_run_is_a_group_unless_told_otherwise():
    regret = np.random.default_rng(0).exponential(size=(30, 4))
    alone, grouped = runs_of(regret), runs_of(regret, np.arange(30))
    np.testing.assert_allclose(alone.sem, grouped.sem)
    np.testing.assert_array_equal(alone.by_group(regret[:, 0]), grouped.by_group(regret[:, 0]))
    assert (alone.num_runs, alone.num_groups) == (grouped.num_runs, grouped.num_groups) == (30, 30)


def test_moments_of_all_runs_stand_for_those_without_rows():
    regret = np.random.default_rng(0).exponential(size=(30, 4))
    some = runs_of(regret[:5], moments=moments_of(regret))
    np.testing.assert_array_equal(some.mean, runs_of(regret).mean)
    np.testing.assert_array_equal(some.interval, runs_of(regret).interval)
    assert some.num_runs == 30
    assert Line.of(some).seeds is None


def test_several_instances_have_the_standard_error_of_their_means():
    rng = np.random.default_rng(1)
    regrets = [rng.normal(10 * i, 1.0, (5, 3)) for i in range(8)]
    runs = runs_of(np.concatenate(regrets), np.repeat(np.arange(8), 5))
    means = np.array([regret.mean(axis=0) for regret in regrets])
    np.testing.assert_allclose(runs.sem, means.std(axis=0, ddof=1) / np.sqrt(8))
    assert (runs.num_runs, runs.num_groups) == (40, 8)


def test_one_group_has_no_standard_error():
    assert np.isnan(standard_error(np.ones((3, 2)), np.zeros(3, int))).all()
    lower, upper = interval95(np.array(1.0), np.array(np.nan), 1)
    assert np.isnan(lower)
    assert np.isnan(upper)


def test_student_quantiles():
    assert t95(10) == pytest.approx(2.262157)
    assert t95(100_000) == pytest.approx(1.96, abs=1e-3)


def test_a_line_of_separate_runs_says_so():
    assert Line.of(runs_of(np.ones((3, 2)), separate=True)).separate
    assert not Line.of(runs_of(np.ones((3, 2)))).separate


def test_shares_of_exploitations_by_hand():
    runs = runs_of(np.ones((3, 2)), selves=np.array([[6, 2, 100], [0, 5, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(runs.shares((0, 1)), [[0.75, 0.25], [0, 1], [np.nan, np.nan]])
    np.testing.assert_array_equal(runs.ordered_shares((0, 1)), [[0.75, 0.25], [1, 0]])
    with pytest.raises(ValueError, match="not recorded"):
        runs_of(np.ones((3, 2))).shares((0, 1))


def test_runs_until_a_checkpoint_and_in_another_unit():
    regret = np.array([[1.0, 2.0, 4.0], [3.0, 4.0, 8.0]])
    runs = Runs(name="a", label="A", times=np.array([10, 50, 100]), regret=regret)
    assert runs.spans_a_decade
    half = runs.until(50)
    np.testing.assert_array_equal(half.final, [2, 4])
    np.testing.assert_array_equal(half.times, [10, 50])
    assert not half.spans_a_decade
    np.testing.assert_array_equal(runs.scaled(2.0).final, [8, 16])
    np.testing.assert_array_equal(runs.final, [4, 8])
