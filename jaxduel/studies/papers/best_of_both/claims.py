"""Claims of Saha and Gaillard (ICML 2022): the abstract, paraphrased.

"Logarithmic" is judged by a slope of log R below that of sqrt t, and "sqrt(K T)" by the limit
`LIMIT` sqrt(K T): both limits are chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from jaxduel.studies.claims import Claim, Judge, Measurement, over, under
from jaxduel.studies.estimates import mean_final
from jaxduel.studies.findings import Finder, over_best
from jaxduel.studies.papers.best_of_both.choices import CHANGE, CHANGES, NUM_ARMS, RIVALS, TURNED

STEADY = ("arxiv", "arithmetic")
VERSATILE = "versatile-db"
OTHERS = ("dts", "rmed1", "rucb")
LIMIT = 4.0
"""Tsallis-INF's constant of sqrt(K T)."""


def _in_roots(find: Finder, policies: Sequence[str], judge: Judge) -> Iterator[Measurement]:
    """Regret on the instance that turns, in units of sqrt(K T)."""
    for policy in policies:
        runs = find.runs.get((TURNED, policy))
        if runs is not None:
            root = math.sqrt(NUM_ARMS * runs.times[-1])
            number = mean_final(runs).times(1 / root)
            words = f"R / sqrt(K T), {runs.label}"
            yield Measurement.judged(TURNED, words, number, judge)


CLAIMS = (
    Claim(
        "logarithmic regret where outcomes are independent",
        "abstract, by its sense",
        "slope of log R over the last decade below 0.5 on both sets that do not change",
        lambda find: find.slopes((VERSATILE,), STEADY, under(0.5)),
        len(STEADY),
    ),
    Claim(
        "regret of the order of sqrt(K T) where outcomes are chosen by an adversary",
        "abstract, by its sense",
        f"regret below {LIMIT:g} sqrt(K T) on the set that changes",
        partial(_in_roots, policies=(VERSATILE,), judge=under(LIMIT)),
        1,
    ),
    Claim(
        "policies for independent outcomes break down where preferences turn round",
        "not in the paper",
        f"D-TS, RMED1 and RUCB have regret above {LIMIT:g} sqrt(K T) there",
        partial(_in_roots, policies=OTHERS, judge=over(LIMIT)),
        len(OTHERS),
        reason=f"One turn after {CHANGE:,} comparisons is not enough: they doubt the former best "
        "arm as the evidence turns, and settle on the new one.",
        open=(CHANGES,),
    ),
    Claim(
        "it outperforms existing algorithms",
        "abstract, by its sense",
        "less regret than D-TS, RMED1 and RUCB on all three sets",
        *over_best(VERSATILE, OTHERS, (*STEADY, TURNED)),
        reason="Policies that trust independent outcomes have less regret where outcomes are "
        "independent, and after one turn, too. Which policies the paper compares is not known.",
        open=(RIVALS,),
    ),
)
"""Claims about figure 1."""
