"""Oracle replay of the policies for arms with rewards: they pull what the papers allow."""

from functools import partial

import jax
import numpy as np
import pytest

from jaxduel.numerics import normal
from jaxduel.policies.arms.base import BaSE
from jaxduel.policies.arms.etc import ETC
from jaxduel.policies.arms.successive_elimination import SuccessiveElimination
from jaxduel.policies.arms.thompson_gaussian import ThompsonGaussian
from jaxduel.policies.arms.ucb1 import UCB1
from tests.oracles import base, etc, successive_elimination, thompson_gaussian, ucb1
from tests.policies.pull_histories import (
    pull_batch_histories,
    pull_histories,
    random_arms,
    stacked,
    step_keys,
)

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

PADDED = 6
"""Arms of a policy of which some histories use only the first ones."""
ROUNDS = 41
"""Rounds of a history on a named grid: no history has as many batches."""
KINDS = ("minimax", "geometric", "arithmetic")
WHOLE = np.random.default_rng(0)
"""For rewards that are whole numbers: float32 adds them exactly, so ties are ties."""


def mask(active, num_arms):
    return np.arange(num_arms) < active


def run_keys(num, seed):
    return jax.random.split(jax.random.key(seed), num)


def sizes(num, num_arms, seed):
    """How many arms are active: 2 to all where arms are padded, all of them elsewhere."""
    if num_arms < PADDED:
        return np.full(num, num_arms)
    return np.random.default_rng(seed).integers(2, num_arms + 1, num)


def horizons(num, seed, least, most):
    """Log-uniform whole numbers; a tenth of them the least."""
    rng = np.random.default_rng(seed)
    times = np.exp(rng.uniform(np.log(least), np.log(most), num)).astype(np.int64)
    return np.where(rng.random(num) < 0.1, least, np.clip(times, least, most))


def replay(policies, oracles, active, num_arms, rounds, seed, grain=0.0):
    """Plays one history of each policy and lets its oracle judge each batch.

    Returns:
      The oracles, after T pulls.
    """
    num = len(policies)
    arms = random_arms(num_arms, num, seed, grain)
    counts, sums = pull_batch_histories(stacked(policies), arms, run_keys(num, seed), rounds)
    assert counts.dtype == np.int32
    for run, oracle in enumerate(oracles):
        k, horizon = active[run], oracle.T
        assert not counts[run, :, k:].any(), f"run {run}: an arm that does not exist is pulled"
        for r in range(rounds):
            plan, allowed = tuple(counts[run, r, :k].tolist()), oracle.allowed()
            assert plan in allowed, f"run {run}, batch {r + 1}: {plan} not in {allowed}"
            if not any(plan):
                assert not counts[run, r:].any()
                break
            oracle.play(plan, sums[run, r, :k].tolist())
        assert oracle.used == counts[run].sum(dtype=np.int64) == horizon
    return oracles


GAMMAS = (1.0, 0.5, 0.1, 0.01, 1e-4, 1e-12)


def random_case(k, rng):
    """Horizon and number of batches of one history: as users have them, or extreme."""
    kind = rng.random()
    if kind < 0.6:
        T = int(np.exp(rng.uniform(np.log(k), np.log(1e5))))
        return T, int(rng.integers(1, min(T, 12) + 1))
    if kind < 0.85:  # as many batches as pulls, one batch, grids that begin below K
        T = int(rng.integers(k, ROUNDS))
        return T, int(rng.choice([T, T, T - 1, min(T, 3), 1]))
    T = int(rng.choice([10**9, 2**31 - 1, 2**30, rng.integers(10**8, 2**31)]))
    return T, int(rng.integers(1, ROUNDS))


def base_cases(kind, commit, num_arms, num, seed, rng=None, longest=2**31):
    """Policies, oracles and numbers of active arms, at random."""
    draw = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k in active.tolist():
        T, M = random_case(k, draw)
        if longest < T:
            T, M = longest, min(M, longest)
        gamma = float(draw.choice(GAMMAS))
        policies.append(
            BaSE(
                num_arms=num_arms,
                active_arms=mask(k, num_arms),
                horizon=T,
                num_batches=M,
                grid=kind,
                gamma=gamma,
                commit=commit,
            )
        )
        oracles.append(base.BaSE(k, T, M, kind, gamma, commit, rng=rng))
    return policies, oracles, active


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_base_follows_the_paper(kind, commit):
    policies, oracles, active = base_cases(kind, commit, PADDED, 800, seed=1)
    replay(policies, oracles, active, PADDED, ROUNDS, seed=1)
    assert all(oracle.rounds <= oracle.M for oracle in oracles)
    gone = [len(oracle.memories[0]) < oracle.K for oracle in oracles]
    assert 0.1 < np.mean(gone) < 0.9
    assert sum(len(oracle.memories) > 1 for oracle in oracles) < 0.02 * len(oracles)


@pytest.mark.parametrize("commit", [True, False])
def test_base_of_two_arms_follows_the_paper(commit):
    policies, oracles, active = base_cases("minimax", commit, 2, 300, seed=2)
    replay(policies, oracles, active, 2, ROUNDS, seed=2)


@pytest.mark.parametrize("kind", KINDS)
def test_base_breaks_ties_as_it_says(kind):
    policies, oracles, active = base_cases(kind, True, PADDED, 800, seed=3, rng=WHOLE, longest=3000)
    replay(policies, oracles, active, PADDED, ROUNDS, seed=3, grain=1.0)


def own_grids(num, num_batches, active, longest, seed):
    """Strictly increasing times of which the first is at least K."""
    rng = np.random.default_rng(seed)
    grids = []
    for k in active.tolist():
        last = int(np.exp(rng.uniform(np.log(k + num_batches), np.log(longest))))
        inner = np.exp(rng.uniform(np.log(k), np.log(last), 4 * num_batches)).astype(int)
        inner = rng.permutation(np.unique(inner[(inner >= k) & (inner < last)]))
        inner = np.sort(inner[: num_batches - 1])
        while len(inner) < num_batches - 1:  # a grid without gaps, at the end
            inner = np.arange(last - num_batches + 1, last)
        grids.append([*inner.tolist(), last])
    return grids


@pytest.mark.parametrize(("num_batches", "commit"), [(1, False), (2, True), (5, True), (5, False)])
def test_base_on_grids_of_ones_own_follows_the_paper(num_batches, commit):
    rng = np.random.default_rng(6)
    active = sizes(300, PADDED, 6)
    policies, oracles = [], []
    for k, times in zip(active.tolist(), own_grids(300, num_batches, active, 1e5, 6), strict=True):
        gamma = float(rng.choice(GAMMAS))
        policies.append(
            BaSE(
                num_arms=PADDED,
                active_arms=mask(k, PADDED),
                horizon=times[-1],
                grid=np.array(times),
                gamma=gamma,
                commit=commit,
            )
        )
        oracles.append(base.BaSE(k, times[-1], grid=times, gamma=gamma, commit=commit))
    replay(policies, oracles, active, PADDED, num_batches + 1, seed=6)


@pytest.mark.parametrize(("num_arms", "grain"), [(PADDED, 0.0), (2, 0.0), (PADDED, 1.0)])
def test_successive_elimination_follows_the_paper(num_arms, grain):
    num, rng = 300, np.random.default_rng(7)
    active = sizes(num, num_arms, 7)
    policies, oracles = [], []
    for k, T in zip(active.tolist(), horizons(num, 7, active, 120).tolist(), strict=True):
        gamma = float(rng.choice(GAMMAS))
        policies.append(
            SuccessiveElimination(
                num_arms=num_arms, active_arms=mask(k, num_arms), horizon=T, gamma=gamma
            )
        )
        oracles.append(
            successive_elimination.SuccessiveElimination(k, T, gamma, rng=WHOLE if grain else None)
        )
    replay(policies, oracles, active, num_arms, 61, seed=7, grain=grain)
    gone = [len(oracle.memories[0]) < oracle.K for oracle in oracles]
    assert 0.1 < np.mean(gone) < 0.9


@pytest.mark.parametrize(
    ("kind", "num_arms", "grain"),
    [*((kind, PADDED, 0.0) for kind in KINDS), ("geometric", 2, 0.0), ("geometric", 2, 1.0)],
)
def test_etc_follows_the_paper(kind, num_arms, grain):
    num, rng = 500, np.random.default_rng(8)
    active = sizes(num, num_arms, 8)
    policies, oracles = [], []
    for k in active.tolist():
        T, M = random_case(k, rng)
        if grain:
            T, M = min(T, 3000), min(M, 3000)
        policies.append(
            ETC(
                num_arms=num_arms,
                active_arms=mask(k, num_arms),
                horizon=T,
                num_batches=M,
                grid=kind,
            )
        )
        oracles.append(etc.ETC(k, T, M, kind, rng=WHOLE if grain else None))
    replay(policies, oracles, active, num_arms, ROUNDS, seed=8, grain=grain)
    early = [oracle.rounds < oracle.M for oracle in oracles if oracle.M >= 3]
    assert 0.1 < np.mean(early) < 0.9


def test_etc_on_grids_of_ones_own_follows_the_paper():
    active = sizes(300, PADDED, 9)
    policies, oracles = [], []
    for k, times in zip(active.tolist(), own_grids(300, 4, active, 1e5, 9), strict=True):
        policies.append(
            ETC(
                num_arms=PADDED,
                active_arms=mask(k, PADDED),
                horizon=times[-1],
                grid=np.array(times),
            )
        )
        oracles.append(etc.ETC(k, times[-1], grid=times))
    replay(policies, oracles, active, PADDED, 5, seed=9)


# ---- one pull at a time ----------------------------------------------------------------------


def ucb1_cases(index, num_arms, num, seed, rng=None):
    draw = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k, T in zip(active.tolist(), horizons(num, seed, active, 10**5).tolist(), strict=True):
        horizon = T if index == "horizon" else None
        scale = float(draw.choice([2.0, 2.0, 0.5, 0.02]))
        policies.append(
            UCB1(
                num_arms=num_arms,
                active_arms=mask(k, num_arms),
                horizon=horizon,
                index=index,
                scale=scale,
            )
        )
        oracles.append(ucb1.UCB1(k, horizon, scale, rng=rng))
    return policies, oracles, active


def check_pulls(oracles, active, arms, rewards):
    """Every pull is one that the oracle allows."""
    assert arms.dtype == np.int32
    for run, oracle in enumerate(oracles):
        pulls = zip(arms[run].tolist(), rewards[run].tolist(), strict=True)
        for t, (arm, reward) in enumerate(pulls):
            allowed = oracle.allowed()
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, reward)


@pytest.mark.parametrize(("num_arms", "num", "steps"), [(PADDED, 300, 100), (2, 150, 100)])
@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_follows_the_paper(index, num_arms, num, steps):
    policies, oracles, active = ucb1_cases(index, num_arms, num, seed=num_arms)
    arms = random_arms(num_arms, num, 10)
    histories = pull_histories(stacked(policies), arms, run_keys(num, 10), steps)
    check_pulls(oracles, active, *histories)


@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_follows_the_paper_for_long(index):
    policies, oracles, active = ucb1_cases(index, PADDED, 4, seed=11)
    histories = pull_histories(stacked(policies), random_arms(PADDED, 4, 11), run_keys(4, 11), 5000)
    check_pulls(oracles, active, *histories)


@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_gives_ties_to_the_first_arm(index):
    """Equal arms whose rewards are all 0: the first of the least pulled arms."""
    num, steps = 300, 100
    policies, _, active = ucb1_cases(index, PADDED, num, seed=12)
    arms = random_arms(PADDED, num, 12, grain=1.0)
    arms = arms._replace(means=np.zeros_like(arms.means), std=np.zeros_like(arms.std))
    pulled, _ = pull_histories(stacked(policies), arms, run_keys(num, 12), steps)
    expected = np.arange(steps) % active[:, None]
    np.testing.assert_array_equal(pulled, expected)


@partial(jax.jit, static_argnames=("steps", "num_arms"))
def _normals(keys, steps, num_arms):
    """The normals of (num,) runs, (num, steps, K)."""

    def of_run(key):
        return jax.vmap(lambda k: normal(k, (num_arms,)))(step_keys(key, steps))

    return jax.vmap(of_run)(keys)


@pytest.mark.parametrize(("num_arms", "num", "steps"), [(PADDED, 400, 100), (2, 200, 100)])
def test_thompson_gaussian_follows_the_paper_given_the_normals(num_arms, num, steps):
    rng = np.random.default_rng(13)
    active = sizes(num, num_arms, 13)
    policies, oracles = [], []
    for k in active.tolist():
        prior: dict[str, float] = {
            "std": float(rng.choice([1.0, 1.0, 0.3, 4.0])),
            "prior_mean": float(rng.choice([0.0, 0.0, 2.0, -1.0])),
            "prior_std": float(rng.choice([1.0, 1.0, 0.2, 10.0])),
        }
        policies.append(ThompsonGaussian(num_arms=num_arms, active_arms=mask(k, num_arms), **prior))
        oracles.append(thompson_gaussian.ThompsonGaussian(k, rng=None, **prior))
    keys = run_keys(num, 13)
    arms, rewards = pull_histories(stacked(policies), random_arms(num_arms, num, 13), keys, steps)
    normals = np.asarray(_normals(keys, steps, num_arms), np.float64)
    one = total = 0
    for run, oracle in enumerate(oracles):
        for t, z in enumerate(normals[run, :, : active[run]].tolist()):
            allowed = oracle.allowed_given(z)
            arm = int(arms[run, t])
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, float(rewards[run, t]))
            one, total = one + (len(allowed) == 1), total + 1
    assert one > 0.99 * total
