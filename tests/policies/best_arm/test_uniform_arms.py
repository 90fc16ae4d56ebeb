"""Uniform pulls: the oracle's turns, padded arms left out."""

import numpy as np
import pytest

from jaxduel.policies.best_arm.uniform_arms import UniformArms
from tests.oracles.best_arm.uniform_arms import UniformArms as Oracle
from tests.policies.arms.histories import (
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
)
from tests.policies.arms.oracle_runs import the_plan
from tests.policies.arms.replays import PADDED, mask, run_keys, sizes

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_the_oracle_takes_turns():
    oracle = Oracle(3)
    for arm in (0, 1, 2, 0):
        assert the_plan(oracle) == arm
        oracle.play(arm, 1.0)


@pytest.mark.parametrize("num_arms", [PADDED, 2])
def test_arms_take_turns(num_arms):
    num, steps = 20, 40
    active = sizes(num, num_arms, 1)
    policies = [UniformArms(num_arms=num_arms, active_arms=mask(k, num_arms)) for k in active]
    arms = random_arms(num_arms, num, 1)
    pulled, rewards = pull_histories(stacked(policies), arms, run_keys(num, 1), steps)
    for run, k in enumerate(active.tolist()):
        oracle = Oracle(k)
        for arm, reward in zip(pulled[run].tolist(), rewards[run].tolist(), strict=True):
            assert oracle.allowed() == {arm}
            oracle.play(arm, reward)
    assert np.array_equal(pulled, np.arange(steps) % active[:, None])
    late, _ = late_pull_histories(stacked(policies), arms, run_keys(num, 1), steps, delay=8)
    assert np.array_equal(pulled, late)
