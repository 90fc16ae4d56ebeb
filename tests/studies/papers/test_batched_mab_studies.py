"""Studies s1 and s2 of batched-mab, beyond the paper."""

import csv
import io
import math
import re

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import draw
from jaxduel.runs import Runs
from jaxduel.studies.engine import machines
from jaxduel.studies.papers.batched_mab import study, worst
from jaxduel.studies.papers.batched_mab.entries import GRIDS, PROGRAM, TEXT
from jaxduel.studies.papers.batched_mab.figures import PAPER
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce

SMALL = {"BATCHES": (2, 3), "ARMS": (2, 3), "HORIZONS": (100, 1_000)}


def picture_of(name: str, **order):
    panel = PAPER.panel(name)
    return panel.picture(panel, Order(**order), PAPER.setting)


@pytest.fixture
def small(monkeypatch):
    """A study of 8 cells per reading and grid."""
    for name, values in SMALL.items():
        monkeypatch.setattr(study, name, values)


def regret_of(competitor, horizon: int, num_arms: int) -> float:
    """Made-up: the minimax grid is best for long horizons, the arithmetic one for short ones."""
    factor = {"minimax": 1.0, "geometric": 2.0, "arithmetic": 0.5 * (horizon / 100)}
    known = competitor.parameters
    return float(known["num_batches"] * num_arms * factor[known["grid"]])


def made_up(wanted) -> Runs:
    """Made-up runs: standard errors are a hundredth of the mean."""
    c, (draw, *_) = wanted.competitor, wanted.draws
    noise = np.random.default_rng(len(c.name)).standard_normal((draw.num_runs, 1))
    noise = 0.01 * np.sqrt(len(noise)) * (noise - noise.mean()) / noise.std(ddof=1)
    regret = regret_of(c, wanted.horizon, draw.problem.num_arms) * (1 + noise)
    return Runs(c.name, c.label, np.array([wanted.horizon]), regret, np.arange(len(regret)))


@pytest.fixture
def made_up_runs(monkeypatch):
    """Made-up numbers in place of what was simulated."""
    monkeypatch.setattr(
        "jaxduel.studies.planned.Planned.runs",
        lambda planned, wanted, read: made_up(wanted),
    )


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def study_of(reading, runs: int = 100) -> study.Study:
    """A study of made-up runs."""
    where = study.cells(reading, runs, 0, PAPER.setting)
    return study.Study({wanted.key: made_up(wanted) for wanted in where.values()}, where)


@pytest.mark.thorough
@pytest.mark.usefixtures("small", "quick_compilation")
def test_cells_of_s1_are_those_of_simulate(tmp_path):
    report = reproduce(PAPER, "s1d", out=tmp_path, runs=5, seed=3)
    wanted = study.cells(TEXT, 5, 3, PAPER.setting)["geometric", 3, 1_000, 2]
    policy = jd.policies.make(
        "base", num_arms=3, horizon=1_000, num_batches=2, grid="geometric", gamma=1.0, commit=True
    )
    (draw,) = wanted.draws
    problem = jd.problems.one_better_arm(3)
    result = jd.simulate(policy, problem, 1_000, 5, draw.key, [1_000], regret="pulls", lanes=5)
    sample = report.runs[wanted.key]
    np.testing.assert_allclose(sample.regret, result.regret, rtol=1e-6)


@pytest.mark.usefixtures("small")
def test_the_best_grid_and_how_sure_it_is():
    found = study_of(PROGRAM)
    # by grid, K, T, M
    np.testing.assert_allclose(found.mean[0], [[[4, 6], [4, 6]], [[6, 9], [6, 9]]])
    np.testing.assert_allclose(found.mean[1], 2 * found.mean[0])
    choice = found.choice()
    assert (choice.best[:, 0] == 2).all()  # arithmetic at T = 100
    assert (choice.best[:, 1] == 0).all()
    np.testing.assert_allclose(choice.ratio, 0.5)
    assert choice.sure.all()
    ratio, lower, upper = found.ratio(1, 0)
    np.testing.assert_allclose(ratio, 2)
    np.testing.assert_allclose(lower * upper, 4, rtol=0.01)  # nearly even on the log scale
    assert (upper < 2 * np.exp(1.984217 * 0.01 * np.sqrt(2) * 3)).all()  # an unseen run included
    assert not study.Choice(choice.best, choice.ratio, 0.4 * ratio, 0.6 * ratio).sure.any()


@pytest.mark.slow
@pytest.mark.usefixtures("small", "made_up_runs")
def test_maps_and_tables_have_the_cells(tmp_path):
    report = reproduce(PAPER, "s1", out=tmp_path, runs=100)
    names = {file.name for file in report.files}
    assert len(report.runs) == 2 * 24  # shared by the panels
    assert {f"figure-s1{x}.{kind}" for x in "abcdef" for kind in ("png", "pdf", "csv")} <= names
    assert "figure-s1.png" in names
    cells = rows((tmp_path / "figure-s1d.csv").read_text())
    assert len(cells) == 24
    assert {(cell["gamma"], cell["commit"]) for cell in cells} == {("1.0", "True")}
    (cell,) = [
        cell for cell in cells
        if (cell["grid"], cell["num_arms"], cell["t"], cell["num_batches"])
        == ("geometric", "3", "1000", "2")
    ]  # fmt: skip
    assert float(cell["mean"]) == pytest.approx(12)
    assert float(cell["sem"]) == pytest.approx(0.12)
    assert cell["num_seeds"] == "100"
    ratios = rows((tmp_path / "figure-s1b.csv").read_text())
    np.testing.assert_allclose([float(cell["ratio"]) for cell in ratios], 0.5)
    best = rows((tmp_path / "figure-s1c.csv").read_text())
    assert [cell["best"] for cell in best[:4]] == ["arithmetic"] * 2 + ["minimax"] * 2
    text = "\n".join(report.lines)
    assert "minimax in 4 (4 significantly), geometric in 0" in text
    assert "best grid by T: 100: 0%, 1,000: 100%" in text
    assert "K = 2, T = 1000; K = 3, T = 1000" in text
    assert "of their 4 cells the best grid is minimax in 0, geometric in 0, arithmetic in 4" in text
    assert "regret at T" not in text  # thousands of cells are in the tables alone


@pytest.mark.slow
@pytest.mark.usefixtures("small", "made_up_runs")
def test_an_interrupted_study_goes_on_where_it_ended(tmp_path, monkeypatch):
    whole = machines.run_tasks

    def interrupted(*arguments, **options):
        yield next(whole(*arguments, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(machines, "run_tasks", interrupted)
        report = reproduce(PAPER, "s1a", out=tmp_path, runs=100)
    assert report.interrupted
    done = len(rows((tmp_path / "final-regret.csv").read_text()))
    assert 0 < done < 24
    assert not (tmp_path / "figure-s1a.png").exists()
    again = reproduce(PAPER, "s1a", out=tmp_path, runs=100)
    (kept,) = re.findall(r"(\d+) of 24 curves are from", again.lines[0])
    assert done <= int(kept)  # other threads may have finished blocks
    assert len(again.runs) == 24
    assert (tmp_path / "figure-s1a.png").exists()


def test_the_study_has_the_ranges_of_the_issue():
    assert len(study.BATCHES) * len(study.ARMS) * len(study.HORIZONS) == 378
    assert (study.BATCHES[0], study.BATCHES[-1]) == (2, 32)
    assert (study.ARMS[0], study.ARMS[-1]) == (2, 64)
    assert (study.HORIZONS[0], study.HORIZONS[-1]) == (10**3, 10**9)
    assert len(picture_of("s1a").wanted) == 3 * 378
    assert {wanted.num_runs for wanted in picture_of("s1a").wanted} == {1_000}


def keys(wanted) -> dict[tuple, tuple]:
    """Keys of runs by instances and policy."""
    return {
        one.key: tuple(tuple(jax.random.key_data(draw.key).tolist()) for draw in one.draws)
        for one in wanted
    }


def test_an_added_size_or_grid_leaves_the_keys_of_the_studies(monkeypatch):
    def both():
        cells = study.cells(TEXT, 10, 3, PAPER.setting)
        return keys(cells.values()), keys(picture_of("s2b", seed=3).wanted)

    before = both()
    for name in ("ARMS", "HORIZONS"):
        monkeypatch.setattr(study, name, (3, *getattr(study, name)))
    for module in (study, worst):
        monkeypatch.setattr(module, "GRIDS", ("another", *GRIDS))
    after = both()
    for some, more in zip(before, after, strict=True):
        assert len(more) > len(some)
        assert some.items() <= more.items()
    assert len(set(before[0].values())) == len(study.ARMS[1:]) * len(study.HORIZONS[1:])


@pytest.fixture
def few(monkeypatch):
    """A worst case over few numbers of batches and gaps."""
    monkeypatch.setattr(worst, "BATCHES", (2, 4))
    monkeypatch.setattr(worst, "GAPS", 5)


def worst_runs(picture) -> dict[tuple[str, str], Runs]:
    """Made-up runs: regret is largest at the gap nearest to 0.1 and for the second hypothesis."""
    found = {}
    noise = 0.5 * np.sqrt(10) * np.repeat([1, -1], 5) * np.sqrt(9 / 10)
    for wanted in picture.wanted:
        c, regret = wanted.competitor, []
        for instance in wanted.draws:
            gap = sorted(set(instance.problem.means))[1]
            mean = c.parameters["num_batches"] - abs(math.log(gap / 0.1))
            regret.append(mean + 0.1 * (instance.problem.means[1] > 0) + noise)
        groups = np.repeat(np.arange(len(regret)), 10)
        column = np.concatenate(regret)[:, None]
        found[wanted.key] = Runs(c.name, c.label, np.array([9]), column, groups)
    return found


@pytest.mark.usefixtures("few")
def test_the_worst_case_is_the_largest_over_gaps_and_hypotheses():
    picture = picture_of("s2b", runs=10, horizon=10_000)
    gaps = np.geomspace(0.5 / math.sqrt(10_000), math.sqrt(3), 5)
    nearest = gaps[np.argmin(np.abs(np.log(gaps / 0.1)))]
    for grid in GRIDS:
        mean, sem, gap = np.array(picture.worst(worst_runs(picture), grid)).T
        expected = np.array([2, 4]) - abs(math.log(nearest / 0.1)) + 0.1
        np.testing.assert_allclose(mean, expected)
        np.testing.assert_allclose(gap, nearest)
        np.testing.assert_allclose(sem, 0.5)


@pytest.mark.thorough
@pytest.mark.usefixtures("few", "quick_compilation")
def test_the_worst_regret_is_above_the_lower_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(worst, "GRIDS", ("minimax",))
    report = reproduce(PAPER, "s2b", out=tmp_path, runs=50, horizon=1_000)
    table = rows((tmp_path / "figure-s2b.csv").read_text())
    assert [row["num_batches"] for row in table] == ["2", "4"]
    for row in table:
        assert float(row["worst_mean"]) > float(row["lower_bound"]) > 0
        times = jd.policies.arms.grids.grid_times("minimax", 1_000, int(row["num_batches"]))
        bound = jd.theory.static_minimax_lower_bound(times, 3)
        assert float(row["lower_bound"]) == pytest.approx(bound)
        rate = jd.theory.base_minimax_rate(3, 1_000, int(row["num_batches"]))
        assert float(row["minimax_rate"]) == pytest.approx(rate)
        assert row["num_seeds"] == "50"
    assert any("worst regret over the lower bound" in line for line in report.lines)


@pytest.mark.usefixtures("few")
def test_the_figure_of_the_worst_case_has_a_bound_for_each_grid():
    picture = picture_of("s2a", runs=10, horizon=10_000)
    panel = picture.panel(worst_runs(picture), PAPER.setting)
    assert [curve.label for curve in panel.lines] == [f"BaSE {grid}" for grid in GRIDS]
    assert [bound.name for bound in panel.references] == [curve.name for curve in panel.lines]
    assert panel.up_scale == "log"
    assert len(draw([panel]).axes) == 1
