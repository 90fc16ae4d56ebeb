"""Self-Sparring: the oracle by hand, its counts, the law of an arm, numbers."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.adversarial.self_sparring import SelfSparringState
from tests.best_of_posterior import assert_found, best_of
from tests.choice import some
from tests.oracles.adversarial.self_sparring import SelfSparring
from tests.policies.adversarial.numbers import assert_agree, regret
from tests.policies.adversarial.replays import brought, told_late
from tests.policies.histories import KEY, padded_policy, padded_preferences

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_by_hand():
    oracle = SelfSparring(3)
    assert oracle.allowed() == {(i, j) for i in range(3) for j in range(3)}
    theta = np.array([[0.1, 0.7, 0.2], [0.4, 0.4, 0.1]])
    assert oracle.allowed(theta) == {(1, 0), (1, 1)}
    oracle.play(1, 0, False)
    assert (oracle.won.tolist(), oracle.lost.tolist()) == ([2, 1, 1], [1, 2, 1])
    oracle.allowed(np.eye(3)[[0, 0]])
    oracle.play(0, 0, True)
    assert (oracle.won.tolist(), oracle.lost.tolist()) == ([3, 1, 1], [2, 2, 1])


# ---- the policy ---------------------------------------------------------------------------------


@partial(jax.jit, static_argnames="steps")
def histories(policy, preferences, keys, steps):
    """Pairs, outcomes and counts before each step, of (runs,)."""

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            won = u < p[duel.left, duel.right]
            after = policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here)
            return after, (*duel, won, state.won, state.lost)

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))[1]

    return jax.vmap(run)(preferences, keys)


@pytest.mark.thorough
@pytest.mark.parametrize("num_arms", some([2, 3, 5], [3]))
def test_counts_are_those_of_the_oracle(num_arms):
    policy = padded_policy("self-sparring", num_arms)
    preferences = padded_preferences(num_arms, 40, policy.num_arms - num_arms)
    keys = jax.random.split(jax.random.key(num_arms), 40)
    for run in zip(*map(np.asarray, histories(policy, preferences, keys, 60)), strict=True):
        oracle = SelfSparring(num_arms)
        for left, right, won, wins, losses in zip(*run, strict=True):
            assert np.array_equal(wins[:num_arms] + 1, oracle.won)
            assert np.array_equal(losses[:num_arms] + 1, oracle.lost)
            assert (int(left), int(right)) in oracle.allowed()
            oracle.play(int(left), int(right), bool(won))


@pytest.mark.thorough
def test_an_arm_is_played_as_often_as_it_is_the_best_of_the_posterior():
    """Both arms, independently, with the probabilities that SciPy integrates."""
    policy = jd.policies.make("self-sparring", num_arms=4, active_arms=[1, 1, 1, 0])
    won, lost = np.array([[3, 9, 0], [4, 8, 2]])
    state = SelfSparringState(*(jnp.asarray([*x, 0], jnp.int32) for x in (won, lost)))
    keys = jax.random.split(KEY, 40_000)
    assert_found(*jax.jit(jax.vmap(policy.act, (None, 0)))(state, keys), best_of(won, lost))


def test_outcomes_that_arrive_late_count_as_those_that_arrive_at_once():
    """Those of an arm with itself count before they arrive."""
    policy = jd.policies.make("self-sparring", num_arms=3)
    start = brought(policy, 30)
    alone, withheld, late = told_late(policy, start, (1, 1, -1, 1))
    changes = [np.array([each.won - start.won, each.lost - start.lost]) for each in alone]
    itself = [np.array_equal(won, lost) for won, lost in changes]
    assert 0 < sum(itself) < len(itself)
    for index, name in enumerate(("won", "lost")):
        before = getattr(start, name)
        told = [change[index] for change in changes]
        at_once = sum(change for change, own in zip(told, itself, strict=True) if own)
        assert np.array_equal(getattr(withheld, name), before + at_once)
        assert np.array_equal(getattr(late, name), before + sum(told))


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
def test_regret_agrees_with_another_program():
    """chang-li (self_sparring.py), 40 runs on the six rankers, at 1e3 and 1e4."""
    policy = jd.policies.make("self-sparring", num_arms=6)
    result = regret(policy, jd.problems.load("arxiv"), [1000, 10_000], 256)
    assert_agree(result, [(30.6, 1.4), (89.2, 5.1)])
