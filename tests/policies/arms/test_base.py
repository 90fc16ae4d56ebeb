"""BaSE: the oracle by hand, batches, commitments; oracle replay."""

import math

import numpy as np
import pytest

from jaxduel.policies.arms.base import BaSE
from jaxduel.policies.arms.grids import KINDS
from jaxduel.policies.arms.successive_elimination import SuccessiveElimination
from tests.oracles.arms.base import BaSE as Oracle
from tests.policies.arms.cases import counts_of, make, rounds_of
from tests.policies.arms.oracle_runs import answer, the_plan
from tests.policies.arms.replays import (
    GAMMAS,
    PADDED,
    ROUNDS,
    WHOLE,
    own_grids,
    pair,
    random_case,
    replay,
    sizes,
)

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_base_by_hand():
    # log(T K) = 8.006; after 300 pulls tau = 100: radius .283
    oracle = Oracle(3, 1000, grid=[300, 700, 1000])
    assert the_plan(oracle) == (100, 100, 100)
    answer(oracle, 0.5, 0.2, 0.7)  # arm 1 is .5 below, arm 0 only .2
    assert the_plan(oracle) == (200, 0, 200)
    answer(oracle, 0.7, 0.0, 0.55)  # .633 and .6 over all pulls
    assert the_plan(oracle) == (300, 0, 0)
    answer(oracle, 0.0, 0.0, 0.0)
    assert (the_plan(oracle), oracle.rounds, oracle.used) == ((0, 0, 0), 3, 1000)


def test_base_without_commitment_explores_to_the_end():
    oracle = Oracle(3, 1000, grid=[300, 700, 1000], commit=False)
    answer(oracle, 0.5, 0.2, 0.7)
    answer(oracle, 0.7, 0.0, 0.55)
    assert the_plan(oracle) == (150, 0, 150)


def test_base_gives_all_that_is_left_to_the_last_arm():
    oracle = Oracle(2, 1000, grid=[10, 100, 1000], gamma=0.1)
    answer(oracle, 0.0, 1.0)  # radius sqrt(.76 / 5) = .39
    assert the_plan(oracle) == (0, 990)


@pytest.mark.parametrize("commit", [True, False])
def test_base_of_one_batch(commit):
    assert the_plan(Oracle(2, 11, 1, commit=commit)) == ((11, 0) if commit else (6, 5))


def test_odd_pulls_wait_for_the_next_batch():
    oracle = Oracle(
        2, 101, grid=[5, 10, 101], gamma=0.5, commit=False, rng=np.random.default_rng(0)
    )
    assert the_plan(oracle) == (2, 2)
    # radius sqrt(.5 log 202 / 2) = 1.152 with tau = 2; 1.03 with 2.5
    answer(oracle, 1.1, 0.0)
    assert the_plan(oracle) == (3, 3)
    answer(oracle, 0.0, 0.0)
    assert the_plan(oracle) == (46, 45)


def test_first_grid_points_may_be_shorter_than_a_pull_per_arm():
    # geometric: 3, 10, 31, 100
    oracle = Oracle(6, 100, 4, "geometric", gamma=100.0)
    assert the_plan(oracle) == (1,) * 6
    answer(oracle, *[0.0] * 6)
    assert the_plan(oracle) == (1,) * 6  # t_2 - 6 = 4 is less than a pull per arm, too
    answer(oracle, *[0.0] * 6)
    assert the_plan(oracle) == (3,) * 6
    answer(oracle, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert (the_plan(oracle), oracle.rounds) == ((0, 0, 0, 0, 0, 70), 3)


def test_ties_go_to_the_first_arm_unless_floats_may_break_them():
    for rng, plans in [(np.random.default_rng(0), {(0, 90, 0)}), (None, {(0, 90, 0), (0, 0, 90)})]:
        oracle = Oracle(3, 96, grid=[6, 96], gamma=10.0, rng=rng)
        answer(oracle, 0.1, 0.3, 0.3)
        assert oracle.allowed() == plans


def test_a_threshold_met_exactly_eliminates_but_float32_may_err():
    gap = math.sqrt(math.log(200) / 5)
    for rng, plans in [
        (np.random.default_rng(0), {(90, 0)}),
        (None, {(90, 0), (45, 45)}),
    ]:
        oracle = Oracle(2, 100, grid=[10, 100], commit=False, rng=rng)
        answer(oracle, gap, 0.0)
        assert oracle.allowed() == plans


def test_a_set_that_is_in_doubt_stays_in_doubt_until_it_shows():
    gap = math.sqrt(math.log(200) / 5)
    oracle = Oracle(2, 100, grid=[10, 12, 100], gamma=1.0, commit=True)
    answer(oracle, gap, 0.0)
    assert oracle.allowed() == {(90, 0), (1, 1)}
    answer(oracle, gap, 0.0, plan=(1, 1))
    assert oracle.memories == [frozenset({0})]  # tau = 6 now
    with pytest.raises(AssertionError, match="not allowed"):
        answer(oracle, 0.0, 0.0, plan=(44, 44))


# ---- the policy ---------------------------------------------------------------------------------


def test_batches_of_the_papers_grid_fill_up_to_its_times():
    policy = make(num_batches=3)
    # 484 and 10,658 pulls: the odd ones, 1 and then 2, are left to the batch that follows
    assert counts_of(policy) == [[161] * 3, [3391] * 3, [39344, 0, 0]]
    explores = counts_of(make(num_batches=3, commit=False))
    assert explores == [[161] * 3, [3391] * 3, [13115, 13115, 13114]]


def test_a_given_grid_is_followed():
    policy = make(horizon=100, grid=[11, 40, 70, 100], commit=False)
    assert counts_of(policy) == [[3] * 3, [10] * 3, [10] * 3, [11, 10, 10]]


def test_the_arm_that_is_alone_takes_all_that_is_left_in_one_batch():
    # width after 100 pulls each: sqrt(log(3 10^4) / 100) = 0.32; arms 0 and 2 lose 0.5
    for commit in (False, True):
        policy = make(horizon=10_000, grid=[300, 600, 900, 10_000], commit=commit)
        counts = counts_of(policy, [0.0, 0.5, 0.0])
        assert counts == [[100, 100, 100], [0, 9700, 0]]


def test_an_arm_goes_when_the_width_has_shrunk_to_its_gap():
    # widths after 100, 200, 350 pulls each: 0.32, 0.23, 0.17; arm 2 goes after the second batch
    policy = make(horizon=10_000, grid=[300, 600, 900, 10_000])
    counts = counts_of(policy, [0.25, 0.2, 0.0])
    assert counts == [[100] * 3, [100] * 3, [150, 150, 0], [9100, 0, 0]]


def test_the_last_batch_goes_to_the_largest_average_and_on_ties_to_the_lowest_number():
    for means, best in (([0.0, 0.1, 0.05], 1), ([0.0, 0.1, 0.1], 1), ([0.0, 0.0, 0.0], 0)):
        counts = counts_of(make(horizon=1000, grid=[30, 60, 90, 1000]), means)
        assert np.flatnonzero(counts[-1]).tolist() == [best]


def test_one_batch_has_nothing_to_commit_on():
    policy = make(horizon=100, num_batches=1)
    assert counts_of(policy) == [[100, 0, 0]]
    policy = make(horizon=100, num_batches=1, commit=False)
    assert counts_of(policy) == [[34, 33, 33]]


def test_as_many_batches_as_pulls_are_successive_elimination():
    for seed in range(8):
        means = np.random.default_rng(seed).normal(0, 0.7, 4).astype(np.float32)
        fields = {"num_arms": 4, "horizon": 203, "gamma": np.float32(0.3)}
        every = make(num_batches=203, grid="arithmetic", commit=False, **fields)
        plain = make(SuccessiveElimination, **fields)
        (one, arms), (other, left) = (
            rounds_of(policy, means, np.float32(0.5), rounds=203) for policy in (every, plain)
        )
        assert (np.asarray(one) == np.asarray(other)).all()
        assert (np.asarray(arms) == np.asarray(left)).all()
        assert np.sum(one) == 203


# ---- oracle replay ------------------------------------------------------------------------------


def base_cases(kind, commit, num_arms, num, seed, rng=None, longest=2**31):
    """Policies with their oracles, and numbers of active arms, at random."""
    draw = np.random.default_rng(seed)
    active, cases = sizes(num, num_arms, seed), []
    for k in active.tolist():
        T, M = random_case(k, draw)
        if longest < T:
            T, M = longest, min(M, longest)
        fields = {"num_batches": M, "grid": kind, "gamma": float(draw.choice(GAMMAS))}
        cases.append(pair(BaSE, Oracle, k, num_arms, T, rng, commit=commit, **fields))
    return cases, active


@pytest.mark.thorough
@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_base_follows_the_paper(kind, commit):
    oracles = replay(*base_cases(kind, commit, PADDED, 800, seed=1), PADDED, ROUNDS, seed=1)
    assert all(oracle.rounds <= oracle.M for oracle in oracles)
    gone = [len(oracle.memories[0]) < oracle.K for oracle in oracles]
    assert 0.1 < np.mean(gone) < 0.9
    assert sum(len(oracle.memories) > 1 for oracle in oracles) < 0.02 * len(oracles)


@pytest.mark.thorough
@pytest.mark.parametrize("commit", [True, False])
def test_base_of_two_arms_follows_the_paper(commit):
    replay(*base_cases("minimax", commit, 2, 300, seed=2), 2, ROUNDS, seed=2)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_base_breaks_ties_as_it_says(kind):
    cases = base_cases(kind, True, PADDED, 800, seed=3, rng=WHOLE, longest=3000)
    replay(*cases, PADDED, ROUNDS, seed=3, grain=1.0)


@pytest.mark.thorough
@pytest.mark.parametrize(("num_batches", "commit"), [(1, False), (2, True), (5, True), (5, False)])
def test_base_on_grids_of_ones_own_follows_the_paper(num_batches, commit):
    rng = np.random.default_rng(6)
    active, cases = sizes(300, PADDED, 6), []
    for k, times in zip(active.tolist(), own_grids(300, num_batches, active, 1e5, 6), strict=True):
        fields = {"grid": np.array(times), "gamma": float(rng.choice(GAMMAS)), "commit": commit}
        cases.append(pair(BaSE, Oracle, k, PADDED, times[-1], **fields))
    replay(cases, active, PADDED, num_batches + 1, seed=6)
