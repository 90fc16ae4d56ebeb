"""States of D-TS, D-TS+ and RCS that fall quiet, and what by: for tests."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from jaxduel.policies.base import Feedback

NAMES = ["dts", "dts+", "rcs"]
OFTEN = ["dts", pytest.param("dts+", marks=pytest.mark.slow), "rcs"]
"""As parameters: D-TS+ falls quiet as D-TS does."""
ARMS, LIMIT = 6, 200
ALPHA = {"dts": 0.51, "dts+": 0.51, "rcs": 0.1}
"""RCS's is such that it falls quiet before its samples are sure."""


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


def expected(name, wins, t):
    """What a step is quiet by, written down from the docstrings, or None if it cannot be.

    Returns:
      The arms of which one is drawn, pairs whose votes decide it, the (i, j) of which j must not
      reply to i, the probability of all that, what kind of state it is, leads that a growing
      bound will reach, and the chances of replies.
    """
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
        return [arm], [(arm, j) for j in others], [], np.prod(1 - chances), "champion", reached, []
    refuted = np.sum((lead >= bound) & (arms[:, None] != arms), axis=0)
    candidates = refuted == refuted.min()
    most = np.max(score[candidates])
    leaders = [i for i in arms if candidates[i] and score[i] == most]
    if len(leaders) > 1 and name == "dts+":
        return None
    rivals = [j for j in arms if candidates[j] and j not in leaders]
    votes = set()
    if rivals or len(leaders) > 1:
        votes = {(i, j) for i in leaders for j in arms if likely[i, j]}
    if len(leaders) > 1:
        votes |= {(j, i) for i in leaders for j in arms if likely[j, i]}
    for rival in rivals:
        beaten_by = [i for i in arms if likely[i, rival]]
        losses = sorted((0 if i in leaders else chance[i, rival], i) for i in beaten_by)
        if len(losses) < num - most:
            return None
        votes |= {(i, rival) for _, i in losses[: num - most]}
    replies = [(i, j) for i in leaders for j in arms if j != i and lead[i, j] >= -bound]
    if not all(likely[i, j] for i, j in replies):
        return None
    chances = [chance[i, j] for i, j in [*votes, *replies]]
    kind = "tied" if len(leaders) > 1 else "alone" if not rivals else "copeland"
    kind = "condorcet" if kind == "copeland" and most == num - 1 else kind
    p, answers = np.prod(1 - np.array(chances)), [chance[i, j] for i, j in replies]
    return leaders, sorted(votes), replies, p, kind, lead[lead >= bound], answers


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
        if event is None or not least < event[3] < most:
            continue
        if np.any((event[5] > bounds[0] - 1e-4) & (event[5] < bounds[1] + 1e-4)):
            continue
        same = found.setdefault(event[4], [])
        if len(same) < each:
            same.append((np.pad(wins, (0, ARMS - num)), t, num, event))
        elif sum(len(same) for same in found.values()) == each * KINDS[name]:
            break
    assert len(found) == KINDS[name]
    assert all(len(same) == each for same in found.values())
    return [state for same in found.values() for state in same]
