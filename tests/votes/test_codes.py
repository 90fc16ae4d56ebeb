"""Coded winners: read where one code alone fits the values of the column."""

import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.codes import code_of


def read(folder, winners, head="left,right,winner", **options):
    path = folder / "votes.csv"
    path.write_text(f"{head}\n" + "".join(f"ada,bob,{winner}\n" for winner in winners.split()))
    return jd.votes.read(path, **options)


@pytest.mark.parametrize(
    "winners",
    [
        "1-0 0-1 1/2-1/2 1-0",
        "W L D w",
        "win lost Draw won",
        "L R T l",
        "1 0 0.5 1.0",
        "1 -1 0 1.0",
        "white black draw White",
        "A B tie a",
    ],
)
def test_two_wins_a_loss_and_a_tie(winners, tmp_path):
    votes = read(tmp_path, winners, "white,black,result")
    assert votes.wins.tolist() == [[0, 2], [1, 0]]
    assert votes.num_ties == 1
    assert votes.history.tolist() == [[0, 1, 1], [0, 1, -1], [0, 1, 0], [0, 1, 1]]


def test_a_code_is_said(tmp_path):
    votes = read(tmp_path, "2 1 2 2")
    assert votes.wins.tolist() == [[0, 1], [3, 0]]
    assert votes.notes == ["of the winners '1' is left, '2' is right"]
    assert read(tmp_path, "1-0 0-1").notes == []


def test_undecided_rows_are_of_no_code(tmp_path):
    votes = read(tmp_path, "W L * W", outcomes={"unresolved": "skip"})
    assert votes.wins.tolist() == [[0, 2], [1, 0]]
    assert votes.read_as.left_out == {"*": 1}


def test_both_readings_of_a_code_are_offered(tmp_path):
    with pytest.raises(InputError, match=r"say --outcome 1=left, or --outcome 1=right, or"):
        read(tmp_path, "1 1")


@pytest.mark.parametrize("winners", ["0 1", "0 1 2", "1", "L", "0 0"])
def test_several_codes_are_refused(winners, tmp_path):
    with pytest.raises(InputError, match=r"line 2: the winner, .* is of several codes: say --outc"):
        read(tmp_path, winners)


def test_the_sentence_names_options_that_work(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, "0 1 1")
    assert str(caught.value).endswith(
        "line 2: the winner, '0', is of several codes: say --outcome 0=right --outcome 1=left, or "
        "--outcome 0=left --outcome 1=right, or another (in Python outcomes={'0': 'right', "
        "'1': 'left'})."
    )
    votes = read(tmp_path, "0 1 1", outcomes={"0": "left", "1": "right"})
    assert votes.wins.tolist() == [[0, 1], [2, 0]]


def test_the_numbers_of_the_columns_tell_codes_apart(tmp_path):
    votes = read(tmp_path, "1 2 0 1", "player1,player2,winner")
    assert votes.wins.tolist() == [[0, 2], [1, 0]]
    assert votes.num_ties == 1
    with pytest.raises(InputError, match="several codes"):
        read(tmp_path, "1 0", "player1,player2,winner")


def test_values_of_no_code_or_of_arms_are_no_code(tmp_path):
    with pytest.raises(InputError, match="line 4: the winner, '3', is neither"):
        read(tmp_path, "ada bob 3")
    with pytest.raises(InputError, match="line 2: the winner, '1', is neither"):
        read(tmp_path, "1 2 3")
    path = tmp_path / "numbers.csv"
    path.write_text("left,right,winner\n1,2,2\n2,1,2\n1,2,1\n")
    assert jd.votes.read(path).wins.tolist() == [[0, 1], [2, 0]]
    assert code_of({"1_0"}) == code_of({"x"}) == ({}, "")
