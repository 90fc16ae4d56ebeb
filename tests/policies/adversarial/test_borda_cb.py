"""Borda Confidence Bound: the oracle by hand, when it commits, and that it is quiet then."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.adversarial.borda_cb import BordaCBState
from tests.oracles.adversarial.borda_cb import BordaCB
from tests.policies.adversarial.replays import told_late
from tests.policies.histories import KEY, duel_histories

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_by_hand():
    oracle = BordaCB(2, horizon=1, delta=0.9)
    pairs = {(0, 1), (1, 0)}
    # S = 2 for every second duel: 1 - width > width at t > 32 log(4 / 0.9) = 47.7
    for t in range(1, 49):
        assert oracle.allowed() == pairs
        assert oracle.t == t
        oracle.play(*((1, 0) if t % 2 else (0, 1)), not t % 2)
    assert oracle.S.tolist() == [48, 0]
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, False)
    assert oracle.allowed() == {(0, 0)}


def policy_of(num_arms=3, **fields):
    return jd.policies.make("borda-cb", num_arms=num_arms, **{"horizon": 1, "delta": 0.9, **fields})


def test_it_is_quiet_for_ever_once_one_arm_is_surely_the_best():
    policy = policy_of(4, active_arms=[1, 1, 1, 0])
    least = 16 * 3 * math.log(6 / 0.9) / 9  # t (lead / t)^2 has to be above this
    for lead, commits in ((math.floor(math.sqrt(400 * least)), False), (200, True)):
        state = BordaCBState(jnp.array([90, 90 + lead, 10, 0], jnp.int32), jnp.int32(400))
        assert (lead**2 / 400 > least) == commits
        after, run = policy.quiet(state, jnp.int32(1000), KEY)
        assert int(run.n) == (1000 if commits else 0)
        duel = policy.act(state, KEY)
        assert (duel.left == duel.right) == commits
        assert not commits or int(run.arm) == int(duel.left) == 1
        again = policy.update(after, jd.policies.Duel(run.arm, run.arm), jnp.int32(1), KEY)
        jax.tree.map(np.testing.assert_array_equal, again, state)


def test_outcomes_that_arrive_late_count_as_those_that_arrive_at_once():
    policy = policy_of()
    start = BordaCBState(jnp.array([3, 1, 0], jnp.int32), jnp.int32(9))
    alone, withheld, late = told_late(policy, start, (1, 1, -1, 1))
    jax.tree.map(np.testing.assert_array_equal, withheld, start)
    assert np.array_equal(late.won, start.won + sum(each.won - start.won for each in alone))
    assert int(late.t) == 13


def commits_by_numpy(p, log_term, runs, steps):
    """Times of commitment and the arms, (runs,), in float64: of uniform pairs, all at once."""
    K, rng = len(p), np.random.default_rng(0)
    x = rng.integers(K, size=(runs, steps))
    y = (x + rng.integers(1, K, size=(runs, steps))) % K
    won = rng.random((runs, steps)) < p[x, y]
    t = np.arange(1, steps + 1)
    S = np.stack([K * np.cumsum(won & (x == i), axis=1) for i in range(K)], axis=-1)
    second, first = np.moveaxis(np.sort(S, axis=-1)[..., -2:], -1, 0) / t
    width = 2 * np.sqrt(K / t * log_term)
    commits = first - width > second + width
    assert commits.any(axis=1).all()
    when = commits.argmax(axis=1)
    return when + 1, S[np.arange(runs), when].argmax(axis=1)


@pytest.mark.thorough
def test_it_commits_when_a_plain_program_does():
    """On the instance of a fixed gap of scores, D = 0.6: all pairs are even but those of one arm.

    About 16 K log(2 K T / delta) / D^2 = 890 duels; less, as it commits at a chance lead.
    """
    K, gap, horizon, delta, runs, steps = 3, 0.6, 10, 0.1, 1000, 2500
    p = np.full((K, K), 0.5)
    p[1, [0, 2]] += (K - 1) / K * gap
    p[[0, 2], 1] -= (K - 1) / K * gap
    log_term = math.log(2 * K * horizon / delta)
    policy = policy_of(K, horizon=horizon, delta=delta)
    preferences = np.broadcast_to(np.float32(p), (runs, K, K))
    keys = jax.random.split(KEY, runs)
    left, right, _ = map(np.asarray, duel_histories(policy, preferences, keys, steps))
    assert (left == right)[:, -1].all()
    assert (left[:, -1] == 1).all()
    found = (left == right).argmax(axis=1)
    assert ((left == right).sum(axis=1) == steps - found).all()
    expected, winners = commits_by_numpy(p, log_term, runs, steps)
    assert (winners == 1).all()
    error = math.hypot(found.std() / math.sqrt(runs), expected.std() / math.sqrt(runs))
    assert abs(found.mean() - expected.mean()) < 4 * error
    assert error < 0.02 * expected.mean()
