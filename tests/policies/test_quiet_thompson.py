"""Quiet runs of D-TS, D-TS+ and RCS from given states: their length, and the step after them."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import seed_of
from jaxduel.policies import thompson
from jaxduel.policies.base import Duel
from tests.policies.quiet_thompson_cases import ALPHA, ARMS, LIMIT, OFTEN, at, record_of, states

pytestmark = pytest.mark.usefixtures("quick_compilation")


@partial(jax.jit, static_argnames="policy_class")
def _draws(policy, wins, t, sizes, decided, keys, *, policy_class):
    """For each state and key: a run, the coins it fixes and the pair after it; a plain pair, and
    whether the votes that decide fell in it as is likely."""
    del policy_class

    def one(wins, t, size, decided, key):
        here = dataclasses.replace(policy, active_arms=jnp.arange(ARMS) < size)
        state = at(here, wins, t)
        own, other, step = jax.random.split(key, 3)
        later, run = here.quiet(state, jnp.int32(LIMIT), own)
        both = jax.tree.map(lambda *x: jnp.stack(x), later, state)
        duels = jax.vmap(here.act)(both, jnp.stack([other, step]))
        duel, without = (Duel(duels.left[k], duels.right[k]) for k in range(2))
        record = record_of(state)
        fell = thompson.sampled_wins(seed_of(step), record, here.active_arms)
        as_likely = jnp.all(~decided | (fell == (wins > wins.T)))
        fixed = record_of(later).fixed
        return run, fixed, duel, without, as_likely

    over_keys = jax.vmap(one, in_axes=(None,) * 4 + (0,))
    return jax.vmap(over_keys, in_axes=(0, 0, 0, 0, None))(wins, t, sizes, decided, keys)


@pytest.fixture(scope="module", params=OFTEN)
def drawn(request):
    """States that fall quiet and many draws from each."""
    made = states(request.param, 6)
    wins, t, sizes = (np.array([x[i] for x in made], np.int32) for i in range(3))
    decided = np.zeros((len(made), ARMS, ARMS), bool)
    for table, (_, _, _, event) in zip(decided, made, strict=True):
        for i, j in event[1]:
            table[i, j] = table[j, i] = True
    policy = jd.policies.make(request.param, num_arms=ARMS)
    policy = dataclasses.replace(policy, alpha=np.float32(ALPHA[request.param]))
    keys = jax.random.split(jax.random.key(11), 4_000)
    draws = _draws(policy, wins, t, sizes, decided, keys, policy_class=type(policy))
    return made, decided, jax.tree.map(np.asarray, draws)


def test_runs_are_as_long_as_independent_steps_make_them(drawn):
    made, _, (run, *_) = drawn
    for number, (_, _, _, event) in enumerate(made):
        arms, n = run.arm[number], run.n[number]
        assert (arms == event[0][0]).all()
        if run.weights is not None:
            assert ((run.weights[number] > 0) == np.isin(np.arange(ARMS), event[0])).all()
        else:
            assert len(event[0]) == 1
        assert n.max() <= LIMIT
        for k in (1, 2, 3, 5, 8, 13, 21, 34, 100, LIMIT):
            chance = event[3] ** k
            error = np.sqrt(chance * (1 - chance) / len(n))
            assert abs(np.mean(n >= k) - chance) <= 4.5 * error + 1e-9


def test_coins_are_fixed_up_to_the_first_that_ends_the_run(drawn):
    made, decided, (run, fixed, *_) = drawn
    for number, (_, _, _, event) in enumerate(made):
        ended = run.n[number] < LIMIT
        coins = fixed[number]
        assert not coins[~ended].any()
        votes, replies = coins[ended, :ARMS], coins[ended, ARMS:]
        assert (votes == votes.swapaxes(1, 2)).all()
        among = np.concatenate([np.triu(votes), replies], axis=1)
        assert (np.sum(among == thompson.UNLIKELY, axis=(1, 2)) == 1).all()
        assert not votes[:, ~decided[number]].any()
        asked = np.zeros((ARMS, ARMS), bool)
        asked[tuple(np.array(event[2], int).reshape(-1, 2).T)] = True
        assert not replies[:, ~asked].any()
        lost = (votes == thompson.UNLIKELY).any(axis=(1, 2))
        assert not replies[lost].any()
        assert (votes[~lost][:, decided[number]] == thompson.LIKELY).all()


def test_the_step_after_a_run_has_the_law_of_steps_that_end_runs(drawn):
    """Beside plain steps of which those are rejected in which all that counts fell as is likely,
    among that replies to the leaders that were not drawn, by chance."""
    made, _, (run, _, duel, without, as_likely) = drawn
    rng = np.random.default_rng(5)
    compared = 0
    for number, (_, _, _, event) in enumerate(made):
        left, right = without.left[number], without.right[number]
        assert np.isin(left[as_likely[number]], event[0]).all()
        quiet = as_likely[number] & (left == right)
        silent = np.ones(ARMS)
        for (i, _), chance in zip(event[2], event[6], strict=True):
            silent[np.arange(ARMS) != i] *= 1 - chance
        quiet &= rng.random(len(left)) < silent[left]
        ended = run.n[number] < LIMIT
        one, two = (
            np.bincount(pairs.left[number][kept] * ARMS + pairs.right[number][kept], minlength=36)
            for pairs, kept in ((duel, ended), (without, ~quiet))
        )
        sizes = one.sum(), two.sum()
        share = (one + two) / sum(sizes)
        error = np.sqrt(share * (1 - share) * (1 / sizes[0] + 1 / sizes[1]))
        assert (np.abs(one / sizes[0] - two / sizes[1]) <= 4.5 * error).all()
        compared += np.sum(share > 0.01)
    assert compared > 2 * len(made)
