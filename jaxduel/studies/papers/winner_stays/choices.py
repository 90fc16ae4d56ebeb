"""Unknown settings of the figures of Chen and Frazier (ICML 2017): axes for claims."""

from __future__ import annotations

from jaxduel.studies.choices import parameter, rivals
from jaxduel.studies.wanted import Competitor

BETA = 1.1
"""WS-S's beta, at most p / (1 - p) except on the six rankers, where the limit is 1.04."""
EXISTING = (
    Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}),
    Competitor("rmed1", "RMED1", "rmed1", {}),
    Competitor("dts", "D-TS", "dts", {"alpha": 0.51}),
)
_OTHERS = (
    Competitor("btm", "BTM", "btm", {"gamma": 1.3}, quick=True),
    Competitor("savage", "SAVAGE", "savage", {"test": "condorcet"}, quick=True),
    Competitor("sparring", "Sparring", "sparring", {}, quick=True),
)

BETAS = parameter(
    "beta of WS-S", "beta", (1.03, BETA, 1.3, 2.0, 4.0, 8.0), BETA, "ws-s", symbol="beta",
    scale="log",
)  # fmt: skip
RIVALS = rivals("best of three", [one.name for one in EXISTING], (*EXISTING, *_OTHERS))
