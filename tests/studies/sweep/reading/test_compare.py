from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy import stats

from jaxduel.errors import InputError
from jaxduel.stats import paired
from jaxduel.studies.sweep.reading.compare import compare
from tests.studies.sweep.made_up import cell, sweep


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """rucb has run half of its seeds; ucb has not begun."""
    problems = [("arxiv", 6), ("sushi", 16)]
    cells = [cell("dts", q, k, T, alpha=a) for q, k in problems for T in (100, 1000)
             for a in (0.51, 0.6)]  # fmt: skip
    cells += [cell(p, q, k, T) for p in ("rucb", "ucb") for q, k in problems for T in (100, 1000)]
    cells += [cell(p, "arxiv", 6, 100, num_batches=b) for p in ("pcomp", "scomp") for b in (2, 8)]
    cells += [cell("lonely", "gap", 5, 100)]
    return sweep(
        tmp_path_factory.mktemp("compare") / "s",
        cells,
        definitions=lambda policy: ("copeland", "weak") if policy == "dts" else ("copeland",),
        blocks=lambda policy, number: policy != "ucb" and (policy != "rucb" or number == 1),
    )


def test_differences_are_those_of_the_same_seeds(data):
    found = compare(data, "dts[alpha=0.51]", "dts[alpha=0.6]")
    assert (found.a, found.b) == ("dts[alpha=0.51]", "dts[alpha=0.6]")
    assert len(found.differences) == 2 * 2 * 2
    for one in found.differences.itertuples():
        there = data["final_regret"].sel(
            policy="dts", problem=one.problem, horizon=one.horizon, definition=one.definition
        )
        a, b = (there.sel(parameters=f"alpha={x}").values for x in (0.51, 0.6))
        ends = stats.ttest_rel(a, b).confidence_interval(0.95)
        np.testing.assert_allclose([one.lower95, one.upper95], ends, rtol=1e-10)
        np.testing.assert_allclose(one.sem, stats.sem(a - b), rtol=1e-12)
        unpaired = np.sqrt(stats.sem(a) ** 2 + stats.sem(b) ** 2)
        np.testing.assert_allclose(one.unpaired_sem, unpaired, rtol=1e-12)
        assert one.tightness == unpaired / one.sem
        assert one.tightness > 1.5  # the seeds are hard for both


def test_only_seeds_that_both_have(data):
    found = compare(data, "dts[alpha=0.6]", "rucb", problem=["sushi"], horizon=[1000])
    (one,) = found.differences.itertuples()
    there = data["final_regret"].sel(problem="sushi", horizon=1000, definition="copeland")
    a = there.sel(policy="dts", parameters="alpha=0.6").values
    b = there.sel(policy="rucb", parameters="").values
    assert np.isnan(b[:10]).all()
    assert one.num_seeds == 10
    assert one.difference == (a - b)[10:].mean()
    assert found.waiting == 0


def test_what_has_not_run_yet_waits(data):
    found = compare(data, "rucb", "ucb")
    assert (len(found.differences), found.waiting) == (0, 4)
    assert "Of 4 more no seed has run in both yet." in found.lines()


def test_counts_and_text(data):
    found = compare(data, "pcomp", "scomp")
    assert list(found.differences["parameters"]) == ["num_batches=2", "num_batches=8"]
    verdicts = ("better", "worse", "undecided")
    assert [found.count(verdict) for verdict in verdicts] == [0, 2, 0]
    lines = found.lines()
    assert lines[0].split() == ["problem", "T", "parameters", "seeds", "pcomp", "scomp",
                                "difference", "verdict", "tighter"]  # fmt: skip
    assert lines[1].split()[:4] == ["arxiv", "100", "num_batches=2", "20"]
    assert lines[1].split()[-2] == "worse"
    assert "worse in 2, undecided in 0 of 2 settings." in " ".join(lines)
    back = compare(data, "scomp", "pcomp")
    assert [back.count(verdict) for verdict in verdicts] == [2, 0, 0]
    assert max(map(len, lines)) <= 110


def test_csv_has_the_last_bit(data):
    found = compare(data, "pcomp[num_batches=8]", "rucb")
    (line,) = csv.DictReader(io.StringIO(found.csv()))
    (one,) = found.differences.itertuples()
    assert (line["a"], line["b"], line["verdict"]) == (found.a, "rucb", one.verdict)
    for name in ("mean_a", "mean_b", "difference", "sem", "lower95", "upper95", "tightness"):
        assert float(line[name]) == getattr(one, name)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("dts", "rucb", r"'dts' stands for several.*dts\[alpha=0.51\], dts\[alpha=0.6\]"),
        ("rucb", "pcomp", r"'pcomp' stands for several.*pcomp\[num_batches=2\]"),
        ("dts", "dts", "are the same"),
        ("dts[alpha=0.6]", "dts[alpha=0.60]", "are the same"),
        ("dts[alpha=0.7]", "rucb", r"no 'dts\[alpha=0.7\]'"),
        ("dtss", "rucb", "did you mean 'dts'"),
        ("rucb", "lonely", "in no setting together"),
        ("dts[]", "rucb", r"the sweep has no 'dts\[\]'"),
    ],
)
def test_names_that_cannot_be_compared(data, a, b, message):
    with pytest.raises(InputError, match=message):
        compare(data, a, b)


def test_settings_have_the_parameters_of_generators(tmp_path):
    problems = [f"one_better_arm(num_arms=3, best={best})" for best in (1, 0.5)]
    data = sweep(tmp_path / "s", [cell(p, q, 3, 10) for p in ("ucb1", "etc") for q in problems])
    found = compare(data, "ucb1", "etc").differences
    assert list(found)[:5] == ["problem", "num_arms", "horizon", "best", "definition"]
    assert found[["num_arms", "best"]].values.tolist() == [[3, 1], [3, 0.5]]


def test_few_seeds_decide_nothing():
    one = paired(np.array([1.0, np.nan]), np.array([2.0, 5.0]))
    assert one is not None
    assert (one.num_seeds, one.difference, one.verdict) == (1, -1.0, "undecided")
    assert np.isnan([one.lower95, one.sem, one.tightness]).all()
    assert paired(np.array([1.0, np.nan]), np.array([np.nan, 5.0])) is None
    same = paired(np.arange(3.0), np.arange(3.0))
    assert same is not None
    assert same.verdict == "undecided"
    assert same.tightness == np.inf


def test_a_variant_without_a_label_has_a_name(tmp_path):
    cells = [cell("rucb", "arxiv", 6, 100), cell("rucb", "arxiv", 6, 100, alpha=1.0)]
    data = sweep(tmp_path / "s", cells)
    for usual in ("rucb[]", "rucb[alpha=0.51]", "rucb[alpha=.51, delay=1]"):
        found = compare(data, usual, "rucb[alpha=1]")
        assert (found.a, found.b) == ("rucb", "rucb[alpha=1.0]")
    with pytest.raises(InputError, match=r"'rucb' stands for several.* rucb\[\], rucb\[alpha=1"):
        compare(data, "rucb", "rucb[alpha=1]")
