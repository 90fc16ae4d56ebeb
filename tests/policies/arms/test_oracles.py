"""The oracles of arms with rewards: what holds in every run, known numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.oracles.arms.base import BaSE
from tests.oracles.arms.etc import ETC
from tests.oracles.arms.loops import ArmsOracle
from tests.oracles.arms.successive_elimination import SuccessiveElimination
from tests.oracles.arms.ucb1 import UCB1
from tests.policies.arms.oracle_runs import finished, rewards_of, the_plan


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


# ---- known numbers ------------------------------------------------------------------------------

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
