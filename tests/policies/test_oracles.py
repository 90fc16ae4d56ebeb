"""The oracles themselves: tiny cases computed by hand, and what must hold in every run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.oracles.batched import BatchedOracle, floor_power, kl_half
from tests.oracles.btm import BTM
from tests.oracles.choices import Choices, every_outcome
from tests.oracles.pcomp import PCOMP
from tests.oracles.rmed1 import RMED1
from tests.oracles.rucb import RUCB
from tests.oracles.scomp import SCOMP
from tests.oracles.scomp2 import SCOMP2

BATCHED = {"pcomp": PCOMP, "scomp": SCOMP, "scomp2": SCOMP2}


# ---- choices ---------------------------------------------------------------------------------


def test_every_outcome_takes_every_branch_once():
    def code(choices: Choices) -> str:
        first = choices.any_of("ab")
        return first + (choices.any_of("xyz") if first == "a" else "")

    assert every_outcome(code) == ["ax", "ay", "az", "b"]
    assert len(every_outcome(code, np.random.default_rng(0))) == 1


def test_close_calls_are_answered_both_ways_unless_the_run_is_real():
    rng = np.random.default_rng(0)
    cases = [
        (1.0, 1.0, {False, True}),
        (1.0, 1.0 + 1e-4, {False}),
        (1.0 + 1e-7, 1.0, {True, False}),
    ]
    for a, b, expected in cases:
        assert set(every_outcome(lambda x, a=a, b=b: x.greater(a, b))) == expected
    assert every_outcome(lambda x: x.greater(2 * math.log(2), math.log(4)), rng) == [False]
    assert every_outcome(lambda x: x.at_least(2 * math.log(2), math.log(4)), rng) == [True]
    assert every_outcome(lambda x: x.greater(1.0 + 1e-7, 1.0), rng) == [True]


# ---- batched: symbols ------------------------------------------------------------------------


@pytest.mark.parametrize(("horizon", "num_batches"), [(1000, 3), (2**20, 20), (7**5, 5), (97, 6)])
def test_batch_sizes_are_the_exact_floor(horizon, num_batches):
    for r in range(1, num_batches + 1):
        c = floor_power(horizon, r, num_batches)
        assert c**num_batches <= horizon**r < (c + 1) ** num_batches
    assert floor_power(horizon, num_batches, num_batches) == horizon


def test_batch_sizes_of_the_paper():
    sizes = [floor_power(100_000, r, 16) for r in range(1, 17)]
    assert sizes[:6] == [2, 4, 8, 17, 36, 74]
    assert sizes[-1] == 100_000
    assert [floor_power(20, r, 20) for r in (1, 4, 5, 20)] == [1, 1, 2, 20]


def test_kl_half():
    assert kl_half(0.0) == kl_half(1.0) == math.log(2)
    assert kl_half(0.5) == 0.0
    assert kl_half(0.25) == pytest.approx(0.75 * math.log(1.5) - 0.25 * math.log(2))


def test_thresholds_and_radii():
    for elimination, threshold in [
        ("kl", 2 * math.log(5)),
        ("kl-safe", math.log(100 * 25)),
        ("kl-log-horizon", math.log(100)),
    ]:
        oracle = PCOMP(5, 100, 2, elimination=elimination)
        assert oracle.threshold() == pytest.approx(threshold)
        assert oracle.gamma(1) == pytest.approx(math.sqrt(math.log(100 * 25) / 20))
    oracle = PCOMP(5, 100, 2, elimination="hoeffding")
    assert oracle.gamma(2) == pytest.approx(math.sqrt(math.log(6 * 100 * 25 * 2) / 200))
    assert PCOMP(5, 100, 2, threshold=7.0).threshold() == 7.0


# ---- batched: by hand ------------------------------------------------------------------------


def the_plan(oracle: BatchedOracle) -> np.ndarray:
    (counts,) = oracle.plan()
    return counts


def cells(counts: np.ndarray) -> dict[tuple[int, int], int]:
    return {(int(i), int(j)): int(counts[i, j]) for i, j in np.argwhere(counts)}


def answer(oracle: BatchedOracle, left_wins: dict[tuple[int, int], int], plan=None) -> None:
    """Plays the planned batch; `left_wins[i, j]` of the comparisons of i < j go to i."""
    counts = the_plan(oracle) if plan is None else plan
    wins = np.zeros_like(counts)
    for (i, j), n in cells(counts).items():
        if i != j:
            wins[i, j] = left_wins[i, j]
            wins[j, i] = n - wins[i, j]
    oracle.play(counts, wins)


def test_pcomp_two_arms():
    oracle = PCOMP(2, 100, 2)
    assert cells(the_plan(oracle)) == {(0, 1): 10}
    answer(oracle, {(0, 1): 10})  # 10 log 2 > 2 log 2: arm 1 goes
    assert cells(the_plan(oracle)) == {(0, 0): 90}
    answer(oracle, {})
    assert (oracle.used, oracle.rounds) == (100, 2)
    assert cells(the_plan(oracle)) == {}
    answer(oracle, {})
    assert oracle.rounds == 2  # an empty batch is no round


def test_pcomp_keeps_the_arms_when_all_would_go():
    oracle = PCOMP(3, 10_000, 4)  # c_1 = 10
    answer(oracle, {(0, 1): 10, (1, 2): 10, (0, 2): 0})  # a cycle
    assert cells(the_plan(oracle)) == {(0, 1): 100, (0, 2): 100, (1, 2): 100}


def test_pcomp_eliminates_at_once():
    """Arm 2 is beaten only by arm 1, which goes in the same round."""
    oracle = PCOMP(3, 10_000, 4)
    answer(oracle, {(0, 1): 10, (0, 2): 5, (1, 2): 10})
    assert cells(the_plan(oracle)) == {(0, 0): 9970}


def test_pcomp_counts_are_cumulative_with_kl_but_fresh_with_hoeffding():
    oracle = PCOMP(2, 81, 4, threshold=8.0)  # c = 3, 9, 27, 81
    answer(oracle, {(0, 1): 0})  # 3 log 2 = 2.08
    assert cells(the_plan(oracle)) == {(0, 1): 9}
    answer(oracle, {(0, 1): 0})  # 9 log 2 = 6.24, but 12 log 2 = 8.32
    assert cells(the_plan(oracle)) == {(1, 1): 69}

    oracle = PCOMP(2, 10_000, 2, elimination="hoeffding")  # c_1 = 100, gamma_1 = .256
    assert oracle.gamma(1) == pytest.approx(0.2557, abs=1e-4)
    answer(oracle, {(0, 1): 75})
    assert cells(the_plan(oracle)) == {(0, 1): 9900}
    oracle = PCOMP(2, 10_000, 2, elimination="hoeffding")
    answer(oracle, {(0, 1): 76})
    assert cells(the_plan(oracle)) == {(0, 0): 9900}


def test_a_threshold_met_exactly_is_not_passed_but_float32_may_err():
    """K = 2^m arms, 2 m comparisons all lost: N D = 2 m log 2 = 2 log K."""
    for rng, plans in [(None, 2), (np.random.default_rng(0), 1)]:
        oracle = PCOMP(2, 2**6, 6, rng=rng)  # c_1 = 2
        answer(oracle, {(0, 1): 2})
        assert len(oracle.plan()) == plans
        assert cells(oracle.plan()[0]) == {(0, 1): 4}


def test_pairs_are_truncated_in_lexicographic_order():
    oracle = PCOMP(3, 25, 1)
    assert cells(the_plan(oracle)) == {(0, 1): 25}
    oracle = PCOMP(4, 16, 2)
    assert cells(the_plan(oracle)) == {(0, 1): 4, (0, 2): 4, (0, 3): 4, (1, 2): 4}
    answer(oracle, {(0, 1): 4, (0, 2): 4, (0, 3): 4, (1, 2): 4})
    assert (oracle.used, oracle.rounds) == (16, 1)


def test_scomp_compares_seeds_with_active_arms_once_per_pair():
    oracle = SCOMP(4, 10_000, 4, seeds=[False, True, True, False])
    assert set(cells(the_plan(oracle))) == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)}


def test_scomp_switches_without_eliminating_and_repeats_the_batch_size():
    # c_1 = 1000, gamma_1 = sqrt(log(16e6) / 2000) = .0911: 3 gamma = .273
    oracle = SCOMP(4, 10**6, 2, seeds=[True, False, False, False])
    assert oracle.gamma(1) == pytest.approx(0.0911, abs=1e-4)
    # 1 beats the seed by .28 (switch), 2 by .1 (in A'), 3 by .09 (not in A')
    answer(oracle, {(0, 1): 220, (0, 2): 400, (0, 3): 410})
    assert cells(the_plan(oracle)) == {(1, 2): 1000}
    answer(oracle, {(1, 2): 500})
    assert cells(the_plan(oracle)) == {(1, 2): 10**6 - 4000}
    answer(oracle, {(1, 2): 0})
    assert oracle.rounds == 3


def test_scomp_switch_needs_an_arm_that_beats_all_seeds():
    oracle = SCOMP(3, 10**6, 2, seeds=[True, True, False], threshold=math.inf)
    answer(oracle, {(0, 1): 500, (0, 2): 0, (1, 2): 300})  # 2 beats 1 by .2 only
    assert cells(the_plan(oracle)) == {(0, 1): 997_000}


def test_scomp_whose_seeds_are_gone_goes_on_with_all_pairs_at_the_next_round():
    oracle = SCOMP(3, 10_000, 4, seeds=[True, False, False])  # c = 10, 100; threshold 2.2
    answer(oracle, {(0, 1): 2, (0, 2): 5})  # 10 D(.2, .5) = 1.93 < 2.2
    assert cells(the_plan(oracle)) == {(0, 1): 100, (0, 2): 100}
    oracle = SCOMP(3, 10_000, 4, seeds=[True, False, False])
    answer(oracle, {(0, 1): 1, (0, 2): 5})  # 10 D(.1, .5) = 3.68: the seed goes
    assert cells(the_plan(oracle)) == {(1, 2): 100}


def test_scomp_with_kl_lets_any_active_arm_eliminate():
    """Arm 2 beats seed 1, which leaves; seed 0 stays."""
    oracle = SCOMP(3, 10_000, 4, seeds=[True, True, False])
    answer(oracle, {(0, 1): 5, (0, 2): 5, (1, 2): 1})
    assert cells(the_plan(oracle)) == {(0, 2): 100}


def test_scomp_with_hoeffding_lets_only_seeds_eliminate():
    oracle = SCOMP(3, 10**6, 2, seeds=[True, False, False], elimination="hoeffding")
    assert 3 * oracle.gamma(1) == pytest.approx(0.2885, abs=1e-4)
    answer(oracle, {(0, 1): 789, (0, 2): 788})
    assert cells(the_plan(oracle)) == {(0, 2): 998_000}


def test_scomp_by_elimination_needs_an_arm_that_eliminates_all_seeds():
    # c = 10, 100; threshold 2 log 4 = 2.77, and 10 D(.1, .5) = 3.68
    def after(left_wins):
        oracle = SCOMP(4, 10_000, 4, seeds=[True, True, False, False], switch="elimination")
        answer(oracle, left_wins)
        return oracle, cells(the_plan(oracle))

    others = {(0, 1): 5, (0, 3): 5, (1, 3): 5}
    _, plan = after({**others, (0, 2): 1, (1, 2): 1})
    assert plan == {(2, 2): 9950}
    _, plan = after({**others, (0, 2): 1, (1, 2): 5})  # 2 eliminates 0, and 1 stays
    assert plan == {(1, 2): 100, (1, 3): 100}
    oracle, plan = after({**others, (0, 2): 1, (1, 2): 5, (1, 3): 1})  # each by another arm
    assert plan == {(2, 3): 100}
    answer(oracle, {(2, 3): 59})  # 100 D(.59, .5) = 1.63: above 2 log |A'| = 1.39
    assert cells(the_plan(oracle)) == {(2, 2): 9850}


@pytest.mark.parametrize(
    ("width", "called"), [(1.0, {1}), (None, {1, 2}), (0.7, {1, 2}), (0.8, {1}), (0.0, {1, 2, 3})]
)
def test_scomp2_by_elimination_calls_pcomp_with_the_arms_that_lead(width, called):
    # c = 10, 100; threshold 2 log 5 = 3.22: 10 D(.1, .5) = 3.68, 10 D(.2, .5) = 1.93
    oracle = SCOMP2(
        5, 10_000, 4, seeds=[True, False, False, False, False], switch="elimination", width=width
    )
    answer(oracle, {(0, 1): 1, (0, 2): 2, (0, 3): 4, (0, 4): 5})
    plan = cells(the_plan(oracle))
    if len(called) == 1:
        assert plan == {(1, 1): 9960}
        return
    assert plan == dict.fromkeys(((i, j) for i in called for j in called if i < j), 10)
    answer(oracle, {pair: 2 if pair == (1, 2) else 5 for pair in plan})
    left = {2} if len(called) == 2 else called  # 2 log 2 = 1.39 < 1.93 < 2 log 3 = 2.20
    assert {arm for pair in cells(the_plan(oracle)) for arm in pair} == left


def test_pcomp_is_called_with_what_is_left_of_the_horizon():
    oracle = SCOMP2(
        3, 60, 2, seeds=[True, False, False], switch="elimination", width=0.0,
        elimination="kl-log-horizon",
    )  # fmt: skip
    answer(oracle, {(0, 1): 0, (0, 2): 2})  # c_1 = 7: 4.85 > log 60 = 4.09
    (position,) = oracle.positions
    assert position.called == (2, 46)
    assert oracle.threshold(position.called) == pytest.approx(math.log(46))
    assert oracle.gamma(1, position.called) == pytest.approx(math.sqrt(math.log(184) / 14))


def test_scomp2_with_one_seed_skips_its_first_batch():
    oracle = SCOMP2(3, 10_000, 4, seeds=[False, True, False])
    assert cells(the_plan(oracle)) == {(0, 1): 10, (1, 2): 10}


def test_scomp2_candidate_is_any_undefeated_seed():
    # c_1 = 1000, gamma_1 = .0895
    def first_batch(left_wins):
        oracle = SCOMP2(3, 10**6, 2, seeds=[True, True, True])
        answer(oracle, left_wins)
        return [set(cells(x)) for x in oracle.plan()]

    of = {i: {(min(i, j), max(i, j)) for j in range(3) if j != i} for i in range(3)}
    assert first_batch({(0, 1): 500, (0, 2): 580, (1, 2): 595}) == [of[0], of[1]]
    assert first_batch({(0, 1): 500, (0, 2): 589, (1, 2): 580}) == [of[0], of[1], of[2]]
    assert first_batch({(0, 1): 400, (0, 2): 590, (1, 2): 500}) == [of[1]]
    assert first_batch({(0, 1): 900, (0, 2): 100, (1, 2): 900}) == [of[0], of[1], of[2]]  # cycle


def test_scomp2_keeps_its_candidate_while_it_is_undefeated():
    # c = 31, 1000; gamma_1 = .51, gamma_2 = .0895
    of = {i: {(min(i, j), max(i, j)) for j in range(3) if j != i} for i in range(3)}

    def plans(candidate, wins_of_0_over_1):
        oracle = SCOMP2(
            3, 10**6, 4, seeds=[True, True, True], candidate=candidate, threshold=math.inf
        )
        answer(oracle, {(0, 1): 15, (0, 2): 15, (1, 2): 15})
        assert [set(cells(x)) for x in oracle.plan()] == [of[0], of[1], of[2]]
        answer(oracle, {(0, 1): 15, (1, 2): 15}, plan=oracle.plan()[1])
        answer(oracle, {(0, 1): wins_of_0_over_1, (0, 2): 500, (1, 2): 500})
        return [set(cells(x)) for x in oracle.plan()]

    assert plans("kept", 500) == [of[1]]
    assert plans("redrawn", 500) == [of[0], of[1], of[2]]
    assert plans("kept", 600) == plans("redrawn", 600) == [of[0], of[2]]


def test_scomp2_does_not_eliminate_between_its_two_batches():
    oracle = SCOMP2(3, 10_000, 4, seeds=[True, True, False])
    answer(oracle, {(0, 1): 0})
    # gamma_1 > 1/2: both are undefeated, and arm 0 is still there
    plans = [cells(x) for x in oracle.plan()]
    assert plans == [{(0, 1): 10, (0, 2): 10}, {(0, 1): 10, (1, 2): 10}]
    answer(oracle, {(0, 1): 0, (1, 2): 5}, plan=oracle.plan()[1])  # now arm 0 goes: 20 log 2
    assert cells(the_plan(oracle)) == {(1, 2): 100}


def test_scomp2_keeps_every_candidate_that_the_batch_may_have_had():
    """K = 2: (0, 1) is compared whoever is the candidate, but only 0's defeat makes it switch."""
    oracle = SCOMP2(2, 10**6, 2, seeds=[True, True], threshold=math.inf)
    answer(oracle, {(0, 1): 500})
    assert len(oracle.positions) == 2
    assert 5 * oracle.gamma(1) == pytest.approx(0.4359, abs=1e-4)
    answer(oracle, {(0, 1): 50})
    # candidate 0: a switch to A' = {1}; candidate 1: no switch, r = 2 goes on with both seeds
    assert sorted(map(str, map(cells, oracle.plan()))) == ["{(0, 1): 998000}", "{(1, 1): 998000}"]


def test_scomp2_switches_and_repeats_the_batch_size():
    # c_1 = 1000; 5 gamma = .455, 3 gamma = .273
    oracle = SCOMP2(4, 10**6, 2, seeds=[True, False, False, False])
    answer(oracle, {(0, 1): 44, (0, 2): 226, (0, 3): 228})
    assert cells(the_plan(oracle)) == {(1, 2): 1000}
    oracle = SCOMP2(4, 10**6, 2, seeds=[True, False, False, False], threshold=math.inf)
    answer(oracle, {(0, 1): 46, (0, 2): 226, (0, 3): 228})  # no switch
    assert cells(the_plan(oracle)) == {(0, 1): 997_000}


# ---- batched: every run ----------------------------------------------------------------------


@pytest.mark.parametrize("name", BATCHED)
@pytest.mark.parametrize("elimination", ["kl", "kl-safe", "hoeffding"])
@pytest.mark.parametrize(
    ("num_arms", "horizon", "num_batches"),
    [(2, 1, 1), (2, 50, 1), (2, 40, 40), (5, 3, 2), (5, 9, 9), (3, 10**6, 2), (6, 10**5, 16)],
)
def test_totals_and_rounds(name, elimination, num_arms, horizon, num_batches):
    limit = {"pcomp": num_batches, "scomp": num_batches + 1, "scomp2": 2 * num_batches + 1}[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        skill = rng.normal(scale=(0.3, 3.0)[seed % 2], size=num_arms)
        preferences = 1 / (1 + np.exp(skill[None, :] - skill[:, None]))
        params = {"elimination": elimination}
        if name != "pcomp":
            params["seeds"] = np.arange(num_arms) <= rng.integers(num_arms)
        oracle = BATCHED[name](num_arms, horizon, num_batches, **params)
        while oracle.used < horizon:
            plans = oracle.plan()
            counts = plans[rng.integers(len(plans))]
            assert np.all(counts >= 0)
            assert not np.any(np.tril(counts, -1))
            assert 0 < counts.sum() <= horizon - oracle.used
            upper = np.triu(counts, 1)
            wins = rng.binomial(upper, preferences)
            oracle.play(counts, wins + (upper - wins).T)
            assert len(oracle.positions) <= 2 * num_arms
        assert oracle.used == horizon
        assert oracle.rounds <= limit
        assert not np.any(the_plan(oracle))


def test_a_batch_that_is_not_planned_is_refused():
    oracle = PCOMP(2, 100, 2)
    with pytest.raises(AssertionError, match="not allowed"):
        oracle.play(np.zeros((2, 2), dtype=int), np.zeros((2, 2), dtype=int))


# ---- RUCB ------------------------------------------------------------------------------------


@pytest.mark.parametrize("unseen", [1.0, 2.0])
def test_rucb_first_step_is_any_pair_of_different_arms(unseen):
    oracle = RUCB(3, unseen=unseen)
    assert oracle.allowed() == {(i, j) for i in range(3) for j in range(3) if i != j}


def test_rucb_two_arms_by_hand():
    oracle = RUCB(2)
    for t in (1, 2, 3):  # u_10 = sqrt(.51 log t / n) = .594 (t = 2), .529 (t = 3)
        assert oracle.t == t
        assert oracle.allowed() == {(0, 1), (1, 0)}
        oracle.play(0, 1, True)
    # t = 4: u_10 = .485 < 1/2, so C = B = {0} and d = 0
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, False)
    assert oracle.memories == [frozenset({0})]
    assert oracle.N.sum() == 6
    # t = 5: u_10 = .523
    assert oracle.allowed() == {(0, 1), (1, 0)}
    oracle.play(1, 0, True)
    assert oracle.memories == [frozenset({0})]  # B stays while its arm is in C


def test_rucb_unseen_pairs_come_first_or_not():
    """After a win, u = 1 + sqrt(.51 log 2) = 1.59 for the winner: below 2, above 1."""
    for unseen, expected in [(2.0, {(1, 2)}), (1.0, {(1, 0)})]:
        oracle = RUCB(3, unseen=unseen)
        oracle.play(0, 1, True)
        assert {(c, d) for c, d in oracle.allowed() if c == 1} == expected


def test_rucb_without_candidates_starts_anywhere_and_forgets():
    oracle = RUCB(3)
    for i in range(3):  # each arm beats the next 20 times
        j = (i + 1) % 3
        oracle.W[i, j] = oracle.N[i, j] = oracle.N[j, i] = 20
    oracle.t = 61
    oracle.memories = [frozenset({1})]
    assert oracle.allowed() == {(0, 2), (1, 0), (2, 1)}
    oracle.play(1, 0, True)
    assert oracle.memories == [frozenset()]


# ---- RMED1 -----------------------------------------------------------------------------------


def test_rmed1_by_hand():
    oracle = RMED1(3, f=0.0)
    for left, right in [(0, 1), (0, 2), (1, 2)]:
        assert oracle.allowed() == {(left, right)}
        oracle.play(left, right, True)
    # I = (0, log 2, 2 log 2): i* = 0, O_0 = {}, 0 in O_1 and O_2
    for left, L_N in [(0, {0}), (1, {0, 1})]:
        assert oracle.allowed() == {(left, 0)}
        oracle.play(left, 0, False)
        assert [set(x.L_N) for x in oracle.memories] == [L_N]  # I_1 = 2 log 2 <= log 5
    oracle.play(2, 0, False)  # t = 6: I_2 = 3 log 2 > log 6
    assert [x.L_C for x in oracle.memories] == [(0, 1)]
    oracle.play(0, 0, True)
    assert [set(x.L_N) for x in oracle.memories] == [{0}]
    oracle.play(1, 0, True)
    # t = 8: I_2 = 3 log 2 = log 8 exactly, which float32 may see either way
    assert {x.L_C for x in oracle.memories} == {(0, 1), (0, 1, 2)}
    oracle.play(0, 0, True)
    assert oracle.allowed() == {(1, 0)}


def test_rmed1_default_f():
    assert RMED1(3).f == pytest.approx(0.3 * 3**1.01)


def test_rmed1_takes_the_strongest_opponent_when_the_best_arm_is_no_opponent():
    oracle = RMED1(3)
    for outcome in (True, True, True):
        oracle.play(*oracle.initial[oracle.t - 1], outcome)
    # 0 beats 1 (9:1), loses to 2 (4:6), and 1 beats 2 (9:1)
    oracle.N[:] = 10 - 10 * np.eye(3, dtype=int)
    oracle.W[:] = [[0, 9, 4], [1, 0, 9], [6, 1, 0]]
    # I_0 = 10 D(.4, .5) is the least; O_0 = {2} without 0 itself
    assert oracle.allowed() == {(0, 2)}


# ---- Beat the Mean ---------------------------------------------------------------------------


def test_btm_by_hand():
    oracle = BTM(2, 10, gamma=1.0, scale=0.1)  # log(1/delta) = log 40, c(1) = .192
    assert oracle.c(1) == pytest.approx(0.1 * math.sqrt(math.log(40)))
    assert oracle.allowed() == {(0, 0), (0, 1), (1, 0), (1, 1)}
    oracle.play(0, 1, True)  # n_1 = 0: c* = 1
    assert oracle.allowed() == {(1, 0), (1, 1)}
    oracle.play(1, 0, False)  # 0 + .192 <= 1 - .192: arm 1 goes
    for outcome in (True, False):
        assert oracle.allowed() == {(0, 0)}
        oracle.play(0, 0, outcome)


def test_btm_forgets_comparisons_with_a_removed_arm():
    oracle = BTM(3, 100, gamma=1.0, scale=0.05)
    oracle.play(0, 2, True)
    oracle.play(1, 0, True)
    oracle.play(2, 1, False)  # P = (1, 1, 0), c(1) = .13
    assert oracle.memories == [frozenset({0, 1})]
    # n_0 = 0 now, since its only comparison was with arm 2
    assert oracle.allowed() == {(0, 0), (0, 1)}
    oracle.play(0, 0, False)  # a comparison with itself counts: n_0 = 1, P_0 = 0, P_1 = 1
    assert oracle.memories == [frozenset({1})]


def test_btm_removes_one_arm_per_step_and_any_of_the_worst():
    oracle = BTM(3, 100, gamma=1.0, scale=0.05, self_comparisons=False)
    assert (0, 0) not in oracle.allowed()
    oracle.play(0, 1, False)
    oracle.play(1, 2, False)
    oracle.play(2, 0, True)
    assert set(oracle.memories) == {frozenset({1, 2}), frozenset({0, 2})}


def test_btm_radius():
    assert BTM(6, 1000).c(4) == pytest.approx(3 * 1.69 * math.sqrt(math.log(12_000) / 4))
    assert BTM(6, 1000).c(0) == 1.0


# ---- sequential: every run -------------------------------------------------------------------


@pytest.mark.parametrize("num_arms", [2, 3, 5])
@pytest.mark.parametrize("name", ["rucb", "rmed1", "btm"])
def test_a_real_run_is_always_allowed(name, num_arms):
    make = {
        "rucb": lambda rng: RUCB(num_arms, rng=rng),
        "rmed1": lambda rng: RMED1(num_arms, rng=rng),
        "btm": lambda rng: BTM(num_arms, 150, scale=0.3, rng=rng),
    }[name]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        preferences = 0.5 + 0.1 * np.sign(np.subtract.outer(*[-np.arange(num_arms)] * 2))
        player, judge = make(rng), make(None)
        for _ in range(150):
            ((left, right),) = player.allowed()
            assert (left, right) in judge.allowed()
            won = bool(rng.random() < preferences[left, right])
            player.play(left, right, won)
            judge.play(left, right, won)
            assert player.memories[0] in judge.memories
            assert len(judge.memories) <= 2


def test_a_pair_that_is_not_allowed_is_refused():
    oracle = RMED1(3)
    with pytest.raises(AssertionError, match="not allowed at t = 1"):
        oracle.play(1, 0, True)
