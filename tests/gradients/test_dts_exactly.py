"""D-TS with two arms, exactly: its regret and the regret's gradient, by a dynamic programme."""

from collections import defaultdict

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import beta

import jaxduel as jd

pytestmark = pytest.mark.usefixtures("quick_compilation")

ALPHA, SEEDS = 0.51, 100_000
STEP = 1e-20
"""Of the complex step: the imaginary part of a polynomial in p + i STEP is STEP times its slope, to
the last bits of either."""


def pairs(wins, losses, t):
    """Chances of the pairs that Algorithm 1 of Wu and Liu (2016) plays in comparison t, after these
    wins of arm 0 over arm 1, and losses."""
    n = wins + losses
    mean = np.array([wins, losses]) / n if n else np.ones(2)  # x / 0 is 1
    width = np.sqrt(ALPHA * np.log(t) / n) if n else 1.0
    hopeful = mean + width > 0.5
    above = beta.sf(0.5, [wins + 1, losses + 1], [losses + 1, wins + 1])  # theta_01, theta_10
    first = above if hopeful.all() or not hopeful.any() else hopeful.astype(float)
    chances = {}
    for arm in (0, 1):
        other = 1 - arm
        joins = above[other] if mean[other] - width <= 0.5 else 0.0
        chances[arm, other], chances[arm, arm] = first[arm] * joins, first[arm] * (1 - joins)
    return chances


def plays_of_the_worse(p, horizon):
    """Expected plays of arm 1 where arm 0 wins with probability p, which may be complex."""
    expected, reached = 0.0, {(0, 0): 1.0}
    for t in range(1, horizon + 1):
        later = defaultdict(complex)
        for (wins, losses), chance in reached.items():
            for pair, share in pairs(wins, losses, t).items():
                expected += sum(pair) * chance * share
                if pair[0] == pair[1]:
                    later[wins, losses] += chance * share
                else:
                    later[wins + 1, losses] += chance * share * p
                    later[wins, losses + 1] += chance * share * (1 - p)
        reached = later
    return expected


def regret(p, horizon, definition):
    """The regret's expectation and its slope in p."""
    q = p + STEP * 1j
    found = plays_of_the_worse(q, horizon) * (q - 0.5 if definition == "average" else 1.0) / 2
    return found.real, found.imag / STEP


def two_arms(p):
    return jnp.array([[0.5, p], [1 - p, 0.5]])


def test_two_comparisons_by_hand():
    """The first is of the arms with each other with chance 1/2, and the second is as the first or
    after one win: Beta(2, 1) exceeds 1/2 with chance 3/4, and both arms are hopeful still."""
    p, winner, loser = 0.8, 0.75, 0.25
    plays = {
        "of the loser": loser * winner + 2 * loser * loser + winner * loser,
        "of the winner": winner * loser + 2 * winner * winner + loser * winner,
    }
    after = p * plays["of the loser"] + (1 - p) * plays["of the winner"]
    assert plays_of_the_worse(p, 1) == pytest.approx(1)
    assert plays_of_the_worse(p, 2) == pytest.approx(1 + (1 + after) / 2)


@pytest.mark.parametrize(
    ("horizon", "p"), [(6, 0.6), pytest.param(40, 0.85, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(
    "definition", ["average", pytest.param("copeland", marks=pytest.mark.thorough)]
)
def test_simulated_regret_is_the_expected_one(horizon, p, definition):
    policy = jd.policies.make("dts", num_arms=2, alpha=ALPHA)
    problem = jd.problems.from_matrix([[0.5, p], [1 - p, 0.5]])
    result = jd.simulate(policy, problem, horizon, SEEDS, checkpoints=[horizon], regret=definition)
    assert abs(result.mean[-1] - regret(p, horizon, definition)[0]) < 4 * result.sem[-1]
    assert result.sem[-1] < 0.01 * result.mean[-1]


@pytest.mark.parametrize(
    ("horizon", "p"), [(6, 0.6), pytest.param(40, 0.85, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"causal": False}, marks=pytest.mark.thorough),
        pytest.param({"skip_quiet": False}, marks=pytest.mark.thorough),
    ],
    ids=["causal", "whole", "unskipped"],
)
def test_gradients_are_those_of_the_expected_regret(horizon, p, settings):
    policy = jd.policies.make("dts", num_arms=2, alpha=ALPHA)
    given = {"num_seeds": SEEDS, "regret": "average", **settings}
    found = jd.gradients.regret_gradient(policy, two_arms, np.array(p), horizon, **given)
    value, slope, value_error, slope_error = found.at()
    exact, exact_slope = regret(p, horizon, "average")
    assert abs(value - exact) < 4 * value_error
    assert abs(slope - exact_slope) < 4 * slope_error
    assert slope_error < 0.05 * abs(exact_slope)
