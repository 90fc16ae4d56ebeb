"""MultiSBM: the oracle by hand, whose turn it is, clocks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from tests.oracles.condorcet.multisbm import MultiSBM
from tests.policies.condorcet.cases import KEY, play

# ---- the oracle, by hand ------------------------------------------------------------------------


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


# ---- the policy ---------------------------------------------------------------------------------


def test_multisbm_hands_the_turn_to_the_arm_on_the_right():
    policy = jd.policies.make("multisbm", num_arms=4)
    duels, state = play(policy, [1, -1] * 100)
    assert [left for left, _ in duels[1:]] == [right for _, right in duels[:-1]]
    # every machine plays each arm once first, in index order
    for x in range(4):
        assert [right for left, right in duels if left == x][:4] == [0, 1, 2, 3]
    played = np.zeros((4, 4), int)
    reward = np.zeros((4, 4), int)
    for (x, y), outcome in zip(duels, [1, -1] * 100, strict=True):
        played[x, y] += 1
        reward[x, y] += outcome < 0
    assert np.array_equal(state.played, played)
    assert np.array_equal(state.reward, reward)
    assert np.array_equal(state.turns, played.sum(axis=1))


def test_multisbm_begins_with_a_uniform_arm():
    policy = jd.policies.make("multisbm", num_arms=5, active_arms=[1, 1, 1, 0, 0])
    keys = jax.random.split(jax.random.key(1), 9000)
    first = np.asarray(jax.vmap(lambda key: policy.init(key).left)(keys))
    share = np.bincount(first, minlength=5) / 9000
    assert (share[3:] == 0).all()
    assert (np.abs(share[:3] - 1 / 3) < 4.5 * np.sqrt(2 / 9 / 9000)).all()


def test_multisbm_can_take_the_common_clock():
    policies = [jd.policies.make("multisbm", num_arms=2, clock=c) for c in ("own", "global")]
    # S_0: arm 0 has 0.9 of 50, arm 1 0.2 of 20, and S_1 had 10^6 turns
    state = (
        policies[0]
        .init(KEY)
        ._replace(
            played=jnp.array([[50, 20], [10**6, 0]], jnp.int32),
            reward=jnp.array([[45, 4], [0, 0]], jnp.int32),
            turns=jnp.array([70, 10**6], jnp.int32),
            left=jnp.int32(0),
        )
    )
    # log 70 = 4.2: 0.9 + 0.46 against 0.2 + 0.73; log 10^6 = 13.8: 0.9 + 0.83 against 0.2 + 1.31
    assert [int(p.act(state, KEY).right) for p in policies] == [0, 0]
    state = state._replace(played=jnp.array([[50, 10], [10**6, 0]], jnp.int32))
    # 10 plays and 4 wins: 1.36 against 0.4 + 1.03 by its own clock
    assert [int(p.act(state, KEY).right) for p in policies] == [1, 1]
    state = state._replace(reward=jnp.array([[45, 2], [0, 0]], jnp.int32))
    # 2 wins: 0.2 + 1.03 = 1.23 < 1.36, but 0.2 + 1.86 = 2.06 > 1.73 by the common one
    assert [int(p.act(state, KEY).right) for p in policies] == [0, 1]
