"""What is proved of PCOMP, SCOMP and SCOMP2: regret after T comparisons in B rounds.

Paper: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), section 3. All values
are for "average" regret, (eps_i + eps_j) / 2 with eps_j = p_wj - 1/2 > 0 for a Condorcet winner w.
"""

from __future__ import annotations

import math

import numpy as np

from jaxduel.errors import InputError
from jaxduel.problems import DuelingProblem, broken_assumptions
from jaxduel.theory.condorcet import winner_gaps


def pcomp_bound(problem: DuelingProblem, horizon: int, num_batches: int) -> float:
    """An upper bound on PCOMP's expected regret, Theorem 3.1: 3 K T^(1/B) log(6 T K^2 B) sum_j
    1 / eps_j.

    Args:
      problem: the instance, with a Condorcet winner.
      horizon: T.
      num_batches: B, from 2 to T.

    Raises:
      InputError: no Condorcet winner, or B outside 2..T.
    """
    growth = _growth(horizon, num_batches)
    arms = problem.num_arms
    confidence = math.log(6 * horizon * arms**2 * num_batches)
    return 3 * arms * growth * confidence * float(np.sum(1 / winner_gaps(problem)))


def scomp_order(problem: DuelingProblem, horizon: int, num_batches: int) -> float:
    """What stands in the O() of SCOMP's regret, Theorem 3.2: an order, not a bound.

    sqrt(K) T^(1/B) log T sum_j 1 / eps_j. The text loses the square root; its section 1.4 and its
    proof, where the seed set has sqrt(K) arms, have it.

    Args:
      problem: the instance, with strong stochastic transitivity and the stochastic triangle
        inequality.
      horizon: T.
      num_batches: B, from 2 to T.

    Raises:
      InputError: no Condorcet winner, SST or STI does not hold, or B outside 2..T.
    """
    growth = _growth(horizon, num_batches) * math.log(horizon)
    return math.sqrt(problem.num_arms) * growth * float(np.sum(1 / _ordered_gaps(problem)))


def scomp2_order(problem: DuelingProblem, horizon: int, num_batches: int) -> float:
    """What stands in the O() of SCOMP2's regret, Theorem 3.4: an order, not a bound.

    K B T^(1/B) log T / min_j eps_j.

    Args:
      problem: the instance, with strong stochastic transitivity and the stochastic triangle
        inequality.
      horizon: T.
      num_batches: B, from 2 to T.

    Raises:
      InputError: no Condorcet winner, SST or STI does not hold, or B outside 2..T.
    """
    growth = _growth(horizon, num_batches) * math.log(horizon)
    return problem.num_arms * num_batches * growth / float(np.min(_ordered_gaps(problem)))


def require_rounds(horizon: int, num_batches: int) -> None:
    """Raises InputError unless 2 <= B <= T, which the theorems assume."""
    if not 2 <= num_batches <= horizon:
        raise InputError(f"{num_batches} batches for T = {horizon}: the theorems need 2 <= B <= T.")


def _growth(horizon: int, num_batches: int) -> float:
    """T^(1/B)."""
    require_rounds(horizon, num_batches)
    return horizon ** (1 / num_batches)


def _ordered_gaps(problem: DuelingProblem) -> np.ndarray:
    broken = broken_assumptions(problem, ("sst", "sti"))
    if broken:
        raise InputError(broken[0])
    return winner_gaps(problem)
