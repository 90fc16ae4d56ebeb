"""The oracles of ten more sequential policies: tiny cases by hand, and what holds in every run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.oracles.batched import kl_half
from tests.oracles.choices import Choices, every_outcome
from tests.oracles.dts import DTS, DTSPlus, PureDTS, divergence_from_half, posterior_sample
from tests.oracles.interleaved_filter import Filter, InterleavedFilter
from tests.oracles.multisbm import MultiSBM
from tests.oracles.rcs import RCS
from tests.oracles.rmed1 import Loop
from tests.oracles.rmed2 import RMED2, RMED2FH, Progress
from tests.oracles.savage import SAVAGE
from tests.oracles.sequential import SequentialOracle
from tests.oracles.sparring import Sparring, select


def seen(oracle: SequentialOracle, wins: list[list[int]], t: int) -> None:
    """The oracle at time t, after comparisons with these wins."""
    oracle.W[:] = wins
    oracle.N[:] = oracle.W + oracle.W.T
    oracle.t = t


def samples(upper: dict[tuple[int, int], float], num_arms: int) -> np.ndarray:
    """theta with these values for i < j, 1 - theta for j > i."""
    theta = np.full((num_arms, num_arms), 0.5)
    for (i, j), value in upper.items():
        theta[i, j], theta[j, i] = value, 1 - value
    return theta


CYCLE = samples({(0, 1): 0.9, (1, 2): 0.7, (0, 2): 0.4}, 3)
"""0 beats 1, 1 beats 2, 2 beats 0."""


# ---- D-TS ------------------------------------------------------------------------------------


def test_posterior_samples():
    rng = np.random.default_rng(0)
    theta = np.array([posterior_sample(np.array([[0, 8], [1, 0]]), rng) for _ in range(2000)])
    np.testing.assert_allclose(theta + theta.swapaxes(1, 2), 1, rtol=1e-12)
    assert (theta[:, 0, 0] == 0.5).all()
    # Beta(9, 2): mean 9 / 11, variance 18 / (121 * 12); 4 standard errors
    assert theta[:, 0, 1].mean() == pytest.approx(9 / 11, abs=4 * math.sqrt(18 / 1452 / 2000))


def test_divergence_from_half():
    for p in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        assert divergence_from_half(p) == pytest.approx(kl_half(p), abs=1e-15)
    x = 2.0**-24
    assert divergence_from_half(0.5 + x) == pytest.approx(2 * x**2, rel=1e-7)


def test_dts_first_step_by_hand():
    oracle = DTS(3)  # u = 2 and l = 0 everywhere: no arm is excluded
    best_is_2 = samples({(0, 1): 0.9, (0, 2): 0.3, (1, 2): 0.2}, 3)
    theta2 = np.zeros((3, 3))
    for column, second in [((0.7, 0.6, 0.9), 0), ((0.4, 0.3, 0.0), 2), ((0.5, 0.5, 0.5), None)]:
        theta2[:, 2] = column
        expected = {(2, i) for i in range(3)} if second is None else {(2, second)}
        assert oracle.allowed(best_is_2, theta2) == expected
    # ties of the votes: any arm, and then the largest of its own column
    theta2 = np.array([[0.0, 0.9, 0.1], [0.6, 0.0, 0.2], [0.8, 0.1, 0.0]])
    assert oracle.allowed(CYCLE, theta2) == {(0, 2), (1, 0), (2, 2)}


def test_dts_two_arms_by_hand():
    loser_wins = samples({(0, 1): 0.1}, 2)
    oracle = DTS(2)
    for t in (1, 2, 3):  # u_10 = .594 (t = 2), .529 (t = 3)
        assert oracle.t == t
        assert oracle.allowed(loser_wins, np.array([[0, 0.6], [0.6, 0]])) == {(1, 0)}
        oracle.play(1, 0, False)
    # t = 4: u_10 = .485 < 1/2, so C = {0} whatever the votes; l_10 < 1/2: 1 may come second
    for theta, second in [(0.6, 1), (0.4, 0)]:
        assert oracle.allowed(loser_wins, np.full((2, 2), theta)) == {(0, second)}


def test_dts_does_not_take_a_sure_superior_as_second():
    wins = [[0, 20, 0], [0, 0, 20], [20, 0, 0]]
    best_is_0 = samples({(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.5}, 3)
    theta2 = np.array([[0, 0, 0], [0.1, 0, 0], [0.9, 0, 0]])
    for make, second in [(DTS, 0), (DTSPlus, 0), (PureDTS, 2)]:
        oracle = make(3)
        seen(oracle, wins, 61)  # l_20 = 1 - .324 > 1/2
        assert oracle.allowed(best_is_0, theta2) == {(0, second)}


def test_dts_bounds_are_strict_above_and_not_below():
    """Without exploration (alpha = 0): 0 and 1 drew, 1 beat 2, 2 beat 0."""
    oracle = DTS(3, alpha=0.0)
    seen(oracle, [[0, 1, 0], [1, 0, 2], [2, 0, 0]], 7)
    real = Choices(rng=np.random.default_rng(0))
    assert oracle.candidates(real) == [1, 2]
    assert oracle.eligible(0, real) == [0, 1]
    # where float32 may see the draw either way, so may the policy
    found = every_outcome(lambda x: tuple(oracle.candidates(x)))
    assert set(found) == {(1, 2), (1,), (0, 1, 2)}


def test_pure_dts_has_no_candidates():
    oracle = PureDTS(2)
    seen(oracle, [[0, 50], [0, 0]], 51)
    assert oracle.allowed(samples({(0, 1): 0.1}, 2), np.zeros((2, 2))) == {(1, 1)}


# ---- D-TS+ -----------------------------------------------------------------------------------


def test_dts_plus_takes_the_tied_arm_of_least_regret():
    theta1 = samples(
        {(0, 1): 0.9, (0, 2): 0.6, (0, 3): 0.2, (1, 2): 0.7, (1, 3): 0.8, (2, 3): 0.9}, 4
    )
    # votes (2, 2, 1, 1); R_0 = (1/6) (1 / D(.6) + 1 / D(.2)), R_1 = (1/6) (1 / D(.7) + 1 / D(.8))
    assert 1 / kl_half(0.6) + 1 / kl_half(0.2) > 1 / kl_half(0.7) + 1 / kl_half(0.8)
    assert DTS(4).allowed(theta1, np.zeros((4, 4))) == {(0, 0), (1, 1)}
    assert DTSPlus(4).allowed(theta1, np.zeros((4, 4))) == {(1, 1)}


def test_dts_plus_breaks_ties_of_regret_at_random():
    assert DTSPlus(3).allowed(CYCLE, np.zeros((3, 3))) == {(0, 0), (1, 1), (2, 2)}  # R = 0


@pytest.mark.parametrize(("over_candidates", "first"), [(False, 1), (True, 0)])
def test_dts_plus_best_score_of_all_arms_or_of_the_candidates(over_candidates, first):
    """Arm 3 has most votes, and is no candidate.

    The others have one vote each. Over all arms zeta* = 1: R_0 has 1 / D(.4) where R_1 has
    1 / D(.1). Over the candidates zeta* = 1/3: R_i = -(1/3) / D(theta_i3).
    """
    oracle = DTSPlus(4, over_candidates=over_candidates)
    wins = np.zeros((4, 4), int)
    wins[0, 2] = wins[1, 3] = 20
    seen(oracle, wins.tolist(), 41)
    theta1 = samples(
        {(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.1, (0, 3): 0.4, (1, 3): 0.1, (2, 3): 0.1}, 4
    )
    assert oracle.candidates(Choices()) == [0, 1]
    assert oracle.allowed(theta1, np.zeros((4, 4))) == {(first, first)}


# ---- RCS -------------------------------------------------------------------------------------


def test_rcs_by_hand():
    oracle = RCS(2)
    best_is_0, best_is_1 = samples({(0, 1): 0.9}, 2), samples({(0, 1): 0.1}, 2)
    assert oracle.allowed(best_is_1) == {(1, 0)}
    for _ in range(3):  # u_10 = .594 (t = 2), .529 (t = 3)
        assert oracle.allowed(best_is_0) == {(0, 1)}
        oracle.play(0, 1, True)
    assert oracle.allowed(best_is_0) == {(0, 0)}  # t = 4: u_10 = .485 < u_00
    assert oracle.allowed(best_is_1) == {(1, 0)}
    assert oracle.memories == [(3, 0)]


@pytest.mark.parametrize(("count", "firsts"), [("always", {0, 2}), ("fallback", {0, 1, 2})])
def test_rcs_takes_the_least_frequent_champion_if_the_samples_have_none(count, firsts):
    oracle = RCS(3, count=count)
    drawn = samples({(0, 1): 0.1, (0, 2): 0.3, (1, 2): 0.5}, 3)
    assert {c for c, _ in oracle.allowed(drawn)} == {0, 1, 2}  # 1 does not beat 2
    assert oracle.allowed(samples({(0, 1): 0.1, (0, 2): 0.3, (1, 2): 0.9}, 3)) == {(1, 0), (1, 2)}
    oracle.play(1, 0, True)
    assert {c for c, _ in oracle.allowed(CYCLE)} == firsts
    oracle.play(2, 0, True)
    assert {c for c, _ in oracle.allowed(CYCLE)} == firsts - {2}


def test_rcs_may_take_the_champion_among_ties():
    oracle = RCS(2, alpha=0.0)
    seen(oracle, [[0, 1], [1, 0]], 3)
    assert oracle.allowed(samples({(0, 1): 0.9}, 2)) == {(0, 0), (0, 1)}


# ---- SAVAGE ----------------------------------------------------------------------------------


def play_out(oracle: SequentialOracle, winner_of: dict[tuple[int, int], int], steps: int) -> list:
    """The pairs of so many steps, each with one choice only; `winner_of` decides."""
    pairs = []
    for _ in range(steps):
        ((left, right),) = oracle.allowed()
        pairs.append((left, right))
        oracle.play(left, right, left == right or winner_of[left, right] == left)
    return pairs


def test_savage_two_arms_by_hand():
    oracle = SAVAGE(2, 2)
    assert oracle.c(1) == pytest.approx(math.sqrt(math.log(8) / 2))
    # c(4) = .510, c(5) = .456
    assert play_out(oracle, {(0, 1): 1}, 8) == [(0, 1)] * 5 + [(1, 1)] * 3


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
    pairs = play_out(SAVAGE(3, 2, test=test), {(0, 1): 0, (0, 2): top, (1, 2): 1}, 22)
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


# ---- Sparring and MultiSBM -------------------------------------------------------------------


def test_sparring_by_hand():
    oracle = Sparring(2)
    for pair, left_wins in [((0, 0), True), ((1, 1), True), ((0, 0), False)]:
        assert oracle.allowed() == {pair}  # at t = 3 both machines see ties: the lowest index
        oracle.play(*pair, left_wins)
    # left: 1/2 + 1.172 and 1 + 1.657; right: 1/2 + 1.172 and 0 + 1.657
    assert oracle.allowed() == {(1, 0)}
    assert oracle.N.sum() == 0


def test_sparring_index_of_unplayed_arms():
    oracle = Sparring(3, unplayed=1.0)
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, True)
    # left: 1 + 0 and 1, a tie that arithmetic may break; right: 0 and 1
    assert oracle.allowed() == {(0, 1), (1, 1)}
    oracle = Sparring(3)
    for k in range(3):
        assert oracle.allowed() == {(k, k)}
        oracle.play(k, k, True)


def test_multisbm_by_hand():
    oracle = MultiSBM(2)
    assert oracle.allowed() == {(0, 0), (1, 0)}
    # The right arm's success is S_left's reward, and it is the next left arm.
    for pair, left_wins in [((1, 0), False), ((0, 0), True), ((0, 1), False), ((1, 1), True)]:
        assert pair in oracle.allowed()
        oracle.play(*pair, left_wins)
        assert oracle.memories == [pair[1]]
    # S_1: 1 + 1.316 and 0 + 1.316
    assert oracle.allowed() == {(1, 0)}
    assert oracle.rewards.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(("clock", "arm"), [("own", 0), ("global", 1)])
def test_multisbm_clock(clock, arm):
    oracle = MultiSBM(2, clock=clock)
    oracle.memories, oracle.t = [0], 1000
    oracle.plays[0], oracle.rewards[0] = (2, 1), (2, 0)
    # n = 3: 1 + 1.172 and 1.657; n = 1000: 1 + 2.938 and 4.155
    assert oracle.allowed() == {(0, arm)}


def test_equal_records_go_to_the_lowest_index():
    plays, rewards = np.array([9, 3, 3, 3]), np.array([0, 1, 1, 1])
    found = every_outcome(lambda x: select(plays, rewards, 18, 2.5, math.inf, x))
    assert found == [1]


# ---- Interleaved Filter ----------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_interleaved_filter_two_arms_by_hand(start, winner):
    oracle = InterleavedFilter(2, 1)
    assert oracle.c(22) > 0.5 > oracle.c(23) == pytest.approx(math.sqrt(4 * math.log(4) / 23))
    assert oracle.allowed() == {(0, 1), (1, 0)}
    oracle.play(start, 1 - start, start == winner)
    pairs = play_out(oracle, {(0, 1): winner, (1, 0): winner}, 24)
    assert pairs == [(start, 1 - start)] * 22 + [(winner, winner)] * 2


def end_of_round(wins: list[int], last: bool, **options) -> InterleavedFilter:
    """Three arms, champion 0: 100 comparisons with each other arm, the last one just now.

    c(100) = .297.
    """
    oracle = InterleavedFilter(3, 1, **options)
    seen(oracle, [[0, *wins], [100 - wins[0], 0, 0], [99 - wins[1], 0, 0]], 200)
    oracle.memories = [Filter(0, (1, 2), 1)]
    assert oracle.allowed() == {(0, 2)}
    oracle.play(0, 2, last)
    return oracle


def test_interleaved_filter_removes_arms_that_the_champion_surely_beats():
    assert end_of_round([90, 50], False).allowed() == {(0, 2)}
    assert end_of_round([60, 50], False).allowed() == {(0, 1)}
    assert end_of_round([90, 90], False).allowed() == {(0, 0)}


def test_interleaved_filter_champion_is_beaten():
    # Arm 1 takes over; arm 2, seemingly weaker than 0, goes too in IF2.
    assert end_of_round([10, 60], True).allowed() == {(1, 1)}
    assert end_of_round([10, 60], True, variant="if1").allowed() == {(1, 2)}
    # Equal is not weaker.
    assert end_of_round([10, 49], True).allowed() == {(1, 2)}
    # Both beat the champion: the one that does so most, or the lowest index.
    assert end_of_round([10, 9], True).allowed() == {(1, 2)}
    assert end_of_round([10, 9], False).allowed() == {(2, 1)}


def test_interleaved_filter_champion_is_new_to_its_opponents():
    """Each arm loses most often to the one before it, so champions follow one another."""
    preferences = 0.5 + 0.3 * np.sign(np.subtract.outer(*[-np.arange(5)] * 2))
    preferences += 0.2 * (np.eye(5, k=1) - np.eye(5, k=-1))
    rng = np.random.default_rng(0)
    oracle, champions = InterleavedFilter(5, 1, "if1", rng=rng), []
    for _ in range(700):
        ((left, right),) = oracle.allowed()
        if left not in champions:
            champions.append(left)
            assert not any(oracle.N[left, j] for j in range(5) if j not in champions)
        oracle.play(left, right, bool(rng.random() < preferences[left, right]))
    assert len(champions) > 2


# ---- RMED2 and RMED2FH -----------------------------------------------------------------------


def test_rmed2_explores_by_hand():
    """3 log(log t + .01) is .3 at t = 3, 1.001 at 4, 2.01 at 7, 2.5 at 10."""
    oracle = RMED2(3)
    pairs = play_out(oracle, {(0, 1): 0, (0, 2): 0, (1, 2): 1}, 9)
    assert pairs == [(0, 1), (0, 2), (1, 2)] * 3
    assert [(x.loop.L_C, x.loop.position, x.forced) for x in oracle.memories] == [
        ((0, 1, 2), 0, False)
    ]
    assert play_out(oracle, {(1, 0): 0, (2, 0): 0}, 3) == [(0, 0), (1, 0), (2, 0)]


def test_rmed2_takes_the_opponent_that_costs_least():
    """Arm 2 loses 4:6 to i* = 0, at 4.97 per unit of evidence, and 1:9 to arm 1, at 1.36."""
    for t, right in [(31, 1), (12, 0)]:  # 10 > 10 / 1.237, 10 < 10 / .914
        oracle = RMED2(3, alpha=0.0)
        seen(oracle, [[0, 9, 6], [1, 0, 9], [4, 1, 0]], t)
        assert [oracle.opponent(i, 0, Choices()) for i in range(3)] == [-1, 0, 1]
        oracle.memories = [Progress(Loop((2,), frozenset({2}), frozenset(), 0))]
        assert oracle.allowed() == {(2, right)}


def test_rmed2_least_estimated_regret():
    """Opponents of arm 1: 2 at regret 0 / D(.4), and 3 at .1 / D(.1) = .27."""
    wins = [[0, 6, 4, 5], [4, 0, 4, 1], [6, 6, 0, 5], [5, 9, 5, 0]]
    for floor, b in [(0.01, 3), (0.0, 2)]:
        oracle = RMED2(4, floor=floor)
        seen(oracle, wins, 61)
        assert oracle.opponent(1, 0, Choices()) == b


def test_rmed2fh_length_of_the_exploration():
    for horizon, L in [(1, 1), (3, 1), (4, 2), (7, 3), (43, 4), (44, 5), (500, 6), (100_000, 8)]:
        assert RMED2FH(2, horizon).L == L


def test_rmed2fh_explores_first():
    oracle = RMED2FH(3, 500)  # 3 log(log 500 + .01) = 5.5
    pairs = play_out(oracle, {(0, 1): 0, (0, 2): 0, (1, 2): 1}, 19)
    assert pairs == [(0, 1)] * 6 + [(0, 2)] * 6 + [(1, 2)] * 6 + [(0, 0)]


@pytest.mark.parametrize(
    ("make", "right"), [(lambda: RMED2FH(3, 3), 0), (lambda: RMED2(3, alpha=0.0), 2)]
)
def test_rmed2fh_keeps_its_opponents(make, right):
    """Arm 1's was 0 at first; later 2 costs 1.36, and 0 4.97."""
    oracle = make()
    assert play_out(oracle, {(0, 1): 0, (0, 2): 0, (1, 2): 1}, 4)[3] == (0, 0)
    seen(oracle, [[0, 6, 9], [4, 0, 1], [1, 9, 0]], 31)
    assert oracle.allowed() == {(1, right)}


# ---- every run -------------------------------------------------------------------------------

MAKE = {
    "dts": lambda K, rng: DTS(K, rng=rng),
    "dts+": lambda K, rng: DTSPlus(K, rng=rng),
    "dts+ over candidates": lambda K, rng: DTSPlus(K, over_candidates=True, rng=rng),
    "pure-dts": lambda K, rng: PureDTS(K, rng=rng),
    "rcs": lambda K, rng: RCS(K, rng=rng),
    "rcs fallback": lambda K, rng: RCS(K, count="fallback", rng=rng),
    "savage": lambda K, rng: SAVAGE(K, 2, rng=rng),
    "savage copeland": lambda K, rng: SAVAGE(K, 2, test="copeland", rng=rng),
    "sparring": lambda K, rng: Sparring(K, rng=rng),
    "sparring unplayed 1": lambda K, rng: Sparring(K, unplayed=1.0, rng=rng),
    "multisbm": lambda K, rng: MultiSBM(K, rng=rng),
    "multisbm global": lambda K, rng: MultiSBM(K, clock="global", unplayed=1.0, rng=rng),
    "interleaved-filter": lambda K, rng: InterleavedFilter(K, 1, rng=rng),
    "interleaved-filter if1": lambda K, rng: InterleavedFilter(K, 1, "if1", rng=rng),
    "rmed2": lambda K, rng: RMED2(K, rng=rng),
    "rmed2fh": lambda K, rng: RMED2FH(K, 150, rng=rng),
}


def allowed(judge: SequentialOracle, player: SequentialOracle) -> set[tuple[int, int]]:
    """What the judge allows, given the player's samples."""
    if isinstance(judge, DTS):
        assert isinstance(player, DTS)
        return judge.allowed(player.theta1, player.theta2)
    if isinstance(judge, RCS):
        assert isinstance(player, RCS)
        return judge.allowed(player.theta1)
    return judge.allowed()


@pytest.mark.parametrize("num_arms", [2, 3, 5])
@pytest.mark.parametrize("name", MAKE)
def test_a_real_run_is_always_allowed(name, num_arms):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        preferences = 0.5 + 0.4 * np.sign(np.subtract.outer(*[-np.arange(num_arms)] * 2))
        player, judge = MAKE[name](num_arms, rng), MAKE[name](num_arms, None)
        for _ in range(150):
            ((left, right),) = player.allowed()
            assert (left, right) in allowed(judge, player)
            won = bool(rng.random() < preferences[left, right])
            player.play(left, right, won)
            judge.play(left, right, won)
            assert player.memories[0] in judge.memories
            assert len(judge.memories) <= 4
        assert np.array_equal(player.N, player.W + player.W.T)


@pytest.mark.parametrize("name", sorted(set(MAKE) - {"sparring unplayed 1", "multisbm global"}))
def test_a_real_run_ends_with_the_best_arm_most_often(name):
    rng = np.random.default_rng(1)
    oracle, plays = MAKE[name](3, rng), np.zeros(3)
    preferences = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]])
    for t in range(300):
        ((left, right),) = oracle.allowed()
        oracle.play(left, right, bool(rng.random() < preferences[left, right]))
        plays += (t >= 200) * np.bincount([left, right], minlength=3)
    assert plays.argmax() == 0


def test_samples_are_asked_for():
    for oracle in (DTS(2), RCS(2)):
        with pytest.raises(AssertionError, match="no samples were given"):
            oracle.allowed()
