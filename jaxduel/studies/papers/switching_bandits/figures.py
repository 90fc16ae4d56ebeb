"""Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems" (ALT
2011): their comparison on arms whose means change abruptly, and a study of how long to remember.

The instance: three arms with Bernoulli rewards of means 0.5, 0.3 and 0.4; the third has 0.9 in
pulls 3,001 to 5,000. T = 1e4.

The text of the section was not at hand: no claim is measured, and these are chosen here:

- Gamma and the window are those of the paper's bounds for T and two changes, xi = 1/2, B = 1, for
  all three policies: UCB-1 has the width of SW-UCB with an endless window.
- Regret is against the best arm of each stretch.
- By default 1,000 runs, with `full` 10,000. EXP3.S, and the example with means that change all the
  time, are left out.
- Study "s1" has the final regret by what the policies remember: the window of SW-UCB, and
  1 / (1 - gamma) of D-UCB.
"""

from __future__ import annotations

from jaxduel import problems
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

HORIZON = 10_000
SIZES = Sizes(Size(HORIZON, 1_000), Size(HORIZON, 10_000))
MEANS, PEAK, CHANGES = (0.5, 0.3, 0.4), 0.9, (3_000, 5_000)
BOUNDED = {"std": 0.5, "xi": 0.5}
"""B = 1, and xi."""
TOLD = {"changes": len(CHANGES), **BOUNDED}
MEMORIES = (50, 100, 200, 400, 800, 1_600, 3_200, 6_400)

UCB1 = Competitor(
    "ucb1", "UCB-1", "ucb1", {"index": "anytime", "scale": 0.5}, quick=True, settles=False
)
D_UCB = Competitor("d-ucb", "D-UCB", "d-ucb", TOLD, quick=True, settles=False)
SW_UCB = Competitor("sw-ucb", "SW-UCB", "sw-ucb", TOLD, quick=True, settles=False)


def instance() -> problems.PiecewiseProblem:
    """The arms, of which the third is the best for a while."""
    usual = problems.bernoulli(MEANS)
    return problems.piecewise(
        [usual, problems.bernoulli([*MEANS[:2], PEAK]), usual], CHANGES, "two changes"
    )


INSTANCE = Instances("two changes", "two changes", SIZES, instance)


def sliding(memory: int) -> Competitor:
    """SW-UCB with another window."""
    return Competitor(
        f"sw-ucb[window={memory}]",
        f"SW-UCB, W = {memory:,}",
        "sw-ucb",
        {"window": memory, **BOUNDED},
        quick=True,
        settles=False,
    )


def discounted(memory: int) -> Competitor:
    """D-UCB with another discount."""
    return Competitor(
        f"d-ucb[memory={memory}]",
        f"D-UCB, 1 / (1 - gamma) = {memory:,}",
        "d-ucb",
        {"gamma": 1 - 1 / memory, **BOUNDED},
        quick=True,
        settles=False,
    )


def by_memory(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Final regret against the memory, beside UCB-1's."""
    (wanted,) = panel.wanted(order, setting)
    runs = {one.competitor.name: one for one in wanted}
    lines = [
        VariedLine(usual.name, usual.label, tuple(Point(m, runs[of(m).name]) for m in MEMORIES))
        for usual, of in ((UCB1, lambda _: UCB1), (D_UCB, discounted), (SW_UCB, sliding))
    ]
    axis = Axis("pulls remembered", "memory", "log")
    return VariedPicture(panel.name, wanted[0].title, axis, tuple(lines))


PAPER = Paper(
    name="switching-bandits",
    panels=(
        regret("1", INSTANCE, (UCB1, D_UCB, SW_UCB)),
        Panel(
            "s1",
            "regret by memory",
            by_memory,
            (Lineup(INSTANCE, (UCB1, *map(discounted, MEMORIES), *map(sliding, MEMORIES))),),
        ),
    ),
    setting=Setting(HORIZON, "pulls", regret_scale="linear"),
    claims=(),
    notes=(
        "The text of the paper's section on simulations was not at hand: gamma and the window are "
        "those of its bounds, xi = 1/2 for all policies, and no claim of it is measured.",
        "The paper also plays EXP3.S, and an example with means that change all the time.",
    ),
    shortest=CHANGES[-1],
)
