import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError


def test_line_by_line():
    problem = jd.problems.gaussian([0.1, 0.9, 0.5, 0.8], std=3.0)
    gaps = [0.1, 0.1, 0.4, 0.8]  # of the best arm, the second best, ...
    assert jd.theory.h1(problem) == pytest.approx(sum(1 / gap**2 for gap in gaps))
    assert jd.theory.h2(problem) == pytest.approx(max(i / g**2 for i, g in enumerate(gaps, 1)))


@pytest.mark.parametrize("num_arms", [2, 5, 40])
def test_they_differ_by_a_logarithm(num_arms):
    """Section 2 of the paper: H2 <= H1 <= log(2 K) H2."""
    rng = np.random.default_rng(num_arms)
    for _ in range(50):
        problem = jd.problems.bernoulli(rng.uniform(size=num_arms) ** 3)
        one, two = jd.theory.h1(problem), jd.theory.h2(problem)
        assert two <= one * (1 + 1e-12)
        assert one <= np.log(2 * num_arms) * two


def test_tiny_gaps_are_hard_beyond_numbers():
    assert jd.theory.h1(jd.problems.gaussian([1e-200, 0])) == np.inf
    assert jd.theory.h2(jd.problems.gaussian([1e-200, 0])) == np.inf


@pytest.mark.parametrize("bound", ["h1", "h2", "characteristic_time"])
def test_bad_input(bound):
    function = getattr(jd.theory, bound)
    with pytest.raises(InputError, match=f"^{bound}: .*rewards.* not be of type DuelingProblem"):
        function(jd.problems.load("gap"))
    with pytest.raises(InputError, match=f"^{bound} needs one best arm, and 'gaussian' has 2: arm"):
        function(jd.problems.gaussian([1, 1, 0]))
    with pytest.raises(InputError, match=f"^{bound} is computed outside jit, vmap and grad"):
        jax.jit(function)(jax.tree.map(jax.numpy.asarray, jd.problems.bernoulli([0.5, 0.4])))
