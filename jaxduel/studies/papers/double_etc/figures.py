"""Jin, Xu, Xiao and Gu, "Double Explore-then-Commit" (COLT 2021): Figure 1, and a study of the
parameters that it does not give.

Given in the text: two Gaussian arms, D = 0.2, T up to 1e6, 10,000 runs; regret against T, and D
times regret / log T at the end in the legend: UCB 1.06, DETC-UG (Algorithm 2) 1.15, DETC-KG
(Algorithm 1) 0.68; also BAI-ETC 1.60 and SPRT-ETC 0.80, which jaxduel does not have.

Left open by the text, and chosen here:

- T_1 of DETC-UG and epsilon of DETC-KG, "tuning parameters": Figure 1 has the values of the theory,
  study "s1" the final regret against each.
- UCB's index: that of UCB1 with log t.
- Variance 1, which the constants of the asymptotic lines take: 2/D log T for DETC-UG, log T / (2 D)
  for DETC-KG.
- Algorithms that know T run anew for each horizon: 30, 100, 300, ... At T = 10 the gap is too small
  for DETC-KG's formulas (T D^2 < 1).
- By default 1,000 runs, with `full` 10,000.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxduel import problems
from jaxduel.studies.papers.double_etc.claims import CLAIMS
from jaxduel.studies.papers.double_etc.entries import (
    COMMIT_PULLS,
    EPSILONS,
    GAP,
    KNOWN_GAP,
    UCB1,
    UNKNOWN_GAP,
    WHERE,
    known_gap,
    unknown_gap,
)
from jaxduel.studies.papers.paper import (
    Instances,
    Lineup,
    Order,
    Panel,
    Paper,
    Size,
    Sizes,
    regret,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.varied import Axis, Point, VariedLine, VariedPicture
from jaxduel.studies.wanted import Competitor

HORIZON = 1_000_000
SIZES = Sizes(Size(HORIZON, 1_000), Size(HORIZON, 10_000))

INSTANCE = Instances(WHERE, f"two arms, $D={GAP:g}$", SIZES, lambda: problems.gaussian([GAP, 0.0]))


def bounds(problem: Any) -> Mapping[str, float]:
    """Constants of log T in the asymptotic regret, by label."""
    gap = problem.smallest_gap
    return {"asymptote of DETC-UG": 2 / gap, "asymptote of DETC-KG": 1 / (2 * gap)}


@dataclass(frozen=True)
class Tuning:
    """A policy's parameter that the paper does not give: its axis and values.

    Attributes:
      label: the policy's label.
      axis: the parameter.
      values: values to try.
      make: makes the policy for a value.
    """

    label: str
    axis: Axis
    values: Sequence[float]
    make: Callable[[float], Competitor]


TUNINGS = {
    "s1a": Tuning("DETC-UG", Axis("$T_1$", "commit_pulls", "log"), COMMIT_PULLS, unknown_gap),
    "s1b": Tuning("DETC-KG", Axis("$\\epsilon$", "epsilon"), EPSILONS, known_gap),
}


def by_tuning(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Final regret against the parameter, beside UCB's."""
    tuned = TUNINGS[panel.name]
    ((first, *_),) = panel.wanted(order, setting)
    lines = [
        VariedLine(
            of(tuned.values[0]).policy,
            label,
            tuple(Point(at, replace(first, competitor=of(at))) for at in tuned.values),
        )
        for label, of in ((tuned.label, tuned.make), (UCB1.label, lambda _: UCB1))
    ]
    return VariedPicture(panel.name, first.title, tuned.axis, tuple(lines), regret_scale="log")


PAPER = Paper(
    name="double-etc",
    panels=(
        regret("1", INSTANCE, (UCB1, UNKNOWN_GAP, KNOWN_GAP), options={"bounds": bounds}),
        *(
            Panel(
                name,
                f"regret by {tuned.axis.column}",
                by_tuning,
                (Lineup(INSTANCE, (*map(tuned.make, tuned.values), UCB1)),),
            )
            for name, tuned in TUNINGS.items()
        ),
    ),
    setting=Setting(HORIZON, "pulls", time_scale="log", regret_scale="linear", start=30),
    claims=CLAIMS,
    notes=(
        "The paper does not give the values of T_1 and epsilon behind Figure 1: here they are the "
        "theory's, log^2 T and at most 1/2; study s1 varies them.",
    ),
    shortest=100,
)
