"""Regret bounds of PCOMP, SCOMP and SCOMP2, after T comparisons in B rounds.

Paper: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), section 3. All values
are for "average" regret, (eps_i + eps_j) / 2 with eps_j = p_wj - 1/2 > 0 for a Condorcet winner w.

Its appendix B bounds the comparisons of a pair that survives r rounds, c_1 + ... + c_{r+1} with
c_r = q^r and q = T^(1/B), by 2 q c_r, which needs q >= 2. For 1 < q < 2 the sum is below q^2 c_r /
(q - 1), or 3/2 of that if c_r = floor(q^r) as played. The proof has a factor of 3/2 to spare, so
that Theorem 3.1 holds for all B if q^2 / (2 (q - 1)) takes the place of q < 2.

Of an array they are functions of JAX (`jaxduel.theory`): NaN without a Condorcet winner.
"""

from __future__ import annotations

import math
from typing import Any

from jaxduel.errors import InputError
from jaxduel.policies.checks import whole_number
from jaxduel.problems import DuelingProblem, broken_assumptions
from jaxduel.theory.divergence import namespace
from jaxduel.theory.margins import Instance, best_arm, evaluate, has_condorcet_winner, on_host

MOST_BATCHES = 100_000
"""Most batches in a report: bounds of grids of times take time in their number."""


def pcomp_bound(instance: Instance, horizon: int, num_batches: int) -> Any:
    """An upper bound on PCOMP's expected regret, Theorem 3.1: 3 K T^(1/B) log(6 T K^2 B) sum_j
    1 / eps_j; where q = T^(1/B) < 2, with q^2 / (2 (q - 1)) in place of q.

    Of `elimination="hoeffding"`; the default loses the best arm in some runs and may exceed it.

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      horizon: T.
      num_batches: B, from 2 to T.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), or B outside 2..T.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("arxiv")
      >>> [round(jd.theory.pcomp_bound(problem, 10_000, num_batches)) for num_batches in (2, 4)]
      [2287648, 239143]
    """
    growth = _comparisons(horizon, num_batches)
    total = evaluate(_sum_of_inverse_gaps, instance, _require_gaps, has_condorcet_winner)
    arms = _num_arms(instance)
    return 3 * arms * growth * math.log(6 * horizon * arms**2 * num_batches) * total


def scomp_order(instance: Instance, horizon: int, num_batches: int) -> Any:
    """The argument of the O() of SCOMP's regret, Theorem 3.2: an order, not a bound.

    sqrt(K) T^(1/B) log T sum_j 1 / eps_j, with T^(1/B) replaced as in `pcomp_bound`. The text loses
    the square root; its section 1.4 and its proof, where the seed set has sqrt(K) arms, have it. Of
    `elimination="hoeffding"` only.

    Args:
      instance: a problem, or a (K, K) array of preferences; with strong stochastic transitivity and
        the stochastic triangle inequality, which are tested of problems only, since arrays have
        them up to rounding at best.
      horizon: T.
      num_batches: B, from 2 to T.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), SST or STI does not hold of a problem, or B
        outside 2..T.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.arithmetic(4)
      >>> round(jd.theory.scomp_order(problem, 10_000, num_batches=2))
      67542
    """
    growth = _comparisons(horizon, num_batches) * math.log(horizon)
    _require_order(instance)
    total = evaluate(_sum_of_inverse_gaps, instance, _require_gaps, has_condorcet_winner)
    return math.sqrt(_num_arms(instance)) * growth * total


def scomp2_order(instance: Instance, horizon: int, num_batches: int) -> Any:
    """The argument of the O() of SCOMP2's regret, Theorem 3.4: an order, not a bound.

    K B T^(1/B) log T / min_j eps_j. Of `elimination="hoeffding"` only; arguments, result and errors
    as `scomp_order`.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.arithmetic(4)
      >>> round(jd.theory.scomp2_order(problem, 10_000, num_batches=2))
      147365
    """
    growth = _growth(horizon, num_batches) * math.log(horizon)
    _require_order(instance)
    largest = evaluate(_largest_inverse_gap, instance, _require_gaps, has_condorcet_winner)
    return _num_arms(instance) * num_batches * growth * largest


def require_rounds(horizon: float, num_batches: int, least: int = 2, letter: str = "B") -> None:
    """Raises InputError unless `least` <= B <= T, whole numbers, which the theorems assume."""
    whole_number(horizon, 1, "the horizon")
    whole_number(num_batches, 0, "the number of batches")
    if not least <= num_batches <= horizon:
        raise InputError(
            f"{num_batches} batches for T = {horizon}: the theorems need {least} <= {letter} <= T."
        )


def rounds_asked_for(
    horizon: float | None, num_batches: int | None, least: int = 2, letter: str = "B"
) -> tuple[int, int] | None:
    """T and B of a report; None if both are left out.

    Raises:
      InputError: for one without the other, and as `require_rounds`.
    """
    if (horizon is None) != (num_batches is None):
        raise InputError("bounds of batched policies need the horizon and the number of batches.")
    if horizon is None or num_batches is None:
        return None
    require_rounds(horizon, num_batches, least, letter)
    if num_batches > MOST_BATCHES:
        raise InputError(
            f"{letter} must be at most {MOST_BATCHES:,} in a report of bounds, not {num_batches:,}."
        )
    return int(horizon), int(num_batches)


def _growth(horizon: int, num_batches: int) -> float:
    """T^(1/B)."""
    require_rounds(horizon, num_batches)
    return horizon ** (1 / num_batches)


def _comparisons(horizon: int, num_batches: int) -> float:
    """T^(1/B), or what replaces it below 2: half the comparisons of a pair, in units of c_r."""
    q = _growth(horizon, num_batches)
    return max(q, q**2 / (2 * (q - 1)))


def _num_arms(instance: Instance) -> int:
    return instance.num_arms if isinstance(instance, DuelingProblem) else len(instance)


def _require_gaps(problem: DuelingProblem) -> None:
    """Raises InputError where there is no Condorcet winner."""
    problem.gaps("average")


def _require_order(instance: Instance) -> None:
    broken = broken_assumptions(instance, ("sst", "sti")) if on_host(instance) else []
    if broken:
        raise InputError(broken[0])


def _inverse_gaps(x: Any) -> Any:
    """1 / eps_j of margins, 0 for the winner: (K,)."""
    xp = namespace(x)
    row = x[best_arm(x)]
    return xp.where(row == 0, 0.0, 2.0 / xp.where(row == 0, 1.0, row))


def _sum_of_inverse_gaps(x: Any) -> Any:
    return namespace(x).sum(_inverse_gaps(x))


def _largest_inverse_gap(x: Any) -> Any:
    return namespace(x).max(_inverse_gaps(x))
