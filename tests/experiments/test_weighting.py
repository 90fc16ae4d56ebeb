"""Intervals that allow for unseen runs: chances against enumeration, coverage by simulation."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import jaxduel as jd
from jaxduel.experiments.weighting import deviate_of_more, ratio95, unseen_cost
from tests.choice import some

MEANT = 0.025
LIMIT = ndtri(1 - MEANT)
pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")
SAMPLES = 2_000
"""Of each law and size."""
ERROR = math.sqrt(MEANT * (1 - MEANT) / SAMPLES)


@pytest.mark.parametrize("others", [(-0.05,), (-0.02, -0.02), (1.0, -0.2, -0.3), (3.0, 2.0, -0.2)])
def test_chance_of_more_is_that_of_the_exact_law(others):
    numbers = np.array([1.5, *others, -0.1, -0.25])
    # partial fractions of the law of a sum of exponential variables, here of numbers that differ
    gains = numbers + np.linspace(0, 1e-3, len(numbers))
    exact = sum(
        math.prod(gain / (gain - other) for other in gains if other != gain)
        for gain in gains
        if gain > 0
    )
    assert 1 - ndtr(deviate_of_more(gains)) == pytest.approx(exact, rel=0.02)


def test_chance_of_more_where_all_numbers_have_one_sign():
    assert deviate_of_more(np.array([1.0, 2.0, 0.0])) == -math.inf
    assert deviate_of_more(np.array([-1.0, 0.0])) == math.inf


def test_chance_of_more_passes_its_singular_point_smoothly():
    numbers = np.random.default_rng(0).exponential(size=50) - 1
    numbers -= numbers.mean()
    steps = np.linspace(-1e-4, 1e-4, 21)
    found = np.array([deviate_of_more(numbers + step) for step in steps])
    assert np.all(np.diff(found) < 0)
    assert np.abs(np.diff(found, 2)).max() < 1e-5


def test_with_many_runs_the_interval_is_that_of_the_normal_law():
    rng = np.random.default_rng(1)
    above, below = rng.gamma(9.0, size=(2, 40_000))
    lower, upper = ratio95(above, below, (30.0, 0.0), (0.0, 30.0))
    value = above.mean() / below.mean()
    error = np.std(above / above.mean() - below / below.mean()) / 200
    assert math.log(lower / value) == pytest.approx(-LIMIT * error, rel=0.1)
    assert math.log(upper / value) == pytest.approx(LIMIT * error, rel=0.1)


@pytest.mark.parametrize("runs", [10, 100, 1_000])
def test_an_event_that_no_run_showed_has_the_exact_binomial_limit(runs):
    """Regret is 0 but for an event that costs 1: its probability is at most 1 - 0.025^(1 / n)."""
    cost = 1e9  # beside which the runs' own regret is nothing
    _, upper = ratio95(np.full(runs, 1.0), np.ones(runs), (cost, 1.0), (0.0, 1.0))
    assert upper / cost == pytest.approx(1 - MEANT ** (1 / runs), rel=0.02)


def test_where_nothing_can_be_said_the_ends_are_nan():
    one, none = np.ones(1), np.zeros(5)
    for above, below in ((one, one), (none, np.ones(5)), (np.ones(5), none)):
        assert np.isnan(ratio95(above, below, (1.0, 0.0), (0.0, 1.0))).all()


def test_unseen_run_of_a_policy_that_settles_costs_the_most_there_can_be():
    assert unseen_cost(20.0, 5_000.0, settles=True) == 5_000
    assert unseen_cost(20.0, 20.0, settles=False) == 20


def test_unseen_run_of_other_policies_is_the_mean_beyond_the_largest_of_a_tail_of_1_over_x2():
    draws = 20 / np.sqrt((np.arange(10**7) + 0.5) / 10**7)  # its quantiles
    assert unseen_cost(20.0, 5_000.0, settles=False) == pytest.approx(draws.mean(), rel=1e-3)
    assert unseen_cost(20.0, 30.0, settles=False) == 30


def missed(law: Callable[..., np.ndarray], mean: float, runs: int, most: float, settles: bool):
    """Shares of samples whose interval of the mean lies below the mean, and above it."""
    rng = np.random.default_rng(runs)
    below = above = 0
    for _ in range(SAMPLES):
        values = law(rng, runs)
        unseen = unseen_cost(values.max(), most, settles)
        below += deviate_of_more(np.append(values, unseen) - mean) > LIMIT
        above += deviate_of_more(np.append(values, 0.0) - mean) < -LIMIT
    return below / SAMPLES, above / SAMPLES


def one_of_a_hundred(rng, size):
    """One value of a hundred is 300 times the others."""
    return np.where(rng.random(size) < 0.01, 300.0, 1.0)


def exponential(rng, size):
    return rng.exponential(size=size)


def lognormal(rng, size):
    return np.exp(rng.normal(size=size))


def tail(rng, size):
    """A fifth of the runs cost more than 1, with a chance of 1 / x^2 to cost more than x."""
    return 1 + np.where(rng.random(size) < 0.2, rng.random(size) ** -0.5, 0.0)


LAWS = {
    "one of a hundred": (one_of_a_hundred, 0.99 + 0.01 * 300, 300.0, True),
    "exponential": (exponential, 1.0, 1e3, False),
    "lognormal": (lognormal, math.exp(0.5), 1e4, False),
    "tail of 1 / x^2": (tail, 1 + 0.2 * 2, math.inf, False),
}
"""Law, mean, largest value, and whether it is of a policy that settles."""


@pytest.mark.parametrize("runs", [30, 100])
@pytest.mark.parametrize("name", LAWS)
def test_intervals_hold_the_mean_as_often_as_they_say(name, runs):
    law, mean, most, settles = LAWS[name]
    for share in missed(law, mean, runs, most, settles):
        assert share <= MEANT + 2 * ERROR


@cache
def population(policy: str, number: int) -> tuple[np.ndarray, float]:
    """Final average regret of many runs on six rankers, and the largest that there can be."""
    problem = jd.problems.load("arxiv")
    batched = {"num_batches": 16, "elimination": "kl"} if policy == "scomp2" else {}
    made = jd.policies.make(policy, num_arms=6, horizon=HORIZON, **batched)
    result = jd.simulate(made, problem, HORIZON, number, checkpoints=[HORIZON], regret="average")
    return result.regret[:, 0], HORIZON * float(problem.gaps("average").max())


HORIZON = 100_000


@pytest.mark.parametrize("policy", some(("scomp2", "rmed1", "rucb"), quick=["scomp2"]))
def test_intervals_hold_the_mean_of_runs_of_policies(policy):
    regret, most = population(policy, 3_000)
    for runs in (30, 100):
        draws = lambda rng, size: rng.choice(regret, size)  # noqa: E731
        for share in missed(draws, float(regret.mean()), runs, most, policy == "scomp2"):
            assert share <= MEANT + 2 * ERROR


@pytest.mark.parametrize("runs", [10, 30, 100])
def test_a_false_claim_is_seldom_confirmed(runs):
    """SCOMP2 has four times RMED1's regret on six rankers: "below 2" must not be confirmed, though
    ten runs often have none that gives up the best arm."""
    first, most = population("scomp2", 3_000)
    second, _ = population("rmed1", 512)
    assert first.mean() > 3 * second.mean()
    rng, wrong = np.random.default_rng(runs), 0
    for _ in range(SAMPLES):
        own, other = rng.choice(first, runs), rng.choice(second, runs)
        numbers = np.append(own - 2.0 * other, most)
        wrong += deviate_of_more(numbers) > LIMIT  # the interval's upper end is below 2
    assert wrong / SAMPLES <= MEANT + 2 * ERROR
