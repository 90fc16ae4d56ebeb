import numpy as np
import pytest

from jaxduel.problems import catalogue, generators
from jaxduel.problems.arms import gaussian
from jaxduel.problems.dueling import from_matrix
from jaxduel.problems.report import ArmsReport, examine


def test_facts_of_the_six_rankers():
    report = examine(catalogue.load("arxiv"))
    assert report.condorcet_winner == 0
    assert report.smallest_winner_gap == pytest.approx(0.04)
    expected = 2 / 0.05**2 + 1 / 0.04**2 + 2 / 0.11**2
    assert report.hardness == pytest.approx(expected)
    assert (report.copeland_winners, report.copeland_score) == ((0,), 5)
    assert report.borda_winners == (0,)
    assert report.borda_score == pytest.approx(0.572)
    assert report.smallest_gap == pytest.approx(0.01)
    assert report.smallest_gap_pair == (2, 4)
    assert report.ties == 1
    assert report.order == (0, 1, 2, 3, 4, 5)
    assert report.total_order is not None
    assert report.sst is not None
    assert report.sti is not None


def test_random_play_agrees_with_the_mean_over_all_pairs():
    problem = catalogue.load("arxiv")
    report = examine(problem)
    first, second = np.triu_indices(6, 1)
    for kind, value in report.random_regret.items():
        gaps = problem.gaps(kind)
        pair = np.minimum if kind == "weak" else lambda a, b: (a + b) / 2
        assert value == pytest.approx(pair(gaps[first], gaps[second]).mean())
    assert list(report.random_regret) == ["average", "weak", "copeland", "borda"]


def test_without_a_condorcet_winner_only_what_exists_is_reported():
    report = examine(catalogue.load("noncondorcet-cyclic"))
    assert report.condorcet_winner is None
    assert report.hardness is None
    assert report.smallest_winner_gap is None
    assert report.order is None
    assert list(report.random_regret) == ["copeland", "borda"]
    text = "\n".join(report.lines())
    assert "Condorcet winner  none" in text
    assert "arms 0, 1, 2, beating 6 of 8" in text
    assert "hardness" not in text


def test_lines_say_everything_once():
    lines = examine(generators.arithmetic()).lines()
    assert lines[0] == ("arithmetic(K=8): a valid preference matrix, K = 8 (arms counted from 0)")
    labels = [line[2:19].strip() for line in lines[1:]]
    assert labels == [
        "Condorcet winner",
        "Copeland",
        "Borda",
        "total order",
        "SST",
        "STI",
        "closest pair",
        "tied pairs",
        "random play",
        "hardness",
    ]
    assert all("\n" not in line for line in lines)
    assert sum(line.endswith(" yes") for line in lines) == 3


def test_a_matrix_of_ties_is_reported_without_a_closest_pair():
    report = examine(from_matrix(np.full((12, 12), 0.5)))
    assert report.smallest_gap is None
    assert report.ties == 66
    text = "\n".join(report.lines())
    assert "all pairs are tied" in text
    assert "arms 0, 1, 2, 3, 4, 5, 6, 7 and 4 more" in text


def test_a_cycle_is_named_by_its_triple():
    text = "\n".join(examine(catalogue.load("cyclic")).lines())
    assert "SST               no: p[1, 2] = 0.9 and p[2, 3] = 0.9, but p[1, 3] = 0.1" in text


def test_a_submatrix_says_which_arms_it_has():
    assert examine(catalogue.load("arxiv[1,5,3]")).lines()[1] == (
        "  arms              0, 1, 2 are arms 1, 5, 3 of arxiv, where the name counts from 1"
    )
    arms = ",".join(str(arm) for arm in range(10, 0, -1))
    assert (
        examine(catalogue.load(f"copeland500[{arms}]"))
        .lines()[1]
        .endswith(
            "0, 1, 2, 3, 4, 5, 6, 7 and 2 more are arms 10, 9, 8, 7, 6, 5, 4, 3 and 2 more of "
            "copeland500, where the name counts from 1"
        )
    )
    for name in ("mine", "mine[1]", "mine[a,b]"):
        lines = examine(from_matrix([[0.5, 0.6], [0.4, 0.5]], name)).lines()
        assert lines[1].startswith("  Condorcet winner")


def test_arms_with_rewards():
    report = examine(gaussian([0.5, 0.6, 0.4, 0.6], [1, 1, 2, 3], "mine"))
    assert isinstance(report, ArmsReport)
    assert report.hardness == pytest.approx(125)
    assert report.random_regret == pytest.approx(0.075)
    assert report.lines() == [
        "mine: arms with Gaussian rewards, K = 4 (arms counted from 0)",
        "  best              arms 1, 3, mean 0.6",
        "  deviations        from 1 to 3",
        "  gaps              from 0.1 to 0.2",
        "  hardness          sum of 1/gap^2 to the best = 125",
        "  random play       regret per pull: 0.075",
    ]
    assert examine(catalogue.load("bernoulli[0.5,0.5]")).lines() == [
        "bernoulli[0.5,0.5]: arms with Bernoulli rewards, K = 2 (arms counted from 0)",
        "  best              arms 0, 1, mean 0.5",
        "  gaps              none: all means are equal",
        "  random play       regret per pull: 0",
    ]


def test_arms_with_names_are_named():
    p = [[0.5, 0.6, 0.9, 0.4], [0.4, 0.5, 0.6, 0.7], [0.1, 0.4, 0.5, 0.5], [0.6, 0.3, 0.5, 0.5]]
    report = examine(from_matrix(p, arms=["ada", "bob", "cyd", "dan"]))
    assert report.copeland_winners == (0, 1)
    lines = report.lines()
    assert lines[0] == "matrix: a valid preference matrix, K = 4"
    facts = {line[2:18].strip(): line[20:] for line in lines[1:]}
    assert facts["arms"] == "ada, bob, cyd, dan"
    assert facts["Condorcet winner"] == "none"
    assert facts["Copeland"] == "ada, bob, beating 2 of 3"
    assert facts["Borda"] == "ada, mean preference 0.6333"
    assert facts["total order"] == "no: dan beats ada and ada beats cyd, but dan does not beat cyd"
    assert facts["SST"] == "no: p[dan, ada] = 0.6 and p[ada, cyd] = 0.9, but p[dan, cyd] = 0.5"
    assert facts["STI"] == "no: no order of the arms agrees with the preferences"
    assert facts["closest pair"] == "|p - 1/2| = 0.1: ada over bob"
    ordered = examine(from_matrix([[0.5, 0.6], [0.4, 0.5]], arms=["ada", "bob"]))
    assert "  Condorcet winner  ada, by at least 0.1" in ordered.lines()


def test_long_names_are_cut_where_they_still_differ():
    ends = ["x" * 100, "y" * 100]
    cut = examine(from_matrix([[0.5, 0.6], [0.4, 0.5]], arms=ends)).lines()
    assert cut[1].split() == ["arms", "x" * 28 + "...", "(100", "characters),", "y" * 28 + "...",
                              "(100", "characters)"]  # fmt: skip
    alike = ["x" * 100 + end for end in "ab"]
    whole = examine(from_matrix([[0.5, 0.6], [0.4, 0.5]], arms=alike)).lines()
    assert whole[1].split() == ["arms", alike[0] + ",", alike[1]]
