import numpy as np
import pytest

from jaxduel.problems import printed
from jaxduel.problems.downloads import mslr_matrix
from jaxduel.problems.dueling import from_matrix

TABLES = {
    "CYCLIC": printed.CYCLIC,
    "STRONG_BORDA": printed.STRONG_BORDA,
    "ARXIV": printed.ARXIV,
    "GAP": printed.GAP,
    "NONCONDORCET_STRONG_BORDA": printed.NONCONDORCET_STRONG_BORDA,
    "NONCONDORCET_CYCLIC": printed.NONCONDORCET_CYCLIC,
    "MSLR5_CONDORCET": printed.MSLR5_CONDORCET,
    "MSLR5_NONCONDORCET": printed.MSLR5_NONCONDORCET,
}


@pytest.mark.parametrize("name", TABLES)
def test_both_triangles_of_every_table_agree(name):
    table = np.array(TABLES[name])
    np.testing.assert_allclose(table + table.T, 1.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.diagonal(table), 0.5)


def test_cyclic_is_as_the_text_says():
    problem = from_matrix(printed.CYCLIC)
    assert problem.condorcet_winner == 0
    np.testing.assert_allclose(problem.preferences[0, 1:], 0.6)
    assert problem.copeland_scores.tolist() == [3, 1, 1, 1]
    for arm in (1, 2, 3):
        assert problem.preferences[0, arm] < problem.preferences[:, arm].max()


def test_strong_borda_is_as_the_text_says():
    problem = from_matrix(printed.STRONG_BORDA)
    assert problem.condorcet_winner == 0
    assert problem.borda_winners == (1,)


def test_noncondorcet_strong_borda_is_as_the_text_says():
    problem = from_matrix(printed.NONCONDORCET_STRONG_BORDA)
    assert problem.condorcet_winner is None
    assert problem.copeland_winners == (0,)
    assert problem.borda_winners == (1,)
    assert problem.preferences[1, 0] == 0.95


def test_noncondorcet_cyclic_has_scores_6_4_2():
    problem = from_matrix(printed.NONCONDORCET_CYCLIC)
    assert problem.condorcet_winner is None
    assert problem.copeland_scores.tolist() == [6, 6, 6, 4, 4, 4, 2, 2, 2]


def test_gap_has_no_condorcet_winner():
    assert from_matrix(printed.GAP).condorcet_winner is None


def test_arxiv_has_a_condorcet_winner_and_one_tie():
    problem = from_matrix(printed.ARXIV)
    assert problem.condorcet_winner == 0
    assert np.argwhere(np.triu(problem.preferences == 0.5, 1)).tolist() == [[3, 5]]


def test_the_small_mslr_tables_have_the_winners_that_the_text_says():
    assert from_matrix(printed.MSLR5_CONDORCET).condorcet_winner == 0
    noncondorcet = from_matrix(printed.MSLR5_NONCONDORCET)
    assert noncondorcet.condorcet_winner is None
    assert noncondorcet.copeland_winners == (0, 1, 2)
    assert noncondorcet.copeland_scores.max() == 3


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("table", "rankers"),
    [
        (printed.MSLR5_CONDORCET, [2, 4, 3, 1, 5]),
        (printed.MSLR5_NONCONDORCET, [93, 7, 92, 94, 105]),
    ],
)
def test_the_small_mslr_tables_are_the_rounded_informational_matrix(table, rankers):
    arms = np.array(rankers) - 1
    rounded = np.round(mslr_matrix("Informational")[np.ix_(arms, arms)], 3)
    np.testing.assert_allclose(table, rounded, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", printed.MSLR_SUBSETS)
def test_every_copeland_score_of_table_9_is_reproduced(name):
    scores = printed.MSLR_SUBSETS[name]
    assert len(scores) == int(name[4:6])
    arms = np.array(list(scores)) - 1
    problem = from_matrix(mslr_matrix("Informational")[np.ix_(arms, arms)])
    assert problem.copeland_scores.tolist() == list(scores.values())
    assert (problem.condorcet_winner is None) == ("noncondorcet" in name)
