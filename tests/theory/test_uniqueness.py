import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError, SolverError
from jaxduel.theory import uniqueness
from jaxduel.theory.copeland_program import largest_shortfall
from jaxduel.theory.exploration import efficient_families, explore, families
from tests.theory.instances import from_margins, random_instance

SEVERAL = 0.5 + 0.3 * np.array(
    [
        [0, -1, 1, 1, 1, 1],
        [1, 0, -1, -1, 1, 1],
        [-1, 1, 0, -1, -1, 1],
        [-1, 1, 1, 0, -1, -1],
        [-1, -1, 1, 1, 0, -1],
        [-1, -1, -1, 1, 1, 0],
    ]
)
"""All gaps are 0.3 and one arm wins. It has lost to arm 1, of which one of the superiors 2 and 3
has to be known; they cost the same."""


@pytest.mark.parametrize("efficient", [False, True])
def test_two_optima_prove_that_there_are_several(efficient):
    problem = jd.problems.from_matrix(SEVERAL)
    assert problem.copeland_winners == (0,)
    bound = jd.theory.ecw_allocation if efficient else jd.theory.copeland_lower_bound
    constant = bound(problem).constant
    instance = explore(problem)
    ends = jd.theory.optimal_extremes(problem, efficient=efficient)
    chosen = efficient_families if efficient else families
    for explored in ends:
        assert largest_shortfall(explored, instance, 0, chosen(instance, 0)) <= 1e-9
        assert np.sum(np.triu(instance.cost * explored)) == pytest.approx(constant, rel=2e-9)
    assert abs(ends[0][1, 2] - ends[1][1, 2]) == pytest.approx(1, abs=1e-6)
    assert not jd.theory.copeland_optimum_is_unique(problem)
    assert not jd.theory.ecw_optimum_is_unique(problem)


def test_ecw_has_several_optima_on_gap():
    """Arms 1 and 2 beat arm 4 by the same, and it is enough to know one of them."""
    problem = jd.problems.load("gap")
    assert not jd.theory.ecw_optimum_is_unique(problem)
    one, other = jd.theory.optimal_extremes(problem, efficient=True)
    assert {one[4, 1] > 0.5, other[4, 1] > 0.5} == {True, False}
    assert one[4, 1] + one[4, 2] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", ["gap", "cyclic", "arithmetic", "mslr5-condorcet"])
def test_the_optima_of_these_are_unique(name):
    problem = jd.problems.load(name)
    assert jd.theory.copeland_optimum_is_unique(problem)
    assert jd.theory.ecw_optimum_is_unique(problem) == (name != "gap")
    allocation = jd.theory.copeland_lower_bound(problem).allocation
    for explored in jd.theory.optimal_extremes(problem):
        np.testing.assert_allclose(explored, allocation * explore(problem).divergence, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_random_gaps_have_one_optimum(seed):
    problem = random_instance(np.random.default_rng([seed, 7]), 6, "any")
    if len(problem.copeland_winners) == 1:
        assert jd.theory.ecw_optimum_is_unique(problem)


@pytest.mark.parametrize("gap", [1e-3, 5e-6, 3e-6, 1e-6, 1e-7])
def test_a_pair_that_costs_nearly_nothing_is_no_second_optimum(gap):
    """Arm 1 loses to arm 0 by `gap`: (4) asks for e_01 = e_02 = 1, and e_12 > 0 costs something."""
    p = [[0.5, 0.5 + gap, 0.7], [0.5 - gap, 0.5, 0.6], [0.3, 0.4, 0.5]]
    problem = jd.problems.from_matrix(p)
    assert jd.theory.copeland_optimum_is_unique(problem)
    assert jd.theory.ecw_optimum_is_unique(problem)


def test_slack_in_the_cost_is_no_second_optimum():
    """The pair of the gap of 1e-4 costs 1e8 times as much as others: slack moves those."""
    wide = from_margins([1e-4, 0.45, 0.45])
    ends = jd.theory.optimal_extremes(wide)
    assert np.max(np.abs(ends[0] - ends[1])) > 0.01
    assert jd.theory.copeland_optimum_is_unique(wide)
    assert jd.theory.ecw_optimum_is_unique(wide)
    several = SEVERAL.copy()
    several[0, 3], several[3, 0] = 0.5001, 0.4999
    assert not jd.theory.copeland_optimum_is_unique(jd.problems.from_matrix(several))
    assert not jd.theory.ecw_optimum_is_unique(jd.problems.load("mslr5-noncondorcet"))


def test_winners_that_cost_the_same_are_several_optima():
    cycle = jd.problems.from_matrix([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    assert not jd.theory.copeland_optimum_is_unique(cycle)
    first, second = jd.theory.optimal_extremes(cycle, winner=2)
    assert first.shape == second.shape == (3, 3)


def test_a_constraint_that_the_solver_misses_is_not_added_again(monkeypatch):
    """It misses one by 3e-9 here."""
    monkeypatch.setattr(uniqueness, "_ROUNDS", 40)
    problem = from_margins(
        [-2.4e-5, 6.1e-5, -3.4e-8, 8.3e-8, 0.26, 0.0037, 3.1e-7, -0.0068, 0.094, -5e-8]
    )
    for explored in jd.theory.optimal_extremes(problem):
        instance = explore(problem)
        assert largest_shortfall(explored, instance, 1, families(instance, 1)) <= 1e-8


def test_errors(monkeypatch):
    with pytest.raises(InputError, match="arms 3 and 5"):
        jd.theory.copeland_optimum_is_unique(jd.problems.load("arxiv"))
    with pytest.raises(InputError, match="arm 3 is not a Copeland winner"):
        jd.theory.optimal_extremes(jd.problems.load("gap"), winner=3)
    monkeypatch.setattr(uniqueness, "_ROUNDS", 1)
    with pytest.raises(SolverError, match="in 1 rounds"):
        jd.theory.optimal_extremes(jd.problems.load("gap"))
