import csv
import io

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import draw
from jaxduel.runs import Runs
from jaxduel.studies.varied import (
    Axis,
    FinalSetting,
    Point,
    VariedLine,
    VariedPicture,
    across,
    against_delay,
)
from jaxduel.studies.wanted import Competitor, Draw, Wanted

ARMS = jd.problems.one_better_arm(3)
SETTING = FinalSetting(1_000, "pulls")


def wanted(one: Competitor, where: str = "a", horizon: int = 1_000) -> Wanted:
    return SETTING.wanted(where, where, (Draw(ARMS, jax.random.key(0), 4),), one, horizon)


def competitor(number: int) -> Competitor:
    name = f"base[num_batches={number}]"
    return Competitor(name, f"BaSE, M = {number}", "base", {"num_batches": number})


UCB1 = Competitor("ucb1", "UCB1", "ucb1", {})


def runs_of(name: str, final: list[float], end: int = 1_000) -> Runs:
    regret = np.array(final)[:, None]
    return Runs(name, name.upper(), np.array([end]), regret, np.arange(len(final)))


def by_batches() -> VariedPicture:
    line = VariedLine("base", "BaSE", tuple(Point(m, wanted(competitor(m))) for m in (2, 3)))
    same = VariedLine("ucb1", "UCB1", tuple(Point(m, wanted(UCB1)) for m in (2, 3)))
    return VariedPicture(
        "1a", "batches", Axis("batches $M$", "num_batches"), (line, same), per_pull=True
    )


RUNS = {
    ("a", "base[num_batches=2]"): runs_of("base[num_batches=2]", [40.0, 60.0]),
    ("a", "base[num_batches=3]"): runs_of("base[num_batches=3]", [20.0, 20.0]),
    ("a", "ucb1"): runs_of("ucb1", [9.0, 11.0]),
}


def test_only_the_horizon_is_recorded():
    np.testing.assert_array_equal(SETTING.checkpoints(50_000), [50_000])


def test_a_policy_that_does_not_depend_on_what_is_varied_plays_once():
    assert [one.key for one in by_batches().wanted] == list(RUNS)


def test_curves_are_mean_regret_per_pull():
    panel = by_batches().panel(RUNS, SETTING)
    base, ucb1 = panel.lines
    assert (base.name, base.label) == ("base", "BaSE")
    np.testing.assert_array_equal(base.at, [2, 3])
    np.testing.assert_allclose(base.mean, [0.05, 0.02])
    np.testing.assert_allclose(ucb1.mean, [0.01, 0.01])
    half = 12.7062 * 10 / 1_000  # Student's t of two runs with standard error 10
    np.testing.assert_allclose(base.upper95, [0.05 + half, 0.02], rtol=1e-5)
    assert panel.title == "(a) batches"
    assert panel.across == "batches $M$"


def test_each_point_has_its_own_horizon():
    times = (100, 1_000)
    lines = across(times, [[wanted(UCB1, str(t), t)] for t in times])
    picture = VariedPicture("1c", "", Axis("horizon $T$", "horizon", "log"), lines, per_pull=True)
    all_runs = {(str(t), "ucb1"): runs_of("ucb1", [5.0, 5.0], t) for t in times}
    panel = picture.panel(all_runs, SETTING)
    np.testing.assert_allclose(panel.lines[0].mean, [0.05, 0.005])
    assert panel.across_scale == "log"


def test_the_table_has_a_line_per_point():
    table = list(csv.DictReader(io.StringIO(by_batches().table(RUNS, SETTING))))
    found = [(row["policy"], row["num_batches"], row["t"], row["parameters"]) for row in table]
    assert found == [
        ("base", "2", "1000", "num_batches=2"),
        ("base", "3", "1000", "num_batches=3"),
        ("ucb1", "2", "1000", ""),
        ("ucb1", "3", "1000", ""),
    ]
    assert float(table[0]["mean"]) == pytest.approx(0.05)
    assert float(table[0]["std"]) == pytest.approx(np.sqrt(200) / 1_000)
    assert table[0]["num_seeds"] == "2"


def test_the_figure_has_a_panel_and_a_legend():
    picture = by_batches()
    panel = picture.panel(RUNS, SETTING)
    figure = draw([panel, panel])
    assert len(figure.axes) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["BaSE", "UCB1"]
    assert picture.lines(RUNS) == []


def test_delays_are_competitors_of_their_own_but_for_the_first():
    dts = Competitor("dts", "DTS", "dts", {})
    picture = against_delay("6a", [wanted(dts)], (1, 30, 1000))
    players = [one.competitor for one in picture.wanted]
    names = [one.name for one in players]
    assert names == ["dts", "dts[delay=30]", "dts[delay=1000]"]
    assert [one.delay for one in players] == [1, 30, 1000]
    assert players[2].label == "DTS, d = 1,000"
    finals = ([1.0, 3.0], [4.0, 6.0], [9.0, 9.0])
    all_runs = {
        ("a", name): runs_of(name, values) for name, values in zip(names, finals, strict=True)
    }
    panel = picture.panel(all_runs, SETTING)
    assert (panel.across, panel.across_scale) == ("delay $d$ (comparisons)", "log")
    assert panel.up == "regret $R(T)$"
    (line,) = panel.lines
    assert line.name == "dts"
    np.testing.assert_array_equal(line.at, [1, 30, 1000])
    np.testing.assert_array_equal(line.mean, [2, 5, 9])
    table = list(csv.DictReader(io.StringIO(picture.table(all_runs, SETTING))))
    assert [(row["policy"], row["delay"]) for row in table] == [
        ("dts", "1"), ("dts", "30"), ("dts", "1000"),
    ]  # fmt: skip
    assert float(table[0]["mean"]) == 2
