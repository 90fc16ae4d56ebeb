"""PBR: the oracle by hand, rounds, the tests at their ends, delay; oracle replay."""

import math
from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from tests.oracles.copeland.pbr import PBR, Race
from tests.policies.histories import (
    KEY,
    duel_histories,
    judged,
    padded_policy,
    played,
    random_histories,
    random_preferences,
    update,
)
from tests.policies.oracle_runs import play_out, seen

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_pbr_rounds_by_hand():
    """log(2 K^2) = 2.89 for T = 1: six comparisons make an interval [1 - .49, 1 + .49]."""
    order = {(0, 1), (0, 2), (1, 2)}
    oracle = PBR(3, 1)
    assert oracle.c(6) == pytest.approx(math.sqrt(math.log(18) / 12))
    assert oracle.c(6) < 0.5 < oracle.c(5)
    rounds = [(0, 1), (0, 2), (1, 2)] * 6
    assert play_out(oracle, order, 20) == [*rounds, (0, 0), (0, 0)]
    assert oracle.memories[0].sure == order
    # A cycle: every arm wins once, the lowest index is taken.
    assert play_out(PBR(3, 1), {(0, 1), (1, 2), (2, 0)}, 20) == [*rounds, (0, 0), (0, 0)]


def test_pbr_horizon_and_samples():
    assert PBR(4, 1000).c(8) == pytest.approx(math.sqrt(math.log(32e6) / 16))
    assert PBR(4, 1000, max_samples=50).c(8) == pytest.approx(math.sqrt(math.log(32 * 50e3) / 16))


def test_pbr_stops_as_soon_as_one_arm_is_sure():
    """Arm 2 beats both others, which are even."""
    oracle = PBR(3, 1)
    for t in range(18):
        (pair,) = oracle.allowed()
        assert pair == [(0, 1), (0, 2), (1, 2)][t % 3]
        oracle.play(*pair, pair == (0, 1) and t % 2 == 0)
    assert oracle.allowed() == {(2, 2)}


def test_pbr_drops_pairs_of_decided_arms():
    """Four arms; 0 and 1 beat 2 and 3; 2 and 3 are out, 0 against 1 is open."""
    sure = frozenset({(0, 2), (0, 3), (1, 2), (1, 3)})
    oracle = PBR(4, 1)
    assert oracle.surely_out(sure) == [2, 3]
    assert oracle.surely_first(sure) == []
    oracle.memories = [Race(((0, 1), (1, 3), (2, 3)), 2, sure - {(1, 3)}, -1)]
    seen(oracle, [[0, 2, 6, 6], [2, 0, 6, 9], [0, 0, 0, 2], [0, 0, 2, 0]], 40)
    oracle.play(2, 3, True)
    assert oracle.memories == [Race(((0, 1),), 0, sure, -1)]
    assert oracle.allowed() == {(0, 1)}


def test_pbr_keeps_pairs_of_which_one_arm_is_decided():
    """2 may still win once more than 3, which is out."""
    sure = frozenset({(0, 2), (0, 3), (1, 3)})
    oracle = PBR(4, 1)
    assert (oracle.surely_out(sure), oracle.surely_first(sure)) == ([3], [])
    active = ((0, 1), (1, 2), (2, 3))
    oracle.memories = [Race(active, 2, sure, -1)]
    seen(oracle, [[0, 3, 6, 6], [3, 0, 3, 6], [0, 3, 0, 3], [0, 0, 2, 0]], 30)
    oracle.play(2, 3, False)
    assert oracle.memories == [Race(active, 0, sure, -1)]


def test_pbr_is_sure_of_what_holds_in_all_tournaments():
    rng = np.random.default_rng(0)
    pairs, found = list(combinations(range(4), 2)), 0
    for _ in range(200):
        sure = frozenset((i, j) if rng.random() < 0.5 else (j, i) for i, j in pairs)
        sure = frozenset(p for p in sure if rng.random() < 0.7)
        left = [(i, j) for i, j in pairs if not {(i, j), (j, i)} & sure]
        oracle = PBR(4, 1)
        for answer in product([False, True], repeat=len(left)):
            beats = sure | {(j, i) if x else (i, j) for (i, j), x in zip(left, answer, strict=True)}
            wins = oracle.w(beats)
            for i in oracle.surely_first(sure):
                assert wins[i] > max(wins[j] for j in range(4) if j != i)
            assert all(wins[i] < max(wins) for i in oracle.surely_out(sure))
        found += bool(oracle.surely_first(sure))
    assert 20 < found < 180


# ---- the policy ---------------------------------------------------------------------------------


def test_the_race_ends_when_an_arm_has_surely_more_wins_than_others_can_have():
    policy = jd.policies.make("pbr", num_arms=4, horizon=10)
    # outcomes without noise are sure once n > 2 log(2 * 16 * 10^2) = 16.14, in round 17; 0 always
    # wins, everything else alternates: 0 has 3 wins, no other arm can have more than 2
    last = {}

    def outcome(i, j):
        last[i, j] = -last.get((i, j), 1)
        return 1 if i == 0 else last[i, j]

    duels, _ = played(policy, outcome, 17 * 6 + 4)
    every = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert duels[: 17 * 6] == every * 17
    assert duels[17 * 6 :] == [(0, 0)] * 4


def test_pairs_of_known_winners_or_of_known_losers_are_left_out():
    policy = jd.policies.make("pbr", num_arms=4, horizon=10)
    # a cycle of 0, 1, 2 above 3; (0, 1) alternates: after round 17, w = (1, 2, 1, 0), z = (1, 0, 2,
    # 3); 2 and 3 surely have fewer wins than 1, and 0 may have as many
    beats = {(0, 2): -1, (0, 3): 1, (1, 2): 1, (1, 3): 1, (2, 3): -1}
    turns = iter([1, -1] * 40)
    duels, _ = played(policy, lambda i, j: beats.get((i, j)) or next(turns), 17 * 6 + 10)
    assert duels[17 * 6 :] == [(0, 1)] * 10
    # (2, 3) alternates instead of being sure: as neither can be the top one, it is inactive
    beats = {(0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1}
    last = {}

    def outcome(i, j):
        last[i, j] = -last.get((i, j), 1)
        return beats.get((i, j), last[i, j])

    duels, state = played(policy, outcome, 17 * 6 + 10)
    assert duels[17 * 6 :] == [(0, 1)] * 10
    assert int(state.wins.sum()) == 17 * 6 + 10


def test_two_arms_are_raced_until_one_surely_beats_the_other():
    policy = jd.policies.make("pbr", num_arms=2, horizon=5)
    duels, _ = played(policy, lambda i, j: -1, 15)  # 2 log(2 * 4 * 5^2) = 10.6
    assert duels == [(0, 1)] * 11 + [(1, 1)] * 4
    outcomes = iter([1, -1] * 20)
    duels, _ = played(policy, lambda i, j: next(outcomes), 40)
    assert duels == [(0, 1)] * 40


def test_a_cycle_ends_in_the_lowest_of_the_equal_arms():
    policy = jd.policies.make("pbr", num_arms=3, horizon=100)
    beats = {(0, 1): 1, (0, 2): -1, (1, 2): 1}
    rounds = int(2 * np.log(2 * 9 * 100**2)) + 1
    duels, _ = played(policy, lambda i, j: beats.get((i, j), 1), 3 * rounds + 2)
    assert duels == [(0, 1), (0, 2), (1, 2)] * rounds + [(0, 0)] * 2


def _end_of_round(pairs, wins, horizon):
    """The pairs that stay active and the arm to exploit, or None, as printed, in float64."""
    num = len(wins)
    n = wins + wins.T
    mean = np.where(n > 0, wins / np.maximum(n, 1), 0.5)
    radius = np.sqrt(np.log(2 * num**2 * float(horizon) ** 2) / (2 * np.maximum(n, 1)))
    radius = np.where(n > 0, radius, np.inf)
    w, z = (mean - radius > 0.5).sum(axis=1), (mean + radius < 0.5).sum(axis=1)

    def others(i):
        return [j for j in range(num) if j != i]

    top = [i for i in range(num) if sum(num - 1 - z[j] < w[i] for j in others(i)) >= num - 1]
    out = [i for i in range(num) if any(w[j] > num - 1 - z[i] for j in others(i))]
    known = {*top, *out}
    stay = [
        (i, j) for i, j in pairs if not {i, j} <= known and not abs(mean[i, j] - 0.5) > radius[i, j]
    ]
    if top or not stay:
        return stay, (top or [int(np.argmax(w))])[0]
    return stay, None


@pytest.mark.parametrize("num", [2, 5])
def test_every_duel_of_random_histories_follows_the_text(num):
    policy = jd.policies.make("pbr", num_arms=5, horizon=8, active_arms=np.arange(5) < num)
    keys = jax.random.split(jax.random.key(1), 20)
    preferences = random_preferences(5, 20, seed=1)
    left, right, won = (np.asarray(x) for x in duel_histories(policy, preferences, keys, 900))
    exploited = partly = 0
    for run in range(20):
        wins = np.zeros((num, num), int)
        pairs = [(i, j) for i in range(num) for j in range(i + 1, num)]
        turn, winner = 0, None
        for i, j, first_won in zip(left[run], right[run], won[run], strict=True):
            assert (i, j) == ((winner, winner) if winner is not None else pairs[turn])
            if winner is None:
                wins[(i, j) if first_won else (j, i)] += 1
                turn += 1
                if turn == len(pairs):
                    pairs, winner = _end_of_round(pairs, wins, 8)
                    partly += 0 < len(pairs) < num * (num - 1) // 2
                    turn = 0
        exploited += winner is not None
    assert exploited >= 3  # the others have tied pairs
    assert partly > 0 or num == 2


def test_more_arms_than_a_word_has_bits():
    policy = jd.policies.make("pbr", num_arms=34, horizon=10)
    rounds = int(2 * np.log(2 * 34**2 * 10**2)) + 1
    every = 34 * 33 // 2
    preferences = np.triu(np.ones((34, 34), np.float32), 1)[None]
    keys = jax.random.split(KEY, 1)
    left, right, _ = duel_histories(policy, preferences, keys, rounds * every + 3)
    pairs = list(zip(np.asarray(left[0]).tolist(), np.asarray(right[0]).tolist(), strict=True))
    assert pairs[: 2 * every] == [(i, j) for i in range(34) for j in range(i + 1, 34)] * 2
    assert pairs[-4:] == [(32, 33), (0, 0), (0, 0), (0, 0)]


def test_learning_late_is_tested_at_the_end_of_the_round():
    policy = jd.policies.make("pbr", num_arms=3, horizon=10)
    state = policy.init(KEY)
    for _ in range(4):
        state = update(policy, state, jnp.int32(0))
    assert int(state.wins.sum()) == 0
    feedback = Feedback(
        jnp.zeros((3, 3), jnp.int32).at[0, 1].set(30).at[0, 0].set(7),
        jnp.zeros((3, 3), jnp.int32).at[0, 2].set(3).at[1, 2].set(2),
    )
    state = policy.learn(state, feedback)
    assert np.array_equal(state.wins, [[0, 30, 0], [0, 0, 0], [3, 2, 0]])
    rest = []
    for _ in range(4):
        rest.append(tuple(int(arm) for arm in state.race.duel))
        state = update(policy, state, jnp.int32(0))
    assert rest == [(0, 2), (1, 2), (0, 2), (1, 2)]  # (0, 1) is sure after the second round


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("num_arms", "horizon"), [pytest.param(2, 4, id="pbr-2"), pytest.param(5, 2, id="pbr-5")]
)
def test_duels_follow_the_paper(num_arms, horizon):
    histories, _ = random_histories(padded_policy("pbr", num_arms, horizon=horizon), 200, 200)
    judged(lambda run: PBR(num_arms, horizon), histories)
