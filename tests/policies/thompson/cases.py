"""Samples of the oracles; states of D-TS, D-TS+ and RCS that fall quiet, and what by: for tests."""

import itertools
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from jaxduel.policies.base import Feedback, SupportsSharedSkip
from jaxduel.policies.thompson.leaders import MOST_CANDIDATES


def samples(upper: dict[tuple[int, int], float], num_arms: int) -> np.ndarray:
    """theta with these values for i < j, 1 - theta for j > i."""
    theta = np.full((num_arms, num_arms), 0.5)
    for (i, j), value in upper.items():
        theta[i, j], theta[j, i] = value, 1 - value
    return theta


CYCLE = samples({(0, 1): 0.9, (1, 2): 0.7, (0, 2): 0.4}, 3)
"""0 beats 1, 1 beats 2, 2 beats 0."""

NAMES = ["dts", "dts+", "rcs"]
OFTEN = ["dts", pytest.param("dts+", marks=pytest.mark.slow), "rcs"]
"""As parameters: D-TS+ falls quiet as D-TS does."""
ARMS, LIMIT = 6, 200
ALPHA = {"dts": 0.51, "dts+": 0.51, "rcs": 0.1}
"""RCS's is such that it falls quiet before its samples are sure."""


def quiet_of(policy, state, limit, key):
    """The quiet run that comes next, of several arms where the policy tells which."""
    if isinstance(policy, SupportsSharedSkip) and policy.tells_which:
        return policy.quiet_among(state, limit, key, jnp.ones(policy.num_arms, bool))
    return policy.quiet(state, limit, key)


def record_of(state):
    return state.record if hasattr(state, "record") else state


def at(policy, wins, t):
    """The state of a policy that has seen these wins in t comparisons."""
    told = policy.learn(policy.init(jax.random.key(0)), Feedback(wins, jnp.zeros_like(wins)))
    if hasattr(told, "record"):
        often = jnp.argmax(jnp.sum(wins > wins.T, axis=1))  # a run makes it champion, and no rarest
        champions = told.champions.at[often].set(1)
        return told._replace(record=told.record._replace(t=t), champions=champions)
    return told._replace(t=t)


@cache
def _ways(num):
    """All ways that votes may fall, and the pairs."""
    pairs = list(itertools.combinations(range(num), 2))
    return np.array(list(itertools.product((True, False), repeat=len(pairs)))), pairs


def leads_of(chance, candidates):
    """How likely each candidate is to win most votes, uniformly if several do, by going through all
    ways that the votes may fall: (K, K) probabilities that i wins against j, (K,) bool."""
    ways, pairs = _ways(len(chance))
    weight, votes = np.ones(len(ways)), np.zeros((len(ways), len(chance)), np.int8)
    for way, (i, j) in zip(ways.T, pairs, strict=True):
        weight *= np.where(way, chance[i, j], chance[j, i])
        votes[:, i] += way
        votes[:, j] += ~way
    votes[:, ~candidates] = -1
    first = votes == votes.max(axis=1, keepdims=True)
    return np.sum((weight / first.sum(axis=1))[:, None] * first, axis=0) / weight.sum()


class Event(NamedTuple):
    """What a step is quiet by."""

    votes: Any  # the pairs whose votes decide it
    replies: Any  # the (i, j) of which j must not reply to i
    chance: float  # of all that
    weights: Any  # of the arms that then meet themselves, which sum to 1
    kind: str  # of state
    reached: Any  # leads that a growing bound will reach


def expected(name, wins, t):
    """What a step is quiet by, written down from the docstrings, or None if it cannot be."""
    num = len(wins)
    ahead, n = wins - wins.T, wins + wins.T
    lead = np.sign(ahead) * ahead**2 / np.maximum(4 * n, 1)
    bound, likely = ALPHA[name] * np.log(t + 1), wins > wins.T
    chance = special.betainc(wins + 1, wins.T + 1, 0.5)  # of i to lose the vote against j
    arms, score = np.arange(num), likely.sum(axis=1)
    if name == "rcs":
        arm = int(np.argmax(score))
        others = arms[arms != arm]
        upper = wins[others, arm] / n[others, arm] + np.sqrt(bound / n[others, arm])
        if not likely[arm, others].all() or upper.max() >= 0.5:
            return None
        chances = chance[arm, others]
        reached = lead[arm, others]
        votes = [(arm, j) for j in others]
        return Event(votes, [], np.prod(1 - chances), arms == arm, "champion", reached)
    refuted = np.sum((lead >= bound) & (arms[:, None] != arms), axis=0)
    candidates = refuted == refuted.min()
    most = np.max(score[candidates])
    leaders = [i for i in arms if candidates[i] and score[i] == most]
    if len(leaders) > 1 and name == "dts+":
        return None
    rivals = [j for j in arms if candidates[j] and j not in leaders]
    many = len(leaders) > MOST_CANDIDATES
    failing = {i: 1 - np.prod(1 - chance[i, likely[i]]) for i in leaders}
    winners = leaders if many else [min(leaders, key=lambda i: failing[i])]
    votes = set()
    if rivals or many:
        votes = {(i, j) for i in winners for j in arms if likely[i, j]}
    if many:
        votes |= {(j, i) for i in leaders for j in arms if likely[j, i]}
    for rival in rivals:
        beaten_by = [i for i in arms if likely[i, rival]]
        losses = sorted((0 if i in winners else chance[i, rival], i) for i in beaten_by)
        if len(losses) < num - most:
            return None
        votes |= {(i, rival) for _, i in losses[: num - most]}
    given = 1 - chance
    for i, j in votes:
        given[i, j], given[j, i] = 1, 0
    certain = np.prod([1 - chance[i, j] for i, j in votes])
    leads = leads_of(given, np.isin(arms, leaders)) if certain > 0.5 else np.isin(arms, leaders)
    replies = [(i, j) for i in leaders for j in arms if j != i and lead[i, j] >= -bound]
    silent = np.ones(num)
    for i, j in replies:
        silent[i] *= 1 - chance[i, j]
    kind = "tied" if len(leaders) > 1 else "alone" if not rivals else "copeland"
    kind = "condorcet" if kind == "copeland" and most == num - 1 else "many" if many else kind
    quietly = np.sum(leads * silent)
    weights = leads * silent / quietly
    return Event(sorted(votes), replies, certain * quietly, weights, kind, lead[lead >= bound])


KINDS = {"dts": 4, "dts+": 3, "rcs": 1}


def states(name, each, least=0.55, most=0.97):
    """States of 2 to 6 arms that fall quiet, `each` of every kind: wins, t, arms and `expected`."""
    rng, found = np.random.default_rng(NAMES.index(name)), {}
    for _ in range(20_000):
        num = int(rng.integers(2, ARMS + 1))
        better = rng.uniform(0.55, 0.95, (num, num))
        cycle = np.triu(np.ones((num, num), bool), 1)
        cycle[0, 1:] = rng.random(num - 1) < 0.75
        p = np.where(cycle, better, 1 - better)
        n = 2 * rng.integers(4, 60, (num, num)) + 1
        wins = np.triu(rng.binomial(n, p), 1)
        wins = wins + np.triu(n - wins, 1).T
        t = int(10 ** rng.uniform(2, 5))
        event = expected(name, wins, t)
        bounds = ALPHA[name] * np.log([t + 1, t + LIMIT + 1])
        if event is None or not least < event.chance < most:
            continue
        if np.any((event.reached > bounds[0] - 1e-4) & (event.reached < bounds[1] + 1e-4)):
            continue
        same = found.setdefault(event.kind, [])
        if len(same) < each:
            same.append((np.pad(wins, (0, ARMS - num)), t, num, event))
        elif sum(len(same) for same in found.values()) == each * KINDS[name]:
            break
    assert len(found) == KINDS[name]
    assert all(len(same) == each for same in found.values())
    return [state for same in found.values() for state in same]
