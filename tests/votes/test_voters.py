"""Counts of votes by voters."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.voters import summed

HEAD = "judge,left,right,winner,item\n"
ROWS = [
    "v,ada,bob,ada,1",
    "w,ada,bob,right,1",
    "x,cyd,bob,,2",
    " v,bob,ada,tie,1",
    "w ,ada,bob,ada,2",
    "y,cyd,ada,cyd,2",
    "v,ada,bob,ada,3",
]
SKIP = {"unresolved": "skip"}


def read(folder, text, name="votes.csv", **options):
    path = folder / name
    path.write_text(text)
    return jd.votes.read(path, **options)


def log(*rows, head=HEAD):
    return head + "".join(f"{row}\n" for row in rows)


def rows_of(voters):
    return [*zip(*(column.tolist() for column in voters), strict=True)]


FORMS = {
    "table": (log(*ROWS), {}),
    "no header": (log(*ROWS, head=""), {"header": ["judge", "left", "right", "winner", "item"]}),
    "lines": (
        "".join(
            '{{"judge": "{}", "left": "{}", "right": "{}", "winner": "{}"}}\n'.format(
                *row.split(",")
            )
            for row in ROWS
        ),
        {},
    ),
}


@pytest.mark.parametrize(("text", "options"), FORMS.values(), ids=FORMS)
def test_each_voter_has_a_row_for_each_pair(text, options, tmp_path):
    votes = read(tmp_path, text, voter="Judge", outcomes=SKIP, **options)
    assert votes.voters.num_voters == 3
    assert rows_of(votes.voters) == [
        (0, 0, 1, 2, 0, 0),
        (0, 1, 0, 0, 0, 1),
        (1, 0, 1, 1, 1, 0),
        (2, 2, 0, 1, 0, 0),
    ]
    assert [column.dtype.name for column in votes.voters] == ["int32"] * 3 + ["float64"] * 3
    assert votes.read_as.columns["voter"] == "judge"
    assert votes.notes[:2] == ["by 3 voters", "columns read: 'judge' as voter"]
    assert votes.history.tolist() == [
        *([0, 1, 1], [0, 1, -1], [1, 0, 0], [0, 1, 1], [2, 0, 1], [0, 1, 1]),
    ]
    alone = read(tmp_path, text, outcomes=SKIP, **options)
    assert alone.voters is None
    np.testing.assert_array_equal(votes.wins, alone.wins)
    assert "judge" in alone.read_as.ignored


def test_counts_and_shares_of_a_voter_add_up(tmp_path):
    text = log("v,a,b,2,1,0", "v,a,b,1,0,3", "w,b,a,0,4,0", "x,a,b,0,0,0",
               head="voter,left,right,left_wins,right_wins,ties\n")  # fmt: skip
    votes = read(tmp_path, text, voter="voter")
    assert rows_of(votes.voters) == [(0, 0, 1, 3, 1, 3), (1, 1, 0, 0, 4, 0)]
    assert votes.notes == ["by 2 voters"]
    text = log("v,a,b,1.25,2", "w,b,a,2,1", head="who,left,right,preference,count\n")
    assert rows_of(read(tmp_path, text, voter="who").voters) == [
        (0, 0, 1, 1.5, 0.5, 0),
        (1, 1, 0, 0, 1, 0),
    ]


def test_winners_without_sides_count_as_left(tmp_path):
    text = log("a,b,v", "b,a,v", "a,b,w", "a,b,v", head="winner,loser,who\n")
    votes = read(tmp_path, text, voter="who")
    assert rows_of(votes.voters) == [(0, 0, 1, 2, 0, 0), (0, 1, 0, 1, 0, 0), (1, 0, 1, 1, 0, 0)]


def test_a_core_renumbers_voters(tmp_path):
    rows = ["u,dan,ada,dan,0", *3 * ROWS]
    core = read(tmp_path, log(*rows), voter="judge", outcomes=SKIP).core(6)
    assert core.arms == ("ada", "bob")
    assert rows_of(core.voters) == [
        (0, 0, 1, 6, 0, 0),
        (0, 1, 0, 0, 0, 3),
        (1, 0, 1, 3, 3, 0),
    ]
    assert core.notes[0] == "by 2 voters"
    one = read(tmp_path, log("v,a,b,a,1", "w,a,c,a,1", "v,b,a,b,1"), voter="judge")
    with pytest.raises(InputError, match=r"the core of votes\.csv has votes of one voter, and"):
        one.core(2)


def test_last_votes_of_voters(tmp_path):
    votes = read(
        tmp_path, log(*ROWS), voter="judge", last_of=["judge", "item", "pair"], outcomes=SKIP
    )
    assert rows_of(votes.voters) == [
        (0, 0, 1, 1, 0, 0),
        (0, 1, 0, 0, 0, 1),
        (1, 0, 1, 1, 1, 0),
        (2, 2, 0, 1, 0, 0),
    ]
    assert votes.notes[2:] == [
        "1 earlier row of the same 'judge' and 'item' and 'pair' left out",
        "1 row left out: 1 of ''",
    ]
    by_item = read(tmp_path, log(*ROWS), voter="judge", last_of="item", outcomes=SKIP)
    assert rows_of(by_item.voters) == [(0, 0, 1, 1, 0, 0), (0, 1, 0, 0, 0, 1), (1, 2, 0, 1, 0, 0)]


def test_a_row_that_is_left_out_needs_no_voter(tmp_path):
    text = log(",ada,bob,unclear,1", "v,ada,bob,ada,1", "w,ada,bob,ada,1")
    assert read(tmp_path, text, voter="judge", outcomes=SKIP).voters.num_voters == 2
    with pytest.raises(InputError, match="line 5: the name of the voter is missing"):
        read(tmp_path, text + " ,ada,bob,ada,1\n", voter="judge", outcomes=SKIP)


TABLE = log("v,ada,bob,ada,1", "w,ada,bob,ada,1")
WRONG = {
    "nobody": (log("v,ada,bob,ada,1", "\t,ada,bob,ada,1"), {}, "line 3: the name of the voter is"),
    "one": (log("v,a,b,a,1", "v,b,a,a,1", ",a,b,,1"), {"outcomes": SKIP}, "has votes of one voter"),
    "no column": (TABLE, {"voter": "who"}, "has no column 'who'; it has 'judge', 'left'"),
    "two roles": (TABLE, {"voter": "item", "count": "item"}, "'item' is given for several roles"),
    "an arm": (TABLE, {"voter": "left"}, "needs column 'left' for left, and it is given"),
    "ignored": (TABLE, {"ignore": "judge"}, "'judge' is given for voter and to be ignored"),
    "no name": (TABLE, {"voter": 3}, "a column is given by its name, not 3"),
    "twice": (TABLE.replace("item", "judge"), {}, "several columns for voter, 'judge' and 'jud"),
    "no votes": (HEAD, {}, "holds no votes: its header is the only whole line"),
}


@pytest.mark.parametrize(("text", "options", "message"), WRONG.values(), ids=WRONG)
def test_bad_voters_get_a_sentence(text, options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, **{"voter": "judge"} | options)


def test_games_name_no_voters(tmp_path):
    game = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 1-0\n'
    with pytest.raises(InputError, match="has no column 'Annotator'; it has 'White', 'Black', 'R"):
        read(tmp_path, game, "log.pgn", voter="Annotator")


def test_sums_against_a_loop():
    rng = np.random.default_rng(5)
    arms = rng.permuted(np.tile(np.arange(4), (20, 1)), axis=1)[:, :2].astype(np.int32)
    votes = rng.integers(3, size=(20, 3))
    voter, order = rng.integers([9, 20], size=(400, 2)).T
    sums = {}
    for number, row in zip(voter.tolist(), order.tolist(), strict=True):
        key = (number, *arms[row].tolist())
        sums[key] = sums.get(key, 0) + votes[row]
    expected = [(*key, *total.tolist()) for key, total in sorted(sums.items()) if total.any()]
    assert rows_of(summed(voter, order, arms, votes)) == expected
