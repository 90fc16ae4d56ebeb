"""Logs in JSON: a record a line, arrays, records inside records."""

import json

import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes import records

BATTLES = [
    {"model_a": "x", "model_b": "y", "winner": "model_a", "judge": "j1"},
    {"model_a": "y", "model_b": "z", "winner": "tie", "turns": [1, 2]},
    {"model_a": "z", "model_b": "x", "winner": "model_b", "judge": None},
]
WINS, TIES = [[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]]


def lines(entries):
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def read(folder, text, name="log.jsonl", **options):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return jd.votes.read(path, **options)


FORMS = {
    "lines": lines(BATTLES),
    "no last end": lines(BATTLES).removesuffix("\n"),
    "blank lines": "\n" + lines(BATTLES).replace("\n", "\r\n\n"),
    "mark": "\ufeff" + lines(BATTLES),
    "array": json.dumps(BATTLES),
    "pretty array": json.dumps(BATTLES, indent=2),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", ["log.json", "log"])
def test_forms_say_the_same(text, name, tmp_path):
    votes = read(tmp_path, text, name)
    assert votes.arms == ("x", "y", "z")
    assert (votes.wins.tolist(), votes.ties.tolist()) == (WINS, TIES)
    assert votes.read_as.ignored == ("judge", "turns")
    assert votes.history.tolist() == [[0, 1, 1], [1, 2, 0], [2, 0, -1]]


def test_records_inside_records(tmp_path):
    text = lines(
        {"pair": {"left": a, "right": b}, "result": {"choice": c, "time": 3}}
        for a, b, c in [("x", "y", "left"), ("y", "x", "left"), ("x", "y", "left")]
    )
    columns = {"left": "pair.left", "right": "pair.right", "winner": "result.choice"}
    votes = read(tmp_path, text, **columns)
    assert votes.wins.tolist() == [[0, 2], [1, 0]]
    assert votes.read_as.ignored == ("result.time",)
    with pytest.raises(InputError, match=r"it has 'pair\.left', 'pair\.right', 'result\.choice'"):
        read(tmp_path, text)


def test_values_that_are_no_text(tmp_path):
    entries = [
        {"winner": 7, "loser": 10, "n": 3, "draw": False},
        {"winner": 10, "loser": 7, "n": 2.0, "draw": True},
    ]
    votes = read(tmp_path, lines(entries))
    assert votes.arms == ("7", "10")
    assert (votes.wins.tolist(), votes.num_ties) == ([[0, 3], [0, 0]], 2)


def test_one_line_without_an_end(tmp_path):
    assert read(tmp_path, '{"winner": "x", "loser": "y"}').wins.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(InputError, match=r"line 1: .* is a list, no entry"):
        read(tmp_path, '{"winner": ["x"], "loser": "y"}')


@pytest.mark.parametrize("first", [1, 3, 10])
def test_a_key_that_only_a_late_record_has_counts(first, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_FIRST", first)
    more = [*BATTLES, {**BATTLES[0], "valid": False}]
    with pytest.raises(InputError, match="has the column 'valid', which may change what a row"):
        read(tmp_path, lines(more))
    late = [{"left": "x", "right": "y"}, {"left": "x", "right": "y", "vote": {"winner": "left"}}]
    skip = {"unresolved": "skip"}
    votes = read(tmp_path, lines(late), winner="vote.winner", outcomes=skip)
    assert (votes.wins.tolist(), votes.read_as.ignored) == ([[0, 1], [0, 0]], ())
    with pytest.raises(InputError, match="line 1: the name of an arm is missing"):
        read(tmp_path, lines([{}, {}, *BATTLES]))


@pytest.mark.parametrize("first", [1, 10])
def test_no_json_goes_before_what_the_columns_lack(first, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_FIRST", first)
    text = lines([{"left": ["x"], "right": "y", "winner": "left"}, {"verdict": 1}])
    with pytest.raises(InputError, match="line 1: left is a list, no entry"):
        read(tmp_path, text)
    with pytest.raises(InputError, match="line 3: it is no JSON"):
        read(tmp_path, text + "{]\n")
    with pytest.raises(InputError, match="line 3: it is no JSON"):
        read(tmp_path, lines([{"verdict": 1}] * 2) + "{]\n")


@pytest.mark.parametrize("first", [1, 10])
def test_one_warning_of_half_a_line(first, tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr(records, "_FIRST", first)
    for more, ignored in ([], ()), ([{**BATTLES[0], "judge": {"age": 3}}], ("judge.age",)):
        votes = read(tmp_path, lines([*BATTLES, *more]) + '{"model_a": "x", "mod')
        assert len(recwarn) == 1
        assert "has no end and was left out" in str(recwarn.pop().message)
        assert votes.read_as.ignored == ("judge", "turns", *ignored)


def test_missing_and_null_winners_are_undecided(tmp_path):
    entries = [*BATTLES, {"model_a": "x", "model_b": "y"}, {**BATTLES[0], "winner": None}]
    with pytest.raises(InputError, match="line 4: the winner, '', is undecided"):
        read(tmp_path, lines(entries))
    votes = read(tmp_path, lines(entries), outcomes={"unresolved": "skip"})
    assert votes.wins.tolist() == WINS
    assert votes.notes[-1] == "2 rows left out: 2 of ''"


def test_half_a_last_line_is_left_out(tmp_path):
    with pytest.warns(UserWarning, match=r"the last line of .*, 4, has no end and was left out"):
        votes = read(tmp_path, lines(BATTLES) + '{"model_a": "x", "mod')
    assert votes.wins.tolist() == WINS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines(BATTLES) + "{'winner'}\n", r"line 4: it is no JSON \(expecting property name .*, c"),
        (lines(BATTLES) + "[3]\n", 'line 4: it is no record of JSON, such as {"winner": "ada"'),
        ("[3]", "record 1: it is no record of JSON"),
        ("[]", "holds no votes: it has no record"),
        ('[{"winner": 3}', r"it is no JSON \(expecting ',' delimiter, character 15\)"),
        ("[" * 100_000, "it is no JSON with numbers and brackets of a usual size"),
        ('{"data": [\n', r"line 1: it is no JSON \(expecting value, character"),
        ('{"winner": ["ada"], "loser": "bob"}\n', "line 1: winner is a list, no entry"),
        ('{"winner": "a\\ud800", "loser": "bob"}\n', "line 1: the name 'a.*' is no text"),
        ('{"winner": "ada", "loser": "bob"}\n{}\n', "line 2: the name of an arm is missing"),
    ],
)
def test_bad_json_gets_a_sentence(text, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).isprintable()


def test_arrays_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_LONGEST_ARRAY", 50)
    with pytest.raises(InputError, match=r"is a JSON array of 2\^28 characters or more: write"):
        read(tmp_path, json.dumps(BATTLES))
    assert read(tmp_path, lines(BATTLES)).wins.tolist() == WINS
