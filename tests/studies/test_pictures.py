import csv
import io

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import Reference, draw
from jaxduel.runs import Runs
from jaxduel.studies.bars import SharesPicture, SpreadPicture
from jaxduel.studies.pictures import RegretPicture, Setting, figure_of, regret_table
from jaxduel.studies.report.charts import seen
from jaxduel.studies.reproduction import all_wanted
from jaxduel.studies.wanted import Competitor, Draw, Wanted

CYCLE_9 = jd.problems.load("noncondorcet-cyclic")  # winners: arms 0, 1, 2
SETTING = Setting(1000, "copeland", time_scale="log")


def wanted(where: str, *names: str, horizon: int = 1000) -> tuple[Wanted, ...]:
    draws = (Draw(CYCLE_9, jax.random.key(0), 4),)
    players = (Competitor(name, name.upper(), name, {}) for name in names)
    return tuple(SETTING.wanted(where, where, draws, one, horizon) for one in players)


def runs_of(name: str, final: list[float], selves: np.ndarray | None = None) -> Runs:
    regret = np.outer(final, [0.5, 1.0])
    return Runs(
        name, name.upper(), np.array([100, 1000]), regret, np.arange(len(final)), selves=selves
    )


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def test_checkpoints_are_those_of_the_axis():
    linear = Setting(1000, "average").checkpoints(1000)
    np.testing.assert_array_equal(linear[:5], [1, 2, 5, 10, 20])
    logarithmic = SETTING.checkpoints(50_000)
    assert {10, 5_000, 50_000} <= set(logarithmic.tolist())
    assert logarithmic[0] == 10
    ratios = logarithmic[1:] / logarithmic[:-1]
    assert ratios.max() < 1.35
    np.testing.assert_array_equal(SETTING.checkpoints(3), [3])


def test_figures_of_panels():
    assert [figure_of(name) for name in ("1a", "2", "10c")] == ["1", "2", "10"]


def test_what_is_wanted_is_grouped_by_instances():
    pictures = [
        RegretPicture("1a", wanted("one", "dts")),
        RegretPicture("1b", wanted("two", "dts")),
        RegretPicture("2", wanted("one", "rucb", "dts")),
    ]
    assert [one.key for one in all_wanted(pictures)] == [
        ("one", "dts"), ("one", "rucb"), ("two", "dts"),
    ]  # fmt: skip


def test_spreads_are_in_units_of_one_policy():
    groups = {"A": wanted("a", "dts+", "rucb"), "B": wanted("b", "dts+", "rucb")}
    picture = SpreadPicture("2", groups, "dts+")
    all_runs = {
        ("a", "dts+"): runs_of("dts+", [9.0, 11.0]), ("a", "rucb"): runs_of("rucb", [40.0, 60.0]),
        ("b", "dts+"): runs_of("dts+", [20.0, 20.0]), ("b", "rucb"): runs_of("rucb", [5.0, 5.0]),
    }  # fmt: skip
    panel = picture.panel(all_runs, SETTING)
    assert panel.label == "STD of $R(T)$ / mean of DTS+"
    assert list(panel.groups) == ["A", "B"]
    root = np.sqrt(2)
    np.testing.assert_allclose([bar.values for bar in panel.bars], [[root / 10, 0], [root, 0]])
    table = rows(picture.table(all_runs, SETTING))
    assert [(row["instance"], row["policy"]) for row in table] == list(all_runs)
    assert float(table[1]["std_over_unit"]) == pytest.approx(root)
    assert {row["unit_policy"] for row in table} == {"dts+"}
    assert "mean regret of DTS+" in picture.lines(all_runs)[0]
    assert len(draw([panel]).axes) == 1


def test_shares_of_one_run_and_of_all():
    selves = np.zeros((3, 9), np.int64)
    selves[0, :4] = 10, 70, 20, 55  # arm 3 is no winner
    selves[1, :3] = 40, 30, 30
    picture = SharesPicture("5a", wanted("a", "dts"))
    assert [one.competitor.record_pairs for one in picture.wanted] == [True]
    all_runs = {("a", "dts"): runs_of("dts", [1.0, 1.0, 1.0], selves)}
    panel = picture.panel(all_runs, SETTING)
    assert seen(panel).what.startswith("Share of exploitations: by arm in one run, by rank")
    one, mean = panel.stacks
    np.testing.assert_allclose(one.shares, [0.7, 0.2, 0.1])
    assert list(one.inscriptions) == ["arm 2", "arm 3", "arm 1"]
    np.testing.assert_allclose(mean.shares, [0.55, 0.25, 0.2])  # the third run has none
    assert "mean of 2" in mean.label
    table = rows(picture.table(all_runs, SETTING))
    assert [(row["arm"], row["rank"]) for row in table[:3]] == [("1", "3"), ("2", "1"), ("3", "2")]
    np.testing.assert_allclose([float(row["share"]) for row in table[3:]], [0.55, 0.25, 0.2])
    assert float(table[3]["sem"]) == pytest.approx(0.15)
    assert "arm 2 0.700" in picture.lines(all_runs)[0]
    assert "mean of 2 runs: 0.55" in picture.lines(all_runs)[0]


def test_shares_of_runs_without_exploitation():
    picture = SharesPicture("5a", wanted("a", "dts"))
    all_runs = {("a", "dts"): runs_of("dts", [1.0], np.zeros((1, 9), np.int64))}
    for stack in picture.panel(all_runs, SETTING).stacks:
        np.testing.assert_array_equal(stack.shares, [0, 0, 0])
    assert len(rows(picture.table(all_runs, SETTING))) == 3
    assert "mean of 0 runs: none" in picture.lines(all_runs)[0]


def test_axes_may_begin_late_and_show_the_papers_unit():
    setting = Setting(100_000, "copeland", time_scale="log", start=1_000, factor=2.0)
    times = setting.checkpoints(100_000)
    assert times[0] == 1_000
    assert 10_000 in times
    assert setting.definition("copeland") == "2 copeland"
    assert SETTING.definition("copeland") == "copeland"


def test_bounds_are_lines_and_the_frame_has_room_for_them():
    all_runs = {("a", "dts"): runs_of("dts", [10.0]), ("a", "rucb"): runs_of("rucb", [1e4])}
    asked = []

    def bounds(problem) -> dict[str, float]:
        assert problem is CYCLE_9
        asked.append(1)
        return {"LB": 3.0, "ECWB": 4.0}

    chosen = wanted("a", "dts", "rucb")
    picture = RegretPicture("1a", chosen, bounds=bounds, frame=("dts",))
    assert not asked  # not before it is drawn
    panel = picture.panel(all_runs, SETTING)
    for line, constant in zip(panel.references, (3, 4), strict=True):
        np.testing.assert_allclose(line.values, constant * np.log(line.at))
    assert panel.top == pytest.approx(1.1 * 4 * np.log(1000))
    table = rows(picture.table(all_runs, SETTING))
    assert [row["policy"] for row in table][:4] == ["dts"] * 2 + ["rucb"] * 2
    assert table[-1]["policy"] == "ECWB"
    assert float(table[-1]["mean"]) == pytest.approx(4 * np.log(1000))
    assert picture.lines(all_runs) == ["figure 1a: LB 3, ECWB 4 times log t."]
    assert RegretPicture("1a", chosen).panel(all_runs, SETTING).top is None


def test_tables_have_the_statistics_of_the_runs_and_the_references():
    made = runs_of("dts", [10.0, 20.0])
    levels = [Reference("LB", 2.5), Reference("ECWB", np.array([1.0, 3.0]), made.times)]
    found = rows(regret_table([made], levels))
    assert [(row["policy"], row["t"], row["mean"]) for row in found] == [
        ("dts", "100", "7.5"), ("dts", "1000", "15.0"), ("LB", "", "2.5"),
        ("ECWB", "100", "1.0"), ("ECWB", "1000", "3.0"),
    ]  # fmt: skip
    statistics = made.statistics()
    for name, numbers in statistics.items():
        np.testing.assert_array_equal([float(row[name]) for row in found[:2]], numbers)
    assert [row["num_seeds"] for row in found] == ["2", "2", "", "", ""]
