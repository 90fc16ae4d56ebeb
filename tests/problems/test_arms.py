import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.policies.arms.grids import grid_times
from jaxduel.problems.arms import (
    ArmsProblem,
    adaptive_grid_family,
    bernoulli,
    gaussian,
    one_better_arm,
    static_grid_family,
)


def test_gaussian_arms():
    problem = gaussian([0.5, 0.7, 0.7, -1], std=2, name="four")
    assert (problem.num_arms, problem.rewards, problem.name) == (4, "gaussian", "four")
    assert problem.best_arms == (1, 2)
    np.testing.assert_allclose(problem.gaps(), [0.2, 0, 0, 1.7], rtol=1e-15)
    np.testing.assert_array_equal(problem.gaps("pulls"), problem.gaps())
    np.testing.assert_array_equal(problem.std, [2, 2, 2, 2])
    np.testing.assert_array_equal(gaussian([1, 2], std=[3, 0.5]).std, [3, 0.5])


def test_bernoulli_arms():
    problem = bernoulli([0, 0.25, 1])
    assert (problem.num_arms, problem.rewards, problem.best_arms) == (3, "bernoulli", (2,))
    assert problem.std is None
    np.testing.assert_array_equal(problem.gaps(), [1, 0.75, 0])


@pytest.mark.parametrize("convert", [list, np.array, jnp.array, lambda x: np.array(x, np.float32)])
def test_any_kind_of_numbers_gives_read_only_float64(convert):
    problem = gaussian(convert([0.5, 0.7]), std=convert([1.0, 2.0]))
    for leaf in (problem.means, problem.std, bernoulli(convert([0.5, 0.7])).means):
        assert leaf.dtype == np.float64
        assert not leaf.flags.writeable
    np.testing.assert_allclose(problem.means, [0.5, 0.7], atol=1e-7)


def test_the_given_array_is_neither_changed_nor_locked():
    means, std = np.array([0.5, 0.7]), np.array([1.0, 2.0])
    problem = gaussian(means, std)
    assert (means.tolist(), std.tolist()) == ([0.5, 0.7], [1.0, 2.0])
    means[0] = std[0] = 3.0
    assert (problem.means[0], problem.std[0]) == (0.5, 1.0)


def test_an_unknown_kind_of_gap():
    with pytest.raises(InputError, match="regret of arms with rewards 'copeland': known are pulls"):
        one_better_arm(2).gaps("copeland")


def test_equality_and_hash():
    assert gaussian([1, 2]) == gaussian(np.array([1.0, 2.0]), std=[1, 1])
    assert hash(gaussian([1, 2])) == hash(gaussian([1, 2]))
    for other in (gaussian([1, 3]), gaussian([1, 2], std=2), gaussian([1, 2, 3]),
                  gaussian([1, 2], name="two"), bernoulli([0, 1]), "gaussian"):  # fmt: skip
        assert gaussian([1, 2]) != other
    assert bernoulli([0, 1], name="x") != gaussian([0, 1], name="x")


def test_repr_names_the_instance():
    facts = "gaussian rewards, best arm 1, smallest gap 1"
    assert repr(gaussian([1, 2])) == f"ArmsProblem('gaussian', K=2, {facts})"
    facts = "bernoulli rewards, best arms 0, 2, smallest gap 0.1"
    assert repr(bernoulli([0.6, 0.5, 0.6], "b")) == f"ArmsProblem('b', K=3, {facts})"
    assert repr(gaussian([1, 1])).endswith("best arms 0, 1, all means equal)")
    seen = []
    jax.jit(lambda problem: seen.append((repr(problem), problem._repr_html_())))(gaussian([1, 2]))
    assert seen[0][0] == "ArmsProblem('gaussian', means=float32[2])"
    assert "float32[2]" in seen[0][1]
    stacked = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), gaussian([1, 2]))
    assert repr(stacked) == "ArmsProblem('gaussian', means=float64[2,2])"
    placeholder = jax.tree.unflatten(jax.tree.structure(gaussian([1, 2])), [None, None])
    assert "None" in repr(placeholder)


def test_notebooks_show_the_facts_and_few_means():
    shown = gaussian([1, 2.5], std=3, name="<g>")._repr_html_()
    assert "&lt;g&gt;: K = 2, gaussian rewards, best arm 1, smallest gap 1.5" in shown
    for cell in ("<td>2.5</td>", "<td>3</td>", "standard deviation"):
        assert cell in shown
    assert "standard deviation" not in bernoulli([0.5, 0.6])._repr_html_()
    assert "<td>" not in one_better_arm(50)._repr_html_()


def test_instances_pass_through_transformations():
    problem = gaussian([1.0, 2.0], std=3.0)
    assert jax.tree.unflatten(jax.tree.structure(problem), jax.tree.leaves(problem)) == problem
    assert len(jax.tree.leaves(bernoulli([0, 1]))) == 1
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), problem, problem)
    assert stacked.num_arms == 2
    first = jax.vmap(lambda one: one.means[0] * one.std[1])(stacked)
    np.testing.assert_array_equal(first, [3.0, 3.0])
    slope = jax.grad(lambda one: jnp.sum(one.means**2))(jax.tree.map(jnp.asarray, problem))
    assert isinstance(slope, ArmsProblem)
    np.testing.assert_array_equal(slope.means, [2.0, 4.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian([0.5]), r"shape \(1,\): a list of at least two"),
        (lambda: gaussian([[0.5, 0.6]]), r"shape \(1, 2\)"),
        (lambda: gaussian([]), "at least two"),
        (lambda: gaussian([0.5, math.nan]), r"means nan at arm 1 \(counted from 0\).*finite"),
        (lambda: gaussian([math.inf, 0.5]), "means inf at arm 0"),
        (lambda: gaussian([0.5, 0.6], std=0), "std 0 at arm 0.*positive and finite"),
        (lambda: bernoulli([1, 1 + 1e-12]), r"means 1\.000000000001 at arm 1"),
        (lambda: gaussian([0.5, 0.6], std=[1, -2]), "std -2 at arm 1"),
        (lambda: gaussian([0.5, 0.6], std=math.nan), "std nan at arm 0"),
        (lambda: gaussian([0.5, 0.6], std=[1, 2, 3]), r"std of shape \(3,\).*each of the 2 arms"),
        (lambda: gaussian([0.5, 0.6], std=[1]), r"std of shape \(1,\)"),
        (lambda: gaussian(["a", "b"], name="words"), "'words' have means that are not numbers"),
        (lambda: gaussian([[1], [2, 3]]), "not numbers"),
        (lambda: gaussian([1j, 2]), "not numbers"),
        (lambda: gaussian(None), "not numbers"),
        (lambda: gaussian([1, 2], std=None), "std that are not numbers"),
        (lambda: bernoulli([0.5, 1.1]), r"means 1\.1 at arm 1.*in \[0, 1\]"),
        (lambda: bernoulli([-0.1, 0.5]), r"means -0\.1 at arm 0"),
        (lambda: bernoulli([0.5, math.nan]), "means nan at arm 1"),
        (lambda: bernoulli([0.5]), "at least two"),
        (lambda: one_better_arm(1), "whole number from 2 to .*, not 1"),
        (lambda: one_better_arm(2.5), "whole number from 2 to .*, not 2.5"),
        (lambda: one_better_arm(10**12), "from 2 to 46,340, not 1000000000000"),
        (lambda: static_grid_family(10**6, 0.5), "from 2 to 4,000, not 1000000"),
        (lambda: one_better_arm(3, best=0.4), "best is 0.4, which is below the others' 0.5"),
        (lambda: one_better_arm(3, best=math.nan), "finite"),
        (lambda: static_grid_family(1, 0.5), "whole number from 2 to .*, not 1"),
        (lambda: static_grid_family(4, 2.01), r"gap must be in \(0, sqrt\(4\)\], not 2\.01"),
        (lambda: static_grid_family(4, 0.0), r"gap must be in \(0, "),
        (lambda: static_grid_family(4, math.nan), r"gap must be in \(0, "),
        (lambda: adaptive_grid_family(1, 100, 3), "whole number from 2 to .*, not 1"),
        (lambda: adaptive_grid_family(2, 100, 2.5), "must be a whole number in 1..100, not 2.5"),
        (lambda: adaptive_grid_family(2, 100, 0), "must be a whole number in 1..100, not 0"),
        (lambda: adaptive_grid_family(2, 100, 101), "must be a whole number in 1..100, not 101"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_one_better_arm_is_the_papers_instance():
    problem = one_better_arm(4)
    np.testing.assert_array_equal(problem.means, [0.6, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(problem.std, np.ones(4))
    assert problem == jd.problems.one_better_arm(4)
    np.testing.assert_array_equal(one_better_arm(2, 3, 3, 2).means, [3, 3])


@settings(deadline=None)
@given(st.integers(2, 9), st.floats(1e-6, 1))
def test_the_family_of_static_grids(num_arms, share):
    """Section 3.1: arm i is best under P_i and all others cost at least the gap; P_1 and P_i differ
    in arm i only, by 2 gaps: a divergence of 2 gap^2 a pull."""
    gap = share * math.sqrt(num_arms)
    family = static_grid_family(num_arms, gap)
    assert len(family) == num_arms
    for arm, problem in enumerate(family):
        assert problem.best_arms == (arm,)
        others = np.delete(problem.gaps(), arm)
        assert np.all(others >= gap)
        assert np.all(others <= 2 * gap)
        apart = np.flatnonzero(problem.means != family[0].means)
        assert apart.tolist() == ([arm] if arm else [])
        assert np.all(np.abs(problem.means - family[0].means)[apart] == 2 * gap)
        np.testing.assert_array_equal(problem.std, np.ones(num_arms))
    assert family[1].name == f"static-grid-family({num_arms})[2]"


@pytest.mark.parametrize(("num_arms", "batches"), [(2, 3), (4, 3), (3, 5)])
def test_the_family_of_adaptive_grids(num_arms, batches):
    """Section 3.2: P_{j,k} and P_M differ in arm k only. The times T_j are those of the minimax
    grid; T_{j-1} D_j^2 does not grow with T, and T_j D_j / M is Theorem 3's rate over 36."""
    horizon = 10**9
    *mixed, last = adaptive_grid_family(num_arms, horizon, batches)
    assert len(mixed) == (batches - 1) * (num_arms - 1)
    assert last.best_arms == (num_arms - 1,)
    least = last.means[-1]
    gaps = []
    for number, problem in enumerate(mixed):
        batch, arm = divmod(number, num_arms - 1)
        assert problem.name.endswith(f"[{batch + 1},{arm + 1}]")
        assert problem.best_arms == (arm,)
        apart = problem.means - last.means
        assert np.flatnonzero(apart).tolist() == [arm]
        gaps.append(apart[arm] - least)
    gaps = np.append(np.reshape(gaps, (batches - 1, num_arms - 1))[:, 0], least)
    scale = math.sqrt(num_arms) / (36 * batches)
    times = grid_times("minimax", horizon, batches)
    assert gaps[0] == pytest.approx(scale)
    np.testing.assert_allclose(times[:-1] * gaps[1:] ** 2, scale**2, rtol=1e-4)
    rate = jd.theory.adaptive_grid_minimax_rate(num_arms, horizon, batches)
    np.testing.assert_allclose(times * gaps / batches, rate / 36, rtol=1e-4)


def test_the_family_of_one_batch_is_one_instance():
    (only,) = adaptive_grid_family(4, 100, 1)
    np.testing.assert_allclose(only.means, [0, 0, 0, 2 / 36])
