"""LUCB: the oracle by hand, rounds, the answer and what follows it, how often it errs; oracle
replay."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import UNDECIDED, RewardFeedback
from jaxduel.policies.best_arm.lucb import LUCB
from jaxduel.policies.registry import to_32_bits
from tests.oracles.best_arm.lucb import LUCB as Oracle
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    random_arms,
    stacked,
    step_keys,
)
from tests.policies.arms.oracle_runs import the_plan
from tests.policies.arms.replays import PADDED, mask, run_keys, sizes

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_lucb_by_hand():
    oracle = Oracle(3, delta=0.5, std=0.1)
    for arm, reward in enumerate([0.1, 0.6, 0.5]):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    # t = 1: beta = .1 sqrt(2 log 7.5) = .2007 each
    for arm, reward in ((1, 0.6), (2, 0.1)):
        assert (the_plan(oracle), oracle.answers()) == (arm, {None})
        oracle.play(arm, reward)
    # t = 2: beta = .1 sqrt(2 log 120) = .309 of one pull, .219 of two; .3 + .219 > .1 + .309
    for arm, reward in ((1, 0.9), (2, 0.0)):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    # t = 3: beta = .1 sqrt(2 log 607.5) = .358 of one pull, .207 of three; .458 < .7 - .207
    assert (the_plan(oracle), oracle.answers()) == (1, {1})
    oracle.play(1, -99.0)
    assert oracle.allowed() == {1}


def test_for_rewards_within_0_and_1_std_is_a_half():
    oracle = Oracle(10, delta=0.1, std=0.5)
    assert oracle.beta(7, 3) == pytest.approx(np.sqrt(np.log(1.25 * 10 * 81 / 0.1) / 14))


def test_an_epsilon_ends_it_sooner():
    oracle = Oracle(2, delta=0.5, std=0.1, epsilon=0.4)
    oracle.play(0, 0.6)
    oracle.play(1, 0.5)
    assert oracle.answers() == {0}  # beta = .1 sqrt(2 log 5) = .179


# ---- the policy ---------------------------------------------------------------------------------


@partial(jax.jit, static_argnames="steps")
def histories(policies, arms, keys, steps):
    """Arms, rewards and answers after them of (num,) runs: (num, steps) each."""

    def run(policy, means, std, key):
        def step(state, key):
            plan = policy.act(state, key)
            z = jax.random.normal(jax.random.fold_in(key, 99), (), jnp.float32)
            reward = means[plan.arm] + std[plan.arm] * z
            state = policy.update(state, plan, reward, key)
            return state, (plan.arm, reward, policy.answer(state))

        return jax.lax.scan(step, policy.init(key), step_keys(key, steps))[1]

    return jax.vmap(run)(policies, arms.means, arms.std, keys)


def test_rewards_that_come_late_by_hand():
    """Arms take turns until all are known; a turn counts as a round."""
    policy, key = make(3, 2, std=0.1, delta=0.5), jax.random.key(0)
    state, arms = policy.init(key), []
    for _ in range(7):
        plan = policy.act(state, key)
        arms.append(int(plan.arm))
        state = policy.update(state, plan, jnp.float32(jnp.nan), key)
    told = RewardFeedback(jnp.int32([3, 2, 2, 0, 0]), jnp.float32([0.3, 1.2, 1.0, 0, 0]))
    state = policy.learn(state, told)  # means .1, .6, .5
    for _ in range(4):
        plan = policy.act(state, key)
        arms.append(int(plan.arm))
        state = policy.update(state, plan, jnp.float32(jnp.nan), key)
    assert arms == [0, 1, 2] * 3 + [1, 2]
    assert int(state.round) == 4
    assert state.estimates.pulls.tolist() == [3, 2, 2, 0, 0]


def test_what_is_told_after_the_answer_changes_nothing():
    policy, key = make(2, std=0.1, delta=0.5), jax.random.key(0)
    state = policy.init(key)
    while int(policy.answer(state)) == UNDECIDED:
        plan = policy.act(state, key)
        state = policy.update(state, plan, jnp.float32([0.9, 0.1])[plan.arm], key)
    told = policy.learn(state, RewardFeedback(jnp.int32([5, 9]), jnp.float32([-9.0, 9.0])))
    jax.tree.map(np.testing.assert_array_equal, state, told)


def make(num_arms, padding=0, **fields):
    active = mask(num_arms, num_arms + padding)
    return to_32_bits(LUCB(num_arms=num_arms + padding, active_arms=active, **fields))


@pytest.mark.parametrize("padding", [0, 3])
def test_rounds_pull_the_leader_and_the_challenger(padding):
    """Rewards are the means; by 60 pulls the bounds of arm 2 are still too wide to stop."""
    policy = make(3, padding, std=0.5)
    arms = random_arms(3 + padding, 1, 0)
    means = np.float32([[0.2, 0.5, 0.4] + [9.0] * padding])
    arms = arms._replace(means=means, std=np.zeros_like(arms.std))
    pulled, _, answers = histories(stacked([policy]), arms, run_keys(1, 0), 63)
    pulled = np.asarray(pulled)[0]
    assert pulled[:3].tolist() == [0, 1, 2]
    assert (pulled[3::2] == 1).all()
    assert set(pulled[4::2].tolist()) == {0, 2}
    assert (np.asarray(answers) == UNDECIDED).all()


def test_after_its_answer_it_learns_nothing_and_skips_to_the_end():
    policy, key = make(3, std=0.1), jax.random.key(0)
    state, update = policy.init(key), jax.jit(policy.update)
    while int(policy.answer(state)) == UNDECIDED:
        plan = policy.act(state, key)
        _, run = policy.quiet(state, jnp.int32(50), key)
        assert int(run.n) == 0
        state = update(state, plan, jnp.float32([0.1, 0.9, 0.2])[plan.arm], key)
    later, run = policy.quiet(state, jnp.int32(50), key)
    after = update(state, policy.act(state, key), jnp.float32(-99), key)
    assert (int(run.arm), int(run.n), int(policy.answer(after))) == (1, 50, 1)
    for other in (later, after):
        jax.tree.map(np.testing.assert_array_equal, state, other)


@pytest.mark.thorough
@pytest.mark.parametrize("delay", [1, 40])
def test_skipping_does_not_change_a_play(delay):
    problem = jd.problems.gaussian([1.0, 0.0, 0.3], std=0.5)
    policy = jd.policies.make("lucb", num_arms=3, std=0.5)
    asked = {"horizon": 5_000, "num_seeds": 200, "delay": delay}
    runs = [jd.simulate(policy, problem, **asked, skip_quiet=skip) for skip in (True, False)]
    assert np.array_equal(runs[0].plays, runs[1].plays)
    assert (runs[0].plays[:, -1].max(axis=1) > 4_000).all()


def program(means, delta, num, seed):
    """Pulls up to the answer and answers of (num,) runs, by a program of its own."""
    rng, num_arms = np.random.default_rng(seed), len(means)
    pulls, named = [], []
    for _ in range(num):
        n, total, t = np.ones(num_arms), rng.normal(means), 1
        while True:
            mean = total / n
            beta = np.sqrt(2 * np.log(1.25 * num_arms * t**4 / delta) / n)
            h = np.argmax(mean)
            upper = np.where(np.arange(num_arms) == h, -np.inf, mean + beta)
            challenger = np.argmax(upper)
            if upper[challenger] < mean[h] - beta[h]:
                break
            for arm in (h, challenger):
                total[arm] += rng.normal(means[arm])
                n[arm] += 1
            t += 1
        pulls.append(n.sum())
        named.append(h)
    return np.array(pulls), np.array(named)


@pytest.mark.thorough
def test_it_stops_as_soon_as_a_program_of_its_own_and_seldom_errs():
    means, delta, num = np.array([2.0, 0.0, 0.5, 0.5]), 0.5, 4_000
    arms = random_arms(4, num, 0)
    arms = arms._replace(means=np.tile(np.float32(means), (num, 1)), std=np.ones_like(arms.std))
    policies = stacked([make(4, delta=delta)] * num)
    *_, answers = map(np.asarray, histories(policies, arms, run_keys(num, 5), 600))
    assert (answers[:, -1] != UNDECIDED).all()
    pulls = 1 + np.argmax(answers != UNDECIDED, axis=1)
    others, named = program(means, delta, 1_000, seed=6)
    error = np.hypot(pulls.std() / num**0.5, others.std() / 1_000**0.5)
    assert abs(pulls.mean() - others.mean()) <= 4 * error
    assert (answers[:, -1] != 0).mean() < 0.05 < delta
    assert (named != 0).mean() < 0.05


# ---- oracle replay ------------------------------------------------------------------------------


def random_policies(num_arms, num):
    """Policies, stacked, and their oracles."""
    draw, active = np.random.default_rng(7), sizes(num, num_arms, 7)
    policies, oracles = [], []
    for k in active.tolist():
        fields = {
            "delta": float(draw.choice([0.9, 0.5, 0.05])),
            "epsilon": float(draw.choice([0.0, 0.0, 0.1, 1.0])),
            "std": float(draw.choice([1.0, 0.5, 0.2, 0.05])),
        }
        policies.append(LUCB(num_arms=num_arms, active_arms=mask(k, num_arms), **fields))
        oracles.append(Oracle(k, **fields))
    return stacked(policies), oracles


@pytest.mark.parametrize(("num_arms", "num", "steps"), [(PADDED, 200, 120), (2, 100, 120)])
def test_lucb_follows_the_paper(num_arms, num, steps):
    policies, oracles = random_policies(num_arms, num)
    runs = histories(policies, random_arms(num_arms, num, 7), run_keys(num, 7), steps)
    pulled, rewards, answers = map(np.asarray, runs)
    assert (pulled.dtype, answers.dtype) == (np.int32, np.int32)
    one = 0
    for run, oracle in enumerate(oracles):
        for t in range(steps):
            arm, allowed = int(pulled[run, t]), oracle.allowed()
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, float(rewards[run, t]))
            found, said = oracle.answers(), int(answers[run, t])
            assert (None if said == UNDECIDED else said) in found
            one += len(found) == len(allowed) == 1
    assert one > 0.98 * num * steps
    assert 0.2 < np.mean(answers[:, -1] != UNDECIDED) < 0.9


@pytest.mark.parametrize("delay", [2, 11])
def test_lucb_follows_the_paper_where_rewards_come_late(delay):
    num, steps = 100, 110
    policies, oracles = random_policies(PADDED, num)
    arms = random_arms(PADDED, num, 7)
    pulled, rewards = late_pull_histories(policies, arms, run_keys(num, 7), steps, delay)
    for run, oracle in enumerate(oracles):
        judge_late(oracle, pulled[run], rewards[run], delay)
    assert 0.2 < np.mean([oracle.answers() != {None} for oracle in oracles]) < 0.9
