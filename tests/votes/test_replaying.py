"""Replays of logs against a loop by hand, and their laws."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.simulation.keys import root_key
from jaxduel.votes.collecting import noise_of
from jaxduel.votes.recommending import order

pytestmark = pytest.mark.usefixtures("quick_compilation")

TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"


@pytest.mark.parametrize("name", ["round-robin", pytest.param("dts", marks=pytest.mark.slow)])
def test_votes_of_a_pair_come_in_their_order_until_there_are_none(name):
    votes = jd.votes.read(TOURNAMENT)
    policy = jd.policies.make(name, num_arms=6, **({"self_duels": False} if name == "dts" else {}))
    grid = [1, 20, 90, 130]
    found = jd.votes.replay(policy, votes, 3, checkpoints=[*grid, 400])
    for seed in range(3):
        wins = _by_hand(policy, votes, seed)
        assert found.cast[seed] == len(wins)
        noise = noise_of(root_key(0), seed, 1, 6)[0]
        for at, number in enumerate(grid):
            arms = order("btl", wins[min(number, len(wins)) - 1], noise)
            assert found.named["btl"][seed, at] == arms[0]


def _by_hand(policy, votes, seed):
    """The wins after each vote of a seed."""
    keys = jax.random.fold_in(root_key(0), seed)
    of_policy, start, shuffle = (jax.random.fold_in(keys, stream) for stream in (1, 2, 3))
    words = np.asarray(jax.random.bits(shuffle, (6,)))
    arms = np.argsort(words >> np.uint32(9), kind="stable")
    queues = {pair: [] for pair in np.ndindex(6, 6)}
    for i, j, outcome in votes.history:
        queues[min(i, j), max(i, j)].append(outcome if i < j else -outcome)
    act, update = jax.jit(policy.act), jax.jit(policy.update)
    state, wins, table = policy.init(start), [], np.zeros((6, 6), int)
    for number in range(1, 10_000):
        key = jax.random.fold_in(of_policy, number)
        plan = act(state, key)
        i, j = arms[plan.left], arms[plan.right]
        queue = queues[min(i, j), max(i, j)]
        if not queue:
            return np.array(wins)
        outcome = queue.pop(0) * (1 if i < j else -1)
        if outcome:
            table[(i, j) if outcome > 0 else (j, i)] += 1
        wins.append(table.copy())
        state = update(state, plan, jnp.int32(outcome), key)
    raise AssertionError("the log did not end")


def test_an_urn_has_the_votes_of_the_log():
    wins = np.array([[0, 5, 2], [3, 0, 8], [6, 0, 0]])
    votes = jd.votes.from_counts(wins)  # 8 votes of each pair
    policy = jd.policies.make("round-robin", num_arms=3)
    found = jd.votes.replay(policy, votes, 200, rule="borda", checkpoints=[1, 24])
    assert (found.cast == 24).all()
    assert found.correct["borda"][:, 1].all()  # every vote is used
    shares = np.bincount(found.named["borda"][:, 0], minlength=3) / 200
    first = (wins / (wins + wins.T + np.eye(3))).sum(axis=1) / 3  # of the first vote's winner
    assert (np.abs(shares - first) < 4 * np.sqrt(first * (1 - first) / 200)).all()


def test_what_cannot_be_replayed_is_refused():
    votes = jd.votes.from_counts([[0, 5], [3, 0]])
    policy = jd.policies.make("rucb", num_arms=2)
    with pytest.raises(InputError, match="has counts, not votes in their order"):
        jd.votes.replay(policy, votes, votes_in="logged")
    with pytest.raises(InputError, match="value of votes_in 'forwards'"):
        jd.votes.replay(policy, votes, votes_in="forwards")
    for horizon in (None, 2**31, 0.5):
        with pytest.raises(InputError, match="horizon must be a whole number"):
            jd.votes.replay(policy, votes, horizon=horizon)
    with pytest.raises(InputError, match="replay: the votes must be such as"):
        jd.votes.replay(policy, "votes.csv")
    with pytest.raises(InputError, match="has 3 arms"):
        jd.votes.replay(jd.policies.make("rucb", num_arms=3), votes)
    batches = jd.policies.make("pcomp", num_arms=2, horizon=10, num_batches=2)
    with pytest.raises(InputError, match="one pair at a time"):
        jd.votes.replay(batches, votes)


def test_a_core_keeps_the_order_of_its_votes():
    votes = jd.votes.read(TOURNAMENT)
    core = votes.core(at_least=18)
    assert core.num_arms < votes.num_arms
    names = np.array(votes.arms)[votes.history[:, :2]]
    kept = np.isin(names, core.arms).all(axis=1)
    assert np.array_equal(np.array(core.arms)[core.history[:, :2]], names[kept])
    assert np.array_equal(core.history[:, 2], votes.history[kept, 2])
    assert len(core.history) == core.num_votes
