"""Policies that stop: their answers are the oracles', at the same comparison; none comes late."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import NO_WINNER, TIED, UNDECIDED, Feedback
from tests.choice import some
from tests.oracles.identification import dkwt, nts, pocowista, select_then_verify
from tests.policies.histories import KEY, played, update
from tests.policies.identification.histories import answers

pytestmark = pytest.mark.usefixtures("quick_compilation")

CASES = {
    "nts": (nts.NTS, nts.FAST, 100, 80),
    "select-then-verify": (select_then_verify.SelectThenVerify, select_then_verify.FAST, 100, 80),
    "pocowista": (pocowista.Pocowista, pocowista.FAST, 40, 800),
    "dkwt": (dkwt.DKWT, {"gamma": 0.99}, 20, 2_500),
}
"""Oracle, parameters, runs and steps with which some end."""
OUTCOMES = {1: True, -1: False, TIED: None}


def _said(oracle):
    """The answer of an oracle: by name, or as the arm that meets itself."""
    answer = getattr(oracle, "answer", None)
    answer = answer() if callable(answer) else answer
    if answer is None and not isinstance(oracle, nts.NTS | select_then_verify.SelectThenVerify):
        pairs = oracle.allowed()
        alone = len(pairs) == 1 and len(set(*pairs)) == 1
        answer = min(*pairs) if alone else None
    return {None: UNDECIDED, nts.NONE: NO_WINNER}.get(answer, answer)


def _check(name, num_arms, tied=0.0):
    oracle_class, fields, num, steps = CASES[name]
    runs = answers(name, num_arms, num, steps, tied, **fields)
    for run in zip(*runs, strict=True):
        oracle = oracle_class(num_arms, **fields)
        for left, right, outcome, answer in zip(*(x.tolist() for x in run), strict=True):
            assert (left, right) in oracle.allowed()
            oracle.play(left, right, OUTCOMES[outcome])
            doubtful = len(oracle.allowed()) > 1 and len(oracle.memories) > 1
            assert doubtful or answer == _said(oracle)
    return runs


@pytest.mark.parametrize(
    ("name", "num_arms"),
    some([(name, size) for name in CASES for size in (2, 3, 5)], [("nts", 3)], [("pocowista", 5)]),
)
def test_answers_are_those_of_the_paper(name, num_arms):
    left, right, _, answer = _check(name, num_arms)
    last = answer[:, -1]
    assert (last != UNDECIDED).mean() >= 0.1
    if name in ("nts", "select-then-verify") and num_arms > 2:
        assert (last == NO_WINNER).any()
        assert (last >= 0).any()
    over = answer[:, :-1] != UNDECIDED
    assert (left[:, 1:] == right[:, 1:])[over].all()
    assert ((answer[:, :-1] == left[:, 1:]) | (answer[:, :-1] == NO_WINNER))[over].all()


@pytest.mark.parametrize("num_arms", some([2, 3, 5], [3]))
def test_pocowista_is_told_of_ties(num_arms):
    _, _, outcome, answer = _check("pocowista", num_arms, tied=0.4)
    assert (outcome == TIED).any(axis=1).mean() > 0.9
    assert num_arms > 3 or (answer[:, -1] != UNDECIDED).any()


@pytest.mark.parametrize("name", some(CASES, ("nts", "dkwt")))
def test_outcomes_that_are_withheld_change_nothing_until_they_are_told(name):
    policy = jd.policies.make(name, num_arms=4, **CASES[name][1])
    state = policy.init(KEY)
    duel = policy.act(state, KEY)
    waiting = update(policy, state, jnp.int32(0))
    jax.tree.map(np.testing.assert_array_equal, waiting, state)
    wins = np.zeros((2, 4, 4), np.int32)
    wins[0, duel.left, duel.right], wins[1, duel.left, duel.right] = 2, 1
    told = policy.learn(state, Feedback(*map(jnp.asarray, wins)))
    once = state
    for outcome in (1, -1, 1):
        once = update(policy, once, jnp.int32(outcome))
    jax.tree.map(np.testing.assert_array_equal, told, once)


@pytest.mark.parametrize("name", some(CASES, ("nts",)))
def test_late_outcomes_of_the_answer_against_itself_tell_nothing(name):
    policy = jd.policies.make(name, num_arms=2, **CASES[name][1])
    state = policy.init(KEY)
    for _ in range(3_000):
        state = update(policy, state, jnp.int32(1))
        if int(policy.answer(state)) != UNDECIDED:
            break
    arm = int(policy.answer(state))
    assert arm == int(policy.act(state, KEY).left)
    wins = np.zeros((2, 2, 2), np.int32)
    wins[:, arm, arm] = 50, 9_000
    after = policy.learn(state, Feedback(*map(jnp.asarray, wins)))
    jax.tree.map(np.testing.assert_array_equal, after, state)


@pytest.mark.parametrize("name", some(("nts", "select-then-verify"), ("nts",)))
def test_without_a_winner_the_arm_of_most_verdicts_is_played(name):
    """Arm 4 of five reaches the final unmet, beats arm 0, the winner of two matches, and loses."""
    policy = jd.policies.make(name, num_arms=5, **CASES[name][1])
    duels, state = played(policy, lambda i, j: 1 if (i < j) != ({i, j} == {0, 4}) else -1, 60)
    met = list(dict.fromkeys(duels))
    assert met[:3] == [(0, 1), (2, 3), (0, 2)]
    assert met[-1] == (0, 0)
    assert int(policy.answer(state)) == NO_WINNER
