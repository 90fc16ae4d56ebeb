"""Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022): Figures 1 and 2.

Given in the text (section 5): T = 1e5, B = 16, 10 runs, regret (e_i + e_j) / 2; RUCB with
alpha = 0.51, RMED1 with f(K) = 0.3 K^1.01, BTM with gamma = 1.3, all three as in the library of
Komiyama et al. (2015).

Left open by the text, and chosen here:

- The elimination criterion: `elimination="kl"` (why: `jaxduel.policies.batched_dueling.rounds`).
- The switch from seeds to PCOMP, and the choice of the candidate among undefeated seeds: the
  defaults of `jaxduel.policies.batched_dueling.seeds` and of SCOMP2, chosen by how many of the
  claims come out.
- The library's readings: BTM has the radius without the factor 3, and an arm never meets itself.
  RMED1's are those of `jaxduel.policies.rmed.rmed1`. RUCB takes 1 for u_ij of a pair never
  compared. RUCB's own paper has 2 ("x / 0 := 1"); this variant is shown as a further curve: it has
  more regret at K = 100, nearer to the claims, and enters none of them.
- The synthetic instances: each run draws its own, and run i of every policy gets the same one. With
  more than 100 runs, 100 instances are drawn and share the runs; standard errors are then those of
  means over instances.
- The order of arms: each run shuffles them.
- Shared runs: Figures 1 and 2 share those of RMED1 and of SCOMP2 with B = 16.
- The vertical axes: logarithmic, so that 300 and 5,000 can be read in one panel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from jaxduel import problems
from jaxduel.errors import InputError, warn_caller
from jaxduel.experiments.claims import (
    Claim,
    Measurement,
    Verdict,
    above,
    all_hold,
    at_least,
    below,
    within,
)
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.estimates import Ratio, final_ratio
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import PanelPlan, Samples, Setting
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.requests import require_request
from jaxduel.problems import DuelingProblem

NAME = "batched-dueling"
TITLE = TITLES["batched-dueling"]
HORIZON = 100_000
NUM_BATCHES = 16
NUM_ARMS = 100
RUNS, FULL_RUNS = 10, 500
MAX_INSTANCES = 100

SIX, SUSHI, BTL, CD = "six rankers", "sushi", "SYN-BTL", "SYN-CD"
_LETTERS = {"a": SIX, "b": SUSHI, "c": BTL, "d": CD}
_REAL, _SYNTHETIC, _ALL = (SIX, SUSHI), (BTL, CD), (SIX, SUSHI, BTL, CD)

FIGURES = {
    **{f"1{letter}": f"regret of six policies, {name}" for letter, name in _LETTERS.items()},
    **{f"2{letter}": f"SCOMP2 by batches, {name}" for letter, name in _LETTERS.items()},
}
"""Descriptions of the panels, by name."""


def _batched(policy: str, num_batches: int) -> Competitor:
    usual = num_batches == NUM_BATCHES
    return Competitor(
        name=policy if usual else f"{policy}[num_batches={num_batches}]",
        label=policy.upper() if usual else f"{policy.upper()}, B = {num_batches}",
        policy=policy,
        parameters={"num_batches": num_batches, "elimination": "kl"},
        quick=True,
    )


_RMED1 = Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3, "exponent": 1.01})
_RUCB = Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51, "unseen": 1.0})
_RUCB_AS_PRINTED = Competitor(
    "rucb[unseen=2]", "RUCB of its paper", "rucb", {"alpha": 0.51, "unseen": 2.0}
)
_BTM = Competitor("btm", "BTM", "btm", {"gamma": 1.3, "scale": 1.0, "self_comparisons": False})
_FIGURE_1 = (
    *(_batched(p, NUM_BATCHES) for p in ("pcomp", "scomp", "scomp2")),
    _RMED1,
    _RUCB,
    _RUCB_AS_PRINTED,
    _BTM,
)
_SCOMP2 = replace(_batched("scomp2", NUM_BATCHES), label=f"SCOMP2, B = {NUM_BATCHES}")
_FIGURE_2 = (_batched("scomp2", 2), _batched("scomp2", 8), _SCOMP2, _RMED1)


def reproduce(
    figure: str | None = None,
    full: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    *,
    horizon: int = HORIZON,
    num_arms: int = NUM_ARMS,
) -> Report:
    """Makes Figures 1 and 2 and measures the paper's claims about them.

    Args:
      figure: a figure ("1", "2"), a panel ("1a" to "2d"), or None for all.
      full: 500 runs instead of the paper's 10.
      out: folder for the files; figures/batched-dueling by default.
      seed: root of all randomness.
      runs: number of runs, instead of 10 or 500.
      progress: as in `jaxduel.simulate`; it counts runs.
      horizon: T, 1e5 in the paper.
      num_arms: K of the synthetic data, 100 in the paper.

    Returns:
      The report. If the sushi data are not available, panels (b) are missing, with a warning.

    Raises:
      InputError: before anything is computed; also for the sushi data if they alone are asked for.
    """
    panels = chosen_panels(figure, tuple(FIGURES))
    num_runs = runs if runs is not None else FULL_RUNS if full else RUNS
    require_request(NAME, seed, num_runs, horizon)
    folder = OutputFolder(Path("figures") / NAME if out is None else out)
    data, notes = {}, []
    for letter in sorted({panel[-1] for panel in panels}):
        try:
            data[letter] = _data_set(letter, num_runs, seed, num_arms)
        except InputError as error:
            if {panel[-1] for panel in panels} == {letter}:
                raise
            notes.append(f"panels ({letter}), {_LETTERS[letter]}, are missing: {error}")
            warn_caller(notes[-1])
    plans = [
        PanelPlan(name, data[name[-1]], _FIGURE_1 if name[0] == "1" else _FIGURE_2)
        for name in panels
        if name[-1] in data
    ]
    heading = f"{TITLE}: T = {horizon:,}, {num_runs} runs, seed {seed}."
    setting = Setting(horizon=horizon, regret="average")
    return carry_out(plans, setting, folder, measured_claims, heading, notes, progress)


def _data_set(letter: str, num_runs: int, seed: int, num_arms: int) -> DataSet:
    """A data set; the keys of its runs depend on the seed and the letter alone."""
    name = _LETTERS[letter]
    root = jax.random.fold_in(jax.random.key(seed), ord(letter))
    if name in _REAL:
        problem = problems.load({SIX: "arxiv", SUSHI: "sushi"}[name])
        title = f"{name.capitalize()}, $K={problem.num_arms}$"
        return DataSet(name, title, (Draw(problem, root, num_runs),))
    family: Callable[[jax.Array, int], DuelingProblem]
    family = problems.btl if name == BTL else problems.condorcet_hard
    return DataSet(name, f"{name}, $K={num_arms}$", tuple(_draws(family, root, num_runs, num_arms)))


def _draws(
    family: Callable[[jax.Array, int], DuelingProblem], root: jax.Array, runs: int, num_arms: int
) -> list[Draw]:
    """One instance per run; if there are more than `MAX_INSTANCES` runs, several share one."""
    each = -(-runs // MAX_INSTANCES)
    draws = []
    for number, first in enumerate(range(0, runs, each)):
        instance, play = jax.random.split(jax.random.fold_in(root, number))
        draws.append(Draw(family(instance, num_arms), play, min(each, runs - first)))
    return draws


def measured_claims(samples: Samples) -> list[Claim]:
    """Claims of section 5 and appendix A about Figures 1 and 2, measured on the samples at hand."""

    def ratios(
        policy: str, other: str, where: tuple[str, ...], judge: Callable[[Ratio], Verdict]
    ) -> list[Measurement]:
        found = []
        for data in where:
            first, second = samples.get((data, policy)), samples.get((data, other))
            if first is not None and second is not None:
                ratio = final_ratio(first, second)
                medians = float(np.median(first.final) / np.median(second.final))
                what = f"{first.label} / {second.label}"
                found.append(Measurement(data, what, ratio, medians, judge(ratio)))
        return found

    def degradation(policy: str) -> list[Measurement]:
        to_btm = {m.where: m for m in ratios(policy, "btm", _ALL, _less)}
        real = [to_btm[data] for data in _REAL if data in to_btm]
        if not real:
            return []
        worse = max(real, key=lambda m: m.ratio.value)
        found = []
        for data in (data for data in _SYNTHETIC if data in to_btm):
            growth = to_btm[data].ratio / worse.ratio
            medians = to_btm[data].medians / worse.medians
            what = f"{policy.upper()} / BTM over {worse.where}'s"
            found.append(Measurement(data, what, growth, medians, above(growth, 1.0)))
        return found

    few, some = "scomp2[num_batches=2]", "scomp2[num_batches=8]"
    return [
        Claim(
            "SCOMP2 performs comparably to RMED1 in all datasets",
            "section 5, Figure 1",
            "at most twice the regret of RMED1, on every data set",
            tuple(ratios("scomp2", "rmed1", _ALL, _at_most_twice)),
            4,
            all_hold,
        ),
        Claim(
            "even outperforms RUCB in 3 out of the 4 datasets",
            "section 5, Figure 1",
            "less regret than RUCB on at least 3 data sets",
            tuple(ratios("scomp2", "rucb", _ALL, _less)),
            4,
            at_least(3),
        ),
        Claim(
            "always beats BTM",
            "section 5, Figure 1",
            "less regret than BTM on every data set",
            tuple(ratios("scomp2", "btm", _ALL, _less)),
            4,
            all_hold,
        ),
        Claim(
            "both PCOMP and SCOMP considerably outperform BTM on the six rankers and sushi data",
            "section 5, Figure 1",
            "at most half the regret of BTM, both, on both data sets",
            tuple(m for p in ("pcomp", "scomp") for m in ratios(p, "btm", _REAL, _at_most_half)),
            4,
            all_hold,
        ),
        Claim(
            "however their performance degrades on the synthetic data",
            "section 5, Figure 1",
            "regret relative to BTM's grows from the worse of the real data sets to each synthetic "
            "one, for both",
            tuple(m for policy in ("pcomp", "scomp") for m in degradation(policy)),
            4,
            all_hold,
        ),
        Claim(
            "as we increase the number of batches, the (expected) cumulative regret decreases",
            "section 5, Figure 2",
            "less regret with B = 8 than with 2, and with 16 than with 8, on every data set",
            (*ratios(some, few, _ALL, _less), *ratios("scomp2", some, _ALL, _less)),
            8,
            all_hold,
        ),
        Claim(
            "on the synthetic datasets (where K = 100), the regret of SCOMP2 approaches that of "
            "RMED1",
            "section 5, Figure 2",
            "at B = 16 at most twice the regret of RMED1, and less than at B = 2, on both",
            (
                *ratios("scomp2", "rmed1", _SYNTHETIC, _at_most_twice),
                *ratios("scomp2", few, _SYNTHETIC, _less),
            ),
            4,
            all_hold,
        ),
        Claim(
            "the regret incurred is almost identical for SYN-BTL dataset",
            "section 5, Figure 2",
            "between 0.8 and 1.25 times the regret of RMED1 at B = 16",
            tuple(ratios("scomp2", "rmed1", (BTL,), _almost_equal)),
            1,
            all_hold,
        ),
    ]


def _less(ratio: Ratio) -> Verdict:
    return below(ratio, 1.0)


def _at_most_half(ratio: Ratio) -> Verdict:
    return below(ratio, 0.5)


def _at_most_twice(ratio: Ratio) -> Verdict:
    return below(ratio, 2.0)


def _almost_equal(ratio: Ratio) -> Verdict:
    return within(ratio, 1.25)
