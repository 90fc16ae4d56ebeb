"""REX3: the oracle by hand, its replay on the same numbers, quiet runs, other programs' numbers."""

import itertools
import math

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.adversarial.rex3 import _chances_to_differ
from jaxduel.simulation.conformance import suite as conformance
from tests.choice import some
from tests.oracles.adversarial.rex3 import REX3
from tests.policies.adversarial.numbers import assert_agree, regret
from tests.policies.adversarial.replays import act, brought, replay, told_late, update
from tests.policies.histories import KEY

pytestmark = pytest.mark.usefixtures("quick_compilation")

VARIANTS = {
    "": ({"horizon": 300}, {"horizon": 300}),
    "not half": (
        {"horizon": 2000, "gain": 0.1, "half": False},
        {"horizon": 2000, "gain": 0.1, "half": False},
    ),
    "anytime": ({"anytime": True}, {}),
    "anytime, not half": (
        {"anytime": True, "gain": 0.2, "half": False},
        {"gain": 0.2, "half": False},
    ),
}

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_by_hand():
    oracle = REX3(2, horizon=1000)
    g = math.sqrt(2 * math.log(2) / (math.e * 500))
    assert oracle.g() == pytest.approx(g)
    oracle.play(1, 1, True)
    np.testing.assert_allclose(oracle.chances(), 1 / 2)
    oracle.play(0, 1, False)  # psi = -1, p = 1/2: exp(-g / 2), exp(g / 2)
    np.testing.assert_allclose(oracle.w, [math.exp(-g / 2), math.exp(g / 2)])
    expected = (1 - g) / (1 + math.exp(-g)) + g / 2
    np.testing.assert_allclose(oracle.chances()[:, 1], expected)
    assert REX3(2, horizon=1).g() == 0.5
    anytime = REX3(2, half=False)
    anytime.play(0, 1, True)
    assert anytime.R.tolist() == [2, -2]
    anytime.t = 1000  # g / K of the moment, times 2 and -2
    expected = (1 - g) / (1 + math.exp(-2 * g)) + g / 2
    np.testing.assert_allclose(anytime.chances()[:, 0], expected)


# ---- the policy ---------------------------------------------------------------------------------


def chances(policy, state):
    return state.chances


@pytest.mark.parametrize(
    ("variant", "num_arms"),
    some(itertools.product(VARIANTS, (2, 3, 5)), [("", 3), ("anytime", 2)]),
)
def test_probabilities_and_draws_are_the_papers(variant, num_arms):
    fields, parameters = VARIANTS[variant]
    replay("rex3", fields, chances, lambda: REX3(num_arms, **parameters), num_arms)


@pytest.mark.parametrize("variant", some(VARIANTS, [""]))
def test_outcomes_that_arrive_late_enter_with_the_probabilities_of_their_draws(variant):
    policy = jd.policies.make("rex3", num_arms=3, **VARIANTS[variant][0])
    start = brought(policy, 40)
    alone, withheld, late = told_late(policy, start, (1, 1, -1, 1))
    jax.tree.map(np.testing.assert_array_equal, withheld, start)
    expected = start.gains + sum(each.gains - start.gains for each in alone)
    np.testing.assert_allclose(late.gains, expected, rtol=1e-5, atol=1e-5)
    assert late.t == start.t + 4


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"half": False, "gain": 0.1}, {"anytime": True}])
def test_variants_conform(fields):
    def make(**values):
        return jd.policies.make("rex3", **values, **fields)

    for check in (
        conformance.keeps_shapes_and_dtypes,
        conformance.plays_only_arms_that_exist,
        conformance.keeps_its_word_when_quiet,
    ):
        check(make)


# ---- quiet runs ---------------------------------------------------------------------------------


def test_chances_of_two_arms_do_not_cancel():
    p = jnp.array([1 - 3e-9, 1e-9, 2e-9, 0], jnp.float32)
    np.testing.assert_allclose(_chances_to_differ(p), [3e-9, 1e-9, 2e-9, 0], rtol=1e-6)
    p = jnp.array([0.25, 0.6, 0.15], jnp.float32)
    np.testing.assert_allclose(_chances_to_differ(p), p * (1 - p), rtol=1e-6)


@jax.jit
def runs(policy, state, limit, keys):
    """Runs by independent keys, and the comparisons after them."""

    def one(key):
        after, run = policy.quiet(state, limit, key)
        return run, policy.act(after, jax.random.fold_in(key, 1)), after.differ

    return jax.vmap(one)(keys)


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [10_000, 2**31 - 1])
def test_lengths_of_runs_and_what_follows_have_their_law(horizon):
    """That of comparisons in turn: of a state with one arm far ahead, beside float64."""
    policy = jd.policies.make("rex3", num_arms=4, horizon=horizon, active_arms=[1, 1, 1, 0])
    start = policy.init(KEY)
    gains = jnp.array([0, 8, -2, 5], jnp.float32) * math.sqrt(horizon)
    state = start._replace(gains=gains, chances=policy._chances(gains, 0 * gains, start.t))
    oracle = REX3(3, horizon)
    oracle.w = np.exp(oracle.g() / 3 * np.asarray(gains[:3], float))
    p = oracle.probabilities()
    same, num = (p**2).sum(), 20_000
    limit = round(1.5 / (1 - same))
    run, duel, differ = runs(policy, state, jnp.int32(limit), jax.random.split(KEY, num))
    n = np.asarray(run.n)
    assert (np.asarray(differ) == (n < limit)).all()
    np.testing.assert_allclose(run.weights[0, :3], p**2, rtol=1e-5)
    assert run.weights[0, 3] == 0
    assert (run.arm == 1).all()
    for length in (1, limit // 3, limit):  # P(N >= n) = same^n
        expected = math.exp(length * math.log1p(-(p * (1 - p)).sum()))
        error = math.sqrt(expected * (1 - expected) / num)
        assert abs((n >= length).mean() - expected) < 4 * error
    after = np.stack(duel)[:, n < limit]
    assert (after[0] != after[1]).all()
    pairs = np.outer(p, p) * (1 - np.eye(3))
    pairs /= pairs.sum()
    found = np.histogram2d(*after, bins=np.arange(-0.5, 4))[0] / after.shape[1]
    error = np.sqrt(pairs * (1 - pairs) / after.shape[1])
    assert (np.abs(found[:3, :3] - pairs) <= 4.5 * error + 1e-12).all()
    assert not found[3].any()


def test_a_run_of_no_time_decides_nothing():
    policy = jd.policies.make("rex3", num_arms=3, horizon=100)
    state, run = jax.jit(policy.quiet)(policy.init(KEY), jnp.int32(0), KEY)
    assert run.n == 0
    assert not state.differ
    acts = jax.jit(jax.vmap(policy.act, (None, 0)))
    keys = jax.random.split(KEY, 50)
    chex.assert_trees_all_equal(acts(state, keys), acts(policy.init(KEY), keys))


def test_what_a_run_has_decided_stays_until_the_next_comparison():
    policy = jd.policies.make("rex3", num_arms=3, horizon=100)
    run = jax.jit(policy.quiet)
    state, first = run(policy.init(KEY), jnp.int32(1000), KEY)
    assert state.differ
    assert first.n < 1000
    again, second = run(state, jnp.int32(1000), jax.random.key(1))
    assert again.differ
    assert second.n == 0
    after = update(policy, again, act(policy, again, KEY), jnp.int32(1), KEY)
    assert after.differ is None


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
def test_runs_skipped_or_not_have_the_same_regret(turns):
    """Whole runs, of which most comparisons are skipped at the end."""
    problem = jd.problems.load("arxiv")
    policy = jd.policies.make("rex3", num_arms=6, horizon=200_000)
    every = [3_000, 30_000, 200_000]
    settings = {"checkpoints": every, "regret": "average", "devices": jax.devices()[:1]}
    plain = jd.simulate(policy, problem, every[-1], 256, skip_quiet=False, **settings)
    skipped = jd.simulate(policy, problem, every[-1], 256, seed=1, **settings)
    z = (plain.mean - skipped.mean) / np.hypot(plain.sem, skipped.sem)
    assert (np.abs(z) < 4).all(), z
    assert 0 < np.concatenate(turns).mean() < 120_000


# ---- numbers of other programs ------------------------------------------------------------------

OTHERS = {
    "half": ({"horizon": 10_000}, [(53.7, 0.2), (214.8, 2.0)]),
    "half, anytime": ({"anytime": True}, [(41.7, 0.5), (153.3, 2.4)]),
    "not half": ({"horizon": 10_000, "half": False}, [(48.2, 0.2), (136.2, 1.9)]),
    "not half, anytime": ({"anytime": True, "half": False}, [(35.0, 0.5), (104.6, 2.1)]),
    "chang-li": (
        {"horizon": 10_000, "half": False, "gain": 1 / math.e},
        [(47.8, 0.7), (130.5, 4.2)],
    ),
}
"""Average regret at 1e3 and 1e4 on the six rankers, with standard errors.

The first four are of a NumPy program written for this from the same algorithm, 200 runs; 48.2 and
35.0 are noted without errors and have those of the row above with the same g. The last is of the
program of chang-li (rex3.py), 40 runs: it has no 1/2, and g = sqrt(K log K / max(t, 1e4)), which up
to 1e4 is fixed, with Gmax = 1e4 / e.
"""


@pytest.mark.thorough
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.parametrize("program", OTHERS)
def test_regret_agrees_with_other_programs(program):
    fields, others = OTHERS[program]
    policy = jd.policies.make("rex3", num_arms=6, **fields)
    assert_agree(regret(policy, jd.problems.load("arxiv"), [1000, 10_000], 512), others)
