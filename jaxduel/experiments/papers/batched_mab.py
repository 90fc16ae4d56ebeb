"""Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019): Figure 1, and two
studies that the paper does not have.

Given in the text (section 4): T = 5e4, K = 3, M = 3, gamma = 1, the best arm has mean 0.6 and the
others 0.5; average regrets of BaSE on the minimax, geometric and arithmetic grids and of UCB1
against M, K and T, and of BaSE and explore-then-commit (ETC) for two arms.

Left open by the text, or different in the authors' released program:

- The program has gamma = 0.5 and explores in all M batches, the text has gamma = 1 and commits in
  the last. With the program's BaSE, panel (a) is as the paper describes it (with the text's, the
  geometric grid is best at M = 4 and 5), so Figure 1 has that; figure "text1" has the text's.
- Unit variances, 200 runs, M = 2..7, K = 2, 3, 5, 8, 13, 20 and T = 500..5e4, as in the program,
  which has log T, not log t, in UCB1's index.
- Pulls that a batch cannot share equally among the arms are left to the next batch, as in the
  program (`jaxduel.policies.BaSE`); those left at the end are played, unlike in the program.
- Each run shuffles the arms.

Study "s1" is BaSE's regret over M x K x T on the same instance; it shows where the minimax grid
stops being the best (`batched_mab_study`). Study "s2" is BaSE's worst-case regret beside the lower
bound of Lemma 2 (`batched_mab_worst`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from jaxduel.errors import InputError
from jaxduel.experiments.curves import Competitor, DataSet
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers.batched_mab_claims import measured_claims
from jaxduel.experiments.papers.batched_mab_entries import (
    ARMS,
    BATCHES,
    GRIDS,
    NUM_ARMS,
    NUM_BATCHES,
    READINGS,
    UCB1,
    base,
    data_set,
    etc,
    style,
)
from jaxduel.experiments.papers.batched_mab_maps import QUANTITIES, HeatPlan, summary
from jaxduel.experiments.papers.batched_mab_study import Study
from jaxduel.experiments.papers.batched_mab_worst import WorstCase, WorstPlan
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import Plan, figure_of
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.requests import require_request
from jaxduel.experiments.sweep_plans import Axis, FinalSetting, SweepLine, SweepPlan, SweepPoint

NAME = "batched-mab"
TITLE = TITLES["batched-mab"]
HORIZON = 50_000
SHORTEST = 1_000
RUNS, FULL_RUNS = 200, 10_000
STUDY_RUNS = 1_000

_LETTERS = {
    "a": "average regret by batches",
    "b": "average regret by arms",
    "c": "average regret by horizon",
    "d": "BaSE and ETC for two arms",
}
_STUDY = {f"s1{'abcdef'[i]}": (READINGS[i // 3], QUANTITIES[i % 3]) for i in range(6)}
_WORST = dict(zip(("s2a", "s2b"), READINGS, strict=True))

FIGURES = {
    **{r.figure + x: f"{w}, BaSE of {r.source}" for r in READINGS for x, w in _LETTERS.items()},
    **{panel: f"M x K x T: {what}, BaSE of {r.source}" for panel, (r, what) in _STUDY.items()},
    **{panel: f"worst regret and lower bound, BaSE of {r.source}" for panel, r in _WORST.items()},
}
"""Descriptions of the panels, by name; s1 and s2 are not in the paper."""


def reproduce(
    figure: str | None = None,
    full: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    *,
    horizon: int = HORIZON,
) -> Report:
    """Makes Figure 1 with both readings of BaSE and both studies, and measures the paper's claims.

    Args:
      figure: a figure ("1", "text1", "s1", "s2"), a panel ("1a", ...), or None for all.
      full: 10,000 runs instead of the paper's 200; the studies have 1,000 in either case.
      out: folder for the files; figures/batched-mab by default.
      seed: root of all randomness.
      runs: number of runs, instead of 200, 10,000 and 1,000.
      progress: as in `jaxduel.simulate`; it counts runs.
      horizon: T of Figure 1 and of study s2, 5e4 in the paper; panels (c) begin at a hundredth.

    Returns:
      The report. After Ctrl-C in study s1, its finished cells are in figure-s1-unfinished.csv.

    Raises:
      InputError: before anything is computed.
    """
    panels = chosen_panels(figure, tuple(FIGURES))
    num_runs = runs if runs is not None else FULL_RUNS if full else RUNS
    require_request(NAME, seed, num_runs, horizon)
    if horizon < SHORTEST:
        raise InputError(f"{NAME}: the horizon must be at least {SHORTEST:,}, not {horizon:,}.")
    folder = OutputFolder(Path("figures") / NAME if out is None else out)
    many = STUDY_RUNS if runs is None else runs
    study, worst = Study(many, seed, progress), WorstCase(horizon, many, seed)
    horizons = tuple(np.round(np.geomspace(horizon / 100, horizon, 6)).astype(int).tolist())
    plans = [
        HeatPlan(panel, study, *_STUDY[panel])
        if panel in _STUDY
        else WorstPlan(panel, worst, _WORST[panel])
        if panel in _WORST
        else _plan(panel, horizons, num_runs, seed)
        for panel in panels
    ]
    heading = f"{TITLE}: T = {horizon:,}, {num_runs:,} runs, {many:,} in s1 and s2, seed {seed}."
    setting = FinalSetting(horizon, "pulls")
    measure = partial(measured_claims, horizons=horizons)
    notes = [f"Figure {r.figure}: BaSE of {r.source}, {r.words}." for r in READINGS]
    report = carry_out(plans, setting, folder, measure, heading, notes, progress)
    if study.is_unfinished:
        folder.write("figure-s1-unfinished.csv", study.table(READINGS))
        for reading in study.begun:
            report.lines += ["", "study s1, unfinished:", *summary(study, reading)]
    return report


def _plan(panel: str, horizons: tuple[int, ...], runs: int, seed: int) -> Plan:
    """A panel of Figure 1."""
    letter, end = panel[-1], horizons[-1]
    reading = next(r for r in READINGS if r.figure == figure_of(panel))
    settings: list[tuple[int, DataSet, int]]  # the value varied, the data set, M
    if letter == "b":
        title, axis = f"$M={NUM_BATCHES}$, $T$ = {end:,}", Axis("arms $K$", "num_arms")
        settings = [(k, data_set(k, end, runs, seed), NUM_BATCHES) for k in ARMS]
    elif letter == "c":
        title = f"$K={NUM_ARMS}$, $M={NUM_BATCHES}$"
        axis = Axis("horizon $T$", "horizon", "log")
        settings = [(t, data_set(NUM_ARMS, t, runs, seed), NUM_BATCHES) for t in horizons]
    else:
        data = data_set(NUM_ARMS if letter == "a" else 2, end, runs, seed)
        title = f"$K={data.draws[0].problem.num_arms}$, $T$ = {end:,}"
        axis = Axis("batches $M$", "num_batches")
        settings = [(number, data, number) for number in BATCHES]

    def line(name: str, label: str, of: Callable[[int], Competitor]) -> SweepLine:
        points = (SweepPoint(at, data, of(number)) for at, data, number in settings)
        return SweepLine(name, label, tuple(points))

    grids = GRIDS[:2] if letter == "d" else GRIDS
    lines = [line(style("base", g), f"BaSE {g}", partial(base, reading, g)) for g in grids]
    if letter == "d":
        lines += [line(style("etc", g), f"ETC {g}", partial(etc, g)) for g in grids]
    return SweepPlan(panel, title, axis, (*lines, line("ucb1", "UCB1", lambda _: UCB1)))
