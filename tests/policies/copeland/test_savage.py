"""SAVAGE: the oracle by hand, the round over the pairs, its two tests, delay."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from tests.choice import some
from tests.oracles.choices import Choices
from tests.oracles.copeland.savage import SAVAGE
from tests.policies.histories import KEY, duel_histories, played, random_preferences, update
from tests.policies.oracle_runs import play_out

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_savage_two_arms_by_hand():
    oracle = SAVAGE(2, 2)
    assert oracle.c(1) == pytest.approx(math.sqrt(math.log(8) / 2))
    # c(4) = .510, c(5) = .456
    assert play_out(oracle, {(1, 0)}, 8) == [(0, 1)] * 5 + [(1, 1)] * 3


@pytest.mark.parametrize(
    ("test", "top", "last"),
    [
        # c(6) = .515, c(7) = .476. Condorcet: 1 is beaten at t = 19, 2 at t = 20
        ("condorcet", 0, [(0, 1), (0, 2), (0, 0), (0, 0)]),
        # Copeland: at t = 20, lo_0 = 2 and hi_1, hi_2 < 2
        ("copeland", 0, [(0, 1), (0, 2), (0, 0), (0, 0)]),
        # a cycle. Condorcet: 1 is beaten, then 0: nothing is left, hi = (1, 1, 2)
        ("condorcet", 2, [(0, 1), (0, 2), (2, 2), (2, 2)]),
        # Copeland: max lo = 1 removes nobody; in the end hi = (1, 1, 1)
        ("copeland", 2, [(0, 1), (0, 2), (1, 2), (0, 0)]),
    ],
)
def test_savage_three_arms_by_hand(test, top, last):
    pairs = play_out(SAVAGE(3, 2, test=test), {(0, 1), (top, 2 - top), (1, 2)}, 22)
    assert pairs == [(0, 1), (0, 2), (1, 2)] * 6 + last


@pytest.mark.parametrize(
    ("beats_1", "beats_2", "left_out"),
    [
        ([0], [0], set()),  # max lo = lo_0 = 2, hi_1 = hi_2 = 2: the pair of both may matter
        ([0, 3], [0], {(1, 3)}),  # hi_1 = 1, hi_2 = 2
        ([0, 3], [0, 3], {(1, 3), (2, 3), (1, 2)}),  # hi_1 = hi_2 = 1 < max lo
    ],
)
def test_savage_drops_pairs_of_arms_that_cannot_win(beats_1, beats_2, left_out):
    oracle = SAVAGE(4, 2, test="copeland")
    (pairs,) = oracle.memories
    for i in beats_1:
        oracle.W[i, 1] = oracle.N[i, 1] = oracle.N[1, i] = 20
    for i in beats_2:
        oracle.W[i, 2] = oracle.N[i, 2] = oracle.N[2, i] = 20
    assert oracle.after(pairs, 0, 2, Choices()) == pairs - {(0, 1), (0, 2)} - left_out


# ---- the policy ---------------------------------------------------------------------------------


def test_pairs_take_turns_and_those_of_a_beaten_arm_go():
    policy = jd.policies.make("savage", num_arms=4, horizon=10)
    # 0 always wins: sure once n > 2 log(4 * 3 * 10^2) = 14.18, at its 15th comparison with each;
    # everything else alternates and stays open, but goes with its arms
    last = {}

    def outcome(i, j):
        last[i, j] = -last.get((i, j), 1)
        return 1 if i == 0 else last[i, j]

    duels, _ = played(policy, outcome, 14 * 6 + 6)
    every = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert duels[: 14 * 6] == every * 14
    assert duels[14 * 6 :] == [(0, 1), (0, 2), (0, 3), (0, 0), (0, 0), (0, 0)]


def test_two_arms_that_tie_are_compared_for_ever():
    for test in ("condorcet", "copeland"):
        policy = jd.policies.make("savage", num_arms=2, horizon=5, test=test)
        outcomes = iter([1, -1] * 20)
        duels, _ = played(policy, lambda i, j, o=outcomes: next(o), 40)
        assert duels == [(0, 1)] * 40


def test_a_cycle_ends_in_the_lowest_of_the_equal_arms():
    beats = {(0, 1): 1, (0, 2): -1, (1, 2): 1}
    threshold = int(2 * np.log(3 * 2 * 100**2))  # 22: sure at comparison 23
    policy = jd.policies.make("savage", num_arms=3, horizon=100, test="copeland")
    duels, state = played(policy, lambda i, j: beats[i, j] if i != j else 1, 72)
    assert duels[: 3 * (threshold + 1)] == [(0, 1), (0, 2), (1, 2)] * (threshold + 1)
    assert duels[69:] == [(0, 0)] * 3
    assert state.beats.tolist() == [1, 1, 1]
    # the Condorcet test drops arm 1 with (0, 1), then arm 0 with (0, 2): (1, 2) is never settled
    policy = jd.policies.make("savage", num_arms=3, horizon=100)
    duels, state = played(policy, lambda i, j: beats[i, j] if i != j else 1, 72)
    assert duels[66:] == [(0, 1), (0, 2), (2, 2), (2, 2), (2, 2), (2, 2)]
    assert state.beaten.tolist() == [1, 1, 0]


def _rule(policy, wins):
    """The pairs that remain and the winner, from the counts alone, in float64."""
    num = policy.num_arms
    n = wins + wins.T
    mean = np.where(n > 0, wins / np.maximum(n, 1), 0.5)
    log_term = np.log(num * (num - 1) * float(policy.horizon) ** 2)
    radius = np.sqrt(log_term / (2 * np.maximum(n, 1)))
    upper = np.where(n > 0, mean + radius, np.inf)
    lower = np.where(n > 0, mean - radius, -np.inf)
    off = ~np.eye(num, dtype=bool)
    hi, lo = (off & (upper > 0.5)).sum(axis=1), (off & (lower > 0.5)).sum(axis=1)
    if policy.test == "condorcet":
        left = ~(off & (upper < 0.5)).any(axis=1)
        remain = left[:, None] & left
    else:
        possible = hi >= lo.max()
        settled = (lower > 0.5) | (upper < 0.5)
        remain = ~settled & (possible[:, None] | possible)
    return np.triu(remain, 1), int(np.argmax(hi))


@pytest.mark.parametrize("test", ["condorcet", "copeland"])
def test_every_duel_is_the_least_compared_remaining_pair_or_the_winner(test):
    policy = jd.policies.make("savage", num_arms=5, horizon=40, test=test)
    preferences = random_preferences(5, 20, seed=1)
    keys = jax.random.split(jax.random.key(1), 20)
    left, right, won = (np.asarray(x) for x in duel_histories(policy, preferences, keys, 800))
    over = 0
    for run in range(20):
        wins = np.zeros((5, 5), int)
        for i, j, w in zip(left[run], right[run], won[run], strict=True):
            remain, winner = _rule(policy, wins)
            expected = (winner, winner)
            if remain.any():
                count = np.where(remain, wins + wins.T, 10**9)
                expected = divmod(int(np.argmin(count)), 5)
            assert (i, j) == expected
            over += i == j
            wins[(i, j) if w else (j, i)] += i != j
    assert over > 100


@pytest.mark.parametrize("test", some(["condorcet", "copeland"], ["copeland"]))
def test_learning_late_agrees_with_the_counts(test):
    policy = jd.policies.make("savage", num_arms=4, horizon=20, test=test)
    rng = np.random.default_rng(0)
    state, prompt = policy.init(KEY), policy.init(KEY)
    left_wins = np.zeros((4, 4), np.int32)
    right_wins = np.zeros((4, 4), np.int32)
    for _ in range(63):
        i, j = (int(arm) for arm in state.duel)
        won = rng.random() < (0.97 if (i, j) == (0, 1) else 0.5)
        left_wins[i, j] += won
        right_wins[i, j] += 1 - won
        state = update(policy, state, jnp.int32(0))
        prompt = update(policy, prompt, jnp.int32(1 if won else -1))
    assert left_wins.sum() + right_wins.sum() == 63
    assert int(state.wins.sum()) == 0
    assert np.triu(left_wins + right_wins, 1).max() == 11
    many = 4  # as if every duel had been played as often, to be beyond the threshold
    feedback = Feedback(jnp.asarray(many * left_wins), jnp.asarray(many * right_wins))
    late = policy.learn(state, feedback)
    assert np.array_equal(late.wins, many * prompt.wins)
    remain, _ = _rule(policy, np.asarray(late.wins))
    assert 0 < remain.sum() < 6
    assert int(late.beats.sum()) > 0
    pair = tuple(int(arm) for arm in late.duel)
    before = tuple(int(arm) for arm in state.duel)
    order = [divmod(int(k), 4) for k in np.flatnonzero(remain)]
    later = [p for p in order if p >= before] + order
    assert pair == later[0]


def test_the_test_decides_what_is_assumed():
    make = {"num_arms": 3, "horizon": 10}
    assert jd.policies.make("savage", **make).assumes == ("condorcet",)
    assert jd.policies.make("savage", test="copeland", **make).assumes == ("no ties",)
