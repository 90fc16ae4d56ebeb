"""Haddenhorst, Bengs, Brandt and Huellermeier, "Testification of Condorcet Winners in Dueling
Bandits" (UAI 2021): Table 1 of the supplement, as a figure.

Given in the text: K = 20, gamma = h = 0.05, p_ij = 1/2 +- h', 100 relations, the mean number of
duels until the answer, with its standard error. According to the authors' program the labels of the
table are exchanged: its numbers are for relations without a Condorcet winner.

Chosen here:

- Each run has its own relation, redrawn until there is no Condorcet winner, the same for both
  policies at all h'.
- Regret is "votes", the duels of two different arms: a policy makes none after its answer. A run
  without an answer by the horizon counts with its duels until then.
- Runs are cut at T = 1e5. By default 200 runs (the paper has 100), with `full` 1,000.
"""

from __future__ import annotations

from functools import partial

import jax

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.papers.paper import (
    Instances,
    Lineup,
    Order,
    Panel,
    Paper,
    Size,
    Sizes,
    named_key,
)
from jaxduel.studies.papers.testification.claims import (
    CLAIMS,
    LEADS,
    NTS,
    NUM_ARMS,
    PAIRS,
    VERIFY,
    where,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.varied import Axis, FinalSetting, VariedPicture, across
from jaxduel.studies.wanted import Competitor, Draw

HORIZON = 100_000
LEVEL = {"gamma": 0.05, "margin": 0.05}
SIZES = Sizes(Size(HORIZON, 200), Size(HORIZON, 1_000))

COMPETITORS = (
    Competitor(NTS, "NTS", NTS, LEVEL, quick=True),
    Competitor(VERIFY, "SELECT-then-verify", VERIFY, LEVEL, quick=True),
)


def relation(key: jax.Array, lead: float) -> DuelingProblem:
    """A relation without a Condorcet winner."""
    while True:
        key, own = jax.random.split(key)
        problem = problems.random_tournament(own, NUM_ARMS, lead)
        if problem.condorcet_winner is None:
            return problem


def drawn(lead: float, order: Order, runs: int) -> tuple[Draw, ...]:
    """A relation for each run."""
    draws = []
    for number in range(runs):
        one, play = jax.random.split(jax.random.fold_in(named_key(order.seed, "relation"), number))
        draws.append(Draw(relation(one, lead), play, 1))
    return tuple(draws)


INSTANCES = {
    lead: Instances(where(lead), "$K={}$, no winner", SIZES, draws=partial(drawn, lead))
    for lead in LEADS
}


def by_lead(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Duels until the answer against h'."""
    wanted = panel.wanted(order, setting)
    lines = across(LEADS[::-1], wanted[::-1])
    title = f"duels until the answer, {wanted[-1][0].title}"
    return VariedPicture(panel.name, title, Axis("$h'$", "lead"), lines, regret_scale="log")


PAPER = Paper(
    name="testification",
    panels=(
        Panel(
            "1",
            "duels to the answer",
            by_lead,
            tuple(Lineup(instances, COMPETITORS) for instances in INSTANCES.values()),
        ),
    ),
    setting=FinalSetting(HORIZON, "votes", time_scale="log", regret_scale="log"),
    claims=CLAIMS,
    notes=(
        f"The authors' program first duels each of the {PAIRS} pairs once, and its SELECT plays up "
        f"to 21 matches among {NUM_ARMS} arms, not {NUM_ARMS - 1}: its numbers are larger.",
    ),
    shortest=100,
)
