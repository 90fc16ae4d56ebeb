import csv
import io
import math
import threading

import jax
import numpy as np
import pytest
from jaxduel.experiments.papers.batched_mab_entries import GRIDS, PROGRAM, TEXT
from jaxduel.experiments.papers.batched_mab_study import Study
from jaxduel.experiments.papers.batched_mab_worst import WorstCase

import jaxduel as jd
from jaxduel.experiments.papers import batched_mab as paper
from jaxduel.experiments.papers import batched_mab_maps as maps
from jaxduel.experiments.papers import batched_mab_study as study_module
from jaxduel.experiments.papers import batched_mab_worst as worst_module
from jaxduel.experiments.sweep_plans import FinalSetting

SETTING = FinalSetting(50_000, "pulls")
SMALL = {"BATCHES": (2, 3), "ARMS": (2, 3), "HORIZONS": (100, 1_000)}


@pytest.fixture
def small(monkeypatch):
    """A study of 8 cells per reading and grid."""
    for name, values in SMALL.items():
        monkeypatch.setattr(study_module, name, values)
        monkeypatch.setattr(maps, name, values)
    monkeypatch.setattr(study_module, "_SIZES", (4,))


class Ended:
    """What is needed of a result."""

    def __init__(self, mean: float, sem: float) -> None:
        self.mean, self.sem = np.array([mean]), np.array([sem])


def regret_of(policy, problem) -> float:
    """Made-up: the minimax grid is best for long horizons, the arithmetic one for short ones."""
    del problem
    factor = {"minimax": 1.0, "geometric": 2.0, "arithmetic": 0.5 * (policy.horizon / 100)}
    return float(policy.num_batches * np.sum(policy.active_arms) * factor[policy.grid.kind])


@pytest.fixture
def made_up(monkeypatch):
    """Simulations of made-up numbers."""

    def simulate_many(policies, problems, horizon, **settings):
        assert settings["checkpoints"] == [horizon]
        each = problems if isinstance(problems, list) else [problems] * len(policies)
        return [Ended(regret_of(*pair), 0.01) for pair in zip(policies, each, strict=True)]

    monkeypatch.setattr(study_module, "simulate_many", simulate_many)
    monkeypatch.setattr(worst_module, "simulate_many", simulate_many)


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


@pytest.mark.usefixtures("small", "quick_compilation")
def test_cells_are_those_of_simulate_many():
    study = Study(5, seed=3)
    key = jax.random.key(0)
    part = study_module._Slice(TEXT, "geometric", 3, 1_000, 5, key)
    mean, sem = part.run(jax.local_devices()[0], threading.Event())
    mask = np.arange(4) < 3
    policies = [
        jd.policies.make(
            "base", num_arms=4, active_arms=mask, horizon=1_000, num_batches=m, grid="geometric"
        )
        for m in (2, 3)
    ]
    results = jd.simulation.simulate_many(
        policies, jd.problems.one_better_arm(3), num_seeds=5, seed=key, checkpoints=[1_000],
        regret="pulls",
    )  # fmt: skip
    np.testing.assert_array_equal(mean, [result.mean[-1] for result in results])
    np.testing.assert_array_equal(sem, [result.sem[-1] for result in results])
    assert np.isnan(study.mean).all()


@pytest.mark.usefixtures("small", "made_up")
def test_a_study_simulates_a_reading_once(monkeypatch):
    study = Study(100, seed=0)
    study.complete(TEXT)
    assert study.begun == [TEXT]
    assert not study.is_unfinished
    program, text = study.mean
    assert np.isnan(program).all()
    # by grid, K, T, M
    np.testing.assert_array_equal(text[0], [[[4, 6], [4, 6]], [[6, 9], [6, 9]]])
    np.testing.assert_array_equal(text[1], 2 * text[0])
    np.testing.assert_array_equal(text[2, :, 1], 5 * text[0, :, 1])
    monkeypatch.delattr(study_module, "simulate_many")
    study.complete(TEXT)


@pytest.mark.usefixtures("small", "made_up")
def test_the_best_grid_and_how_sure_it_is():
    study = Study(100, seed=0)
    study.complete(PROGRAM)
    choice = study.choice(PROGRAM)
    assert (choice.best[:, 0] == 2).all()  # arithmetic at T = 100
    assert (choice.best[:, 1] == 0).all()
    np.testing.assert_allclose(choice.ratio, 0.5)
    assert choice.sure.all()
    study.sem[:] = 10.0
    assert not study.choice(PROGRAM).sure.any()
    ratio, lower, upper = study.ratio(PROGRAM, 1, 0)
    np.testing.assert_allclose(ratio, 2)
    error = math.hypot(10 / 8, 10 / 4)
    np.testing.assert_allclose(upper[0, 0, 0], 2 * math.exp(1.984217 * error), rtol=1e-5)
    np.testing.assert_allclose(lower * upper, 4)


@pytest.mark.usefixtures("small", "made_up")
def test_maps_and_tables_have_the_cells(tmp_path):
    report = paper.reproduce("s1", out=tmp_path, runs=100)
    names = {file.name for file in report.files}
    assert {f"figure-s1{x}.{kind}" for x in "abcdef" for kind in ("png", "pdf", "csv")} <= names
    assert "figure-s1.png" in names
    assert "figure-s1-unfinished.csv" not in names
    cells = rows((tmp_path / "figure-s1d.csv").read_text())
    assert len(cells) == 24
    assert {(cell["gamma"], cell["commit"]) for cell in cells} == {("1.0", "True")}
    (cell,) = [
        cell for cell in cells
        if (cell["grid"], cell["num_arms"], cell["t"], cell["num_batches"])
        == ("geometric", "3", "1000", "2")
    ]  # fmt: skip
    assert (float(cell["mean"]), float(cell["sem"]), cell["num_seeds"]) == (12, 0.01, "100")
    ratios = rows((tmp_path / "figure-s1b.csv").read_text())
    assert {float(cell["ratio"]) for cell in ratios} == {0.5}
    best = rows((tmp_path / "figure-s1c.csv").read_text())
    assert [cell["best"] for cell in best[:4]] == ["arithmetic"] * 2 + ["minimax"] * 2
    text = "\n".join(report.lines)
    assert "minimax in 4 (4 significantly), geometric in 0" in text
    assert "best grid by T: 100: 0%, 1,000: 100%" in text
    assert "K = 2, T = 1e3; K = 3, T = 1e3" in text
    assert "of their 4 cells the best grid is minimax in 0, geometric in 0, arithmetic in 4" in text


@pytest.mark.usefixtures("small", "made_up")
def test_an_interrupted_study_keeps_what_is_done(tmp_path, monkeypatch):
    whole = study_module.run_tasks

    def interrupted(tasks, devices):
        events = whole(tasks, devices)
        yield next(events)
        yield next(events)
        raise KeyboardInterrupt

    monkeypatch.setattr(study_module, "run_tasks", interrupted)
    report = paper.reproduce("s1", out=tmp_path, runs=100)
    assert report.interrupted
    cells = rows((tmp_path / "figure-s1-unfinished.csv").read_text())
    assert len(cells) == 4
    assert not (tmp_path / "figure-s1a.png").exists()
    assert "study s1, unfinished:" in report.lines


def test_the_study_has_the_ranges_of_the_issue():
    assert len(study_module.BATCHES) * len(study_module.ARMS) * len(study_module.HORIZONS) == 378
    assert (study_module.BATCHES[0], study_module.BATCHES[-1]) == (2, 32)
    assert (study_module.ARMS[0], study_module.ARMS[-1]) == (2, 64)
    assert (study_module.HORIZONS[0], study_module.HORIZONS[-1]) == (10**3, 10**9)


@pytest.fixture
def few(monkeypatch):
    """A worst case over few numbers of batches and gaps."""
    monkeypatch.setattr(worst_module, "BATCHES", (2, 4))
    monkeypatch.setattr(worst_module, "GAPS", 5)


@pytest.mark.usefixtures("few")
def test_the_worst_case_is_the_largest_over_gaps_and_hypotheses(monkeypatch):
    def simulate_many(policies, problems, horizon, **settings):
        gaps = [sorted(set(problem.means))[1] for problem in problems]
        second = [problem.means[1] > 0 for problem in problems]
        return [
            Ended(policy.num_batches - abs(math.log(gap / 0.1)) + 0.1 * other, 0.5)
            for policy, gap, other in zip(policies, gaps, second, strict=True)
        ]

    monkeypatch.setattr(worst_module, "simulate_many", simulate_many)
    gaps = np.geomspace(0.5 / math.sqrt(10_000), math.sqrt(3), 5)
    nearest = gaps[np.argmin(np.abs(np.log(gaps / 0.1)))]
    found = WorstCase(10_000, 10, seed=0).of(TEXT)
    assert list(found) == list(GRIDS)
    for worst in found.values():
        expected = np.array([2, 4]) - abs(math.log(nearest / 0.1)) + 0.1
        np.testing.assert_allclose(worst.mean, expected)
        np.testing.assert_allclose(worst.gap, nearest)
        np.testing.assert_allclose(worst.sem, 0.5)


@pytest.mark.usefixtures("few", "quick_compilation")
def test_the_worst_regret_is_above_the_lower_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(worst_module, "GRIDS", ("minimax",))
    monkeypatch.setattr(paper, "FIGURES", {"s2b": "worst"})
    report = paper.reproduce(out=tmp_path, runs=50, horizon=1_000)
    table = rows((tmp_path / "figure-s2b.csv").read_text())
    assert [row["num_batches"] for row in table] == ["2", "4"]
    for row in table:
        assert float(row["worst_mean"]) > float(row["lower_bound"]) > 0
        times = jd.policies.arms.grids.grid_times("minimax", 1_000, int(row["num_batches"]))
        bound = jd.theory.static_minimax_lower_bound(times, 3)
        assert float(row["lower_bound"]) == pytest.approx(bound)
        rate = jd.theory.base_minimax_rate(3, 1_000, int(row["num_batches"]))
        assert float(row["minimax_rate"]) == pytest.approx(rate)
    assert any("worst regret over the lower bound" in line for line in report.lines)


@pytest.mark.usefixtures("few", "made_up")
def test_the_figure_of_the_worst_case_has_a_bound_for_each_grid():
    plan = worst_module.WorstPlan("s2a", WorstCase(10_000, 10, seed=0), PROGRAM)
    panel = plan.panel({}, SETTING)
    assert [curve.label for curve in panel.curves] == [f"BaSE {grid}" for grid in GRIDS]
    assert [bound.name for bound in panel.bounds] == [curve.name for curve in panel.curves]
    assert panel.up_scale == "log"
    assert len(plan.figure([panel]).axes) == 1
    assert plan.entries == []
