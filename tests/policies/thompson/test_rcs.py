"""RCS: the oracle by hand."""

import pytest

from tests.oracles.thompson.rcs import RCS
from tests.policies.oracle_runs import seen
from tests.policies.thompson.cases import CYCLE, samples

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_rcs_by_hand():
    oracle = RCS(2)
    best_is_0, best_is_1 = samples({(0, 1): 0.9}, 2), samples({(0, 1): 0.1}, 2)
    assert oracle.allowed(best_is_1) == {(1, 0)}
    for _ in range(3):  # u_10 = .594 (t = 2), .529 (t = 3)
        assert oracle.allowed(best_is_0) == {(0, 1)}
        oracle.play(0, 1, True)
    assert oracle.allowed(best_is_0) == {(0, 0)}  # t = 4: u_10 = .485 < u_00
    assert oracle.allowed(best_is_1) == {(1, 0)}
    assert oracle.memories == [(3, 0)]


@pytest.mark.parametrize(("count", "firsts"), [("always", {0, 2}), ("fallback", {0, 1, 2})])
def test_rcs_takes_the_least_frequent_champion_if_the_samples_have_none(count, firsts):
    oracle = RCS(3, count=count)
    drawn = samples({(0, 1): 0.1, (0, 2): 0.3, (1, 2): 0.5}, 3)
    assert {c for c, _ in oracle.allowed(drawn)} == {0, 1, 2}  # 1 does not beat 2
    assert oracle.allowed(samples({(0, 1): 0.1, (0, 2): 0.3, (1, 2): 0.9}, 3)) == {(1, 0), (1, 2)}
    oracle.play(1, 0, True)
    assert {c for c, _ in oracle.allowed(CYCLE)} == firsts
    oracle.play(2, 0, True)
    assert {c for c, _ in oracle.allowed(CYCLE)} == firsts - {2}


def test_rcs_may_take_the_champion_among_ties():
    oracle = RCS(2, alpha=0.0)
    seen(oracle, [[0, 1], [1, 0]], 3)
    assert oracle.allowed(samples({(0, 1): 0.9}, 2)) == {(0, 0), (0, 1)}
