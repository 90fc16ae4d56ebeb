"""Games in PGN: headers alone count, whatever stands in moves and comments."""

import pytest

import jaxduel as jd
from jaxduel.errors import InputError


def game(white, black, result, moves="1. e4 e5"):
    tags = f'[Event "t"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
    return f"{tags}\n{moves} {result}\n\n"


COMMENT = """1. e4 {a comment
[White "nobody"]
with lines} e5 (1... c5 {x}) ; and [Black "nobody"] {
2. d4"""
GAMES = (
    game("ada", "bob", "1-0")
    + game("bob", "ada", "1/2-1/2", COMMENT)
    + game("bob", "ada", "*")
    + game("ada", "bob", "0-1", "{[%clk 0:01]}")
)


def read(folder, text, name="games.pgn", **options):
    path = folder / name
    path.write_text(text)
    return jd.votes.read(path, **options)


@pytest.mark.parametrize("text", [GAMES, GAMES.replace("\n", "\r\n"), "\ufeff\n" + GAMES.strip()])
@pytest.mark.parametrize("name", ["games.pgn", "games.txt"])
def test_games(text, name, tmp_path):
    votes = read(tmp_path, text, name)
    assert votes.arms == ("ada", "bob")
    assert (votes.wins.tolist(), votes.num_ties) == ([[0, 1], [1, 0]], 1)
    assert votes.history.tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, -1]]
    assert votes.notes == [
        "columns read: 'White' as left, 'Black' as right, 'Result' as winner",
        "1 row left out: 1 of '*'",
    ]
    assert read(tmp_path, text, name, outcomes={"*": "tie"}).num_ties == 2


def test_games_without_moves_and_with_quotes(tmp_path):
    text = '[White "a \\"b\\""]\n[Black "c\\\\d"]\n[Result "1-0"]\n' * 3
    votes = read(tmp_path, text)
    assert votes.arms == ('a "b"', "c\\d")
    assert votes.wins.tolist() == [[0, 3], [0, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GAMES + '[White "ada"]\n[Black "bob"]\n\n1. e4\n', "line 32: the game has no Result"),
        (GAMES.replace('[Black "bob"]', '[Black "?"]', 1), "line 1: the game has no Black"),
        (game("ada", "bob", "*"), "holds no votes: all its rows, 1, are left out"),
        ("1. e4 e5\n", "holds no votes: it has no game"),
        (GAMES.replace("0-1", "2-1"), "line 25: the winner, '2-1', is neither"),
        (GAMES.replace("0-1", ""), "line 25: the game has no Result"),
    ],
)
def test_bad_games_get_a_sentence(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
