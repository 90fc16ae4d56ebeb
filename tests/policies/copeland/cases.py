"""States of CCB made by hand, and how often it chooses each pair; a number of SCB: for tests."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies import arm_sets
from jaxduel.policies.base import Feedback
from jaxduel.policies.copeland.hypotheses import Hypotheses
from jaxduel.policies.counts import log_bound

KEY = jax.random.key(0)


@jax.jit
def learnt(policy, state, feedback):
    return policy.learn(state, feedback)


@jax.jit
def _acts(policy, state, keys):
    return jax.vmap(policy.act, in_axes=(None, 0))(state, keys)


def frequencies(policy, state, num=40_000):
    """How often each ordered pair is chosen, and how many choices were made."""
    duels = _acts(policy, state, jax.random.split(jax.random.key(0), num))
    bins = np.arange(-0.5, policy.num_arms)
    return np.histogram2d(duels.left, duels.right, bins=bins)[0] / num


def close(frequency, expected, num=40_000):
    """Within 4.5 standard errors, everywhere; exact where 0 or 1 is expected."""
    expected = np.asarray(expected)
    error = np.sqrt(expected * (1 - expected) / num)
    return (np.abs(frequency - expected) <= 4.5 * error + 1e-12).all()


def state_of(policy, wins, t, shortlist=None, rivals=None, losses=None):
    """A state of given counts, B, B^i (row i of a mask) and L_C, before comparison t + 1."""
    state = policy.init(KEY)
    begin = state.beliefs.hypotheses
    hypotheses = Hypotheses(
        begin.shortlist if shortlist is None else jnp.asarray(shortlist),
        begin.rivals if rivals is None else arm_sets.sets_where(jnp.asarray(rivals).T),
        begin.losses if losses is None else jnp.int32(losses),
    )
    state = state._replace(
        wins=jnp.asarray(wins, jnp.int32),
        t=jnp.int32(t),
        bound=log_bound(policy.alpha, jnp.int32(t + 1)),
    )
    return holding(policy, state, hypotheses)


def holding(policy, state, hypotheses):
    """A state with other hypotheses; verdicts and outlook are those of its counts."""
    state = state._replace(beliefs=state.beliefs._replace(hypotheses=hypotheses))
    nothing = jnp.zeros_like(state.wins)
    return learnt(policy, state, Feedback(nothing, nothing))


def wins_of(leads, n=400):
    """Counts of n comparisons of each pair: `leads` of winner over loser, the others even."""
    wins = np.full((5, 5), n // 2)
    for i, j in leads:
        wins[i, j], wins[j, i] = n, 0
    np.fill_diagonal(wins, 0)
    return wins


def log_inverse_delta(length):
    """log(1 / delta) in a round of SCB of that length."""
    return np.log(length) - np.log(np.log(length))
