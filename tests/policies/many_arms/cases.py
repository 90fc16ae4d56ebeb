"""Runs of MergeRUCB and MergeDTS with their first groups and their samples: for tests."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics.threefry import words_of
from jaxduel.policies.many_arms.merge_dts import MergeDTS
from jaxduel.policies.thompson import sampling
from tests.policies.histories import random_preferences


@partial(jax.jit, static_argnames=("steps", "policy_class"))
def _runs(policy, preferences, keys, steps, policy_class):
    """The first states; then, step by step, the states, the duels, the outcomes and the samples."""

    def samples(state, duel, key):
        row = state.members[state.turn]
        if policy_class is not MergeDTS:
            return row, None, None
        seed, tail, wins = words_of(key), state.tail[state.turn], state.wins[state.turn]
        slots = lax.iota(jnp.int32, len(row))
        c = jnp.argmax(row == duel.left)
        others = (row >= 0) & (slots != c)
        chances = sampling.strongest(seed, tail[c], wins[c], wins[:, c], others)
        return row, policy._losses(seed, tail), chances

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            sampled = samples(state, duel, here)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            won = u < p[duel.left, duel.right]
            state = policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here)
            return state, (duel.left, duel.right, won, sampled, state.number, state.left)

        first = policy.init(key)
        last, history = lax.scan(step, first, jnp.arange(steps))
        return first, history, last

    return jax.vmap(run)(preferences, keys)


def ordered(num_arms, lead):
    """Preferences by which each arm beats those after it with probability 1/2 + `lead`."""
    upper = np.triu(np.full((num_arms, num_arms), lead), 1)
    return (0.5 + upper - upper.T).astype(np.float32)


def groups_of(members):
    """The groups of (G, S) members, as sets of arms."""
    rows = np.asarray(members).tolist()
    return [{arm for arm in row if arm >= 0} for row in rows if max(row) >= 0]


def arms_of(row, num_arms):
    """The slots that have arms, and these."""
    slots = np.flatnonzero(row >= 0)
    assert len(set(row[slots])) == len(slots)
    assert (row[slots] < num_arms).all()
    return slots, row[slots]


def check_runs(policy, oracle_of, num, steps, seed=0):
    """Every comparison must be one that the oracle allows, given the first groups and the samples;
    in the end both must have the same groups.

    Half of the runs are on an instance on which arms leave fast.

    Returns:
      The numbers of groups and of arms left, (num, steps) each.
    """
    num_arms = policy.num_arms
    preferences = random_preferences(num_arms, num, seed=seed)
    preferences[::2] = ordered(num_arms, 0.45)
    keys = jax.random.split(jax.random.key(seed), num)
    first, history, last = jax.tree.map(
        np.asarray, _runs(policy, preferences, keys, steps, type(policy))
    )
    left, right, won, (rows, losses, chances), number, remaining = history
    for run in range(num):
        oracle = oracle_of(groups_of(first.members[run]))
        for t in range(steps):
            pair = int(left[run, t]), int(right[run, t])
            given = ()
            if losses is not None:
                slots, arms = arms_of(rows[run, t], num_arms)
                theta = np.zeros((2, num_arms, num_arms))
                theta[0][np.ix_(arms, arms)] = 1 - losses[run, t][np.ix_(slots, slots)].T
                theta[1][arms, pair[0]] = -chances[run, t][slots]  # only their order counts
                given = theta
            allowed = oracle.allowed(*given)
            assert pair in allowed, f"run {run}, step {t + 1}: {pair} not in {allowed}"
            oracle.play(*pair, bool(won[run, t]))
        _check_end(oracle, jax.tree.map(lambda x, run=run: x[run], last))
    return number, remaining


def _check_end(oracle, state):
    """The groups are those of the oracle before its next turn, but for arms that are about to go;
    wins of arms that are in one group are those of all comparisons."""
    found = groups_of(state.members)
    assert int(state.left) == sum(map(len, found))
    assert int(state.number) == len(found)
    assert np.array_equal(state.sizes[: len(found)], [len(arms) for arms in found])
    assert any(
        len(found) == len(memory.batches)
        and all(arms <= batch for arms, batch in zip(found, memory.batches, strict=True))
        for memory in oracle.memories
    )
    for row, wins in zip(state.members, state.wins, strict=True):
        slots, arms = arms_of(row, oracle.K)
        assert np.array_equal(wins[np.ix_(slots, slots)], oracle.W[np.ix_(arms, arms)])
