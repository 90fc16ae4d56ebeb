"""Templates read what a decoder reads, or nothing."""

import json

import pytest

from jaxduel.votes.tables import text_of
from jaxduel.votes.templates import template

RECORD = {"id": 7, "winner": "ada", "note": None, "loser": "bob", "n": 2}
WANTED = ["loser", "winner", "n"]
LINE = '{"id": 1.5, "winner": "cyd", "note": "a\u2028b", "loser": "é", "n": 10}\n'
PATTERN, GROUPS = template(RECORD, WANTED)


def entries(line):
    found = PATTERN.fullmatch(line)
    return found and found.group(*GROUPS)


VALUES = [
    *("0", "-0", "12", "-7", "1.50", "1.", "05", ".5", "1e3", "1E+400", "NaN", "-Infinity", "1_0"),
    *("9" * 50, "9" * 5_000, "٣", "true", "null", "None", "[1]", '{"a": 1}', '"a"', '"a\\u0041"'),
    *('"a\tb"', '"a\x7fb"', '""', '" a "', '"\ud800"', '"a', "'a'", "", '"a", "winner": "b"'),
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", ["1.5", '"cyd"', "10"])
def test_entries_are_those_of_a_decoder(value, place):
    line = LINE.replace(place, value)
    found = entries(line)
    try:
        record = json.loads(line)
        decoded = tuple(text_of(key, record[key]) for key in WANTED)
    except ValueError:
        assert found is None
    else:
        assert found in (None, decoded)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (LINE, ("é", "cyd", "10")),
        (LINE.replace("\n", "\r\n"), ("é", "cyd", "10")),
        (LINE.replace(", ", ",").replace(": ", ":"), ("é", "cyd", "10")),
        (LINE.replace("1.5", "true").replace("10", "-3"), ("é", "cyd", "-3")),
        (LINE.replace("10", "2.0"), None),
        (LINE.replace("é", "\\u00e9"), None),
        (LINE.replace("}", ', "more": 1}'), None),
        (LINE.replace('"id": 1.5, ', ""), None),
        (LINE.replace('"id"', '"ID"'), None),
        (LINE.strip(), None),
        (f" {LINE}", None),
        (LINE * 2, None),
        ('{"winner": "cyd", "id": 1.5, "note": 1, "loser": "é", "n": 10}\n', None),
    ],
)
def test_lines_with_other_keys_are_left_to_the_decoder(line, found):
    assert entries(line) == found


@pytest.mark.parametrize("value", [None, True, 1.5, ["a"], {"a": "b"}])
def test_other_values_are_left_to_the_decoder(value):
    record = {"winner": value, "loser": "bob"}
    pattern, _ = template(record, ["winner", "loser"])
    assert pattern.fullmatch(f"{json.dumps(record)}\n") is None
    assert (
        template({"loser": "bob"}, ["winner", "loser"])[0].fullmatch('{"loser": "bob"}\n') is None
    )


def test_keys_with_signs():
    record = {'a"b': "x", "é.*": "y", "c\\d": "z"}
    pattern, groups = template(record, ["c\\d", 'a"b', "é.*"])
    line = json.dumps(record, ensure_ascii=False) + "\n"
    assert pattern.fullmatch(line).group(*groups) == ("z", "x", "y")
