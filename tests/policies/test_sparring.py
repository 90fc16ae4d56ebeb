"""Sparring and MultiSBM: indices, clocks, who is rewarded, delay."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from jaxduel.policies.condorcet.sbm import select

KEY = jax.random.key(0)


@jax.jit
def _step(policy, state, outcome):
    duel = policy.act(state, KEY)
    return policy.update(state, duel, outcome, KEY), duel


def _played(policy, outcomes):
    state, duels = policy.init(KEY), []
    for outcome in outcomes:
        state, duel = _step(policy, state, jnp.int32(outcome))
        duels.append((int(duel.left), int(duel.right)))
    return duels, state


def _select(played, reward, n, unplayed=np.inf):
    active = jnp.array([True] * 3 + [False])
    arrays = jnp.array(played, jnp.int32), jnp.array(reward, jnp.int32)
    return int(select(*arrays, jnp.int32(n), active, jnp.float32(2.5), jnp.float32(unplayed)))


def test_the_index_is_that_of_ucb():
    # with log n = 0 the largest mean; 0.89 + 0.97 against 0.33 + 1.68 and 0.25 + 1.46 at n = 30;
    # 0.89 + 1.39 against 0.25 + 2.08 at n = 1000
    assert _select([2, 3, 4, 0], [1, 1, 1, 0], 1) == 0
    assert _select([9, 3, 4, 0], [8, 1, 1, 0], 30) == 1
    assert _select([9, 9, 4, 0], [8, 8, 1, 0], 1000) == 2
    # 0.8 + sqrt(2.5 log n / 100) against 0.2 + sqrt(2.5 log n / 5): equal at log n = 0.238
    assert _select([100, 5, 5, 0], [80, 1, 1, 0], 1) == 0
    assert _select([100, 5, 5, 0], [80, 1, 1, 0], 4) == 1
    # equal arms: the lowest; an arm never played: first, or at its own index
    assert _select([4, 4, 4, 0], [2, 2, 2, 0], 12) == 0
    assert _select([4, 4, 0, 0], [4, 2, 0, 0], 8) == 2
    assert _select([4, 4, 0, 0], [4, 2, 0, 0], 8, unplayed=1.0) == 0
    assert _select([0, 0, 0, 0], [0, 0, 0, 0], 0) == 0


def test_both_machines_begin_alike_and_the_winners_is_rewarded():
    policy = jd.policies.make("sparring", num_arms=3)
    duels, state = _played(policy, [1, 1, -1, 1])
    assert duels[:3] == [(0, 0), (1, 1), (2, 2)]
    # left: arms 0 and 1 won, 2 lost; right: only 2 won
    assert duels[3] == (0, 2)
    assert [x.tolist() for x in state[:2]] == [[2, 1, 1], [2, 1, 0]]
    assert [x.tolist() for x in state[2:4]] == [[1, 1, 2], [0, 0, 1]]
    duels, _ = _played(policy, [1, -1, 1, 1])
    assert duels[3] == (0, 1)


def test_an_unplayed_arm_may_wait_instead():
    policy = jd.policies.make("sparring", num_arms=3, unplayed=1.0)
    duels, _ = _played(policy, [1] * 4)
    # the left machine stays with the arm that wins; the right one goes on at once: sqrt(2.5 log n)
    # is 0 after one play, and 0 < 1; after two, the arm that lost last has 1.3 > 1
    assert duels == [(0, 0), (0, 1), (0, 0), (0, 1)]


def test_multisbm_hands_the_turn_to_the_arm_on_the_right():
    policy = jd.policies.make("multisbm", num_arms=4)
    duels, state = _played(policy, [1, -1] * 100)
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


@pytest.mark.parametrize("name", ["sparring", "multisbm"])
def test_learning_late_agrees_with_learning_at_once(name):
    policy = jd.policies.make(name, num_arms=4)
    prompt = late = policy.init(KEY)
    left_wins, right_wins = np.zeros((2, 4, 4), np.int32)
    rng, update = np.random.default_rng(0), jax.jit(policy.update)
    for _ in range(50):
        won = rng.random() < 0.6
        before = prompt
        prompt, duel = _step(policy, before, jnp.int32(1 if won else -1))
        left_wins[tuple(duel)] += won
        right_wins[tuple(duel)] += not won
        late = update(late, duel, jnp.int32(0), KEY)
    late = policy.learn(late, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    for ours, theirs in zip(late, prompt, strict=True):
        assert np.array_equal(ours, theirs)


def test_parameters_are_checked():
    with pytest.raises(jd.InputError, match="sparring: exploration must not be negative, not -1"):
        jd.policies.make("sparring", num_arms=3, exploration=-1.0)
    for wrong in (-np.inf, np.nan, -1.0):
        with pytest.raises(jd.InputError, match="multisbm: unplayed must be a number of at least"):
            jd.policies.make("multisbm", num_arms=3, unplayed=wrong)
    with pytest.raises(jd.InputError, match="clock must be 'own' or 'global', not 'wall'"):
        jd.policies.make("multisbm", num_arms=3, clock="wall")
