"""Prices of turns: a table for policies of the package, one number for others."""

import numpy as np
import pytest

from jaxduel.policies.registry import names, policy_class
from jaxduel.simulation.turn_costs import ARMS, TURN_COSTS, UNKNOWN_COST, is_drawn, turn_cost
from tests.simulation.test_skipping import POLICIES, PULLS, RANDOM


def test_the_table_is_of_policies_that_fall_quiet():
    assert set(TURN_COSTS) <= set(POLICIES) | set(PULLS) | RANDOM
    assert all(len(costs) == len(ARMS) for costs in TURN_COSTS.values())


def test_prices_are_the_tables_and_lie_between_them_elsewhere():
    low, high, last = TURN_COSTS["dts"]
    dts = policy_class("dts")
    assert [turn_cost(dts, k, True) for k in (2, *ARMS, 500)] == [low, low, high, last, last]
    middle = turn_cost(dts, 9, True)
    share = np.log(9 / 5) / np.log(16 / 5)
    assert middle == pytest.approx(low + share * (high - low))
    assert turn_cost(object, 9, True) == UNKNOWN_COST


def test_runs_of_unknown_policies_count_as_drawn():
    assert {name for name in names() if is_drawn(policy_class(name))} == RANDOM
    assert is_drawn(object)
