"""Chen and Frazier, "Dueling Bandits with Weak Regret" (ICML 2017): weak and strong regret.

The abstract claims smaller regret than existing algorithms on simulated and real data; the sets, T
and beta of its figures were not available. Figure 1 here has binary weak regret, comparisons
without the Condorcet winner, figure 2 binary strong regret, all comparisons but those of the
Condorcet winner with itself, both on four sets: two orders of 10 and 20 arms, the eight arms of
RUCB's paper, and the six rankers.

Chosen here:

- T = 1e5 and 200 runs by default, with `full` 1e6 and 500.
- The existing algorithms: RUCB, RMED1 and D-TS; and Beat the Winner, a later policy for weak
  regret, which enters no claim.
- beta = 1.1 for WS-S, at most p / (1 - p), the condition of Theorem 3, except on the six rankers.
  These also have a tied pair, which the theorems do not cover.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.papers.paper import Instances, Paper, Size, Sizes, regret
from jaxduel.studies.papers.winner_stays.choices import BETA, EXISTING
from jaxduel.studies.papers.winner_stays.claims import (
    ARITHMETIC,
    CLAIMS,
    ORDERED,
    RANKERS,
    SETS,
    STRONG,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.wanted import Competitor

HORIZON = 100_000
SIZES = Sizes(Size(HORIZON, 200), Size(1_000_000, 500))

WSW = Competitor("ws-w", "WS-W", "ws-w", {}, quick=True)
WSS = Competitor("ws-s", f"WS-S, beta = {BETA:g}", "ws-s", {"beta": BETA}, quick=True)
BTW = Competitor("beat-the-winner", "Beat the Winner", "beat-the-winner", {}, quick=True)


def ordered(num_arms: int, p: float) -> DuelingProblem:
    """Each arm beats those after it with probability p."""
    lead = np.triu(np.full((num_arms, num_arms), p - 0.5), 1)
    return problems.from_matrix(0.5 + lead - lead.T)


MAKERS: dict[str, Callable[[], DuelingProblem]] = {
    **{name: partial(ordered, *sizes) for sizes, name in ORDERED.items()},
    **{name: partial(problems.load, name) for name in (ARITHMETIC, RANKERS)},
}
TITLES = {
    **{name: f"order of $K={{}}$, $p={p:g}$" for (_, p), name in ORDERED.items()},
    ARITHMETIC: "arithmetic, $K={}$",
    RANKERS: "six rankers, $K={}$",
}


PAPER = Paper(
    name="winner-stays",
    panels=(
        *(
            regret(
                f"1{letter}",
                Instances(name, TITLES[name], SIZES, MAKERS[name]),
                (WSW, WSS, BTW, *EXISTING),
                "weak regret",
            )
            for letter, name in zip("abcd", SETS, strict=True)
        ),
        *(
            regret(
                f"2{letter}",
                Instances(strong, TITLES[name], SIZES, MAKERS[name], regret="binary strong"),
                (WSS, *EXISTING),
                "strong regret",
            )
            for letter, name, strong in zip("abcd", SETS, STRONG, strict=True)
        ),
    ),
    setting=Setting(HORIZON, "binary weak", time_scale="log", regret_scale="log", start=10),
    claims=CLAIMS,
    notes=(
        "The sets, horizons and beta of the paper's own figures are not known.",
        "The six rankers have a tied pair, and beta = 1.1 exceeds p / (1 - p) there.",
    ),
    breaks_assumptions=True,
)
