"""Double explore-then-commit: stages by hand, numbers of batches, what it refuses."""

from functools import partial

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests.policies.arms.histories import Arms, pull_batch_histories, pull_histories, stacked

pytestmark = pytest.mark.usefixtures("quick_compilation")

TWO_ARMS = [name for name in jd.policies.names() if name.startswith("detc") and name != "detc-arms"]


STEPS = 600
"""Of all runs by hand, so that they share programs."""


def _without_noise(play, name, means, horizon, **fields):
    """Plays of a run whose rewards are the arms' means."""
    policy = jd.policies.make(name, num_arms=len(means), horizon=horizon, **fields)
    row = np.array([means], np.float32)
    arms = Arms(row, np.zeros_like(row), np.zeros(1, np.float32))
    plays, _ = play(stacked([policy]), arms, jax.random.split(jax.random.key(0), 1), STEPS)
    return plays[0].tolist()


rounds = partial(_without_noise, pull_batch_histories)
single_pulls = partial(_without_noise, pull_histories)


def test_known_gap_by_hand():
    # log(T D^2) = 7.824, e = 1/2, T_1 = 251, tau = 68; stage III: t / 4 >= 7.824
    found = rounds("detc-known-gap", [0.0, 0.5], 10_000, gap=0.5)
    assert found[:2] == [[69, 69], [0, 252 - 69]]
    assert found[2:34] == [[1, 0]] * 32
    assert found[34:36] == [[0, 10_000 - 138 - 183 - 32], [0, 0]]


@pytest.mark.thorough
def test_a_larger_epsilon_shortens_stage_two():
    # T_1 = 78, tau = 48
    found = rounds("detc-known-gap", [0.0, 0.5], 10_000, gap=0.5, epsilon=0.9)
    assert found[:2] == [[49, 49], [0, 79 - 49]]


def test_batched_known_gap_by_hand():
    # (7.824 + k (2 sqrt(7.824) + 4)) / .125 = 139.3, 216.1, ...; |mu' - theta| = .04, .02
    late = rounds("detc-batched-known-gap", [0.0, 0.06], 10_000, gap=0.5)
    assert late[:5] == [[69, 69], [0, 183], [140, 0], [77, 0], [76, 0]]  # 293 .03 >= 7.824
    assert late[5] == [0, 10_000 - 138 - 183 - 293]


def test_unknown_gap_by_hand():
    # T_1 = 190.9; stage I: radius 6.04, 3.93; stage III: radius 6.17, 4.27
    found = single_pulls("detc", [0.0, 5.0], 1_000_000)
    assert found[:4] == [0, 1, 0, 1]
    assert found[4 : 4 + 189 + 3] == [1] * 189 + [0, 0, 1]
    assert set(found[196:]) == {1}


@pytest.mark.thorough
def test_unknown_gap_with_a_first_commitment_of_ones_own():
    # T_1 = 0.5: any means are apart; one pull of 1' exceeds T_1, so that stage III is next
    found = single_pulls("detc", [0.0, 7.0], 1_000, commit_pulls=0.5)
    assert found == [0, 1, 0] + [1] * (STEPS - 3)


def test_minimax_explores_again_when_stage_three_is_too_long():
    # stage I: radius .64 after 14 pulls, .47 after 16; log^2 T = 47.7: 48 pulls at most in III;
    # then sqrt(8/s log(T/s)) = .503 for s = 80, .498 for 81
    found = single_pulls("detc-minimax", [0.0, 0.5], 1_000, commit_pulls=20)
    assert found[:16] == [0, 1] * 8
    assert found[16:77] == [1] * (21 - 8) + [0] * 48
    assert found[77 : 77 + 162] == [0, 1] * 81
    assert set(found[77 + 162 :]) == {1}


@pytest.mark.thorough
def test_minimax_of_the_theory_commits_at_once():
    found = single_pulls("detc-minimax", [0.0, 20.0], 1_000_000)
    explored = 2 * found.count(0)
    assert found == [0, 1] * found.count(0) + [1] * (STEPS - explored)


def test_batched_by_hand():
    # sqrt(log T) = 3.72: 4, 8, 12 pulls of each; radius 2.52, 1.57, 1.18
    # N_1 = 10.5: radius 1.72; with D' = 1.5 and N_2 = 2.31 the next is after 50.4: .75
    found = rounds("detc-batched", [0.0, 1.5], 1_000_000)
    assert found[:6] == [[4, 4], [4, 4], [4, 4], [0, 191 - 12], [11, 0], [51 - 11, 0]]
    assert found[6] == [0, 1_000_000 - 24 - 179 - 51]


def test_batched_stage_three_is_bounded():
    # log^2 T = 190.9; D' = .1 would be tested after thousands of pulls
    found = rounds("detc-batched", [0.0, 0.1], 1_000_000)
    late = found.index([11, 0])
    assert found[late + 1] == [191 - 11, 0]
    assert found[late + 2] == [0, 1_000_000 - sum(map(sum, found[: late + 2]))]


def test_many_arms_by_hand():
    # sqrt(log T) = 3.72, log^2 T = 190.9
    found = rounds("detc-arms", [0.0, 6.0, 1.0], 1_000_000)
    assert found[:3] == [[4, 4, 4], [0, 191, 0], [1, 0, 0]]
    assert found[3:5] == [[1, 0, 0], [0, 0, 1]]  # 6 < 6.17, 6 >= 4.27
    assert found[5] == [0, 0, 1]  # 5 < 6.17, 5 >= 4.27
    assert found[6] == [0, 1_000_000 - 12 - 191 - 4, 0]


def test_many_arms_explore_again_where_an_arm_cannot_be_told_apart():
    found = rounds("detc-arms", [0.0, 0.1, 0.0], 1_000_000)
    assert found[2 : 2 + 382] == [[1, 0, 0]] * 191 + [[0, 0, 1]] * 191
    assert found[384] == [191, 191, 191]
    assert found[385] == [0, 1_000_000 - 12 - 191 - 382 - 573, 0]


def test_anytime_by_hand():
    """Epoch 1: x = 2; its radius of one pull is .98; epoch 2: x = 8, 2.58, of two pulls 1.87."""
    found = single_pulls("detc-anytime", [0.0, 1.0], 100)
    assert found[:5] == [0, 1, 1, 1, 1]
    # then 1' is arm 1; arm 0 is explored: of three pulls 1.18, of four .72
    assert found[5:9] == [0, 0, 0, 1]


@pytest.mark.parametrize("name", TWO_ARMS)
def test_two_arms_only(name):
    needed = {"gap": 0.5} if "gap" in jd.policies.parameters(name) else {}
    with pytest.raises(jd.InputError, match=f"^{name} is for 2 arms, not 3.$"):
        jd.policies.make(name, num_arms=3, horizon=100, **needed)
    made = jd.policies.make(name, num_arms=3, horizon=100, active_arms=[1, 1, 0], **needed)
    with pytest.raises(jd.InputError, match="the policy has 2 arms and the problem"):
        jd.simulate(made, jd.problems.gaussian([0.0, 0.1, 0.2]), 50)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "fields", "most"),
    [("detc-batched-known-gap", {"gap": 0.5}, 5), ("detc-batched", {}, 12)],
)
def test_batched_variants_need_few_batches(name, fields, most):
    """On average, whatever T is: the paper's O(1)."""
    problem = jd.problems.gaussian([1.0, 0.0])
    for horizon in (10_000, 1_000_000_000):
        policy = jd.policies.make(name, num_arms=2, horizon=horizon, **fields)
        result = jd.simulate(policy, problem, num_seeds=256, lanes=256, checkpoints=[horizon])
        assert (result.plays[:, -1].sum(axis=-1) == horizon).all()
        assert result.batches is not None
        assert result.batches.mean() < most


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [1, 2, 3, 5])
@pytest.mark.parametrize("name", [*TWO_ARMS, "detc-arms"])
def test_the_shortest_horizons_are_kept(name, horizon):
    fields = {"gap": 2.0} if "gap" in jd.policies.parameters(name) else {}
    policy = jd.policies.make(name, num_arms=2, horizon=horizon, **fields)
    problem = jd.problems.gaussian([1.0, 0.0])
    times = range(1, horizon + 1)
    result = jd.simulate(policy, problem, horizon, 50, checkpoints=[*times], lanes=50)
    assert (result.plays.sum(axis=-1) == result.checkpoints).all()
