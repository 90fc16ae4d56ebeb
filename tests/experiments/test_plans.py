import csv
import io
from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments.bar_plans import SharesPlan, SpreadPlan
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.plans import PanelPlan, Setting, all_entries, figure_of
from jaxduel.experiments.report.charts import seen
from jaxduel.experiments.reproduction import draw_panels
from jaxduel.experiments.samples import Sample

CYCLE_9 = jd.problems.load("noncondorcet-cyclic")  # winners: arms 0, 1, 2
SETTING = Setting(1000, "copeland", time_scale="log")


def data_set(name: str, horizon: int | None = None) -> DataSet:
    return DataSet(name, name, (Draw(CYCLE_9, jax.random.key(0), 4),), horizon)


def competitor(name: str) -> Competitor:
    return Competitor(name, name.upper(), name, {})


def sample(name: str, final: list[float], selves: np.ndarray | None = None) -> Sample:
    regret = np.outer(final, [0.5, 1.0])
    return Sample(
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


def test_a_data_set_may_have_a_horizon_of_its_own():
    assert SETTING.horizon_of(data_set("a")) == 1000
    assert SETTING.horizon_of(data_set("a", 77)) == 77


def test_figures_of_panels():
    assert [figure_of(name) for name in ("1a", "2", "10c")] == ["1", "2", "10"]


def test_entries_are_grouped_by_data_set():
    one, two = data_set("one"), data_set("two")
    plans = [
        PanelPlan("1a", one, (competitor("dts"),)),
        PanelPlan("1b", two, (competitor("dts"),)),
        PanelPlan("2", one, (competitor("rucb"),)),
    ]
    names = [(data.name, entry.name) for data, entry in all_entries(plans)]
    assert names == [("one", "dts"), ("one", "rucb"), ("two", "dts")]


def test_spreads_are_in_units_of_one_policy():
    chosen = (competitor("dts+"), competitor("rucb"))
    groups = {"A": (data_set("a"), chosen), "B": (data_set("b"), chosen)}
    plan = SpreadPlan("2", groups, "dts+")
    samples = {
        ("a", "dts+"): sample("dts+", [9.0, 11.0]), ("a", "rucb"): sample("rucb", [40.0, 60.0]),
        ("b", "dts+"): sample("dts+", [20.0, 20.0]), ("b", "rucb"): sample("rucb", [5.0, 5.0]),
    }  # fmt: skip
    panel = plan.panel(samples, SETTING)
    assert panel.label == "STD of $R(T)$ / mean of DTS+"
    assert list(panel.groups) == ["A", "B"]
    root = np.sqrt(2)
    np.testing.assert_allclose([bar.values for bar in panel.bars], [[root / 10, 0], [root, 0]])
    table = rows(plan.table(samples, SETTING))
    assert [(row["data_set"], row["policy"]) for row in table] == list(samples)
    assert float(table[1]["std_over_unit"]) == pytest.approx(root)
    assert {row["unit_policy"] for row in table} == {"dts+"}
    assert "mean regret of DTS+" in plan.lines(samples)[0]
    assert len(draw_panels([panel]).axes) == 1


def test_shares_of_one_run_and_of_all():
    selves = np.zeros((3, 9), np.int64)
    selves[0, :4] = 10, 70, 20, 55  # arm 3 is no winner
    selves[1, :3] = 40, 30, 30
    plan = SharesPlan("5a", data_set("a"), (competitor("dts"),))
    assert [entry.record_pairs for _, entry in plan.entries] == [True]
    samples = {("a", "dts"): sample("dts", [1.0, 1.0, 1.0], selves)}
    panel = plan.panel(samples, SETTING)
    assert seen(panel).what.startswith("Share of exploitations: by arm in one run, by rank")
    one, mean = panel.stacks
    np.testing.assert_allclose(one.shares, [0.7, 0.2, 0.1])
    assert list(one.inscriptions) == ["arm 2", "arm 3", "arm 1"]
    np.testing.assert_allclose(mean.shares, [0.55, 0.25, 0.2])  # the third run has none
    assert "mean of 2" in mean.label
    table = rows(plan.table(samples, SETTING))
    assert [(row["arm"], row["rank"]) for row in table[:3]] == [("1", "3"), ("2", "1"), ("3", "2")]
    np.testing.assert_allclose([float(row["share"]) for row in table[3:]], [0.55, 0.25, 0.2])
    assert float(table[3]["sem"]) == pytest.approx(0.15)
    assert "arm 2 0.700" in plan.lines(samples)[0]
    assert "mean of 2 runs: 0.55" in plan.lines(samples)[0]


def test_shares_of_runs_without_exploitation():
    plan = SharesPlan("5a", data_set("a"), (competitor("dts"),))
    samples = {("a", "dts"): sample("dts", [1.0], np.zeros((1, 9), np.int64))}
    for stack in plan.panel(samples, SETTING).stacks:
        np.testing.assert_array_equal(stack.shares, [0, 0, 0])
    assert len(rows(plan.table(samples, SETTING))) == 3
    assert "mean of 0 runs: none" in plan.lines(samples)[0]


def test_axes_may_begin_late_and_show_the_papers_unit():
    setting = Setting(100_000, "copeland", time_scale="log", start=1_000, factor=2.0)
    times = setting.checkpoints(100_000)
    assert times[0] == 1_000
    assert 10_000 in times
    data = data_set("a")
    assert setting.definition(data) == "2 copeland"
    assert SETTING.definition(data) == "copeland"
    assert SETTING.definition(replace(data, regret="votes")) == "votes"


def test_bounds_are_lines_and_the_frame_has_room_for_them():
    samples = {("a", "dts"): sample("dts", [10.0]), ("a", "rucb"): sample("rucb", [1e4])}
    asked = []

    def bounds(problem) -> dict[str, float]:
        assert problem is CYCLE_9
        asked.append(1)
        return {"LB": 3.0, "ECWB": 4.0}

    chosen = (competitor("dts"), competitor("rucb"))
    plan = PanelPlan("1a", data_set("a"), chosen, bounds=bounds, frame=("dts",))
    assert not asked  # not before it is drawn
    panel = plan.panel(samples, SETTING)
    for line, constant in zip(panel.references, (3, 4), strict=True):
        np.testing.assert_allclose(line.values, constant * np.log(line.times))
    assert panel.top == pytest.approx(1.1 * 4 * np.log(1000))
    table = rows(plan.table(samples, SETTING))
    assert [row["policy"] for row in table][:4] == ["dts"] * 2 + ["rucb"] * 2
    assert table[-1]["policy"] == "ECWB"
    assert float(table[-1]["mean"]) == pytest.approx(4 * np.log(1000))
    assert plan.lines(samples) == ["figure 1a: LB 3, ECWB 4 times log t."]
    assert PanelPlan("1a", data_set("a"), chosen).panel(samples, SETTING).top is None


def test_some_may_play_a_data_set_for_a_shorter_time():
    lesser = {"rucb": data_set("a", 50)}
    plan = PanelPlan("1a", data_set("a"), (competitor("dts"), competitor("rucb")), lesser=lesser)
    assert [SETTING.horizon_of(data) for data, _ in plan.entries] == [1000, 50]
