"""Intervals that allow for unseen runs: chances against enumeration, coverage by simulation."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import jaxduel as jd
from jaxduel.simulation.regret import largest_regret
from jaxduel.studies.weighting import deviate_of_more, ratio_interval, unseen_cost
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
    lower, upper = ratio_interval(above, below, (30.0, 0.0), (0.0, 30.0))
    value = above.mean() / below.mean()
    error = np.std(above / above.mean() - below / below.mean()) / 200
    assert math.log(lower / value) == pytest.approx(-LIMIT * error, rel=0.1)
    assert math.log(upper / value) == pytest.approx(LIMIT * error, rel=0.1)


@pytest.mark.parametrize("runs", [10, 100, 1_000])
def test_an_event_that_no_run_showed_has_the_exact_binomial_limit(runs):
    """Regret is 0 but for an event that costs 1: its probability is at most 1 - 0.025^(1 / n)."""
    cost = 1e9  # beside which the runs' own regret is nothing
    _, upper = ratio_interval(np.full(runs, 1.0), np.ones(runs), (cost, 1.0), (0.0, 1.0))
    assert upper / cost == pytest.approx(1 - MEANT ** (1 / runs), rel=0.02)


def test_where_nothing_can_be_said_the_ends_are_nan():
    one, none = np.ones(1), np.zeros(5)
    for above, below in ((one, one), (none, np.ones(5)), (np.ones(5), none)):
        assert np.isnan(ratio_interval(above, below, (1.0, 0.0), (0.0, 1.0))).all()


@pytest.mark.parametrize("above", [[0.1] * 7, [1.0, 2.0, 4.0, 1e-3]])
def test_ends_are_exact_where_no_group_differs_and_the_unseen_one_neither(above):
    above = np.array(above)
    most = above.max()
    assert ratio_interval(above, above, (most, most), (most, most)) == (1.0, 1.0)
    lower, upper = ratio_interval(
        above, above, (most, 0.0), (most, most)
    )  # an unseen one may be larger
    assert lower == 1.0 < upper


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


PARAMETERS = {
    "scomp2": {"num_batches": 16, "elimination": "kl"},
    "ucb1": {"index": "anytime"},
}


@cache
def population(
    policy: str, number: int, instance: str = "arxiv", regret: str = "average", horizon: int = 10**5
) -> tuple[np.ndarray, float]:
    """Final regret of many runs, and the largest that there can be."""
    problem = jd.problems.load(instance)
    parameters = PARAMETERS.get(policy, {})
    made = jd.policies.make(policy, num_arms=problem.num_arms, horizon=horizon, **parameters)
    result = jd.simulate(made, problem, horizon, number, checkpoints=[horizon], regret=regret)
    return result.regret[:, 0], float(largest_regret(problem, regret, np.array(horizon)))


def check_coverage(regret: np.ndarray, most: float, settles: bool) -> None:
    """Samples of 30 and 100 runs miss the mean no more often than they may."""
    for runs in (30, 100):
        draws = lambda rng, size: rng.choice(regret, size)  # noqa: E731
        for share in missed(draws, float(regret.mean()), runs, most, settles):
            assert share <= MEANT + 2 * ERROR


@pytest.mark.thorough
@pytest.mark.parametrize("policy", some(("scomp2", "rmed1", "rucb"), quick=["scomp2"]))
def test_intervals_hold_the_mean_of_runs_of_policies(policy):
    check_coverage(*population(policy, 3_000), policy == "scomp2")


HELD_OUT = (
    ("rmed1", "cyclic", "average", 10**5),
    ("rucb", "cyclic", "average", 10**5),
    ("ws-s", "arxiv", "average", 10**5),
    ("scb", "mslr5-noncondorcet", "copeland", 30_000),
    ("dts", "strong-borda", "average", 10_000),
    ("self-sparring", "cyclic", "average", 10_000),
    ("ucb1", "gaussian[0.5,0.0]", "pulls", 10**5),
    ("thompson-gaussian", "gaussian[0.2,0.0]", "pulls", 30_000),
    ("nts", "arxiv", "votes", 10**5),
    ("pocowista", "arithmetic", "votes", 10**5),
)
"""Policies that come back, and instances that the law of their unseen runs was not made from."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("policy", "instance", "regret", "horizon"), some(HELD_OUT, quick=HELD_OUT[:1])
)
def test_intervals_hold_the_mean_of_populations_that_had_no_part_in_the_law(
    policy, instance, regret, horizon
):
    check_coverage(*population(policy, 3_000, instance, regret, horizon), settles=False)


@pytest.mark.thorough
def test_runs_of_a_policy_that_names_an_arm_may_cost_all_there_is():
    """NTS names a wrong arm in one run of sixty: twice the largest of 30 runs is too little."""
    regret, most = population("nts", 3_000)
    check_coverage(regret, most, settles=True)
    draws = lambda rng, size: rng.choice(regret, size)  # noqa: E731
    below, _ = missed(draws, float(regret.mean()), 30, most, settles=False)
    assert below > 0.4


def missed_ratio(
    above: tuple[np.ndarray, float], below: tuple[np.ndarray, float], ratio: float, runs: int
):
    """Shares of samples of two policies that settle whose interval of the ratio of means lies below
    a number, and above it."""
    (first, most), (second, most_below) = above, below
    rng = np.random.default_rng(runs)
    lower = higher = 0
    for _ in range(SAMPLES):
        numbers = rng.choice(first, runs) - ratio * rng.choice(second, runs)
        lower += deviate_of_more(np.append(numbers, most)) > LIMIT
        higher += deviate_of_more(np.append(numbers, -ratio * most_below)) < -LIMIT
    return lower / SAMPLES, higher / SAMPLES


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [10, 30, 100])
def test_a_false_claim_is_seldom_confirmed(runs):
    """SCOMP2 has four times RMED1's regret on six rankers: "below 2" must not be confirmed, though
    ten runs often have none that gives up the best arm."""
    first, second = population("scomp2", 3_000), population("rmed1", 512)
    assert first[0].mean() > 3 * second[0].mean()
    wrong, _ = missed_ratio(first, second, 2.0, runs)
    assert wrong <= MEANT + 2 * ERROR


TWO_ARMS = ("gaussian[0.2,0.0]", "pulls")


@pytest.mark.thorough
def test_intervals_hold_the_mean_of_double_etc_and_its_ratio_to_the_batched_one():
    """A run of a thousand commits to the wrong arm, and makes most of the mean."""
    one, other = (population(name, 3_000, *TWO_ARMS) for name in ("detc", "detc-batched"))
    assert one[0].mean() > 1.5 * np.median(one[0])
    check_coverage(*one, settles=True)
    ratio = float(one[0].mean() / other[0].mean())
    for runs in (30, 100, 200):
        for share in missed_ratio(one, other, ratio, runs):
            assert share <= MEANT + 2 * ERROR
