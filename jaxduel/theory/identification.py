"""Comparisons or pulls that a policy needs to name the best arm with a small error.

Papers: Kaufmann, Cappe and Garivier, "On the Complexity of Best-Arm Identification in Multi-Armed
Bandit Models" (JMLR 2016), whose Lemma 1, on changes of measure, is applied to pairs here; Garivier
and Kaufmann, "Optimal Best Arm Identification with Fixed Confidence" (COLT 2016), Theorem 1, of
arms with rewards.
"""

from __future__ import annotations

import math
from typing import Any

from jaxduel.errors import InputError
from jaxduel.policies.checks import require_probability
from jaxduel.problems import ArmsProblem, DuelingProblem
from jaxduel.theory.characteristic_time import characteristic_time
from jaxduel.theory.divergence import divergence_from_half, namespace
from jaxduel.theory.hardness import one_best_arm
from jaxduel.theory.margins import Instance, best_arm, evaluate, has_condorcet_winner

DELTA = 0.05
"""The probability of an error in reports."""


def identification_lower_bound(instance: Instance | ArmsProblem, delta: float) -> Any:
    """Expected votes needed to name the Condorcet winner w with error probability delta; of arms
    with rewards, expected pulls needed to name the best arm.

    Of arms with rewards kl(1 - delta, delta) times T* (`characteristic_time`). Of comparisons the
    sum over all other arms j of kl(1 - delta, delta) / d(p_wj, 1/2); kl and d are Bernoulli
    divergences, and kl(1 - delta, delta) = (1 - 2 delta) log((1 - delta) / delta).

    It bounds every policy with a stopping rule that, on each instance, names an arm that is not the
    best with probability at most delta, if on this instance it stops with probability one. It holds
    for every delta, not only in the limit; from 1/2 on it is 0. A vote compares two different arms
    i and j, and i wins with probability p_ij.

    Proof, of comparisons. Fix j, and change p_wj alone to some p' <= 1/2: then w is no Condorcet
    winner. Let A_n be the event that w is named after at most n votes, and N_n the number of votes
    between w and j among those. The law of a history of n votes (fewer, if it stops) has the
    divergence E[N_n] d(p_wj, p') from that on the changed instance, by the chain rule, since only
    votes between w and j differ. The divergence of A_n's indicator is at most that:
    kl(P(A_n), P'(A_n)) <= E[N_n] d(p_wj, p'). As n grows P(A_n) rises to P(w is named) >= 1 - delta
    and P'(A_n) <= delta throughout; kl(a, b) increases with a and decreases with b where a >= b.
    Hence E[N] d(p_wj, p') >= kl(1 - delta, delta) if delta < 1/2. As p_wj > 1/2 the strongest of
    these constraints is that of p' = 1/2; if draws are no instances, that of p' in the limit to
    1/2. So much for the votes between w and j: those of different j add up. Of pulls, the best arm
    and a rival are moved to a common mean, which gives a constraint for each rival on the pulls of
    both; kl(1 - delta, delta) T* is the least total that satisfies them all.

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner. Or arms with
        rewards, one of them the best.
      delta: a probability, strictly between 0 and 1.

    Returns:
      A float, in votes or pulls; of an array a JAX scalar, differentiable.

    Raises:
      InputError: delta is no such probability, no Condorcet winner (unless traced), or several best
        arms.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.6, 0.8], [0.4, 0.5, 0.5], [0.2, 0.5, 0.5]])
      >>> f"{jd.theory.identification_lower_bound(problem, delta=0.05):.1f}"
      '145.4'
      >>> arms = jd.problems.gaussian([0.6, 0.5])
      >>> f"{jd.theory.identification_lower_bound(arms, delta=0.05):.0f}"  # 800 kl(0.05, 0.95)
      '2120'
    """
    require_probability(delta, "delta")
    information = (1 - 2 * delta) * (math.log1p(-delta) - math.log(delta)) if delta < 0.5 else 0.0
    if isinstance(instance, ArmsProblem):
        one_best_arm(instance, "identification_lower_bound")
        return information * characteristic_time(instance).time
    return evaluate(_votes, instance, _require_one_to_name, has_condorcet_winner, information)


def _require_one_to_name(problem: DuelingProblem) -> None:
    if problem.condorcet_winner is None:
        raise InputError(f"'{problem.name}' has no Condorcet winner, which this bound is about.")


def _votes(x: Any, information: Any) -> Any:
    xp = namespace(x)
    beaten = x[best_arm(x)]
    divergence = divergence_from_half(xp.where(beaten > 0, beaten, 1.0))
    return information * xp.sum(xp.where(beaten > 0, 1.0 / divergence, 0.0))
