"""Interleaved Filter: the oracle by hand, round robins, filtering, variants, delay."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from jaxduel.policies.condorcet.interleaved_filter import InterleavedFilterState
from tests.oracles.condorcet.interleaved_filter import Filter, InterleavedFilter
from tests.policies.oracle_runs import play_out, seen

# ---- the oracle, by hand ------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("winner", [0, 1])
def test_interleaved_filter_two_arms_by_hand(start, winner):
    oracle = InterleavedFilter(2, 1)
    assert oracle.c(22) > 0.5 > oracle.c(23) == pytest.approx(math.sqrt(4 * math.log(4) / 23))
    assert oracle.allowed() == {(0, 1), (1, 0)}
    oracle.play(start, 1 - start, start == winner)
    pairs = play_out(oracle, {(winner, 1 - winner)}, 24)
    assert pairs == [(start, 1 - start)] * 22 + [(winner, winner)] * 2


def _end_of_round(wins: list[int], last: bool, **options) -> InterleavedFilter:
    """Three arms, champion 0: 100 comparisons with each other arm, the last one just now.

    c(100) = .297.
    """
    oracle = InterleavedFilter(3, 1, **options)
    seen(oracle, [[0, *wins], [100 - wins[0], 0, 0], [99 - wins[1], 0, 0]], 200)
    oracle.memories = [Filter(0, (1, 2), 1)]
    assert oracle.allowed() == {(0, 2)}
    oracle.play(0, 2, last)
    return oracle


def test_interleaved_filter_removes_arms_that_the_champion_surely_beats():
    assert _end_of_round([90, 50], False).allowed() == {(0, 2)}
    assert _end_of_round([60, 50], False).allowed() == {(0, 1)}
    assert _end_of_round([90, 90], False).allowed() == {(0, 0)}


def test_interleaved_filter_champion_is_beaten():
    # Arm 1 takes over; arm 2, seemingly weaker than 0, goes too in IF2.
    assert _end_of_round([10, 60], True).allowed() == {(1, 1)}
    assert _end_of_round([10, 60], True, variant="if1").allowed() == {(1, 2)}
    # Equal is not weaker.
    assert _end_of_round([10, 49], True).allowed() == {(1, 2)}
    # Both beat the champion: the one that does so most, or the lowest index.
    assert _end_of_round([10, 9], True).allowed() == {(1, 2)}
    assert _end_of_round([10, 9], False).allowed() == {(2, 1)}


def test_interleaved_filter_champion_is_new_to_its_opponents():
    """Each arm loses most often to the one before it, so champions follow one another."""
    preferences = 0.5 + 0.3 * np.sign(np.subtract.outer(*[-np.arange(5)] * 2))
    preferences += 0.2 * (np.eye(5, k=1) - np.eye(5, k=-1))
    rng = np.random.default_rng(0)
    oracle, champions = InterleavedFilter(5, 1, "if1", rng=rng), []
    for _ in range(700):
        ((left, right),) = oracle.allowed()
        if left not in champions:
            champions.append(left)
            assert not any(oracle.N[left, j] for j in range(5) if j not in champions)
        oracle.play(left, right, bool(rng.random() < preferences[left, right]))
    assert len(champions) > 2


# ---- the policy ---------------------------------------------------------------------------------

KEY = jax.random.key(0)


def _state(best, working, turn, played, won):
    return InterleavedFilterState(
        jnp.int32(best),
        jnp.array(working, bool),
        jnp.int32(turn),
        jnp.array(played, jnp.int32),
        jnp.array(won, jnp.int32),
    )


@jax.jit
def _stepped(policy, state, outcome):
    return policy.update(state, policy.act(state, KEY), outcome, KEY)


def _same(state, expected):
    for ours, theirs in zip(state, expected, strict=True):
        assert np.array_equal(ours, theirs), (state, expected)


@pytest.mark.thorough
def test_the_first_candidate_is_uniform():
    policy = jd.policies.make(
        "interleaved-filter", num_arms=5, horizon=10, active_arms=[1, 1, 1, 0, 0]
    )
    states = jax.vmap(policy.init)(jax.random.split(jax.random.key(1), 9000))
    share = np.bincount(states.best, minlength=5) / 9000
    assert (share[3:] == 0).all()
    assert (np.abs(share[:3] - 1 / 3) < 4.5 * np.sqrt(2 / 9 / 9000)).all()
    first = np.asarray(states.working)[:50]
    assert (first.sum(axis=1) == 2).all()
    assert not first[:, 3:].any()
    assert (np.asarray(states.turn) == np.where(np.asarray(states.best) == 0, 1, 0)).all()


def test_the_candidate_meets_the_others_in_turn_and_the_best_stays():
    policy = jd.policies.make("interleaved-filter", num_arms=4, horizon=10)
    state = _state(2, [1, 1, 0, 1], 0, [0] * 4, [0] * 4)
    duels = []
    # 2 wins all: 1 - sqrt(4 log(10 * 16) / n) > 1/2 once n > 16 log 160 = 81.2
    for _ in range(3 * 82 + 2):
        duels.append(tuple(int(arm) for arm in policy.act(state, KEY)))
        state = _stepped(policy, state, jnp.int32(1))
    assert duels == [(2, 0), (2, 1), (2, 3)] * 82 + [(2, 2), (2, 2)]
    assert state.played.tolist() == [82, 82, 0, 82]


def test_filtering_waits_for_the_end_of_the_round_robin():
    policy = jd.policies.make("interleaved-filter", num_arms=4, horizon=10)
    state = _state(0, [0, 1, 1, 1], 1, [0, 500, 500, 499], [0, 500, 10, 250])
    for turn in (2, 3):
        state = _stepped(policy, state, jnp.int32(1))
        assert (int(state.best), int(state.turn)) == (0, turn)
        assert state.working.tolist() == [False, True, True, True]
    # arm 1 is worse and leaves; arm 2 is better and replaces 0, which never comes back; arm 3
    # (251 of 500, above 1/2) leaves with it in IF2, stays in IF1
    _same(_stepped(policy, state, jnp.int32(1)), _state(2, [0, 0, 0, 0], 2, [0] * 4, [0] * 4))
    other = jd.policies.make("interleaved-filter", num_arms=4, horizon=10, variant="if1")
    _same(_stepped(other, state, jnp.int32(1)), _state(2, [0, 0, 0, 1], 3, [0] * 4, [0] * 4))
    # a tie (250 of 500) stays in either
    _same(_stepped(policy, state, jnp.int32(-1)), _state(2, [0, 0, 0, 1], 3, [0] * 4, [0] * 4))


def test_the_strongest_of_several_better_arms_replaces_the_candidate():
    policy = jd.policies.make("interleaved-filter", num_arms=4, horizon=10)
    state = _state(3, [1, 1, 1, 0], 2, [500, 500, 499, 0], [100, 50, 50, 0])
    after = _stepped(policy, state, jnp.int32(-1))
    _same(after, _state(1, [1, 0, 1, 0], 0, [0] * 4, [0] * 4))
    assert int(_stepped(policy, state, jnp.int32(1)).best) == 1


def test_two_arms_and_a_tie():
    policy = jd.policies.make("interleaved-filter", num_arms=2, horizon=10)
    state = policy.init(KEY)
    for outcome in [1, -1] * 30:
        duel = tuple(int(arm) for arm in policy.act(state, KEY))
        assert sorted(duel) == [0, 1]
        state = _stepped(policy, state, jnp.int32(outcome))


def test_learning_late_agrees_and_ignores_past_candidates():
    policy = jd.policies.make("interleaved-filter", num_arms=3, horizon=10)
    start = _state(1, [1, 0, 1], 0, [7, 0, 6], [3, 0, 2])
    prompt = late = start
    left_wins, right_wins = np.zeros((2, 3, 3), np.int32)
    rng = np.random.default_rng(0)
    for won in rng.random(20) < 0.5:
        duel = policy.act(prompt, KEY)
        left_wins[tuple(duel)] += won
        right_wins[tuple(duel)] += not won
        prompt = _stepped(policy, prompt, jnp.int32(1 if won else -1))
        late = _stepped(policy, late, jnp.int32(0))
    assert late.played.tolist() == start.played.tolist()
    left_wins[0, 2] = right_wins[2, 1] = 100
    late = policy.learn(late, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    _same(late, prompt)
