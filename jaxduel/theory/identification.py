"""Votes that it takes to name the Condorcet winner: a lower bound for every policy.

Paper: Kaufmann, Cappe and Garivier, "On the Complexity of Best-Arm Identification in Multi-Armed
Bandit Models" (JMLR 2016), whose Lemma 1, on changes of measure, is applied to pairs here.

Of an array it is a function of JAX (`jaxduel.theory`): NaN without a Condorcet winner.
"""

from __future__ import annotations

import math
from typing import Any

from jaxduel.errors import InputError
from jaxduel.policies.checks import require_probability
from jaxduel.problems import DuelingProblem
from jaxduel.theory.divergence import divergence_from_half, namespace
from jaxduel.theory.margins import Instance, best_arm, evaluate, has_condorcet_winner


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
    return evaluate(_votes, instance, _require_winner, has_condorcet_winner, information)


def _require_winner(problem: DuelingProblem) -> None:
    if problem.condorcet_winner is None:
        raise InputError(f"'{problem.name}' has no Condorcet winner, which this bound is about.")


def _votes(x: Any, information: Any) -> Any:
    xp = namespace(x)
    beaten = x[best_arm(x)]
    divergence = divergence_from_half(xp.where(beaten > 0, beaten, 1.0))
    return information * xp.sum(xp.where(beaten > 0, 1.0 / divergence, 0.0))
