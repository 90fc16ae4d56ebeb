from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from scipy import stats

from jaxduel.errors import InputError
from jaxduel.studies.sweep.reading.cells import by_setting, choose, find_variants
from jaxduel.studies.sweep.reading.table import marked, progress_line, show_csv, show_lines
from jaxduel.studies.tables import rounded, short, with_interval
from tests.studies.sweep.made_up import cell, sweep

SHIFTS = {"low": 0.0, "near": 0.01, "far": 6.0, "late": 2.0}


def shifted(cell, t, seeds):
    """Seeds that are hard or easy for all policies alike, with a little of their own; the second
    ten are as the first."""
    shared = np.random.default_rng(1).normal(100, 10, 10)
    own = np.random.default_rng(sum(cell.policy.encode())).normal(0, 1.0, 10)
    some = shared + own - own.mean() + SHIFTS[cell.policy]
    return np.resize(some, seeds)[:, None] * np.ones_like(t)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Four policies on two problems; one is not on the second, one has run 10 seeds of 20 and
    knows no "weak" regret."""
    cells = [cell(p, "arxiv", 6, T, a=a) for p, a in (("low", 1), ("near", 1)) for T in (100, 1000)]
    cells += [cell("far", q, k, 100, a=a) for q, k in (("arxiv", 6), ("gap", 5)) for a in (1, 2.5)]
    cells += [cell("late", "gap", 5, 10_000)]
    return sweep(
        tmp_path_factory.mktemp("show") / "s",
        cells,
        definitions=lambda policy: ("copeland",) if policy == "late" else ("copeland", "weak"),
        blocks=lambda policy, number: policy != "late" and (policy != "near" or number == 1),
        of=shifted,
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The 1,000 cells of the batched policies."""
    cells = [
        cell(p, f"btl(num_arms={k}, instance=0)", k, T, num_batches=b)
        for p in ("pcomp", "scomp", "scomp2")
        for k in (4, 8, 16, 32, 64)
        for T in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
        for b in range(2, 12)
    ]
    return sweep(tmp_path_factory.mktemp("show") / "s", cells, seeds=10)


def row(lines, *begin):
    return next(line.split() for line in lines if line.split()[: len(begin)] == list(begin))


def test_a_row_per_setting_and_its_best(data):
    lines = show_lines(data, problem=["arxiv"], regret=["copeland"], width=120)
    head = next(line for line in lines if line.startswith("problem"))
    assert head.split() == ["problem", "K", "T", "seeds", "low[a=1]", "near[a=1]", "far[a=1]",
                            "far[a=2.5]"]  # fmt: skip
    found = row(lines, "arxiv", "6", "100")
    assert found[3] == "10-20"
    assert found[7] == "*"
    assert found[11] == "~"
    assert len(found) == 12 + 3 + 3  # two columns without a mark
    assert row(lines, "arxiv", "6", "1000")[3:] == found[3:12]


def test_marks_are_those_of_paired_differences(data):
    cells = choose(data, regret=["weak"])
    some, final = next(by_setting(data, cells))
    values = dict(zip(some["variant"], final, strict=True))
    entries = list(marked(data, cells).loc[some.index].itertuples())
    low, near, far, again = entries
    assert [one.mark for one in entries] == ["*", "~", "", ""]
    for one, of in zip((low, near, far, again), values.values(), strict=True):
        ran = of[np.isfinite(of)]
        assert one.num_seeds == len(ran) == (10 if one is near else 20)
        np.testing.assert_allclose([one.mean, one.sem], [ran.mean(), stats.sem(ran)], rtol=1e-12)
    # far is within the interval of low: only seed by seed can they be told apart
    assert abs(far.mean - low.mean) < 2 * 1.96 * math.hypot(low.sem, far.sem)
    assert stats.ttest_rel(values["low[a=1]"], values["far[a=1]"]).pvalue < 1e-6


def test_what_has_not_run_and_what_is_not_in_the_grid(data):
    lines = show_lines(data, problem=["gap"], width=200)
    assert lines[0] == "6 of 9 cells finished; 140 of 180 runs (cells times 20 seeds), 77.8 %"
    assert row(lines, "gap", "5", "1e4") == ["gap", "5", "1e4", "copeland", "0", "-"]
    assert row(lines, "gap", "5", "100", "weak")[-1] != "-"
    assert "- has not run yet." in lines
    assert progress_line(data) == lines[0]


def test_one_seed_has_no_interval_and_nothing_begun_is_no_error(tmp_path):
    one = sweep(tmp_path / "one", [cell("low", "p", 3, 10), cell("far", "p", 3, 10)], of=shifted,
                seeds=1)  # fmt: skip
    lines = show_lines(one)
    assert lines[0] == "finished: 2 cells of 1 seeds each"
    assert row(lines, "p", "3", "10")[4:6] == ["±", "?"]
    none = sweep(tmp_path / "none", [cell("low", "p", 3, 10)], blocks=lambda *_: False)
    assert row(show_lines(none), "p")[-1] == "-"


@pytest.mark.thorough
def test_a_thousand_cells_are_readable(large):
    lines = show_lines(large)
    assert lines[0] == "finished: 1,050 cells of 10 seeds each"
    assert len(lines) < 50
    assert max(map(len, lines)) <= 100
    head = next(line for line in lines if line.startswith("problem"))
    assert head.split()[3:] == ["pcomp", "scomp", "scomp2"]
    entries = list(csv.DictReader(io.StringIO(show_csv(large))))
    best = [e for e in entries if e["mark"] == "*"]
    assert (len(entries), len(best)) == (1050, 35)
    for one in best:
        found = row(lines, *one["problem"].split(), one["num_arms"], short(float(one["horizon"])))
        batches = one["parameters"].removeprefix("num_batches=")
        assert found[found.index("*") - 4] == f"[{batches}]"


def test_all_parameters_of_one_policy(large):
    lines = show_lines(large, policy=["scomp2"], horizon=[1000])
    assert max(map(len, lines)) <= 100
    heads = [word for line in lines if line.startswith("problem") for word in line.split()[3:]]
    assert heads == [f"num_batches={b}" for b in range(2, 12)]
    wide = show_lines(large, horizon=[1000], columns="all", width=1000)
    assert sum(line.startswith("problem") for line in wide) == 1
    best = show_lines(large, policy=["scomp2"], horizon=[1000], columns="best")
    assert sum(line.startswith("problem") for line in best) == 1


def test_csv_has_the_last_bit(data):
    entries = list(csv.DictReader(io.StringIO(show_csv(data, policy=["near", "late"]))))
    assert len(entries) == 2 * 2 + 2
    for one in entries:
        where = {k: one[k] for k in ("policy", "problem", "parameters", "definition")}
        there = data.sel(where).sel(horizon=int(one["horizon"]))
        final = there["final_regret"].values
        assert int(one["num_seeds"]) == np.isfinite(final).sum()
        if one["policy"] == "late":
            assert one["mean"] == one["lower95"] == "nan"
            continue
        final = final[np.isfinite(final)]
        assert float(one["mean"]) == final.mean()
        ends = stats.t.interval(0.95, 9, final.mean(), stats.sem(final))
        np.testing.assert_allclose([float(one["lower95"]), float(one["upper95"])], ends, rtol=1e-9)


def test_names_stand_for_variants(large):
    cells = choose(large)
    assert len(find_variants("scomp2", cells)) == 10
    assert find_variants("pcomp[num_batches=8.0]", cells) == ["pcomp[num_batches=8]"]
    family = choose(large, problem=["btl"], horizon=[1000], policy=["pcomp[num_batches=2]"])
    assert list(family["num_arms"]) == [4, 8, 16, 32, 64]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"policy": ["scomp3"]}, "unknown policy of the sweep 'scomp3'.*did you mean 'scomp'"),
        ({"policy": ["pcomp[num_batches=99]"]}, "has no 'pcomp.num_batches=99.'.*num_batches=2"),
        ({"problem": ["arxiv"]}, "unknown problem of the sweep 'arxiv'"),
        ({"horizon": [17]}, "no horizon 17: its horizons are 1000, 1e4"),
        ({"regret": ["weak"]}, "unknown definition of regret 'weak'"),
    ],
)
def test_names_that_are_not_in_the_sweep(large, chosen, message):
    with pytest.raises(InputError, match=message):
        show_lines(large, **chosen)


def test_nothing_has_all_that_is_asked_for(data):
    with pytest.raises(InputError, match="no cell with that policy"):
        show_lines(data, policy=["low"], problem=["gap"])


def test_numbers_have_the_digits_that_intervals_leave():
    nan = float("nan")
    assert with_interval(12.3456, 1.23) == "12.3 ± 1.2"
    assert with_interval(1234.5, 123.0) == "1234 ± 123"
    assert with_interval(1234567.0, 1234.0) == "(1.2346 ± 0.0012)e6"
    assert with_interval(0.0, 0.0) == "0 ± 0"
    assert with_interval(3.0, nan) == "3 ± ?"
    assert rounded(nan, 1.0) == "-"
    assert [short(x) for x in (1000, 1e6, 2500000, 2**31 - 1, 0.51, 12345.0, -2e6)] == [
        "1000", "1e6", "2.5e6", "2147483647", "0.51", "12345", "-2e6"]  # fmt: skip
