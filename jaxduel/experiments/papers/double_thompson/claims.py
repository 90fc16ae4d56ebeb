"""Claims of Wu and Liu (NIPS 2016) about the figures of Double Thompson Sampling.

Ratios are of mean regrets at the horizon of the data set. "Best of n of m others": the policy with
the least mean regret of the n others that play; if n < m, the ratio can refute a claim but not
confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from jaxduel.experiments.claims import Claim, Measurement, above, all_hold, at_least
from jaxduel.experiments.estimates import mean_of, std_over_mean, std_ratio
from jaxduel.experiments.findings import Finder, less, more, over, similar, under
from jaxduel.experiments.papers import five_hundred

CONDORCET_5, OTHER_5 = "mslr5-condorcet", "mslr5-noncondorcet"
BORDA, CYCLE, CYCLE_9, GAP = "strong-borda", "cyclic", "noncondorcet-cyclic", "gap"
REAL = ("arxiv", "sushi", "mslr16-condorcet", "mslr32-condorcet")
FIGURE_3 = (CYCLE, BORDA, *REAL)
MSLR_OTHER = ("mslr16-noncondorcet", "mslr32-noncondorcet")
FIGURE_4 = (CYCLE_9, "noncondorcet-strong-borda", GAP, *MSLR_OTHER)
MANY = five_hundred.NAME
BASELINES = ("btm", "savage", "sparring", "rucb", "rcs", "ccb", "scb", "rmed1", "ecw-rmed")
NEED_CONDORCET = ("btm", "rucb", "rcs", "rmed1")
BOTH = ("dts", "dts+")
FIXED = "ecw-rmed[shuffle_arms=false]"
WITHOUT_BORDA = tuple(data for data in FIGURE_3 if data != BORDA)
IMPROVED = (OTHER_5, *MSLR_OTHER)
REST = tuple(name for name in (*BASELINES, *BOTH) if name != "savage")

_EARLY = "By default T is 1e5, a tenth of that with --full."

_CONDORCET = (
    Claim(
        "In Condorcet dueling bandits, our D-TS and D-TS+ algorithms achieve almost the same "
        "performance",
        "section 5, Figure 1a",
        "between 0.8 and 1.25 times each other's regret",
        lambda find: find.ratios("dts+", "dts", (CONDORCET_5,), similar),
        1,
        all_hold,
    ),
    Claim(
        "and both perform much better than existing algorithms",
        "section 5, Figure 1a",
        "less regret than each of the nine others, both",
        lambda find: (m for p in BOTH for m in find.against_best(p, BASELINES, (CONDORCET_5,))),
        2,
        all_hold,
    ),
    Claim(
        "D-TS and D-TS+ achieve similar performance, because there is a unique winner",
        "appendix D.2.1, Figure 3",
        "between 0.8 and 1.25 times each other's regret, on all six data sets",
        lambda find: find.ratios("dts+", "dts", FIGURE_3, similar),
        len(FIGURE_3),
        all_hold,
    ),
    Claim(
        "Compared to existing algorithms, D-TS and D-TS+ perform much better, except for the "
        "StrongBorda dataset",
        "appendix D.2.1, Figure 3",
        "less regret than each of the nine others, both, on the five other data sets",
        lambda find: (m for p in BOTH for m in find.against_best(p, BASELINES, WITHOUT_BORDA)),
        2 * len(WITHOUT_BORDA),
        all_hold,
    ),
    Claim(
        "Somewhat surprisingly, SAVAGE performs best in this dataset",
        "appendix D.2.1, Figure 3b",
        "less regret than each of the ten others on StrongBorda",
        lambda find: find.against_best("savage", REST, (BORDA,)),
        1,
        all_hold,
    ),
    Claim(
        "the RCS algorithm achieves better performance than RUCB and CCB in real-world datasets",
        "appendix D.2.1, Figures 3c to 3f",
        "less regret than either, on all four",
        lambda find: find.against_best("rcs", ("rucb", "ccb"), REAL),
        len(REAL),
        all_hold,
        reason="On 32 arms T is 2e4 by default, where all three explore; with --full it is 1e6.",
    ),
)
"""Claims about Figures 1 (a) and 3: a Condorcet winner exists."""


_OTHERS = (
    Claim(
        "the regret of D-TS+ is less than 10% of that of CCB",
        "section 5, Figure 1b",
        "a ratio below 0.1",
        lambda find: find.ratios("dts+", "ccb", (OTHER_5,), under(0.1)),
        1,
        all_hold,
        reason=_EARLY,
    ),
    Claim(
        "Compared with ECW-RMED, D-TS achieves higher regret",
        "section 5, Figure 1b",
        "more regret than ECW-RMED",
        lambda find: find.ratios("dts", "ecw-rmed", (OTHER_5,), more),
        1,
        all_hold,
    ),
    Claim(
        "D-TS+ further reduces the regret, and outperforms ECW-RMED in this dataset",
        "section 5, Figure 1b",
        "less regret than D-TS, and than ECW-RMED",
        lambda find: (
            *find.ratios("dts+", "dts", (OTHER_5,), less),
            *find.ratios("dts+", "ecw-rmed", (OTHER_5,), less),
        ),
        2,
        all_hold,
        reason=_EARLY,
    ),
    Claim(
        "the regret of algorithms dedicated to Condorcet dueling bandits, including BTM, RUCB, "
        "RCS, and RMED1, grows rapidly",
        "appendix D.2.2, Figure 4",
        "the ratio of their regrets to that of D-TS still rises over the last decade, of each, "
        "on all five data sets",
        lambda find: find.rising(NEED_CONDORCET, "dts", FIGURE_4),
        len(FIGURE_4),
        all_hold,
    ),
    Claim(
        "The Sparring algorithm [...] also results in a very large regret in non-Condorcet "
        "dueling bandits",
        "appendix D.2.2, Figure 4",
        "more regret than D-TS, and the ratio still rises over the last decade, on all five "
        "data sets",
        lambda find: (
            *find.ratios("sparring", "dts", FIGURE_4, more),
            *find.rising(("sparring",), "dts", FIGURE_4),
        ),
        2 * len(FIGURE_4),
        all_hold,
    ),
    Claim(
        "Compared D-TS and D-TS+ with the UCB-type algorithms for general Copeland dueling "
        "bandits, CCB and SCB, we can see that D-TS and D-TS+ perform much better",
        "appendix D.2.2, Figure 4",
        "less regret than either, both, on all five data sets",
        lambda find: (m for p in BOTH for m in find.against_best(p, ("ccb", "scb"), FIGURE_4)),
        2 * len(FIGURE_4),
        all_hold,
    ),
    Claim(
        "for the 500-armed scenario, D-TS still achieves much lower regret than SCB",
        "appendix D.2.2, Figure 4d",
        "at most half the regret of SCB",
        lambda find: find.ratios("dts", "scb", (MANY,), under(0.5), five_hundred.settling_time()),
        1,
        all_hold,
        f"T = {five_hundred.settling_time():,}, where policies can tell all pairs apart: 3 hours "
        "of a core for two runs of D-TS.",
    ),
    Claim(
        "By carefully breaking the ties, D-TS+ can reduce the regret in many practical scenarios",
        "appendix D.2.2, Figures 1b, 4e and 4f",
        "less regret than D-TS, on all three data sets",
        lambda find: find.ratios("dts+", "dts", IMPROVED, less),
        len(IMPROVED),
        all_hold,
    ),
    Claim(
        "However, the improvement is limited especially when the winners have very similar or "
        "exactly the same performance",
        "appendix D.2.2, Figure 4a",
        "between 0.8 and 1.25 times the regret of D-TS",
        lambda find: find.ratios("dts+", "dts", (CYCLE_9,), similar),
        1,
        all_hold,
    ),
    Claim(
        "D-TS randomly explores all potential winners in each individual sample path",
        "appendix D.2.2, Figure 5",
        "the winner that a run exploits least has more than 5 % of its exploitations, on "
        "average over runs, on both data sets",
        lambda find: (m for data in (CYCLE_9, MSLR_OTHER[0]) for m in _least(find, data)),
        2,
        all_hold,
        reason=_EARLY,
    ),
    Claim(
        "the D-TS+ algorithm tends to focus on one of the winners (if there is no tie in terms "
        "of expected regret)",
        "section 4.3, Figure 5b",
        "the winner that a run exploits most has a larger share than with D-TS, on average "
        "over runs",
        lambda find: _focus(find, MSLR_OTHER[0]),
        1,
        all_hold,
    ),
)
"""Claims about Figures 1 (b), 4 and 5: no Condorcet winner."""


def _least(find: Finder, data: str) -> list[Measurement]:
    """D-TS's share of exploitations of the winner that a run exploits least."""
    shares = find.shares("dts", data)
    if shares is None:
        return []
    least = mean_of(shares[:, -1])
    return [Measurement(data, "smallest share, D-TS", least, math.nan, above(least, 0.05))]


def _focus(find: Finder, data: str) -> list[Measurement]:
    """Share of exploitations of the winner that a run exploits most: D-TS+ minus D-TS."""
    one, other = find.shares("dts+", data), find.shares("dts", data)
    if one is None or other is None:
        return []
    difference = mean_of(one[:, 0]) - mean_of(other[:, 0])
    what = "largest share, D-TS+ minus D-TS"
    return [Measurement(data, what, difference, math.nan, above(difference, 0.0))]


_ROBUST = (
    Claim(
        "the STD of regret for ECW-RMED is almost 200% of its mean value",
        "section 5, Figure 2, no Condorcet winner",
        "above 1",
        lambda find: find.of_pairs(
            "STD / mean, {0}", std_over_mean, "ecw-rmed", "ecw-rmed", OTHER_5, over(1.0)
        ),
        1,
        all_hold,
        reason=_EARLY,
    ),
    Claim(
        "while it is only 13.16% for D-TS+",
        "section 5, Figure 2, no Condorcet winner",
        "below 0.2, of its own mean or of that of ECW-RMED: the text does not say of which",
        lambda find: (
            *find.of_pairs("STD / mean, {0}", std_over_mean, "dts+", "dts+", OTHER_5, under(0.2)),
            *find.of_pairs(
                "STD, {0} / mean, {1}", std_over_mean, "dts+", "ecw-rmed", OTHER_5, under(0.2)
            ),
        ),
        2,
        at_least(1),
        reason=_EARLY,
    ),
    Claim(
        "D-TS and D-TS+ have much smaller regret STD than that of ECW-RMED in the "
        "non-Condorcet dataset",
        "section 5, Figure 2",
        "at most half of it, both",
        lambda find: (
            m
            for p in BOTH
            for m in find.of_pairs(
                "STD, {0} / STD, {1}", std_ratio, p, "ecw-rmed", OTHER_5, under(0.5)
            )
        ),
        2,
        all_hold,
    ),
    Claim(
        "when the order of arms is fixed [...], ECW-RMED performs very well. [...] However, "
        "when the arms are randomly shuffled in each experiment, ECW-RMED achieves much larger "
        "regret",
        "appendix D.2.3, Figure 4c",
        "at least twice the regret",
        lambda find: find.ratios("ecw-rmed", FIXED, (GAP,), over(2.0)),
        1,
        all_hold,
    ),
    Claim(
        "D-TS and D-TS+ do not depend on the order of arms and perform much better than "
        "ECW-RMED on average in this dataset",
        "appendix D.2.3, Figure 4c",
        "less regret than ECW-RMED, both",
        lambda find: (m for p in BOTH for m in find.ratios(p, "ecw-rmed", (GAP,), less)),
        2,
        all_hold,
    ),
    Claim(
        "as the feedback delay increases, the regret of ECW-RMED increases much faster than "
        "D-TS and D-TS+",
        "appendix D.2.3, Figure 6",
        "from no delay to d = 3,000 by at least twice the factor, both, on both data sets",
        lambda find: (
            m
            for p in BOTH
            for m in find.growths("ecw-rmed", p, "[delay=3000]", (CONDORCET_5, CYCLE_9), over(2.0))
        ),
        4,
        all_hold,
    ),
    Claim(
        "the regret of ECW-RMED becomes larger than D-TS and D-TS+ when the feedback delay is "
        "larger than about 300 time-slots",
        "appendix D.2.3, Figure 6b",
        "less regret than either at d = 100, more at d = 1,000 and 3,000",
        lambda find: _late(find),
        6,
        all_hold,
    ),
    Claim(
        "D-TS and D-TS+ are also robust to delayed feedback",
        "section 5, appendix D.2.3, Figure 6",
        "at d = 300 at most twice the regret without delay, both, on both data sets",
        lambda find: _slowed(find),
        4,
        all_hold,
    ),
)
"""Claims about Figures 2, 4 (c) and 6: spread, order of arms, and delay."""


def _late(find: Finder) -> Iterator[Measurement]:
    """ECW-RMED's regret over that of D-TS and of D-TS+, below 1 at a short delay, above at long
    ones."""
    for delay, judge in ((100, less), (1_000, more), (3_000, more)):
        for policy in BOTH:
            yield from find.ratios(
                f"ecw-rmed[delay={delay}]", f"{policy}[delay={delay}]", (CYCLE_9,), judge
            )


def _slowed(find: Finder) -> Iterator[Measurement]:
    """Regret at d = 300 over that without delay, of D-TS and D-TS+."""
    for data in (CONDORCET_5, CYCLE_9):
        for policy in BOTH:
            yield from find.ratios(f"{policy}[delay=300]", policy, (data,), under(2.0))


_ELIMINATION = (
    Claim(
        "pure D-TS achieves higher regret in this case",
        "appendix D.2.4, Figure 7a",
        "more regret than D-TS on StrongBorda",
        lambda find: find.ratios("pure-dts", "dts", (BORDA,), more),
        1,
        all_hold,
    ),
    Claim(
        "pure D-TS could achieve linear regret if a Copeland winner is beaten by a non-winner arm",
        "appendix D.2.4, Figure 7b",
        "slope of log R against log t over the last decade above 0.9",
        lambda find: find.slopes(("pure-dts",), (CYCLE_9,), over(0.9)),
        1,
        all_hold,
    ),
    Claim(
        "without the limitation of RUCB/RLCB, pure D-TS may achieve [better performance] in "
        "certain practical scenarios, e.g., the 5-arm MSLR data sets",
        "appendix D.2.4, Figures 7c and 7d (a word is missing in the text)",
        "at most 1.1 times the regret of D-TS, on both",
        lambda find: find.ratios("pure-dts", "dts", (CONDORCET_5, OTHER_5), under(1.1)),
        2,
        all_hold,
    ),
)
"""Claims about Figure 7: D-TS without elimination."""

CLAIMS = (*_CONDORCET, *_OTHERS, *_ROBUST, *_ELIMINATION)
"""Claims of section 5 and appendix D about Figures 1 to 7."""
