"""Last votes of those that are alike."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.repeats import last_of_each

LOG = """voter,item,left,right,winner
v,1,ada,bob,ada
v,2,ada,bob,ada
w,1,ada,cyd,cyd
v,1,bob,ada,bob
w,1,ada,cyd,
v,2,ada,dan,dan
"""


def read(folder, **options):
    path = folder / "votes.csv"
    path.write_text(LOG)
    return jd.votes.read(path, outcomes={"unresolved": "skip"}, **options)


def test_by_voter_and_item(tmp_path):
    votes = read(tmp_path, last_of=["voter", "item"])
    assert votes.arms == ("ada", "bob", "cyd", "dan")
    assert votes.history.tolist() == [[0, 2, -1], [1, 0, 1], [0, 3, -1]]
    assert votes.notes == [
        "2 earlier rows of the same 'voter' and 'item' left out",
        "1 row left out: 1 of ''",
    ]
    assert votes.read_as.ignored == ()


def test_by_voter_and_pair(tmp_path):
    votes = read(tmp_path, last_of=["voter", "pair"])
    assert votes.history.tolist() == [[0, 2, -1], [1, 0, 1], [0, 3, -1]]
    assert votes.read_as.ignored == ("item",)


def test_arms_whose_votes_are_all_earlier_ones_are_none(tmp_path):
    votes = read(tmp_path, last_of="voter")
    assert votes.arms == ("ada", "cyd", "dan")
    assert votes.history.tolist() == [[0, 1, -1], [0, 2, -1]]


def test_drawn_columns_against_a_loop():
    columns = np.random.default_rng(1).integers([3, 2, 4], size=(100, 3)).T
    last = {row: position for position, row in enumerate(zip(*columns.tolist(), strict=True))}
    assert last_of_each(columns).tolist() == sorted(last.values())
    assert last_of_each(columns[:1]).tolist() == sorted(
        {number: position for position, number in enumerate(columns[0])}.values()
    )


@pytest.mark.parametrize(
    ("last_of", "message"),
    [
        ("round", "has no column 'round'"),
        ([3], "a column is given by its name, not 3"),
        (7, "columns of last_of"),
        ("winner", "needs column 'winner' for winner"),
    ],
)
def test_bad_columns_get_a_sentence(last_of, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, last_of=last_of)
