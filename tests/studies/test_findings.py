from dataclasses import replace

import numpy as np
import pytest

from jaxduel.runs import Runs
from jaxduel.studies.claims import Claim, at_least, less, over
from jaxduel.studies.estimates import std_over_mean
from jaxduel.studies.findings import Finder, over_best, over_other

TIMES = np.array([10, 100, 1000])


def sample(name: str, final: float, power: float = 1.0, n: int = 20) -> Runs:
    noise = 1 + 0.01 * np.random.default_rng(len(name)).standard_normal((n, 1))
    regret = final * noise * (TIMES / 1000) ** power
    return Runs(name, name.upper(), TIMES, regret, np.arange(n))


SAMPLES = {
    ("one", "dts"): sample("dts", 10),
    ("one", "rucb"): sample("rucb", 30),
    ("one", "rmed1"): sample("rmed1", 20, power=0.5),
    ("two", "dts"): replace(sample("dts", 10), times=10 * TIMES),
}
FIND = Finder(SAMPLES)


def test_ratios_where_both_play():
    (found,) = FIND.ratios("dts", "rucb", ("one", "two", "three"), less)
    assert (found.where, found.what, found.verdict) == ("one", "DTS / RUCB, T = 1,000", "confirmed")
    assert found.estimate.value == pytest.approx(1 / 3, rel=0.02)
    assert found.medians == pytest.approx(1 / 3, rel=0.02)


def test_a_horizon_is_named_where_there_are_several():
    (found,) = Finder({key: SAMPLES[key] for key in SAMPLES if key[0] == "one"}).ratios(
        "dts", "rucb", ("one",), less
    )
    assert found.what == "DTS / RUCB"


def test_a_ratio_is_judged_from_a_time_on():
    (late,) = FIND.ratios("dts", "rucb", ("one",), less, judged_from=1_000)
    (early,) = FIND.ratios("dts", "rucb", ("one",), less, judged_from=1_001)
    assert (late.verdict, early.verdict) == ("confirmed", "undecided")
    assert early.estimate == late.estimate


def test_the_best_of_others_can_confirm_only_if_all_play():
    (found,) = FIND.against_best("dts", ("rucb", "rmed1"), ("one", "two"))
    assert found.what == "DTS / RMED1, best of 2 of 2 others, T = 1,000"
    assert found.verdict == "confirmed"
    (found,) = FIND.against_best("dts", ("rucb", "rmed1", "ccb"), ("one",))
    assert "best of 2 of 3 others" in found.what
    assert found.verdict == "undecided"
    (found,) = FIND.against_best("rucb", ("rmed1", "ccb"), ("one",))
    assert found.verdict == "not confirmed"
    assert FIND.against_best("ccb", ("dts",), ("one",)) == []


def test_the_flattest_slope_if_all_play():
    (found,) = FIND.slopes(("dts", "rmed1"), ("one", "two"), over(0.8))
    assert found.where == "one"
    assert found.what == "slope of log R, RMED1, T = 1,000"
    assert found.estimate.value == pytest.approx(0.5)
    assert found.verdict == "not confirmed"
    early = Runs("dts", "DTS", np.array([10, 90]), np.ones((3, 2)), np.arange(3))
    assert Finder({("one", "dts"): early}).slopes(("dts",), ("one",), over(0.8)) == []


def test_other_quantities_of_pairs():
    (found,) = FIND.of_pairs("STD, {0} / {1}", std_over_mean, "dts", "rucb", "one", less)
    assert found.what == "STD, DTS / RUCB, T = 1,000"
    assert found.estimate.value == pytest.approx(SAMPLES["one", "dts"].final.std(ddof=1) / 30, 0.02)
    assert np.isnan(found.medians)
    assert FIND.of_pairs("{0}", std_over_mean, "dts", "ccb", "one", less) == []


def test_shares_are_of_the_winners_largest_first():
    selves = np.zeros((2, 9), np.int64)
    selves[0, :4] = 1, 7, 2, 99
    made = Runs("dts", "D-TS", TIMES, np.ones((2, 3)), np.arange(2), selves=selves)
    find = Finder({("noncondorcet-cyclic", "dts"): made})
    np.testing.assert_array_equal(find.shares("dts", "noncondorcet-cyclic"), [[0.7, 0.2, 0.1]])
    assert find.shares("dts+", "noncondorcet-cyclic") is None
    assert FIND.shares("dts", "one") is None


FINALS = {"a": 10.0, "b": 40.0, "c": 20.0}


@pytest.fixture
def without_noise() -> Finder:
    """Three policies on two data sets."""
    times, runs = np.array([9]), np.arange(30)
    return Finder(
        {
            (data, name): Runs(name, name, times, np.full((30, 1), final), runs)
            for data in ("x", "y")
            for name, final in FINALS.items()
        }
    )


def test_each_policy_is_measured_on_each_data_set(without_noise):
    ratios = over_other(("a", "b"), "c", ("x", "y"))
    found = Claim("", "", "", *ratios, at_least(2)).measured(without_noise)
    assert [(m.where, m.estimate.value) for m in found.measurements] == [
        ("x", 0.5), ("y", 0.5), ("x", 2.0), ("y", 2.0),
    ]  # fmt: skip
    assert found.expected == 4
    assert found.verdict == "confirmed"


def test_a_policy_by_its_name_is_compared_with_the_best_of_others(without_noise):
    ratios = over_best("a", ("b", "c"), ("x", "y"))
    found = Claim("", "", "", *ratios, reason="so").measured(without_noise)
    assert [m.estimate.value for m in found.measurements] == [0.5, 0.5]
    assert (found.expected, found.verdict, found.reason) == (2, "confirmed", "so")


def test_runs_of_large_regret_are_counted_in_a_sentence():
    times, groups = np.array([9]), np.arange(20)
    regret = np.where(groups < 3, 50.0, 4.0)[:, None]
    runs = {
        ("x", "a"): Runs("a", "A", times, regret, groups),
        ("x", "b"): Runs("b", "B", times, np.full((20, 1), 8.0), groups),
    }
    (said,) = Finder(runs).costly("a", "b", ("x", "y"), 3.0)
    assert said == (
        "x: 15.0% [5.2%, 36.0%] of the runs of A have more than 3 times the mean regret of B; the "
        "rest have 0.5 times it."
    )
    claim = Claim(
        "", "", "", *over_other("a", "b", ("x",)), reason="It errs.", facts=lambda _: [said]
    )
    assert claim.measured(Finder(runs)).reason == f"It errs. {said}"
