"""The replay loop: a policy that is fed logged votes of the pairs it asks for, until one has none.

The outcomes of a pair come in their order or, where only counts are known, as from an urn: each of
the votes that are left is equally likely, which is a random order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.threefry import bits, fold_in, uniform23
from jaxduel.policies.base import SupportsSkip
from jaxduel.simulation.ballots import Ballots, cast, is_full, no_ballots
from jaxduel.simulation.cells import Cell, Program, each_lane
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.lanes import Setup


class Log(NamedTuple):
    """Logged votes, of the problem's arms."""

    wins: Any  # (K, K) int32
    ties: Any  # (K, K) int32, symmetric
    first: Any = None  # (K, K) int32: place of a pair's first vote, symmetric; None: any order
    outcomes: Any = None  # (N,) int8: 1 where the arm of the smaller number won, -1, 0 for a tie


class ReplayLane(NamedTuple):
    """The part of a seed that changes while it runs."""

    state: Any  # the policy's
    t: jax.Array  # () int32: comparisons made
    wins: jax.Array  # (K, K) int32: logged wins that are left, of the problem's arms
    ties: jax.Array  # (K, K) int32, symmetric
    ballots: Ballots
    over: jax.Array  # () bool: a pair had no vote left


@compiled_once(static_argnames="program")
def replayed(
    cell: Cell, log: Log, setups: Setup, keys: jax.Array, horizon: jax.Array, *, program: Program
) -> ReplayLane:
    """The lanes of a block at their end: a pair without votes, all checkpoints, or the horizon.

    Args:
      cell: the policy and a poll; it has no instance.
      log: the votes.
      setups, keys: of the seeds, as `set_up` makes them.
      horizon: () int32, most comparisons of a seed.
      program: the program.
    """

    def start(cell: Cell, setup: Setup, key: jax.Array) -> ReplayLane:
        ballots = no_ballots(cell, setup.arms)
        assert ballots is not None
        return ReplayLane(
            cell.policy.init(key), jnp.int32(0), log.wins, log.ties, ballots, jnp.bool_(False)
        )

    def goes_on(cell: Cell, _: Setup, lane: ReplayLane) -> jax.Array:
        return ~lane.over & (lane.t < horizon) & ~is_full(cell, lane.ballots)

    def compare(cell: Cell, setup: Setup, lane: ReplayLane) -> ReplayLane:
        later = _compare(cell, setup, lane, log, horizon)
        stays = later.over | ~goes_on(cell, setup, lane)
        kept = jax.tree.map(lambda new, old: jnp.where(stays, old, new), later, lane)
        return kept._replace(over=later.over)

    some, one = each_lane(goes_on, program), each_lane(compare, program)
    return lax.while_loop(
        lambda lanes: jnp.any(some(cell, setups, lanes)),
        lambda lanes: one(cell, setups, lanes),
        each_lane(start, program)(cell, setups, keys),
    )


def _compare(
    cell: Cell, setup: Setup, lane: ReplayLane, log: Log, horizon: jax.Array
) -> ReplayLane:
    """One comparison, with the quiet run before it; it means nothing where the lane is over."""
    policy, state, t = cell.policy, lane.state, lane.t
    if isinstance(cell.policy, SupportsSkip):
        state, run = cell.policy.quiet(state, horizon - 1 - t, fold_in(setup.quiet, t))
        t = t + run.n
    key = fold_in(setup.policy, t + 1)
    plan = policy.act(state, key)
    i, j = setup.arms[plan.left], setup.arms[plan.right]
    won, lost, tied = lane.wins[i, j], lane.wins[j, i], lane.ties[i, j]
    left = won + lost + tied
    noise = uniform23(bits(fold_in(setup.environment, t + 1), ()))
    drawn = (noise * left.astype(jnp.float32)).astype(jnp.int32)
    outcome = jnp.where(drawn < won, 1, jnp.where(drawn < won + lost, -1, 0))
    if log.outcomes is not None:
        total = log.wins[i, j] + log.wins[j, i] + log.ties[i, j]
        logged = log.outcomes[log.first[i, j] + total - left].astype(jnp.int32)
        outcome = jnp.where(i < j, logged, -logged)
    coin = jnp.where(noise < 0.5, 1, -1)
    outcome = jnp.where(i == j, coin, outcome).astype(jnp.int32)
    asks, is_tie = i != j, (i != j) & (outcome == 0)
    return ReplayLane(
        state=policy.update(state, plan, outcome, key),
        t=t + 1,
        wins=lane.wins.at[i, j]
        .add(-(asks & (outcome > 0)).astype(jnp.int32))
        .at[j, i]
        .add(-(asks & (outcome < 0)).astype(jnp.int32)),
        ties=lane.ties.at[i, j]
        .add(-is_tie.astype(jnp.int32))
        .at[j, i]
        .add(-is_tie.astype(jnp.int32)),
        ballots=cast(cell, setup.arms, lane.ballots, plan, outcome),
        over=lane.over | (asks & (left == 0)),
    )
