"""D-TS, D-TS+, pure D-TS and RCS: what they sample, and that they follow the papers given it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from benchmarks.straightforward import PlainDTS, PlainState
from jaxduel.numerics import signed_tail
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Duel
from jaxduel.policies.counts import log_bound
from jaxduel.policies.thompson import sampling
from tests.choice import some
from tests.oracles.thompson.dts import DTS, DTSPlus, PureDTS
from tests.oracles.thompson.rcs import RCS
from tests.policies.histories import random_preferences

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


def _record_of(state):
    return state.record if hasattr(state, "record") else state


@partial(jax.jit, static_argnames=("steps", "policy_class"))
def _histories(policy, preferences, keys, steps, policy_class):
    """Runs with their samples: pairs and outcomes (num, steps), thetas (num, steps, K, K)."""
    active = jnp.asarray(policy.active_arms)

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            record, seed = _record_of(state), words_of(here)
            wins = sampling.sampled_wins(seed, record)
            logits = jnp.where(wins, 1.0, -1.0)
            bound = log_bound(0.51, record.t + 1)
            if policy_class is jd.policies.DTSPlus:
                candidates = sampling.possible_winners(record, bound, active)
                votes = sampling.votes_of(wins, active)
                tied = candidates & (votes == jnp.max(jnp.where(candidates, votes, -1)))
                drawn = policy._about_ties(
                    seed, record, wins, tied, jnp.ones_like(wins), lambda y: y
                )
                size = jnp.where(drawn + drawn.T > 0, drawn + drawn.T, 1.0)
                logits = jnp.where(wins, size, -size)
            eligible = active
            if policy_class is not jd.policies.PureDTS:
                eligible = sampling.undecided_opponents(record, duel.left, bound, active)
            if getattr(policy, "self_duels", True):
                reply = sampling.replies(seed, record, duel.left, eligible)
            else:
                reply = sampling.replies_of_others(seed, record, duel.left, eligible)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            won = u < p[duel.left, duel.right]
            outcome = jnp.where(won, 1, -1).astype(jnp.int32)
            state = policy.update(state, duel, outcome, here)
            return state, (duel.left, duel.right, won, logits, reply)

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))

    return jax.vmap(run)(preferences, keys)


CASES = {
    "dts": ("dts", DTS, {}),
    "dts+": ("dts+", DTSPlus, {}),
    "dts+ over candidates": ("dts+", DTSPlus, {"over_candidates": True}),
    "dts without self-duels": ("dts", DTS, {"self_duels": False}),
    "dts+ without self-duels": ("dts+", DTSPlus, {"self_duels": False}),
    "pure-dts": ("pure-dts", PureDTS, {}),
    "rcs": ("rcs", RCS, {}),
    "rcs fallback": ("rcs", RCS, {"counted": "fallback"}),
}
SIZES = {2: (150, 40), 5: (250, 60)}
"""Histories and steps, by number of arms."""
VARIANTS = ("dts+ over candidates", "dts+ without self-duels", "rcs fallback")


@pytest.mark.parametrize(
    ("case", "num_arms"),
    some(
        [(case, size) for case in CASES for size in SIZES if size > 2 or case not in VARIANTS],
        (),
        [
            ("dts+", 2),
            ("dts+", 5),
            ("dts+ over candidates", 5),
            ("dts+ without self-duels", 5),
            ("pure-dts", 2),
            ("rcs", 2),
            ("rcs fallback", 5),
        ],
    ),
)
def test_duels_follow_the_paper_given_the_samples(case, num_arms):
    num, steps = SIZES[num_arms]
    name, oracle_class, fields = CASES[case]
    policy = jd.policies.make(name, num_arms=num_arms, **fields)
    preferences = random_preferences(num_arms, num, seed=num_arms)
    keys = jax.random.split(jax.random.key(num_arms), num)
    last, history = _histories(policy, preferences, keys, steps, type(policy))
    left, right, won, logits, reply = (np.asarray(x) for x in history)
    theta = 1 / (1 + np.exp(-logits.astype(float)))
    answers = 1 / (1 + np.exp(-reply.astype(float)))
    parameters = {"count" if k == "counted" else k: v for k, v in fields.items()}
    for run in range(num):
        oracle = oracle_class(num_arms, **parameters)
        for t in range(steps):
            pair = int(left[run, t]), int(right[run, t])
            samples = [theta[run, t]]
            if oracle_class is not RCS:
                fresh = np.zeros((num_arms, num_arms))
                fresh[:, pair[0]] = answers[run, t]
                samples.append(fresh)
            allowed = oracle.allowed(*samples)
            assert pair in allowed, f"run {run}, step {t + 1}: {pair} not in {allowed}"
            oracle.play(*pair, bool(won[run, t]))
        assert np.array_equal(_record_of(last).wins[run], oracle.W)


STATES = [
    # wins of four arms, and t
    ([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], 1),
    ([[0, 2, 1, 0], [0, 0, 3, 1], [2, 0, 0, 1], [1, 0, 0, 0]], 11),
    ([[0, 9, 7, 9], [5, 0, 8, 6], [5, 4, 0, 7], [3, 5, 4, 0]], 80),
    ([[0, 30, 4, 20], [10, 0, 25, 12], [16, 15, 0, 11], [14, 12, 9, 0]], 300),
    ([[0, 70, 60, 75], [50, 0, 9, 9], [55, 9, 0, 9], [52, 7, 8, 0]], 3000),
]


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.parametrize(
    ("plus", "self_duels"),
    [
        (False, True),
        (False, False),
        (True, True),
    ],
)
def test_pairs_have_the_law_of_the_straightforward_program(plus, self_duels):
    """The frequency of every pair, from several states, beside D-TS with `jax.random.beta`."""
    num = 40_000
    ours = jd.policies.make("dts+" if plus else "dts", num_arms=4, self_duels=self_duels)
    plain = PlainDTS(num_arms=4, active_arms=np.ones(4, bool), plus=plus, self_duels=self_duels)
    wins = jnp.array([wins for wins, _ in STATES], jnp.int32)
    t = jnp.array([t for _, t in STATES], jnp.int32) - 1
    start = ours.init(jax.random.key(0))
    learnt = jax.vmap(lambda w: sampling.after_feedback(start, _feedback(w)))(wins)
    frequencies = []
    for policy, states, seed in (
        (ours, learnt._replace(t=t), 1),
        (plain, PlainState(wins, t), 2),
    ):
        keys = jax.random.split(jax.random.key(seed), num)
        acts = jax.vmap(jax.vmap(policy.act, in_axes=(None, 0)), in_axes=(0, None))
        duels = jax.jit(acts)(states, keys)
        pairs = np.asarray(duels.left * 4 + duels.right)
        frequencies.append([np.bincount(p, minlength=16) / num for p in pairs])
    one, two = np.array(frequencies)
    error = np.sqrt((one * (1 - one) + two * (1 - two)) / num)
    assert (np.abs(one - two) <= 4.5 * error).all()
    assert (one > 0.005).sum() > 30
    own = one.reshape(len(STATES), 4, 4).trace(axis1=1, axis2=2)
    assert (own[-1] > 0.1) == self_duels
    assert self_duels or not own.any()
    if not self_duels:  # nothing is known: any pair of different arms
        assert np.abs(one[0][one[0] > 0] - 1 / 12).max() <= 4.5 * np.sqrt(11 / 144 / num)


def _feedback(wins):
    return jd.policies.Feedback(wins, jnp.zeros_like(wins))


@pytest.mark.parametrize("name", ["dts", "rcs"])
def test_carried_tails_are_those_of_the_counts(name):
    policy = jd.policies.make(name, num_arms=5)
    num, steps = SIZES[5]
    preferences = random_preferences(5, num, seed=5)
    keys = jax.random.split(jax.random.key(5), num)
    last, _ = _histories(policy, preferences, keys, steps, type(policy))
    record = _record_of(last)
    wins = np.asarray(record.wins)
    losses = wins.swapaxes(1, 2)
    upper = np.triu(np.ones((5, 5), bool), 1)
    tail = np.asarray(signed_tail(jnp.asarray(wins), jnp.asarray(losses)))
    assert (np.abs(record.tail)[:, upper] == np.abs(tail)[:, upper]).all()
    assert (record.tail == -record.tail.swapaxes(1, 2))[:, upper].all()
    n = np.maximum(wins + losses, 1)
    lead = 0.25 * (wins - losses) * np.abs(wins - losses) / n
    np.testing.assert_allclose(record.lead, lead, rtol=1e-6)
    assert (record.t == steps).all()


def test_late_outcomes_give_the_state_of_early_ones():
    policy = jd.policies.make("dts", num_arms=3)
    state, late = policy.init(jax.random.key(0)), policy.init(jax.random.key(0))
    key, update = jax.random.key(0), jax.jit(policy.update)
    left_wins, right_wins = np.zeros((2, 3, 3), int)
    for i, j, won in ((0, 1, True), (2, 1, False), (1, 0, True), (0, 0, True), (0, 1, True)):
        duel = Duel(jnp.int32(i), jnp.int32(j))
        state = update(state, duel, jnp.int32(1 if won else -1), key)
        late = update(late, duel, jnp.int32(0), key)
        left_wins[i, j] += won
        right_wins[i, j] += not won
    assert int(late.wins.sum()) == 0
    late = policy.learn(late, jd.policies.Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    assert np.array_equal(late.wins, state.wins)
    assert np.array_equal(np.abs(late.tail), np.abs(state.tail))
    assert np.array_equal(late.lead, state.lead)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_two_arms_that_tie_are_played_for_ever_without_regret():
    problem = jd.problems.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    for name in ("dts", "dts+", "pure-dts", "rcs"):
        policy = jd.policies.make(name, num_arms=2)
        result = jd.simulate(policy, problem, 300, 8, lanes=8)
        assert (result.regret == 0).all()
        assert (result.plays[:, -1].sum(axis=-1) == 600).all()
