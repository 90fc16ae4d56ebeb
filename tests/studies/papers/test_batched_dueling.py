import csv

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.batched_dueling import claims
from jaxduel.studies.papers.batched_dueling import figures as paper
from jaxduel.studies.papers.batched_dueling.figures import PAPER
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from jaxduel.studies.pictures import Setting
from tests.studies.papers.smaller import machine, measured_by

pytestmark = [
    pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]
HORIZON = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Figure 2 of 3 runs to a small horizon, on a machine that cannot have the sushi data."""
    out, missing = tmp_path_factory.mktemp("figures"), "panel 2b is missing: sushi"
    with machine("sushi"), pytest.warns(UserWarning, match=missing):
        return reproduce(PAPER, "2", out=out, runs=3, horizon=HORIZON, num_arms=6)


@pytest.mark.thorough
def test_files_of_the_panels_that_could_be_made(report):
    assert {file.name for file in report.files} == {
        *(f"figure-2{letter}.{kind}" for letter in "acd" for kind in ("png", "pdf", "csv")),
        "figure-2.png",
        "figure-2.pdf",
        "final-regret.csv",
        "claims.csv",
        "claims.txt",
        "report.json",
    }
    assert all(file.stat().st_size > 0 for file in report.files)
    text = (report.files[0].parent / "claims.txt").read_text()
    assert "panel 2b is missing: sushi" in text
    assert not report.interrupted


@pytest.mark.thorough
def test_tables_have_the_numbers_of_the_samples(report):
    folder = report.files[0].parent
    assert len(report.runs) == 12
    with (folder / "final-regret.csv").open() as file:
        rows = {(row["instance"], row["policy"]): row for row in csv.DictReader(file)}
    assert set(rows) == set(report.runs)
    for key, sample in report.runs.items():
        assert float(rows[key]["mean"]) == sample.mean[-1]
        assert float(rows[key]["sem"]) == sample.sem[-1]
        assert float(rows[key]["median"]) == np.median(sample.final)
        assert (rows[key]["mean_batches"] == "") == (sample.batches is None)
    with (folder / "figure-2c.csv").open() as file:
        means = [float(r["mean"]) for r in csv.DictReader(file) if r["policy"] == "rmed1"]
    np.testing.assert_array_equal(means, report.runs["SYN-BTL", "rmed1"].mean)


@pytest.mark.thorough
def test_runs_on_six_rankers_are_those_of_simulate(report):
    competitor = next(c for c in paper.FIGURE_2 if c.name == "scomp2")
    policy = jd.policies.make("scomp2", num_arms=6, horizon=HORIZON, **competitor.parameters)
    key = jax.random.fold_in(jax.random.key(0), ord("a"))
    times = Setting(HORIZON, "average").checkpoints(HORIZON)
    result = jd.simulate(
        policy, jd.problems.load("arxiv"), HORIZON, 3, key, times, "average", lanes=3
    )
    sample = report.runs["six rankers", "scomp2"]
    np.testing.assert_array_equal(sample.regret, result.regret)
    np.testing.assert_array_equal(sample.batches, result.batches)


def test_each_run_has_an_instance_of_its_own_up_to_a_hundred():
    def drawn(letter: str, runs: int):
        return paper.INSTANCES[letter].drawn(Order(num_arms=6), runs)

    draws = drawn("c", 3)
    assert [draw.num_runs for draw in draws] == [1, 1, 1]
    assert len({draw.problem.preferences.tobytes() for draw in draws}) == 3
    many = drawn("d", 203)
    assert sum(draw.num_runs for draw in many) == 203
    assert len(many) == 68
    assert [d.problem for d in drawn("c", 3)] == [d.problem for d in draws]
    (wanted, *_), *_ = PAPER.panel("1c").wanted(Order(num_arms=6, runs=3), PAPER.setting)
    assert (wanted.title, wanted.num_runs) == ("SYN-BTL, $K=6$", 3)


def samples(**finals: float) -> dict[tuple[str, str], Runs]:
    """Made-up samples: for each data set, each policy's mean final regret."""
    rng = np.random.default_rng(0)
    made = {}
    for data in claims.ALL:
        for name, mean in finals.items():
            name = name.replace("_", "[num_batches=") + ("]" if "_" in name else "")
            regret = mean * (1 + 0.01 * rng.standard_normal((1_000, 1)))
            made[data, name] = Runs(name, name, np.array([9]), regret, np.arange(1_000))
    return made


GOOD = {
    "scomp2": 100, "scomp2_8": 200, "scomp2_2": 400, "scomp": 150, "pcomp": 160,
    "rmed1": 90, "rucb": 300, "btm": 5_000,
}  # fmt: skip


def measured(made: dict[tuple[str, str], Runs]):
    return measured_by(PAPER, Finder(made))


def verdicts(made: dict[tuple[str, str], Runs]) -> list[str]:
    return [claim.verdict for claim in measured(made)]


def test_claims_hold_where_the_numbers_are_as_the_paper_says():
    made = samples(**GOOD)
    for data in claims.SYNTHETIC:
        for policy in ("pcomp", "scomp"):
            sample = made[data, policy]
            made[data, policy] = Runs(
                policy, policy, sample.times, sample.regret * 20, sample.groups
            )
    assert verdicts(made) == ["confirmed"] * 9


@pytest.mark.parametrize(
    ("change", "flipped"),
    [
        ({"scomp2": 190}, [0, 7, 8]),
        ({"rucb": 50}, [1, 5]),
        ({"btm": 60}, [2, 3, 5]),
        ({"scomp": 3_000}, [3]),
        ({"scomp2_8": 500}, [6]),
        ({"scomp2_2": 80}, [6, 7]),
    ],
)
def test_verdicts_flip_with_the_numbers(change, flipped):
    usual = verdicts(samples(**GOOD))
    changed = verdicts(samples(**{**GOOD, **change}))
    for number in flipped:
        assert usual[number] == "confirmed"
        assert changed[number] == "not confirmed"


def test_a_missing_data_set_leaves_a_claim_about_all_undecided():
    made = {key: sample for key, sample in samples(**GOOD).items() if key[0] != claims.SUSHI}
    found = measured(made)
    assert found[0].verdict == "undecided"
    assert found[1].verdict == "confirmed"  # 3 of 4 can be confirmed on 3
    assert len(found[0].measurements) == 3
