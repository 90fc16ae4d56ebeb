"""The Chatbot Arena's votes, as `jd.votes.arena` gives them."""

import numpy as np
import pytest

import jaxduel as jd


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
    p = jd.problems.load("arena31").preferences
    np.testing.assert_array_equal(p > 0.5, core.wins > core.wins.T)
    fit = jd.votes.fit(core, "free")
    assert core.arms[fit.problem.condorcet_winner] == "gpt-4o-2024-05-13"
    assert (len(fit.misfit.cycles), fit.misfit.num_triples) == (6, 4_495)


@pytest.mark.usefixtures("data_folder")
def test_arena129_is_the_mode_of_the_fit():
    strengths = jd.votes.fit(jd.votes.arena(), "btl").strengths
    p = jd.problems.load("arena129").preferences
    np.testing.assert_allclose(p, 1 / (1 + np.exp(strengths - strengths[:, None])), atol=3e-7)
