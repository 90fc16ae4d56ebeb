import csv
import re

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.papers.batched_mab import claims, entries
from jaxduel.studies.papers.batched_mab import figures as paper
from jaxduel.studies.papers.batched_mab.entries import GRIDS, PROGRAM, READINGS, TEXT
from jaxduel.studies.papers.batched_mab.figures import PAPER
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by, smaller

HORIZON = 1_000


@pytest.fixture(scope="module")
def report(tmp_path_factory, quick_compilation):
    """Figures 1a, 1b and 1d of 4 runs to a small horizon, with two and three arms."""
    with machine(), pytest.MonkeyPatch.context() as patch:
        for module in (paper, claims):
            patch.setattr(module, "ARMS", (2, 3))
        few = smaller(PAPER, dict.fromkeys(("1a", "1b", "1d")))
        return reproduce(few, out=tmp_path_factory.mktemp("figures"), runs=4, horizon=HORIZON)


@pytest.mark.thorough
def test_files_of_the_panels(report):
    assert {file.name for file in report.files} == {
        *(f"figure-1{letter}.{kind}" for letter in "abd" for kind in ("png", "pdf", "csv")),
        "figure-1.png",
        "figure-1.pdf",
        "final-regret.csv",
        "claims.csv",
        "claims.txt",
        "report.json",
    }
    assert all(file.stat().st_size > 0 for file in report.files)
    assert not report.interrupted


@pytest.mark.thorough
def test_runs_are_those_of_simulate(report):
    (draw,) = entries.drawn(3, HORIZON, 4, 0)
    policy = jd.policies.make(
        "base", num_arms=3, horizon=HORIZON, num_batches=4, grid="geometric", gamma=0.5,
        commit=False,
    )  # fmt: skip
    result = jd.simulate(
        policy, draw.problem, HORIZON, 4, draw.key, [HORIZON], regret="pulls", lanes=4
    )
    name = entries.base(PROGRAM, "geometric", 4).name
    sample = report.runs[entries.where(3, HORIZON), name]
    np.testing.assert_array_equal(sample.regret, result.regret)


@pytest.mark.thorough
def test_tables_have_regret_per_pull(report):
    with (report.files[0].parent / "figure-1a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["policy"] for row in rows[::6]] == [
        "base", "base[grid=geometric]", "base[grid=arithmetic]", "ucb1",
    ]  # fmt: skip
    assert [int(row["num_batches"]) for row in rows] == [*entries.BATCHES] * 4
    for row in rows:
        name = "ucb1"
        if row["policy"] != "ucb1":
            grid = row["parameters"].split()[0].removeprefix("grid=")
            name = entries.base(PROGRAM, grid, int(row["num_batches"])).name
        sample = report.runs[entries.where(3, HORIZON), name]
        assert float(row["mean"]) == pytest.approx(sample.mean[-1] / HORIZON)


@pytest.mark.thorough
def test_claims_that_the_panels_bear_on_are_measured(report):
    counts = [len(claim.measurements) for claim in report.claims]
    assert counts == [7, 2, 6, 6, 0, 0, 0, 0]  # of the 12 settings those of panel (c) are missing
    assert "Figure text1" in (report.files[0].parent / "claims.txt").read_text()


def made_up(reading: entries.Reading, means: dict[str, float]) -> dict[tuple[str, str], Runs]:
    """Samples of all settings: each policy's mean final regret, by the words it begins with."""
    rng = np.random.default_rng(0)
    made = {}
    settings = [
        *claims.Evidence({}, 50_000).settings,
        *((entries.where(2, 50_000), m) for m in range(2, 8)),
    ]
    for where, number in settings:
        players = [entries.base(reading, grid, number) for grid in GRIDS]
        players += [entries.etc(grid, number) for grid in GRIDS[:2]] + [entries.UCB1]
        for c in players:
            word = " ".join([c.policy, *([c.parameters["grid"]] if c != entries.UCB1 else [])])
            regret = means[word] * (1 + 0.01 * rng.standard_normal((1_000, 1)))
            made[where, c.name] = Runs(c.name, c.label, np.array([9]), regret, np.arange(1_000))
    return made


HORIZONS = (500, 1_256, 3_155, 7_924, 19_905, 50_000)
GOOD = {
    "base minimax": 100, "base geometric": 150, "base arithmetic": 120, "etc minimax": 140,
    "etc geometric": 200, "ucb1": 60,
}  # fmt: skip


def measured(made: dict[tuple[str, str], Runs]):
    return measured_by(PAPER, claims.Evidence(made, 50_000))


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.figure)
def test_claims_hold_where_the_numbers_are_as_the_paper_says(reading):
    found = measured(made_up(reading, GOOD))
    verdicts = [claim.verdict for claim in found]
    known = verdicts[:4] if reading == PROGRAM else verdicts[4:]
    assert known == ["confirmed"] * 4
    assert verdicts.count("not measured") == 4
    assert [len(claim.measurements) for claim in found if claim.measurements] == [16, 2, 6, 6]


@pytest.mark.parametrize(
    ("change", "flipped"),
    [
        ({"base arithmetic": 90}, 0),
        ({"base geometric": 90}, 0),
        ({"ucb1": 45}, 1),
        ({"etc minimax": 90}, 2),
        ({"etc geometric": 140}, 3),
    ],
)
def test_verdicts_flip_with_the_numbers(change, flipped):
    found = measured(made_up(TEXT, {**GOOD, **change}))[4:]
    assert found[flipped].verdict == "not confirmed"


def test_reasons_are_those_of_the_reading_and_the_grid():
    """gamma = 1 with commitment never pulls two arms to the end, and no reason is known of the
    minimax grid."""
    found = {reading: made_up(reading, {**GOOD, "etc minimax": 90, "etc geometric": 140})
             for reading in READINGS}  # fmt: skip
    said = [claim.remark for made in found.values() for claim in measured(made)
            if "ETC" in claim.quote and claim.measurements]  # fmt: skip
    assert [words.split(",")[0] for words in said] == [
        "", "Without commitment", "", "Some runs commit to the worse arm",
    ]  # fmt: skip


def test_both_readings_and_all_settings_have_names_of_their_own():
    assert entries.base(PROGRAM, "minimax", 3).parameters == {
        "grid": "minimax", "num_batches": 3, "gamma": 0.5, "commit": False,
    }  # fmt: skip
    assert entries.base(TEXT, "minimax", 3).parameters["commit"] is True
    made = [entries.base(r, g, m) for r in READINGS for g in GRIDS for m in entries.BATCHES]
    assert len({c.name for c in made}) == len({c.label for c in made}) == len(made)
    keys = [entries.drawn(k, t, 1, 0)[0].key for k, t in ((2, 500), (3, 500), (3, 501))]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in keys}) == 3


def picture_of(name: str, **order):
    panel = PAPER.panel(name)
    return panel.picture(panel, Order(**order), PAPER.setting)


@pytest.mark.parametrize("panel", PAPER.panels, ids=lambda panel: panel.name)
def test_labels_of_panels_are_those_of_the_policies_that_play(panel):
    wanted = panel.picture(panel, Order(), PAPER.setting).wanted
    played = {one.competitor.label for one in wanted}
    assert {re.sub(r", M = \d+", "", label) for label in played} == {*panel.labels}


def test_horizons_of_panel_c_are_those_of_the_authors_program():
    shown = picture_of("1c")
    assert [point.at for point in shown.lines_of[0].points] == list(HORIZONS)
    assert {one.num_runs for one in shown.wanted} == {1_000}
    assert {one.num_runs for one in picture_of("text1c", full=True).wanted} == {10_000}


def test_a_horizon_for_which_the_grids_are_too_short_is_refused(tmp_path):
    with pytest.raises(jd.InputError, match="horizon must be at least 1,000"):
        reproduce(PAPER, out=tmp_path, horizon=999)


REFERENCE = {
    "minimax": (0.0452, 0.0127, 0.0103, 0.0099, 0.0094, 0.0100),
    "geometric": (0.0613, 0.0439, 0.0259, 0.0199, 0.0178, 0.0177),
    "arithmetic": (0.0333, 0.0222, 0.0167, 0.0135, 0.0115, 0.0101),
}
"""Mean regret / T in panel (a), M = 2..7, of 1,000 runs of another program."""
ROUNDING = 0.00005


def agree_with_the_reference(result: jd.Result, printed: float) -> None:
    """Within 4 standard errors, those of the reference's 1,000 runs included, and its rounding."""
    mean, std = result.mean[-1] / 50_000, result.std[-1] / 50_000
    error = std * np.sqrt(1 / result.num_seeds + 1 / 1_000)
    assert abs(mean - printed) < 4 * error + ROUNDING, (mean, printed, error)


def panel_a(grid: str, runs: int) -> list[jd.Result]:
    made = [
        jd.policies.make(
            "base", num_arms=3, horizon=50_000, num_batches=m, grid=grid, **PROGRAM.parameters
        )
        for m in entries.BATCHES
    ]
    problem = jd.problems.one_better_arm(3)
    return jd.simulation.simulate_many(
        made, problem, num_seeds=runs, seed=5, checkpoints=[50_000], regret="pulls"
    )


def ucb1(runs: int) -> jd.Result:
    policy = jd.policies.make("ucb1", num_arms=3, horizon=50_000)
    problem = jd.problems.one_better_arm(3)
    return jd.simulate(
        policy, problem, num_seeds=runs, seed=5, checkpoints=[50_000], regret="pulls"
    )


def test_panel_a_agrees_with_another_program():
    for result, printed in zip(panel_a("minimax", 2_000), REFERENCE["minimax"], strict=True):
        agree_with_the_reference(result, printed)


@pytest.mark.slow
def test_panel_a_agrees_with_another_program_in_full():
    for grid in GRIDS:
        for result, printed in zip(panel_a(grid, 10_000), REFERENCE[grid], strict=True):
            agree_with_the_reference(result, printed)
    agree_with_the_reference(ucb1(10_000), 0.0057)
