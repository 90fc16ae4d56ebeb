"""Evidence of the stopping rule "condorcet", in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction


def evidence(w, lost):
    """2^(n + 1) times the integral over p from 1/2 to 1 of p^w (1 - p)^l, term by term."""
    total = Fraction(0)
    for k in range(lost + 1):  # of the expansion of (1 - p)^l
        power = w + k + 1
        total += (-1) ** k * math.comb(lost, k) * (1 - Fraction(1, 2**power)) / power
    return 2 ** (w + lost + 1) * total


def log_evidence_of_many(w, lost, bits=300):
    """Its logarithm by integrating by parts w times, E(w, l) = (1 + w E(w - 1, l + 1)) / (l + 1),
    in fixed point."""
    one = 1 << bits
    value = one // (w + lost + 1)
    for k in range(1, w + 1):
        value = (one + k * value) // (w + lost - k + 1)
    return math.log(value) - bits * math.log(2)


def wins_needed(threshold, most):
    """By trying all numbers of wins."""
    needed = []
    for n in range(most + 1):
        enough = [w for w in range(n + 1) if evidence(w, n - w) >= threshold]
        needed.append(min(enough, default=n + 1))
    return needed
