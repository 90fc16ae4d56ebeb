"""Open choices: the sentence on where a claim holds, and the runs wanted at a value."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.studies.choices import Choice, horizons, on_instance, parameter, rivals
from jaxduel.studies.wanted import Competitor, Draw, Wanted

Y, N, U = "confirmed", "not confirmed", "undecided"
CCB = Competitor("ccb", "CCB", "ccb", {"alpha": 0.51})
ALPHA = parameter("alpha of CCB", "alpha", (0.2, 0.51, 1.0, 2.0), 0.51, "ccb", symbol="alpha")


def wanted(competitor=CCB):
    draw = Draw(jd.problems.load("cyclic"), jax.random.key(0), 4)
    return Wanted("cyclic", "", (draw,), competitor, 100, np.array([10, 100]), "copeland")


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ((Y, Y, Y, Y), "the open choice does not matter: holds for 0.2 <= alpha <= 2"),
        ((N, N, N, N), "holds nowhere in 0.2 <= alpha <= 2"),
        ((U, U, U, U), "undecided for 0.2 <= alpha <= 2"),
        ((N, N, Y, Y), "holds for alpha >= 1, not for alpha <= 0.51"),
        ((N, Y, Y, N), "holds for 0.51 <= alpha <= 1, not for alpha <= 0.2 and alpha >= 2"),
        ((U, N, Y, U), "holds for alpha = 1, undecided for alpha <= 0.2 and alpha >= 2, "
                       "not for alpha = 0.51"),
        ((U, N, N, N), "undecided for alpha <= 0.2, not for alpha >= 0.51"),
        ((N, N, N, "not measured"), "does not hold for alpha <= 1, not measured for alpha >= 2"),
    ],
)  # fmt: skip
def test_the_sentence_says_where_a_claim_holds(verdicts, sentence):
    assert ALPHA.sentence(verdicts) == sentence


def test_a_choice_of_names_lists_them():
    choice = Choice("rivals", ("all", "RUCB", "D-TS"), "all", lambda one, value: one)
    assert choice.categorical
    assert choice.sentence((N, N, N)) == "holds for none of all, RUCB and D-TS"
    assert choice.sentence((N, Y, Y)) == "holds for RUCB and D-TS, not for all"


def test_another_value_has_another_key_and_the_stated_one_the_same_runs():
    one = wanted()
    assert ALPHA.wanted(one, 0.51) is one
    other = ALPHA.wanted(one, 1.0)
    assert other.competitor.parameters == {"alpha": 1.0}
    assert other.key == ("cyclic", "ccb[alpha of CCB=1.0]")
    rucb = wanted(Competitor("rucb", "RUCB", "rucb", {}))
    assert ALPHA.wanted(rucb, 1.0) is rucb


def test_another_instance_has_another_name():
    def change(one, value):
        return on_instance(one, jd.problems.load("gap"))

    other = Choice("set", ("cyclic", "gap"), "cyclic", change).wanted(wanted(), "gap")
    assert other.key == ("cyclic[set=gap]", "ccb[set=gap]")
    assert other.problem == jd.problems.load("gap")


def test_a_rival_takes_the_place_of_all_others():
    choice = rivals("best of two", ("ccb", "scb"), (Competitor("rucb", "RUCB", "rucb", {}),))
    assert choice.values == ("best of two", "RUCB")
    assert choice.wanted(wanted(), "RUCB").competitor.policy == "rucb"


def test_horizons_are_read_from_one_run_to_the_longest():
    choice = horizons((50, 200), 100).settled([wanted()])
    assert (choice.stated, choice.values) == (100, (50, 100, 200))
    early, late = (choice.wanted(wanted(), value) for value in (50, 200))
    assert early.horizon == late.horizon == 200
    assert {50, 200} <= set(early.checkpoints.tolist())
    assert early.cells.keys() == late.cells.keys()
    assert choice.settled([replace(wanted(), horizon=300)]).values == (50, 100, 200, 300)
