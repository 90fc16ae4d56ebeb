"""Komiyama, Honda and Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm" (ICML 2016): Figure 1 and Table 1.

Given in the text (section 5, captions): Copeland regret, 100 runs, semilogarithmic plots of regret
with the leading terms of Theorems 2 and 4 (LB and ECWB, constants times log T); six data sets, the
MSLR ones random submatrices without extremely small gaps; Table 1 has means over 1e4 of them. The
parameters alpha = 3 and beta = 0.01 are in the authors' reply to the reviewers.

The text breaks off in section 5. Missing from it, and chosen here:

- The horizons: 1e7 with `full`, 1e6 for 64 arms; by default 3e5 on five arms, 1e5 on 16, 1e5 and
  10 runs on 64.
- The policies compared: ECW-RMED with CCB (alpha = 0.51), SCB, SAVAGE, RUCB and RMED1, all that the
  introduction mentions and jaxduel has, except PBR, which is much like SAVAGE.
- The matrices: `jaxduel.experiments.papers.copeland_rmed_instances` for 64 arms and MultiSol; the
  16-arm ones are those of Wu and Liu (NIPS 2016).
- LB for 64 arms: the paper gave up computing it; it is drawn here.
- The order of arms: each run shuffles them. It matters on Gap, where a second curve of ECW-RMED has
  the order of the table.

Added: CW-RMED on five arms, with `full` in fewer and shorter runs on 16, and panel s1 for it; panel
s2, `jaxduel.experiments.papers.copeland_rmed_study`: all policies for Copeland winners, to T = 1e9
except for D-TS+, which makes no quiet runs while three winners tie, and for those that explore
longest. SAVAGE runs anew for each horizon, with its test for Copeland winners. Curves of policies
that need a Condorcet winner, or more comparisons, leave the panel where they would flatten the
others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jaxduel import problems
from jaxduel.errors import AssumptionWarning
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers.copeland_rmed_claims import measured_claims
from jaxduel.experiments.papers.copeland_rmed_constants import (
    LB,
    NUM_ARMS,
    KnownConstants,
    SubmatrixTable,
    TablePlan,
)
from jaxduel.experiments.papers.copeland_rmed_instances import (
    MSLR64,
    MULTISOL,
    mslr64,
    multisol_like,
)
from jaxduel.experiments.papers.copeland_rmed_study import MeetingPlan
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import PanelPlan, Plan, Setting
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.requests import plans_at_hand, require_request
from jaxduel.problems import DuelingProblem

NAME = "copeland-rmed"
TITLE = TITLES["copeland-rmed"]
SUBMATRICES, FULL_SUBMATRICES = 2_000, 10_000


class _Place(NamedTuple):
    """A data set: its name, title, number of arms, and its maker if it is not in the catalogue."""

    name: str
    title: str
    num_arms: int
    make: Callable[[], DuelingProblem] | None = None

    def problem(self) -> DuelingProblem:
        return problems.load(self.name) if self.make is None else self.make()


_PLACES = {
    "1a": _Place("mslr16-condorcet", "MSLR, $K=16$, Condorcet", 16),
    "1b": _Place("mslr16-noncondorcet", "MSLR, $K=16$, non-Condorcet", 16),
    "1c": _Place(MSLR64, "MSLR, $K=64$, non-Condorcet", 64, mslr64),
    "1d": _Place("sushi", "Sushi, $K=16$", 16),
    "1e": _Place("gap", "Gap, $K=5$", 5),
    "1f": _Place(MULTISOL, "in place of MultiSol, $K=5$", 5, multisol_like),
    "s1": _Place("mslr5-condorcet", "MSLR, $K=5$, Condorcet", 5),
    "s2": _Place("mslr5-noncondorcet", "MSLR, $K=5$, non-Condorcet", 5),
}

FIGURES = {
    **{panel: place.name for panel, place in _PLACES.items() if panel[0] != "s"},
    "table1": f"constants of bounds, random {NUM_ARMS}-arm submatrices",
    "s1": "CW-RMED and its bound, mslr5-condorcet (not in the paper)",
    "s2": "who meets LB, and when, mslr5-noncondorcet, to T = 1e9 with --full (not in the paper)",
}
"""Descriptions of the panels, by name."""

_COMPETITORS = {
    "ecw-rmed": Competitor("ecw-rmed", "ECW-RMED", "ecw-rmed", {}),
    "cw-rmed": Competitor("cw-rmed", "CW-RMED", "cw-rmed", {}),
    "ccb": Competitor("ccb", "CCB", "ccb", {"alpha": 0.51}),
    "scb": Competitor("scb", "SCB", "scb", {}, quick=True),
    "savage": Competitor(
        "savage", "SAVAGE", "savage", {"test": "copeland"}, quick=True, per_horizon=True
    ),
    "rucb": Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}, quick=True),
    "rmed1": Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3, "exponent": 1.01}, quick=True),
}
_GUESTS = {
    "dts": Competitor("dts", "D-TS", "dts", {"alpha": 0.51}),
    "dts+": Competitor("dts+", "D-TS+", "dts+", {"alpha": 0.51}),
    "pbr": Competitor("pbr", "PBR", "pbr", {}, quick=True, per_horizon=True),
}
"""Policies for Copeland winners that the paper does not mention; they play in panel s2."""
_STUDY = ("ecw-rmed", "cw-rmed", "dts", "dts+", "ccb", "scb", "savage", "pbr")
_RESTLESS = ("dts+", "scb", "savage", "pbr")
"""Those of `_STUDY` that make no quiet runs in panel s2 for long; long runs cost too much."""
_FIXED = "ecw-rmed[shuffle_arms=false]"
_SUPPLEMENT = ("ecw-rmed", "cw-rmed")
_FRAME = ("ecw-rmed", _FIXED, "cw-rmed", "ccb")


@dataclass(frozen=True)
class _Order:
    """Arguments of `reproduce`, which set the horizons and numbers of runs of the data sets."""

    full: bool
    seed: int
    runs: int | None
    horizon: int | None

    def data(self, place: _Place) -> DataSet:
        """A data set; the key of its runs depends on the seed and the data set alone."""
        if self.full:
            horizon, runs = (10_000_000 if place.num_arms < 64 else 1_000_000), 100
        elif place.num_arms < 64:
            horizon, runs = (300_000 if place.num_arms < 16 else 100_000), 100
        else:
            horizon, runs = 100_000, 10
        return self._made(place, horizon, runs)

    def study(self, place: _Place) -> tuple[DataSet, DataSet]:
        """The data set of panel s2, and for `_RESTLESS` the same with smaller T and fewer runs."""
        long, less = ((10**9, 500), (10**7, 100)) if self.full else ((10**7, 100), (10**6, 20))
        return self._made(place, *long), self._made(place, *less)

    def slow(self, place: _Place) -> DataSet | None:
        """The data set as CW-RMED plays it; None where it does not play."""
        if place.num_arms < 16:
            return self.data(place)
        return self._made(place, 30_000, 20) if self.full and place.num_arms == 16 else None

    def _made(self, place: _Place, horizon: int, runs: int) -> DataSet:
        key = named_key(self.seed, place.name)
        draw = Draw(place.problem(), key, runs if self.runs is None else self.runs)
        return DataSet(place.name, place.title, (draw,), self.horizon or horizon)

    def submatrices(self) -> int:
        """Number of submatrices in Table 1."""
        return FULL_SUBMATRICES if self.full else SUBMATRICES

    def notes(self) -> list[str]:
        """Notes for the report."""
        text = []
        if self.horizon is not None:
            text.append(f"T = {self.horizon:,} everywhere, as asked for.")
        elif self.full:
            text.append(
                "T = 1e7, 1e6 for 64 arms; CW-RMED 3e4 on 16. s2: 1e9, 1e7 for policies that do "
                "not fall quiet there, D-TS+, SCB, SAVAGE and PBR."
            )
        else:
            text.append(
                "Reduced: T = 3e5 on 5 arms, 1e5 on 16 and 64. The paper's horizons are not known; "
                "--full has 1e7, and 1e6 on 64 arms. s2: 1e7, 1e6 for policies that do not fall "
                "quiet there, D-TS+, SCB, SAVAGE and PBR; --full has 1e9 and 1e7."
            )
        if self.runs is not None:
            text.append(f"{self.runs} runs everywhere, as asked for.")
        elif self.full:
            text.append("100 runs; CW-RMED 20 on 16 arms; s2 500, 100 where its T is 1e7.")
        else:
            text.append("100 runs; reduced: 10 on 64 arms, and 20 where s2 has 1e6.")
        text.append(f"{MULTISOL}: constructed, not the paper's matrix, which is lost.")
        text.append(f"{MSLR64}: the paper's arms are not known; the smallest gap is 0.0025.")
        text.append("Policies that need a Condorcet winner also play where there is none.")
        return text


def _plan(panel: str, order: _Order, known: KnownConstants) -> Plan:
    """The plan of a panel; it takes constants of bounds from `known`, which computes them.

    Raises:
      InputError: if its data are not available.
    """
    if panel == "table1":
        whole = problems.load("mslr-informational")
        known.table = SubmatrixTable(whole, order.submatrices(), order.seed)
        return TablePlan(panel, known.table)
    place = _PLACES[panel]
    if panel == "s2":
        return _meeting(panel, order, known)
    data, slow = order.data(place), order.slow(place)
    playing = [c for c in _COMPETITORS.values() if c.name in _SUPPLEMENT or panel != "s1"]
    playing = [c for c in playing if c.name != "cw-rmed" or slow is not None]
    if place.name == "gap":
        playing += [
            replace(c, name=_FIXED, label="ECW-RMED, fixed order", shuffle_arms=False)
            for c in playing
            if c.name == "ecw-rmed"
        ]
    problem = data.draws[0].problem
    return PanelPlan(
        panel,
        data,
        tuple(playing),
        lesser={} if slow is None else {"cw-rmed": slow},
        bounds=lambda: known.of(problem).lines(),
        frame=_FRAME,
    )


def _meeting(panel: str, order: _Order, known: KnownConstants) -> Plan:
    """The plan of panel s2."""
    place = _PLACES[panel]
    data, less = order.study(place)
    problem = data.draws[0].problem
    entries = _COMPETITORS | _GUESTS
    return MeetingPlan(
        panel,
        data,
        tuple(entries[name] for name in _STUDY),
        lesser=dict.fromkeys(_RESTLESS, less),
        bounds=lambda: {LB: known.of(problem).lower},
        regret_scale="log",
        lower=lambda: known.of(problem).lower,
    )


def reproduce(
    figure: str | None = None,
    full: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    *,
    horizon: int | None = None,
) -> Report:
    """Makes Figure 1 and Table 1 and measures the paper's claims about them.

    Args:
      figure: a figure ("1", "table1", "s1"), a panel ("1a" to "1f"), or None for all.
      full: T = 1e7 (1e6 for 64 arms), 100 runs, and 1e4 submatrices; s2 to T = 1e9, 500 runs;
        takes an hour or two.
      out: folder for the files; figures/copeland-rmed by default.
      seed: root of all randomness.
      runs: number of runs on each data set, instead of the default's or the paper's.
      progress: as in `jaxduel.simulate`; it counts runs.
      horizon: T on each data set, instead of the default's.

    Returns:
      The report. A panel whose data are not available is missing, with a warning.

    Raises:
      InputError: before anything is computed; also if the data of no panel are available.
    """
    panels = chosen_panels(figure, tuple(FIGURES))
    require_request(NAME, seed, runs, horizon)
    folder = OutputFolder(Path("figures") / NAME if out is None else out)
    order, known = _Order(full, seed, runs, horizon), KnownConstants()
    plan = partial(_plan, order=order, known=known)
    plans, missing = plans_at_hand(panels, FIGURES, plan)
    setting = Setting(
        horizon or 100_000, "copeland", time_scale="log", regret_scale="linear", start=100
    )
    measure = partial(measured_claims, known=known)
    heading = f"{TITLE}: seed {seed}."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # assumptions are broken on purpose
        return carry_out(
            plans, setting, folder, measure, heading, [*order.notes(), *missing], progress
        )
