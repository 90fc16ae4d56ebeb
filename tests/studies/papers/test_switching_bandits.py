"""Arms whose means change: the instance, what the policies are told, and both figures."""

import csv
import math

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.studies.estimates import final_ratio
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce
from jaxduel.studies.papers.switching_bandits.figures import (
    D_UCB,
    HORIZON,
    MEMORIES,
    PAPER,
    SW_UCB,
    UCB1,
    discounted,
    instance,
    sliding,
)
from tests.studies.papers.smaller import machine


def made(competitor):
    return jd.policies.make(competitor.policy, num_arms=3, horizon=HORIZON, **competitor.parameters)


def test_the_third_arm_is_the_best_for_a_while():
    problem = instance()
    assert [stretch.means.tolist() for stretch in problem.stretches] == [
        [0.5, 0.3, 0.4], [0.5, 0.3, 0.9], [0.5, 0.3, 0.4],
    ]  # fmt: skip
    assert np.asarray(problem.changes).tolist() == [3_000, 5_000]
    assert problem.rewards == "bernoulli"


def test_policies_are_told_the_horizon_and_the_number_of_changes():
    assert made(SW_UCB).window == math.ceil(2 * math.sqrt(1e4 * math.log(1e4) / 2))
    assert math.exp(-made(D_UCB)._rate()) == pytest.approx(1 - math.sqrt(2 / 1e4) / 4, rel=1e-6)
    assert made(UCB1).scale == 4 * made(SW_UCB).xi * made(SW_UCB).std ** 2
    for memory in MEMORIES:
        assert made(sliding(memory)).window == memory
        assert made(discounted(memory)).gamma == pytest.approx(1 - 1 / memory)


def test_every_point_of_the_study_has_the_runs_of_its_memory():
    picture = PAPER.panel("s1").picture(PAPER.panel("s1"), Order(runs=2), PAPER.setting)
    lines = {line.name: line.points for line in picture.lines_of}
    for name, of in (("d-ucb", discounted), ("sw-ucb", sliding)):
        assert [point.at for point in lines[name]] == list(MEMORIES)
        assert [p.wanted.competitor for p in lines[name]] == [of(m) for m in MEMORIES]
    assert {point.wanted.competitor.name for point in lines["ucb1"]} == {"ucb1"}


@pytest.mark.thorough
def test_files_of_the_panels_and_the_order_of_the_policies(tmp_path, quick_compilation):
    with machine():
        report = reproduce(PAPER, out=tmp_path, runs=96)
    assert {file.name for file in report.files} == {
        *(f"figure-{name}.{kind}" for name in ("1", "s1") for kind in ("png", "pdf", "csv")),
        *("final-regret.csv", "claims.csv", "claims.txt", "report.json"),
    }
    assert report.claims == []
    assert not any("Claims" in line for line in report.lines)
    runs = {name: of for (_, name), of in report.runs.items()}
    most = {"sw-ucb": 0.75, "sw-ucb[window=1600]": 0.6, "d-ucb[memory=1600]": 0.8}
    for name, ratio in most.items():
        assert final_ratio(runs[name], runs["ucb1"]).upper < ratio
    with (tmp_path / "figure-s1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["memory"]) for row in rows] == [*MEMORIES] * 3


def test_a_horizon_before_the_last_change_is_refused(tmp_path):
    with pytest.raises(jd.InputError, match="horizon must be at least 5,000"):
        reproduce(PAPER, out=tmp_path, horizon=4_999)
