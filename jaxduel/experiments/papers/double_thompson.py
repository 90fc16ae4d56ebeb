"""Wu and Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016): Figures 1 to 7.

Given in the text (section 5, appendix D): Copeland regret, alpha = 0.51 for all policies with an
alpha, BTM with gamma = 1.3, RMED1 and ECW-RMED as in their papers; T = 1e6 in Figures 2 and 6; 500,
100 and 10 runs for K < 10, K from 10 to 100, and above; arms shuffled in each run, except in a
second curve of ECW-RMED on Gap; BTM and SAVAGE run anew for each horizon. Given in the authors'
program: SAVAGE is told whether there is a Condorcet winner; the horizons are 10, 30, 100, 300, ...

Left open by the text, and chosen here:

- The horizons of Figures 1, 3, 4, 5 and 7: 1e6 with `full`, 1e5 for the 500 arms (the text mentions
  5e6 on 16 arms). By default 1e5, 2e4 for 32 arms and 5e3 for 500; and for K < 10 100 runs instead
  of 500 except in Figures 1, 2, 7c and 7d, and 50 runs for each delay in Figure 6.
- The policies of Figure 2: all. Its unit: the mean of ECW-RMED, as in its caption.
- "One sample path" of Figure 5: the first run; beside it is shown the mean over all runs of the
  largest share, the second, and so on.
- Details of policies: BTM has the paper's radius and self-comparisons; Sparring and SAVAGE are
  those of `jaxduel.policies`.
- The axes: both logarithmic, so that linear and logarithmic regret can be read in one panel.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from jaxduel import problems
from jaxduel.errors import AssumptionWarning
from jaxduel.experiments.bar_plans import SharesPlan, SpreadPlan
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers.double_thompson_claims import measured_claims
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import DelayPlan, PanelPlan, Plan, Setting
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.requests import plans_at_hand, require_request

NAME = "double-thompson"
TITLE = TITLES["double-thompson"]
DELAYS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)


class _Place(NamedTuple):
    """A data set of the catalogue, and its title in panels."""

    name: str
    title: str


_PLACES = {
    "1a": _Place("mslr5-condorcet", "MSLR, $K=5$, Condorcet"),
    "1b": _Place("mslr5-noncondorcet", "MSLR, $K=5$, non-Condorcet"),
    "3a": _Place("cyclic", "Cyclic, $K=4$"),
    "3b": _Place("strong-borda", "StrongBorda, $K=5$"),
    "3c": _Place("arxiv", "ArXiv, $K=6$"),
    "3d": _Place("sushi", "Sushi, $K=16$"),
    "3e": _Place("mslr16-condorcet", "MSLR, $K=16$, Condorcet"),
    "3f": _Place("mslr32-condorcet", "MSLR, $K=32$, Condorcet"),
    "4a": _Place("noncondorcet-cyclic", "non-Condorcet Cyclic, $K=9$"),
    "4b": _Place("noncondorcet-strong-borda", "non-Condorcet StrongBorda, $K=6$"),
    "4c": _Place("gap", "Gap, $K=5$"),
    "4d": _Place("copeland500", "500 arms"),
    "4e": _Place("mslr16-noncondorcet", "MSLR, $K=16$, non-Condorcet"),
    "4f": _Place("mslr32-noncondorcet", "MSLR, $K=32$, non-Condorcet"),
}
_AGAIN = {
    "5a": "4a", "5b": "4e", "6a": "1a", "6b": "4a", "7a": "3b", "7b": "4a", "7c": "1a", "7d": "1b",
}  # fmt: skip
"""Panels on the data set of an earlier panel, by name."""

_CONDORCET = ("1a", "3a", "3b", "3c", "3d", "3e", "3f")
"""Panels whose data set has a Condorcet winner, of which SAVAGE is told."""
_SPREADS = {"$K=5$, Condorcet": "1a", "$K=5$, non-Condorcet": "1b"}

_KINDS = {"5": "diversity of exploitations", "6": "regret by delay", "7": "without elimination"}
FIGURES = {
    **{panel: place.name for panel, place in _PLACES.items() if panel[0] == "1"},
    "2": "standard deviation of regret, the data sets of figure 1",
    **{panel: place.name for panel, place in _PLACES.items() if panel[0] != "1"},
    **{panel: f"{_KINDS[panel[0]]}, {_PLACES[first].name}" for panel, first in _AGAIN.items()},
}
"""Descriptions of the panels, by name."""

_ALPHA = {"alpha": 0.51}
_COMPETITORS = {
    "btm": Competitor(
        "btm", "BTM", "btm", {"gamma": 1.3, "scale": 3.0}, quick=True, per_horizon=True
    ),
    "savage": Competitor("savage", "SAVAGE", "savage", {}, quick=True, per_horizon=True),
    "sparring": Competitor("sparring", "Sparring", "sparring", {}, quick=True),
    "rucb": Competitor("rucb", "RUCB", "rucb", _ALPHA, quick=True),
    "rcs": Competitor("rcs", "RCS", "rcs", _ALPHA),
    "ccb": Competitor("ccb", "CCB", "ccb", _ALPHA),
    "scb": Competitor("scb", "SCB", "scb", {"scale": 0.51, "first_length": 1_000}),
    "rmed1": Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3, "exponent": 1.01}, quick=True),
    "ecw-rmed": Competitor("ecw-rmed", "ECW-RMED", "ecw-rmed", {}),
    "dts": Competitor("dts", "D-TS", "dts", _ALPHA),
    "dts+": Competitor("dts+", "D-TS+", "dts+", _ALPHA),
    "pure-dts": Competitor("pure-dts", "pure D-TS", "pure-dts", {}),
}
_SECTION_5 = tuple(name for name in _COMPETITORS if name != "pure-dts")
_MANY_ARMS = ("ccb", "scb", "ecw-rmed", "dts")
_DELAYED = ("ecw-rmed", "dts", "dts+")
_DIVERSE = ("dts", "dts+")
_ELIMINATION = ("dts", "dts+", "pure-dts")
_UNIT = "ecw-rmed"


_OFTEN = ("mslr5-condorcet", "mslr5-noncondorcet")
"""The data sets of Figures 1 and 2, which by default have the paper's number of runs."""


@dataclass(frozen=True)
class _Order:
    """Arguments of `reproduce`, which set the horizons and numbers of runs of the data sets."""

    full: bool
    seed: int
    runs: int | None
    horizon: int | None

    def data(self, place: _Place, delayed: bool = False) -> DataSet:
        """A data set; the key of its runs depends on the seed and the data set alone."""
        problem = problems.load(place.name)
        key = named_key(self.seed, place.name)
        usual = self._runs(problem.num_arms, place.name in _OFTEN, delayed)
        draw = Draw(problem, key, usual if self.runs is None else self.runs)
        usual = self._horizon(problem.num_arms)
        return DataSet(place.name, place.title, (draw,), self.horizon or usual)

    def _runs(self, num_arms: int, often: bool, delayed: bool) -> int:
        if num_arms > 100:
            return 10
        if num_arms >= 10:
            return 100
        return 500 if self.full else 50 if delayed else 500 if often else 100

    def _horizon(self, num_arms: int) -> int:
        if num_arms > 100:
            return 100_000 if self.full else 5_000
        if self.full:
            return 1_000_000
        return 100_000 if num_arms < 20 else 20_000

    def notes(self) -> list[str]:
        """Notes for the report."""
        text = []
        if self.horizon is not None:
            text.append(f"T = {self.horizon:,} everywhere, as asked for.")
        elif self.full:
            text.append("T = 1e6, 1e5 for the 500 arms; the paper also speaks of 5e6 on 16 arms.")
        else:
            text.append(
                "Reduced: T = 1e5 instead of 1e6, 2e4 for 32 arms and 5e3 for 500; --full has the "
                "paper's. Claims on 16 and 32 arms without a Condorcet winner need that: D-TS and "
                "D-TS+ part there after t = 2e5."
            )
        if self.runs is not None:
            text.append(f"{self.runs} runs everywhere, as asked for.")
        elif self.full:
            text.append("500, 100 and 10 runs for K < 10, K from 10 to 100, and above.")
        else:
            text.append(
                "Reduced: for K < 10, 100 runs instead of 500 but on the data sets of figures 1 "
                "and 2, and 50 of each delay; otherwise the paper's 100, and 10 for 500 arms."
            )
        text.append("Policies that need a Condorcet winner also play where there is none.")
        return text


def _plan(panel: str, order: _Order) -> Plan:
    """The plan of a panel.

    Raises:
      InputError: if its data are not available.
    """
    if panel == "2":
        groups = {
            label: (order.data(_PLACES[at]), _playing(_SECTION_5, at))
            for label, at in _SPREADS.items()
        }
        return SpreadPlan(panel, groups, _UNIT)
    at = _AGAIN.get(panel, panel)
    data = order.data(_PLACES[at], delayed=panel[0] == "6")
    if panel[0] == "5":
        return SharesPlan(panel, data, _playing(_DIVERSE, at))
    if panel[0] == "6":
        end = 1 if data.horizon is None else data.horizon
        delays = tuple(d for d in DELAYS if d == 1 or 10 * d < end)
        return DelayPlan(panel, data, _playing(_DELAYED, at), delays)
    if panel[0] == "7":
        return PanelPlan(panel, data, _playing(_ELIMINATION, at))
    return PanelPlan(panel, data, _playing(_MANY_ARMS if panel == "4d" else _SECTION_5, at))


def _playing(names: tuple[str, ...], place: str) -> tuple[Competitor, ...]:
    """The competitors of the given names, with parameters for the data set of a panel."""
    found = []
    for name in names:
        competitor = _COMPETITORS[name]
        if competitor.name == "savage":
            test = "condorcet" if place in _CONDORCET else "copeland"
            competitor = replace(competitor, parameters={"test": test})
        found.append(competitor)
        if competitor.name == "ecw-rmed" and place == "4c":
            found.append(
                replace(
                    competitor,
                    name="ecw-rmed[shuffle_arms=false]",
                    label="ECW-RMED, fixed order",
                    shuffle_arms=False,
                )
            )
    return tuple(found)


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
    """Makes Figures 1 to 7 and measures the paper's claims about them.

    Args:
      figure: a figure ("1" to "7"), a panel ("1a" to "7d"), or None for all.
      full: the paper's runs, and T = 1e6 (1e5 for the 500 arms).
      out: folder for the files; figures/double-thompson by default.
      seed: root of all randomness.
      runs: number of runs on each data set, instead of the default's or the paper's.
      progress: as in `jaxduel.simulate`; it counts runs.
      horizon: T on each data set, instead of the default's or the paper's.

    Returns:
      The report. A panel whose data are not available is missing, with a warning.

    Raises:
      InputError: before anything is computed; also if the data of no panel are available.
    """
    panels = chosen_panels(figure, tuple(FIGURES))
    require_request(NAME, seed, runs, horizon)
    folder = OutputFolder(Path("figures") / NAME if out is None else out)
    order = _Order(full, seed, runs, horizon)
    plans, missing = plans_at_hand(panels, FIGURES, lambda panel: _plan(panel, order))
    notes = [*order.notes(), *missing]
    setting = Setting(horizon or 100_000, "copeland", time_scale="log")
    heading = f"{TITLE}: seed {seed}."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # assumptions are broken on purpose
        return carry_out(plans, setting, folder, measured_claims, heading, notes, progress)
