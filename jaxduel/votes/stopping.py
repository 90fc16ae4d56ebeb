"""Rules to stop by: the answer of a policy, or "condorcet", which names arm i when it is clear that
i beats all others.

Evidence of "i beats j" after w votes for i and l for j is a bettor's capital, averaged over the
fixed fraction x of it that is bet on i at even odds:

    E = integral over x from 0 to 1 of (1 + x)^w (1 - x)^l
      = 2^(n + 1) integral over p from 1/2 to 1 of p^w (1 - p)^l,   n = w + l, x = 2 p - 1.

A vote multiplies a bettor's capital by 1 + x (2 p_ij - 1) in the mean, at most 1 if p_ij <= 1/2,
however the pair was chosen. So E is then a supermartingale (at p_ij = 1/2 a martingale) that starts
at 1 and reaches c at some time with probability at most 1 / c (Ville). The rule names i when every
E_ij >= K / delta. Each arm that is no Condorcet winner has an opponent against which that takes
luck of probability delta / K, and there are at most K such arms: a wrong arm is named with
probability at most delta, whatever the policy, however long it runs, and whether or not there is a
Condorcet winner. (With one there are K - 1 such arms, and (K - 1) / delta would do.)

A vote for i raises E and a vote for j lowers it: the factors 1 + x and 1 - x are at least and at
most 1. So E increases with w when n is fixed, and falls when i and j get a vote each, by factors
1 - x^2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.policies import registry
from jaxduel.policies.base import SupportsAnswer
from jaxduel.simulation.cells import Poll

STOPS = ("condorcet", "policy")
"""Names of the ways to stop."""
_SMALLEST_TAIL = 1e-290


def poll_of(
    checkpoints: Sequence[int] | np.ndarray,
    num_arms: int,
    stop: str | None,
    delta: float,
    start: np.ndarray | None = None,
    before: np.ndarray | None = None,
) -> Poll:
    """Votes as the clock of a cell, by arguments of `jaxduel.identify`.

    Args:
      checkpoints: numbers of votes.
      num_arms: K.
      stop, delta: as in `jaxduel.identify`.
      start, before: (K, K) int32, the wins that the policy, and the rule, begin with; None: none.
    """
    needed = asks = None
    if stop == "condorcet":
        most = 0 if before is None else int((before + before.T).max())
        needed = wins_needed(num_arms / delta, most + int(checkpoints[-1]))
    if stop == "policy":
        asks = np.bool_(True)
    return Poll(np.asarray(checkpoints, np.int32), start, before, needed, asks)


def no_answer(policy: str) -> str:
    """The message that a policy, by name, does not stop by itself."""
    able = [x for x in registry.names() if issubclass(registry.policy_class(x), SupportsAnswer)]
    return f"{policy} does not stop by itself, as 'policy' needs; {', '.join(able)} do."


def log_evidence(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """log E of wins and losses of a pair.

    E is 2^(n + 1) B(w + 1, l + 1) P(Beta(w + 1, l + 1) > 1/2) and also, where that tail is below
    the range of floats, F(-w, 1; l + 2; -1) / (l + 1), a hypergeometric sum of falling terms.

    Args:
      wins: counts, any shape.
      losses: counts of a shape that broadcasts with `wins`.

    Returns:
      float64 of the broadcast shape, with absolute errors below 1e-8 up to n = 10^6, and 1e-6 up to
      10^8.

    Example:
      >>> import numpy as np
      >>> from jaxduel.votes.stopping import log_evidence
      >>> np.exp(log_evidence([0, 1, 0, 10], [0, 0, 1, 0])).round(6).tolist()
      [1.0, 1.5, 0.5, 186.090909]
    """
    from scipy.special import betaincc, betaln, hyp2f1

    w, lost = np.broadcast_arrays(np.asarray(wins, np.float64), np.asarray(losses, np.float64))
    tail = betaincc(w + 1, lost + 1, 0.5)
    far = tail < _SMALLEST_TAIL
    log_e = np.asarray((w + lost + 1) * np.log(2) + betaln(w + 1, lost + 1))
    log_e += np.log(np.where(far, 1, tail))
    log_e[far] = np.log(hyp2f1(-w[far], 1, lost[far] + 2, -1) / (lost[far] + 1))
    return log_e


def wins_needed(threshold: float, most: int) -> np.ndarray:
    """The least number of wins among n votes of a pair with which E reaches the threshold.

    Args:
      threshold: K / delta, above 1.
      most: the largest n, below 2^31 - 1.

    Returns:
      (most + 1,) int32 for n = 0..most; n + 1 where no number of wins is enough.

    Example:
      >>> from jaxduel.votes.stopping import wins_needed
      >>> wins_needed(20.0, 12).tolist()  # 7 of 7 are enough, and 10 of 11
      [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11]
    """
    level, deepest = np.log(threshold), most // 2
    widest = 1
    while widest < most and log_evidence(deepest + widest, deepest) < level:
        widest *= 2
    leads = np.arange(min(widest, most) + 1)
    # the most losses at which a lead w - l is enough, -1 if none: E falls when each gets a vote
    enough, too_many = np.full(len(leads), -1), np.full(len(leads), deepest + 1)
    while np.any(too_many - enough > 1):
        middle = np.maximum((enough + too_many) // 2, 0)
        reached = log_evidence(middle + leads, middle) >= level
        enough, too_many = np.where(reached, middle, enough), np.where(reached, too_many, middle)
    # the least lead that is enough at each number of losses, and the most losses among n votes
    losses = np.arange(deepest + 1)
    votes = 2 * losses + np.searchsorted(enough, losses)
    n = np.arange(most + 1)
    return (n - (np.searchsorted(votes, n, side="right") - 1)).astype(np.int32)
