"""Ballots: votes counted while a seed runs, between checkpoints in votes, and a rule that stops.

A vote is a comparison of two different arms. An arm that meets itself casts none, so that seeds
reach a number of votes at different times. Of arms with rewards, every pull counts as a vote.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import UNDECIDED, Batch, Duel, Pull, PullBatch
from jaxduel.policies.counts import duel_result
from jaxduel.simulation.cells import Cell
from jaxduel.simulation.instances import BernoulliArms, GaussianArms
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.likelihood_ratio import Pulled, clearly_best, no_pulls, with_pulls
from jaxduel.simulation.tallies import reordered


class Ballots(NamedTuple):
    """A seed's votes so far, of the policy's arms."""

    votes: jax.Array  # () int32: votes cast, ties included, up to the last checkpoint
    passed: jax.Array  # () int32: checkpoints that are reached
    wins: Any  # (M, K, K) int32: wins of i over j, after checkpoint m - 1 and up to m; of arms with
    # rewards `Pulled`, (M + 1, K) each, the last row of pulls that do not count
    tally: Any  # as `wins` so far, without M, those at the start included; None unless a rule stops
    stopped: Any  # () int32: votes when a rule or the policy stopped, -1 before; None if none stops
    named: Any  # () int32: the arm that the rule named, or the policy's answer; None if none stops


def first_state(cell: Cell, arms: jax.Array, key: jax.Array) -> Any:
    """The policy's state before a seed's first comparison; arms as in the seed's `Setup`."""
    if (poll := cell.poll) is None or poll.start is None:
        return cell.policy.init(key)
    return cell.policy.from_wins(jnp.asarray(poll.start)[arms[:, None], arms], key)


def no_ballots(cell: Cell, arms: jax.Array) -> Ballots | None:
    """Ballots before a seed's first comparison; None for cells without a poll."""
    if cell.poll is None:
        return None
    num, points = arms.shape[0], cell.poll.checkpoints.shape[0]
    pulls = isinstance(cell.instance, GaussianArms | BernoulliArms)
    tally: Any = no_pulls(cell) if pulls else jnp.zeros((num, num), jnp.int32)
    none = Ballots(
        votes=jnp.int32(0),
        passed=jnp.int32(0),
        wins=jax.tree.map(lambda x: jnp.zeros((points + pulls, *x.shape), x.dtype), tally),
        tally=None,
        stopped=jnp.int32(-1) if cell.poll.stops else None,
        named=jnp.int32(UNDECIDED) if cell.poll.stops else None,
    )
    if cell.poll.needed is None:
        return none
    if cell.poll.before is not None:
        tally = jnp.asarray(cell.poll.before)[arms[:, None], arms]
    return _judged(cell, arms, none._replace(tally=tally))


def cast(
    cell: Cell,
    arms: jax.Array,
    ballots: Ballots,
    plan: Duel | Pull,
    outcome: jax.Array,
    counts: jax.Array | bool = True,
) -> Ballots:
    """The ballots after a comparison or a pull, if it counts, as none does once they are full; arms
    as in the seed's `Setup`."""
    if isinstance(plan, Pull):
        return _cast_pull(cell, arms, ballots, plan, outcome, counts)
    learnt = duel_result(plan, outcome)
    winner, loser = learnt.winner, learnt.loser
    amount = jnp.where(counts, learnt.amount, 0)
    wins = ballots.wins.at[ballots.passed, winner, loser].add(amount, mode="drop")
    ballots = _one_more(cell, ballots, counts & (plan.left != plan.right))._replace(wins=wins)
    if ballots.tally is None:
        return ballots
    tally = ballots.tally.at[winner, loser].add(amount, mode="promise_in_bounds")
    ballots = ballots._replace(tally=tally)
    return _stopped(ballots, (amount > 0) & _surely_best(cell, tally, winner), winner)


def _cast_pull(
    cell: Cell,
    arms: jax.Array,
    ballots: Ballots,
    pull: Pull,
    reward: jax.Array,
    counts: jax.Array | bool,
) -> Ballots:
    """`cast` of a pull."""
    num, place = arms.shape[0], jnp.where(counts, ballots.passed, cell.poll.checkpoints.shape[0])
    flat: Pulled = jax.tree.map(lambda x: x.reshape(-1), ballots.wins)
    there = Pull(place * num + pull.arm)
    flat = with_pulls(cell, jnp.tile(arms, len(ballots.wins.pulls)), flat, there, reward)
    wins = jax.tree.map(lambda x: x.reshape(-1, num), flat)
    ballots = _one_more(cell, ballots, jnp.asarray(counts))._replace(wins=wins)
    if ballots.tally is None:
        return ballots
    tally = with_pulls(cell, arms, ballots.tally, pull, reward)
    return _judged(cell, arms, ballots._replace(tally=tally), counts)


def _one_more(cell: Cell, ballots: Ballots, is_vote: jax.Array) -> Ballots:
    """The ballots with one more vote, if it is one, its outcome left out."""
    times, passed = jnp.asarray(cell.poll.checkpoints), ballots.passed
    votes = ballots.votes + is_vote
    reached = is_vote & (votes == times[jnp.minimum(passed, times.shape[0] - 1)])
    return ballots._replace(votes=votes, passed=passed + reached)


def cast_batch(
    cell: Cell, arms: jax.Array, ballots: Ballots, batch: Batch | PullBatch, outcome: jax.Array
) -> Ballots:
    """The ballots after a round. Its outcomes are known at its end: they count from the first
    checkpoint on that does not lie before it, and those of a round that ends after the last
    checkpoint never; arms as in the seed's `Setup`."""
    times, cast = jnp.asarray(cell.poll.checkpoints), jnp.sum(batch.counts, dtype=jnp.int32)
    seen: Any = outcome
    if isinstance(batch, Batch):
        cast -= jnp.trace(batch.counts)
    else:
        seen = with_pulls(cell, arms, no_pulls(cell), batch, outcome)
    votes = ballots.votes + cast
    votes = jnp.where(votes > times[-1], times[-1] + 1, votes)  # no overflow at 2^31 - 1
    seen = jax.tree.map(lambda x: jnp.where(votes <= times[-1], x, 0), seen)
    at = jnp.searchsorted(times, votes)
    ballots = ballots._replace(
        votes=votes,
        passed=jnp.searchsorted(times, votes, side="right").astype(jnp.int32),
        wins=jax.tree.map(lambda x, y: x.at[at].add(y, mode="drop"), ballots.wins, seen),
    )
    if ballots.tally is None:
        return ballots
    tally = jax.tree.map(jnp.add, ballots.tally, seen)
    return _judged(cell, arms, ballots._replace(tally=tally))


def hear(
    cell: Cell, ballots: Ballots | None, state: Any, counts: jax.Array | bool = True
) -> Ballots | None:
    """The ballots after a comparison or a round, if it counts, with the policy's answer, if it is
    asked for."""
    if ballots is None or cell.poll.asks is None:
        return ballots
    answer, last = cell.policy.answer(state), jnp.asarray(cell.poll.checkpoints)[-1]
    return _stopped(ballots, counts & (answer != UNDECIDED) & (ballots.votes <= last), answer)


def is_full(cell: Cell, ballots: Ballots | None) -> jax.Array:
    """True if a seed has reached the last checkpoint in votes, or an answer, if there are any: ()
    bool."""
    if ballots is None:
        return jnp.bool_(False)
    full = ballots.passed == cell.poll.checkpoints.shape[0]
    return full if cell.poll.asks is None else full | (ballots.stopped >= 0)


def votes_left(cell: Cell, ballots: Any) -> np.ndarray:
    """Votes that each seed may still cast, on the host: (lanes,) or (cells, lanes) int32."""
    last = np.asarray(cell.poll.checkpoints)[..., -1:]
    left = np.maximum(last - np.asarray(ballots.votes), 0)
    return left if cell.poll.asks is None else np.where(np.asarray(ballots.stopped) < 0, left, 0)


def recorded(setups: Setup, ballots: Ballots | None) -> Any:
    """The `Ballots` of a block, of the problem's arms, without the tally; None where comparisons
    are the clock."""
    if ballots is None:
        return None
    of_pairs, named = not isinstance(ballots.wins, Pulled), ballots.named
    wins = jax.tree.map(lambda x: reordered(setups.arms, x, of_pairs), ballots.wins)
    if named is not None:
        named = np.asarray(named)
        arms = np.take_along_axis(np.asarray(setups.arms), np.maximum(named, 0)[..., None], -1)
        named = np.where(named < 0, named, arms[..., 0])
    return ballots._replace(wins=wins, tally=None, named=named)


def _judged(
    cell: Cell, arms: jax.Array, ballots: Ballots, counts: jax.Array | bool = True
) -> Ballots:
    """The ballots after the rule has looked at all arms, if the last vote counts."""
    if isinstance(ballots.tally, Pulled):
        is_clear, best = clearly_best(cell, arms, ballots.tally)
        return _stopped(ballots, counts & is_clear, best)
    numbers = jnp.arange(ballots.wins.shape[-1], dtype=jnp.int32)
    are_best = jax.vmap(lambda arm: _surely_best(cell, ballots.tally, arm))(numbers)
    return _stopped(ballots, jnp.any(are_best), jnp.argmax(are_best).astype(jnp.int32))


def _stopped(ballots: Ballots, stops: jax.Array, arm: jax.Array) -> Ballots:
    """The ballots after the rule, or the policy, has named an arm, if it does and had not
    before."""
    stops &= ballots.stopped < 0
    return ballots._replace(
        stopped=jnp.where(stops, ballots.votes, ballots.stopped),
        named=jnp.where(stops, arm, ballots.named),
    )


def _surely_best(cell: Cell, tally: jax.Array, arm: jax.Array) -> jax.Array:
    """True if an arm has as many wins over each other arm as the rule needs: () bool."""
    won, lost = tally[arm], tally[:, arm]
    others = jnp.asarray(cell.policy.active_arms) & (jnp.arange(won.shape[0]) != arm)
    is_active = jnp.asarray(cell.policy.active_arms)[arm]
    return is_active & jnp.all((won >= jnp.asarray(cell.poll.needed)[won + lost]) | ~others)
