"""Quiet runs of CW-RMED and ECW-RMED."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.crossing import count_while_true
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Quiet
from jaxduel.policies.copeland_rmed import loop
from jaxduel.policies.copeland_rmed.demands import Demand
from jaxduel.policies.copeland_rmed.loop import LoopSettings, LoopState

_LAST = jnp.iinfo(jnp.int32).max


class _Lists(NamedTuple):
    """The lists of pairs at time t."""

    queue: jax.Array  # (ceil(K / 32), K) uint32: L_R
    waiting: jax.Array  # (ceil(K / 32), K) uint32: L_N
    t: jax.Array  # () int32: comparisons made


def quiet_run(policy: LoopSettings, state: LoopState, limit: jax.Array) -> tuple[LoopState, Quiet]:
    """The comparisons of an arm with itself that come next, and the state after them.

    They teach nothing, so that i* and the lists change with log t alone. A comparison may end a
    pass. Then i*, if it alone is listed, is compared, listed again and begins the next pass, until
    others join or i* changes: all these comparisons are one turn of the loop. In two more turns
    others may join and begin their pass. The run ends before a comparison after which line 4 or
    line 11 must be computed anew.

    Args:
      policy: the policy.
      state: before the run.
      limit: () int32, the most comparisons that the run may have.
    """
    demand, end = state.demand, state.t + limit
    soonest = jnp.min(demand.due_log_t)
    arm, right = loop.first(state.queue)
    able = (arm == right) & ~loop.some(state.forced) & ~state.stale
    itself = arm_sets.only(arm, arm, policy.num_arms)

    def calm(t: jax.Array) -> jax.Array:
        """True if line 4 surely finds no pair before comparison t + 1: () bool."""
        following = jnp.minimum(t, _LAST - 1) + 1
        return state.fewest >= loop.line4_at(policy, following).least

    def due(lists: _Lists) -> jax.Array:
        left, right = loop.first(lists.queue)
        return able & (left == arm) & (right == arm) & (lists.t < end)

    def turn(carry: tuple[_Lists, jax.Array]) -> tuple[_Lists, jax.Array]:
        (queue, waiting, t), _ = carry
        alone = ~loop.some(waiting | (queue ^ itself))
        reach = _reach(demand, soonest, arm, t + 1)
        still = jnp.where(alone, end - t, 0)
        t = t + count_while_true(lambda t: (reach >= loop.log_of(t)) & calm(t), t, still)
        number = jnp.minimum(t, end - 1) + 1
        new = loop.next_lists(demand, queue, waiting, itself, number)
        plays = (t < end) & (~loop.line4_comes(policy, new[2]) | calm(number))
        lists = _Lists(
            jnp.where(plays, new[0], queue), jnp.where(plays, new[1], waiting), t + plays
        )
        return lists, plays & due(lists)

    lists = _Lists(state.queue, state.waiting, state.t)
    lists, _ = lax.while_loop(lambda carry: carry[1], turn, (lists, due(lists)))
    return state._replace(**lists._asdict()), Quiet(arm, lists.t - state.t)


def _reach(demand: Demand, soonest: jax.Array, arm: jax.Array, t: jax.Array) -> jax.Array:
    """The log t up to which, from t on, i* is `arm` and no pair is due; -1 if not so at t.

    The first pair is due at `soonest`. `arm` is i* while it is the first confident winner. If no
    other winner is confident for longer, and `arm` is line 11's choice, it stays i* until a pair is
    due.
    """
    confident, best = loop.winner(demand, t)
    until = demand.confident_until[arm]
    stays = (demand.best == arm) & (~confident | (until >= jnp.max(demand.confident_until)))
    reach = jnp.where(confident, until, -1.0)
    reach = jnp.where(stays, jnp.maximum(reach, soonest), reach)
    return jnp.where(best == arm, reach, -1.0)
