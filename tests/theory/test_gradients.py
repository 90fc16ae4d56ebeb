"""Every bound of arrays: its value is the problem's, its gradient that of finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError, SolverError
from tests.choice import some
from tests.theory.instances import from_margins, random_instance

pytestmark = pytest.mark.usefixtures("quick_compilation")

theory = jd.theory
COPELAND = {
    "lower bound": theory.lower_bound_constant,
    "ecw": theory.ecw_constant,
    "ccb": theory.ccb_constant,
    "scb": theory.scb_order,
    "dts": lambda p: theory.dts_constant(p, 0.6, 0.5),
    "refined": lambda p: theory.dts_refined_constant(p, 0.6, 0.5),
    "loglog": lambda p: theory.dts_loglog_constant(p, 3, 0.5),
}
CONDORCET = {
    "condorcet": theory.condorcet_lower_bound,
    "condorcet, copeland": lambda p: theory.condorcet_lower_bound(p, "copeland"),
    "rmed1": theory.rmed1_constant,
    "rmed1, copeland": lambda p: theory.rmed1_constant(p, "copeland"),
    "identification": lambda p: theory.identification_lower_bound(p, 0.05),
    "pcomp": lambda p: theory.pcomp_bound(p, 1000, 5),
    "scomp": lambda p: theory.scomp_order(p, 1000, 5),
    "scomp2": lambda p: theory.scomp2_order(p, 1000, 5),
}
ALL = COPELAND | CONDORCET
STEP = 1e-6


def stacked(p):
    values = jnp.stack([function(p) for function in ALL.values()])
    return values, values


FORWARD = jax.jit(jax.jacfwd(stacked, has_aux=True))


def gradients_and_values(p):
    """(bounds, K, K) and (bounds,), float64; NaN for bounds that do not apply."""
    with jax.enable_x64(True):
        gradients, values = FORWARD(np.asarray(p))
        assert gradients.dtype == values.dtype == np.float64
        return np.asarray(gradients), np.asarray(values)


def of_problems(p, number):
    """The first bounds of a problem."""
    problem = jd.problems.from_matrix(p)
    return np.array([function(problem) for function in list(ALL.values())[:number]])


def instance(seed, num_arms, ordered):
    """No gap near 0, and none near another; `ordered` with SST and STI."""
    rng = np.random.default_rng([seed, num_arms])
    if ordered:
        scores = rng.permutation(np.cumsum(rng.uniform(0.3, 0.9, num_arms)))
        return 1 / (1 + np.exp(scores[None, :] - scores[:, None]))
    margins = np.triu(rng.uniform(0.05, 0.4, (num_arms, num_arms)), 1)
    margins = margins * rng.choice([-1, 1], margins.shape)
    return 0.5 + margins - margins.T


def antisymmetric(upper, num_arms):
    matrix = np.zeros((num_arms, num_arms))
    matrix[np.triu_indices(num_arms, 1)] = upper
    return matrix - matrix.T


CASES = [(0, 2, True), (1, 2, True), *((seed, 5, True) for seed in range(3))]
CASES += [(seed, 5, False) for seed in range(8)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "num_arms", "ordered"), some(CASES, [case for case in CASES if case[0] == 1])
)
def test_gradients_are_those_of_finite_differences(seed, num_arms, ordered):
    """Of p_ij + h, p_ji - h for all pairs."""
    p = instance(seed, num_arms, ordered)
    number = len(ALL if ordered else COPELAND)
    gradients, values = (array[:number] for array in gradients_and_values(p))
    np.testing.assert_allclose(values, of_problems(p, number), rtol=1e-12, atol=1e-12)
    assert np.isfinite(gradients).all()
    np.testing.assert_allclose(gradients, -np.swapaxes(gradients, 1, 2), rtol=1e-14)
    steps = STEP * np.eye(num_arms * (num_arms - 1) // 2)
    moved = [antisymmetric(step, num_arms) for step in steps]
    slopes = [of_problems(p + step, number) - of_problems(p - step, number) for step in moved]
    slopes = np.array(slopes).T / (2 * STEP)
    found = 2 * gradients[:, *np.triu_indices(num_arms, 1)]
    for name, one, other in zip(ALL, found, slopes, strict=False):
        np.testing.assert_allclose(
            one, other, rtol=1e-6, atol=1e-6 * np.abs(one).max(), err_msg=name
        )


def test_the_cases_have_one_and_several_winners():
    problems = [jd.problems.from_matrix(instance(*case)) for case in CASES if not case[2]]
    cyclic = [problem for problem in problems if problem.condorcet_winner is None]
    assert {len(problem.copeland_winners) > 1 for problem in cyclic} == {True, False}


def test_the_chain_rule_through_a_family():
    """Bradley-Terry-Luce scores move both triangles at once."""
    theta = np.array([0.1, 1.3, -0.45, 0.62, 2.0])

    def family(scores):
        return 1 / (1 + jnp.exp(scores[None, :] - scores[:, None]))

    functions = [ALL[name] for name in ("lower bound", "ecw", "refined", "condorcet", "scomp2")]

    def total(scores):
        return sum(jnp.log(function(family(scores))) for function in functions)

    def change(step):
        sides = [jd.problems.from_matrix(family(theta + sign * step)) for sign in (1, -1)]
        one, other = (sum(np.log(function(side)) for function in functions) for side in sides)
        return (one - other) / (2 * STEP)

    with jax.enable_x64(True):
        found = np.asarray(jax.jit(jax.grad(total))(theta))
        slopes = [change(step) for step in STEP * np.eye(5)]
    np.testing.assert_allclose(found, slopes, rtol=1e-6)


def test_results_are_floats_of_problems_and_of_an_arrays_dtype():
    p = instance(0, 5, True)
    problem = jd.problems.from_matrix(p)
    values = of_problems(p, len(ALL))
    found = jax.jit(lambda p: [function(p) for function in ALL.values()])(jnp.float32(p))
    assert all(value.dtype == jnp.float32 for value in found)
    np.testing.assert_allclose(found, values, rtol=1e-4)
    for function in ALL.values():
        assert type(function(problem)) is float
        with jax.enable_x64(True):
            for dtype in (jnp.float32, jnp.float64):
                shape = jax.eval_shape(function, jax.ShapeDtypeStruct((5, 5), dtype))
                assert (shape.shape, shape.dtype) == ((), dtype)


@pytest.mark.parametrize("mixed", [False, True])
def test_certain_preferences_have_finite_gradients(mixed):
    upper = [0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.45, 0.5] if mixed else [0.5] * 10
    gradients, values = gradients_and_values(0.5 + antisymmetric(upper, 5))
    # All p at 1 break Assumption 2, which the two refined terms need.
    applies = np.array([mixed or name not in ("refined", "loglog") for name in ALL])
    np.testing.assert_array_equal(np.isfinite(values), applies)
    assert np.isfinite(gradients[applies]).all()


def test_where_all_arms_win_the_constants_are_flat():
    cycle = 0.5 + antisymmetric([0.1, 0.2, -0.3, -0.4, 0.15, 0.25, -0.35, 0.1, 0.2, 0.3], 5)
    assert len(jd.problems.from_matrix(cycle).copeland_winners) == 5
    gradients, values = gradients_and_values(cycle)
    assert not values[:2].any()
    assert not gradients[:2].any()


@pytest.mark.parametrize(
    ("entry", "bounds"), [(0.5, len(COPELAND)), (7.0, len(ALL)), (np.nan, len(ALL))]
)
def test_where_bounds_are_not_defined_traced_arrays_give_nan(entry, bounds):
    p = instance(0, 5, True)
    p[0, 1], p[1, 0] = entry, 1 - entry
    gradients, values = gradients_and_values(p)
    assert np.isnan(values[:bounds]).all()
    assert np.isnan(gradients[:bounds]).all()


@pytest.mark.parametrize(
    ("at", "entry"), [((0, 1), 1.2), ((0, 1), 0.55), ((2, 2), 0.4), ((1, 0), -0.1)]
)
def test_what_is_no_matrix_of_preferences_is_nan_where_traced(at, entry):
    p = instance(0, 5, True)
    p[at] = entry
    gradients, values = gradients_and_values(p)
    assert np.isnan(values).all()
    assert np.isnan(gradients).all()


def test_without_a_condorcet_winner_their_bounds_are_nan():
    gradients, values = gradients_and_values(jd.problems.load("gap").preferences)
    np.testing.assert_array_equal(np.isnan(values), [name in CONDORCET for name in ALL])
    assert np.isnan(gradients[len(COPELAND) :]).all()


@pytest.mark.parametrize("name", ALL)
def test_arrays_that_are_not_traced_are_validated(name):
    function = ALL[name]
    with pytest.raises(InputError, match=r"1/2 for arms 0 and 1|no Condorcet winner"):
        function(np.full((5, 5), 0.5) + antisymmetric([1e-9] * 10, 5))  # a tie in float32
    with pytest.raises(InputError, match=r"has 7 at \[0, 1\]"):
        function(np.array([[0.5, 7.0], [-6.0, 0.5]]))
    with pytest.raises(InputError, match=r"shape \(2, 3\)"):
        function(jnp.zeros((2, 3)))
    with pytest.raises(InputError, match=r"shape \(2, 3\)"):
        jax.eval_shape(function, jnp.zeros((2, 3)))


def test_assumption_2_and_the_numbers_are_checked_of_arrays_too():
    equal = np.asarray(from_margins([0.1, 0.2, 0.2]).preferences)
    for function in (theory.dts_refined_constant, theory.dts_loglog_constant):
        with pytest.raises(InputError, match="arms 0 and 1 beat arm 2 equally clearly"):
            function(equal)
    with pytest.raises(InputError, match="alpha must be above 1/2"):
        jax.eval_shape(lambda p: theory.dts_constant(p, 0.5), equal)
    with pytest.raises(InputError, match="2 <= B <= T"):
        jax.eval_shape(lambda p: theory.scomp_order(p, 10, 11), equal)


def test_a_problem_with_arrays_of_jax_goes_through_jax():
    problem = jax.tree.map(jnp.float32, from_margins([0.1, 0.3, 0.2]))
    for name in ("lower bound", "ccb", "pcomp"):
        slope = jax.eval_shape(jax.grad(ALL[name]), problem)
        assert isinstance(slope, jd.problems.DuelingProblem)


@pytest.mark.parametrize("seed", range(6))
def test_with_several_optima_the_lower_bound_stays_below_its_tangents(seed):
    """It is the least of functions that are smooth in p, one for each exploration."""
    rng = np.random.default_rng(seed)
    p = np.asarray(random_instance(rng, 5, "few").preferences)
    gradients, values = gradients_and_values(p)
    for _ in range(10):
        direction = antisymmetric(rng.standard_normal(10), 5)
        moved = jd.problems.from_matrix(p + STEP * direction)
        rise = (theory.lower_bound_constant(moved) - values[0]) / STEP
        assert rise <= np.sum(gradients[0] * direction) + 1e-3 * np.abs(gradients[0]).sum()


def test_the_lower_bound_under_vmap_and_its_curvature():
    p = instance(1, 5, False)
    direction = antisymmetric(np.ones(10), 5)

    def along(t):
        return theory.lower_bound_constant(p + t * direction)

    step = 1e-4
    with jax.enable_x64(True):
        below, middle, above = np.asarray(jax.jit(jax.vmap(along))(jnp.array([-step, 0.0, step])))
        curvature = float(jax.jit(jax.grad(jax.grad(along)))(0.0))
    expected = theory.lower_bound_constant(jd.problems.from_matrix(p + step * direction))
    assert above == pytest.approx(expected, rel=1e-12)
    assert curvature == pytest.approx((above + below - 2 * middle) / step**2, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sushi", "mslr16-noncondorcet", "mslr-informational"])
def test_the_lower_bound_of_large_instances(data_folder, name):
    """Along a random direction that keeps the winner of every pair, however close."""
    p = np.asarray(jd.problems.load(name).preferences)
    rng = np.random.default_rng(1)
    direction = np.triu(rng.uniform(-1, 1, p.shape), 1)
    direction = (direction - direction.T) * np.abs(p - 0.5) * np.minimum(p, 1 - p)
    with jax.enable_x64(True):
        value, gradient = jax.jit(jax.value_and_grad(theory.lower_bound_constant))(p)
        value, slope = float(value), float(np.sum(gradient * direction))
    bound = theory.copeland_lower_bound(jd.problems.load(name)).constant
    assert value == pytest.approx(bound, rel=1e-12)
    ends = [
        theory.lower_bound_constant(jd.problems.from_matrix(p + sign * STEP * direction))
        for sign in (1, -1)
    ]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5)


def test_an_unsolved_program_is_an_error_of_jax(monkeypatch):
    def unsolved(problem):
        raise SolverError("it was not solved")

    monkeypatch.setattr("jaxduel.theory.lower_bound.copeland_lower_bound", unsolved)
    with pytest.raises(jax.errors.JaxRuntimeError, match="it was not solved"):
        jax.jit(theory.lower_bound_constant)(jnp.float32(instance(1, 2, True)))
