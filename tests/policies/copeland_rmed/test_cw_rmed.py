"""CW-RMED: oracle replay, given its lists."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.choice import some
from tests.oracles.copeland_rmed.cw_rmed import CWRMED
from tests.policies.histories import MOST, padded_policy, padded_preferences

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


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
    ("num_arms", "line4"),
    some(
        [(2, "retest"), (4, "retest"), (5, "retest"), (4, "pass")],
        (),
        [(2, "retest"), (4, "pass"), (5, "retest")],
    ),
)
def test_cw_rmed_lists_what_some_optimum_asks_for(num_arms, line4):
    num, steps = 12, 100
    policy = padded_policy("cw-rmed", num_arms, line4=line4)
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
