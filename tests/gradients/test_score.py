"""The gradient of regret against exact computation, finite differences, and its own laws."""

import dataclasses
from statistics import NormalDist
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.gradients import families, regret_gradient
from jaxduel.policies.base import PullBatch
from jaxduel.problems import ArmsProblem
from tests.gradients.histories import expected_regret

pytestmark = pytest.mark.thorough

ONE = {"devices": jax.devices()[:1]}
THREE = np.array([0.6, 0.0, -0.5])


def two_arms(p):
    return jnp.array([[0.5, p], [1 - p, 0.5]])


def within(estimate, error, truth, number=4.0):
    """Whether an estimate is within so many standard errors, which are not zero."""
    return bool(np.all(error > 0) and np.all(np.abs(estimate - truth) < number * error))


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rmed1", {"scale": 0.3}),
        pytest.param("rmed2", {}, marks=SLOW),
        pytest.param("savage", {"horizon": 12}, marks=SLOW),
        pytest.param("ecw-rmed", {"alpha": 0.5}, marks=SLOW),
        pytest.param("pbr", {"horizon": 12}, marks=SLOW),
    ],
)
def test_two_arms_exactly(name, settings):
    policy = jd.policies.make(name, num_arms=2, **settings)
    with jax.enable_x64(True):
        exact = [
            float(f(jnp.float64(0.8)))
            for f in (expected_regret(policy, 12), jax.grad(expected_regret(policy, 12)))
        ]
    given = {"regret": "average", "shuffle_arms": False, "skip_quiet": False, **ONE}
    found = regret_gradient(policy, two_arms, np.array(0.8), 12, 20_000, **given)
    value, gradient, value_sem, gradient_sem = found.at()
    np.testing.assert_allclose(value, exact[0], atol=4 * value_sem + 1e-9)
    np.testing.assert_allclose(gradient, exact[1], atol=4 * gradient_sem + 1e-9)
    assert gradient_sem < 0.05 * abs(exact[1])


def differences(policy, instance_fn, params, horizon, num_seeds, step, **settings):
    """Central differences with common random numbers, by coordinate: means and standard errors."""
    found = []
    for direction in np.eye(params.size).reshape(-1, *params.shape):
        ends = [
            jd.simulate(
                policy, jd.problems.from_matrix(np.asarray(instance_fn(params + s * direction))),
                horizon, num_seeds, checkpoints=[horizon], **settings,
            ).regret[:, 0]
            for s in (step, -step)
        ]  # fmt: skip
        slopes = (ends[0] - ends[1]) / (2 * step)
        found.append((slopes.mean(), slopes.std() / np.sqrt(num_seeds)))
    return np.array(found).T


BATCHES = {"horizon": 2_000, "num_batches": 4}
PLAYED = [("scomp2", BATCHES, "average", 2_000)]
SLOWLY = [
    ("pcomp", BATCHES, "weak", 2_000),
    ("scomp", BATCHES, "average", 2_000),
    ("rucb", {}, "borda", 100),
    ("rmed1", {}, "average", 100),
    ("dts", {}, "copeland", 100),
    ("ccb", {}, "copeland", 100),
    ("ecw-rmed", {}, "average", 100),
    ("btm", {"horizon": 100}, "average", 100),
    ("sparring", {}, "weak", 100),
]


@pytest.mark.parametrize(
    ("name", "settings", "regret", "horizon", "num_seeds"),
    [(*case, 12_000) for case in PLAYED]
    + [pytest.param(*case, 10**6, marks=SLOW) for case in PLAYED + SLOWLY],
)
def test_finite_differences(name, settings, regret, horizon, num_seeds):
    policy = jd.policies.make(name, num_arms=3, **settings)
    call, given = (policy, families.btl, THREE, horizon, num_seeds), {"regret": regret, **ONE}
    _, gradient, _, error = regret_gradient(*call, **given).at()
    step = 0.05 if num_seeds > 10**5 else 0.15
    near, near_error = differences(*call, step, **given)
    far, far_error = differences(*call, 2 * step, **given)
    slope = (4 * near - far) / 3  # Richardson: what is left is of the fourth order in the step
    slope_error = (4 * near_error + far_error) / 3
    assert within(gradient, np.hypot(error, slope_error), slope)
    assert np.linalg.norm(gradient) > 8 * np.linalg.norm(error)


def test_the_causal_estimate_is_the_surest():
    policy = jd.policies.make("scomp2", num_arms=3, horizon=2_000, num_batches=4)
    call = (policy, families.btl, THREE, 2_000, 3_000)
    causal = regret_gradient(*call, regret="average", **ONE)
    whole = regret_gradient(*call, regret="average", causal=False, **ONE)
    assert (causal.gradient_sem[-1] < 0.9 * whole.gradient_sem[-1]).all()
    assert within(causal.gradient[-1], whole.gradient_sem[-1], whole.gradient[-1])
    assert causal.gradient.shape == (*causal.checkpoints.shape, 3)
    of_a_shift = np.abs(causal.gradient.sum(axis=1))  # zero but for the rounding of float32
    assert (of_a_shift <= 1e-6 * np.abs(causal.gradient).max(axis=1)).all()


@pytest.mark.slow
def test_skipped_or_not_and_with_late_outcomes():
    policy = jd.policies.make("rmed1", num_arms=3)
    call = (policy, families.btl, THREE, 20_000, 6_000)
    skipped = regret_gradient(*call, regret="average", **ONE)
    plain = regret_gradient(*call, regret="average", skip_quiet=False, **ONE)
    np.testing.assert_array_equal(plain.gradient, skipped.gradient)
    given = {"regret": "average", "delay": 50, **ONE}
    late = regret_gradient(*call, **given)
    slope, error = differences(policy, families.btl, THREE, 20_000, 6_000, 0.1, **given)
    total = np.hypot(error, late.gradient_sem[-1])
    assert within(late.gradient[-1], total, slope)


def test_parameters_may_be_a_tree_and_tables_are_worked_on_in_parts(monkeypatch):
    policy = jd.policies.make("scomp2", num_arms=3, horizon=2_000, num_batches=4)

    def instance(tree):
        return families.btl(jnp.concatenate([tree["first"][None], tree["rest"].ravel()]))

    params = {"first": np.float32(0.6), "rest": np.array([[0.0], [-0.5]])}
    found = regret_gradient(policy, instance, params, num_seeds=1_100, regret="average", **ONE)
    flat = regret_gradient(policy, families.btl, THREE, num_seeds=1_100, regret="average", **ONE)
    assert found.gradient["rest"].shape == (*found.checkpoints.shape, 2, 1)
    np.testing.assert_allclose(found.gradient["first"], flat.gradient[:, 0], rtol=1e-5)
    np.testing.assert_allclose(found.gradient["rest"][..., 0], flat.gradient[:, 1:], rtol=1e-5)
    monkeypatch.setattr("jaxduel.gradients.score._CACHED", 1)
    parts = regret_gradient(policy, families.btl, THREE, num_seeds=1_100, regret="average", **ONE)
    assert (np.abs(parts.gradient - flat.gradient) <= 1e-4 * flat.gradient_sem).all()
    np.testing.assert_allclose(parts.gradient_sem, flat.gradient_sem, rtol=1e-4)
    value, gradient, _, sem = found.at(0)
    assert value == found.value[0]
    assert gradient["rest"].shape == sem["rest"].shape == (2, 1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class TryThenCommit:
    """Pulls both arms n times, then the better one for the rest of T."""

    num_arms: int = dataclasses.field(default=2, metadata={"static": True})
    active_arms: Any
    horizon: Any
    n: Any
    assumes = ()

    def init(self, key):
        return {"sums": jnp.zeros(2), "tried": jnp.array(False)}

    def act(self, state, key):
        best = jnp.argmax(state["sums"])
        rest = jnp.where(jnp.arange(2) == best, self.horizon - 2 * self.n, 0)
        return PullBatch(jnp.where(state["tried"], rest, self.n).astype(jnp.int32))

    def update(self, state, plan, outcome, key):
        return {"sums": state["sums"] + outcome, "tried": jnp.array(True)}


def test_gaussian_arms_exactly():
    """Regret is gap (n + (T - 2 n) Phi(-gap sqrt(n / 2) / std))."""
    n, horizon, std, gap = 20, 1_000, 1.5, 0.2
    policy = TryThenCommit(active_arms=np.ones(2, bool), horizon=np.int32(horizon), n=np.int32(n))
    law, scale = NormalDist(), np.sqrt(n / 2) / std
    rest = horizon - 2 * n
    exact = n + rest * law.cdf(-gap * scale) - gap * rest * scale * law.pdf(gap * scale)

    def arms(means):
        return ArmsProblem(means, std * jnp.ones(2))

    found = regret_gradient(policy, arms, np.array([gap, 0.0]), horizon, 20_000, **ONE)
    value, gradient, value_sem, sem = found.at()
    assert within(value, value_sem, gap * (n + rest * law.cdf(-gap * scale)))
    assert within(gradient, sem, np.array([exact, -exact]))
    assert sem[0] < 0.05 * abs(exact)


def test_one_whole_standard_deviation_for_all_arms():
    policy, params = jd.policies.make("ucb1", num_arms=2, horizon=50), np.array([0.6, 0.5])
    one, each = (
        regret_gradient(policy, lambda means, std=std: ArmsProblem(means, std), params, 50, 8)
        for std in (1, np.ones(2))
    )
    np.testing.assert_array_equal(one.gradient, each.gradient)


def test_bernoulli_arms():
    policy = jd.policies.make("ucb1", num_arms=2, horizon=300)
    params = np.array([0.7, 0.5])
    found = regret_gradient(policy, lambda x: ArmsProblem(x), params, 300, 8_000, **ONE)
    _, gradient, _, sem = found.at()
    ends = [
        jd.simulate(policy, jd.problems.bernoulli(params + s), 300, 8_000, checkpoints=[300], **ONE)
        for s in ([0.02, 0], [-0.02, 0], [0, 0.02], [0, -0.02])
    ]
    for arm in (0, 1):
        slopes = (ends[2 * arm].regret - ends[2 * arm + 1].regret)[:, 0] / 0.04
        error = np.hypot(sem[arm], slopes.std() / np.sqrt(8_000))
        assert within(gradient[arm], error, slopes.mean())
        assert sem[arm] < 0.1 * abs(gradient[arm])


@pytest.mark.parametrize(
    ("instance_fn", "params", "message"),
    [
        (lambda x: two_arms(x), 1.2, r"has 1.2 at \[0, 1\]"),
        (lambda x: jnp.array([[0.5, x], [x, 0.5]]), 0.7, r"p\[0, 1\] \+ p\[1, 0\]"),
        (lambda x: two_arms(x), 1.0, r"has 1 at \[0, 1\] .* the score .* between 0 and 1"),
        (lambda x: two_arms(0.6 + jnp.sqrt(x)), 0.0, "not finite: that of entry"),
        (lambda x: two_arms(x), 1, "floating-point"),
        (lambda x: ArmsProblem(jnp.array([x, 0.5]), jnp.array([x, 1.0])), 0.6, "std of Gaussian"),
        (lambda x: jd.problems.bernoulli([x, 0.5]), 0.6, r"a function of JAX, .*ArmsProblem\("),
        (lambda x: two_arms(float(x)), 0.6, "a function of JAX"),
        (lambda x: two_arms(np.exp(x)), -0.5, "a function of JAX"),
        (
            lambda x: jnp.array([[0.5, 0.6], [0.4, 0.5]]).at[0, 1].set(x),
            0.6,
            r"moves p\[0, 1\] by 1 times .* parameter 0, and p\[1, 0\] by 0 .*both triangles",
        ),
    ],
)
def test_bad_instances(instance_fn, params, message):
    policy = jd.policies.make("rmed1", num_arms=2)
    with pytest.raises(InputError, match=message):
        regret_gradient(policy, instance_fn, params, 10)


def test_too_few_seeds():
    policy = jd.policies.make("rmed1", num_arms=2)
    with pytest.raises(InputError, match="num_seeds must be a whole number of at least 2"):
        regret_gradient(policy, two_arms, 0.7, 10, 1)
    with pytest.raises(InputError, match="num_seeds must be a whole number of at least 2, not N"):
        regret_gradient(policy, two_arms, 0.7, 10, None)
    with pytest.raises(InputError, match="causal must be True or False, not 'no'"):
        regret_gradient(policy, two_arms, 0.7, 10, causal="no")


def test_an_instance_that_does_not_depend_on_its_parameters_has_zero_gradient():
    policy = TryThenCommit(active_arms=np.ones(2, bool), horizon=np.int32(1_000), n=np.int32(20))
    params = np.array([0.9, 0.1])
    with pytest.warns(UserWarning, match="zero in every coordinate"):
        found = regret_gradient(
            policy, lambda x: ArmsProblem(jnp.round(x), jnp.ones(2)), params, 1_000, 4, **ONE
        )
    assert (found.gradient == 0).all()
    assert (found.value > 0).any()
