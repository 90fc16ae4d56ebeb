import csv
from dataclasses import replace

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers import five_hundred
from jaxduel.studies.papers.copeland_dueling import claims
from jaxduel.studies.papers.copeland_dueling import figures as paper
from jaxduel.studies.papers.copeland_dueling.figures import PAPER
from jaxduel.studies.papers.paper import Order, named_key
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by, smaller

pytestmark = pytest.mark.usefixtures("quick_compilation")
HORIZON = 12_000


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Figure 1 of two policies, 3 runs to a small horizon."""
    with machine():
        few = smaller(PAPER, {"1": ("savage", "rucb")})
        return reproduce(few, out=tmp_path_factory.mktemp("figures"), runs=3, horizon=HORIZON)


def test_files_and_notes(report):
    assert {file.name for file in report.files} == {
        *(f"figure-1.{kind}" for kind in ("png", "pdf", "csv")),
        "final-regret.csv",
        "claims.csv",
        "claims.txt",
        "report.json",
    }
    text = (report.files[0].parent / "claims.txt").read_text()
    for words in (
        "twice 'copeland' regret", "RankEl is left out", "T = 12,000 everywhere",
        "3 runs everywhere",
    ):  # fmt: skip
        assert words in text


def test_regret_is_in_the_papers_unit(report):
    problem = jd.problems.load(claims.FIVE)
    key = named_key(0, claims.FIVE)
    policy = jd.policies.make("rucb", num_arms=5, alpha=0.51)
    with pytest.warns(jd.AssumptionWarning):
        result = jd.simulate(policy, problem, HORIZON, 3, key, lanes=3, regret="copeland")
    sample = report.runs[claims.FIVE, "rucb"]
    np.testing.assert_array_equal(sample.final, 2 * result.regret[:, -1])
    with (report.files[0].parent / "figure-1.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["policy"] == "rucb"]
    assert float(rows[-1]["mean"]) == sample.mean[-1]
    assert int(rows[0]["t"]) == paper.START


def test_separate_runs_begin_where_the_picture_does(report):
    savage = report.runs[claims.FIVE, "savage"]
    np.testing.assert_array_equal(savage.times, [1_000, 3_000, 10_000, 12_000])


@pytest.mark.parametrize("full", [False, True])
def test_500_arms_are_played_until_their_pairs_can_be_told_apart(full):
    panel = PAPER.panel("2c")
    for wanted in panel.picture(panel, Order(full=full), PAPER.setting).wanted:
        assert wanted.problem.num_arms == five_hundred.NUM_ARMS
        assert wanted.horizon >= five_hundred.settling_time()


def test_every_panel_has_its_instances_and_policies():
    made = {panel.name: panel.picture(panel, Order(), PAPER.setting) for panel in PAPER.panels}
    names = {"1": claims.FIVE, "2a": claims.TEN, "2b": claims.SOME, "2c": claims.MANY}
    assert list(made) == list(names) == [panel.name for panel in PAPER.panels]
    for name, picture in made.items():
        assert picture.name == name
        assert {one.where for one in picture.wanted} == {names[name]}
    assert made["2a"].problem.num_arms == claims.NUM_TEN
    assert made["2b"].problem.num_arms == claims.NUM_SOME
    assert "rucb" not in made["1"].frame


TIMES = np.array([1_000, 10_000, 100_000])
LATE = 1_000 * TIMES


def sample(
    name: str, finals: tuple[float, ...], times: np.ndarray = TIMES, spread: float = 0.02
) -> Runs:
    """100 made-up runs; regrets of SAVAGE and PBR at different times are independent."""
    rng = np.random.default_rng(len(name))
    noise = 1 + spread * rng.standard_normal((100, 1 if name in ("ccb", "scb", "rucb") else 3))
    regret = np.array(finals) * noise / noise.mean(axis=0)
    return Runs(name, name, times[: len(finals)], regret, np.arange(100))


@pytest.fixture
def good() -> dict[tuple[str, str], Runs]:
    """Samples as the paper says they are."""
    return {
        (claims.FIVE, "ccb"): sample("ccb", (100, 300, 400)),
        (claims.FIVE, "scb"): sample("scb", (200, 900, 2_000)),
        (claims.FIVE, "savage"): sample("savage", (200, 1_000, 900)),
        (claims.FIVE, "pbr"): sample("pbr", (200, 1_000, 1_500)),
        (claims.FIVE, "rucb"): sample("rucb", (100, 1_000, 10_000)),
        (claims.TEN, "ccb"): sample("ccb", (1, 2, 100)),
        (claims.TEN, "savage"): sample("savage", (1, 2, 150)),
        (claims.TEN, "pbr"): sample("pbr", (1, 2, 200)),
        (claims.SOME, "ccb"): sample("ccb", (1, 2, 350)),
        (claims.SOME, "savage"): sample("savage", (1, 2, 1_300)),
        (claims.SOME, "pbr"): sample("pbr", (1, 2, 1_700)),
        (claims.TEN, "scb"): sample("scb", (1, 2, 130)),
        (claims.SOME, "scb"): sample("scb", (1, 2, 400)),
        (claims.MANY, "ccb"): sample("ccb", (400, 4_000, 4_100), LATE),
        (claims.MANY, "scb"): sample("scb", (390, 3_000, 3_075), LATE),
        (claims.MANY, claims.SCALED): sample("scb", (390, 5_000, 9_000), LATE),
        (claims.FIVE, claims.SCALED): sample("scb", (200, 900, 1_000)),
    }


def measured(samples: dict[tuple[str, str], Runs]):
    return measured_by(PAPER, Finder(samples))


def test_a_curve_of_independent_horizons_with_equal_means_falls_every_other_time():
    level = {(claims.FIVE, "savage"): sample("savage", (1, 500, 500))}
    (claim,) = [c for c in measured(level) if "monotonically" in c.quote]
    (share,) = claim.measurements
    assert share.estimate.value == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(claims.CURVES))
    width = share.estimate.upper - share.estimate.lower
    assert width == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(claims.CURVES), rel=0.02)


def test_claims_hold_where_the_numbers_are_as_the_paper_says(good):
    found = measured(good)
    assert [c.quote for c in found if c.verdict != "confirmed"] == []
    assert all(len(claim.measurements) == claim.expected for claim in found)
    (drop,) = [c for c in found if "monotonically" in c.quote]
    assert [m.verdict for m in drop.measurements] == ["confirmed", "not confirmed"]
    assert drop.measurements[0].estimate.value > 0.99
    (large,) = [c for c in found if "large-scale" in c.quote]
    assert large.measurements[0].estimate.value == pytest.approx(0.75)
    assert [m.verdict for m in large.measurements] == ["confirmed", "not confirmed"]
    (power,) = [c for c in found if "K^2 log T" in c.quote]
    assert power.measurements[0].estimate.value == pytest.approx(np.log(1_300 / 150) / np.log(3))


def test_500_arms_are_not_judged_before_their_pairs_can_be_told_apart(good):
    for name in ("ccb", "scb", claims.SCALED):
        made = good[claims.MANY, name]
        good[claims.MANY, name] = replace(made, times=made.times // 1_000)
    (claim,) = [c for c in measured(good) if c.verdict != "confirmed"]
    assert (claim.verdict, len(claim.measurements)) == ("undecided", claim.expected)
    assert f"T = {five_hundred.settling_time():,}" in claim.needs


def test_nothing_simulated_is_nothing_measured():
    assert {claim.verdict for claim in measured({})} == {"not measured"}


@pytest.mark.parametrize(
    ("where", "name", "finals", "quote"),
    [
        (claims.FIVE, "scb", (200, 250, 300), "outperforms all other"),
        (claims.FIVE, "rucb", (100, 1_000, 5_000), "grows linearly"),
        (claims.FIVE, "savage", (200, 500, 900), "monotonically"),
        (claims.SOME, "pbr", (1, 2, 700), "K^2 log T"),
        (claims.SOME, "ccb", (1, 2, 1_100), "significantly improved"),
        (claims.TEN, "ccb", (1, 2, 180), "beats all existing"),
        (claims.SOME, "scb", (1, 2, 300), "unless there are very many arms"),
        (claims.MANY, "scb", (390, 4_500, 9_000), "large-scale"),
    ],
)
def test_verdicts_flip_with_the_numbers(good, where, name, finals, quote):
    times = good[where, name].times if where == claims.MANY else TIMES
    good[where, name] = sample(name, finals, times)
    (claim,) = [claim for claim in measured(good) if quote in claim.quote]
    assert claim.verdict == "not confirmed"
