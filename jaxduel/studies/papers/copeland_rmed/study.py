"""Panel s2, beyond the paper: growth of regret of policies for Copeland winners against the lower
bound, on one instance without a Condorcet winner, far beyond any published horizon.

By Theorem 2 regret grows in the end by at least LB per unit of log t. Growth is therefore measured
by decade. A policy meets the bound in a decade if the 95 % interval of its growth per unit of log t
is below 1.25 times LB; it meets LB from t on if it meets the bound in all decades after t. Policies
that are made for a horizon have separate runs to each horizon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxduel.runs import Runs
from jaxduel.studies.claims import under
from jaxduel.studies.estimates import Estimate, growth
from jaxduel.studies.papers.copeland_rmed.constants import LB
from jaxduel.studies.pictures import AllRuns, RegretPicture
from jaxduel.studies.tables import aligned, short

MEETS = 1.25
"""Largest growth of regret per unit of log t that meets the lower bound, in units of LB."""


def growth_by_decade(runs: Runs, constant: float) -> dict[int, Estimate]:
    """Growth of mean regret per unit of log t in each decade, in units of a bound's constant.

    Args:
      runs: runs of a policy; T / 10, T / 100, ... must be among its checkpoints.
      constant: LB.

    Returns:
      The growth of each decade, by its last time, earliest decade first.
    """
    found = {}
    times, end = runs.times, int(runs.times[-1])
    while np.any(times == end) and np.any(times * 10 <= end):
        found[end] = growth(runs.until(end)).times(1 / constant)
        end //= 10
    return dict(reversed(found.items()))


def meets_from(found: dict[int, Estimate]) -> int | None:
    """First time of the final decades that all meet the bound; None if the last one does not."""
    begin = None
    for end, number in reversed(found.items()):
        if under(MEETS)(number) != "confirmed":
            break
        begin = end // 10
    return begin


@dataclass(frozen=True)
class MeetingPicture(RegretPicture):
    """Regret against time, and a table of the growth of each policy against the lower bound."""

    def lines(self, all_runs: AllRuns) -> list[str]:
        """The constants of the bounds, and a row per policy."""
        constant = self.bounds(self.problem)[LB]
        every = [all_runs[one.key] for one in self.wanted]
        growths = [growth_by_decade(runs, constant) for runs in every]
        ends = sorted({end for found in growths for end in found})
        decades = [f"to {short(end)}" for end in ends]
        header = ["policy", "R(T) / (LB log T)", *decades, "meets LB"]
        rows = []
        for runs, found in zip(every, growths, strict=True):
            last = runs.mean[-1] / (constant * np.log(runs.times[-1]))
            begin = meets_from(found)
            rows.append(
                [
                    f"  {runs.label}",
                    f"{last:.3g}",
                    *(_entry(found.get(end)) for end in ends),
                    "no" if begin is None else f"from {short(begin)}",
                ]
            )
        return [
            *super().lines(all_runs),
            f"figure {self.name}: growth of regret per unit of log t in each decade, in units of "
            f"LB, with its 95 % interval; it meets LB where that is below {MEETS}:",
            *aligned(header, rows),
        ]


def _entry(number: Estimate | None) -> str:
    return "" if number is None else str(number)
