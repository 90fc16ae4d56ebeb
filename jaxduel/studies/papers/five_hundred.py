"""The 500 arms of Zoghi et al. (NIPS 2015) and of Wu and Liu (NIPS 2016), with gaps of 0.4.

The texts give the order of the arms (`jaxduel.problems.copeland_cycle`), not their gaps. Policies
go through most of the 124,750 pairs before they settle. With gaps of 0.4 this takes a sixteenth of
the time of the catalogue's gaps of 0.1.
"""

from __future__ import annotations

import math

from jaxduel.problems import DuelingProblem, copeland_cycle

NUM_ARMS, GAP = 500, 0.4
NAME = f"copeland{NUM_ARMS}-gap-{GAP}"
TITLE = f"3-cycle above an order, $K={NUM_ARMS}$, gaps {GAP}"


def problem() -> DuelingProblem:
    """Three Copeland winners in a cycle above a total order."""
    return copeland_cycle(NUM_ARMS, GAP)


def settling_time() -> int:
    """T that suffices to separate all pairs, each with error 1 / T by Hoeffding's inequality: the
    root of T = K (K - 1) / 2 * log T / (2 gap^2), to two digits.

    Before this time, ratios of regrets only compare exploration; claims are judged from then on.
    """
    unit = NUM_ARMS * (NUM_ARMS - 1) / 2 / (2 * GAP**2)
    time = unit
    for _ in range(50):
        time = unit * math.log(time)
    return int(float(f"{time:.1e}"))
