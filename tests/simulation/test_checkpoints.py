"""Checkpoints: good ones become int64, bad ones give one sentence, none takes memory first."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
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
def test_times_that_are_accepted(given, expected):
    times = resolve(given, 9)
    assert times.dtype == np.int64
    assert times.tolist() == expected


@pytest.mark.parametrize("number", [4, 4.0, np.int64(4)])
def test_a_number_is_of_so_many_times_and_the_changes(number):
    assert resolve(number, 1000).tolist() == [1, 10, 100, 1000]
    gap = jd.problems.load("gap")
    changing = jd.problems.piecewise([gap, gap], [50])
    assert resolve(number, 1000, changing).tolist() == [1, 10, 50, 100, 1000]
    assert resolve([1000], 1000, changing).tolist() == [1000]


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
        (0, "the number of checkpoints must be a whole number of at least 1, not 0"),
        (2.5, "the number of checkpoints must be a whole number"),
        (True, WHOLE),
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
