"""Bounds of arms with rewards are differentiable, too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd

STEP = 1e-6
MEANS = [0.0, 0.3, 0.55, 0.7]


@pytest.mark.parametrize("std", [None, np.array([1.0, 2.0, 0.5, 1.0])])
def test_the_constant_of_lai_and_robbins(std):
    problem = jd.problems.ArmsProblem(np.array(MEANS), std)
    with jax.enable_x64(True):
        traced = jax.tree.map(jnp.asarray, problem)
        differentiated = jax.jit(jax.value_and_grad(jd.theory.lai_robbins_constant))
        value, slope = differentiated(traced)
        assert value.dtype == jnp.float64
        certain = jd.problems.ArmsProblem(jnp.array([0.0, 0.2, 0.5, 1.0]), traced.std)
        at_one, slope_at_one = differentiated(certain)
    assert float(value) == pytest.approx(jd.theory.lai_robbins_constant(problem), rel=1e-12)
    assert np.isfinite(slope.means).all()
    for arm in (1, 2, 3):
        moves = STEP * np.eye(4)[arm]
        ends = [
            jd.theory.lai_robbins_constant(jd.problems.ArmsProblem(np.array(MEANS) + move, std))
            for move in (moves, -moves)
        ]
        expected = (ends[0] - ends[1]) / (2 * STEP)
        assert float(slope.means[arm]) == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(slope_at_one.means).all()
    assert (float(at_one) == 0) == (std is None)


@pytest.mark.parametrize(
    "bound",
    [
        lambda gap: jd.theory.base_problem_dependent_rate(3, 100, 4, gap, logarithms=True),
        lambda gap: jd.theory.static_grid_lower_bound([5, 20, 100], 3, gap),
    ],
)
def test_bounds_of_gaps(bound):
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(bound))(0.3)
        assert slope.dtype == jnp.float64
    expected = (bound(0.3 + STEP) - bound(0.3 - STEP)) / (2 * STEP)
    assert float(slope) == pytest.approx(float(expected), rel=1e-7)
