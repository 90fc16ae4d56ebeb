"""Many arms: sets and subsets of rankers, and the claims about long runs."""

import numpy as np
import pytest

from jaxduel.runs import Runs
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.many_arms.claims import (
    ANYTIME,
    LONG,
    MANY,
    OTHERS,
    RANKERS,
    REX3S,
    RIVALS,
    subset,
)
from jaxduel.studies.papers.many_arms.figures import PAPER, drawn
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from tests.studies.papers.smaller import machine, measured_by


def _verdicts(time, best=100.0, power=0.5):
    """Of samples that end at T = `time` and have regret `best` of MergeDTS and REX3, 1,000 of the
    others, and grow like a power of t."""
    rng, made, times = np.random.default_rng(0), {}, np.array([time // 10, time])
    names = ("merge-dts", *RIVALS, *REX3S, *OTHERS)
    for where in (*RANKERS, *map(subset, MANY)):
        for name in dict.fromkeys(names):
            end = {"merge-dts": best, "merge-rucb": 500.0, ANYTIME: 900.0}.get(name, 1_000.0)
            end = best if name in REX3S else end
            shape = end * np.array([10.0**-power, 1.0])
            regret = shape * (1 + 0.01 * rng.standard_normal((50, 1)))
            made[where, name] = Runs(name, name, times, regret, np.arange(50))
    return [claim.verdict for claim in measured_by(PAPER, Finder(made))]


def test_claims_about_long_runs_are_not_judged_before():
    yes, no = "confirmed", "not confirmed"
    assert _verdicts(LONG) == [yes] * 6
    assert _verdicts(LONG // 10) == ["undecided", *[yes] * 4, "undecided"]
    assert _verdicts(LONG, best=3_000.0, power=0.9) == [no, no, yes, no, no, no]


@pytest.mark.usefixtures("data_folder")
def test_sets_have_winners_and_subsets_differ():
    panels = [PAPER.panel(f"1{letter}").wanted(Order(), PAPER.setting) for letter in "abc"]
    problems = [wanted[0][0].problem for wanted in panels]
    assert [(problem.name, problem.num_arms) for problem in problems] == [
        *zip(RANKERS, (135, 136, 136), strict=True)
    ]
    assert all(problem.condorcet_winner is not None for problem in problems)
    draws = drawn(8, Order(), 6)
    assert all(draw.problem.condorcet_winner is not None for draw in draws)
    assert len({draw.problem.preferences.tobytes() for draw in draws}) == 6
    (whole,) = drawn(136, Order(), 1)
    np.testing.assert_array_equal(whole.problem.preferences, problems[1].preferences)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_files_of_the_panel_by_size(tmp_path):
    with machine():
        report = reproduce(PAPER, figure="2", out=tmp_path, runs=1, horizon=200)
    assert {file.name for file in report.files} >= {"figure-2.png", "figure-2.csv", "claims.txt"}
    assert [len(claim.measurements) for claim in report.claims] == [0, 0, 0, 2, 2, 0]
