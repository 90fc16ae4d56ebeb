"""Reading logs of votes: layouts, spellings, unfinished lines, a sentence for what is wrong."""

import gzip
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import lines

GUIDE = Path(__file__).parents[2] / "notebooks" / "guide"
VOTES = "left,right,winner\nada,bob,ada\nbob,ada,ada\nbob,cyd,cyd\nada,cyd,tie\n"
WINS = [[0, 2, 0], [0, 0, 0], [0, 1, 0]]
TIES = [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
LAYOUTS = {
    "names": VOTES,
    "sides": "left,right,winner\nada,bob,left\nbob,ada,right\nbob,cyd,Right\nada,cyd,TIE\n",
    "letters": "a,b,winner\nada,bob,a\nbob,ada,b\nbob,cyd,B\nada,cyd,draw\n",
    "arena": "id,model_a,model_b,winner\n1,ada,bob,model_a\n2,bob,ada,model_b\n"
    "3,bob,cyd,model_b\n4,ada,cyd,tie (bothbad)\n",
    "counts": "left,right,left_wins,right_wins,ties\nada,bob,2,0,0\ncyd,bob,1,0,0\nada,cyd,0,0,1\n",
    "counts that add up": "Left,Right,Left_Wins,Right_Wins,Ties\nada,bob,1,0,0\nbob,ada,0,1.0,0\n"
    "cyd,bob,1,0,0\nada,cyd,0,0,1\n",
    "semicolons": VOTES.replace(",", ";"),
    "tabs": VOTES.replace(",", "\t"),
    "Windows": "\ufeff" + VOTES.replace("\n", "\r\n"),
    "blank lines": VOTES.replace("\n", "\n\n") + "  \n",
    "spaces": VOTES.replace(",", " , "),
    "quotes": VOTES.replace("ada", '"ada"'),
    "another column": 'left,text,right,winner\nada,"a,\nb",bob,ada\nbob,,ada,ada\n'
    "bob,x,cyd,cyd\nada,,cyd,tie\n",
    "long text": VOTES.replace("\n", ",text\n", 1).replace(
        "bob,ada\n", f"bob,ada,{'x' * 200_000}\n", 1
    ).replace("ada,ada\n", "ada,ada,\n").replace("cyd\n", "cyd,\n").replace("tie\n", "tie,\n"),
}  # fmt: skip


def written(folder, text, name="votes.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_layouts_say_the_same(text, zipped, tmp_path):
    content = gzip.compress(text.encode()) if zipped else text.encode()
    votes = jd.votes.read(written(tmp_path, content, "votes.csv.gz" if zipped else "votes.csv"))
    assert votes.arms == ("ada", "bob", "cyd")
    assert (votes.wins.tolist(), votes.ties.tolist()) == (WINS, TIES)
    assert votes.wins.dtype == votes.ties.dtype == np.int64
    assert (votes.num_votes, votes.num_ties) == (4, 1)


def test_winners_and_losers(tmp_path):
    votes = jd.votes.read(written(tmp_path, "loser,winner\nbob,ada\nbob,ada\nbob,cyd\n"))
    assert (votes.wins.tolist(), votes.num_ties) == (WINS, 0)


def test_a_name_goes_before_a_word(tmp_path):
    votes = jd.votes.read(written(tmp_path, "left,right,winner\nb,a,a\nb,a,left\n"))
    assert votes.arms == ("a", "b")
    assert votes.wins.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,b,a\nc,d,a\nc,d,b\n", "line 3: the winner, 'a', may be the side of 'c' or the arm 'a'"),
        ("a,b,a\nc,d,b\n", "line 3: the winner, 'b', may be the side of 'd' or the arm 'b'"),
        ("A,b,a\nB,A,a\n", "line 3: the winner, 'a', may be the side of 'B' or the arm 'A'"),
        ("Right,Left,left\n", "line 2: the winner, 'left', may be the side of 'Right' or the arm "),
        ("tie,b,b\nc,d,tie\n", "line 3: the winner, 'tie', may be a tie or the arm 'tie'"),
        ("Draw,b,draw\n", "line 2: the winner, 'draw', may be a tie or the arm 'Draw'"),
    ],
)
def test_a_word_that_may_be_another_arm_is_refused(rows, message, tmp_path):
    with pytest.raises(InputError, match=f"{message}.*: a name of the two, or a word that is no"):
        jd.votes.read(written(tmp_path, HEAD + rows))


def test_words_that_are_no_other_arm_are_read(tmp_path):
    rows = "A,B,a\nA,C,left\nC,B,b\nB,C,Right\nB,A,model_b\nC,B,Draw\n"
    votes = jd.votes.read(written(tmp_path, HEAD + rows))
    assert votes.wins.tolist() == [[0, 2, 1], [0, 0, 1], [0, 1, 0]]
    assert votes.num_ties == 1


def test_numbers_are_sorted_by_value(tmp_path):
    long = ["1" + 5_000 * "0", "2" + 5_000 * "0"]
    rows = "".join(f"{winner},2\n" for winner in (*long[::-1], "10", "9", "09", "9"))
    votes = jd.votes.read(written(tmp_path, f"winner,loser\n{rows}"))
    assert votes.arms == ("2", "09", "9", "10", *long)


def test_columns_by_name(tmp_path):
    text = "white,black,score,winner\nada,bob,left,-\nbob,cyd,tie,-\n"
    votes = jd.votes.read(written(tmp_path, text), left="white", right="BLACK", winner="score")
    assert votes.wins.sum() == votes.num_ties == 1
    counts = written(tmp_path, "left,right,winner,left_wins,right_wins\nada,bob,ada,3,2\n")
    with pytest.raises(InputError, match="can be read as left, right, winner and as left, right"):
        jd.votes.read(counts)
    assert jd.votes.read(counts, left_wins="left_wins").wins.sum() == 5
    assert jd.votes.read(counts, winner="winner").wins.sum() == 1
    tied = written(tmp_path, "left,right,winner,loser,ties\nada,bob,ada,bob,3\n")
    with pytest.raises(InputError, match="as winner, loser: not with columns named for ties"):
        jd.votes.read(tied, ties="ties")
    with pytest.raises(InputError, match="not with columns named for left, loser"):
        jd.votes.read(tied, left="left", loser="loser")


def test_another_encoding(tmp_path):
    path = written(tmp_path, "winner,loser\nJosé,ada\n".encode("latin-1"))
    assert jd.votes.read(path, encoding="latin-1").arms == ("José", "ada")
    with pytest.raises(
        InputError, match=r"2: the name .* is no text in utf-8-sig, .* save the file"
    ):
        jd.votes.read(path)
    wide = written(tmp_path, VOTES.encode("utf-16"))
    assert jd.votes.read(wide, encoding="utf-16").wins.tolist() == WINS
    with pytest.raises(InputError, match=r"is text in UTF-16: .* \(in Python encoding='utf-16'\)"):
        jd.votes.read(wide)


@pytest.mark.parametrize("end", range(1, len("ada,cyd,tie\n")))
def test_an_unfinished_last_line_is_left_out(end, tmp_path):
    """Wherever another process stands in it, in a character of several bytes, too."""
    text = f"{VOTES}ada,cyé,tie".encode()[: len(VOTES) + end]
    with pytest.warns(UserWarning, match=r"the last line of .*, 6, has no end and was left out"):
        votes = jd.votes.read(written(tmp_path, text))
    assert (votes.wins.tolist(), votes.ties.tolist()) == (WINS, TIES)


def test_an_unfinished_only_vote_is_told_from_none(tmp_path):
    with (
        pytest.warns(UserWarning, match="has no end and was left out"),
        pytest.raises(InputError, match="holds no votes: its header is the only whole line"),
    ):
        jd.votes.read(written(tmp_path, f"{HEAD}ada,bob,ada"))


def test_parts_of_a_file_add_up(tmp_path):
    header, *rows = (GUIDE / "tournament.csv").read_text().splitlines(keepends=True)
    whole = jd.votes.read(GUIDE / "tournament.csv")
    parts = [
        jd.votes.read(written(tmp_path, header + "".join(rows[start : start + 100])))
        for start in range(0, len(rows), 100)
    ]
    assert all(part.arms == whole.arms for part in parts)
    np.testing.assert_array_equal(sum(part.wins for part in parts), whole.wins)
    np.testing.assert_array_equal(sum(part.ties for part in parts), whole.ties)


def test_the_tournament_is_what_the_guide_makes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block, *_ = re.findall(r"```python\n(.*?)```", (GUIDE / "votes.md").read_text(), re.DOTALL)
    exec(block, {})
    assert Path("tournament.csv").read_bytes() == (GUIDE / "tournament.csv").read_bytes()


HEAD = "left,right,winner\n"
COUNTS = "left,right,left_wins,right_wins,ties\n"
WRONG = {
    "empty": ("", "is empty"),
    "half a header": ("left,right,winner", "has one line without an end, which may be half"),
    "blank": (f"\n{VOTES}", "has a blank first line: a header"),
    "no votes": (HEAD, "holds no votes: its header is the only whole line"),
    "no header": ("ada,bob,ada\n", "needs columns left, right and winner, .* it has 'ada', 'bob'"),
    "columns": ("left,right,verdict\nada,bob,ada\n", "needs columns .* has 'left', 'right', 've"),
    "twice": ("left,a,right,winner\nx,y,z,x\n", "several columns for left, 'left' and 'a'"),
    "itself": (f"{HEAD}ada,bob,ada\n\nbob,bob,bob\n", "line 4: 'bob' is compared with itself"),
    "neither": (f"{HEAD}ada,bob,cyd\n", "line 2: the winner, 'cyd', is neither 'ada' nor 'bob'"),
    "no winner": (f"{HEAD}ada,bob,\n", "line 2: the winner, '', is undecided: --outcome unres"),
    "no name": (f"{HEAD}ada,bob,ada\nada, ,ada\n", "line 3: the name of an arm is missing"),
    "short": (f"{HEAD}ada,bob,ada\nada,bob\n", "line 3: 2 entries, but the header has 3"),
    "long": (f"{HEAD}ada,bob,ada,x\n", "line 2: 4 entries, but the header has 3"),
    "quote": (f'{HEAD}ada,bob,ada\n"ada,bob,ada\nada,bob,bob\n', "a quote after line 2"),
    "half a quote": (f'{HEAD}"ada"x,bob,ada\n', "line 2: ',' expected after '\"'"),
    "negative": (f"{COUNTS}ada,bob,3,-1,0\n", "line 2: '-1' is no count: a whole number from 0"),
    "half": (f"{COUNTS}ada,bob,3,1.5,0\n", "line 2: '1.5' is no count"),
    "no number": (f"{COUNTS}ada,bob,3,1,\n", "line 2: '' is no count"),
    "not finite": (f"{COUNTS}ada,bob,nan,1,0\n", "line 2: 'nan' is no count"),
    "many": (f"{COUNTS}ada,bob,1e10,1,0\n", "line 2: '1e10' is no count"),
    "too many": (COUNTS + 2 * "ada,bob,2e9,1,0\n", "4,000,000,000 votes .* for 'ada' and 'bob'"),
    "too many ties": (COUNTS + 2 * "ada,bob,0,1,2e9\n", "votes.csv' has 4,000,000,000 votes"),
    "nothing": (f"{COUNTS}ada,bob,0,0,0\n", "holds no votes"),
    "damaged": (gzip.compress(VOTES.encode())[:-12], "is damaged"),
    "delete": (f"{HEAD}ada,b\x7fob,ada\n", "line 2: the name .* has a control character"),
    "escape": (f"{HEAD}ada,b\x9bob,ada\n", "line 2: the name .* has a control character"),
    "half an archive": (b"PK\x03\x04\x1b[2J\n", "is damaged: it cannot be unpacked"),
    "UTF-16": (b"\xff\xfe\x00\x81" * 9 + b"\n", "is text in UTF-16: save it as UTF-8"),
    "binary": (b"\xff\x1b[2J\x81\n", r"it has '\\udcff\\x1b\[2J\\udc81': save the file as UTF-8"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_bad_files_get_a_sentence(text, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        jd.votes.read(written(tmp_path, text))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "text",
    ["a" * 300, f"winner,loser\n{'a' * 300},b\n", 'winner,loser\n"' + "a\n" * 150 + '",b\n',
     "winner,loser\n" + '"\n",' * 100 + "\n"],
    ids=["header", "line", "quoted lines", "many entries"],
)  # fmt: skip
def test_rows_have_a_limit(tmp_path, monkeypatch, text, zipped):
    monkeypatch.setattr(lines, "LONGEST_ROW", 200)
    pack = gzip.compress if zipped else bytes
    with pytest.raises(InputError, match=r"cannot be read: a row has more than 200 characters\.$"):
        jd.votes.read(written(tmp_path, pack(text.encode())))
    votes = jd.votes.read(written(tmp_path, pack(b"winner,loser\n" + b"ada,bob\n" * 100)))
    assert votes.num_votes == 100


def test_bad_places_get_a_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        jd.votes.read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is not a regular file"):
        jd.votes.read(tmp_path)
    with pytest.raises(InputError, match="is no text in klingon"):
        jd.votes.read(written(tmp_path, VOTES), encoding="klingon")
    with pytest.raises(InputError, match="has no column 'result'; it has 'left', 'right', 'win"):
        jd.votes.read(written(tmp_path, VOTES), winner="result")
    with pytest.raises(InputError, match="a column is given by its name, not 3"):
        jd.votes.read(written(tmp_path, VOTES), winner=3)
    for encoding in (None, 8, ["utf-8"]):
        with pytest.raises(InputError, match="the encoding of a file is a name, not"):
            jd.votes.read(written(tmp_path, VOTES), encoding=encoding)
    for path in (None, 5, "a\0b"):
        with pytest.raises(InputError, match="read takes the path of a file"):
            jd.votes.read(path)


def test_a_title_with_other_marks_does_not_hide_the_commas(tmp_path):
    text = 'left,right,winner,"q;r;s;t;u"\nx,y,left,1\n'
    assert jd.votes.read(written(tmp_path, text)).num_votes == 1


def test_too_many_arms_get_a_sentence(tmp_path):
    rows = "".join(f"{number},x\n" for number in range(4_000))
    with pytest.raises(InputError, match="votes of 4,001 different arms: 2 to 4,000"):
        jd.votes.read(written(tmp_path, f"winner,loser\n{rows}"))


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    rng = np.random.default_rng(0)
    left = rng.integers(100, size=1_000_000)
    right = (left + rng.integers(1, 100, size=len(left))) % 100
    winner = rng.choice(["left", "right", "tie"], size=len(left))
    rows = list(zip(left.tolist(), right.tolist(), winner.tolist(), strict=True))
    votes = jd.votes.read(written(tmp_path, HEAD + "".join(f"{i},{j},{w}\n" for i, j, w in rows)))
    wins, ties = np.zeros((2, 100, 100), np.int64)
    for (i, j, word), count in Counter(rows).items():
        if word == "tie":
            ties[[i, j], [j, i]] += count
        else:
            wins[(i, j) if word == "left" else (j, i)] += count
    assert votes.arms == tuple(map(str, range(100)))
    np.testing.assert_array_equal(votes.wins, wins)
    np.testing.assert_array_equal(votes.ties, ties)
