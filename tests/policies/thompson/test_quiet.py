"""Quiet runs of D-TS, D-TS+ and RCS: from given states, their length and the step after them; in
whole runs, their law."""

import dataclasses
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.thompson import sampling
from jaxduel.simulation import skip_heuristic
from tests.policies.quiet_laws import check_whole_runs, compare_laws
from tests.policies.thompson.cases import (
    ALPHA,
    ARMS,
    LIMIT,
    OFTEN,
    at,
    expected,
    quiet_of,
    record_of,
    states,
)

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


@partial(jax.jit, static_argnames="policy_class")
def _draws(policy, wins, t, sizes, among, keys, *, policy_class):
    """For each state and key: a run, the coins it fixes and the pair after it; a plain pair, and
    whether the votes that decide fell in it as is likely."""

    def one(wins, t, size, among, key):
        here = dataclasses.replace(policy, active_arms=jnp.arange(ARMS) < size)
        state = at(here, wins, t)
        own, other, step = jax.random.split(key, 3)
        later, run = quiet_of(here, state, jnp.int32(LIMIT), own)
        duel, without = here.act(later, other), here.act(state, step)
        fell = sampling.sampled_wins(words_of(step), record_of(state))
        as_likely = jnp.all(~among | (fell == (wins > wins.T)))
        decided = record_of(later).decided
        return run, (decided.sides, decided.first), duel, without, as_likely

    over_keys = jax.vmap(one, in_axes=(None,) * 4 + (0,))
    return jax.vmap(over_keys, in_axes=(0, 0, 0, 0, None))(wins, t, sizes, among, keys)


@pytest.fixture(scope="module", params=OFTEN)
def drawn(request):
    """States that fall quiet and many draws from each."""
    made = states(request.param, 6)
    wins, t, sizes = (np.array([x[i] for x in made], np.int32) for i in range(3))
    decided = np.zeros((len(made), ARMS, ARMS), bool)
    for table, (_, _, _, event) in zip(decided, made, strict=True):
        for i, j in event.votes:
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
        assert (arms == np.argmax(event.weights)).all()
        if run.weights is not None:
            weights = run.weights[number] / run.weights[number].sum(axis=1, keepdims=True)
            wanted = np.pad(event.weights, (0, ARMS - len(event.weights)))
            np.testing.assert_allclose(weights, np.tile(wanted, (len(n), 1)), rtol=1e-5)
        else:
            assert event.weights.max() == 1
        assert n.max() <= LIMIT
        for k in (1, 2, 3, 5, 8, 13, 21, 34, 100, LIMIT):
            chance = event.chance**k
            error = np.sqrt(chance * (1 - chance) / len(n))
            assert abs(np.mean(n >= k) - chance) <= 4.5 * error + 1e-9


def test_many_leaders_are_equally_likely():
    """Five arms, each beats the next two, all pairs are decided: D is that all votes fall so."""
    wins, arms = np.zeros((5, 5), np.int32), np.arange(5)
    for step, n in ((1, 45), (2, 35)):
        wins[arms, (arms + step) % 5] = 0.8 * n
        wins[(arms + step) % 5, arms] = 0.2 * n
    event = expected("dts", wins, 40)
    assert event.kind == "many"
    assert len(event.votes) == 10
    policy = jd.policies.make("dts", num_arms=5)
    state = at(policy, jnp.asarray(wins), jnp.int32(40))
    keys = jax.random.split(jax.random.key(2), 20_000)
    runs = jax.vmap(partial(quiet_of, policy, state, jnp.int32(LIMIT)))
    _, run = jax.jit(runs)(keys)
    assert (np.asarray(run.weights) == np.asarray(run.weights)[0, 0]).all()
    chance = event.chance**LIMIT
    assert 0.5 < chance < 0.9
    error = np.sqrt(chance * (1 - chance) / len(keys))
    assert abs(np.mean(np.asarray(run.n) == LIMIT) - chance) <= 4.5 * error


def test_coins_are_fixed_up_to_the_first_that_ends_the_run(drawn):
    made, decided, (run, (fixed, first), *_) = drawn
    for number, (_, _, _, event) in enumerate(made):
        ended = run.n[number] < LIMIT
        coins = fixed[number]
        assert not coins[~ended].any()
        votes, replies = coins[ended, :ARMS], coins[ended, ARMS:]
        assert (votes == votes.swapaxes(1, 2)).all()
        among = np.concatenate([np.triu(votes), replies], axis=1)
        assert (np.sum(among == sampling.UNLIKELY, axis=(1, 2)) == 1).all()
        assert not votes[:, ~decided[number]].any()
        asked = np.zeros((ARMS, ARMS), bool)
        asked[tuple(np.array(event.replies, int).reshape(-1, 2).T)] = True
        assert not replies[:, ~asked].any()
        lost = (votes == sampling.UNLIKELY).any(axis=(1, 2))
        assert not replies[lost].any()
        arm = np.argmax((replies == sampling.UNLIKELY).any(axis=2), axis=1)
        assert (first[number][ended] == np.where(lost, -1, arm)).all()
        assert (first[number][~ended] == -1).all()
        assert (votes[~lost][:, decided[number]] == sampling.LIKELY).all()


def test_the_step_after_a_run_has_the_law_of_steps_that_end_runs(drawn):
    """Beside plain steps of which those are rejected in which the votes that count fell as is
    likely and nobody replied."""
    made, _, (run, _, duel, without, as_likely) = drawn
    compared = 0
    for number, (_, _, _, event) in enumerate(made):
        left, right = without.left[number], without.right[number]
        assert np.isin(left[as_likely[number]], np.flatnonzero(event.weights)).all()
        quiet = as_likely[number] & (left == right)
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


# ---- whole runs ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_have_the_same_law(turns, monkeypatch):
    """Seeds for 18 % of the mean regret to be 4.5 standard errors or more. Without skipping is,
    here, as if it never paid: the same program."""

    def never():
        monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: math.inf)
        return {}

    problem = jd.problems.load("mslr5-condorcet")
    error = compare_laws("dts", problem, [200, 500, 1_000], 384, dict, never, lanes=128)
    assert error <= 0.18 / 4.5
    assert len(turns) == 3
    assert np.concatenate(turns).mean() < 0.7 * 1_000


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")
@pytest.mark.parametrize(
    ("name", "problem", "times", "num", "settings"),
    [
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {}),
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"delay": 3}),
        ("dts", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"delay": 16}),
        ("dts", "noncondorcet-strong-borda", [1_000, 3_000, 8_000], 4_096, {}),
        ("dts", "noncondorcet-cyclic", [3_000, 10_000, 30_000], 4_096, {}),
        ("dts+", "noncondorcet-strong-borda", [1_000, 3_000, 8_000], 4_096, {}),
        ("dts+", "noncondorcet-cyclic", [2_000, 5_000, 12_000], 4_096, {"winners": True}),
        ("rcs", "mslr5-condorcet", [300, 1_000, 3_000], 20_480, {"parameters": {"alpha": 0.15}}),
    ],
)
def test_long_runs_have_the_same_law(name, problem, times, num, settings, turns):
    """RCS's alpha is such that it falls quiet before its samples are sure."""
    check_whole_runs(turns, name, problem, times, num, settings)
