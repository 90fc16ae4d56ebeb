"""Saha and Gaillard, "Versatile Dueling Bandits" (ICML 2022): regret with constant preferences, and
with a reversal.

The text and its experiments were not available: the sets are chosen here. Two sets are constant,
the six rankers and the eight arms of RUCB's paper. The third has the same eight arms, in reverse
order during the first 10,000 comparisons: policies that trust past outcomes might compare the
former best arm with itself for long. Regret is average regret, against the current best arm.

- 200 runs, T = 1e5 by default, with `full` 1e6.
- Versatile-DB with its defaults: two players with separate weights, and reduced variance; REX3
  anytime.
"""

from __future__ import annotations

from jaxduel.studies.papers.best_of_both.choices import (
    ANYTIME,
    CHANGE,
    EXISTING,
    TURNED,
    turned,
)
from jaxduel.studies.papers.best_of_both.claims import (
    CLAIMS,
    STEADY,
    VERSATILE,
)
from jaxduel.studies.papers.paper import Instances, Paper, Size, Sizes, regret
from jaxduel.studies.pictures import Setting
from jaxduel.studies.wanted import Competitor

HORIZON = 100_000
SIZES = Sizes(Size(HORIZON, 200), Size(1_000_000, 200))

COMPETITORS = (
    Competitor(VERSATILE, "Versatile-DB", VERSATILE, {}),
    ANYTIME,
    *EXISTING,
)


INSTANCES = (
    Instances(STEADY[0], "six rankers, $K={}$", SIZES),
    Instances(STEADY[1], "arithmetic, $K={}$", SIZES),
    Instances(TURNED, f"arithmetic, turned at {CHANGE:,}, $K={{}}$", SIZES, turned),
)

PAPER = Paper(
    name="best-of-both",
    panels=tuple(
        regret(f"1{letter}", instances, COMPETITORS)
        for letter, instances in zip("abc", INSTANCES, strict=True)
    ),
    setting=Setting(HORIZON, "average", time_scale="log", regret_scale="log", start=100),
    claims=CLAIMS,
    notes=("The paper's own sets and horizons are not known.",),
    breaks_assumptions=True,
)
