"""The search for a crossing: exact for all limits up to int32, with and without a guess."""

import jax
import numpy as np
import pytest

from jaxduel.numerics.crossing import count_while_true

LAST = 2**31 - 1


def _cases():
    """Times, limits and last times at which the condition holds, and the numbers wanted."""
    rng = np.random.default_rng(0)
    few = np.stack(np.meshgrid(range(3), range(20), range(-1, 24)), axis=-1).reshape(-1, 3)
    t = np.concatenate((few[:, 0], rng.integers(0, LAST, 2_000), np.zeros(2_000, int)))
    left = LAST - t
    some = np.exp(rng.uniform(0, np.log(LAST), (2, len(t)))).astype(int)
    limit, ahead = np.minimum(some, left)
    limit[-1_000:] = left[-1_000:]
    ahead[-4_000::4], ahead[-3_999::4] = limit[-4_000::4], limit[-3_999::4] - 1
    limit[: len(few)], ahead[: len(few)] = few[:, 1], few[:, 2]
    return t, limit, t + ahead, np.clip(ahead, 0, limit)


@pytest.mark.parametrize("guess", ["none", "near", "off", "far"])
def test_the_crossing_is_exact(guess):
    t, limit, last, wanted = _cases()
    about = {
        "none": None,
        "near": last.astype(np.float32),
        "off": (1.001 * last + 5).astype(np.float32),
        "far": np.resize(np.float32([np.inf, -np.inf, 0, 1e6]), len(t)),
    }[guess]

    def one(t, limit, last, about):
        return count_while_true(lambda time: time <= last, t, limit, about)

    times = (x.astype(np.int32) for x in (t, limit, last))
    found = jax.jit(jax.vmap(one, in_axes=(0, 0, 0, None if about is None else 0)))(*times, about)
    np.testing.assert_array_equal(found, wanted)
