"""Counts in the problem's order: by NumPy, and by a program where they lie on an accelerator."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.simulation import tallies

NUM = 5


@pytest.mark.parametrize("lanes", [(3,), (2, 3)])
@pytest.mark.parametrize("points", [(), (4,)])
@pytest.mark.parametrize("of_pairs", [False, True])
def test_counts_are_reordered_to_the_same_on_an_accelerator(lanes, points, of_pairs, monkeypatch):
    rng = np.random.default_rng(0)
    arms = rng.permuted(np.broadcast_to(np.arange(NUM), (*lanes, NUM)), axis=-1).astype(np.int32)
    shape = (*lanes, *points, *(NUM,) * (2 if of_pairs else 1))
    counts = rng.integers(0, 2**31 - 1, shape, dtype=np.int32)
    expected = np.empty_like(counts)
    for lane in np.ndindex(lanes):
        order = np.ix_(arms[lane], arms[lane]) if of_pairs else arms[lane]
        expected[lane][(..., *order) if of_pairs else (..., order)] = counts[lane]
    found = tallies.reordered(arms, counts, of_pairs)
    monkeypatch.setattr(tallies, "is_on_cpu", lambda _: False)
    there = tallies.reordered(jnp.asarray(arms), jnp.asarray(counts), of_pairs)
    np.testing.assert_array_equal(found, expected)
    assert isinstance(there, jax.Array)
    np.testing.assert_array_equal(there, expected)
