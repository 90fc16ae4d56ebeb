import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import linprog

import jaxduel as jd
from jaxduel.errors import InputError
from tests.theory.instances import random_instance


def by_program(problem, winner):
    """C^E*_{i1} of Komiyama et al. 2016, section 4.2, eqs. (4) and (5), with all subsets."""
    p = np.asarray(problem.preferences)
    arms = range(len(p))
    losses = np.sum(p < 0.5, axis=1)
    total = 0.0
    for rival in set(arms) - {winner}:
        d = {
            j: p[j, rival] * np.log(2 * p[j, rival]) + p[rival, j] * np.log(2 * p[rival, j])
            for j in set(arms) - {rival}
        }
        cost = {j: (losses[j] + losses[rival] - 2 * losses.min()) / (2 * (len(p) - 1)) for j in d}
        if p[winner, rival] > 0.5:
            total += cost[winner] / d[winner]
        beaters = [j for j in arms if p[j, rival] > 0.5 and j != winner]
        sets = list(itertools.combinations(beaters, losses[rival] - losses[winner] + 1))
        if sets:
            answer = linprog(
                [cost[j] for j in beaters],
                A_ub=[[-d[j] * (j in chosen) for j in beaters] for chosen in sets],
                b_ub=-np.ones(len(sets)),
                bounds=[(0, 1 / d[j]) for j in beaters],
            )
            assert answer.status == 0
            total += answer.fun
    return total


@pytest.mark.parametrize("seed", range(20))
def test_the_closed_form_solves_its_program(seed):
    rng = np.random.default_rng(seed)
    problem = random_instance(rng, int(rng.integers(2, 8)), ("any", "few")[seed % 2])
    bound = jd.theory.ecw_allocation(problem)
    for winner in problem.copeland_winners:
        expected = by_program(problem, winner)
        assert bound.per_winner[winner] == pytest.approx(expected, rel=1e-7, abs=1e-9)
        only = jd.theory.ecw_allocation(problem, winner=winner)
        assert only.per_winner == {winner: bound.per_winner[winner]}
    assert bound.winner == min(bound.per_winner, key=lambda arm: bound.per_winner[arm])


@pytest.mark.parametrize("num_arms", [2, 6])
def test_arrays_give_what_problems_give(num_arms):
    instances = [
        random_instance(np.random.default_rng([seed, num_arms]), num_arms, ("any", "few")[seed % 2])
        for seed in range(20)
    ]
    stacked = jnp.asarray(np.stack([p.preferences for p in instances]), dtype=jnp.float32)
    found = jax.jit(jax.vmap(jd.theory.ecw_constant))(stacked)
    assert found.dtype == jnp.float32
    expected = [jd.theory.ecw_constant(p) for p in instances]
    assert all(isinstance(value, float) for value in expected)
    np.testing.assert_allclose(found, expected, rtol=2e-5)


def test_small_gaps_keep_float32_accuracy():
    problem = jd.problems.from_matrix([[0.5, 0.501], [0.499, 0.5]])
    found = jd.theory.ecw_constant(np.asarray(problem.preferences, dtype=np.float32))
    margin = float(np.float32(0.501) - np.float32(0.499))
    exact = 0.5 / (((1 + margin) * np.log1p(margin) + (1 - margin) * np.log1p(-margin)) / 2)
    assert float(found) == pytest.approx(exact, rel=3e-6)


GRADIENT = jax.jit(jax.grad(jd.theory.ecw_constant))


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_is_that_of_finite_differences(seed):
    rng = np.random.default_rng(seed)
    problem = random_instance(rng, 6, "any")
    p = np.array(problem.preferences)
    gradient = np.asarray(GRADIENT(jnp.asarray(p, jnp.float32)))
    np.testing.assert_array_equal(gradient, -gradient.T)
    assert np.isfinite(gradient).all()
    step = 1e-6
    for i, j in itertools.combinations(range(len(p)), 2):
        sides = []
        for sign in (1, -1):
            moved = p.copy()
            moved[i, j] += sign * step
            moved[j, i] -= sign * step
            sides.append(jd.theory.ecw_constant(jd.problems.from_matrix(moved)))
        slope = (sides[0] - sides[1]) / (2 * step)
        assert gradient[i, j] - gradient[j, i] == pytest.approx(
            slope, rel=1e-3, abs=1e-3 * float(np.abs(gradient).max())
        )


def test_a_traced_problem_goes_through_jax():
    problem = random_instance(np.random.default_rng(5), 6, "any")
    traced = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), problem)
    slope = GRADIENT(traced)
    assert isinstance(slope, jd.problems.DuelingProblem)
    np.testing.assert_array_equal(slope.preferences, GRADIENT(traced.preferences))


def test_certain_preferences_have_finite_gradients():
    """Six arms in order, d = log 2: the others have to lose to the first."""
    p = 0.5 + 0.5 * np.sign(np.arange(6)[None, :] - np.arange(6)[:, None])
    expected = sum(range(1, 6)) / (2 * 5) / np.log(2)
    assert float(jd.theory.ecw_constant(p)) == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(GRADIENT(jnp.asarray(p, jnp.float32))).all()


def test_ties_are_nan_where_traced_and_shapes_are_checked():
    tied = jnp.asarray(jd.problems.load("arxiv").preferences, dtype=jnp.float32)
    assert np.isnan(jax.jit(jd.theory.ecw_constant)(tied))
    with pytest.raises(InputError, match="p = 1/2 for arms 3 and 5"):
        jd.theory.ecw_constant(tied)
    for function in (jd.theory.ecw_constant, GRADIENT):
        with pytest.raises(InputError, match=r"shape \(2, 3\)"):
            function(jnp.zeros((2, 3)))
