"""Replays of oracles on the uniform numbers of a policy that draws its arms by probabilities."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.adversarial.sampling import two_words, unit
from jaxduel.policies.base import Feedback
from tests.oracles.adversarial.draws import DrawingOracle
from tests.policies.histories import KEY, padded_policy, padded_preferences


class History(NamedTuple):
    """Runs of a policy; each field is (runs, steps, ...)."""

    left: Any
    right: Any
    won: Any  # bool: the left arm won
    uniforms: Any  # (2,): those that its arms were drawn with
    chances: Any  # (K,) or (S, K): probabilities of arms, before the step


@partial(jax.jit, static_argnames=("chances", "steps", "policy_class"))
def _histories(policy, preferences, keys, chances, steps, policy_class):
    """Compiled once per class: see `jaxduel.simulation.cells.Program`."""

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel, before = policy.act(state, here), chances(policy, state)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            won = u < p[duel.left, duel.right]
            state = policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here)
            return state, History(duel.left, duel.right, won, unit(two_words(here)), before)

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))[1]

    return jax.vmap(run)(preferences, keys)


@jax.jit
def act(policy, state, key):
    return policy.act(state, key)


@jax.jit
def update(policy, state, duel, outcome, key):
    return policy.update(state, duel, outcome, key)


@jax.jit
def learn(policy, state, left_wins, right_wins):
    return policy.learn(state, Feedback(left_wins, right_wins))


def brought(policy, steps):
    """The state after some comparisons of its own choice; which side wins goes on for a while."""
    state = policy.init(KEY)
    for t in range(steps):
        key = jax.random.fold_in(KEY, t)
        state = update(policy, state, act(policy, state, key), jnp.int32((-1) ** (t // 3)), key)
    return state


def told_late(policy, start, outcomes):
    """The states after each of these outcomes alone, each of a draw at the start; and, where all
    are withheld and then told together, that after all draws and that after `learn`."""
    alone, withheld = [], start
    left_wins, right_wins = np.zeros((2, policy.num_arms, policy.num_arms), np.int32)
    for t, outcome in enumerate(outcomes):
        key = jax.random.fold_in(KEY, 1000 + t)
        duel = act(policy, start, key)
        alone.append(update(policy, start, duel, jnp.int32(outcome), key))
        (left_wins if outcome > 0 else right_wins)[duel] += 1
        withheld = update(policy, withheld, duel, jnp.int32(0), key)
    return alone, withheld, learn(policy, withheld, left_wins, right_wins)


def replay(
    name: str,
    fields: dict[str, Any],
    chances: Callable[[Any, Any], jax.Array],
    oracle_of: Callable[[], DrawingOracle],
    num_arms: int,
    num: int = 30,
    steps: int = 60,
) -> None:
    """Asserts, at every step of random histories, with arms of padding unless there are five, that
    probabilities are the oracle's, and arms those that its uniform numbers draw.

    Args:
      name: the policy's.
      fields: its parameters.
      chances: of the policy and a state, (K,) or (S, K), its probabilities of the next arms.
      oracle_of: makes the oracle of a run.
      num_arms: of existing arms.
      num: of histories.
      steps: of each.
    """
    policy = padded_policy(name, num_arms, **fields)
    preferences = padded_preferences(num_arms, num, policy.num_arms - num_arms)
    keys = jax.random.split(jax.random.key(num_arms), num)
    found = _histories(policy, preferences, keys, chances, steps, type(policy))
    found = History(*map(np.asarray, found))
    assert not found.chances[..., num_arms:].any()
    for run in range(num):
        oracle = oracle_of()
        for t in range(steps):
            now = History(*(field[run, t] for field in found))
            expected = oracle.chances()
            np.testing.assert_allclose(
                np.broadcast_to(now.chances, (2, policy.num_arms))[:, :num_arms],
                expected,
                rtol=1e-3,  # estimates are divided by probabilities, and then nearly cancel
                err_msg=f"run {run}, step {t + 1}",
            )
            pair = int(now.left), int(now.right)
            assert pair in oracle.allowed(*now.uniforms.tolist()), (run, t + 1)
            oracle.play(*pair, bool(now.won))
