"""Next pairs: against policies' own steps, one by one, and the laws of simple ones."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.numerics.threefry import fold_in
from jaxduel.policies.base import WITHHELD, Batch
from jaxduel.pytrees import register_dataclass
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.memory_maps import forget_programs
from jaxduel.votes import asking
from tests.votes.cases import drawn

pytestmark = pytest.mark.usefixtures("quick_compilation")

VOTES = drawn(np.random.default_rng(5), per_pair=6)
ARMS = VOTES.num_arms


def unordered(pairs):
    """How often each pair is there, whatever its sides."""
    return Counter(tuple(sorted(pair)) for pair in pairs)


def test_round_robin_asks_for_all_pairs_equally_often():
    policy = jd.policies.make("round-robin", num_arms=ARMS)
    for rounds in (1, 3):
        pairs = jd.votes.next_pairs(VOTES, policy, num=10 * rounds)
        assert unordered(pairs) == dict.fromkeys(combinations(range(ARMS), 2), rounds)


def test_uniform_asks_for_pairs_of_different_arms_uniformly():
    policy = jd.policies.make("uniform", num_arms=ARMS)
    pairs = jd.votes.next_pairs(VOTES, policy, num=40_000)
    assert len(pairs) == 40_000
    assert all(left != right for left, right in pairs)
    ordered = Counter(pairs)
    expected, cells = 2_000, ARMS * (ARMS - 1)
    error = np.sqrt(expected * (1 - 1 / cells))
    assert len(ordered) == cells
    assert max(abs(times - expected) for times in ordered.values()) <= 4 * error


def asked_by_arenas_rule(wins, num, rng):
    """Number of times that each pair is asked for at once, those asked counting as compared."""
    pairs = np.triu_indices(len(wins), 1)
    n, asked = (wins + wins.T)[pairs], np.zeros(len(pairs[0]), int)
    m = (wins[pairs] + 1) / (n + 2)
    for _ in range(num):
        if (unmet := n + asked == 0).any():
            weight = unmet * 1.0
        else:
            weight = np.sqrt(m * (1 - m)) * ((n + asked) ** -0.5 - (n + asked + 1) ** -0.5)
        asked[rng.choice(len(asked), p=weight / weight.sum())] += 1
    return asked


def test_arena_asks_at_once_for_what_it_would_ask_for_one_after_another():
    """A pair that never met comes first, and not alone: mean counts of 20 pairs."""
    wins = np.array([[0, 50, 30, 0], [40, 0, 30, 30], [10, 20, 0, 20], [0, 10, 20, 0]])
    votes, policy = jd.votes.from_counts(wins), jd.policies.make("arena", num_arms=4, epsilon=0.0)
    found = []
    for seed in range(60):
        pairs = jd.votes.next_pairs(votes, policy, 20, seed)
        assert set(pairs[0]) == {0, 3}
        found.append([unordered(pairs)[pair] for pair in combinations(range(4), 2)])
    rng = np.random.default_rng(0)
    expected = np.array([asked_by_arenas_rule(wins, 20, rng) for _ in range(600)])
    error = expected.std(axis=0) * np.sqrt(1 / 60 + 1 / 600)
    assert (np.abs(np.mean(found, axis=0) - expected.mean(axis=0)) <= 4 * error).all()
    assert expected.mean(axis=0)[2] < 18


def one_by_one(policy, votes, num, seed=0):
    """The pairs by the policy's own methods: outcomes withheld, no quiet runs skipped, comparisons
    of an arm with itself left out."""
    known = int(votes.wins.sum())
    arms = np.random.default_rng([seed, known]).permutation(votes.num_arms)
    key = fold_in(root_key(seed), known)
    wins = jnp.asarray(votes.wins[np.ix_(arms, arms)], jnp.int32)
    state, pairs, clock = policy.from_wins(wins, fold_in(key, 0)), [], known
    act, update = jax.jit(policy.act), jax.jit(policy.update)
    while len(pairs) < num:
        one = fold_in(fold_in(key, 1), clock)
        plan = act(state, one)
        state = update(state, plan, jnp.int32(WITHHELD), one)
        clock += 1
        if plan.left != plan.right:
            pairs.append((int(arms[plan.left]), int(arms[plan.right])))
    return pairs


SURE = jd.votes.from_counts(np.where(np.eye(3, dtype=bool), 0, [[0, 9, 9], [3, 0, 9], [3, 3, 0]]))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        pytest.param("dts", {"self_duels": False}, marks=pytest.mark.slow),
        pytest.param("dts", {}, marks=pytest.mark.slow),
        pytest.param("rucb", {}, marks=pytest.mark.thorough),
        ("uniform", {}),
        pytest.param("arena", {}, marks=pytest.mark.slow),
    ],
)
def test_pairs_are_those_of_the_policy_one_by_one(name, parameters, monkeypatch):
    class Unskipped:
        """No policy's protocol: quiet runs are stepped through, not drawn."""

    monkeypatch.setattr(asking, "SupportsSkip", Unskipped)
    forget_programs()
    for votes in (VOTES, SURE):
        policy = jd.policies.make(name, num_arms=votes.num_arms, **parameters)
        assert jd.votes.next_pairs(votes, policy, num=12) == one_by_one(policy, votes, 12)
    forget_programs()


@pytest.mark.slow
def test_pairs_have_the_same_law_with_quiet_runs_skipped(monkeypatch):
    """D-TS, the first pair of 1,200 seeds each: shares of unordered pairs."""
    policy = jd.policies.make("dts", num_arms=3)

    def shares():
        forget_programs()
        firsts = [jd.votes.next_pairs(SURE, policy, 1, seed)[0] for seed in range(1_200)]
        times = unordered(firsts)
        return np.array([times[pair] for pair in ((0, 1), (0, 2), (1, 2))]) / 1_200

    skipped = shares()
    monkeypatch.setattr(asking, "SupportsSkip", type("Unskipped", (), {}))
    stepped = shares()
    forget_programs()
    middle = (skipped + stepped) / 2
    error = np.sqrt(2 * middle * (1 - middle) / 1_200)
    assert (np.abs(skipped - stepped) <= 4 * error).all()
    assert (middle > 0).sum() >= 2


class Rounds(NamedTuple):
    """Wins so far."""

    wins: jax.Array  # (K, K) int32


@register_dataclass
@dataclass(frozen=True, kw_only=True)
class LeastSeen:
    """Batches of three comparisons of each pair that has been compared least."""

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    def init(self, key):
        return Rounds(jnp.zeros((self.num_arms, self.num_arms), jnp.int32))

    def from_wins(self, wins, key):
        return Rounds(wins)

    def act(self, state, key):
        seen = state.wins + state.wins.T
        pairs = jnp.triu(jnp.ones_like(seen, dtype=bool), 1)
        least = jnp.min(jnp.where(pairs, seen, jnp.iinfo(jnp.int32).max))
        return Batch(jnp.where(pairs & (seen == least), 3, 0).astype(jnp.int32))

    def update(self, state, plan, outcome, key):
        return Rounds(state.wins + outcome)


def test_a_policy_of_batches_of_ones_own_gives_its_next_round():
    wins = np.ones((4, 4), int) - np.eye(4, dtype=int)
    wins[0, 1] = wins[2, 3] = 0
    policy = LeastSeen(num_arms=4, active_arms=jnp.ones(4, bool))
    for num in (1, 50):
        pairs = jd.votes.next_pairs(jd.votes.from_counts(wins), policy, num)
        assert unordered(pairs) == {(0, 1): 3, (2, 3): 3}


def test_seeds_and_further_votes_draw_other_numbers():
    policy = jd.policies.make("uniform", num_arms=ARMS)
    first = jd.votes.next_pairs(VOTES, policy)
    assert first == jd.votes.next_pairs(VOTES, policy)
    assert first != jd.votes.next_pairs(VOTES, policy, seed=1)
    wins = VOTES.wins.copy()
    wins[0, 1] += 1
    assert first != jd.votes.next_pairs(jd.votes.from_counts(wins), policy)
    ties = np.zeros_like(wins)
    ties[0, 1] = ties[1, 0] = 1
    assert first != jd.votes.next_pairs(jd.votes.from_counts(VOTES.wins, ties), policy)
    assert first[:5] == jd.votes.next_pairs(VOTES, policy, num=5)


@pytest.mark.parametrize(
    ("policy", "num", "message"),
    [
        ("uniform", 0, "num must be a whole number of at least 1"),
        ("uniform", 100_001, "num must be at most 100,000"),
        ("ucb1", 1, "ucb1 pulls arms"),
        ("savage", 1, "savage cannot start from win counts"),
    ],
)
def test_bad_input_is_refused(policy, num, message):
    made = jd.policies.make(policy, num_arms=ARMS, horizon=1_000)
    with pytest.raises(InputError, match=message):
        jd.votes.next_pairs(VOTES, made, num)


def test_what_is_no_policy_or_seed_is_refused():
    with pytest.raises(InputError, match="the policy must be an object with the fields"):
        jd.votes.next_pairs(VOTES, "rucb")
    with pytest.raises(InputError, match=r"seed must be from 0 to 2\^32 - 1, not -1"):
        jd.votes.next_pairs(VOTES, jd.policies.make("uniform", num_arms=ARMS), seed=-1)
    with pytest.raises(InputError, match=r"next_pairs: the votes must be such as .* type str"):
        jd.votes.next_pairs("votes.csv", jd.policies.make("uniform", num_arms=ARMS))


def test_a_policy_of_another_number_of_arms_is_refused():
    with pytest.raises(InputError, match="the policy has 4 arms, and votes has 5"):
        jd.votes.next_pairs(VOTES, jd.policies.make("uniform", num_arms=4))
