"""`next_pairs`: the pairs that a policy compares next, started from a log."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics.threefry import fold_in
from jaxduel.policies import registry
from jaxduel.policies.base import WITHHELD, Batch, Duel, SupportsSkip
from jaxduel.policies.checks import MAX_HORIZON, require_policy, whole_number
from jaxduel.policies.warm_start import checked_start
from jaxduel.simulation.blocks import plan_kind
from jaxduel.simulation.compiling import compiled_once, shared
from jaxduel.simulation.keys import root_key
from jaxduel.votes.counts import Votes, require_votes

MOST_PAIRS = 100_000
"""Most pairs per call."""
_MOST_TURNS = 100_000
"""Comparisons tried, quiet runs left out, before a policy counts as asking for no votes."""


def next_pairs(votes: Votes, policy: Any, num: int = 20, seed: int = 0) -> list[tuple[int, int]]:
    """The pairs that a policy compares next, given a log of votes.

    The log is the state: the policy starts from its counts (`jaxduel.policies.state_from_wins`).
    The pairs' outcomes are withheld, while clocks go on, as if all pairs were put to people at
    once; comparisons of an arm with itself cost no vote and are left out. The policy sees the arms
    in a random order. A batched policy gives its whole next round, whatever `num` is.

    Args:
      votes: the log.
      policy: a policy with the log's number of arms, that can start from counts.
      num: number of pairs, at most 100,000.
      seed: root of the policy's randomness. Random numbers also depend on the number of votes.

    Returns:
      Pairs (left, right) of arms, at most `num`: fewer where a policy would rather compare its best
      arm with itself for ever.

    Raises:
      InputError: a policy that cannot start from counts, or `num` out of range.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 9, 2], [6, 0, 0], [3, 1, 0]])
      >>> policy = jd.policies.make("round-robin", num_arms=3)
      >>> pairs = jd.votes.next_pairs(votes, policy, num=4)
      >>> sorted(set(tuple(sorted(pair)) for pair in pairs))
      [(0, 1), (0, 2), (1, 2)]
    """
    require_votes(votes, "next_pairs")
    num = whole_number(num, 1, "num")
    if num > MOST_PAIRS:
        raise InputError(f"num must be at most {MOST_PAIRS:,}, not {num:,}.")
    require_policy(policy, "next_pairs")
    registry.validate(policy)
    kind = plan_kind(policy)
    if kind not in (Duel, Batch):
        raise InputError(f"{registry.name_of(policy)} pulls arms, and votes compare them in pairs.")
    if policy.num_arms != votes.num_arms:
        raise InputError(
            f"the policy has {policy.num_arms} arms, and {votes.name} has {votes.num_arms}."
        )
    root, known = root_key(seed), int(votes.num_votes)
    arms = np.random.default_rng([int(seed), known]).permutation(votes.num_arms)
    wins = checked_start(policy, votes.wins[np.ix_(arms, arms)])
    key = fold_in(root, known)
    policy = registry.to_32_bits(policy)
    if kind is Batch:
        left, right = _batch(policy, jnp.asarray(wins), key)
    else:
        with shared(device := jax.local_devices()[0]):
            given = jax.device_put((policy, wins, key), device)
            left, right = map(np.asarray, _duels(*given, num=num, policy_class=type(policy)))
    return [(int(arms[i]), int(arms[j])) for i, j in zip(left, right, strict=True) if i != j]


def _batch(policy: Any, wins: jax.Array, key: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    """The arms of each comparison of the next round."""
    plan = policy.act(policy.from_wins(wins, fold_in(key, 0)), fold_in(key, 1))
    pairs = np.argwhere(np.asarray(plan.counts) > 0)
    times = np.asarray(plan.counts)[tuple(pairs.T)]
    return tuple(np.repeat(pairs, times, axis=0).T)  # type: ignore[return-value]


@compiled_once(static_argnames=("num", "policy_class"))
def _duels(
    policy: Any, wins: jax.Array, key: jax.Array, *, num: int, policy_class: type
) -> tuple[jax.Array, jax.Array]:
    """The arms of the next comparisons of different arms: (num,) int32 each, 0 where there was
    none.

    `policy_class` is for JAX, which cannot tell it by the policy alone.
    """
    skips = isinstance(policy, SupportsSkip)

    def goes_on(loop: tuple[Any, ...]) -> jax.Array:
        _, t, turns, found, _ = loop
        return (found < num) & (turns < _MOST_TURNS) & (t < MAX_HORIZON)

    def compare(loop: tuple[Any, ...]) -> tuple[Any, ...]:
        state, t, turns, found, pairs = loop
        if skips:
            limit = jnp.int32(MAX_HORIZON - 1) - t
            state, run = policy.quiet(state, limit, fold_in(fold_in(key, 2), t))
            t = t + run.n
        one = fold_in(fold_in(key, 1), t)
        plan = policy.act(state, one)
        state = policy.update(state, plan, jnp.int32(WITHHELD), one)
        asks = plan.left != plan.right
        pair = jnp.stack([plan.left, plan.right])
        pairs = pairs.at[jnp.where(asks, found, num)].set(pair, mode="drop")
        return state, t + 1, turns + 1, found + asks, pairs

    state = policy.from_wins(wins, fold_in(key, 0))
    clock = jnp.sum(wins, dtype=jnp.int32)
    none = jnp.zeros((num, 2), jnp.int32)
    loop = lax.while_loop(goes_on, compare, (state, clock, jnp.int32(0), jnp.int32(0), none))
    return loop[-1][:, 0], loop[-1][:, 1]
