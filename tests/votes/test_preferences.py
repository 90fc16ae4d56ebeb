"""Preferences between two ends, and other fractions of votes."""

import numpy as np
import pytest
from scipy import optimize, special

import jaxduel as jd
from jaxduel.errors import InputError

HEAD = "left,right,preference\n"
SHARED = HEAD + "g,h,1.0\ng,h,1.3\nh,g,2.0\ng,h,1.5\n"


def read(folder, text, **options):
    path = folder / "votes.csv"
    path.write_text(text)
    return jd.votes.read(path, **options)


def test_shares_of_votes(tmp_path):
    votes = read(tmp_path, SHARED)
    np.testing.assert_allclose(votes.wins, [[0, 3.2], [0.8, 0]], atol=1e-12)
    assert (votes.num_votes, votes.num_ties, votes.whole) == (4, 0, False)
    assert votes.history is None
    assert votes.notes == ["of the preferences 1 is left, 2 right"]


def test_the_fit_of_shares(tmp_path):
    """Strengths d / 2 and -d / 2 at the mode, with the prior N(0, 4) of each."""
    votes = read(tmp_path, SHARED)

    def loss(d):
        return d**2 / 16 - 3.2 * special.log_expit(d) - 0.8 * special.log_expit(-d)

    d = optimize.minimize_scalar(loss, options={"xtol": 1e-10}).x
    for model in ("btl", "davidson"):
        fit = jd.votes.fit(votes, model)
        if model == "btl":
            np.testing.assert_allclose(fit.strengths, [d / 2, -d / 2], atol=1e-6)
        assert fit.table()["votes"].tolist() == [4, 4]
        assert fit.table()["wins"].tolist() == [3.2, 0.8]
        assert "not tested, as there are fractions of votes" in fit.misfit.lines()[0]
        assert np.isfinite(fit.misfit.expected_cycles)


@pytest.mark.parametrize(
    ("numbers", "outcomes", "wins"),
    [
        ("1 2 1.5 2.0", None, [[0, 1.5], [2.5, 0]]),
        ("0 1 1 1", {"0": "left", "1": "right"}, [[0, 1], [3, 0]]),
        ("0 1 .25 1", {"1": "left", "0": "right"}, [[0, 2.25], [1.75, 0]]),
        ("-3 3 0 3", {"-3": "left", "3.0": "right"}, [[0, 1.5], [2.5, 0]]),
        ("1 2 nan 2", {"unresolved": "skip"}, [[0, 1], [2, 0]]),
    ],
)
def test_ends(numbers, outcomes, wins, tmp_path):
    text = HEAD + "".join(f"g,h,{number}\n" for number in numbers.split())
    votes = read(tmp_path, text, outcomes=outcomes)
    np.testing.assert_allclose(votes.wins, wins, atol=1e-12)
    assert votes.whole == np.all(np.array(wins) % 1 == 0)
    assert (votes.history is None) != votes.whole


def test_words_in_a_column_of_preferences_are_winners(tmp_path):
    votes = read(tmp_path, "model_a,model_b,preference\ng,h,model_a\ng,h,tie\nh,g,h\n")
    assert (votes.wins.tolist(), votes.num_ties) == ([[0, 1], [1, 0]], 1)
    assert votes.read_as.columns["winner"] == "preference"


def test_counts_with_fractions(tmp_path):
    votes = read(tmp_path, "winner,loser,weight\nada,bob,1.5\nbob,ada,0.25\nada,bob,2\n")
    assert votes.wins.tolist() == [[0, 3.5], [0.25, 0]]
    assert repr(votes) == "Votes('votes.csv', K=2, 3.75 votes, 0 of them ties)"
    votes = read(tmp_path, "left,right,preference,n\nada,bob,1,3\nada,bob,1.5,3\n")
    assert votes.wins.tolist() == [[0, 4.5], [1.5, 0]]


def test_fractions_are_for_btl_and_davidson_alone(tmp_path):
    votes = read(tmp_path, SHARED)
    policy = jd.policies.make("rucb", num_arms=2)
    problem = jd.problems.from_matrix([[0.5, 0.6], [0.4, 0.5]])
    for refused in (
        lambda: jd.votes.fit(votes, "free"),
        lambda: jd.votes.fit(votes, "thurstone"),
        lambda: jd.votes.plan(votes, ["uniform"]),
        lambda: jd.votes.next_pairs(votes, policy),
        lambda: jd.votes.replay(policy, votes),
        lambda: jd.identify(policy, problem, votes=10, num_seeds=2, start=votes),
    ):
        with pytest.raises(InputError, match=r"votes\.csv has fractions of votes, and only fits"):
            refused()
    assert not jd.votes.from_counts([[0, 1.5], [0.5, 0]]).whole


@pytest.mark.parametrize(
    ("text", "outcomes", "message"),
    [
        (HEAD + "g,h,0.3\n", None, "line 2: the preference, '0.3', may be for either side, as all"),
        (HEAD + "g,h,1\n", None, "line 2: the preference, '1', may be for either side"),
        (HEAD + "g,h,1.5\ng,h,2.5\n", None, "line 3: the preference, '2.5', is not from 1 to 2: "),
        (HEAD + "g,h,1.5\ng,h,x\n", None, "line 3: the preference, 'x', is not from 1 to 2"),
        (HEAD + "g,h,1.5\ng,h,\n", None, "line 3: the preference, '', is undecided: --outcome unr"),
        (HEAD + "g,h,2\n", {"0": "left", "1": "right"}, "line 2: the preference, '2', is not from"),
        ("left,right,winner,preference\ng,h,g,1\n", None, "can be read as left, right, winner and"),
        ("winner,loser,n\nada,bob,-0.5\n", None, "line 2: '-0.5' is no count: a number from 0 to"),
    ],
)
def test_bad_preferences_get_a_sentence(text, outcomes, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, outcomes=outcomes)
