"""The relaxed simulator: its limit is the simulator, its gradient that of its values."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxduel as jd
from jaxduel.gradients import relaxed_gradient, relaxed_regret
from jaxduel.gradients.relaxed_rounds import relaxed_plays
from jaxduel.numerics import normal
from jaxduel.policies.base import Batch
from jaxduel.problems import ArmsProblem

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

T, B, SEEDS = 10_000, 3, 4000

BTL = 1 / (1 + np.exp([[0, -0.5, -1.0], [0.5, 0, -0.5], [1.0, 0.5, 0]]))
STEPS = np.array([[0.5, 0.56, 0.66], [0.44, 0.5, 0.6], [0.34, 0.4, 0.5]])
"""Both have strong stochastic transitivity and the triangle inequality."""

PRINTED = {"switch": "hoeffding", "delta": 0.5}
SEEDED = [
    ("scomp", {"elimination": "hoeffding", **PRINTED}),
    ("scomp2", {"elimination": "kl-safe", "candidate": "redrawn", **PRINTED}),
]
"""A wide delta makes margins narrow: PCOMP takes over in most runs."""
BY_ELIMINATION = (
    "scomp2",
    {"elimination": "kl-safe", "switch": "elimination", "candidate": "kept", "width": 0.6},
)

OTHER_READINGS = [
    ("pcomp", {"elimination": "hoeffding", "delta": 0.5}),
    ("scomp", {}),
    ("scomp", {"elimination": "kl-safe", **PRINTED}),
    ("scomp", {"switch": "elimination", "width": 0.5}),
    ("scomp2", {}),
    ("scomp2", {"elimination": "hoeffding", "candidate": "kept", **PRINTED}),
    ("scomp2", {"switch": "elimination", "candidate": "redrawn"}),
]


def _policy(name="pcomp", num_arms=3, horizon=T, num_batches=B, **fields):
    return jd.policies.make(
        name, num_arms=num_arms, horizon=horizon, num_batches=num_batches, **fields
    )


def _mean(values):
    values = np.asarray(values, np.float64)
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


@cache
def _relaxed(policy_key):
    """Of preferences and temperature: (SEEDS,) relaxed regrets."""
    name, fields = policy_key
    policy = _policy(name, **dict(fields))
    keys = jax.random.split(jax.random.key(11), SEEDS)

    def run(preferences, temperature):
        def of_seed(key):
            return relaxed_regret(policy, preferences, T, key, temperature=temperature)

        return jax.vmap(of_seed)(keys)

    return jax.jit(run)


@cache
def _hard(policy_key):
    """Of preferences: (SEEDS, K) plays of the policy's own init, act and update, fed with normal
    sums, the arms shuffled."""
    name, fields = policy_key
    policy = _policy(name, **dict(fields))

    def of_seed(drift, key):
        def advance(carry, key):
            state, plays = carry
            luck, own = jax.random.split(key)
            counts = policy.act(state, own).counts
            n = counts.astype(jnp.float32)
            sums = 0.5 * (n + n * drift + jnp.sqrt(n * (1 - drift**2)) * normal(luck, n.shape))
            wins = jnp.clip(sums, 0, n)
            outcome = jnp.triu(wins, 1) + jnp.triu(n - wins, 1).T
            plays = plays + jnp.sum(counts, 0) + jnp.sum(counts, 1)
            return (policy.update(state, Batch(counts), outcome, own), plays), None

        first, order, rest = jax.random.split(key, 3)
        order = jax.random.permutation(order, policy.num_arms)
        drift = drift[order][:, order]
        state = policy.init(first)
        state = state._replace(wins=state.wins.astype(jnp.float32))
        start = (state, jnp.zeros(policy.num_arms, jnp.int32))
        (_, plays), _ = lax.scan(advance, start, jax.random.split(rest, 2 * B + 2))
        return jnp.zeros_like(plays).at[order].set(plays)

    keys = jax.random.split(jax.random.key(12), SEEDS)
    return jax.jit(lambda p: jax.vmap(of_seed, (None, 0))(p - p.T, keys))


def _check_limit(name, fields, preferences):
    """The limit is the policy fed with normal sums, within 2 % (what temperature 0.003 leaves).

    Returns the limit and its standard error.
    """
    policy_key = (name, tuple(fields.items()))
    run = _relaxed(policy_key)
    warm, cool, cold = (_mean(run(preferences, t)) for t in (0.5, 0.1, 0.003))
    plays = np.asarray(_hard(policy_key)(preferences), np.float64)
    assert (plays.sum(axis=1) == 2 * T).all()
    hard = _mean(0.5 * plays @ (preferences[0] - 0.5))
    assert abs(cold[0] - hard[0]) < 4 * np.hypot(cold[1], hard[1]) + 0.02 * hard[0]
    assert abs(warm[0] - hard[0]) > 2 * abs(cool[0] - hard[0])
    return cold


@pytest.mark.parametrize(("name", "fields"), [("pcomp", {}), SEEDED[1], BY_ELIMINATION])
def test_tends_to_the_policy_with_normal_sums_as_the_temperature_falls(name, fields):
    for preferences in (BTL, STEPS):
        _check_limit(name, fields, preferences)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields"), [("pcomp", {}), *SEEDED, BY_ELIMINATION, *OTHER_READINGS]
)
def test_tends_to_the_simulator_but_for_normal_sums(name, fields):
    """Within 10 %: with 21 comparisons of a pair in round 1, normal sums pass a test with other
    probabilities than binomial ones."""
    for preferences in (BTL, STEPS):
        cold = _check_limit(name, fields, preferences)
        result = jd.simulate(
            _policy(name, **fields),
            jd.problems.from_matrix(preferences),
            num_seeds=SEEDS,
            seed=13,
            checkpoints=[T],
            regret="average",
        )
        exact = _mean(result.regret[:, -1])
        assert abs(cold[0] - exact[0]) < 4 * np.hypot(cold[1], exact[1]) + 0.1 * exact[0]


@pytest.mark.parametrize(
    ("name", "fields"),
    [pytest.param(*SEEDED[0], marks=pytest.mark.slow), SEEDED[1], BY_ELIMINATION],
)
def test_gradient_is_that_of_finite_differences(name, fields):
    policy = _policy(name, horizon=1000, **fields)
    tilt = np.array([[0, 0.7, -0.2], [-0.7, 0, 0.4], [0.2, -0.4, 0]])
    step = 1e-6
    with jax.enable_x64(True):

        def regret(preferences, key):
            return relaxed_regret(policy, preferences, 1000, key, temperature=0.2)

        slope = jax.jit(jax.value_and_grad(regret))
        for seed in range(4):
            key = jax.random.key(seed)
            value, gradient = slope(BTL, key)
            assert value.dtype == jnp.float64
            up, down = (slope(BTL + h * tilt, key)[0] for h in (step, -step))
            np.testing.assert_allclose(gradient, -gradient.T, rtol=1e-12)
            np.testing.assert_allclose(
                np.sum(gradient * tilt), (up - down) / (2 * step), rtol=1e-5, atol=1e-4
            )


def test_every_seed_makes_the_horizon_s_comparisons_and_padded_arms_none():
    policy = _policy("scomp2", num_arms=4, active_arms=[True, True, True, False])
    drift = jnp.zeros((4, 4), jnp.float32).at[:3, :3].set(BTL - BTL.T)
    sizes = jnp.array([1.0, 21, 464, 10_000, 10_000])
    keys = jax.random.split(jax.random.key(3), 50)

    def run(key):
        return relaxed_plays(policy, sizes, jnp.float32(T), drift, key, jnp.float32(0.3))

    plays = jax.jit(jax.vmap(run))(keys)
    np.testing.assert_allclose(plays.sum(axis=1), 2 * T, rtol=1e-5)
    assert (plays[:, 3] == 0).all()
    assert (plays[:, :3] > 0).all()


def _two_arms(params):
    win = jax.nn.sigmoid(params["strength"][0] - params["strength"][1])
    return jnp.array([[0.5, win], [1 - win, 0.5]])


@pytest.mark.slow
def test_relaxed_gradient_is_that_of_its_mean_over_seeds():
    policy, seeds, step = _policy(num_arms=2), 300, 1e-6
    key = jax.random.key(5)

    def estimate(tilt):
        params = {"strength": np.array([0.3 + tilt, -0.2])}
        result = relaxed_gradient(policy, _two_arms, params, T, seeds, key, temperature=0.1)
        return jax.tree.map(np.asarray, result)

    def regret(index):
        seed, win = jax.random.fold_in(key, index), 1 / (1 + np.exp(-0.5))
        preferences = np.array([[0.5, win], [1 - win, 0.5]])
        return relaxed_regret(policy, preferences, T, seed, temperature=0.1)

    with jax.enable_x64(True):
        here, up, down = (estimate(tilt) for tilt in (0.0, step, -step))
        mean, sem = _mean(jax.jit(jax.vmap(regret))(jnp.arange(seeds)))
    assert here.value == pytest.approx(mean, rel=1e-6)
    assert here.value_sem == pytest.approx(sem, rel=1e-6)
    slope = (up.value - down.value) / (2 * step)
    np.testing.assert_allclose(here.gradient["strength"], [slope, -slope], rtol=1e-5)
    assert here.gradient_sem["strength"][0] == pytest.approx(here.gradient_sem["strength"][1])
    assert 0 < here.gradient_sem["strength"][0] < abs(slope)


def test_certain_outcomes_and_the_largest_horizon_have_finite_gradients():
    horizon = 2**31 - 1
    policy = _policy(num_arms=2, horizon=horizon, num_batches=6)

    def regret(preferences):
        return relaxed_regret(
            policy, preferences, horizon, jax.random.key(1), temperature=0.05, regret="borda"
        )

    slope = jax.jit(jax.value_and_grad(regret))
    for win in (0.5, 0.5001, 0.9, 1.0):
        value, gradient = slope(jnp.array([[0.5, win], [1 - win, 0.5]], jnp.float32))
        assert value.dtype == jnp.float32
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert 0 <= value <= 1.001 * (2 * win - 1) * horizon


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policy": jd.policies.make("rucb", num_arms=2)}, "pcomp, scomp and scomp2, not RUCB"),
        ({"temperature": 0.0}, "temperature must be a positive number, not 0.0"),
        ({"temperature": np.array([0.1, 0.9])}, "temperature must be a positive number, not array"),
        ({"temperature": float("nan")}, "temperature must be a positive number, not nan"),
        ({"instance_fn": lambda p: [[0.5, 1.2], [-0.2, 0.5]]}, r"1.2 at \[0, 1\]"),
        ({"instance_fn": lambda p: [[0.5, 0.7], [0.4, 0.5]]}, r"p\[0, 1\] \+ p\[1, 0\] = 0.7"),
        ({"instance_fn": lambda p: [[0.5, 1.0], [0.0, 0.5]]}, r"has 1 at \[0, 1\]"),
        ({"instance_fn": lambda p: np.full((2, 2), 0.5)}, "no Condorcet winner"),
        ({"instance_fn": lambda p: BTL}, r"2 arms and instance_fn\(params\) has 3"),
        ({"instance_fn": lambda p: ArmsProblem(jnp.abs(p["strength"]))}, "has arms with rewards"),
        ({"regret": "weak"}, "average, borda"),
        ({"horizon": T + 1}, "exceeds the 10000"),
        ({"horizon": None}, "horizon must be a whole number of at least 1, not None"),
        ({"num_seeds": None}, "num_seeds must be a whole number of at least 2, not None"),
        ({"instance_fn": lambda p: "btl"}, "must return a .* matrix of preferences, .* not 'btl'"),
        ({"num_seeds": 1}, "num_seeds must be a whole number of at least 2, not 1"),
        ({"params": {"strength": "strong"}}, "params must be real numbers"),
        ({"params": {"strength": np.array([1, 0])}}, "whole numbers are none: 1.0, not 1"),
        ({"instance_fn": "btl"}, "instance_fn must be a function .* not of type str"),
        ({"instance_fn": BTL}, "instance_fn must be a function .* not of type ndarray"),
        ({"policy": _policy(num_arms=2, q=1.0)}, "more rounds"),
        ({"policy": _policy("scomp", 2, width=0.0)}, "needs a positive width"),
    ],
)
def test_bad_input_is_one_sentence(change, message):
    given = {
        "policy": _policy(num_arms=2),
        "instance_fn": _two_arms,
        "params": {"strength": np.array([0.3, -0.2])},
        "horizon": T,
        "num_seeds": 10,
        "key": jax.random.key(0),
        "temperature": 0.1,
        **change,
    }
    with pytest.raises(jd.InputError, match=message):
        relaxed_gradient(**given)


def test_a_key_may_be_a_whole_number_and_nothing_else():
    two = _policy(num_arms=2), jd.problems.btl_from_weights([2, 1]).preferences, 100
    typed, number = (relaxed_regret(*two, key, temperature=0.1) for key in (jax.random.key(3), 3))
    assert typed == number
    with pytest.raises(jd.InputError, match="seed must be a whole number or a typed JAX key"):
        relaxed_regret(*two, "3", temperature=0.1)


def test_traced_policies_and_wrong_matrices_are_refused():
    policy, key = _policy(num_arms=2), jax.random.key(0)

    @jax.jit
    def regret(policy):
        return relaxed_regret(policy, np.full((2, 2), 0.5), T, key, temperature=0.1)

    with pytest.raises(jd.InputError, match="not traced"):
        regret(policy)
    cycle = jd.problems.load("cyclic").preferences[1:, 1:]
    with pytest.raises(jd.InputError, match="which 'average' regret needs: use 'borda'"):
        relaxed_regret(_policy(num_arms=3), cycle, T, key, temperature=0.1)
    two = _policy(num_arms=3, active_arms=[True, True, False])  # of these one wins
    assert np.isfinite(relaxed_regret(two, cycle, T, key, temperature=0.1))
    with pytest.raises(jd.InputError, match=r"matrix 'preferences' has 2 at \[0, 1\]"):
        relaxed_regret(policy, [[0.5, 2.0], [-1.0, 0.5]], T, key, temperature=0.1)
