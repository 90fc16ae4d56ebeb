"""Oracle replay of the policies for Copeland winners: they play what the papers allow."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import random_words, uniform, words_of
from tests.oracles.ccb import CCB
from tests.oracles.cw_rmed import CWRMED
from tests.oracles.ecw_rmed import ECWRMED
from tests.oracles.pbr import PBR
from tests.oracles.scb import SCB
from tests.policies.histories import judged, padded_preferences, random_histories

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

MOST = 5
"""Arms that exist or not: policies of fewer share the programs of these."""

CASES = {
    # policy, oracle, what both are made with, arms
    "ccb-2": ("ccb", CCB, {}, 2),
    "ccb-5": ("ccb", CCB, {}, 5),
    "ccb, alpha 1": ("ccb", CCB, {"alpha": 1.0}, 3),
    "pbr-2": ("pbr", PBR, {"horizon": 4}, 2),
    "pbr-5": ("pbr", PBR, {"horizon": 2}, 5),
    "ecw-rmed-2": ("ecw-rmed", ECWRMED, {}, 2),
    "ecw-rmed-4": ("ecw-rmed", ECWRMED, {}, 4),
    "ecw-rmed, passes": ("ecw-rmed", ECWRMED, {"line4": "pass"}, 4),
    "ecw-rmed, others": ("ecw-rmed", ECWRMED, {"alpha": 0.5, "beta": 0.0}, 3),
}
SIZES = {"ccb": (100, 120), "pbr": (200, 200), "ecw-rmed": (60, 100)}
"""Histories and steps."""


def _policy(name, num_arms, **fields):
    return jd.policies.make(name, num_arms=MOST, active_arms=np.arange(MOST) < num_arms, **fields)


@pytest.mark.parametrize("case", CASES)
def test_duels_follow_the_paper(case):
    name, oracle_class, fields, num_arms = CASES[case]
    policy = _policy(name, num_arms, **{"horizon": 500, **fields})
    histories, _ = random_histories(policy, *SIZES[name])
    judged(lambda run: oracle_class(num_arms, **fields), histories)


@partial(jax.jit, static_argnames="steps")
def _listing_histories(policy, preferences, keys, steps):
    """Pairs, outcomes, and the lists `forced`, `queue` and `waiting` before and after each step."""

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            won = jax.random.uniform(here, (), jnp.float32) < p[duel.left, duel.right]
            after = policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here)
            before = state.forced, state.queue
            return after, (duel.left, duel.right, won, before, (after.queue, after.waiting))

        last, played = jax.lax.scan(step, policy.init(key), jnp.arange(steps))
        return *played, last.demand.program.stalls

    return jax.vmap(run)(preferences, keys)


def _pairs(words):
    """The pairs (i, j), i >= j, of a list, K <= 32."""
    return frozenset(
        (i, j) for i in range(words.shape[1]) for j in range(32) if int(words[0, i]) >> j & 1
    )


@pytest.mark.parametrize(
    ("num_arms", "line4"), [(2, "retest"), (4, "retest"), (5, "retest"), (4, "pass")]
)
def test_cw_rmed_lists_what_some_optimum_asks_for(num_arms, line4):
    num, steps = 12, 100
    policy = _policy("cw-rmed", num_arms, line4=line4)
    preferences = padded_preferences(num_arms, num, MOST - num_arms)
    keys = jax.random.split(jax.random.key(num_arms), num)
    left, right, won, (forced, before), (queue, waiting), stalls = jax.tree.map(
        np.asarray, _listing_histories(policy, preferences, keys, steps)
    )
    for run in range(num):
        oracle = CWRMED(num_arms, line4=line4)
        for t in range(steps):
            pair = int(left[run, t]), int(right[run, t])
            assert pair in oracle.allowed(), f"run {run}, step {t + 1}"
            passed = not forced[run, t].any() and len(_pairs(before[run, t])) == 1
            listed = _pairs((queue if passed else waiting)[run, t])
            oracle.play(*pair, bool(won[run, t]), listed=listed)
    assert (stalls == 0).all()


@partial(jax.jit, static_argnames=("steps", "draws"))
def _opponent_words(keys, steps, draws):
    """The uniform numbers of pulls: of `init`, then of each update, by run, comparison, number."""

    def of_key(key):
        return uniform(random_words(words_of(key), jnp.arange(draws, dtype=jnp.int32), 0)[0])

    def of_run(key):
        folded = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jnp.arange(steps))
        return jnp.concatenate([of_key(key)[None], jax.vmap(of_key)(folded)])

    return jax.vmap(of_run)(keys)


@pytest.mark.parametrize(("num_arms", "scale"), [(2, 0.2), (4, 0.05), (5, 0.2)])
def test_scb_follows_the_paper(num_arms, scale):
    num, steps = 60, 400
    policy = _policy("scb", num_arms, scale=scale)
    histories, keys = random_histories(policy, num, steps)
    words = np.asarray(_opponent_words(keys, steps, 256))

    def oracle_of(run):
        def draw(pull):
            u = words[run, pull.t - 1, pull.position]
            others = [j for j in range(num_arms) if j != pull.arm]
            return others[min(int(u * np.float32(num_arms - 1)), num_arms - 2)]

        return SCB(num_arms, draw, scale=scale)

    oracles = judged(oracle_of, histories)
    assert sum(len(oracle.memories[0].beats) for oracle in oracles) > num // 2
