"""Arms whose means jump: the regret of UCB1, SW-UCB and D-UCB is that of a NumPy program."""

import math

import numpy as np
import pytest

import jaxduel as jd

MEANS = np.array([[0.5, 0.3, 0.4], [0.5, 0.3, 0.9], [0.5, 0.3, 0.4]])
CHANGES, HORIZON = (600, 1_000), 2_000
"""The instance of Garivier and Moulines (ALT 2011), in a fifth of its time."""
WINDOW, GAMMA, XI = 150, 0.99, 0.5
RUNS = 1_000


def ucb1(run, t, number, total, pulled):
    """The indices before pull t, of all runs, (runs, K); numbers and sums are kept in place."""
    arms, rewards = pulled
    if t > 0:
        number[run, arms[t - 1]] += 1
        total[run, arms[t - 1]] += rewards[t - 1]
    return 1.0, math.log(max(t, 1))


def sw_ucb(run, t, number, total, pulled):
    """As `ucb1`, of the last pulls."""
    arms, rewards = pulled
    ucb1(run, t, number, total, pulled)
    if t > WINDOW:
        number[run, arms[t - 1 - WINDOW]] -= 1
        total[run, arms[t - 1 - WINDOW]] -= rewards[t - 1 - WINDOW]
    return 1.0, math.log(min(max(t, 1), WINDOW))


def d_ucb(run, t, number, total, pulled):
    """As `ucb1`, of discounted pulls."""
    number *= GAMMA
    total *= GAMMA
    ucb1(run, t, number, total, pulled)
    return 2.0, math.log(max((1 - GAMMA**t) / (1 - GAMMA), 1.0))


def pulls_by_stretch(kept, seed):
    """Pulls of each arm in each stretch, (runs, S, K), where rewards are 0 or 1 and B = 1."""
    rng, run = np.random.default_rng(seed), np.arange(RUNS)
    number, total = np.zeros((2, RUNS, MEANS.shape[1]))
    pulled = np.zeros((HORIZON, RUNS), int), np.zeros((HORIZON, RUNS))
    plays = np.zeros((RUNS, *MEANS.shape), int)
    for t in range(HORIZON):
        factor, log = kept(run, t, number, total, pulled)
        with np.errstate(divide="ignore", invalid="ignore"):
            index = total / number + factor * np.sqrt(XI * log / number)
        arm = np.where(number > 0, index, np.inf).argmax(axis=1)
        stretch = np.searchsorted(CHANGES, t, side="right")
        pulled[0][t], pulled[1][t] = arm, rng.random(RUNS) < MEANS[stretch, arm]
        plays[run, stretch, arm] += 1
    return plays


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kept", "name", "parameters"),
    [
        (ucb1, "ucb1", {"index": "anytime", "scale": XI}),
        (sw_ucb, "sw-ucb", {"window": WINDOW, "std": 0.5, "xi": XI}),
        (d_ucb, "d-ucb", {"gamma": GAMMA, "std": 0.5, "xi": XI}),
    ],
)
def test_regret_is_that_of_an_independent_program(kept, name, parameters):
    problem = jd.problems.piecewise([jd.problems.bernoulli(means) for means in MEANS], CHANGES)
    policy = jd.policies.make(name, num_arms=3, **parameters)
    times = [*CHANGES, HORIZON]
    found = jd.simulate(policy, problem, HORIZON, RUNS, 0, times, shuffle_arms=False)
    plays = pulls_by_stretch(kept, seed=1)
    of_best = (plays * (MEANS.max(axis=1, keepdims=True) - MEANS)).sum(axis=(1, 2))
    check(found.regret[:, -1], of_best)
    against = problem.regret_against(found.checkpoints, found.plays)[:, -1]
    for arm in range(3):  # as if it had been pulled all the time
        check(against[:, arm], (plays * (MEANS[:, arm, None] - MEANS)).sum(axis=(1, 2)))


def check(found, expected):
    """Two samples have means within four combined standard errors."""
    error = math.hypot(found.std(), expected.std()) / math.sqrt(RUNS)
    assert 0 < error < 0.05 * abs(expected).max()
    assert abs(found.mean() - expected.mean()) <= 4 * error
