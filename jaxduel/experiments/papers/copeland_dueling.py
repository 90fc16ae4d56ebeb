"""Zoghi, Karnin, Whiteson and de Rijke, "Copeland Dueling Bandits" (NIPS 2015): Figure 1, and the
scalability of CCB and SCB.

Given in the text (section 6): five MSLR rankers without a Condorcet winner; a logarithmic time axis
to 1e8 and a linear regret axis; regret 2 cpld(1) - cpld(i) - cpld(j), without the factor 1/2 (twice
jaxduel's "copeland"); CCB, SCB, RUCB, Copeland SAVAGE, PBR and RankEl, of which the last three are
made for a horizon, with delta = 1/T, and run anew for each; RUCB leaves the panel.

Left open by the text, and chosen here:

- RankEl (Busa-Fekete et al., AAAI 2014): left out, since no text or program of it was found.
- CCB's and RUCB's alpha: 0.51, as Wu and Liu (NIPS 2016) ran them. The horizons of the separate
  runs: 1e3, 3e3, 1e4, ... and T. The number of runs: 20, 100 with `full`.
- The horizon: 1e7, 1e8 with `full`.
- SCB's bounds, which are in an appendix: with those of `jaxduel.policies.copeland.scb`, which
  satisfy the guarantee of Algorithm 2, it has more regret than in the paper and leaves the panel. A
  second curve has the logarithms times 0.51 and rounds from 1e3 on, as in the program of Wu and
  Liu, who refer to the authors' own.
- The scalability experiment, which is in an appendix that the text lacks: by its description in Wu
  and Liu its 500 arms have three Copeland winners in a cycle above a total order; the probabilities
  are not known. Here all gaps are 0.1 (`jaxduel.problems.copeland_cycle`), with 10 and 30 arms
  (panels 2a and 2b, where all policies but RUCB play) and with 500 (panel 2c, where CCB and SCB
  play, with both axes logarithmic). CCB takes a hundred times as long as SCB on 500 arms and plays
  fewer comparisons there; at its default horizon neither has learned much yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jaxduel import problems
from jaxduel.errors import AssumptionWarning
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers.copeland_dueling_claims import (
    FIVE,
    MANY,
    NUM_SOME,
    NUM_TEN,
    SCALED,
    SOME,
    TEN,
    measured_claims,
)
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import PanelPlan, Plan, Setting
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.requests import plans_at_hand, require_request
from jaxduel.problems import DuelingProblem

NAME = "copeland-dueling"
TITLE = TITLES["copeland-dueling"]
START = 1_000


class _Size(NamedTuple):
    """Horizon and number of runs."""

    horizon: int
    runs: int


class _Place(NamedTuple):
    """A data set: its name, title, instance, competitors, and sizes by default and with `full`."""

    name: str
    title: str
    make: Callable[[], DuelingProblem]
    names: tuple[str, ...]
    usual: _Size
    full: _Size


_ALL = ("ccb", "scb", SCALED, "savage", "pbr", "rucb")
_ROBUST = ("ccb", "scb", "savage", "pbr")
_FRAME = ("ccb", "savage", "pbr")
_PLACES = {
    "1": _Place(
        FIVE,
        "MSLR, $K=5$, non-Condorcet",
        partial(problems.load, FIVE),
        _ALL,
        _Size(10_000_000, 20),
        _Size(100_000_000, 100),
    ),
    "2a": _Place(
        TEN,
        "3-cycle above an order, $K=10$",
        partial(problems.copeland_cycle, NUM_TEN),
        _ROBUST,
        _Size(1_000_000, 20),
        _Size(10_000_000, 100),
    ),
    "2b": _Place(
        SOME,
        "3-cycle above an order, $K=30$",
        partial(problems.copeland_cycle, NUM_SOME),
        _ROBUST,
        _Size(1_000_000, 20),
        _Size(10_000_000, 100),
    ),
    "2c": _Place(
        MANY,
        "3-cycle above an order, $K=500$",
        partial(problems.load, MANY),
        ("ccb", "scb", SCALED),
        _Size(10_000_000, 10),
        _Size(100_000_000, 10),
    ),
}
_CCB_MANY = {False: _Size(100_000, 10), True: _Size(10_000_000, 10)}
"""Sizes of CCB's runs on 500 arms, by `full`."""

FIGURES = {
    "1": f"regret of all policies, {FIVE}",
    **{panel: f"scalability, {place.name}" for panel, place in _PLACES.items() if panel != "1"},
}
"""Descriptions of the panels, by name."""

_COMPETITORS = {
    "ccb": Competitor("ccb", "CCB", "ccb", {"alpha": 0.51}),
    "scb": Competitor("scb", "SCB", "scb", {}),
    SCALED: Competitor(SCALED, "SCB (0.51)", "scb", {"scale": 0.51, "first_length": 1_000}),
    "savage": Competitor(
        "savage", "SAVAGE", "savage", {"test": "copeland"}, quick=True, per_horizon=True
    ),
    "pbr": Competitor("pbr", "PBR", "pbr", {}, quick=True, per_horizon=True),
    "rucb": Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}, quick=True),
}


@dataclass(frozen=True)
class _Order:
    """Arguments of `reproduce`, which set the horizons and numbers of runs of the data sets."""

    full: bool
    seed: int
    runs: int | None
    horizon: int | None

    def data(self, place: _Place) -> DataSet:
        """A data set; the key of its runs depends on the seed and the data set alone."""
        return self._made(place, place.full if self.full else place.usual)

    def slow(self, place: _Place) -> DataSet:
        """The data set with the size of CCB's runs on 500 arms."""
        return self._made(place, _CCB_MANY[self.full])

    def _made(self, place: _Place, size: _Size) -> DataSet:
        key = named_key(self.seed, place.name)
        draw = Draw(place.make(), key, size.runs if self.runs is None else self.runs)
        return DataSet(place.name, place.title, (draw,), self.horizon or size.horizon)

    def notes(self) -> list[str]:
        """Notes for the report."""
        text = ["Regret is the paper's, 2 cpld(1) - cpld(i) - cpld(j): twice 'copeland' regret."]
        if self.horizon is not None:
            text.append(f"T = {self.horizon:,} everywhere, as asked for.")
        elif self.full:
            text.append(
                "T = 1e8 in figure 1, as in the paper; 1e7 on 10 and 30 arms; on 500 arms 1e8, CCB "
                "1e7."
            )
        else:
            text.append(
                "Reduced: T = 1e7 in figure 1 instead of 1e8; 1e6 on 10 and 30 arms; on 500 arms "
                "1e7, CCB 1e5. --full has 1e8, 1e7, 1e8 and 1e7."
            )
        if self.runs is not None:
            text.append(f"{self.runs} runs everywhere, as asked for.")
        else:
            usual = 100 if self.full else 20
            text.append(f"{usual} runs, 10 on 500 arms; the paper does not say how many.")
        text.append("RankEl is left out: no text or program of it was found.")
        return text


def _plan(panel: str, order: _Order) -> Plan:
    """The plan of a panel."""
    place = _PLACES[panel]
    playing = tuple(_COMPETITORS[name] for name in place.names)
    lesser = {"ccb": order.slow(place)} if place.name == MANY else {}
    frame = _FRAME if panel == "1" else ()
    scale = "log" if place.name == MANY else None
    return PanelPlan(
        panel, order.data(place), playing, lesser=lesser, frame=frame, regret_scale=scale
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
    """Makes Figure 1 and a figure of scalability, and measures the paper's claims about them.

    Args:
      figure: a figure ("1", "2"), a panel ("2a" to "2c"), or None for all.
      full: the paper's horizon in Figure 1, 1e8, and 100 runs; takes an hour or two, most
        of it for CCB on 500 arms.
      out: folder for the files; figures/copeland-dueling by default.
      seed: root of all randomness.
      runs: number of runs on each data set, instead of the default's.
      progress: as in `jaxduel.simulate`; it counts runs.
      horizon: T on each data set, instead of the default's or the paper's.

    Returns:
      The report.

    Raises:
      InputError: before anything is computed.
    """
    panels = chosen_panels(figure, tuple(FIGURES))
    require_request(NAME, seed, runs, horizon)
    folder = OutputFolder(Path("figures") / NAME if out is None else out)
    order = _Order(full, seed, runs, horizon)
    plans, missing = plans_at_hand(panels, FIGURES, partial(_plan, order=order))
    setting = Setting(
        horizon or 1_000_000,
        "copeland",
        time_scale="log",
        regret_scale="linear",
        start=START,
        factor=2.0,
    )
    heading = f"{TITLE}: seed {seed}."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # RUCB plays without a Condorcet winner
        return carry_out(
            plans, setting, folder, measured_claims, heading, [*order.notes(), *missing], progress
        )
