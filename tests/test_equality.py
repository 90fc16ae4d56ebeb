"""Results are equal if all their parts are."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.equality import same
from jaxduel.gradients import RegretGradient

pytestmark = pytest.mark.usefixtures("quick_compilation")


def _run(seed=0):
    return jd.simulate("rucb", "arxiv", 100, num_seeds=4, seed=seed)


def test_results_are_equal_if_all_parts_are(tmp_path):
    one, again, other = _run(), _run(), _run(seed=1)
    assert one == again
    assert [one, again].index(again) == 0
    assert one != other
    assert one != "rucb"
    one.save(tmp_path / "one.nc")
    assert jd.load_result(tmp_path / "one.nc") == one


def test_arms_that_rules_name_are_equal_if_all_parts_are():
    one, again, other = (jd.identify("rucb", "arxiv", votes=v, num_seeds=4) for v in (9, 9, 8))
    assert one == again
    assert one != other


def test_gradients_are_equal_if_all_parts_are():
    one, again, other = (
        RegretGradient(np.array([9]), np.ones(1), np.ones(1), {"p": np.ones(1)}, slope, 4, "weak")
        for slope in ({"p": np.ones(1)}, {"p": np.ones(1)}, {"p": np.zeros(1)})
    )
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1, 2]), np.array([1, 2, 3]), False),
        ({"a": np.ones(2)}, {"a": np.ones(2)}, True),
        ({"a": 1}, {"b": 1}, False),
        ((1, np.zeros(2)), (1, np.ones(2)), False),
        ([1], [1, 1], False),
        (None, np.ones(1), False),
        ("1", 1, False),
    ],
)
def test_parts_are_compared_by_their_kind(one, other, equal):
    assert same(one, other) is equal
    assert same(other, one) is equal
