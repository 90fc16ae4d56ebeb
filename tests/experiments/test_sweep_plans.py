import csv
import io

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.reproduction import draw_panels
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.sweep_plans import (
    Axis,
    FinalSetting,
    SweepLine,
    SweepPlan,
    SweepPoint,
    against_delay,
)

ARMS = jd.problems.one_better_arm(3)
SETTING = FinalSetting(1_000, "pulls")


def data_set(name: str, horizon: int | None = None) -> DataSet:
    return DataSet(name, name, (Draw(ARMS, jax.random.key(0), 4),), horizon)


def competitor(number: int) -> Competitor:
    name = f"base[num_batches={number}]"
    return Competitor(name, f"BaSE, M = {number}", "base", {"num_batches": number})


UCB1 = Competitor("ucb1", "UCB1", "ucb1", {})


def sample(name: str, final: list[float], end: int = 1_000) -> Sample:
    regret = np.array(final)[:, None]
    return Sample(name, name.upper(), np.array([end]), regret, np.arange(len(final)))


def by_batches() -> SweepPlan:
    data = data_set("a")
    line = SweepLine("base", "BaSE", tuple(SweepPoint(m, data, competitor(m)) for m in (2, 3)))
    same = SweepLine("ucb1", "UCB1", tuple(SweepPoint(m, data, UCB1) for m in (2, 3)))
    return SweepPlan(
        "1a", "batches", Axis("batches $M$", "num_batches"), (line, same), per_pull=True
    )


SAMPLES = {
    ("a", "base[num_batches=2]"): sample("base[num_batches=2]", [40.0, 60.0]),
    ("a", "base[num_batches=3]"): sample("base[num_batches=3]", [20.0, 20.0]),
    ("a", "ucb1"): sample("ucb1", [9.0, 11.0]),
}


def test_only_the_horizon_is_recorded():
    np.testing.assert_array_equal(SETTING.checkpoints(50_000), [50_000])


def test_a_policy_that_does_not_depend_on_what_is_varied_plays_once():
    assert [c.name for _, c in by_batches().entries] == [name for _, name in SAMPLES]


def test_curves_are_mean_regret_per_pull():
    panel = by_batches().panel(SAMPLES, SETTING)
    base, ucb1 = panel.curves
    assert (base.name, base.label) == ("base", "BaSE")
    np.testing.assert_array_equal(base.at, [2, 3])
    np.testing.assert_allclose(base.mean, [0.05, 0.02])
    np.testing.assert_allclose(ucb1.mean, [0.01, 0.01])
    half = 12.7062 * 10 / 1_000  # Student's t of two runs with standard error 10
    np.testing.assert_allclose(base.upper95, [0.05 + half, 0.02], rtol=1e-5)
    assert panel.title == "(a) batches"
    assert panel.across == "batches $M$"


def test_each_data_set_has_its_own_horizon():
    data = {t: data_set(str(t), t) for t in (100, 1_000)}
    points = tuple(SweepPoint(t, d, UCB1) for t, d in data.items())
    plan = SweepPlan(
        "1c",
        "",
        Axis("horizon $T$", "horizon", "log"),
        (SweepLine("ucb1", "UCB1", points),),
        per_pull=True,
    )
    samples = {(str(t), "ucb1"): sample("ucb1", [5.0, 5.0], t) for t in data}
    panel = plan.panel(samples, SETTING)
    np.testing.assert_allclose(panel.curves[0].mean, [0.05, 0.005])
    assert panel.across_scale == "log"


def test_the_table_has_a_line_per_point():
    table = list(csv.DictReader(io.StringIO(by_batches().table(SAMPLES, SETTING))))
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
    plan = by_batches()
    panel = plan.panel(SAMPLES, SETTING)
    figure = draw_panels([panel, panel])
    assert len(figure.axes) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["BaSE", "UCB1"]
    assert plan.lines(SAMPLES) == []


def test_delays_are_competitors_of_their_own_but_for_the_first():
    dts = Competitor("dts", "DTS", "dts", {})
    plan = against_delay("6a", data_set("a"), (dts,), (1, 30, 1000))
    names = [entry.name for _, entry in plan.entries]
    assert names == ["dts", "dts[delay=30]", "dts[delay=1000]"]
    assert [entry.delay for _, entry in plan.entries] == [1, 30, 1000]
    assert plan.entries[2][1].label == "DTS, d = 1,000"
    finals = ([1.0, 3.0], [4.0, 6.0], [9.0, 9.0])
    samples = {
        ("a", name): sample(name, values) for name, values in zip(names, finals, strict=True)
    }
    panel = plan.panel(samples, FinalSetting(1_000, "copeland"))
    assert (panel.across, panel.across_scale) == ("delay $d$ (comparisons)", "log")
    assert panel.up == "Copeland regret $R(T)$, normalised"
    (curve,) = panel.curves
    assert curve.name == "dts"
    np.testing.assert_array_equal(curve.at, [1, 30, 1000])
    np.testing.assert_array_equal(curve.mean, [2, 5, 9])
    table = list(csv.DictReader(io.StringIO(plan.table(samples, SETTING))))
    assert [(row["policy"], row["delay"]) for row in table] == [
        ("dts", "1"), ("dts", "30"), ("dts", "1000"),
    ]  # fmt: skip
    assert float(table[0]["mean"]) == 2
