"""PrefLib's rankings and graphs, as counts of pairs."""

from itertools import combinations

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError

HEAD = "# FILE NAME: x\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: rice\n"
HEAD += "# ALTERNATIVE NAME 3: salt\n"
OLD = "3\n1,tea\n2,rice\n3,salt\n9,9,3\n"


def read(folder, text, name="x.soc"):
    path = folder / name
    path.write_text(text)
    return jd.votes.read(path)


def over(votes, first, second):
    i, j = votes.arms.index(first), votes.arms.index(second)
    return int(votes.wins[i, j]), int(votes.wins[j, i]), int(votes.ties[i, j])


@pytest.mark.parametrize(
    "text", [HEAD + "5: 1,2,3\n3: 2,1,3\n1: 3,1,2\n", OLD + "5,1,2,3\n3,2,1,3\n1,3,1,2"]
)
def test_complete_orders(text, tmp_path):
    votes = read(tmp_path, text)
    assert over(votes, "tea", "rice") == (6, 3, 0)
    assert over(votes, "tea", "salt") == (8, 1, 0)
    assert over(votes, "rice", "salt") == (8, 1, 0)
    assert votes.notes == ["pairs of 9 rankings"]
    assert votes.history is None


@pytest.mark.parametrize("text", [HEAD + "5: {1,2},3\n2: 3,1\n", OLD + "5,{1,2},3\n2,3,1\n"])
def test_ties_and_orders_of_some(text, tmp_path):
    votes = read(tmp_path, text, "x.toi")
    assert over(votes, "tea", "rice") == (0, 0, 5)
    assert over(votes, "tea", "salt") == (5, 2, 0)
    assert over(votes, "rice", "salt") == (5, 0, 0)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (HEAD + "1,2,3.0\n2, 1, 1.0\n3,2,4\n", "x.wmd"),
        (OLD + "3,1,2\n1,2,1\n4,3,2\n", "x.pwg"),
        (HEAD + "3: 1,2\n1: 2,1\n4: 3,2\n", "x.pwg"),
    ],
)
def test_graphs(text, name, tmp_path):
    votes = read(tmp_path, text, name)
    assert over(votes, "tea", "rice") == (3, 1, 0)
    assert over(votes, "rice", "salt") == (0, 4, 0)
    assert votes.num_votes == 8


def test_drawn_orders_against_their_pairs(tmp_path):
    rng = np.random.default_rng(5)
    wins, rows = np.zeros((6, 6), int), []
    for _ in range(50):
        count, order = int(rng.integers(1, 9)), rng.permutation(6)[: rng.integers(2, 7)]
        rows.append(f"{count}: {','.join(str(arm + 1) for arm in order)}\n")
        for better, worse in combinations(order, 2):
            wins[better, worse] += count
    votes = read(tmp_path, "".join(rows), "x.soi")
    assert votes.arms == tuple("123456")
    np.testing.assert_array_equal(votes.wins, wins)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (HEAD + "5: 1,2,1\n", "x.soc", "line 5: alternative 1 is in the ranking twice"),
        (HEAD + "5: 1,{2,1}\n", "x.toc", "line 5: alternative 1 is in the ranking twice"),
        (HEAD + "5: 1,{2\n", "x.toc", r"line 5: '5: 1,\{2' is no ranking such as 5: 1,3,\{2,4\}"),
        (HEAD + "5\n", "x.soc", "holds no votes: it has no ranking"),
        (HEAD + "x: 1,2\n", "x.soc", "line 5: 'x' is no count: a number from 0 to"),
        (HEAD + "-1: 1,2\n", "x.soc", "line 5: '-1' is no count"),
        (HEAD + "3000000000: 1,2\n", "x.soc", "line 5: '3000000000' is no count"),
        (HEAD + "3: 1,b\n", "x.soc", "line 5: 'b' is no number of an alternative"),
        (HEAD + "1,2\n", "x.wmd", "line 5: '1,2' is no edge of two alternatives and a weight"),
        (HEAD + "1,1,3\n", "x.wmd", "line 5: alternative 1 is in the ranking twice"),
        (HEAD, "x.soc", "holds no votes: it has no ranking"),
        (OLD, "x.soc", "holds no votes: it has no ranking"),
        (HEAD + f"1: {','.join(map(str, range(4_001)))}\n", "x.soc", "4,001 different arms"),
    ],
)
def test_bad_rankings_get_a_sentence(text, name, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, name)
