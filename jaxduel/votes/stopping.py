"""Rules to stop by: the answer of a policy; "condorcet", which names arm i when it is clear that i
beats all others; and, of arms with rewards, "glr" (`jaxduel.simulation.likelihood_ratio`).

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

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.policies import registry
from jaxduel.policies.base import SupportsAnswer
from jaxduel.simulation.cells import Poll

STOPS = ("condorcet", "glr", "policy")
"""Names of the ways to stop."""
_SMALLEST_TAIL = 1e-290


def poll_of(
    checkpoints: Sequence[int] | np.ndarray,
    num_arms: int,
    stop: str | None,
    delta: float,
    start: np.ndarray | None = None,
    before: np.ndarray | None = None,
    rewards: str | None = None,
) -> Poll:
    """Votes, of arms with rewards pulls, as the clock of a cell, by arguments of
    `jaxduel.identify`.

    Args:
      checkpoints: numbers of votes.
      num_arms: K.
      stop, delta: as in `jaxduel.identify`.
      start, before: (K, K) int32, the wins that the policy, and the rule, begin with; None: none.
      rewards: the law of the rewards, "gaussian" or "bernoulli"; None: arms are compared.
    """
    needed = asks = None
    if stop == "condorcet":
        most = 0 if before is None else int((before + before.T).max())
        needed = wins_needed(num_arms / delta, most + int(checkpoints[-1]))
    if stop == "glr":
        needed = np.float32(level_of(rewards or "", num_arms, delta))
    if stop == "policy":
        asks = np.bool_(True)
    return Poll(np.asarray(checkpoints, np.int32), start, before, needed, asks)


def stops_of(rewards: bool) -> tuple[str, ...]:
    """The ways to stop of arms with rewards, or of arms that are compared."""
    other = "condorcet" if rewards else "glr"
    return tuple(name for name in STOPS if name != other)


def level_of(rewards: str, num_arms: int, delta: float) -> float:
    """The level of "glr" for an error of at most `delta`: twice the threshold of one arm for half
    of x = log((K - 1) / delta), as each of the K - 1 arms may lead the best one wrongly.

    The threshold is C(x / 2) = min of (g(y) + x / 2) / y over y in (1/2, 1), with g(y) = 2 y -
    2 y log(4 y) + log zeta(2 y) - log(1 - y) / 2, of Gaussian rewards (Kaufmann and Koolen 2021,
    Corollary 10), and their function T at x / 2 of Bernoulli ones (Theorem 7).

    Args:
      rewards: the law of the rewards, "gaussian" or "bernoulli".
      num_arms: K, at least 2.
      delta: strictly between 0 and 1.

    Example:
      >>> from jaxduel.votes.stopping import level_of
      >>> round(level_of("gaussian", 2, 0.1), 3), round(level_of("bernoulli", 2, 0.1), 3)
      (5.341, 18.792)
    """
    x = math.log((num_arms - 1) / delta) / 2
    return 2 * (_gaussian_level(x) if rewards == "gaussian" else _bernoulli_level(x))


def _gaussian_level(x: float) -> float:
    """C(x) of `level_of`, to a relative 1e-9."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def ratio(y: float) -> float:
        g = 2 * y * (1 - math.log(4 * y)) + math.log(zeta(2 * y)) - math.log1p(-y) / 2
        return (g + x) / y

    return float(minimize_scalar(ratio, bounds=(0.5, 1), method="bounded").fun)


def _bernoulli_level(x: float) -> float:
    """T(x) of `level_of`: 2 h((u(1 + x) + log(2 zeta(2))) / 2), where u - log u is inverted by
    u(y), and h(y) = exp(1 / u(y)) u(y), or z (y - log log z) with z = 3/2 below 1 / log z at u."""
    z = 1.5
    y = (_inverse(1 + x) + math.log(math.pi**2 / 3)) / 2
    least = 1 / math.log(z)
    if y < least - math.log(least):
        return 2 * z * (y - math.log(math.log(z)))
    u = _inverse(y)
    return 2 * math.exp(1 / u) * u


def _inverse(y: float) -> float:
    """The u >= 1 with u - log u = y, y >= 1."""
    from scipy.special import lambertw

    return float(-lambertw(-math.exp(-y), -1).real)


def no_answer(policy: str) -> str:
    """The message that a policy, by name, does not stop by itself."""
    classes = {name: registry.policy_class(name) for name in registry.names()}
    pulls = policy in classes and registry.pulls_arms(classes[policy])
    able = [
        name
        for name, one in classes.items()
        if issubclass(one, SupportsAnswer) and registry.pulls_arms(one) == pulls
    ]
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
