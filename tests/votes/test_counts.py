"""Counts of votes: validation, groups of arms that met, and the complete core."""

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.errors import InputError

RNG = np.random.default_rng(7)
WINS = np.triu(RNG.poisson(30, (9, 9)), 1) + np.tril(RNG.poisson(25, (9, 9)), -1)


def test_a_core_is_complete_and_does_not_depend_on_labels():
    votes = jd.votes.from_counts(WINS)
    for at_least in (45, 50, 55, 60):
        core = votes.core(at_least)
        decisive = core.decisive
        assert decisive[np.triu_indices(core.num_arms, 1)].min() >= at_least
        kept = [int(arm) for arm in core.arms]
        np.testing.assert_array_equal(core.wins, WINS[np.ix_(kept, kept)])
        order = RNG.permutation(9)
        relabelled = jd.votes.from_counts(WINS[np.ix_(order, order)], arms=order).core(at_least)
        assert set(relabelled.arms) == set(core.arms)


def test_the_arm_with_most_pairs_below_goes_first_then_that_of_fewest_votes():
    decisive = np.array([[0, 9, 9, 1], [9, 0, 9, 1], [9, 9, 0, 9], [1, 1, 9, 0]])
    assert jd.votes.from_counts(np.triu(decisive)).core(9).arms == ("0", "1", "2")
    decisive[0, 1] = decisive[1, 0] = 1  # 0 and 1 have two pairs below each, as 3; 0 has most votes
    decisive[0, 2] = decisive[2, 0] = 20
    assert jd.votes.from_counts(np.triu(decisive)).core(9).arms == ("0", "2")


def test_no_core_gets_a_sentence():
    votes = jd.votes.from_counts(WINS)
    with pytest.raises(InputError, match=f"have 1,000 .* the most is {votes.decisive.max()}"):
        votes.core(1_000)
    for wrong in (0, 2.5, None, "9", [1, 2]):
        with pytest.raises(InputError, match="at_least must be a whole number of at least 1, not"):
            votes.core(wrong)


def test_groups_with_and_without_ties():
    wins = np.zeros((5, 5), int)
    wins[0, 3] = wins[1, 4] = 1
    ties = np.zeros((5, 5), int)
    ties[4, 0] = ties[0, 4] = 2
    votes = jd.votes.from_counts(wins, ties)
    assert votes.groups() == [(0, 3), (1, 4), (2,)]
    assert votes.groups(ties=True) == [(0, 1, 3, 4), (2,)]


def test_a_table_names_the_arms():
    table = pd.DataFrame([[0, 7], [3, 0]], index=["old", "new"], columns=["old", "new"])
    assert jd.votes.from_counts(table, table * 0).arms == ("old", "new")
    assert jd.votes.from_counts(table, arms=["a", "b"]).arms == ("a", "b")
    assert jd.votes.from_counts(pd.DataFrame([[0, 7], [3, 0]])).arms == ("0", "1")
    with pytest.raises(InputError, match="rows of wins are named old, new, and its columns new, o"):
        jd.votes.from_counts(table[["new", "old"]])
    with pytest.raises(InputError, match="wins and ties name other arms, or in another order"):
        jd.votes.from_counts(table, table.iloc[::-1, ::-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0]],), "wins have 1 different arms: 2 to 4,000"),
        (([0, 1],), "wins have shape"),
        (([[0, 1], [0]],), "rows of different lengths"),
        (([[0, np.nan], [0, 0]],), "must be numbers"),
        (([["a", "b"], ["c", "d"]],), "must be numbers"),
        (([[0, -1], [0, 0]],), r"wins\[0, 1\] is -1"),
        (([[0, 1], [0, 2]],), r"wins\[1, 1\] is not 0"),
        (([[0, 0], [0, 0]],), "holds no votes"),
        (([[0, 1], [0, 0]], [[0, 1], [2, 0]]), "ties of arms 0 and 1 are 1"),
        (([[0, 1], [0, 0]], np.zeros((3, 3))), "ties have shape"),
        (([[0, 1], [0, 0]], None, ["a"]), "1 names for 2 arms"),
        (([[0, 1], [0, 0]], None, ["a", "a"]), "two arms are called 'a'"),
        (([[0, 1], [0, 0]], None, {"a", "b"}), "names of arms must be a list"),
        (([[0, 1], [0, 0]], None, "ab"), "names of arms must be a list"),
        (([[0, 1], [0, 0]], None, 2), "names of arms must be a list"),
    ],
)
def test_bad_counts_get_a_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        jd.votes.from_counts(*arguments)


@pytest.mark.usefixtures("small_arena")
def test_votes_of_a_small_file_with_and_without_both_bad():
    votes = jd.votes.arena()
    assert (votes.name, votes.arms) == ("arena", ("Ada", "bea", "cyd", "dan"))
    assert votes.wins.tolist() == [[0, 60, 80, 0], [50, 0, 55, 0], [30, 45, 0, 4], [0, 0, 0, 0]]
    assert votes.ties.tolist() == [[0, 10, 1, 0], [10, 0, 2, 0], [1, 2, 0, 5], [0, 0, 5, 0]]
    fewer = jd.votes.arena(both_bad=False)
    np.testing.assert_array_equal(fewer.wins, votes.wins)
    assert fewer.ties.tolist() == [[0, 7, 0, 0], [7, 0, 2, 0], [0, 2, 0, 5], [0, 0, 5, 0]]
    assert votes.core(100).arms == ("Ada", "bea", "cyd")


@pytest.mark.usefixtures("data_folder")
def test_the_votes_and_their_core():
    votes = jd.votes.arena()
    assert (votes.num_arms, votes.num_votes, votes.num_ties) == (129, 1_670_250, 576_375)
    assert jd.votes.arena(both_bad=False).num_ties == 281_121
    core = votes.core(100)
    assert (core.num_arms, int(core.wins.sum()), core.num_ties) == (31, 438_463, 238_742)
    problem = jd.problems.load("arena31")
    assert problem.arms == core.arms
    np.testing.assert_array_equal(problem.preferences > 0.5, core.wins > core.wins.T)
    fit = jd.votes.fit(core, "free")
    assert core.arms[fit.problem.condorcet_winner] == "gpt-4o-2024-05-13"
    assert (len(fit.misfit.cycles), fit.misfit.num_triples) == (6, 4_495)


@pytest.mark.usefixtures("data_folder")
def test_arena129_is_the_mode_of_the_fit():
    votes, problem = jd.votes.arena(), jd.problems.load("arena129")
    assert problem.arms == votes.arms
    strengths, p = jd.votes.fit(votes, "btl").strengths, problem.preferences
    np.testing.assert_allclose(p, 1 / (1 + np.exp(strengths - strengths[:, None])), atol=3e-7)
