"""Seconds for the lower bound of a Copeland dueling bandit, and for ECW-RMED's constant.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_bounds.py

The linear program is solved on one core. The MSLR instances need $JAXDUEL_DATA or the network.
"""

import numpy as np
import pytest

import jaxduel as jd

EVERY_SECOND = ",".join(str(arm) for arm in range(1, 129, 2))
INSTANCES = (
    "gap",
    "sushi",
    "mslr16-condorcet",
    f"mslr-informational[{EVERY_SECOND}]",
    f"mslr-navigational[{EVERY_SECOND}]",
    "mslr-informational",
    "mslr-navigational",
    "mslr-perfect",
)


@pytest.fixture
def measure(benchmark, rounds):
    """Measures a bound on a problem, and returns what it found."""

    def of(function, problem):
        found, seconds = rounds(lambda: function(problem), 6)
        benchmark.extra_info["arms"] = problem.num_arms
        benchmark.extra_info["seconds"] = min(seconds)
        return found

    return of


def check(bound, problem):
    """Asserts that the program's constant is what its allocation costs."""
    gaps = problem.gaps("copeland")
    cost = np.sum(np.triu(bound.allocation) * (gaps[:, None] + gaps) / 2)
    assert bound.constant > 0
    np.testing.assert_allclose(cost, bound.constant, rtol=1e-6)


def equal_gaps(num_arms):
    """One winner that loses to some arm, and gaps of 0.3 only: many optima."""
    rng = np.random.default_rng(0)
    while True:
        signs = np.triu(rng.choice([-0.3, 0.3], (num_arms, num_arms)), 1)
        problem = jd.problems.from_matrix(0.5 + signs - signs.T, f"equal gaps, K = {num_arms}")
        if len(problem.copeland_winners) == 1:
            return problem


@pytest.mark.parametrize("name", INSTANCES, ids=[name.split(",")[0] for name in INSTANCES])
def test_lower_bound(measure, name):
    problem = jd.problems.load(name)
    check(measure(jd.theory.copeland_lower_bound, problem), problem)


@pytest.mark.parametrize("num_arms", [16, 64, 136])
def test_lower_bound_with_equal_gaps(measure, num_arms):
    problem = equal_gaps(num_arms)
    check(measure(jd.theory.copeland_lower_bound, problem), problem)


@pytest.mark.parametrize("name", ["gap", "sushi", "mslr-informational"])
def test_ecw_constant(measure, name):
    problem = jd.problems.load(name)
    lower = jd.theory.copeland_lower_bound(problem).constant
    assert measure(jd.theory.ecw_constant, problem) >= lower * (1 - 1e-6) > 0
