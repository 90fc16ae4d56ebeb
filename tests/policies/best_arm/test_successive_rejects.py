"""Successive rejects: the oracle by hand, phases, how often it errs; oracle replay."""

import numpy as np
import pytest
from scipy import stats

from jaxduel.policies.base import UNDECIDED
from jaxduel.policies.best_arm.successive_rejects import SuccessiveRejects
from tests.oracles.best_arm.successive_rejects import SuccessiveRejects as Oracle
from tests.policies.arms.oracle_runs import answer, the_plan
from tests.policies.arms.replays import PADDED, horizons, pair, replay, sizes
from tests.policies.best_arm.budgets import errors, make, require_share, rounds_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_successive_rejects_by_hand():
    oracle = Oracle(3, 43)  # c = 4/3: n_1 = 40 / 4, n_2 = 40 / (8/3)
    assert the_plan(oracle) == (10, 10, 10)
    answer(oracle, 0.5, 0.2, 0.7)
    assert the_plan(oracle) == (5, 0, 5)
    assert oracle.answer() is None
    answer(oracle, 0.9, 0.0, 0.1)  # .633 and .5 over all pulls
    assert (oracle.answer(), the_plan(oracle)) == (0, (3, 0, 0))


def test_a_tie_may_go_either_way():
    oracle = Oracle(3, 43)
    answer(oracle, 0.1, 0.1, 0.7)
    assert oracle.allowed() == {(0, 5, 5), (5, 0, 5)}


def test_phases_without_pulls_dismiss_arms_at_once():
    oracle = Oracle(5, 8)  # c = 1.783, n_k = 1, 1, 1, 1
    answer(oracle, 0.3, 0.1, 0.9, 0.2, 0.4)
    assert (oracle.answer(), the_plan(oracle)) == (2, (0, 0, 3, 0, 0))


# ---- the policy ---------------------------------------------------------------------------------


def test_phases_pull_what_the_paper_says_and_the_answer_takes_the_rest():
    plans, answers = rounds_of(make(SuccessiveRejects, 3, 43), [0.5, 0.2, 0.7])
    assert plans == [[10, 10, 10], [5, 0, 5], [0, 0, 3]]
    assert answers == [UNDECIDED, 2, 2]


def test_a_pull_of_each_arm_where_the_budget_has_no_more():
    plans, answers = rounds_of(make(SuccessiveRejects, 4, 4, padding=2), [0.1, 0.3, 0.2, 0, 1, 1])
    assert (plans, answers) == ([[1, 1, 1, 1, 0, 0]], [1])


@pytest.mark.parametrize("num_arms", [2, 3, 16, 50])
def test_the_largest_budget_is_kept_to(num_arms):
    horizon = 2**31 - 1
    policy = make(SuccessiveRejects, num_arms, horizon, padding=50 - num_arms)
    oracle = Oracle(num_arms, horizon)
    plans, answers = rounds_of(policy, np.linspace(1, 0, num_arms), rounds=50)
    for k, plan in enumerate(plans[:-1], start=1):
        assert plan[0] == oracle.n(k) - (oracle.n(k - 1) if k > 1 else 0)
    assert (np.sum(plans), answers[-1]) == (horizon, 0)


@pytest.mark.parametrize("horizon", [10, 41])
def test_two_arms_err_as_often_as_a_normal_difference_is_negative(horizon):
    gap, each = 0.5, (horizon - 1) // 2  # n_1 = ceil((T - 2) / 2)
    found = errors(make(SuccessiveRejects, 2, horizon), [gap, 0.0])
    require_share(found, stats.norm.cdf(-gap * np.sqrt(each / 2)))


def program(means, horizon, rewards, num, seed):
    """Share of runs that name another arm than the first, by a program of its own."""
    rng, num_arms, wrong = np.random.default_rng(seed), len(means), 0
    c = 0.5 + sum(1 / i for i in range(2, num_arms + 1))
    for _ in range(num):
        alive, total, pulls = list(range(num_arms)), np.zeros(num_arms), 0
        while len(alive) > 1:
            each = int(np.ceil((horizon - num_arms) / (c * len(alive)))) - pulls
            for i in alive:
                law = rng.normal(means[i], 1, each)
                drawn = law if rewards == "gaussian" else rng.random(each) < means[i]
                total[i] += drawn.sum()
            pulls += each
            worst = [i for i in alive if total[i] == min(total[j] for j in alive)]
            alive.remove(worst[rng.integers(len(worst))])
        wrong += alive[0] != 0
    return wrong / num


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("means", "horizon", "rewards"),
    [
        ([0.7, 0.2, 0.4, 0.0], 60, "gaussian"),
        ([0.8, 0.6, 0.5, 0.3, 0.6], 40, "bernoulli"),  # ties are common
    ],
)
def test_it_errs_as_often_as_a_program_of_its_own(means, horizon, rewards):
    policy, num = make(SuccessiveRejects, len(means), horizon), 10_000
    truth = program(means, horizon, rewards, num, seed=1)
    require_share(errors(policy, means, num, rewards), truth, num, other=num)


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_arms", "grain"), [(PADDED, 0.0), (2, 0.0), (PADDED, 1.0)])
def test_successive_rejects_follow_the_paper(num_arms, grain):
    num, cases = 300, []
    active = sizes(num, num_arms, 3)
    for k, T in zip(active.tolist(), horizons(num, 3, active, 2**31 - 1).tolist(), strict=True):
        cases.append(pair(SuccessiveRejects, Oracle, k, num_arms, T))
    oracles = replay(cases, active, num_arms, num_arms + 1, seed=3, grain=grain)
    assert all(len(oracle.memories[0]) == 1 for oracle in oracles)
    if not grain:
        assert np.mean([len(oracle.memories) == 1 for oracle in oracles]) > 0.8
