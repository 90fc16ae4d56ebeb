"""MergeDTS: the oracle by hand, runs through several stages given the samples."""

import numpy as np
import pytest

import jaxduel as jd
from tests.choice import some
from tests.oracles.many_arms.merge_dts import MergeDTS
from tests.oracles.many_arms.merge_rucb import FAST
from tests.policies.many_arms.cases import check_runs
from tests.policies.thompson.cases import CYCLE, samples

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_merge_dts_by_hand():
    oracle = MergeDTS(3, batches=[[0, 1, 2]])
    assert len(oracle.allowed()) == 6  # whatever the samples
    best_is_1 = samples({(0, 1): 0.2, (0, 2): 0.9, (1, 2): 0.7}, 3)
    theta2 = np.array([[0.5, 0.3, 0.9], [0.6, 0.5, 0.2], [0.8, 0.4, 0.5]])
    assert oracle.allowed(best_is_1, theta2) == {(1, 0)}  # theta_01 = .3 < theta_21 = .4
    assert oracle.allowed(CYCLE, theta2) == {(0, 1), (1, 0), (2, 1)}


def test_merge_dts_looks_at_its_batch_alone():
    oracle = MergeDTS(4, group_size=2, batches=[[0, 3], [1, 2]])
    best_is_1 = samples({(0, 1): 0.2, (1, 2): 0.7, (1, 3): 0.9, (0, 3): 0.1}, 4)
    theta2 = np.full((4, 4), 0.3)
    assert oracle.allowed(best_is_1, theta2) == {(3, 0)}
    oracle.play(3, 0, True)
    assert oracle.allowed(best_is_1, theta2) == {(1, 2)}


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mirrored", "num_arms", "p"), some([(True, 13, 3), (False, 20, 4)], (), [(False, 20, 4)])
)
def test_many_arms_follow_the_program_through_all_stages(mirrored, num_arms, p):
    policy = jd.policies.make(
        "merge-dts", num_arms=num_arms, group_size=p, mirrored=mirrored, **FAST
    )
    number, left = check_runs(
        policy,
        lambda first: MergeDTS(num_arms, group_size=p, batches=first, **FAST),
        num=12,
        steps=700,
    )
    assert (number[:, 0] == -(-num_arms // p)).all()
    assert (number[:, -1] == 1).mean() >= 0.5
    assert ((number > 1) & (number < -(-num_arms // p))).any()
    assert (left[:, -1] == 1).mean() >= 0.25
