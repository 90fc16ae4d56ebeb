import pytest
from jaxduel.experiments.requests import plans_at_hand, require_request

import jaxduel as jd
from jaxduel.experiments.plans import PanelPlan
from jaxduel.experiments.tasks import DataSet

WHAT = {"1a": "sushi", "1b": "arxiv"}


@pytest.mark.parametrize(
    ("seed", "runs", "horizon", "message"),
    [
        (0, 0, None, "runs must be at least 1"),
        (-1, None, None, "seed must be from 0"),
        (2**32, None, None, "seed must be from 0"),
        (0, None, 0, "horizon must be a whole number"),
        (0, None, 2**31, "horizon must be a whole number"),
    ],
)
def test_requests_that_cannot_be_met(seed, runs, horizon, message):
    with pytest.raises(jd.InputError, match=message):
        require_request("a paper", seed, runs, horizon)


def test_requests_that_can_be_met():
    require_request("a paper", 2**32 - 1, 1, 2**31 - 1)
    require_request("a paper", 0, None, None)


def plan(name: str) -> PanelPlan:
    if name == "1a":
        raise jd.InputError("sushi16.npy is not on this machine.")
    return PanelPlan(name, DataSet(name, name, ()), ())


def test_panels_without_data_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="panel 1a, sushi, is missing: sushi16.npy"):
        plans, notes = plans_at_hand(["1a", "1b"], WHAT, plan)
    assert [p.name for p in plans] == ["1b"]
    assert notes == ["panel 1a, sushi, is missing: sushi16.npy is not on this machine."]


def test_nothing_left_is_an_error():
    with (
        pytest.warns(UserWarning, match="panel 1a"),
        pytest.raises(jd.InputError, match=r"sushi16\.npy"),
    ):
        plans_at_hand(["1a"], WHAT, plan)
