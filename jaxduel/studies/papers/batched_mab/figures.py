"""Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019): Figure 1, and two
further studies.

Given in the text (section 4): T = 5e4, K = 3, M = 3, gamma = 1, the best arm has mean 0.6 and the
others 0.5; average regrets of BaSE on the minimax, geometric and arithmetic grids and of UCB1
against M, K and T, and of BaSE and explore-then-commit (ETC) for two arms.

Left open by the text, or different in the authors' released program:

- The program has gamma = 0.5 and explores in all M batches, the text has gamma = 1 and commits in
  the last. With the program's BaSE, panel (a) is as the paper describes it (with the text's, the
  geometric grid is best at M = 3 to 6). So Figure 1 has the program's BaSE, and figure "text1" the
  text's.
- Unit variances, M = 2..7, K = 2, 3, 5, 8, 13, 20 and T = 500..5e4, as in the program,
  which has log T, not log t, in UCB1's index.
- Pulls that a batch cannot share equally among the arms go to the next batch, as in the program
  (`jaxduel.policies.BaSE`); pulls left at the end are played, unlike in the program.
- Each run shuffles the arms.

Study "s1" is BaSE's regret over M x K x T on the same instance; it shows where the minimax grid
stops being the best (`batched_mab.study`). Study "s2" is BaSE's worst-case regret beside the lower
bound of Lemma 2 (`batched_mab.worst`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from jaxduel.studies.papers.batched_mab.claims import CLAIMS, Evidence
from jaxduel.studies.papers.batched_mab.entries import (
    ARMS,
    BATCHES,
    GRIDS,
    NUM_ARMS,
    NUM_BATCHES,
    READINGS,
    UCB1,
    Reading,
    base,
    etc,
    horizons_to,
    style,
    wanted,
)
from jaxduel.studies.papers.batched_mab.study import HORIZONS, QUANTITIES, HeatPicture, cells
from jaxduel.studies.papers.batched_mab.worst import WorstPicture, cases
from jaxduel.studies.papers.paper import Order, Panel, Paper, Size, Sizes
from jaxduel.studies.pictures import Setting
from jaxduel.studies.varied import Axis, FinalSetting, Point, VariedLine, VariedPicture
from jaxduel.studies.wanted import Competitor

HORIZON = 50_000
FIGURE_1 = Sizes(Size(HORIZON, 1_000), Size(HORIZON, 10_000))
STUDY = Sizes(Size(HORIZONS[-1], 1_000), Size(HORIZONS[-1], 1_000))
WORST = Sizes(Size(HORIZON, 1_000), Size(HORIZON, 1_000))

_Line = tuple[str, str, Callable[[int], Competitor]]
"""A line's style, its label, and its policy by M."""
_Points = list[tuple[int, int, int, int]]
"""For each point of a panel: the varied value, K, T and M."""


def _of_base(reading: Reading, grids: Sequence[str] = GRIDS) -> list[_Line]:
    return [(style("base", g), f"BaSE {g}", partial(base, reading, g)) for g in grids]


def _labels(lines: Sequence[_Line]) -> tuple[str, ...]:
    """Labels of the policies, without M."""
    return tuple(of(NUM_BATCHES).label.replace(f", M = {NUM_BATCHES}", "") for _, _, of in lines)


def _picture(
    panel: Panel, title: str, axis: Axis, points: _Points, order: Order, setting: Setting
) -> VariedPicture:
    """The panel's lines at all points."""
    runs, found = order.size(FIGURE_1).runs, []
    for name, label, of in panel.options["lines"]:
        of_line = (
            Point(at, wanted(of(m), arms, end, runs, order.seed, setting))
            for at, arms, end, m in points
        )
        found.append(VariedLine(name, label, tuple(of_line)))
    return VariedPicture(panel.name, title, axis, tuple(found), per_pull=True)


def by_batches(num_arms: int, panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Average regret against M."""
    end = order.size(FIGURE_1).horizon
    title, axis = f"$K={num_arms}$, $T$ = {end:,}", Axis("batches $M$", "num_batches")
    points = [(m, num_arms, end, m) for m in BATCHES]
    return _picture(panel, title, axis, points, order, setting)


def by_arms(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Average regret against K."""
    end = order.size(FIGURE_1).horizon
    title, axis = f"$M={NUM_BATCHES}$, $T$ = {end:,}", Axis("arms $K$", "num_arms")
    points = [(k, k, end, NUM_BATCHES) for k in ARMS]
    return _picture(panel, title, axis, points, order, setting)


def by_horizon(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Average regret against T."""
    ends = horizons_to(order.size(FIGURE_1).horizon)
    title, axis = f"$K={NUM_ARMS}$, $M={NUM_BATCHES}$", Axis("horizon $T$", "horizon", "log")
    points = [(t, NUM_ARMS, t, NUM_BATCHES) for t in ends]
    return _picture(panel, title, axis, points, order, setting)


def maps(
    reading: Reading, quantity: str, panel: Panel, order: Order, setting: Setting
) -> HeatPicture:
    """Study s1: maps over M x K x T."""
    runs = order.size(STUDY).runs
    return HeatPicture(
        panel.name, reading, quantity, cells(reading, runs, order.seed, setting), runs
    )


def worst(reading: Reading, panel: Panel, order: Order, setting: Setting) -> WorstPicture:
    """Study s2: worst regret against M."""
    size = order.size(WORST)
    return WorstPicture(panel.name, reading, cases(reading, size, order.seed, setting), size)


def _figure_1(reading: Reading) -> Iterator[Panel]:
    """Figure 1 by a reading of BaSE."""
    ucb1: _Line = ("ucb1", UCB1.label, lambda _: UCB1)
    three = [*_of_base(reading), ucb1]
    etcs = [(style("etc", g), f"ETC {g}", partial(etc, g)) for g in GRIDS[:2]]
    two = [*_of_base(reading, GRIDS[:2]), *etcs, ucb1]
    panels = (
        ("regret by batches", partial(by_batches, NUM_ARMS), f"K={NUM_ARMS}", three),
        ("regret by arms", by_arms, f"K={ARMS[0]}..{ARMS[-1]}", three),
        ("regret by horizon", by_horizon, f"K={NUM_ARMS}", three),
        ("BaSE and ETC", partial(by_batches, 2), "K=2", two),
    )
    for letter, (what, picture, arms, lines) in zip("abcd", panels, strict=True):
        yield Panel(
            reading.figure + letter,
            what,
            picture,
            sizes=FIGURE_1,
            options={"lines": lines},
            where=f"one better arm, {arms}",
            who=_labels(lines),
        )


_STUDY = dict(zip("abcdef", itertools.product(READINGS, QUANTITIES), strict=True))
_WORST = dict(zip("ab", READINGS, strict=True))

PAPER = Paper(
    name="batched-mab",
    panels=(
        *itertools.chain.from_iterable(map(_figure_1, READINGS)),
        *(
            Panel(
                f"s1{letter}",
                quantity,
                partial(maps, reading, quantity),
                sizes=STUDY,
                where="one better arm, MxKxT",
                who=_labels(_of_base(reading)),
            )
            for letter, (reading, quantity) in _STUDY.items()
        ),
        *(
            Panel(
                f"s2{letter}",
                "worst regret",
                partial(worst, reading),
                sizes=WORST,
                where=f"hypotheses, K={NUM_ARMS}",
                who=_labels(_of_base(reading)),
            )
            for letter, reading in _WORST.items()
        ),
    ),
    setting=FinalSetting(HORIZON, "pulls"),
    claims=CLAIMS,
    notes=(
        *(f"Figure {r.figure}: BaSE of {r.source}, {r.words}." for r in READINGS),
        "s1 and s2 are not in the paper; s1 has all its horizons always, the longest is given.",
    ),
    evidence=lambda all_runs, pictures, setting: Evidence(all_runs, setting.horizon),
    shortest=1_000,
)
