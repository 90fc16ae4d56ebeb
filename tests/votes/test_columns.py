"""Columns of logs: roles by name, columns that say what a row means, and those that do not."""

import numpy as np
import pytest
from scipy import optimize, special

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.votes.columns import ROLES
from tests.votes.cases import btl_on_a_grid, log_posterior

GAMES = "winner,loser,games\nada,bob,7\nbob,ada,4\nbob,cyd,6\ncyd,bob,3\nada,cyd,0\ncyd,ada,2\n"
WINS = [[0, 7, 0], [4, 0, 6], [2, 3, 0]]
FLAGS = "winner,loser,draw\nada,bob,false\nbob,ada,true\nada,bob,true\nbob,cyd,false\n"


def read(folder, text, **columns):
    path = folder / "votes.csv"
    path.write_text(text, encoding="utf-8")
    return jd.votes.read(path, **columns)


def test_counts_beside_winner_and_loser(tmp_path):
    votes = read(tmp_path, GAMES)
    assert votes.arms == ("ada", "bob", "cyd")
    assert (votes.wins.tolist(), votes.num_votes, votes.num_ties) == (WINS, 22, 0)
    assert votes.history is None

    def loss(d):
        strengths = np.append(0, d)
        return -log_posterior("btl", votes, strengths, 0.0, prior_std=1e9)

    expected = optimize.minimize(loss, np.zeros(2), options={"gtol": 1e-8}).x
    fitted = jd.votes.fit(votes, prior_std=1e4).strengths
    np.testing.assert_allclose(fitted[1:] - fitted[0], expected, atol=1e-5)
    strengths, mass = btl_on_a_grid(votes)
    strongest = strengths == strengths.max(axis=0)
    best = (strongest / strongest.sum(axis=0) * mass).sum(axis=(1, 2))
    fit = jd.votes.fit(votes)
    assert (np.abs(fit.best - best) < 4 * np.sqrt(0.25 / fit.effective_draws)).all()
    assert abs(fit.best[0] - jd.votes.fit(read(tmp_path, GAMES, ignore="games")).best[0]) > 0.1


@pytest.mark.parametrize("layout", ["winner,loser", "left,right,winner"])
@pytest.mark.parametrize("name", [*ROLES["count"], "COUNT", "Freq", "N"])
def test_names_of_counts(layout, name, tmp_path):
    rows = {"winner,loser": ("ada,bob", "bob,ada"), "left,right,winner": ("ada,bob,a", "bob,ada,b")}
    first, second = rows[layout]
    votes = read(tmp_path, f"{name},{layout}\n3,{first}\n4.0,{second}\n")
    assert votes.num_votes == 7
    assert votes.wins[0, 1] == (7 if "left" in layout else 3)
    assert votes.read_as.columns["count"] == name


@pytest.mark.parametrize("name", [*ROLES["draw"], "Draw", "IS_TIE"])
@pytest.mark.parametrize(("yes", "no"), [("true", "FALSE"), ("Yes", "no"), ("1", "0")])
def test_names_and_words_of_draws(name, yes, no, tmp_path):
    text = FLAGS.replace("draw", name).replace("true", yes).replace("false", no)
    votes = read(tmp_path, text)
    assert votes.wins.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert votes.ties.tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert votes.history.tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 2, 1]]


def test_draws_beside_left_right_and_winner_with_counts(tmp_path):
    head = "left,right,winner,drawn,n\n"
    votes = read(tmp_path, f"{head}ada,bob,ada,no,3\nada,bob,,yes,2\nbob,ada,bob,yes,4\n")
    assert votes.wins.tolist() == [[0, 3], [0, 0]]
    assert votes.ties.tolist() == [[0, 6], [6, 0]]
    assert read(tmp_path, f"{head}ada,bob,tie,yes,3\n").num_ties == 3
    with pytest.raises(
        InputError, match="line 2: the winner, 'tie', is a tie, and the draw, 'no', is"
    ):
        read(tmp_path, f"{head}ada,bob,tie,no,3\n")


def test_one_win_and_three_draws(tmp_path):
    """P(ada best) is that the difference of two strengths N(0, 4), given one win, is above 0."""
    rows = "ada,bob,0\n" + 3 * "bob,ada,1\n"
    votes = read(tmp_path, f"winner,loser,draw\n{rows}")
    fit = jd.votes.fit(votes, "btl")
    d = np.linspace(-30, 30, 200_001)
    mass = np.exp(-(d**2) / 16 + special.log_expit(d))
    assert abs(fit.best[0] - mass[d > 0].sum() / mass.sum()) < 4 * np.sqrt(
        0.25 / fit.effective_draws
    )
    nu = np.linspace(-12, 12, 601)[:, None]
    d = np.linspace(-16, 16, 801)
    win, tie = d / 2, nu + 0 * d
    log = win + 3 * tie - 4 * np.logaddexp(np.logaddexp(win, -win), tie)
    mass = np.exp(log - d**2 / 16 - nu**2 / 8).sum(axis=0)
    fit = jd.votes.fit(votes, "davidson")
    assert abs(fit.best[0] - mass[d > 0].sum() / (mass.sum() - mass[d == 0].sum())) < 4 * np.sqrt(
        0.25 / fit.effective_draws
    )


def test_an_arm_whose_only_rows_count_no_vote_is_an_arm(tmp_path):
    with pytest.warns(UserWarning, match="2 groups that never met"):
        votes = jd.votes.fit(read(tmp_path, "winner,loser,n\nada,bob,2\nada,cyd,0\n")).votes
    assert (votes.arms, votes.num_votes) == (("ada", "bob", "cyd"), 2)


@pytest.mark.parametrize(
    ("head", "row", "wins"),
    [
        ("White,BLACK,Result", "ada,bob,1-0", [[0, 1], [0, 0]]),
        ("Player 1,player-2,Outcome", "ada,bob,0–1", [[0, 0], [1, 0]]),
        ("generator_1,generator_2,winner", "ada,bob,ada", [[0, 1], [0, 0]]),
        ("Chosen,Rejected", "ada,bob", [[0, 1], [0, 0]]),
        ("chosen,chosen_model,rejected,rejected-model", "x,ada,y,bob", [[0, 1], [0, 0]]),
        ("chosen,chosen_model,rejected", "ada,x,bob", [[0, 1], [0, 0]]),
        ("player1,player2,win1,win2", "ada,bob,3,2", [[0, 3], [2, 0]]),
    ],
)
def test_names_that_people_use(head, row, wins, tmp_path):
    votes = read(tmp_path, f"{head}\n{row}\n")
    assert votes.arms == ("ada", "bob")
    assert votes.wins.tolist() == wins


def test_chosen_and_rejected_are_found_together(tmp_path):
    text = "left,right,vote,rejected\nada,bob,ada,x\n"
    assert read(tmp_path, text, winner="vote").read_as.ignored == ("rejected",)
    with pytest.raises(InputError, match="needs columns left, right and winner, or winner and los"):
        read(tmp_path, "chosen_model,rejected\nada,x\n")


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("True", "False"), ("1.0", "0.0")])
def test_one_column_for_each_outcome(yes, no, tmp_path):
    head = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    rows = f"1,x,y,{yes},{no},{no}\n2,y,z,{no},{no},{yes}\n3,z,x,{no},{yes},{no}\n"
    votes = read(tmp_path, head + rows)
    assert votes.wins.tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert votes.num_ties == 1
    assert votes.history.tolist() == [[0, 1, 1], [1, 2, 0], [2, 0, -1]]
    with pytest.raises(InputError, match="line 2: 2 outcomes are marked, and a vote has one"):
        read(tmp_path, f"{head}1,x,y,{yes},{yes},{no}\n")
    with pytest.raises(InputError, match="line 3: 0 outcomes are marked"):
        read(tmp_path, f"{head}1,x,y,{yes},{no},{no}\n2,x,y,{no},{no},{no}\n")


def test_draws_of_counts_are_ties(tmp_path):
    votes = read(tmp_path, "left,right,left_wins,right_wins,Draws\nada,bob,3,2,4\n")
    assert votes.num_ties == 4


MEANT = (
    *("valid", "Valid", "IS_VALID", "isValid", "anony", "Excluded", "duplicate", "is_duplicate"),
    *("flipped", "Swapped", "position_swapped", "votes", "Total", "tied", "is_draw", "Result"),
    *("wt", "reps", "Quantity", "no_preference", "bothBad", "unclear", "isEqual"),
)


@pytest.mark.parametrize("name", MEANT)
def test_an_unused_column_that_changes_what_a_row_means_is_refused(name, tmp_path):
    text = f"winner,loser,judge,{name}\nada,bob,x,1\nada,bob,x,0\n"
    with pytest.raises(InputError, match=f"has the column '{name}', which may .* --ignore {name} "):
        read(tmp_path, text)
    votes = read(tmp_path, text, ignore=[name.upper()])
    assert votes.num_votes == 2
    assert votes.read_as.ignored == ("judge", name)


def test_the_sentence_says_how_a_column_is_used(tmp_path):
    text = "winner,loser,valid,vote_count,is draw\nada,bob,1,5,no\nbob,ada,1,1,yes\n"
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).endswith(
        "has the columns 'valid', 'vote_count', 'is draw', which may change what a row means: use "
        "them by --column count=vote_count --column 'draw=is draw' (in Python count='vote_count', "
        "draw='is draw'), or, if all rows are votes as they stand, drop them by --ignore valid "
        "--ignore vote_count --ignore 'is draw' (in Python ignore=['valid', 'vote_count', "
        "'is draw'])."
    )
    votes = read(tmp_path, text, count="vote_count", draw="is draw", ignore="valid")
    assert (votes.wins[0, 1], votes.num_ties, votes.read_as.ignored) == (5, 1, ("valid",))
    with pytest.raises(InputError, match=r"'tie', which .* by --column ties=tie \(in Python ties="):
        read(tmp_path, "left,right,left_wins,right_wins,tie\nada,bob,3,2,4\n")


def test_several_columns_for_a_role(tmp_path):
    text = "winner,loser,count,weight\nada,bob,2,0.5\n"
    with pytest.raises(InputError, match="several columns for count, 'count' and 'weight': drop"):
        read(tmp_path, text)
    assert read(tmp_path, text, ignore=["weight"]).num_votes == 2
    assert read(tmp_path, text, ignore=["count"]).num_votes == 0.5
    with pytest.raises(InputError, match="has the column 'weight', which may change what a row"):
        read(tmp_path, text, count="count")


def test_harmless_columns_are_named_and_many_shortened(tmp_path):
    names = (
        *("question_id", "judge", "conversation_a", "conversation_b", "turn", "language"),
        *("tstamp", "openai_moderation", "toxic_chat_tag", "is_code", "token_count", "result_a"),
    )
    text = f"model_a,model_b,winner,{','.join(names)}\nx,y,model_a{',z' * len(names)}\n"
    votes = read(tmp_path, text)
    assert votes.read_as.ignored == names
    assert votes.notes == [
        "columns read: 'model_a' as left, 'model_b' as right",
        "columns not used: 'question_id', 'judge', 'conversation_a', 'conversation_b', 'turn', "
        "'language', 'tstamp', 'openai_moderation' and 4 more",
    ]
    assert read(tmp_path, "winner,loser\nada,bob\n").notes == []
    assert jd.votes.from_counts([[0, 1], [0, 0]]).notes == []
    assert votes.core(at_least=1).read_as is votes.read_as


def test_names_in_notes_are_on_one_line(tmp_path):
    votes = read(tmp_path, f'winner,loser,"a\x1b[2Jb",{"x" * 100}\nada,bob,1,2\n')
    assert votes.notes == [rf"columns not used: 'a\x1b[2Jb', '{'x' * 40}... (100 characters)'"]
    with pytest.raises(InputError, match=r"--ignore 'valid\\x1b\[2J' ") as caught:
        read(tmp_path, 'winner,loser,"valid\x1b[2J"\nada,bob,1\n')
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (GAMES, {"ignore": "round"}, "has no column 'round'; it has 'winner', 'loser', 'games'"),
        (GAMES, {"ignore": [3]}, "a column is given by its name, not 3"),
        (GAMES, {"ignore": 3}, "columns to ignore"),
        (GAMES, {"count": "round"}, "has no column 'round'"),
        (GAMES, {"count": "games", "ignore": "Games"}, "'games' is given for count and to be ign"),
        (GAMES, {"count": "winner"}, "needs column 'winner' for winner, and it is given"),
        (GAMES, {"winner": "loser", "loser": "loser"}, "column 'loser' is given for several roles"),
        (GAMES, {"ignore": "winner"}, "needs column 'winner' for winner, and it is given"),
        (GAMES.replace("7", "-1"), {}, "line 2: '-1' is no count"),
        (GAMES.replace("7", ""), {}, "line 2: '' is no count"),
        (GAMES.replace("7", "1_0"), {}, "line 2: '1_0' is no count"),
        (GAMES.replace("7", "2147483648"), {}, "line 2: '2147483648' is no count"),
        (GAMES.replace("7", "2e9").replace("ada,bob", "ada,bob,2e9\nada,bob"), {}, "4,000,000,000"),
        ("winner,loser,n\nada,bob,0\n", {}, "holds no votes"),
        (FLAGS.replace("true", "maybe"), {}, "line 3: 'maybe' is neither true nor false"),
        (FLAGS.replace("true", ""), {}, "line 3: '' is neither true nor false"),
        (
            "left,right,left_wins,right_wins,n\nada,bob,3,2,5\n",
            {},
            "has the column 'n', which may change what a row means: if all rows",
        ),
        (
            "left,right,left_wins,right_wins,n\nada,bob,3,2,5\n",
            {"count": "n"},
            "can be read as left, right, left_wins, right_wins: not with columns named for count",
        ),
    ],
)
def test_bad_columns_get_a_sentence(text, columns, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, **columns)
