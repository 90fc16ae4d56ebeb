import numpy as np
import pytest

from jaxduel.experiments.claims import at_least
from jaxduel.experiments.findings import Finder
from jaxduel.experiments.papers.ratio_claims import claim, over_best, over_other
from jaxduel.experiments.samples import Sample

FINALS = {"a": 10.0, "b": 40.0, "c": 20.0}
WHERE = ("x", "y")


@pytest.fixture
def find() -> Finder:
    """Three policies on two data sets, without noise."""
    times, runs = np.array([9]), np.arange(3)
    return Finder(
        {
            (data, name): Sample(name, name, times, np.full((3, 1), final), runs)
            for data in WHERE
            for name, final in FINALS.items()
        }
    )


def test_each_policy_is_measured_on_each_data_set(find):
    found = claim("", "", "", over_other(("a", "b"), "c", WHERE), at_least(2)).measured(find)
    assert [(m.where, m.ratio.value) for m in found.measurements] == [
        ("x", 0.5), ("y", 0.5), ("x", 2.0), ("y", 2.0),
    ]  # fmt: skip
    assert found.expected == 4
    assert found.verdict == "confirmed"


def test_a_policy_by_its_name_is_compared_with_the_best_of_others(find):
    found = claim("", "", "", over_best("a", ("b", "c"), WHERE), reason="so").measured(find)
    assert [m.ratio.value for m in found.measurements] == [0.5, 0.5]
    assert (found.expected, found.verdict, found.reason) == (2, "confirmed", "so")
