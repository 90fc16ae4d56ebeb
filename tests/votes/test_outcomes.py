"""Words for the winner of a row: ties with remarks, and what is undecided."""

import pytest

import jaxduel as jd
from jaxduel.errors import InputError

OPEN = "left,right,winner\nada,bob,ada\nbob,cyd,tie\nada,cyd,\ncyd,ada,Unclear\ncyd,bob,bob\n"


def read(folder, text, **options):
    path = folder / "votes.csv"
    path.write_text(text)
    return jd.votes.read(path, **options)


@pytest.mark.parametrize(
    "word",
    ["tie (inconsistent)", "tie (bothbad)", "Tie (both bad)", "TIE", "both_bad", "bothbad", "draw"],
)
def test_ties(word, tmp_path):
    rows = f"left,right,winner\nada,bob,right\nada,bob,{word}\n"
    votes = read(tmp_path, rows)
    assert (votes.num_votes, votes.num_ties, votes.wins[1, 0]) == (2, 1, 1)


def test_a_number_that_became_a_float_is_the_arm_of_that_number(tmp_path):
    """As pandas writes a column of winners of which one is missing."""
    votes = read(tmp_path, "left,right,winner\n2,1,1.0\n2,1,1.0\n1,2,2.0\n")
    assert votes.arms == ("1", "2")
    assert votes.wins.tolist() == [[0, 2], [1, 0]]
    assert votes.notes == []
    text = "left,right,winner\n2,1,1.0\n3,2,2.0\n1,3,4.0\n"
    with pytest.raises(InputError, match=r"line 4: the winner, '4\.0', is neither '1' nor '3'"):
        read(tmp_path, text)
    votes = read(tmp_path, "left,right,winner\n1.0,2,1.0\n2,1.0,2\n")
    assert votes.arms == ("1.0", "2")


@pytest.mark.parametrize("name", ["nan", "NaN", "NA", "None", "null", "<NA>"])
def test_a_missing_name_is_no_arm(name, tmp_path):
    said = rf"line 3: the name of an arm is missing \({name}: rename an arm that is called so\)"
    with pytest.raises(InputError, match=said):
        read(tmp_path, f"left,right,winner\nada,bob,ada\nada,{name},ada\n")
    with pytest.raises(InputError, match=said):
        read(tmp_path, f"winner,loser\nada,bob\n{name},bob\n")


def test_undecided_rows_are_refused_or_left_out(tmp_path):
    with pytest.raises(
        InputError, match=r"line 4: the winner, '', .*: --outcome unresolved=skip leaves"
    ):
        read(tmp_path, OPEN)
    with pytest.raises(InputError, match=r"line 5: the winner, 'Unclear', is undecided: "):
        read(tmp_path, OPEN, outcomes={"": "skip"})
    votes = read(tmp_path, OPEN, outcomes={"unresolved": "skip"})
    given = read(tmp_path, OPEN, outcomes={"": "skip", "unclear": "skip"})
    assert given.notes == votes.notes
    assert read(tmp_path, OPEN, outcomes={"": "tie", "unresolved": "skip"}).num_ties == 2
    assert (votes.num_votes, votes.num_ties) == (3, 1)
    assert votes.wins.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert votes.history.tolist() == [[0, 1, 1], [1, 2, 0], [2, 1, -1]]
    assert votes.read_as.left_out == {"": 1, "Unclear": 1}
    assert votes.notes == ["2 rows left out: 1 of '', 1 of 'Unclear'"]


def test_equal_rows_that_are_left_out_are_counted_each(tmp_path):
    text = OPEN + 3 * "ada,cyd,\n" + 2 * "ada,dan,\n" + "bob,ada,bob\n"
    votes = read(tmp_path, text, outcomes={"": "skip", "unclear": "skip"})
    assert votes.read_as.left_out == {"": 6, "Unclear": 1}
    assert votes.arms == ("ada", "bob", "cyd")
    assert votes.history[-1].tolist() == [1, 0, 1]
    assert votes.num_votes == 4


@pytest.mark.parametrize(
    ("meaning", "wins", "ties"), [("left", [2, 0], 0), ("right", [1, 1], 0), ("tie", [1, 0], 1)]
)
def test_words_are_given_a_meaning(meaning, wins, ties, tmp_path):
    text = "left,right,winner\nada,bob,ada\nada,bob,1-0\n"
    votes = read(tmp_path, text, outcomes={"1-0": meaning})
    assert [votes.wins[0, 1], votes.wins[1, 0]] == wins
    assert votes.num_ties == ties
    assert votes.notes == []


def test_a_word_as_it_is_written_goes_before_its_lower_case_and_an_arm_before_that(tmp_path):
    text = "left,right,winner\nX,y,W\nX,y,w\nX,y,X\n"
    votes = read(tmp_path, text, outcomes={"W": "left", "w": "right", "x": "tie"})
    assert (votes.wins.tolist(), votes.num_ties) == ([[0, 2], [1, 0]], 0)


def test_rows_of_winners_and_losers_can_be_left_out(tmp_path):
    text = "winner,loser\nada,bob\n,bob\nbob,ada\n"
    with pytest.raises(InputError, match="line 3: the name of an arm is missing"):
        read(tmp_path, text)
    assert read(tmp_path, text, outcomes={"": "skip"}).num_votes == 2
    with pytest.raises(InputError, match="an outcome can only be skipped there"):
        read(tmp_path, text, outcomes={"": "tie"})


def test_a_word_that_no_row_has_is_said(tmp_path):
    with pytest.warns(UserWarning, match=r"no row of file .* has the winner 'unresolved'"):
        read(tmp_path, OPEN.replace("Unclear", ""), outcomes={"": "skip", "Unresolved": "skip"})


@pytest.mark.parametrize(
    ("text", "outcomes", "message"),
    [
        (OPEN, {"": "drop"}, "the outcome '' can mean left, right, tie, skip, not 'drop'"),
        (OPEN, {3: "skip"}, "outcomes gives meanings of words, as in .* not {3: 'skip'}"),
        (OPEN, "skip", "outcomes gives meanings of words, as in .* not 'skip'"),
        ("left,right,winner\na,b,\n", {"": "skip"}, "no votes: all its rows, 1, are left out"),
        ("left,right,left_wins,right_wins\na,b,1,2\n", {"": "skip"}, "has counts, and outcomes"),
    ],
)
def test_bad_outcomes_get_a_sentence(text, outcomes, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, outcomes=outcomes)
