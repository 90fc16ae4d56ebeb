"""RMED2 and RMED2FH: the cheaper opponent, carried sums, delay."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from jaxduel.policies.rmed import lists
from tests.policies.histories import duel_histories, random_preferences
from tests.policies.rmed.cases import in_order, play

pytestmark = pytest.mark.thorough


def _opponent(wins, left, t, estimates=None, best=None):
    """The rule of the text for the arm `left`, from counts, in float64."""
    num, n = len(wins), wins + wins.T

    def means(w):
        return np.where(w + w.T > 0, w / np.maximum(w + w.T, 1), 0.5)

    def d(p):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nansum([p * np.log(2 * p), (1 - p) * np.log(2 - 2 * p)])

    mean = means(wins)
    ahead = [j for j in range(num) if j != left and mean[left, j] <= 0.5]
    divergence = [sum(n[i, j] * d(mean[i, j]) for j in range(num) if mean[i, j] <= 0.5)
                  for i in range(num)]  # fmt: skip
    now = int(np.argmin(divergence))
    then, at = (mean, now) if estimates is None else (means(estimates), best)
    price = [max(then[at, left] + then[at, j] - 1, 0.01) / d(then[left, j])
             if j != left and then[left, j] < 0.5 else np.inf for j in range(num)]  # fmt: skip
    b = int(np.argmin(price))
    enough = now not in ahead or n[left, now] > n[left, b] / np.log(np.log(t) + 0.01)
    if price[b] < np.inf and b in ahead and enough:
        return b, now
    if not ahead or now in ahead:
        return now, now
    return min((j for j in range(num) if j != left), key=lambda j: mean[left, j]), now


@pytest.mark.parametrize("name", ["rmed2", "rmed2fh"])
def test_opponents_are_those_of_the_text(name):
    policy = jd.policies.make(name, num_arms=5, horizon=400)
    preferences = random_preferences(5, 10, seed=2)
    keys = jax.random.split(jax.random.key(2), 10)
    left, right, won = (np.asarray(x) for x in duel_histories(policy, preferences, keys, 400))
    forced = not_the_leader = 0
    for run in range(10):
        wins = np.zeros((5, 5), int)
        early, best = None, None
        for t, (i, j, w) in enumerate(zip(left[run], right[run], won[run], strict=True), 1):
            n = wins + wins.T
            theta = 3 * np.log(np.log(t) + 0.01)
            if name == "rmed2fh":
                theta = np.ceil(3 * np.log(np.log(400)))
            lacking = np.triu((n < theta) | (n == 0), 1)
            if lacking.any():
                forced += 1
                assert (i, j) == divmod(int(np.argmax(lacking)), 5)
            else:
                if name == "rmed2fh" and early is None:
                    early, best = wins.copy(), _opponent(wins, i, t)[1]
                expected, now = _opponent(wins, i, t, early, best)
                assert j == expected
                not_the_leader += j != now
            wins[(i, j) if w else (j, i)] += i != j
    assert forced > 500
    assert not_the_leader > 300


@pytest.mark.parametrize("name", ["rmed2", "rmed2fh"])
def test_two_arms(name):
    duels = in_order(jd.policies.make(name, num_arms=2, horizon=100), 200)
    assert duels[0].tolist() == [0, 1]
    assert duels[-1].tolist() == [0, 0]
    assert np.array_equal(np.unique(duels[5:], axis=0), [[0, 0], [1, 0]])


@pytest.mark.parametrize("name", ["rmed2", "rmed2fh"])
def test_what_is_carried_is_that_of_the_counts(name):
    policy = jd.policies.make(name, num_arms=5, horizon=2000)
    outcomes = np.where(np.random.default_rng(0).random(2000) < 0.55, 1, -1)
    state, duels = play(policy, outcomes)
    main = state.main
    made = np.zeros((5, 5), int)
    np.add.at(made, tuple(np.asarray(duels).T), 1)
    made = np.triu(made + made.T, 1)
    assert np.array_equal(np.triu(main.made, 1), made)
    assert np.array_equal(main.fewest[:4], [made[i, i + 1 :].min() for i in range(4)])
    assert np.array_equal(np.triu(main.wins + main.wins.T, 1), made)
    evidence, divergence = lists.evidence_of(main.wins)
    assert np.allclose(main.evidence, evidence, rtol=1e-6)
    assert np.allclose(main.divergence, divergence, rtol=1e-6)


@pytest.mark.parametrize("name", ["rmed2", "rmed2fh"])
def test_learning_late_agrees_with_the_counts(name):
    policy = jd.policies.make(name, num_arms=4, horizon=100)
    state, duels = play(policy, [0] * 20)  # inside the initial phase of either
    main = state.main
    assert (int(main.wins.sum()), int(main.made.sum())) == (0, 20)
    left_wins, right_wins = np.zeros((2, 4, 4), np.int32)
    np.add.at(left_wins, tuple(np.asarray(duels[:8]).T), 1)
    np.add.at(right_wins, tuple(np.asarray(duels[8:]).T), 1)
    late = policy.learn(state, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    prompt, same = play(policy, [1] * 8 + [-1] * 12)
    assert np.array_equal(duels, same)
    chex.assert_trees_all_close(late, prompt, rtol=1e-6)


@pytest.mark.parametrize("slack", [(0, 1e30), (0.3, 1e30), (3e38, 0), (1e20, 20)])
@pytest.mark.parametrize("name", ["rmed1", "rmed2", "rmed2fh"])
def test_a_slack_beyond_32_bits_is_refused(name, slack):
    scale, exponent = slack
    with pytest.raises(jd.InputError, match=r"scale K\^exponent must be at most 1e\+38, not"):
        jd.policies.make(name, num_arms=100, horizon=10, scale=scale, exponent=exponent)
    jd.policies.make(name, num_arms=100, horizon=10, scale=0, exponent=18)
