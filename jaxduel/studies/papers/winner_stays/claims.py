"""Claims of Chen and Frazier (ICML 2017): the abstract, the introduction, Theorems 1 to 3.

"Smaller than existing algorithms" is measured at the end, against the best policy that plays here;
"does not grow" by the slope of log R over the last decade, with a limit chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from jaxduel.studies.claims import Claim, Measurement, at_least, over, under
from jaxduel.studies.estimates import mean_final
from jaxduel.studies.findings import Finder, over_best
from jaxduel.studies.papers.winner_stays.choices import BETA, BETAS, RIVALS

ORDERED = {(10, 0.6): "order of 10, p = 0.6", (20, 0.8): "order of 20, p = 0.8"}
"""Instances of K arms in which each beats those after it with probability p."""
ARITHMETIC, RANKERS = "arithmetic", "arxiv"
SETS = (*ORDERED.values(), ARITHMETIC, RANKERS)
STRONG = tuple(f"{name}, strong" for name in SETS)
"""The same sets, with strong regret."""

EXISTING = ("rucb", "rmed1", "dts")
FLAT = 0.02
"""Largest slope of log R against log t of regret that does not grow."""


def weak_bound(num_arms: int, p: float) -> float:
    """Theorem 1: WS-W's binary weak regret for ordered arms; p: smallest preference above 1/2."""
    lead = 2 * p - 1
    return 2 * p**3 / lead**6 * num_arms * (math.log(num_arms) + 1) + num_arms / lead**2


def strong_bound(num_arms: int, p: float, beta: float, horizon: int) -> float:
    """Theorem 3: WS-S's binary strong regret for ordered arms, 1 < beta <= p / (1 - p)."""
    lead = 2 * p - 1
    rounds = math.log(horizon * (beta - 1)) / math.log(beta)
    exploring = 2 * p**3 / lead**6 * num_arms * (math.log(num_arms) + 1)
    return exploring + num_arms * rounds / lead


def _bounded(
    find: Finder, policy: str, suffix: str, bound: Callable[[int, float, int], float]
) -> Iterator[Measurement]:
    for (num_arms, p), name in ORDERED.items():
        runs = find.runs.get((name + suffix, policy))
        if runs is not None:
            most = bound(num_arms, p, int(runs.times[-1]))
            share = mean_final(runs).times(1 / most)
            words = f"regret / bound, {runs.label}; bound {most:,.0f}"
            yield Measurement(name + suffix, words, share, under(1.0)(share))


CLAIMS = (
    Claim(
        "winner stays has smaller weak regret than existing algorithms",
        "abstract",
        "WS-W has less binary weak regret than RUCB, RMED1 and D-TS on all four sets",
        *over_best("ws-w", EXISTING, SETS),
    ),
    Claim(
        "winner stays has smaller strong regret than existing algorithms",
        "abstract",
        "WS-S has less binary strong regret than RUCB, RMED1 and D-TS on three of four sets",
        *over_best("ws-s", EXISTING, STRONG),
        at_least(3),
        reason="D-TS has less: WS-S goes on exploring in each of its rounds, whose number grows "
        "with log T / log beta, and beta is small here so that its theorem holds. Which policies "
        "the paper compares is not known.",
        open=(BETAS, RIVALS),
    ),
    Claim(
        "WS-W's weak regret is constant in T",
        "Theorems 1 and 2",
        f"slope of log R over the last decade below {FLAT} on all four sets",
        lambda find: find.slopes(("ws-w",), SETS, under(FLAT)),
        len(SETS),
    ),
    Claim(
        "the weak regret of other algorithms grows",
        "introduction, by its sense",
        f"slope of log R over the last decade above {FLAT}, of each on all four sets",
        lambda find: find.slopes(EXISTING, SETS, over(FLAT)),
        len(SETS),
        reason="RMED1's does not: once it knows the best arm, each of its comparisons is with it, "
        "and costs no weak regret.",
    ),
    Claim(
        "WS-W's weak regret is at most 2 p^3 / (2p - 1)^6 K (log K + 1) + K / (2p - 1)^2",
        "Theorem 1",
        "below the bound on both orders",
        lambda find: _bounded(find, "ws-w", "", lambda k, p, _: weak_bound(k, p)),
        len(ORDERED),
    ),
    Claim(
        "WS-S's strong regret is at most 2 p^3 / (2p - 1)^6 K (log K + 1) + "
        "K log_beta(T (beta - 1)) / (2p - 1)",
        "Theorem 3",
        "below the bound on both orders",
        lambda find: _bounded(
            find, "ws-s", ", strong", lambda k, p, t: strong_bound(k, p, BETA, t)
        ),
        len(ORDERED),
    ),
)
"""Claims about the two figures."""
