"""Sparring: the oracle by hand, who is rewarded."""

import jaxduel as jd
from tests.oracles.condorcet.sparring import Sparring
from tests.policies.condorcet.cases import play

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_sparring_by_hand():
    oracle = Sparring(2)
    for pair, left_wins in [((0, 0), True), ((1, 1), True), ((0, 0), False)]:
        assert oracle.allowed() == {pair}  # at t = 3 both machines see ties: the lowest index
        oracle.play(*pair, left_wins)
    # left: 1/2 + 1.172 and 1 + 1.657; right: 1/2 + 1.172 and 0 + 1.657
    assert oracle.allowed() == {(1, 0)}
    assert oracle.N.sum() == 0


def test_sparring_index_of_unplayed_arms():
    oracle = Sparring(3, unplayed=1.0)
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, True)
    # left: 1 + 0 and 1, a tie that arithmetic may break; right: 0 and 1
    assert oracle.allowed() == {(0, 1), (1, 1)}
    oracle = Sparring(3)
    for k in range(3):
        assert oracle.allowed() == {(k, k)}
        oracle.play(k, k, True)


# ---- the policy ---------------------------------------------------------------------------------


def test_both_machines_begin_alike_and_the_winners_is_rewarded():
    policy = jd.policies.make("sparring", num_arms=3)
    duels, state = play(policy, [1, 1, -1, 1])
    assert duels[:3] == [(0, 0), (1, 1), (2, 2)]
    # left: arms 0 and 1 won, 2 lost; right: only 2 won
    assert duels[3] == (0, 2)
    assert [x.tolist() for x in state[:2]] == [[2, 1, 1], [2, 1, 0]]
    assert [x.tolist() for x in state[2:4]] == [[1, 1, 2], [0, 0, 1]]
    duels, _ = play(policy, [1, -1, 1, 1])
    assert duels[3] == (0, 1)


def test_an_unplayed_arm_may_wait_instead():
    policy = jd.policies.make("sparring", num_arms=3, unplayed=1.0)
    duels, _ = play(policy, [1] * 4)
    # the left machine stays with the arm that wins; the right one goes on at once: sqrt(2.5 log n)
    # is 0 after one play, and 0 < 1; after two, the arm that lost last has 1.3 > 1
    assert duels == [(0, 0), (0, 1), (0, 0), (0, 1)]
