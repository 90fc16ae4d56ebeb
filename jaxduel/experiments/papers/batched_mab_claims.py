"""Claims of Gao, Han, Ren and Zhou (NeurIPS 2019) about Figure 1, for both readings of BaSE.

Ratios are of mean regrets at the horizon; the runs of all policies on a data set share their
seeds. The paper says "typically" and "approach" without numbers: the criteria are chosen here.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from jaxduel.experiments.claims import Claim, Measurement, all_hold, at_least
from jaxduel.experiments.curves import Competitor
from jaxduel.experiments.estimates import final_ratio
from jaxduel.experiments.findings import Judge, less, under
from jaxduel.experiments.papers.batched_mab_entries import (
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
    place,
)
from jaxduel.experiments.plans import Samples

ENOUGH = 4
"""The M that the paper calls sufficient."""
CLOSE, SETTLED = 2.0, 1.25


def measured_claims(samples: Samples, horizons: tuple[int, ...]) -> list[Claim]:
    """Claims of section 4, measured on the samples at hand.

    Args:
      samples: finished samples.
      horizons: the T of panel (c); the last is that of the other panels.
    """
    return [claim for reading in READINGS for claim in _claims(samples, reading, horizons)]


def _claims(samples: Samples, reading: Reading, horizons: tuple[int, ...]) -> list[Claim]:
    source = f"section 4, Figure 1 {{}}; BaSE of {reading.source}: {reading.words}"
    of, ratio = partial(base, reading), partial(_ratio, samples)
    settings, end = _settings(horizons), horizons[-1]
    most_settings = len(settings) // 2 + 1
    usual, two = place(NUM_ARMS, end), place(2, end)
    enough, most = of(GRIDS[0], ENOUGH), of(GRIDS[0], BATCHES[-1])
    return [
        Claim(
            "We observe that the minimax grid typically results in a smallest regret among all "
            "grids",
            source.format("(a)-(c)"),
            "less regret than the better one of the other grids, in more than half of the "
            f"{len(settings)} settings",
            tuple(
                found
                for where, number in settings
                for found in ratio(where, *(of(grid, number) for grid in GRIDS), judge=less)
            ),
            len(settings),
            at_least(most_settings),
        ),
        Claim(
            f"M = {ENOUGH} batches appear to be sufficient for the BaSE performance to approach "
            "the centralized performance",
            source.format("(a)"),
            f"on the minimax grid at most {CLOSE:g} times the regret of UCB1 at M = {ENOUGH}, and "
            f"at most {SETTLED:g} times that at M = {BATCHES[-1]}",
            (
                *ratio(usual, enough, UCB1, judge=under(CLOSE)),
                *ratio(usual, enough, most, judge=under(SETTLED)),
            ),
            2,
            all_hold,
        ),
        *(
            Claim(
                "Figure 1 (d) shows that BaSE achieves lower regrets than ETC",
                f"{source.format('(d)')}; {grid} grid",
                "less regret at each M",
                tuple(
                    found
                    for number in BATCHES
                    for found in ratio(two, of(grid, number), etc(grid, number), judge=less)
                ),
                len(BATCHES),
                all_hold,
            )
            for grid in GRIDS[:2]
        ),
    ]


def _ratio(
    samples: Samples, where: str, policy: Competitor, *others: Competitor, judge: Judge
) -> list[Measurement]:
    """Mean regret of a policy over the smallest of the others', if the samples of all are there."""
    names = [c.name for c in (policy, *others)]
    if not all((where, name) in samples for name in names):
        return []
    mine, *theirs = (samples[where, name] for name in names)
    best = min(theirs, key=lambda sample: sample.mean[-1])
    ratio = final_ratio(mine, best)
    medians = float(np.median(mine.final) / np.median(best.final))
    what = f"{mine.label} / {best.label}"
    return [Measurement(where, what, ratio, medians, judge(ratio))]


def _settings(horizons: tuple[int, ...]) -> list[tuple[str, int]]:
    """Pairs of a data set and M in panels (a) to (c), each once."""
    end = horizons[-1]
    found = [(place(NUM_ARMS, end), number) for number in BATCHES]
    found += [(place(arms, end), NUM_BATCHES) for arms in ARMS]
    found += [(place(NUM_ARMS, horizon), NUM_BATCHES) for horizon in horizons]
    return list(dict.fromkeys(found))
