"""RMED2: the oracle by hand, forced comparisons."""

import numpy as np
import pytest

import jaxduel as jd
from tests.oracles.choices import Choices
from tests.oracles.rmed.rmed1 import Loop
from tests.oracles.rmed.rmed2 import RMED2, Progress
from tests.policies.oracle_runs import play_out, seen
from tests.policies.rmed.cases import in_order, play

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_rmed2_explores_by_hand():
    """3 log(log t + .01) is .3 at t = 3, 1.001 at 4, 2.01 at 7, 2.5 at 10."""
    oracle = RMED2(3)
    pairs = play_out(oracle, {(0, 1), (0, 2), (1, 2)}, 9)
    assert pairs == [(0, 1), (0, 2), (1, 2)] * 3
    assert [(x.loop.L_C, x.loop.position, x.forced) for x in oracle.memories] == [
        ((0, 1, 2), 0, False)
    ]
    assert play_out(oracle, {(0, 1), (0, 2)}, 3) == [(0, 0), (1, 0), (2, 0)]


def test_rmed2_takes_the_opponent_that_costs_least():
    """Arm 2 loses 4:6 to i* = 0, at 4.97 per unit of evidence, and 1:9 to arm 1, at 1.36."""
    for t, right in [(31, 1), (12, 0)]:  # 10 > 10 / 1.237, 10 < 10 / .914
        oracle = RMED2(3, alpha=0.0)
        seen(oracle, [[0, 9, 6], [1, 0, 9], [4, 1, 0]], t)
        assert [oracle.opponent(i, 0, Choices()) for i in range(3)] == [-1, 0, 1]
        oracle.memories = [Progress(Loop((2,), frozenset({2}), frozenset(), 0))]
        assert oracle.allowed() == {(2, right)}


def test_rmed2_least_estimated_regret():
    """Opponents of arm 1: 2 at regret 0 / D(.4), and 3 at .1 / D(.1) = .27."""
    wins = [[0, 6, 4, 5], [4, 0, 4, 1], [6, 6, 0, 5], [5, 9, 5, 0]]
    for floor, b in [(0.01, 3), (0.0, 2)]:
        oracle = RMED2(4, floor=floor)
        seen(oracle, wins, 61)
        assert oracle.opponent(1, 0, Choices()) == b


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_first_pair_that_lacks_comparisons_comes_first():
    policy = jd.policies.make("rmed2", num_arms=4)
    _, duels = play(policy, [1] * 14)
    # 3 loglog t exceeds 1 from t = 4 on, 2 from 7 on, 3 from 15 on; (0, 1) is first again each time
    expected = [(0, 1), (0, 2), (0, 3), (0, 1), (0, 2), (0, 3)]
    expected += [(0, 1), (0, 2), (0, 3), (1, 2), (1, 2), (1, 2), (1, 3), (1, 3)]
    assert [tuple(d) for d in duels.tolist()] == expected


@pytest.mark.thorough
def test_without_alpha_every_pair_is_compared_once_and_alpha_forces_more():
    fewest = []
    for alpha in (0.0, 3.0, 6.0):
        duels = in_order(jd.policies.make("rmed2", num_arms=4, alpha=alpha), 300)
        made = np.zeros((4, 4), int)
        np.add.at(made, tuple(duels.T), 1)
        fewest.append((made + made.T)[np.triu_indices(4, 1)].min())
        if alpha == 0:
            first = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [0, 0], [1, 0]]
            assert duels[:8].tolist() == first
    # alpha loglog 300 = 5.2 and 10.5
    assert fewest == [1, 6, 11]
