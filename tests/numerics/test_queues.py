"""Queues: who owns their entries."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.queues import owners


@pytest.mark.parametrize("counts", [[3], [0, 2, 0, 0, 1, 4, 0], [1] * 9, [0, 0, 7, 0]])
def test_entries_belong_to_their_owners(counts):
    starts = jnp.asarray(np.cumsum(counts) - counts, jnp.int32)
    expected = np.repeat(np.arange(len(counts)), counts)
    for first in range(len(expected)):
        found = np.asarray(owners(starts, jnp.int32(first), 5))
        there = expected[first : first + 5]
        np.testing.assert_array_equal(found[: len(there)], there)
