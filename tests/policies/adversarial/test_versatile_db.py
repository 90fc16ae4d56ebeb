"""Versatile-DB: the oracle by hand, its replay on the same numbers, other programs' numbers."""

import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.adversarial.versatile_db import VersatileDB
from jaxduel.pytrees import register_dataclass
from jaxduel.simulation.conformance import suite as conformance
from tests.choice import some
from tests.oracles.adversarial import versatile_db as oracles
from tests.policies.adversarial.numbers import assert_agree, regret
from tests.policies.adversarial.replays import brought, replay, told_late

pytestmark = pytest.mark.usefixtures("quick_compilation")

VARIANTS = {case.partition(", ")[2]: made for case, made in oracles.REPLAYS.items()}

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_by_hand():
    oracle = oracles.VersatileDB(4, reduced=False)
    np.testing.assert_allclose(oracle.chances(), 1 / 4)
    oracle.play(1, 2, True)  # the right player's arm lost
    assert oracle.L[0].tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(oracle.L[1], [0, 0, 4, 0])
    shared = oracles.VersatileDB(4, reduced=False, shared=True)
    shared.play(3, 3, True)  # whoever wins
    np.testing.assert_allclose(shared.L[0], [0, 0, 0, 2])


def test_by_hand_with_reduced_variance():
    oracle = oracles.VersatileDB(2)
    for _ in range(31):  # eta^2 = 16 / t > 1/2: without b these are estimates by weights
        oracle.L[0][:] = oracle.L[1][:] = 0
        oracle.play(0, 1, True)
        np.testing.assert_allclose([*oracle.L[0], *oracle.L[1]], [0, 0, 0, 2])
    oracle.L[0][:] = oracle.L[1][:] = 0
    oracle.t = 33
    oracle.play(0, 1, True)  # (0 - 1/2) / (1/2) + 1/2 and 1/2; 1/2 and (1 - 1/2) / (1/2) + 1/2
    np.testing.assert_allclose([*oracle.L[0], *oracle.L[1]], [-0.5, 0.5, 0.5, 1.5])


def test_estimates_are_unbiased():
    """Weighted by the probabilities of the draws, they are the losses of all arms."""
    rng = np.random.default_rng(0)
    for reduced in (False, True):
        oracle = oracles.VersatileDB(5, reduced=reduced)
        oracle.t, loss = 300, rng.random(5)
        w = oracles.weights(rng.exponential(9, 5), oracle.eta())
        assert reduced == ((w >= oracle.eta() ** 2).sum() in (1, 2, 3, 4)), "all or none are easy"
        mean = sum(w[a] * oracle.estimate(w, a, loss[a]) for a in range(5))
        np.testing.assert_allclose(mean, loss)


# ---- the policy ---------------------------------------------------------------------------------


def chances(policy, state):
    return state.weights.T


@pytest.mark.parametrize(
    ("variant", "num_arms"), some(itertools.product(VARIANTS, (2, 3, 5)), [("", 3), ("shared", 2)])
)
def test_probabilities_and_draws_are_the_papers(variant, num_arms):
    oracle, fields, parameters = VARIANTS[variant]
    replay("versatile-db", fields, chances, lambda: oracle(num_arms, **parameters), num_arms)


@pytest.mark.parametrize("variant", some(VARIANTS, [""]))
def test_outcomes_that_arrive_late_enter_with_the_probabilities_of_their_draws(variant):
    policy = jd.policies.make("versatile-db", num_arms=3, **VARIANTS[variant][1])
    start = brought(policy, 40)
    alone, withheld, late = told_late(policy, start, (1, 1, -1, 1))
    jax.tree.map(np.testing.assert_array_equal, withheld, start)
    expected = start.losses + sum(each.losses - start.losses for each in alone)
    np.testing.assert_allclose(late.losses, expected, rtol=1e-5, atol=1e-5)
    assert late.t == start.t + 4


def test_large_sums_lose_nothing():
    policy = jd.policies.make("versatile-db", num_arms=3)
    small = jnp.array([[0, 1], [3, 0], [7, 0.25]], jnp.float32)
    large = jnp.full((3, 2), 2.0**30, jnp.float32)
    found = policy._weights(large, small, jnp.int32(100))
    np.testing.assert_allclose(found, policy._weights(small, 0 * small, jnp.int32(100)), rtol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant])
def test_variants_conform(variant):
    fields = VARIANTS[variant][1]

    def make(**values):
        return jd.policies.make("versatile-db", **values, **fields)

    for check in (
        conformance.keeps_shapes_and_dtypes,
        conformance.is_vmappable_over_leaves,
        conformance.plays_only_arms_that_exist,
    ):
        check(make)


# ---- numbers of other programs ------------------------------------------------------------------


@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DrawnArmsOnly(VersatileDB):
    """Estimates "rv" as in the public program: nothing is added to arms that were not drawn."""

    def _estimates(self, state, played, lost, number):
        return jnp.where(played > 0, super()._estimates(state, played, lost, number), 0.0)


OTHERS = {
    "": [(156.2, 4.6)],
    "iw": [(234.5, 6.0)],
    "shared": [(107.5, 2.9)],
    "shared iw": [(184.5, 4.3)],
}
"""Average regret at 1e4 on the six rankers, with standard errors, by a NumPy program written for
this from the same algorithm: 100 runs."""


@pytest.mark.thorough
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.parametrize("variant", OTHERS)
def test_regret_agrees_with_an_independent_program(variant):
    policy = jd.policies.make("versatile-db", num_arms=6, **VARIANTS[variant][1])
    result = regret(policy, jd.problems.load("arxiv"), [1000, 10_000], 256)
    earlier = [(36.7, 1.0)] if variant == "shared" else [(result.mean[0], 0.0)]
    assert_agree(result, [*earlier, *OTHERS[variant]])


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder", "full_compilation")
def test_regret_agrees_with_the_public_program():
    """stephen-huan/dueling-bandit, 20 runs, arms shuffled: two players, estimates "iw"."""
    for name, others in (("arxiv", [(246, 9)]), ("sushi", [(383, 10)])):
        problem = jd.problems.load(name)
        policy = jd.policies.make("versatile-db", num_arms=problem.num_arms, estimates="iw")
        assert_agree(regret(policy, problem, [10_000], 256), others)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder", "full_compilation")
def test_early_regret_agrees_on_sushi():
    """The independent program again: at 1,000, shared, estimates "rv"."""
    policy = jd.policies.make("versatile-db", num_arms=16, shared=True)
    assert_agree(regret(policy, jd.problems.load("sushi"), [1000], 512), [(79.0, 1.1)])


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder", "full_compilation")
@pytest.mark.parametrize(
    ("name", "shared", "others"),
    [
        ("arxiv", True, [(401, 26)]),
        ("arxiv", False, [(431, 11), (434, 6)]),
        ("sushi", True, [(431, 51)]),
        ("sushi", False, [(496, 24), (579, 13)]),
    ],
)
def test_regret_of_the_public_programs_estimates(name, shared, others):
    """Its numbers with estimates "rv", 20 runs, are those of estimates that leave out b of the arms
    that were not drawn; so are those of the independent program with these, 100 runs (434, 579).
    """
    problem = jd.problems.load(name)
    policy = DrawnArmsOnly(
        num_arms=problem.num_arms, active_arms=jnp.ones(problem.num_arms, bool), shared=shared
    )
    result = regret(policy, problem, [10_000], 256)
    for other in others:
        assert_agree(result, [other])
