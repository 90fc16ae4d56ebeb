"""The machines of Sparring and MultiSBM: indices, delay."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback, SupportsSkip
from jaxduel.policies.condorcet.sbm import select
from tests.oracles.choices import every_outcome
from tests.oracles.condorcet.sparring import select as select_by_hand
from tests.policies.condorcet.cases import KEY, step

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_equal_records_go_to_the_lowest_index():
    plays, rewards = np.array([9, 3, 3, 3]), np.array([0, 1, 1, 1])
    found = every_outcome(lambda x: select_by_hand(plays, rewards, 18, 2.5, math.inf, x))
    assert found == [1]


# ---- the policies -------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["sparring", "multisbm"])
def test_learning_late_agrees_with_learning_at_once(name):
    policy = jd.policies.make(name, num_arms=4)
    prompt = late = policy.init(KEY)
    left_wins, right_wins = np.zeros((2, 4, 4), np.int32)
    rng, update = np.random.default_rng(0), jax.jit(policy.update)
    for _ in range(50):
        won = rng.random() < 0.6
        before = prompt
        prompt, duel = step(policy, before, jnp.int32(1 if won else -1))
        left_wins[tuple(duel)] += won
        right_wins[tuple(duel)] += not won
        late = update(late, duel, jnp.int32(0), KEY)
    late = policy.learn(late, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    for ours, theirs in zip(late, prompt, strict=True):
        assert np.array_equal(ours, theirs)


def test_policies_that_every_comparison_teaches_have_no_quiet_runs():
    for name in ("sparring", "multisbm"):
        assert not isinstance(jd.policies.make(name, num_arms=3), SupportsSkip)
    for name in ("btm", "savage", "pbr", "interleaved-filter", "scb"):
        assert isinstance(jd.policies.make(name, num_arms=3, horizon=2), SupportsSkip)
