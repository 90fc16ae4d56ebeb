"""Logs in Parquet."""

import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import parquet


def written(folder, rows):
    path = folder / "log.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


def test_rows_of_any_type(tmp_path):
    path = written(
        tmp_path,
        {
            "winner": [3, 3, 20],
            "loser": [20, 20, 3],
            "n": [2.0, 3.0, 1.0],
            "draw": [False, True, False],
            "judge": ["x", None, "y"],
            "turns": [[1], [2, 3], []],
        },
    )
    votes = jd.votes.read(path)
    assert votes.arms == ("3", "20")
    assert (votes.wins.tolist(), votes.num_ties) == ([[0, 2], [1, 0]], 3)
    assert votes.read_as.ignored == ("judge", "turns")


def test_tables_inside_rows(tmp_path):
    path = written(
        tmp_path,
        [
            {"left": "x", "right": "y", "result": {"choice": "left", "time": 1}},
            {"left": "x", "right": "y", "result": {"choice": "right", "time": 1}},
            {"left": "y", "right": "x", "result": None},
        ],
    )
    with pytest.raises(InputError, match="row 3: the winner, '', is undecided"):
        jd.votes.read(path, winner="result.choice")
    votes = jd.votes.read(path, winner="result.choice", outcomes={"unresolved": "skip"})
    assert votes.wins.tolist() == [[0, 1], [1, 0]]
    assert votes.read_as.ignored == ("result.time",)


def test_bad_parquet_gets_a_sentence(tmp_path, monkeypatch):
    path = written(tmp_path, {"winner": ["x"], "loser": [["y"]]})
    with pytest.raises(InputError, match="row 1: loser is a list, no entry"):
        jd.votes.read(path)
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs pyarrow: pip install 'jaxduel\[parquet\]'"):
        jd.votes.read(path)
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="is damaged: "):
        jd.votes.read(path)
