"""Copeland Winners Relative Minimum Empirical Divergence (CW-RMED)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Key, Quiet
from jaxduel.policies.copeland_rmed import demands
from jaxduel.policies.copeland_rmed.constraints import table_of
from jaxduel.policies.copeland_rmed.demands import Demand
from jaxduel.policies.copeland_rmed.evidence import Standing
from jaxduel.policies.copeland_rmed.loop import LoopSettings, LoopState
from jaxduel.policies.copeland_rmed.quiet import quiet_run
from jaxduel.policies.copeland_rmed.vertex import TOLERANCE, Vertex, no_vertex, optimal_vertex
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


def _allocate(demand: Demand, now: Standing) -> Demand:
    """Line 11 of CW-RMED; of ECW-RMED if there are several empirical winners (Theorem 6)."""
    efficient = demands.allocate_ecw(demand, now)
    alone = efficient.winners == 1
    vertex = optimal_vertex(demand.program, now, efficient.best, alone)
    e = table_of(vertex.e, len(now.losses))
    given = e > 2 * TOLERANCE
    due = jnp.where(given, jnp.abs(now.lead) / jnp.where(given, e, 1.0), jnp.inf)
    return efficient._replace(
        due_log_t=jnp.where(vertex.found, due, efficient.due_log_t), program=vertex
    )


@register("cw-rmed")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class CWRMED(LoopSettings):
    """CW-RMED, Komiyama, Honda and Nakagawa (ICML 2016), Algorithm 1: asymptotically optimal.

    It is ECW-RMED with another optimum in line 11: q* minimises the regret over all allocations
    that satisfy (2), so that no algorithm explores less for the same certainty (Theorem 3).
    `jaxduel.policies.ECWRMED` has lines 4 to 15 and the readings.

    The linear program of line 11 has constraints for all subsets of arms. It is solved inside the
    step, by a simplex method that finds the most violated constraint by sorting
    (`jaxduel.policies.copeland_rmed.vertex`): constraints hold to 1e-4, and costs are perturbed by
    at most 1e-4 of themselves, so that the regret of q* is within 1e-4 of the optimum, and a pair
    whose q* d is below 2e-4 counts as not needed. The last solution is kept while it stays optimal;
    otherwise a few steps lead from it to the next, unless another arm wins. With several empirical
    Copeland winners, ECW-RMED's optimum is optimal here, too (Theorem 6).

    The state holds (K (K - 1) / 2)^2 numbers, so K is meant to be small: K = 16 takes 58 KB, and
    milliseconds for a solution from e = 0. If the method finds none in 64 K steps, the comparison
    takes ECW-RMED's optimum, and `state.demand.program.stalls` counts it.

    Attributes: those of `LoopSettings`.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("cw-rmed", num_arms=6, line4="pass")
      CWRMED(num_arms=6, line4='pass')
      >>> jd.policies.parameters("cw-rmed")
      {'alpha': 3.0, 'beta': 0.01, 'line4': 'retest'}
    """

    demand_of = staticmethod(partial(demands.demand_with, _allocate))

    def program(self) -> Vertex:
        """No constraints yet."""
        return no_vertex(self.num_arms)

    def quiet(self, state: LoopState, limit: jax.Array, key: Key) -> tuple[LoopState, Quiet]:
        """The comparisons of i* with itself until another pair's turn.

        Their outcomes are ignored, so that i* and the lists change with log t only, by the tests
        that `update` makes: the run ends at the exact comparison.
        """
        return quiet_run(self, state, limit)
