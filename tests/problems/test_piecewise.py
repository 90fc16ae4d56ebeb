"""Instances that change: what is accepted, and sums over stretches by hand."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.regret import regret_of

P, Q = np.array([[0.5, 0.9], [0.1, 0.5]]), np.array([[0.5, 0.3], [0.7, 0.5]])
BOTH = jd.problems.piecewise([P, Q], [4])
ARMS = jd.problems.gaussian([0.5, 0.1], name="arms")


def test_its_stretches_are_instances():
    assert BOTH.num_arms == 2
    assert [one.condorcet_winner for one in BOTH.stretches] == [0, 1]
    np.testing.assert_allclose(BOTH.gaps("average"), [[0, 0.4], [0.2, 0]])
    assert repr(BOTH) == ("PiecewiseProblem('piecewise', K=2, changes after 4, best arms 0, 1)")


def test_names_that_all_stretches_share_are_kept():
    named = [jd.problems.from_matrix(p, arms=["ada", "bob"]) for p in (P, Q)]
    both = jd.problems.piecewise(named, [4])
    assert [one.arms for one in both.stretches] == [("ada", "bob")] * 2
    assert repr(both).endswith("best arms ada, bob)")
    assert jd.problems.piecewise([named[0], Q], [4]).arms is None


def test_arms_with_rewards_change():
    arms = [jd.problems.gaussian([0.5, 0.1], std=[1, 2]), jd.problems.gaussian([0.0, 0.3])]
    problem = jd.problems.piecewise(arms, [4])
    assert (problem.rewards, BOTH.rewards) == ("gaussian", None)
    np.testing.assert_array_equal(problem.means, [[0.5, 0.1], [0.0, 0.3]])
    np.testing.assert_array_equal(problem.std, [[1, 2], [1, 1]])
    np.testing.assert_allclose(problem.gaps("pulls"), [[0, 0.4], [0.3, 0]])
    assert repr(problem) == (
        "PiecewiseProblem('piecewise', K=2, gaussian rewards, changes after 4, best arms 0, 1)"
    )
    coins = jd.problems.piecewise([jd.problems.bernoulli(x) for x in ([0.5, 0.1], [0, 1])], [4])
    assert coins.std is None
    assert [one.name for one in coins.stretches] == ["piecewise, stretch 1", "piecewise, stretch 2"]
    with pytest.raises(jd.InputError, match="unknown regret of arms with rewards 'copeland'"):
        coins.gaps("copeland")


def test_sums_by_hand():
    plays = np.array([[[1, 1], [3, 5], [4, 8]]])  # of one seed at 1, 4 and 6
    grid = np.array([1, 4, 6])
    regret = regret_of(BOTH, "average", grid, plays, None)
    np.testing.assert_allclose(regret, [[0.4 / 2, 5 * 0.4 / 2, 5 * 0.4 / 2 + 1 * 0.2 / 2]])
    against = BOTH.regret_against(grid, plays)
    # against arm 0: (p_0i - 1/2) / 2 of each play of i
    by_hand = [0.4 / 2, 5 * 0.4 / 2, 5 * 0.4 / 2 + 3 * -0.2 / 2]
    np.testing.assert_allclose(against[0, :, 0], by_hand)
    np.testing.assert_allclose(against[0, :, 1], [-0.4 / 2, -3 * 0.4 / 2, -1.2 / 2 + 0.2 / 2])
    arms = [jd.problems.bernoulli([0.9, 0.5]), jd.problems.bernoulli([0.2, 0.5])]
    pulled = jd.problems.piecewise(arms, [4])
    pulls = np.array([[[0, 1], [1, 3], [3, 3]]])
    regret = regret_of(pulled, "pulls", grid, pulls, None)
    np.testing.assert_allclose(regret, [[0.4, 1.2, 1.2 + 0.6]])
    against = pulled.regret_against(grid, pulls)
    np.testing.assert_allclose(against[0], [[0.4, 0], [1.2, -0.4], [1.2, -0.4 + 0.6]])
    with pytest.raises(
        jd.InputError, match="must include the changes of 'piecewise': 4 is missing"
    ):
        BOTH.regret_against([1, 6], plays[:, [0, 2]])


def test_plays_of_other_times_or_arms_are_refused():
    plays = np.zeros((2, 3, 2))
    for grid, wrong in (([4, 6], plays), ([1, 4, 6], plays[0]), ([1, 4, 6], np.zeros((2, 3, 4)))):
        with pytest.raises(jd.InputError, match=f"need plays of the shape \\(N, {len(grid)}, 2\\)"):
            BOTH.regret_against(grid, wrong)


@pytest.mark.parametrize(
    ("problems", "times", "message"),
    [
        ([P], [], "two or more instances of as many arms, not of 2"),
        ([P, np.full((3, 3), 0.5)], [4], "of as many arms, not of 2, 3"),
        ([P, BOTH], [4], "'piecewise' changes itself"),
        ([P, Q], [], "times must be 1 increasing whole numbers"),
        ([P, Q], [0], r"not \[0\]"),
        ([P, Q, P], [5, 5], r"times must be 2 increasing whole numbers.*not \[5, 5\]"),
        ([P, Q], [2**31 - 1], "increasing whole numbers"),
        ([P, Q], [1.5], "increasing whole numbers"),
        ([P, Q], 1.5, r"increasing whole numbers.*not \[1.5\]"),
        ("arxiv", [4], "the instances must be a list, not 'arxiv'"),
        ([P, ARMS], [4], "of one kind, and 'matrix' compares arms, 'arms' has arms with gaussian"),
        (
            [ARMS, jd.problems.bernoulli([0.5, 0.1])],
            [4],
            "'arms' has arms with gaussian rewards, 'bernoulli' has arms with bernoulli rewards.",
        ),
        ([ARMS, jd.problems.gaussian([0.5, 0.1, 0.2])], [4], "of as many arms, not of 2, 3"),
        (
            [P, jd.problems.from_matrix(Q, ties=[[0, 0.1], [0.1, 0]])],
            [4],
            "cannot have ties that are told from coins",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(problems, times, message):
    with pytest.raises(jd.InputError, match=message):
        jd.problems.piecewise(problems, times)
