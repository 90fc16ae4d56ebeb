import csv
import warnings
from dataclasses import replace

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.papers.copeland_rmed import claims
from jaxduel.studies.papers.copeland_rmed import figures as paper
from jaxduel.studies.papers.copeland_rmed.constants import PRINTED, Constants, SubmatrixTable
from jaxduel.studies.papers.copeland_rmed.figures import PAPER
from jaxduel.studies.papers.copeland_rmed.instances import (
    MSLR64,
    MULTISOL,
    mslr64,
    multisol_like,
    random_submatrices,
)
from jaxduel.studies.papers.copeland_rmed.study import growth_by_decade, meets_from
from jaxduel.studies.papers.paper import ABSENT, Order
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by, smaller

pytestmark = pytest.mark.usefixtures("quick_compilation")
HORIZON = 1_200
FIXED = "ecw-rmed[shuffle_arms=false]"


def stand_in(competitor):
    """A competitor of the paper, played by a policy that compiles fast."""
    policy = "btm" if competitor.per_horizon else "rmed1"
    return replace(competitor, policy=policy, parameters={})


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Gap, the supplement and the table, 3 runs to a small horizon, without the MSLR data."""
    with machine("mslr-informational"):
        names = ("ecw-rmed", "cw-rmed", "savage", FIXED)
        few = smaller(PAPER, {"1e": names, "table1": None, "s1": names}, stand_in)
        out = tmp_path_factory.mktemp("figures")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = reproduce(few, out=out, runs=3, horizon=HORIZON)
        assert [str(w.message)[:23] for w in caught] == ["panel table1 is missing"]
        return made


@pytest.mark.thorough
def test_files_of_the_panels_that_could_be_made(report):
    assert {file.name for file in report.files} == {
        *(f"figure-{panel}.{kind}" for panel in ("1e", "s1") for kind in ("png", "pdf", "csv")),
        "final-regret.csv",
        "claims.csv",
        "claims.txt",
        "report.json",
    }
    text = (report.files[0].parent / "claims.txt").read_text()
    for words in (
        "panel table1", "T = 1,200 everywhere", "constructed",
        "figure 1e: LB 11.02, ECWB 1253 times log t", "the optimum is unique (1) or not (0)",
    ):  # fmt: skip
        assert words in text


@pytest.mark.thorough
def test_gap_is_played_in_both_orders_and_five_arms_by_cw_rmed(report):
    assert set(report.runs) == {
        *(("gap", name) for name in ("ecw-rmed", "cw-rmed", "savage", FIXED)),
        *(("mslr5-condorcet", name) for name in ("ecw-rmed", "cw-rmed")),
    }
    np.testing.assert_array_equal(report.runs["gap", "savage"].times, [100, 300, 1000, 1200])


@pytest.mark.thorough
def test_bounds_are_in_the_table_of_the_panel(report):
    with (report.files[0].parent / "figure-1e.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["policy"] == "LB"]
    times = np.array([int(row["t"]) for row in rows])
    values = np.array([float(row["mean"]) for row in rows])
    assert times[0] == 100
    assert times[-1] == HORIZON
    lower = jd.theory.copeland_lower_bound(jd.problems.load("gap")).constant
    np.testing.assert_allclose(values, lower * np.log(times))
    assert {row["sem"] for row in rows} == {""}


def test_horizons_and_runs_of_the_panels():
    def size(panel: str, full: bool, name: str = "ecw-rmed"):
        record = PAPER.panel(panel)
        (lineup,) = record.lineups
        (competitor,) = [c for c in lineup.competitors if c.name == name] or [None]
        return competitor and record.size(lineup, competitor, Order(full=full))

    assert size("1a", full=True) == (10_000_000, 100)
    assert size("1c", full=True) == (1_000_000, 100)
    assert size("1e", full=True, name="cw-rmed") == size("1e", full=True)
    assert size("1a", full=True, name="cw-rmed") == (100_000, 20)
    assert size("1c", full=True, name="cw-rmed") is None
    assert size("1a", full=False, name="cw-rmed") == ABSENT
    for panel in ("1a", "1c", "1e"):
        horizon, runs = size(panel, full=False)
        assert horizon <= 1_000_000
        assert runs <= size(panel, full=True)[1]


def test_the_constructed_instance_is_as_its_docstring_says():
    problem = multisol_like()
    assert problem.name == MULTISOL
    assert np.sum(problem.preferences == 0.8) == 8
    np.testing.assert_array_equal(problem.copeland_scores, [3, 2, 2, 2, 1])
    assert not jd.theory.copeland_optimum_is_unique(problem)


@pytest.fixture
def whole() -> jd.problems.DuelingProblem:
    """The matrix of all rankers, where it is on the machine."""
    try:
        return jd.problems.load("mslr-informational")
    except jd.InputError as error:
        pytest.skip(str(error))


def test_sixty_four_arms_without_a_condorcet_winner(whole):
    problem = mslr64()
    assert (problem.name, problem.num_arms) == (MSLR64, 64)
    assert problem.condorcet_winner is None
    gaps = np.abs(problem.preferences - 0.5)[np.triu_indices(64, 1)]
    assert gaps.min() >= 0.0025
    order = np.random.default_rng(135).permutation(136)
    wide = np.abs(np.asarray(whole.preferences) - 0.5) >= 0.0025
    taken: list[int] = []
    for arm in order:
        if len(taken) < 64 and wide[arm][taken].all():
            taken.append(int(arm))
    again = whole.submatrix(sorted(taken))
    np.testing.assert_array_equal(again.preferences, problem.preferences)


def test_no_sixty_four_arms_keep_the_papers_rule(whole):
    close = np.abs(np.asarray(whole.preferences) - 0.5) < 0.005
    fewest = 136
    for seed in range(60):  # sets of arms that are all close to one another, greedily
        left, sets = list(np.random.default_rng(seed).permutation(136)), 0
        while left:
            members: list[int] = []
            for arm in left:
                if close[arm][members].all():
                    members.append(int(arm))
            left = [arm for arm in left if arm not in members]
            sets += 1
        fewest = min(fewest, sets)
    assert fewest < 64  # of each set one arm at most can be taken


def test_random_submatrices_keep_their_distance_and_are_uniform():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.choice([0.504, 0.6], size=(7, 7), p=[0.3, 0.7]), 1)
    matrix = upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(7)
    wide = (np.abs(matrix - 0.5) >= 0.005) | np.eye(7, dtype=bool)
    triples = [(a, b, c) for a in range(7) for b in range(a + 1, 7) for c in range(b + 1, 7)]
    allowed = [t for t in triples if wide[np.ix_(t, t)].all()]
    drawn = random_submatrices(matrix, 3, rng)
    number = 4_000
    counts = dict.fromkeys(allowed, 0)
    for _ in range(number):
        counts[tuple(next(drawn).tolist())] += 1
    share = 1 / len(allowed)
    limit = 4 * np.sqrt(number * share * (1 - share))
    assert max(abs(count - number * share) for count in counts.values()) < limit


def test_a_longer_table_begins_with_a_shorter_one(whole):
    short, long = SubmatrixTable(whole, 3, seed=5), SubmatrixTable(whole, 6, seed=5)
    assert short.columns == {}
    for table in (short, long):
        table.complete()
    for label, column in short.columns.items():
        np.testing.assert_array_equal(column, long.columns[label][:3])


def test_the_table_alone_needs_no_simulation(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "SUBMATRICES", 20)
    made = reproduce(PAPER, "table1", out=tmp_path)
    assert made.runs == {}
    assert {"figure-table1.png", "figure-table1.csv"} <= {file.name for file in made.files}
    with (tmp_path / "figure-table1.csv").open() as file:
        rows = {row["constant"]: row for row in csv.DictReader(file)}
    assert 300 < float(rows["LB"]["mean"]) <= float(rows["ECWB"]["mean"]) < 2_000
    assert rows["CCB"]["num_submatrices"] == "20"
    (theorem,) = [c for c in made.claims if "always holds" in c.quote]
    assert theorem.verdict == "confirmed"
    assert "regret at T" not in "\n".join(made.lines)


TIMES = np.array([100, 1_000, 10_000])
LOWER = {MULTISOL: 9.0, "gap": 11.0, "mslr5-condorcet": 66.0}


def rows(lower: float, efficient: float, ccb: float) -> dict[str, np.ndarray]:
    """Made-up columns of Table 1."""
    noise = 1 + 0.1 * np.random.default_rng(0).standard_normal((3, 400))
    noise /= noise.mean(axis=1, keepdims=True)
    least = lower * noise[0]
    columns = least, np.maximum(efficient * noise[1], least), ccb * noise[2]
    return dict(zip(PRINTED, columns, strict=True))


def sample(name: str, final: float, growth: float) -> Runs:
    """400 made-up runs that grow with log t."""
    noise = 1 + 0.01 * np.random.default_rng(len(name)).standard_normal((400, 1))
    regret = noise * (final + growth * np.log(TIMES / TIMES[-1]))
    return Runs(name, name, TIMES, regret, np.arange(400))


@pytest.fixture
def good():
    """Samples and constants as the paper says they are."""
    finals = {
        "ecw-rmed": 900, "ccb": 3_000, "scb": 8_000, "savage": 9_000, "rucb": 5_000, "rmed1": 2_800,
    }  # fmt: skip
    made = {
        (data, name): sample(name, final, 1.0)
        for data in claims.FIGURE_1
        for name, final in finals.items()
    }
    for data in claims.WITH_CW:
        made[data, "cw-rmed"] = sample("cw-rmed", 700.0, LOWER[data])
    constants = {}
    for data in (*claims.FIGURE_1, "mslr5-condorcet"):
        lower = LOWER.get(data, 500.0)
        winners = 3 if data == "mslr16-noncondorcet" else 1
        constants[data] = Constants(lower, lower * (1.0 if winners > 1 else 1.02), winners)
    constants["gap"] = Constants(11.0, 1_250.0, 1)
    return claims.Evidence(made, constants, rows(670.0, 728.0, 8.8e5))


def test_claims_hold_where_the_numbers_are_as_the_paper_says(good):
    found = measured_by(PAPER, good)
    assert [c.quote for c in found if c.verdict != "confirmed"] == ["CCB 8.8e5"]
    assert all(c.expected in (None, len(c.measurements)) for c in found)


def test_nothing_simulated_is_nothing_confirmed():
    for claim in measured_by(PAPER, claims.Evidence({}, {}, {})):
        assert claim.verdict in ("not measured", "undecided")


@pytest.mark.parametrize(
    ("where", "name", "final", "growth", "quote"),
    [
        ("sushi", "savage", 800, 1.0, "significantly outperforms existing"),
        (MULTISOL, "ccb", 800, 1.0, "even when the optimal solution"),
        ("gap", "cw-rmed", 700, 22.0, "asymptotically matches"),
        ("mslr5-condorcet", "cw-rmed", 700, 30.0, "asymptotically matches"),
    ],
)
def test_verdicts_flip_with_the_runs(good, where, name, final, growth, quote):
    good.runs[where, name] = sample(name, final, growth)
    found = [claim for claim in measured_by(PAPER, good) if quote in claim.quote]
    assert [claim.verdict for claim in found] == ["not confirmed"]


def test_one_third_and_many_data_sets_need_not_be_all(good):
    for data in ("mslr16-condorcet", "sushi"):
        good.runs[data, "ccb"] = sample("ccb", 850, 1.0)
    found = {claim.quote[:20]: claim.verdict for claim in measured_by(PAPER, good)}
    assert found["ECW-RMED significant"] == "confirmed"
    assert found["In a ranker evaluati"] == "confirmed"
    for data in claims.MSLR:
        good.runs[data, "scb"] = sample("scb", 1_000, 1.0)
    found = {claim.quote[:20]: claim.verdict for claim in measured_by(PAPER, good)}
    assert found["In a ranker evaluati"] == "not confirmed"


@pytest.mark.parametrize(
    ("data", "constants", "quote"),
    [
        ("sushi", Constants(500, 600, 1), "very close to LB"),
        ("gap", Constants(11, 300, 1), "LB is very small"),
        ("gap", Constants(11, 10, 1), "always holds"),
        ("mslr16-noncondorcet", Constants(500, 501, 3), "the following equality"),
    ],
)
def test_verdicts_flip_with_the_constants(good, data, constants, quote):
    good.constants[data] = constants
    (claim,) = [c for c in measured_by(PAPER, good) if quote in c.quote]
    assert claim.verdict == "not confirmed"


@pytest.mark.parametrize(
    ("columns", "quote"),
    [
        ((640, 728, 8.8e5), "Optimal: CW-RMED"),
        ((670, 800, 8.8e5), "Optimal: CW-RMED"),
        ((670, 728, 3.0e5), "1000 times looser"),
        ((670, 728, 1.5e6), "1000 times looser"),
    ],
)
def test_verdicts_flip_with_the_table(good, columns, quote):
    good.columns = rows(*columns)
    (claim,) = [c for c in measured_by(PAPER, good) if quote in c.quote]
    assert claim.verdict == "not confirmed"


BOUND = 20.0
DECADES = 10 ** np.arange(2, 10)


def decades(name, *growths, first=100.0, spread=0.01):
    """400 runs whose regret grows so fast per unit of log t in each decade, in units of LB."""
    times = DECADES[: len(growths) + 1]
    means = first + BOUND * np.log(10) * np.append(0, np.cumsum(growths))
    noise = 1 + spread * np.random.default_rng(len(name)).standard_normal((400, 1))
    return Runs(name, name, times, noise * means, np.arange(400))


def test_growth_is_that_of_each_decade():
    found = growth_by_decade(decades("dts", 5, 0.5, 1.1), BOUND)
    assert list(found) == [1_000, 10_000, 100_000]
    values, widths = np.array([[x.value, x.upper - x.lower] for x in found.values()]).T
    np.testing.assert_allclose(values, [5, 0.5, 1.1], rtol=4 * 0.01 / 20)
    assert np.all(widths > 2 * 1.96 * 0.01 * values / 20)
    assert np.all(widths < 0.03 * values)


def test_decades_end_at_the_horizon():
    sample = decades("savage", 3, 1, 1)
    with_more = Runs(
        "savage",
        "savage",
        np.array([30, 100, 300, 1_000, 3_000]),
        sample.regret[:, [0, 0, 1, 1, 2]],
        sample.groups,
    )
    assert list(growth_by_decade(with_more, BOUND)) == [300, 3_000]
    assert growth_by_decade(with_more.until(30), BOUND) == {}


@pytest.mark.parametrize(
    ("growths", "begin"),
    [
        ((5, 1.1, 1.2), 1_000),
        ((1.1, 5, 1.2), 10_000),
        ((0.9, 0.9, 1.0), 100),
        ((1, 1, 1.3), None),
        ((1, 1, 1.2499), None),
    ],
)
def test_a_policy_meets_the_bound_once_all_later_decades_do(growths, begin):
    assert meets_from(growth_by_decade(decades("dts", *growths), BOUND)) == begin


def test_nothing_measured_meets_nothing():
    assert meets_from({}) is None


def test_the_panel_has_a_row_per_policy():
    record = PAPER.panel("s2")
    bounds = {**record.options, "bounds": lambda problem: {"LB": BOUND}}
    shown = record.picture(replace(record, options=bounds), Order(full=True), PAPER.setting)
    players = {one.key: one.competitor for one in shown.wanted}
    sizes = {one.competitor.name: (one.horizon, one.num_runs) for one in shown.wanted}
    assert set(sizes) == {
        "ecw-rmed", "cw-rmed", "dts", "dts+", "ccb", "scb", "savage", "pbr"
    }  # fmt: skip
    assert sizes["dts"] == (10**9, 500)
    all_runs = {
        key: decades(c.name, *([2] * 3 + [1] * 4)[: 5 if c.quick else 7])
        for key, c in players.items()
    }
    first, _, header, *rows = shown.lines(all_runs)
    assert first == "figure s2: LB 20 times log t."
    assert header.split()[-3:] == ["1e9", "meets", "LB"]
    assert len(rows) == len(sizes)
    assert all("from 1e5" in row for row in rows)
