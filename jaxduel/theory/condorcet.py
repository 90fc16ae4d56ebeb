"""Bounds for instances with a Condorcet winner: constants of log T, and the votes to name it.

Papers: Komiyama, Honda, Kashima and Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling
Bandit Problem" (COLT 2015), Theorem 1 and the theorem on RMED1. A policy has to know of each arm
that one of its superiors beats it, no more: a tie of other arms does no harm. Kaufmann, Cappe and
Garivier, "On the Complexity of Best-Arm Identification in Multi-Armed Bandit Models" (JMLR 2016),
whose Lemma 1, on changes of measure, is applied to pairs here.

Of an array they are functions of JAX (`jaxduel.theory`): NaN without a Condorcet winner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.policies.checks import require_probability
from jaxduel.problems import DuelingProblem
from jaxduel.theory.divergence import divergence_from_half, namespace
from jaxduel.theory.margins import Instance, best_arm, evaluate, has_condorcet_winner


def condorcet_lower_bound(instance: Instance, regret: str = "average") -> Any:
    """The least constant of log T of a policy that is consistent on all Condorcet instances.

    The sum over all arms i but the winner of min_j r_ij / d(p_ij, 1/2), over the j that beat i;
    r_ij = (g_i + g_j) / 2. RMED2 and RMED2FH attain it. Consistency on all Copeland instances can
    cost more (`copeland_lower_bound`).

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      regret: the kind of the gaps g (`DuelingProblem.gaps`): "average" as in the paper, or
        "copeland".

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), or an unknown regret.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.condorcet_lower_bound(problem):.3f}"
      '0.815'
      >>> f"{jd.theory.condorcet_lower_bound(problem, regret='copeland'):.3f}"
      '5.434'
    """
    return _of_regret(_LOWER, instance, regret)


def rmed1_constant(instance: Instance, regret: str = "average") -> Any:
    """The constant of log T of RMED1: that of comparing every arm i with the winner w only.

    The sum over i != w of r_iw / d(p_iw, 1/2).

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      regret: "average" or "copeland", as for `condorcet_lower_bound`.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), or an unknown regret.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.rmed1_constant(problem):.3f}"  # the lower bound: 0.815
      '7.450'
    """
    return _of_regret(_RMED1, instance, regret)


def _of_regret(
    formulas: Mapping[str, Callable[[Any], Any]], instance: Instance, regret: str
) -> Any:
    require_known("regret", regret, formulas)
    return evaluate(formulas[regret], instance, _require_winner, has_condorcet_winner)


def _require_winner(problem: DuelingProblem) -> None:
    if problem.condorcet_winner is None:
        raise InputError(
            f"'{problem.name}' has no Condorcet winner, which this bound needs: use "
            "copeland_lower_bound."
        )


def _average_gaps(x: Any) -> Any:
    """p_wj - 1/2 of the Condorcet winner w: (K,)."""
    return x[best_arm(x)] / 2


def _copeland_gaps(x: Any) -> Any:
    """(largest score - score_j) / (K - 1): (K,)."""
    xp = namespace(x)
    scores = xp.sum(x > 0, axis=1)
    return (xp.max(scores) - scores).astype(x.dtype) / (len(x) - 1)


def _costs(x: Any, gaps: Any) -> Any:
    """r_ij / d(p_ij, 1/2) where arm j beats arm i, infinite elsewhere: (K, K)."""
    xp = namespace(x)
    beaten = x < 0
    divergence = divergence_from_half(xp.where(beaten, x, 1.0))
    return xp.where(beaten, (gaps[:, None] + gaps[None, :]) / 2 / divergence, xp.inf)


def _lower(x: Any, gaps: Callable[[Any], Any]) -> Any:
    xp = namespace(x)
    least = xp.min(_costs(x, gaps(x)), axis=1)
    return xp.sum(xp.where(xp.any(x < 0, axis=1), least, 0.0))


def _rmed1(x: Any, gaps: Callable[[Any], Any]) -> Any:
    xp = namespace(x)
    winner = best_arm(x)
    return xp.sum(xp.where(x[:, winner] < 0, _costs(x, gaps(x))[:, winner], 0.0))


_GAPS = {"average": _average_gaps, "copeland": _copeland_gaps}
_LOWER = {regret: partial(_lower, gaps=gaps) for regret, gaps in _GAPS.items()}
_RMED1 = {regret: partial(_rmed1, gaps=gaps) for regret, gaps in _GAPS.items()}


def identification_lower_bound(instance: Instance, delta: float) -> Any:
    """Expected votes needed to name the Condorcet winner w with error probability delta.

    The sum over all other arms j of kl(1 - delta, delta) / d(p_wj, 1/2); kl and d are Bernoulli
    divergences, and kl(1 - delta, delta) = (1 - 2 delta) log((1 - delta) / delta).

    It bounds every policy with a stopping rule that, on each instance, names an arm that is not the
    Condorcet winner with probability at most delta, if on this instance it stops with probability
    one. It holds for every delta, not only in the limit; from 1/2 on it is 0. A vote compares two
    different arms i and j, and i wins with probability p_ij.

    Proof. Fix j, and change p_wj alone to some p' <= 1/2: then w is no Condorcet winner. Let A_n be
    the event that w is named after at most n votes, and N_n the number of votes between w and j
    among those. The law of a history of n votes (fewer, if it stops) has the divergence
    E[N_n] d(p_wj, p') from that on the changed instance, by the chain rule, since only votes
    between w and j differ. The divergence of A_n's indicator is at most that:
    kl(P(A_n), P'(A_n)) <= E[N_n] d(p_wj, p'). As n grows P(A_n) rises to P(w is named) >= 1 - delta
    and P'(A_n) <= delta throughout; kl(a, b) increases with a and decreases with b where a >= b.
    Hence E[N] d(p_wj, p') >= kl(1 - delta, delta) if delta < 1/2. As p_wj > 1/2 the strongest of
    these constraints is that of p' = 1/2; if draws are no instances, that of p' in the limit to
    1/2. So much for the votes between w and j: those of different j add up.

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      delta: a probability, strictly between 0 and 1.

    Returns:
      A float, in votes; of an array a JAX scalar, differentiable.

    Raises:
      InputError: delta is no such probability, or no Condorcet winner (unless traced).

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.6, 0.8], [0.4, 0.5, 0.5], [0.2, 0.5, 0.5]])
      >>> f"{jd.theory.identification_lower_bound(problem, delta=0.05):.1f}"
      '145.4'
    """
    require_probability(delta, "delta")
    information = (1 - 2 * delta) * math.log((1 - delta) / delta) if delta < 0.5 else 0.0
    return evaluate(_votes, instance, _require_one_to_name, has_condorcet_winner, information)


def _require_one_to_name(problem: DuelingProblem) -> None:
    if problem.condorcet_winner is None:
        raise InputError(f"'{problem.name}' has no Condorcet winner, which this bound is about.")


def _votes(x: Any, information: Any) -> Any:
    xp = namespace(x)
    beaten = x[best_arm(x)]
    divergence = divergence_from_half(xp.where(beaten > 0, beaten, 1.0))
    return information * xp.sum(xp.where(beaten > 0, 1.0 / divergence, 0.0))
