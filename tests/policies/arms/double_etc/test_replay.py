"""Double explore-then-commit: every round is one that the paper's lines allow."""

import numpy as np
import pytest

from jaxduel.policies import (
    DETC,
    DETCAnytime,
    DETCArms,
    DETCBatched,
    DETCBatchedKnownGap,
    DETCKnownGap,
    DETCMinimax,
)
from tests.choice import some
from tests.oracles.arms.double_etc.anytime import Anytime
from tests.oracles.arms.double_etc.batched import Batched
from tests.oracles.arms.double_etc.batched_known_gap import BatchedKnownGap
from tests.oracles.arms.double_etc.known_gap import KnownGap
from tests.oracles.arms.double_etc.many_arms import ManyArms
from tests.oracles.arms.double_etc.minimax import Minimax
from tests.oracles.arms.double_etc.unknown_gap import UnknownGap
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
)
from tests.policies.arms.replays import PADDED, WHOLE, horizons, mask, pair, replay, run_keys, sizes

pytestmark = pytest.mark.usefixtures("quick_compilation")

NUM, LONGEST = 200, 300


def gaps(T, rng, largest=4.0):
    """Gaps with T D^2 > 1, close to 1 and far from it."""
    least = 1.01 / np.sqrt(T)
    return {"gap": np.float32(np.exp(rng.uniform(np.log(least), np.log(max(largest, least)))))}


def own(T, rng):
    """T_1 of one's own, fractions and 0 included."""
    return {"commit_pulls": np.float32(rng.choice([0, 0.5, rng.integers(1, T + 1), T / 3]))}


ROUNDS = {
    "known gap": (DETCKnownGap, KnownGap, gaps),
    "known gap, epsilon": (
        DETCKnownGap,
        KnownGap,
        lambda T, rng: {**gaps(T, rng), "epsilon": np.float32(rng.uniform(0.05, 0.95))},
    ),
    "batched known gap": (DETCBatchedKnownGap, BatchedKnownGap, gaps),
    "batched": (DETCBatched, Batched, lambda T, rng: {}),
    "batched, T_1": (DETCBatched, Batched, own),
}
PULLS = {
    "unknown gap": (DETC, UnknownGap, lambda T, rng: {}),
    "unknown gap, T_1": (DETC, UnknownGap, own),
    "minimax": (DETCMinimax, Minimax, lambda T, rng: {}),
    "minimax, T_1": (DETCMinimax, Minimax, own),
}


@pytest.mark.parametrize(
    ("case", "grain"),
    some(
        [(case, grain) for case in ROUNDS for grain in (0.0, 1.0)],
        [("known gap", 0.0)],
    ),
)
def test_rounds_of_two_arms_follow_the_paper(case, grain):
    """Two of three arms exist."""
    policy, oracle, fields = ROUNDS[case]
    rng, exact = np.random.default_rng(1), WHOLE if grain else None
    cases = [
        pair(policy, oracle, 2, 3, int(T), exact, **fields(int(T), rng))
        for T in horizons(NUM, 2, 2, LONGEST)
    ]
    oracles = replay(cases, np.full(NUM, 2), 3, LONGEST, seed=3, grain=grain)
    ended = np.mean([oracle.memories[0].number == 4 for oracle in oracles])
    assert ended > 0.1


def pull_cases(case, grain):
    """Policies, and their oracles, of which T may be longer than the history, not shorter."""
    policy, oracle, fields = PULLS[case]
    rng, exact = np.random.default_rng(1), WHOLE if grain else None
    cases = [
        pair(policy, oracle, 2, 3, int(T), exact, **fields(int(min(T, LONGEST)), rng))
        for T in horizons(NUM, 2, LONGEST, 10**6)
    ]
    return zip(*cases, strict=True)


@pytest.mark.parametrize(
    ("case", "delay", "grain"),
    some(
        [(case, delay, grain) for case in PULLS for delay in (2, 5, 20) for grain in (0.0, 1.0)],
        [("unknown gap, T_1", 5, 0.0), ("minimax, T_1", 2, 1.0)],
    ),
)
def test_pulls_of_two_arms_follow_the_paper_where_rewards_come_late(case, delay, grain):
    """Two of three arms exist."""
    policies, oracles = pull_cases(case, grain)
    arms, keys = random_arms(3, NUM, 3, grain), run_keys(NUM, 3)
    pulled, rewards = late_pull_histories(stacked(policies), arms, keys, LONGEST, delay)
    for run, oracle in enumerate(oracles):
        plan_of = lambda arm, oracle=oracle: oracle.only(int(arm), 1)  # noqa: E731
        judge_late(oracle, pulled[run], rewards[run], delay, plan_of)
    ended = np.mean([oracle.memories[0].number == 4 for oracle in oracles])
    assert (ended > 0.1) == (case != "minimax")  # T_1 exceeds all T


@pytest.mark.thorough
@pytest.mark.parametrize("grain", [0.0, 1.0])
@pytest.mark.parametrize("case", PULLS)
def test_pulls_of_two_arms_follow_the_paper(case, grain):
    """Two of three arms exist."""
    policies, oracles = pull_cases(case, grain)
    arms, keys = random_arms(3, NUM, 3, grain), run_keys(NUM, 3)
    pulled, rewards = pull_histories(stacked(policies), arms, keys, LONGEST)
    for run, judge in enumerate(oracles):
        for t, (arm, reward) in enumerate(zip(pulled[run], rewards[run], strict=True)):
            plan, allowed = judge.only(int(arm), 1), judge.allowed()
            assert plan in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            judge.play(plan, [float(reward) * n for n in plan])
    ended = np.mean([judge.memories[0].number == 4 for judge in oracles])
    assert (ended > 0.1) == (case != "minimax")  # T_1 exceeds all T


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("policy", "oracle", "fields", "longest"),
    [
        (DETCBatchedKnownGap, BatchedKnownGap, lambda T, rng: gaps(T, rng, largest=0.05), 10**6),
        (DETCBatched, Batched, lambda T, rng: {}, 2**31 - 1),
    ],
)
def test_batches_of_long_runs_follow_the_paper(policy, oracle, fields, longest):
    rng = np.random.default_rng(4)
    times = horizons(100, 5, 10, longest)
    cases = [pair(policy, oracle, 2, 2, int(T), **fields(int(T), rng)) for T in times]
    replay(cases, np.full(100, 2), 2, 300, seed=6)


@pytest.mark.thorough
@pytest.mark.parametrize(("num_arms", "grain"), [(2, 0.0), (PADDED, 0.0), (PADDED, 1.0)])
def test_many_arms_follow_the_paper(num_arms, grain):
    active, exact = sizes(NUM, num_arms, 7), WHOLE if grain else None
    cases = [
        pair(DETCArms, ManyArms, k, num_arms, int(T), exact)
        for k, T in zip(active.tolist(), horizons(NUM, 8, active, 600), strict=True)
    ]
    oracles = replay(cases, active, num_arms, 600, seed=9, grain=grain)
    ends = {oracle.memories[0].number for oracle in oracles}
    assert ends >= {2, 3, 4, 5}


@pytest.mark.thorough
@pytest.mark.parametrize("grain", [0.0, 1.0])
def test_anytime_follows_the_paper(grain):
    num, steps = 100, 300
    policy = DETCAnytime(num_arms=3, active_arms=mask(2, 3))
    arms, keys = random_arms(3, num, 10, grain), run_keys(num, 10)
    pulled, rewards = pull_histories(stacked([policy] * num), arms, keys, steps)
    for run in range(num):
        oracle = Anytime(2, rng=WHOLE if grain else None)
        for t, (arm, reward) in enumerate(zip(pulled[run], rewards[run], strict=True)):
            allowed = oracle.allowed()
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(int(arm), float(reward))


@pytest.mark.parametrize("delay", some([2, 5, 60], [5]))
def test_anytime_follows_the_paper_where_rewards_come_late(delay):
    num, steps = 100, 300
    policy = DETCAnytime(num_arms=3, active_arms=mask(2, 3))
    arms, keys = random_arms(3, num, 10), run_keys(num, 10)
    pulled, rewards = late_pull_histories(stacked([policy] * num), arms, keys, steps, delay)
    for run in range(num):
        judge_late(Anytime(2), pulled[run], rewards[run], delay)
