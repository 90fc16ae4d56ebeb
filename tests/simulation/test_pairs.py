"""Plays of ordered pairs, where they are asked for."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests.simulation.toys import Cycle, Rounds

ALL = np.ones(3, bool)
PROBLEM = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
PLACE = {"num_seeds": 4, "lanes": 3, "devices": jax.devices()[:1]}
SETTINGS = {**PLACE, "record_pairs": True}


def test_pairs_are_ordered_and_counted_at_each_checkpoint():
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (1, 0), (2, 2), (0, 1)))
    result = jd.simulate(policy, PROBLEM, 6, checkpoints=[2, 6], shuffle_arms=False, **SETTINGS)
    assert result.pairs is not None
    assert result.pairs.dtype == np.int64
    assert (result.pairs[:, 0] == [[0, 0, 0], [2, 0, 0], [0, 0, 0]]).all()
    assert (result.pairs[:, 1] == [[0, 1, 0], [4, 0, 0], [0, 0, 1]]).all()


def test_pairs_are_in_the_order_of_the_problem_and_add_up_to_plays():
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 2)))
    result = jd.simulate(policy, PROBLEM, 6, checkpoints=[6], **SETTINGS)
    assert len(np.unique(result.pairs, axis=0)) > 1  # the shuffled arms of the seeds
    assert (result.pairs.sum(axis=(2, 3)) == 6).all()
    both = result.pairs + result.pairs.swapaxes(-1, -2)
    assert (both.sum(axis=-1) == result.plays).all()


def test_pairs_of_a_batched_policy():
    counts = np.array([[0, 2, 1], [0, 0, 3], [0, 0, 1]], np.int32)
    policy = Rounds(active_arms=ALL, horizon=7, counts=counts)
    result = jd.simulate(policy, PROBLEM, checkpoints=[7], shuffle_arms=False, **SETTINGS)
    assert (result.pairs[:, 0] == counts).all()


def test_pairs_change_no_other_number():
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 2)))
    with_pairs = jd.simulate(policy, PROBLEM, 100, **SETTINGS)
    without = jd.simulate(policy, PROBLEM, 100, **PLACE)
    assert without.pairs is None
    np.testing.assert_array_equal(with_pairs.plays, without.plays)
    together = jd.simulate_many([policy, policy], PROBLEM, 100, **SETTINGS)
    np.testing.assert_array_equal(together[1].pairs, with_pairs.pairs)


@pytest.mark.parametrize("regret", ["weak", "binary strong", "copeland"])
def test_pairs_open_in_xarray_whatever_the_regret(regret):
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 2)))
    result = jd.simulate(policy, PROBLEM, 6, checkpoints=[6], regret=regret, **SETTINGS)
    data = result.to_xarray()
    assert data["pairs"].dims == ("seed", "checkpoint", "left", "right")
    np.testing.assert_array_equal(data["pairs"], result.pairs)
    assert data["regret"].attrs["definition"] == regret
