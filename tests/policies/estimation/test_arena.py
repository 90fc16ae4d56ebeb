"""The rule of Chatbot Arena: its oracle by hand, probabilities of pairs, widths of intervals."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback
from jaxduel.policies.estimation.arena import weighted_choice
from jaxduel.simulation.conformance import suite as conformance
from tests.choice import some
from tests.oracles.estimation.arena import Arena
from tests.policies.histories import KEY, duel_histories, random_preferences

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_by_hand():
    oracle = Arena(3, epsilon=0.0)
    assert oracle.probabilities() == {(0, 1): 1 / 3, (0, 2): 1 / 3, (1, 2): 1 / 3}
    for pair, won in (((0, 1), True), ((2, 0), False)):
        oracle.play(*pair, won)
    assert oracle.probabilities() == {(0, 1): 0, (0, 2): 0, (1, 2): 1}
    assert oracle.allowed() == {(1, 2), (2, 1)}
    oracle.play(1, 2, True)
    oracle.play(1, 2, False)
    # m = 2/3 after 1 : 0, with n = 1; 1/2 after 1 : 1, with n = 2
    one = np.sqrt(2 / 9) * (1 - 1 / np.sqrt(2))
    two = np.sqrt(1 / 4) * (1 / np.sqrt(2) - 1 / np.sqrt(3))
    expected = np.array([one, one, two]) / (2 * one + two)
    np.testing.assert_allclose(list(oracle.probabilities().values()), expected)
    mixed = Arena(3, epsilon=0.3)
    mixed.W, mixed.N = oracle.W, oracle.N
    np.testing.assert_allclose(list(mixed.probabilities().values()), 0.1 + 0.7 * expected)


def test_by_hand_ipw():
    """X of (0, 1) is 1, 0 and of (1, 2) 0, 2; so Sigma is 0 and 1, by P = 1/3, 1/2, 1 in turn."""
    oracle = Arena(3, epsilon=0.3, ipw=True)
    oracle.play(1, 0, True)  # H = 0
    oracle.play(1, 2, True)
    oracle.play(0, 2, True)
    assert [(H, P) for _, H, P in oracle.shown] == [(0, 1 / 3), (1, 1 / 2), (1, 1)]
    sigma = [0, 1 / 3 - 1 / 9, 4 / 3 - 4 / 9]  # of (0, 1), (0, 2), (1, 2)
    np.testing.assert_allclose([oracle.sigma(a) for a in oracle.pairs], sigma, atol=1e-15)
    rule = np.sqrt(sigma) / np.sum(np.sqrt(sigma))
    np.testing.assert_allclose(list(oracle.probabilities().values()), 0.1 + 0.7 * rule)


# ---- the policy ---------------------------------------------------------------------------------

VARIANTS = {
    "plug-in": ({"epsilon": 0.2}, {"epsilon": 0.2}),
    "epsilon 0": ({"epsilon": 0.0}, {"epsilon": 0.0}),
    "ipw": ({"variances": "ipw", "epsilon": 0.2}, {"ipw": True, "epsilon": 0.2}),
}


@jax.jit
def _after(policy, left, right, outcomes):
    def step(state, duel):
        *pair, outcome = duel
        return policy.update(state, Duel(*pair), outcome, KEY), None

    return jax.lax.scan(step, policy.init(KEY), (left, right, outcomes))[0]


@pytest.mark.parametrize(
    ("variant", "steps"),
    some(itertools.product(VARIANTS, (4, 12, 60, 400)), [("plug-in", 60), ("ipw", 12)]),
)
def test_pairs_have_the_probabilities_of_the_paper(variant, steps):
    """After histories that the policy has made, with an arm of padding."""
    fields, parameters = VARIANTS[variant]
    policy = jd.policies.make("arena", num_arms=5, active_arms=[1, 1, 1, 1, 0], **fields)
    preferences = np.pad(random_preferences(4, 3, seed=steps), ((0, 0), (0, 1), (0, 1)))
    keys = jax.random.split(jax.random.key(steps), 3)
    num = 40_000
    draw = jax.jit(jax.vmap(policy.act, (None, 0)))
    histories = duel_histories(policy, preferences, keys, steps)
    for left, right, won in zip(*map(np.asarray, histories), strict=True):
        oracle = Arena(4, **parameters)
        for i, j, first in zip(left.tolist(), right.tolist(), won.tolist(), strict=True):
            oracle.record(i, j, first)
        state = _after(policy, left, right, np.where(won, 1, -1).astype(np.int32))
        duels = draw(state, jax.random.split(jax.random.key(steps + 1), num))
        share = np.histogram2d(duels.left, duels.right, bins=np.arange(-0.5, 5))[0] / num
        expected = np.zeros((5, 5))
        for (i, j), chance in oracle.probabilities().items():
            expected[i, j] = expected[j, i] = chance / 2
        error = np.sqrt(expected * (1 - expected) / num)
        assert (np.abs(share - expected) <= 4.5 * error + 1e-6).all()


@pytest.mark.thorough
@pytest.mark.parametrize("variances", ["plug-in", "ipw"])
def test_what_is_carried_is_that_of_the_oracle_after_a_long_run(variances):
    """Sums of weights, and with ipw the probability of every pair, without drift."""
    fields = {"variances": variances, "epsilon": 0.1}
    policy = jd.policies.make("arena", num_arms=4, **fields)
    left, right, won = (
        np.asarray(x)[0]
        for x in duel_histories(policy, random_preferences(4, 1, seed=3), KEY[None], 3000)
    )
    oracle = Arena(4, epsilon=0.1, ipw=variances == "ipw")
    if variances == "ipw":  # in the oracle P_t costs a pass over all comparisons
        left, right, won = left[:400], right[:400], won[:400]
    for i, j, first in zip(left.tolist(), right.tolist(), won.tolist(), strict=True):
        oracle.record(i, j, first)
    state = _after(policy, left, right, np.where(won, 1, -1).astype(np.int32))
    assert np.array_equal(state.wins, oracle.W)
    if variances == "ipw":
        chances = np.asarray(policy._chances(state.wins, state.seen))
        expected = [oracle.probabilities()[a] for a in oracle.pairs]
        np.testing.assert_allclose(chances[np.triu_indices(4, 1)], expected, rtol=1e-4)
        np.testing.assert_allclose(np.triu(chances, 1).sum(), 1, rtol=1e-6)
    else:
        weights = np.zeros((4, 4))
        for a in oracle.pairs:
            n = oracle.N[a]
            weights[a] = np.sqrt(oracle.sigma(a)) * (n**-0.5 - (n + 1) ** -0.5)
        np.testing.assert_allclose(state.seen.weights, (weights + weights.T).sum(axis=1), rtol=1e-5)
        assert not state.seen.unmet.any()


def test_pairs_that_are_asked_count_as_compared_before_their_outcomes_arrive():
    """Laws by hand: n_a counts what is asked for, m = (w + 1) / (n + 2) only what is told."""
    policy = jd.policies.make("arena", num_arms=4, epsilon=0.0)
    wins = np.array([[0, 5, 3, 0], [4, 0, 3, 3], [1, 2, 0, 2], [0, 1, 2, 0]])
    state, asked = jd.policies.state_from_wins(policy, wins), np.zeros((4, 4))
    draw = jax.jit(jax.vmap(policy.act, (None, 0)))
    for left, right in ((0, 3), (3, 0), (2, 1)):
        state = policy.update(state, Duel(jnp.int32(left), jnp.int32(right)), jnp.int32(0), KEY)
        asked[[left, right], [right, left]] += 1
        n = wins + wins.T + asked
        m = (wins + 1) / (wins + wins.T + 2)
        with np.errstate(divide="ignore"):
            weight = np.sqrt(m * (1 - m)) * (n**-0.5 - (n + 1) ** -0.5)
        np.fill_diagonal(weight, 0)
        duels = draw(state, jax.random.split(jax.random.key(int(asked.sum())), 20_000))
        share = np.histogram2d(duels.left, duels.right, bins=np.arange(-0.5, 4))[0] / 20_000
        expected = weight / weight.sum()
        error = np.sqrt(expected * (1 - expected) / 20_000)
        assert (np.abs(share - expected) <= 4.5 * error).all()


@pytest.mark.parametrize("variances", ["plug-in", "ipw"])
def test_outcomes_that_arrive_late_count_as_those_that_arrive_at_once(variances):
    """With ipw they count with the probabilities of their draws, and change nothing before."""
    policy = jd.policies.make("arena", num_arms=3, variances=variances, epsilon=0.2)
    state, update = policy.init(KEY), jax.jit(policy.update)
    for duel in ((0, 1), (2, 0), (1, 2)):
        state = update(state, Duel(*map(jnp.int32, duel)), jnp.int32(1), KEY)
    late = state
    for _ in range(3):
        late = update(late, Duel(jnp.int32(1), jnp.int32(0)), jnp.int32(0), KEY)
        if variances == "ipw":
            jax.tree.map(np.testing.assert_array_equal, late, state)
    left_wins = jnp.zeros((3, 3), jnp.int32).at[1, 0].set(2)
    right_wins = jnp.zeros((3, 3), jnp.int32).at[1, 0].set(1)
    late = jax.jit(policy.learn)(late, Feedback(left_wins, right_wins))
    assert late.wins.tolist() == [[0, 2, 0], [2, 0, 1], [1, 0, 0]]
    if variances == "plug-in":
        at_once = jd.policies.state_from_wins(policy, np.asarray(late.wins))
        jax.tree.map(np.testing.assert_array_equal, late, at_once)
    else:
        oracle = Arena(3, epsilon=0.2, ipw=True)
        for pair in ((0, 1), (2, 0), (1, 2)):
            oracle.play(*pair, True)
        chance = oracle.probabilities()[0, 1]
        oracle.shown += [((0, 1), H, chance) for H in (0, 0, 1)]
        oracle.W, oracle.N = np.asarray(late.wins), np.asarray(late.wins + late.wins.T)
        chances = policy._chances(late.wins, late.seen)
        expected = [oracle.probabilities()[a] for a in oracle.pairs]
        np.testing.assert_allclose(chances[np.triu_indices(3, 1)], expected, rtol=1e-5)


@pytest.mark.thorough
def test_ipw_conforms_but_for_its_start_from_counts():
    make = partial(jd.policies.make, "arena", variances="ipw")
    for check in (conformance.keeps_shapes_and_dtypes, conformance.plays_only_arms_that_exist):
        check(make)
    with pytest.raises(jd.InputError, match="cannot start from win counts"):
        jd.policies.state_from_wins(make(num_arms=2), [[0, 1], [2, 0]])


def test_weighted_choice_never_takes_a_weight_of_zero():
    weights = jnp.array([0, 3, 0, 1e-12, 1, 0], jnp.float32)
    u = jnp.linspace(0, 1 - 2.0**-23, 4096, dtype=jnp.float32)
    chosen = np.asarray(jax.vmap(weighted_choice, (None, 0))(weights, u))
    assert set(chosen.tolist()) == {1, 4}
    assert np.mean(chosen == 1) == pytest.approx(3 / 4, abs=2 / 4096)
    rng = np.random.default_rng(0)
    many = np.where(rng.random((200, 129)) < 0.5, 0, rng.random((200, 129)) ** 8)
    ends = jnp.array([0, 0.5, 1 - 2.0**-23], jnp.float32)
    chosen = jax.vmap(jax.vmap(weighted_choice, (None, 0)), (0, None))(jnp.float32(many), ends)
    assert (np.take_along_axis(np.float32(many), np.asarray(chosen), 1) > 0).all()


# ---- what the rule is for -----------------------------------------------------------------------


@partial(jax.jit, static_argnames=("steps", "every", "policy_class"))
def _counts(policy, preferences, keys, steps, every, policy_class):
    """Comparisons of each pair, (runs, steps / every, K, K) int32, symmetric."""

    def run(key):
        def step(carry, t):
            state, n = carry
            here = jax.random.fold_in(key, t)
            i, j = policy.act(state, here)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            outcome = jnp.where(u < preferences[i, j], 1, -1).astype(jnp.int32)
            state = policy.update(state, Duel(i, j), outcome, here)
            return (state, n.at[i, j].add(1).at[j, i].add(1)), None

        def stretch(carry, first):
            carry, _ = jax.lax.scan(step, carry, first + jnp.arange(every))
            return carry, carry[1]

        start = policy.init(key), jnp.zeros(preferences.shape, jnp.int32)
        return jax.lax.scan(stretch, start, jnp.arange(0, steps, every))[1]

    return jax.vmap(run)(keys)


def counts(name, preferences, runs, steps, every, **fields):
    policy = jd.policies.make(name, num_arms=len(preferences), **fields)
    keys = jax.random.split(jax.random.key(7), runs)
    p = jnp.asarray(preferences, jnp.float32)
    return np.asarray(_counts(policy, p, keys, steps, every, type(policy)))


@pytest.mark.thorough
def test_in_the_long_run_pairs_are_compared_as_their_deviations_to_the_two_fifths():
    """Of p = 0.5 and 0.9: (0.5 / 0.3)^(2/5) = 1.227 times as often."""
    p = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.9], [0.1, 0.1, 0.5]])
    runs, deviation = 64, np.sqrt(p * (1 - p))
    n = counts("arena", p, runs, 20_000, 20_000, epsilon=0.0)[:, -1]
    share = n[:, [0, 0, 1], [1, 2, 2]] / 20_000
    expected = deviation[[0, 0, 1], [1, 2, 2]] ** 0.4
    expected /= expected.sum()
    error = share.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(share.mean(axis=0) - expected) <= 4 * error + 1e-3).all()
    assert (error < 2e-3).all()


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_intervals_are_narrower_than_those_of_uniform_sampling():
    """Widths 3.92 sqrt(p (1 - p) / n), mean and largest over pairs, after 5,000, 10,000 and 20,000
    votes, as measured with another program (20 runs, pairs never seen first, epsilon 0).
    """
    others = {  # means, largest
        "uniform": ([0.5937, 0.4106, 0.2875], [1.33, 0.65, 0.39]),
        "arena": ([0.5755, 0.4049, 0.2856], [0.76, 0.50, 0.33]),
    }
    core = jd.problems.load("arena31").preferences
    pairs, runs, means = np.triu_indices(31, 1), 64, {}
    for name, (mean, largest) in others.items():
        fields = {"epsilon": 0.0} if name == "arena" else {}
        n = counts(name, core, runs, 20_000, 5_000, **fields)[:, [0, 1, 3]][:, :, *pairs]
        width = 3.92 * np.sqrt((core * (1 - core))[pairs] / n)
        for found, expected, rounding in (
            (width.mean(axis=-1), mean, 5e-5),
            (width.max(axis=-1), largest, 5e-3),
        ):
            spread = found.std(axis=0, ddof=1) * np.sqrt(1 / runs + 1 / 20)
            error = np.abs(found.mean(axis=0) - expected)
            assert (error <= 4 * spread + rounding).all(), name
            assert (spread < 0.05 * np.array(expected)).all()
        means[name] = width.mean(axis=-1)
    assert (means["arena"].max(axis=0) < means["uniform"].min(axis=0)).all()
