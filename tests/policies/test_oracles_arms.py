"""The oracles of arms with rewards: tiny cases by hand, what holds in every run, known numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.oracles.arms import ArmsOracle, GridOracle, equal_pulls, grid_time, named_grid
from tests.oracles.base import BaSE
from tests.oracles.etc import ETC
from tests.oracles.successive_elimination import SuccessiveElimination
from tests.oracles.thompson_gaussian import ThompsonGaussian
from tests.oracles.ucb1 import UCB1

# ---- grids and equal pulls -------------------------------------------------------------------


def test_grids_of_the_paper():
    assert named_grid("minimax", 50_000, 3) == [484, 10_658, 50_000]
    assert named_grid("geometric", 50_000, 3) == [36, 1357, 50_000]
    assert named_grid("arithmetic", 50_000, 3) == [16_666, 33_333, 50_000]


def test_exact_powers_come_out():
    assert named_grid("geometric", 1000, 3) == [10, 100, 1000]
    assert named_grid("minimax", 2**21, 3) == [2**12, 2**18, 2**21]  # 4/7, 6/7
    assert named_grid("minimax", 8, 2) == [4, 8]  # 2/3
    assert named_grid("minimax", 2**30, 4)[1] == 2**24  # 4/5


@pytest.mark.parametrize("horizon", [2, 17, 1000, 5**7, 2**30, 50_000, 10**9, 2**31 - 1])
def test_grids_are_exact_floors(horizon):
    for M in range(1, 7):
        for m in range(1, M + 1):
            p, q = (2**m - 1) * 2 ** (M - m), 2**M - 1
            t = grid_time("minimax", horizon, M, m)
            assert t**q <= horizon**p < (t + 1) ** q
            t = grid_time("geometric", horizon, M, m)
            assert t**M <= horizon**m < (t + 1) ** M
            t = grid_time("arithmetic", horizon, M, m)
            assert t * M <= m * horizon < (t + 1) * M


def test_only_the_last_batch_ends_at_the_horizon():
    for kind in ("minimax", "geometric", "arithmetic"):
        grid = named_grid(kind, 300, 300)
        assert grid[-2:] == [299 if kind != "geometric" else 294, 300]
        assert grid == sorted(grid)


def test_equal_pulls_by_hand():
    assert equal_pulls(3, [0, 1, 2], 8) == (3, 3, 2)
    assert equal_pulls(3, [0, 1, 2], 1) == (1, 0, 0)
    assert equal_pulls(3, [0, 2], 4) == (2, 0, 2)
    assert equal_pulls(3, [0, 2], 10**9 + 1) == (5 * 10**8 + 1, 0, 5 * 10**8)
    assert equal_pulls(2, [1], 5) == (0, 5)


# ---- BaSE and successive elimination by hand -------------------------------------------------


def the_plan(oracle: ArmsOracle):
    (plan,) = oracle.allowed()
    return plan


def answer(oracle: ArmsOracle, *means: float, plan=None) -> None:
    """Plays the planned batch; every pull of arm i gives exactly means[i]."""
    plan = the_plan(oracle) if plan is None else plan
    oracle.play(plan, [n * mean for n, mean in zip(plan, means, strict=True)])


def test_base_by_hand():
    # log(T K) = 8.006; after 300 pulls tau = 100: radius .283
    oracle = BaSE(3, 1000, grid=[300, 700, 1000])
    assert the_plan(oracle) == (100, 100, 100)
    answer(oracle, 0.5, 0.2, 0.7)  # arm 1 is .5 below, arm 0 only .2
    assert the_plan(oracle) == (200, 0, 200)
    answer(oracle, 0.7, 0.0, 0.55)  # .633 and .6 over all pulls
    assert the_plan(oracle) == (300, 0, 0)
    answer(oracle, 0.0, 0.0, 0.0)
    assert (the_plan(oracle), oracle.rounds, oracle.used) == ((0, 0, 0), 3, 1000)


def test_base_without_commitment_explores_to_the_end():
    oracle = BaSE(3, 1000, grid=[300, 700, 1000], commit=False)
    answer(oracle, 0.5, 0.2, 0.7)
    answer(oracle, 0.7, 0.0, 0.55)
    assert the_plan(oracle) == (150, 0, 150)


def test_base_gives_all_that_is_left_to_the_last_arm():
    oracle = BaSE(2, 1000, grid=[10, 100, 1000], gamma=0.1)
    answer(oracle, 0.0, 1.0)  # radius sqrt(.76 / 5) = .39
    assert the_plan(oracle) == (0, 990)


@pytest.mark.parametrize("commit", [True, False])
def test_base_of_one_batch(commit):
    assert the_plan(BaSE(2, 11, 1, commit=commit)) == ((11, 0) if commit else (6, 5))


def test_odd_pulls_wait_for_the_next_batch():
    oracle = BaSE(2, 101, grid=[5, 10, 101], gamma=0.5, commit=False, rng=np.random.default_rng(0))
    assert the_plan(oracle) == (2, 2)
    # radius sqrt(.5 log 202 / 2) = 1.152 with tau = 2; 1.03 with 2.5
    answer(oracle, 1.1, 0.0)
    assert the_plan(oracle) == (3, 3)
    answer(oracle, 0.0, 0.0)
    assert the_plan(oracle) == (46, 45)


def test_first_grid_points_may_be_shorter_than_a_pull_per_arm():
    # geometric: 3, 10, 31, 100
    oracle = BaSE(6, 100, 4, "geometric", gamma=100.0)
    assert the_plan(oracle) == (1,) * 6
    answer(oracle, *[0.0] * 6)
    assert the_plan(oracle) == (1,) * 6  # t_2 - 6 = 4 is less than a pull per arm, too
    answer(oracle, *[0.0] * 6)
    assert the_plan(oracle) == (3,) * 6
    answer(oracle, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert (the_plan(oracle), oracle.rounds) == ((0, 0, 0, 0, 0, 70), 3)


def test_ties_go_to_the_first_arm_unless_floats_may_break_them():
    for rng, plans in [(np.random.default_rng(0), {(0, 90, 0)}), (None, {(0, 90, 0), (0, 0, 90)})]:
        oracle = BaSE(3, 96, grid=[6, 96], gamma=10.0, rng=rng)
        answer(oracle, 0.1, 0.3, 0.3)
        assert oracle.allowed() == plans


def test_a_threshold_met_exactly_eliminates_but_float32_may_err():
    gap = math.sqrt(math.log(200) / 5)
    for rng, plans in [
        (np.random.default_rng(0), {(90, 0)}),
        (None, {(90, 0), (45, 45)}),
    ]:
        oracle = BaSE(2, 100, grid=[10, 100], commit=False, rng=rng)
        answer(oracle, gap, 0.0)
        assert oracle.allowed() == plans


def test_a_set_that_is_in_doubt_stays_in_doubt_until_it_shows():
    gap = math.sqrt(math.log(200) / 5)
    oracle = BaSE(2, 100, grid=[10, 12, 100], gamma=1.0, commit=True)
    answer(oracle, gap, 0.0)
    assert oracle.allowed() == {(90, 0), (1, 1)}
    answer(oracle, gap, 0.0, plan=(1, 1))
    assert oracle.memories == [frozenset({0})]  # tau = 6 now
    with pytest.raises(AssertionError, match="not allowed"):
        answer(oracle, 0.0, 0.0, plan=(44, 44))


def test_successive_elimination_by_hand():
    oracle = SuccessiveElimination(3, 10, gamma=0.2)  # radius sqrt(.68 / tau)
    answer(oracle, 0.0, 0.7, 0.1)
    assert the_plan(oracle) == (1, 1, 1)
    answer(oracle, 0.0, 0.5, 0.1)  # .6 and .5 below .6: radius .583
    assert the_plan(oracle) == (0, 1, 1)
    answer(oracle, 0.0, 0.6, 0.1)
    assert the_plan(oracle) == (0, 2, 0)  # .6 and .1: radius .476


def test_the_last_sweep_is_cut():
    oracle = SuccessiveElimination(3, 4)
    answer(oracle, 0.0, 0.0, 0.0)
    assert the_plan(oracle) == (1, 0, 0)


# ---- explore-then-commit by hand -------------------------------------------------------------


def test_etc_commits_once_the_sums_are_far_apart():
    # t = 20: sqrt(4 log(2000 / 20 ) / 20) = .9597, against half the difference of the averages
    for gap, plan in [(1.94, (0, 980)), (1.90, (40, 40))]:
        oracle = ETC(2, 1000, grid=[20, 100, 1000])
        assert the_plan(oracle) == (10, 10)
        answer(oracle, 0.0, gap)
        assert the_plan(oracle) == plan


def test_etc_commits_in_the_last_batch_in_any_case_but_with_two_batches():
    oracle = ETC(2, 1000, grid=[20, 100, 1000])
    answer(oracle, 0.0, 0.1)
    answer(oracle, 0.0, 0.1)
    assert the_plan(oracle) == (0, 900)
    oracle = ETC(2, 1000, grid=[20, 1000])
    answer(oracle, 0.0, 0.1)
    assert the_plan(oracle) == (490, 490)


def test_etc_of_one_batch_explores():
    assert the_plan(ETC(2, 7, 1)) == (4, 3)


def test_etc_of_more_arms_compares_the_two_best():
    oracle = ETC(3, 3000, grid=[60, 300, 3000])  # sqrt(4 log(100) / 60) = .554
    answer(oracle, 0.0, 5.0, 4.0)
    assert the_plan(oracle) == (80, 80, 80)
    oracle = ETC(3, 3000, grid=[60, 300, 3000])
    answer(oracle, 0.0, 5.0, 3.8)
    assert the_plan(oracle) == (0, 2940, 0)


# ---- one pull at a time by hand --------------------------------------------------------------


def test_ucb1_by_hand():
    oracle = UCB1(3, horizon=100)
    for arm, reward in enumerate([0.0, 1.0, 0.5]):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    oracle.play(1, -1.0)  # radius 3.03 of one pull, 2.146 of two
    assert the_plan(oracle) == 2
    oracle.play(2, 2.6)  # 0 + 3.03, 0 + 2.15, 1.55 + 2.15
    assert the_plan(oracle) == 2


def test_ucb1_with_the_pulls_so_far():
    oracle = UCB1(2)
    oracle.play(0, 0.0)
    oracle.play(1, 1.0)
    assert the_plan(oracle) == 1
    oracle.play(1, -0.5)  # t = 3: 0 + 1.482, .25 + 1.048
    assert the_plan(oracle) == 0


def test_ucb1_ties_go_to_the_first_arm():
    oracle = UCB1(2, horizon=10, rng=np.random.default_rng(0))
    oracle.play(0, 0.5)
    oracle.play(1, 0.5)
    assert oracle.allowed() == {0}


def test_thompson_gaussian_by_hand():
    oracle = ThompsonGaussian(2)
    assert oracle.posterior(0) == (0.0, 1.0)
    assert oracle.allowed_given([0.1, 0.2]) == {1}
    oracle.play(1, 3.0)
    assert oracle.posterior(1) == pytest.approx((1.5, math.sqrt(0.5)))  # S / (n + 1), 1 / (n + 1)
    assert oracle.allowed_given([0.8, -0.9]) == {1}  # .8 and .864
    assert oracle.allowed_given([0.9, -0.9]) == {0}
    assert oracle.allowed_given([0.9, (0.9 - 1.5) * math.sqrt(2)]) == {0, 1}


def test_thompson_gaussian_with_another_prior():
    oracle = ThompsonGaussian(2, std=2.0, prior_mean=1.0, prior_std=0.5)
    oracle.allowed_given([1.0, 0.0])
    oracle.play(0, 9.0)  # precisions 4 and 1/4
    mean, std = oracle.posterior(0)
    assert mean == pytest.approx((4 * 1.0 + 9.0 / 4) / 4.25)
    assert std == pytest.approx(1 / math.sqrt(4.25))


# ---- what holds in every run -----------------------------------------------------------------


def rewards_of(rng: np.random.Generator, counts, means) -> np.ndarray:
    """Sums of normal rewards of variance 1, of each arm's pulls."""
    n = np.asarray(counts, float)
    return n * means + np.sqrt(n) * rng.standard_normal(len(n))


def finished(oracle: GridOracle, rng: np.random.Generator, means) -> GridOracle:
    """The oracle, after T pulls."""
    while oracle.left > 0:
        plan = the_plan(oracle)
        assert 0 < sum(plan) <= oracle.left
        oracle.play(plan, rewards_of(rng, plan, means))
    return oracle


@pytest.mark.parametrize("seed", range(200))
def test_what_holds_in_every_run(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 7))
    T = int(K * 10 ** rng.uniform(0, 4))
    M = int(rng.integers(1, min(T, 12) + 1))
    kind = ["minimax", "geometric", "arithmetic"][seed % 3]
    commit, real = bool(rng.integers(2)), np.random.default_rng(seed)
    for oracle in (
        BaSE(K, T, M, kind, gamma=10 ** rng.uniform(-2, 0), commit=commit, rng=real),
        ETC(K, T, M, kind, rng=real),
    ):
        means = rng.standard_normal(K)
        while oracle.left > 0:
            plan = the_plan(oracle)
            oracle.play(plan, rewards_of(rng, plan, means))
            pulled = [oracle.N[i] for i in range(K) if plan[i]]
            # equal, but for odd pulls at the end, and a commitment
            assert max(pulled) - min(pulled) <= (oracle.left == 0)
        assert oracle.used == sum(oracle.N) == T
        assert oracle.rounds <= M


def test_base_with_a_batch_per_pull_is_successive_elimination():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(2, 6))
        T = int(rng.integers(K, 40))
        base = BaSE(K, T, T, "arithmetic", gamma=0.05, commit=False)
        sweeps = SuccessiveElimination(K, T, gamma=0.05)
        while base.left > 0:
            plan = the_plan(base)
            assert plan == the_plan(sweeps)
            outcome = rewards_of(rng, plan, np.arange(K) / 2)
            base.play(plan, outcome)
            sweeps.play(plan, outcome)


# ---- known numbers ---------------------------------------------------------------------------

T = 50_000
FIGURE_A = {
    # specs of Figure 1 (a), K = 3, as in the authors' program: mean regret / T of 1000 runs,
    # M = 2..7
    "minimax": [0.0452, 0.0127, 0.0103, 0.0099, 0.0094, 0.0100],
    "geometric": [0.0613, 0.0439, 0.0259, 0.0199, 0.0178, 0.0177],
    "arithmetic": [0.0333, 0.0222, 0.0167, 0.0135, 0.0115, 0.0101],
}
UCB1_A = 0.0057
RUNS_OF_REFERENCE, PRINTED = 1000, 0.0001


def regret_of(oracle: ArmsOracle) -> float:
    """Regret / T on the figure's instance: means .6, .5, ..., .5."""
    return 0.1 * sum(oracle.N[1:]) / T


def batched_regrets(make, num: int, num_arms: int, seed: int) -> np.ndarray:
    """Regret / T of `num` runs."""
    means = np.array([0.6] + [0.5] * (num_arms - 1))
    rng = np.random.default_rng(seed)
    return np.array([regret_of(finished(make(rng), rng, means)) for _ in range(num)])


def check(regrets: np.ndarray, reference: float) -> None:
    """Agreement within 4 combined standard errors, and the rounding of the printed number."""
    sem = regrets.std(ddof=1) * math.sqrt(1 / len(regrets) + 1 / RUNS_OF_REFERENCE)
    assert regrets.mean() == pytest.approx(reference, abs=4 * sem + PRINTED / 2)


CELLS = [(kind, M) for kind in FIGURE_A for M in range(2, 8)]


def base_regrets(kind: str, M: int, num: int) -> np.ndarray:
    def make(rng):
        return BaSE(3, T, M, kind, gamma=0.5, commit=False, rng=rng)

    return batched_regrets(make, num, 3, seed=M)


@pytest.mark.parametrize(("kind", "M"), CELLS[::2])
def test_base_has_the_regret_of_the_figure(kind, M):
    check(base_regrets(kind, M, 200), FIGURE_A[kind][M - 2])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "M"), CELLS)
def test_base_has_the_regret_of_the_figure_in_many_runs(kind, M):
    check(base_regrets(kind, M, 10_000), FIGURE_A[kind][M - 2])


def ucb1_regrets(num: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    regrets = []
    for _ in range(num):
        oracle = UCB1(3, T, rng=rng)
        noise = rng.standard_normal(T).tolist()
        for x in noise:
            arm = the_plan(oracle)
            oracle.play(arm, (0.6 if arm == 0 else 0.5) + x)
        regrets.append(regret_of(oracle))
    return np.array(regrets)


@pytest.mark.slow
def test_ucb1_has_the_regret_of_the_figure_in_many_runs():
    check(ucb1_regrets(200), UCB1_A)


def base_minus_etc(kind: str, M: int, num: int) -> tuple[float, float]:
    """The mean difference of regret / T for two arms, and its standard error."""
    base = batched_regrets(
        lambda rng: BaSE(2, T, M, kind, gamma=0.5, commit=False, rng=rng), num, 2, seed=M
    )
    etc = batched_regrets(lambda rng: ETC(2, T, M, kind, rng=rng), num, 2, seed=M + 100)
    return base.mean() - etc.mean(), math.hypot(base.std(), etc.std()) / math.sqrt(num)


@pytest.mark.parametrize(("M", "num"), [(3, 400), (4, 400), (5, 2000)])
def test_geometric_etc_is_below_geometric_base(M, num):
    difference, sem = base_minus_etc("geometric", M, num)
    assert difference > 4 * sem


@pytest.mark.slow
def test_geometric_etc_is_a_little_below_geometric_base_with_six_batches():
    difference, sem = base_minus_etc("geometric", 6, 20_000)  # .0009, of .0091
    assert difference > 4 * sem


@pytest.mark.parametrize("M", [3, 4, 5, 6, 7])
def test_minimax_base_is_below_minimax_etc(M):
    difference, sem = base_minus_etc("minimax", M, 400)
    assert difference < -4 * sem
