"""Unknown settings of the experiments of Saha and Gaillard (ICML 2022): axes for claims."""

from __future__ import annotations

from dataclasses import replace

from jaxduel import problems
from jaxduel.problems import PiecewiseProblem
from jaxduel.problems.piecewise import with_changes
from jaxduel.studies.choices import Choice, on_instance, rivals
from jaxduel.studies.wanted import Competitor, Wanted

TURNED = "arithmetic, turned"
NUM_ARMS, CHANGE = 8, 10_000
ANYTIME = Competitor("rex3[anytime=true]", "REX3, anytime", "rex3", {"anytime": True}, quick=True)
EXISTING = (
    Competitor("dts", "D-TS", "dts", {"alpha": 0.51}),
    Competitor("rmed1", "RMED1", "rmed1", {}, quick=True),
    Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}, quick=True),
)
_OTHERS = (
    replace(ANYTIME, label="REX3"),
    Competitor("sparring", "Sparring", "sparring", {}, quick=True),
)


def turned(change: int = CHANGE) -> PiecewiseProblem:
    """The eight arms, in reverse order up to the change."""
    usual = problems.arithmetic(NUM_ARMS)
    before = problems.from_matrix(usual.preferences.T)
    return problems.piecewise([before, usual], [change], TURNED)


def _turned_at(one: Wanted, change: int) -> Wanted:
    if one.where != TURNED:
        return one
    problem = turned(change)
    return replace(on_instance(one, problem), checkpoints=with_changes(one.checkpoints, problem))


CHANGES = Choice(
    "comparisons before the turn", (1_000, 3_000, CHANGE, 20_000, 30_000, 50_000, 90_000), CHANGE,
    _turned_at, "turn", "log",
)  # fmt: skip
RIVALS = rivals("best of three", [one.name for one in EXISTING], (*EXISTING, *_OTHERS))
