"""`replay`: a policy that is fed with the votes of a log."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.policies.base import Duel, SupportsSkip
from jaxduel.policies.checks import (
    MAX_HORIZON,
    require_horizon,
    require_policy,
    whole_number,
)
from jaxduel.simulation import checkpoints as times
from jaxduel.simulation.ballots import recorded
from jaxduel.simulation.blocks import plan_kind
from jaxduel.simulation.cells import Cell, Poll, Program
from jaxduel.simulation.compiling import shared
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.lanes import set_up
from jaxduel.simulation.provenance import policy_record, provenance
from jaxduel.simulation.replay import Log, replayed
from jaxduel.votes.collecting import Orders
from jaxduel.votes.counts import Votes, require_votes
from jaxduel.votes.fitting import fit
from jaxduel.votes.found import Found, Truth
from jaxduel.votes.recommending import RULES, order

ORDERS = ("logged", "random")
"""Orders in which the votes of a pair come."""
_BLOCK_BYTES = 2**28
_MOST_LANES = 64


def replay(
    policy: Any,
    votes: Votes,
    num_seeds: int = 100,
    seed: int = 0,
    checkpoints: Any = None,
    *,
    rule: str = "btl",
    votes_in: str | None = None,
    horizon: int = MAX_HORIZON,
) -> Found:
    """Feeds a policy with the logged votes of the pairs that it asks for, instead of new ones.

    Each vote is used once. A run ends when the policy asks for a pair without votes left, which is
    the limit of any replay: a policy that settles on few pairs soon outruns a log that was
    collected evenly, and its later answers are unknown. `Found.cast` has the votes that each run
    used. A tie tells the policy nothing.

    Args:
      policy: a policy that makes one comparison at a time, with the log's number of arms.
      votes: the log.
      num_seeds: number of runs, which differ in the policy's randomness and the order of the arms.
      seed: root of all randomness.
      checkpoints: numbers of votes, increasing, at most the log's; about 50 evenly in their log if
        None.
      rule: the rule that names the best arm, one of `jaxduel.votes.RULES`. The right arm is the one
        it names by the whole log: `Found.correct` says how soon a run agrees with the log, not with
        the truth.
      votes_in: "logged", the order of the log, if the file has a vote a row; or "random", another
        order for each run. By default "logged" where possible.
      horizon: most comparisons of a run, of an arm with itself included.

    Returns:
      What was found; after its end a run keeps the arm that it named.

    Raises:
      InputError: for a policy that does not compare one pair at a time, or arguments out of range.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 80, 90], [20, 0, 70], [10, 30, 0]])
      >>> found = jd.votes.replay(jd.policies.make("rucb", num_arms=3), votes, num_seeds=20)
      >>> bool(found.correct["btl"][:, -1].mean() > 0.8), found.cast.shape
      (True, (20,))
    """
    require_policy(policy, "replay")
    require_votes(votes, "replay")
    registry.validate(policy)
    if plan_kind(policy) is not Duel:
        raise InputError(f"{registry.name_of(policy)} does not compare one pair at a time.")
    if int(np.sum(policy.active_arms)) != policy.num_arms or policy.num_arms != votes.num_arms:
        raise InputError(
            f"replay: the policy has {int(np.sum(policy.active_arms))} arms, and {votes.name} has "
            f"{votes.num_arms}."
        )
    num_seeds = whole_number(num_seeds, 1, "num_seeds")
    horizon = whole_number(horizon, 1, "horizon")
    require_horizon(horizon, "replay")
    require_known("rule", rule, RULES)
    if votes_in is not None:
        require_known("value of votes_in", votes_in, ORDERS)
    if votes_in == "logged" and votes.history is None:
        raise InputError(f"{votes.name} has counts, not votes in their order: votes_in='random'.")
    if votes.num_votes >= MAX_HORIZON:
        raise InputError(f"{votes.name} has {votes.num_votes:,} votes: fewer than 2^31 - 1 fit.")
    grid = times.resolve(checkpoints, int(votes.num_votes))
    poll = Poll(grid.astype(np.int32))
    num, root = votes.num_arms, root_key(seed)
    policy = registry.to_32_bits(policy)
    program = Program(type(policy), skips=isinstance(policy, SupportsSkip))
    cell = Cell(policy, None, None, None, poll=poll)  # type: ignore[arg-type]
    log = _log(votes, in_order=votes.history is not None and votes_in != "random")
    lanes = max(min(_MOST_LANES, num_seeds, _BLOCK_BYTES // (4 * len(grid) * num**2)), 1)
    orders = Orders(None, poll, _truth(votes, rule), [rule], num_seeds, root)
    with shared(device := jax.local_devices()[0]):
        cell, log = jax.device_put((jax.tree.map(jnp.asarray, cell), log), device)
        for first in range(0, num_seeds, lanes):
            indices = np.arange(first, first + lanes, dtype=np.int32)
            setups, keys = set_up(root, indices, np.ones(num, bool), True)
            lane = replayed(cell, log, setups, keys, jnp.int32(horizon), program=program)
            orders.keep(first, recorded(setups, lane.ballots))
    asked = {
        "policy": policy_record(policy),
        **{"num_seeds": num_seeds, "seed": seed, "rule": rule, "votes": grid.tolist()},
        "votes_in": ORDERS[log.outcomes is None],
    }
    name = asked["policy"]["name"]
    return orders.found(num_seeds, name, votes.name, provenance(asked, lanes))


def _log(votes: Votes, in_order: bool) -> Log:
    """The votes as the loop reads them."""
    log = Log(votes.wins.astype(np.int32), votes.ties.astype(np.int32))
    if not in_order or votes.history is None:
        return log
    low, high = np.sort(votes.history[:, :2], axis=1).T
    outcomes = np.where(votes.history[:, 0] < votes.history[:, 1], 1, -1) * votes.history[:, 2]
    pairs = low.astype(np.int64) * votes.num_arms + high
    by_pair = np.argsort(pairs, kind="stable")
    places = np.searchsorted(pairs[by_pair], np.arange(votes.num_arms**2))
    first = places.reshape(votes.num_arms, votes.num_arms)
    first = np.where(np.triu(np.ones_like(first, dtype=bool)), first, first.T)
    return log._replace(first=first.astype(np.int32), outcomes=outcomes[by_pair].astype(np.int8))


def _truth(votes: Votes, rule: str) -> Truth:
    """The order by the whole log, as the truth."""
    arms = order(rule, votes.wins, np.linspace(0, 0.5, votes.num_arms))
    scores = np.empty(votes.num_arms)
    scores[arms] = np.arange(votes.num_arms, 0, -1)
    gaps = fit(votes, "free").problem.gaps("copeland")
    return Truth(rule, scores, (int(arms[0]),), gaps)
