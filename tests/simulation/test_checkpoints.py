"""Checkpoints: good ones become int64, bad ones give one sentence, none takes memory first."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.errors import InputError
from jaxduel.simulation.checkpoints import resolve

WHOLE = "non-empty list of whole numbers"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 5, 9], [1, 5, 9]),
        ([2.0, 9.0], [2, 9]),
        (range(1, 4), [1, 2, 3]),
        (np.array([3, 4], np.uint8), [3, 4]),
        (jnp.array([3, 4]), [3, 4]),
    ],
)
def test_what_is_accepted(given, expected):
    times = resolve(given, 9)
    assert times.dtype == np.int64
    assert times.tolist() == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], WHOLE),
        ([1, np.nan], WHOLE),
        ([1, np.inf], "from 1 to inf"),
        ([1, 1e300], r"from 1 to 1e\+300"),
        ([-3, 2], "from -3 to 2"),
        ([3, 3], "must increase"),
        (np.array([5, 4], np.uint64), "must increase"),
        ([[1, 2], [3, 4]], WHOLE),
        ([[1, 2], [3]], WHOLE),
        (["1", "2"], WHOLE),
        ("many", WHOLE),
        (7, r"a list of times, such as \[7\], not 7"),
        ([1, None], WHOLE),
        ([1, 10**30], WHOLE),
        ([1 + 0j], WHOLE),
        ([True], WHOLE),
        (iter([1, 2]), WHOLE),
        ({1: 2}, WHOLE),
        (range(1, 10**9), "999,999,999 are too many, at most 100,000 times"),
        (range(1, 10**20), "are too many, at most 100,000 times"),
    ],
)
def test_what_is_refused_in_one_sentence(given, message):
    with pytest.raises(InputError, match=message) as caught:
        resolve(given, 9)
    assert str(caught.value).endswith(".")
