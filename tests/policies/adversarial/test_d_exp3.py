"""D-EXP3: the oracle by hand, its replay on the same numbers, the regret of another program."""

import itertools
import math

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.conformance import suite as conformance
from tests.choice import some
from tests.oracles.adversarial.d_exp3 import DEXP3
from tests.policies.adversarial.numbers import assert_agree, regret
from tests.policies.adversarial.replays import brought, replay, told_late

pytestmark = pytest.mark.usefixtures("quick_compilation")

VARIANTS = {
    "": ({"horizon": 300}, {"horizon": 300}),
    "high probability": (
        {"horizon": 300, "high_probability": True, "delta": 0.2},
        {"horizon": 300, "delta": 0.2},
    ),
}

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_by_hand():
    oracle = DEXP3(4, horizon=1000)
    eta = (math.log(4) / 2000) ** (2 / 3)
    assert oracle.eta == pytest.approx(eta)
    assert oracle.g == pytest.approx(2 * math.sqrt(eta))
    oracle.play(1, 2, False)
    np.testing.assert_allclose(oracle.chances(), 1 / 4)
    oracle.play(3, 3, True)  # 1 / (4 / 16)
    assert oracle.S.tolist() == [0, 0, 0, 4]
    expected = (1 - oracle.g) * math.exp(4 * eta) / (3 + math.exp(4 * eta)) + oracle.g / 4
    np.testing.assert_allclose(oracle.chances()[:, 3], expected)
    assert DEXP3(4, horizon=1).g == 1
    bonus = DEXP3(4, horizon=1000, delta=0.2)
    bonus.play(3, 0, True)
    beta = math.sqrt(math.log(20) / 4000)
    np.testing.assert_allclose(bonus.S, [4 * beta, 4 * beta, 4 * beta, 4 + 4 * beta])


def test_scores_are_unbiased():
    """Weighted by the probabilities of the draws, they are those against all arms."""
    rng, K = np.random.default_rng(0), 4
    p = rng.random((K, K))
    grown = np.zeros(K)
    for x, y in itertools.product(range(K), repeat=2):
        oracle = DEXP3(K, horizon=50)
        before = np.array([0.0, 5, 9, 30])
        oracle.S[:] = before
        q = oracle.probabilities()
        oracle.play(x, y, True)
        grown += q[x] * q[y] * p[x, y] * (oracle.S - before)
    np.testing.assert_allclose(grown, p.mean(axis=1))


# ---- the policy ---------------------------------------------------------------------------------


def chances(policy, state):
    return state.chances


@pytest.mark.parametrize(
    ("variant", "num_arms"),
    some(itertools.product(VARIANTS, (2, 3, 5)), [("", 3), ("high probability", 2)]),
)
def test_probabilities_and_draws_are_the_papers(variant, num_arms):
    fields, parameters = VARIANTS[variant]
    replay("d-exp3", fields, chances, lambda: DEXP3(num_arms, **parameters), num_arms)


@pytest.mark.parametrize("variant", some(VARIANTS, ["high probability"]))
def test_outcomes_that_arrive_late_enter_with_the_probabilities_of_their_draws(variant):
    policy = jd.policies.make("d-exp3", num_arms=3, **VARIANTS[variant][0])
    start = brought(policy, 40)
    alone, withheld, late = told_late(policy, start, (1, 1, -1, 1))
    jax.tree.map(np.testing.assert_array_equal, withheld, start)
    expected = start.scores + sum(each.scores - start.scores for each in alone)
    np.testing.assert_allclose(late.scores, expected, rtol=1e-5)


@pytest.mark.thorough
def test_the_variant_of_high_probability_conforms():
    def make(**values):
        return jd.policies.make("d-exp3", high_probability=True, **values)

    conformance.keeps_shapes_and_dtypes(make)
    conformance.is_vmappable_over_leaves(make)
    conformance.plays_only_arms_that_exist(make)


OTHERS = {"arxiv": [(70.7, 0.1), (582.0, 2.2)], "sushi": [(226.3, 0.3), (1410, 6)]}
"""Borda regret at 1e3 and 1e4, T = 1e4, of a NumPy program written for this from the same
algorithm, 200 runs."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("arxiv", marks=pytest.mark.thorough),
        pytest.param("sushi", marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("full_compilation")
def test_regret_agrees_with_an_independent_program(name, request):
    if name == "sushi":
        request.getfixturevalue("data_folder")
    problem = jd.problems.load(name)
    policy = jd.policies.make("d-exp3", num_arms=problem.num_arms, horizon=10_000)
    assert_agree(regret(policy, problem, [1000, 10_000], 256, "borda"), OTHERS[name])
