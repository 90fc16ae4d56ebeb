"""Counts by the sides of the arms."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError

LEFT, RIGHT = [[0, 2, 0], [1, 0, 0], [0, 0, 0]], [[0, 1, 0], [3, 0, 0], [0, 0, 0]]
TIES = [[0, 0, 1], [0, 0, 0], [0, 2, 0]]
VOTES = [
    *2 * [("ada", "bob", "left")],
    ("bob", "ada", "left"),
    ("ada", "bob", "right"),
    *3 * [("bob", "ada", "right")],
    ("ada", "cyd", "tie"),
    *2 * [("cyd", "bob", "tie")],
]
WORDS = {"left": "1-0", "right": "0-1", "tie": "1/2-1/2"}
LAYOUTS = {
    "votes.csv": "left,right,winner\n" + "".join(f"{a},{b},{w}\n" for a, b, w in VOTES),
    "names.csv": "left,right,winner\n"
    + "".join(f"{a},{b},{dict(left=a, right=b).get(w, w)}\n" for a, b, w in VOTES),
    "counts.csv": "left,right,left_wins,right_wins,ties\n"
    "ada,bob,2,1,0\nbob,ada,1,3,0\nada,cyd,0,0,1\ncyd,bob,0,0,2\n",
    "hot.csv": "model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    + "".join(f"{a},{b},{w == 'left':d},{w == 'right':d},{w == 'tie':d}\n" for a, b, w in VOTES),
    "drawn.csv": "left,right,winner,draw\n"
    + "".join(f"{a},{b},{w if w != 'tie' else a},{w == 'tie'}\n" for a, b, w in VOTES),
    "games.pgn": "".join(
        f'[White "{a}"]\n[Black "{b}"]\n[Result "{WORDS[w]}"]\n\n1. e4 {WORDS[w]}\n\n'
        for a, b, w in VOTES
    ),
    "lines.jsonl": "".join(
        f'{{"model_a": "{a}", "model_b": "{b}", "winner": "{w}"}}\n' for a, b, w in VOTES
    ),
}


def read(folder, name, text, **options):
    path = folder / name
    path.write_text(text)
    return jd.votes.read(path, **options)


@pytest.mark.parametrize(("name", "text"), LAYOUTS.items(), ids=LAYOUTS)
def test_layouts_say_the_same(name, text, tmp_path):
    votes = read(tmp_path, name, text)
    assert votes.arms == ("ada", "bob", "cyd")
    assert [counts.tolist() for counts in votes.sides] == [LEFT, RIGHT, TIES]
    assert {counts.dtype for counts in votes.sides} == {votes.wins.dtype} == {np.dtype(np.int64)}
    np.testing.assert_array_equal(votes.wins, votes.sides.left + votes.sides.right.T)
    np.testing.assert_array_equal(votes.ties, votes.sides.ties + votes.sides.ties.T)


def test_shares_of_votes(tmp_path):
    votes = read(tmp_path, "log.csv", "left,right,preference,n\nb,a,1.25,2\na,b,1.5,1\nb,a,2,1\n")
    assert votes.sides.left.tolist() == [[0, 0.5], [1.5, 0]]
    assert votes.sides.right.tolist() == [[0, 0.5], [1.5, 0]]
    np.testing.assert_array_equal(votes.wins, [[0, 2], [2, 0]])


def test_a_core_keeps_the_sides_of_its_arms(tmp_path):
    core = read(tmp_path, "votes.csv", LAYOUTS["votes.csv"]).core(3)
    assert core.arms == ("ada", "bob")
    assert [counts.tolist() for counts in core.sides] == [
        [[0, 2], [1, 0]],
        [[0, 1], [3, 0]],
        [[0, 0], [0, 0]],
    ]


def test_only_files_with_sides_have_them(tmp_path):
    assert read(tmp_path, "log.csv", "winner,loser\nada,bob\n").sides is None
    assert read(tmp_path, "log.soc", "1: 1,2,3\n").sides is None
    assert jd.votes.from_counts([[0, 1], [2, 0]]).sides is None
    with pytest.raises(InputError, match="has no column of voters: PrefLib counts rankings"):
        read(tmp_path, "log.soc", "1: 1,2,3\n", voter="ties")
