"""MergeRUCB: the oracle by hand, runs through several stages."""

import math

import pytest

import jaxduel as jd
from tests.choice import some
from tests.oracles.many_arms.merge_rucb import FAST, MergeRUCB, cut
from tests.policies.many_arms.cases import check_runs
from tests.policies.oracle_runs import play_out

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_cuts():
    assert len(list(cut(frozenset(range(5)), 2))) == math.factorial(5) / 4
    assert set(cut(frozenset("ab"), 4)) == {(frozenset("ab"),)}


def test_merge_rucb_two_arms_by_hand():
    oracle = MergeRUCB(2, **FAST)
    # u_10 = 1 / (n + 2) + sqrt(.51 log(n + 2) / (n + 2)): .519 for n = 5, .489 for n = 6
    for n in range(6):
        assert oracle.u(1, 0, 1) > 0.5
        assert oracle.allowed() == {(0, 1), (1, 0)}
        assert oracle.t == n + 1
        oracle.play(0, 1, True)
    assert oracle.u(1, 0, 1) < 0.5
    assert play_out(oracle, set(), 3) == [(0, 0)] * 3


def test_merge_rucb_batches_take_turns():
    oracle = MergeRUCB(5, **FAST, group_size=2, batches=[[0, 1], [2, 3], [4]])
    for pair in ((0, 1), (3, 2), (1, 0), (2, 3)):  # a batch of one arm is skipped
        assert oracle.allowed() == {pair, pair[::-1]}
        oracle.play(*pair, True)


def test_merge_rucb_takes_the_arm_of_the_largest_bound():
    oracle = MergeRUCB(3, batches=[[0, 1, 2]])
    oracle.play(0, 1, False)
    oracle.play(0, 2, False)
    # u_10 = u_20 = 2 / 3 + 1.61; u_21 = u_12 = 1 / 2 + 1.97
    assert oracle.allowed() == {(0, 1), (0, 2), (1, 2), (2, 1)}
    oracle.play(0, 1, False)  # u_10 = 3 / 4 + 1.40
    assert oracle.allowed() == {(0, 2), (1, 2), (2, 1)}


def test_merge_rucb_stages():
    oracle = MergeRUCB(4, **FAST, group_size=2, batches=[[0, 1], [2, 3]])
    oracle.W[0, 1] = oracle.N[0, 1] = oracle.N[1, 0] = 50
    assert oracle.allowed() == {(2, 3), (3, 2)}  # 1 leaves, 0 is alone
    (memory,) = oracle.memories
    assert memory.s == 1
    oracle.play(2, 3, True)  # 3 <= 4 / 2 + 1 arms are left
    (memory,) = oracle.memories
    assert memory == (((frozenset({0, 2, 3}),)), 0, 2, 1)


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_arms", "p"), some([(13, 3), (20, 4)], (), [(20, 4)]))
def test_many_arms_follow_the_program_through_all_stages(num_arms, p):
    policy = jd.policies.make("merge-rucb", num_arms=num_arms, group_size=p, **FAST)
    number, left = check_runs(
        policy,
        lambda first: MergeRUCB(num_arms, group_size=p, batches=first, **FAST),
        num=12,
        steps=700,
    )
    assert (number[:, 0] == -(-num_arms // p)).all()
    assert (number[:, -1] == 1).mean() >= 0.5
    assert ((number > 1) & (number < -(-num_arms // p))).any()
    assert (left[:, -1] == 1).mean() >= 0.25
