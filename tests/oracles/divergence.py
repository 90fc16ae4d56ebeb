"""The divergence of a coin from a fair one."""

from __future__ import annotations

import math


def kl_half(p: float) -> float:
    """The Bernoulli divergence D_KL(p, 1/2)."""
    return sum(x * math.log(2 * x) for x in (p, 1 - p) if x > 0)
