import dataclasses

import numpy as np
import pytest
import scipy.optimize

import jaxduel as jd
from jaxduel.errors import InputError, SolverError
from jaxduel.theory.copeland_program import largest_shortfall, solve
from jaxduel.theory.exploration import explore, families
from tests.theory.instances import brute_force, from_margins, random_instance

CASES = [(seed, k, kind) for seed in range(12) for k in (3, 4, 5, 6) for kind in ("any", "few")]


def requirements(problem, bound):
    """The exploration e of a bound, and by how much it violates Theorem 2's constraints."""
    instance = explore(problem)
    explored = bound.allocation * instance.divergence
    return explored, largest_shortfall(
        explored, instance, bound.winner, families(instance, bound.winner)
    )


def cost(problem, allocation):
    losses = np.sum(np.asarray(problem.preferences) < 0.5, axis=1)
    regret = (losses[:, None] + losses - 2 * losses.min()) / (2 * (len(losses) - 1))
    return np.sum(np.triu(regret * allocation))


@pytest.mark.parametrize(
    ("name", "lower", "efficient"), [("gap", 11.02, 1252.5), ("arithmetic", 36.32, 36.32)]
)
def test_known_constants(name, lower, efficient):
    problem = jd.problems.load(name)
    bound = jd.theory.copeland_lower_bound(problem)
    assert bound.constant == pytest.approx(lower, abs=0.005)
    assert jd.theory.ecw_constant(problem) == pytest.approx(efficient, abs=0.05)
    assert bound.gap < 1e-9
    assert bound.per_winner == {bound.winner: bound.constant}


@pytest.mark.parametrize(("seed", "num_arms", "kind"), CASES)
def test_the_program_is_the_one_with_all_subsets(seed, num_arms, kind):
    problem = random_instance(np.random.default_rng([seed, num_arms]), num_arms, kind)
    instance = explore(problem)
    for winner in problem.copeland_winners:
        expected = brute_force(problem, winner)
        explored, lower = solve(instance, winner)
        found = np.sum(np.triu(instance.cost * explored))
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert lower == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert lower <= found * (1 + 1e-12) + 1e-12
        bound = jd.theory.copeland_lower_bound(problem, winner=winner)
        assert bound.constant == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_the_allocation_satisfies_all_constraints_and_costs_the_constant(seed):
    rng = np.random.default_rng(seed)
    problem = random_instance(rng, int(rng.integers(2, 25)), ("any", "few", "order")[seed % 3])
    bound = jd.theory.copeland_lower_bound(problem)
    explored, shortfall = requirements(problem, bound)
    assert shortfall <= 1e-12
    assert explored.min() >= 0
    assert explored.max() <= 1 + 1e-12
    assert np.array_equal(bound.allocation, bound.allocation.T)
    assert not np.diagonal(bound.allocation).any()
    assert cost(problem, bound.allocation) == pytest.approx(bound.constant, rel=1e-12)
    assert 0 <= bound.gap < 1e-9
    assert bound.constant == min(bound.per_winner.values())
    efficient = jd.theory.ecw_allocation(problem)
    assert requirements(problem, efficient)[1] <= 1e-12
    assert cost(problem, efficient.allocation) == pytest.approx(efficient.constant, rel=1e-12)
    assert bound.constant <= efficient.constant * (1 + 1e-9)


def test_with_several_winners_the_program_agrees_with_the_closed_form():
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_instance(rng, int(rng.integers(3, 12)), "any")
        if len(problem.copeland_winners) > 1:
            seen += 1
            instance = explore(problem)
            bound = jd.theory.copeland_lower_bound(problem)
            for winner, constant in bound.per_winner.items():
                explored, lower = solve(instance, winner)
                assert np.sum(np.triu(instance.cost * explored)) == pytest.approx(constant)
                assert lower == pytest.approx(constant, rel=1e-9, abs=1e-9)
    assert seen > 15


@pytest.mark.parametrize("seed", range(5))
def test_relabelling_the_arms_relabels_the_bound(seed):
    rng = np.random.default_rng(seed)
    problem = random_instance(rng, 9, "any")
    order = rng.permutation(9).tolist()
    bound = jd.theory.copeland_lower_bound(problem)
    moved = jd.theory.copeland_lower_bound(problem.submatrix(order))
    assert moved.constant == pytest.approx(bound.constant, rel=1e-12)
    assert order[moved.winner] == bound.winner
    if len(problem.copeland_winners) == 1:
        np.testing.assert_allclose(
            moved.allocation, bound.allocation[np.ix_(order, order)], atol=1e-9 * bound.constant
        )


def test_two_arms():
    problem = jd.problems.from_matrix([[0.5, 0.7], [0.3, 0.5]])
    divergence = 0.7 * np.log(1.4) + 0.3 * np.log(0.6)
    for bound in (jd.theory.copeland_lower_bound(problem), jd.theory.ecw_allocation(problem)):
        assert bound.constant == pytest.approx(0.5 / divergence, rel=1e-12)
        assert bound.allocation[1, 0] == pytest.approx(1 / divergence, rel=1e-12)


@pytest.mark.parametrize("num_arms", [3, 5])
def test_where_all_arms_win_nothing_costs(num_arms):
    eps = np.zeros((num_arms, num_arms))
    for arm in range(num_arms):
        for step in range(1, (num_arms + 1) // 2):
            eps[arm, (arm + step) % num_arms] = 0.1 * step
    problem = jd.problems.from_matrix(0.5 + eps - eps.T)
    assert len(problem.copeland_winners) == num_arms
    bound = jd.theory.copeland_lower_bound(problem)
    assert bound.constant == jd.theory.ecw_constant(problem) == 0
    assert requirements(problem, bound)[1] == 0
    assert solve(explore(problem), 0).lower == 0


def test_certain_preferences():
    """Three arms in order, d = log 2: the second and the third have to lose to the first."""
    bound = jd.theory.copeland_lower_bound(from_margins([0.5, 0.5, 0.5]))
    assert bound.constant == pytest.approx((1 / 4 + 2 / 4) / np.log(2), rel=1e-9)


def test_tiny_gaps_are_solved_to_the_tolerance():
    rng = np.random.default_rng(3)
    sizes = 10.0 ** rng.uniform(-6, -0.4, 12 * 11 // 2)
    bound = jd.theory.copeland_lower_bound(from_margins(sizes * rng.choice([-1, 1], len(sizes))))
    assert bound.gap < 1e-8


def test_ties_and_wrong_winners_are_named():
    tied = jd.problems.load("arxiv")
    for function in (jd.theory.copeland_lower_bound, jd.theory.ecw_allocation):
        with pytest.raises(InputError, match=r"p = 1/2 for arms 3 and 5 \(arms counted from 0\)"):
            function(tied)
        with pytest.raises(InputError, match=r"arm 0\.0 is not a Copeland winner of 'gap': 0 are"):
            function(jd.problems.load("gap"), winner=0.0)
        with pytest.raises(InputError, match="arm 1 is not a Copeland winner of 'gap': 0 are"):
            function(jd.problems.load("gap"), winner=1)


def test_tied_arms_with_names_are_named():
    tied = jd.problems.from_matrix([[0.5, 0.5], [0.5, 0.5]], arms=["ada", "bob"])
    with pytest.raises(InputError, match="p = 1/2 for ada and bob: Copeland bounds need"):
        jd.theory.copeland_lower_bound(tied)


def test_an_unsolved_program_is_an_error(monkeypatch):
    problem = jd.problems.load("gap")

    def stopped(*arguments, **settings):
        settings["options"] = {"maxiter": 1, "presolve": False}
        return original(*arguments, **settings)

    original = scipy.optimize.linprog
    monkeypatch.setattr(scipy.optimize, "linprog", stopped)
    with pytest.raises(SolverError, match="was not solved"):
        jd.theory.copeland_lower_bound(problem)


def test_a_gap_above_the_tolerance_is_an_error(monkeypatch):
    def careless(*arguments):
        found = solve(*arguments)
        return found._replace(lower=0.99 * found.lower)

    monkeypatch.setattr("jaxduel.theory.lower_bound.solve", careless)
    with pytest.raises(SolverError, match=r"a relative gap of 0.01, above the tolerance 1e-07"):
        jd.theory.copeland_lower_bound(jd.problems.load("gap"))


def test_a_solver_that_misses_a_constraint_is_found_out(monkeypatch):
    def wrong(*arguments, **settings):
        answer = original(*arguments, **settings)
        answer.x *= 0.5
        return answer

    original = scipy.optimize.linprog
    monkeypatch.setattr(scipy.optimize, "linprog", wrong)
    with pytest.raises(SolverError, match=r"misses a constraint by 0\.5"):
        jd.theory.copeland_lower_bound(jd.problems.load("gap"))


def test_bounds_are_immutable():
    bound = jd.theory.copeland_lower_bound(jd.problems.load("gap"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        bound.constant = 0.0  # type: ignore[misc]
    assert "allocation" not in repr(bound)
