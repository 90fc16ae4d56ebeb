"""Sequential halving: the oracle by hand, rounds, how often it errs; oracle replay."""

import math

import numpy as np
import pytest
from scipy import stats

from jaxduel.policies.base import UNDECIDED
from jaxduel.policies.best_arm.sequential_halving import SequentialHalving
from tests.oracles.best_arm.sequential_halving import SequentialHalving as Oracle
from tests.policies.arms.oracle_runs import answer, the_plan
from tests.policies.arms.replays import PADDED, horizons, pair, replay, sizes
from tests.policies.best_arm.budgets import errors, make, require_share, rounds_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_sequential_halving_by_hand():
    oracle = Oracle(5, 100)  # three rounds of 33
    assert the_plan(oracle) == (6,) * 5
    answer(oracle, 0.5, 0.2, 0.7, 0.1, 0.9)
    assert the_plan(oracle) == (11, 0, 11, 0, 11)
    answer(oracle, 0.6, 0.0, 0.55, 0.0, 0.5)  # arm 4 is the best over both rounds
    assert the_plan(oracle) == (16, 0, 16, 0, 0)
    assert oracle.answer() is None
    answer(oracle, 0.1, 0.0, 0.2, 0.0, 0.0)
    assert (oracle.answer(), the_plan(oracle)) == (2, (0, 0, 5, 0, 0))


def test_rewards_of_earlier_rounds_may_count():
    oracle = Oracle(5, 100, keep_rewards=True)
    answer(oracle, 0.5, 0.2, 0.7, 0.1, 0.9)
    answer(oracle, 0.6, 0.0, 0.55, 0.0, 0.5)  # .565, .603 and .641
    assert the_plan(oracle) == (0, 0, 16, 0, 16)


def test_two_rounds_for_eight_arms_by_hand():
    oracle = Oracle(8, 100, num_batches=2)  # 8 / sqrt(8) = 2.83
    answer(oracle, *np.arange(8) / 10)
    assert the_plan(oracle) == (0,) * 5 + (16,) * 3
    answer(oracle, *np.arange(8) / 10)
    assert oracle.answer() == 7


# ---- the policy ---------------------------------------------------------------------------------


def left_after(policy, means):
    """Arms that are left after each round but the last, and the answers after all of them."""
    plans, answers = rounds_of(policy, means)
    return [sum(n > 0 for n in plan) for plan in plans[1:]], answers


def test_rounds_pull_what_the_paper_says_and_the_answer_takes_the_rest():
    plans, answers = rounds_of(make(SequentialHalving, 5, 100, padding=2), [5, 4, 3, 2, 1, 9, 9])
    assert plans == [[6] * 5 + [0] * 2, [11] * 3 + [0] * 4, [16] * 2 + [0] * 5, [5] + [0] * 6]
    assert answers == [UNDECIDED, UNDECIDED, 0, 0]


@pytest.mark.parametrize("num_arms", [2, 3, 4, 6, 8, 9, 33])
def test_the_papers_number_of_rounds_is_the_default(num_arms):
    means = np.linspace(1, 0, num_arms)
    number = math.ceil(math.log2(num_arms))
    fields = {"num_arms": num_arms, "horizon": 1_000, "padding": 33 - num_arms}
    default = rounds_of(make(SequentialHalving, **fields), means)
    given = rounds_of(make(SequentialHalving, **fields, num_batches=number), means)
    assert default == given
    sizes = [num_arms]
    while sizes[-1] > 1:
        sizes.append(math.ceil(sizes[-1] / 2))
    assert [sum(n > 0 for n in plan) for plan in default[0]][:number] == sizes[:-1]


@pytest.mark.parametrize("keep_rewards", [False, True])
@pytest.mark.parametrize(
    ("num_arms", "num_batches", "sizes"),
    [
        (16, 1, [1]),
        (16, 2, [4, 1]),
        (17, 2, [4, 1]),  # 17 / 2^2.5 = 3.005
        (64, 3, [16, 4, 1]),
        (2, 3, [2, 2, 1]),
        (5, 9, [4, 4, 3, 2, 2, 2, 1]),  # 5 / 2^(7/3) = 0.99: two rounds fewer
    ],
)
def test_another_number_of_rounds_ends_with_one_arm(num_arms, num_batches, sizes, keep_rewards):
    policy = make(
        SequentialHalving,
        num_arms,
        1_007,
        padding=64 - num_arms,
        num_batches=num_batches,
        keep_rewards=keep_rewards,
    )
    found, answers = left_after(policy, np.linspace(1, 0, num_arms))
    assert found == sizes
    assert answers == [UNDECIDED] * (len(sizes) - 1) + [0, 0]


def test_only_the_rewards_of_the_round_count_unless_all_are_kept():
    """The first arm is far ahead in round 1; in round 2 both have the same law."""
    found = {}
    for keep in (False, True):
        policy = make(SequentialHalving, 3, 600, keep_rewards=keep)
        found[keep] = errors(policy, [0.3, 0.0, -9.0])
        each, again = 100, 150
        spread = np.sqrt(2 / (each + again if keep else again))
        require_share(found[keep], stats.norm.cdf(-0.3 / spread))
    assert found[True] < found[False]


@pytest.mark.parametrize("num_batches", [None, 1, 2])
def test_two_arms_err_as_often_as_a_normal_difference_is_negative(num_batches):
    gap, horizon = 0.5, 41
    policy = make(SequentialHalving, 2, horizon, num_batches=num_batches)
    each = horizon // (2 * (num_batches or 1))  # of B = 2 rounds the last one alone decides
    require_share(errors(policy, [gap, 0.0]), stats.norm.cdf(-gap * np.sqrt(each / 2)))


def program(means, horizon, rewards, num, seed):
    """Share of runs that name another arm than the first, by a program of its own."""
    rng, wrong = np.random.default_rng(seed), 0
    rounds = math.ceil(math.log2(len(means)))
    for _ in range(num):
        alive = np.arange(len(means))
        for _ in range(rounds):
            shape = len(alive), horizon // (len(alive) * rounds)
            mu = np.array(means)[alive, None]
            drawn = rng.normal(mu, 1, shape) if rewards == "gaussian" else rng.random(shape) < mu
            order = np.lexsort((rng.random(len(alive)), -drawn.sum(axis=1)))
            alive = alive[order[: -(-len(alive) // 2)]]
        wrong += alive[0] != 0
    return wrong / num


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("means", "horizon", "rewards"),
    [
        ([0.7, 0.2, 0.4, 0.0], 60, "gaussian"),
        ([0.8, 0.6, 0.5, 0.3, 0.6], 48, "bernoulli"),  # ties are common
    ],
)
def test_it_errs_as_often_as_a_program_of_its_own(means, horizon, rewards):
    policy, num = make(SequentialHalving, len(means), horizon), 15_000
    truth = program(means, horizon, rewards, num, seed=1)
    require_share(errors(policy, means, num, rewards), truth, num, other=num)


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_arms", "grain", "num_batches", "keep_rewards"),
    [
        (PADDED, 0.0, None, False),
        (PADDED, 0.0, None, True),
        (PADDED, 0.0, 2, False),
        (PADDED, 1.0, None, False),
        (PADDED, 0.0, 5, True),
        (2, 0.0, None, False),
        (2, 0.0, 1, False),
    ],
)
def test_sequential_halving_follows_the_paper(num_arms, grain, num_batches, keep_rewards):
    num, cases = 150, []
    active = sizes(num, num_arms, 4)
    least = active * (num_batches or np.ceil(np.log2(active)).astype(int))
    for k, T in zip(active.tolist(), horizons(num, 4, least, 2**31 - 1).tolist(), strict=True):
        fields = {"num_batches": num_batches, "keep_rewards": keep_rewards}
        cases.append(pair(SequentialHalving, Oracle, k, num_arms, T, **fields))
    rounds = (num_batches or 3) + 2
    oracles = replay(cases, active, num_arms, rounds, seed=4, grain=grain)
    assert all(len(oracle.memories[0]) == 1 for oracle in oracles)
    if not grain:
        assert np.mean([len(oracle.memories) == 1 for oracle in oracles]) > 0.8
