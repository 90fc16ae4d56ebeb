"""Ballots: votes of rounds, up to as many as int32 holds."""

import types

import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.policies.base import Batch
from jaxduel.simulation.ballots import cast_batch, is_full, no_ballots
from jaxduel.simulation.cells import Poll

MOST = 2**31 - 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("last", "votes", "passed"),
    [(MOST, MOST, 2), (MOST - 1, MOST, 2), (MOST - 1, MOST - 1, 2), (MOST, MOST - 1, 1)],
)
def test_votes_of_rounds_may_reach_the_largest_number(last, votes, passed):
    cell = types.SimpleNamespace(poll=Poll(np.array([5, last], np.int32)), instance=None)
    ballots = no_ballots(cell, jnp.arange(2))
    cast = 0
    for number in (4, votes - 4):
        counts = jnp.array([[0, number], [0, 0]], jnp.int32)
        ballots = cast_batch(cell, jnp.arange(2), ballots, Batch(counts), counts)
        cast += number
        assert int(ballots.votes) == min(cast, last + 1)
    assert int(ballots.passed) == passed
    assert bool(is_full(cell, ballots)) == (passed == 2)
    counted = [4, votes - 4 if votes <= last else 0]
    np.testing.assert_array_equal(ballots.wins[:, 0, 1], counted)
