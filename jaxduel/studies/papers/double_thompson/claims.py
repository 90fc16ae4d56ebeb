"""Claims of Wu and Liu (NIPS 2016) about the figures of Double Thompson Sampling.

Ratios are of mean regrets at the horizon of the instance. "Best of n of m others": the policy with
the least mean regret of the n others that play; if n < m, the ratio can refute a claim but not
confirm it. "Much" in the text is a factor of 2, except in "much better", whose criteria are older;
"similar" and "slightly" are at most 1.25.
"""

from __future__ import annotations

from jaxduel.studies.choices import horizons, separate_horizons
from jaxduel.studies.claims import (
    Claim,
    Measurement,
    at_least,
    between,
    less,
    more,
    over,
    similar,
    under,
)
from jaxduel.studies.estimates import mean_of
from jaxduel.studies.findings import Finder, over_best, over_other
from jaxduel.studies.papers import five_hundred

CONDORCET_5, OTHER_5 = "mslr5-condorcet", "mslr5-noncondorcet"
BORDA, CYCLE, CYCLE_9, GAP = "strong-borda", "cyclic", "noncondorcet-cyclic", "gap"
REAL = ("arxiv", "sushi", "mslr16-condorcet", "mslr32-condorcet")
FIGURE_3 = (CYCLE, BORDA, *REAL)
MSLR_OTHER = ("mslr16-noncondorcet", "mslr32-noncondorcet")
FIGURE_4 = (CYCLE_9, "noncondorcet-strong-borda", GAP, *MSLR_OTHER)
MANY = five_hundred.NAME
BASELINES = ("btm", "savage", "sparring", "rucb", "rcs", "ccb", "scb", "rmed1", "ecw-rmed")
NEED_CONDORCET = ("btm", "rucb", "rcs", "rmed1")
RMEDS = ("rmed1", "ecw-rmed")
BOTH = ("dts", "dts+")
WITHOUT_BORDA = tuple(data for data in FIGURE_3 if data != BORDA)
IMPROVED = (OTHER_5, *MSLR_OTHER)
BUT_SAVAGE = tuple(name for name in BASELINES if name != "savage")
FACTOR = 1.25
"""Two numbers within this factor of each other are similar."""

EARLY = "By default T is 1e5, a tenth of that with --full."
HORIZONS = horizons((20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000), 100_000)
"""The text gives T of Figures 2 and 6 only, 1e6."""
_SHORT = "By default T is 1e5, 2e4 on 32 arms; with --full it is 1e6."


_CONDORCET = (
    Claim(
        "In Condorcet dueling bandits, our D-TS and D-TS+ algorithms achieve almost the same "
        "performance",
        "section 5, Figure 1a",
        "between 0.8 and 1.25 times each other's regret",
        *over_other("dts+", "dts", (CONDORCET_5,), similar),
    ),
    Claim(
        "and both perform much better than existing algorithms",
        "section 5, Figure 1a",
        "less regret than each of the nine others, both",
        *over_best(BOTH, BASELINES, (CONDORCET_5,)),
    ),
    Claim(
        "Compared with RMED1 and ECW-RMED, our D-TS and D-TS+ algorithms also perform better",
        "section 5, Figure 1a",
        "less regret than either, both",
        *over_best(BOTH, RMEDS, (CONDORCET_5,)),
    ),
    Claim(
        "Compared to ECW-RMED, D-TS+ achieves much lower regret in the Condorcet case",
        "section 5, Figure 1a",
        "at most half the regret of ECW-RMED",
        *over_other("dts+", "ecw-rmed", (CONDORCET_5,), under(0.5)),
        reason=EARLY,
    ),
    Claim(
        "D-TS and D-TS+ achieve similar performance, because there is a unique winner",
        "appendix D.2.1, Figure 3",
        "between 0.8 and 1.25 times each other's regret, on all six data sets",
        *over_other("dts+", "dts", FIGURE_3, similar),
    ),
    Claim(
        "Compared to existing algorithms, D-TS and D-TS+ perform much better, except for the "
        "StrongBorda dataset",
        "appendix D.2.1, Figure 3",
        "less regret than each of the nine others, both, on the five other data sets",
        *over_best(BOTH, BASELINES, WITHOUT_BORDA),
    ),
    Claim(
        "Compared with RMED1 and ECW-RMED, D-TS and D-TS+ still perform better",
        "appendix D.2.1, Figure 3",
        "less regret than either, both, on all six data sets",
        *over_best(BOTH, RMEDS, FIGURE_3),
    ),
    Claim(
        "ECW-RMED performs slightly worse than RMED1",
        "appendix D.2.1, Figure 3",
        "between 1 and 1.25 times the regret of RMED1, on all data sets but StrongBorda",
        *over_other("ecw-rmed", "rmed1", WITHOUT_BORDA, between(1.0, FACTOR)),
        reason=_SHORT,
    ),
    Claim(
        "D-TS and D-TS+ can escape from the suboptimal comparisons and achieve very good "
        "performance compared to existing algorithms, except for (Condorcet-)SAVAGE",
        "appendix D.2.1, Figure 3b",
        "less regret than each of the eight others on StrongBorda, both",
        *over_best(BOTH, BUT_SAVAGE, (BORDA,)),
    ),
    Claim(
        "Somewhat surprisingly, SAVAGE performs best in this dataset",
        "appendix D.2.1, Figure 3b",
        "less regret than each of the ten others on StrongBorda",
        *over_best("savage", (*BUT_SAVAGE, *BOTH), (BORDA,)),
    ),
    Claim(
        "the RCS algorithm achieves better performance than RUCB and CCB in real-world datasets",
        "appendix D.2.1, Figures 3c to 3f",
        "less regret than either, on all four",
        *over_best("rcs", ("rucb", "ccb"), REAL),
        reason="On 32 arms T is 2e4 by default, where all three explore; with --full it is 1e6.",
    ),
)
"""Claims about Figures 1 (a) and 3: a Condorcet winner exists."""


_OTHERS = (
    Claim(
        "the regret of D-TS+ is less than 10% of that of CCB",
        "section 5, Figure 1b",
        "a ratio below 0.1",
        *over_other("dts+", "ccb", (OTHER_5,), under(0.1)),
        reason=EARLY,
        open=(HORIZONS,),
    ),
    Claim(
        "Compared with ECW-RMED, D-TS achieves higher regret",
        "section 5, Figure 1b",
        "more regret than ECW-RMED",
        *over_other("dts", "ecw-rmed", (OTHER_5,), more),
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
        reason=EARLY,
    ),
    Claim(
        "lower or comparable regret in the non-Condorcet case",
        "section 5, Figure 1b (of D-TS+, compared to ECW-RMED)",
        "at most 1.25 times the regret of ECW-RMED",
        *over_other("dts+", "ecw-rmed", (OTHER_5,), under(FACTOR)),
        reason=EARLY,
    ),
    Claim(
        "the regret of algorithms dedicated to Condorcet dueling bandits, including BTM, RUCB, "
        "RCS, and RMED1, grows rapidly",
        "appendix D.2.2, Figure 4",
        "the ratio of their regrets to that of D-TS still rises over the last decade, of each, "
        "on all five data sets",
        lambda find: find.rising(NEED_CONDORCET, "dts", FIGURE_4),
        len(FIGURE_4),
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
    ),
    Claim(
        "The SAVAGE algorithm requires to explore all pairs, and usually leads to large regret",
        "appendix D.2.2, Figure 4",
        "at least twice the regret of D-TS, on at least three of five data sets",
        *over_other("savage", "dts", FIGURE_4, over(2.0)),
        at_least(3),
    ),
    Claim(
        "Compared D-TS and D-TS+ with the UCB-type algorithms for general Copeland dueling "
        "bandits, CCB and SCB, we can see that D-TS and D-TS+ perform much better",
        "appendix D.2.2, Figure 4",
        "less regret than either, both, on all five data sets",
        *over_best(BOTH, ("ccb", "scb"), FIGURE_4),
    ),
    Claim(
        "ECW-RMED performs worse than D-TS+ when [t is at most 5e6] [...] This situation becomes "
        "more serious when the number of arms increases",
        "appendix D.2.2, Figures 4e and 4f",
        "more regret than D-TS+, on both data sets",
        *over_other("ecw-rmed", "dts+", MSLR_OTHER, more),
    ),
    Claim(
        "Our D-TS algorithm performs worse than ECW-RMED when there are multiple winners with "
        "similar performance, e.g., for the non-Condorcet Cyclic dataset",
        "appendix D.2.2, Figure 4a",
        "more regret than ECW-RMED",
        *over_other("dts", "ecw-rmed", (CYCLE_9,), more),
    ),
    Claim(
        "for the 500-armed scenario, D-TS still achieves much lower regret than SCB",
        "appendix D.2.2, Figure 4d",
        "at most half the regret of SCB",
        *over_other("dts", "scb", (MANY,), under(0.5), five_hundred.settling_time()),
        needs=f"T = {five_hundred.settling_time():,}, where policies can tell all pairs apart: 3 "
        "hours of a core for two runs of D-TS.",
    ),
    Claim(
        "By carefully breaking the ties, D-TS+ can reduce the regret in many practical scenarios",
        "appendix D.2.2, Figures 1b, 4e and 4f",
        "less regret than D-TS, on all three data sets",
        *over_other("dts+", "dts", IMPROVED),
    ),
    Claim(
        "However, the improvement is limited especially when the winners have very similar or "
        "exactly the same performance",
        "appendix D.2.2, Figure 4a",
        "between 0.8 and 1.25 times the regret of D-TS",
        *over_other("dts+", "dts", (CYCLE_9,), similar),
    ),
    Claim(
        "D-TS randomly explores all potential winners in each individual sample path",
        "appendix D.2.2, Figure 5",
        "the winner that a run exploits least has more than 5 % of its exploitations, on "
        "average over runs, on both data sets",
        lambda find: (m for data in (CYCLE_9, MSLR_OTHER[0]) for m in _least(find, data)),
        2,
        reason=EARLY,
        open=(separate_horizons((20_000, 50_000, 100_000, 200_000, 400_000), 100_000),),
    ),
    Claim(
        "the D-TS+ algorithm tends to focus on one of the winners (if there is no tie in terms "
        "of expected regret)",
        "section 4.3, Figure 5b",
        "the winner that a run exploits most has a larger share than with D-TS, on average "
        "over runs",
        lambda find: _focus(find, MSLR_OTHER[0]),
        1,
    ),
)
"""Claims about Figures 1 (b), 4 and 5: no Condorcet winner."""


def _least(find: Finder, data: str) -> list[Measurement]:
    """D-TS's share of exploitations for the winner that a run exploits least."""
    shares = find.shares("dts", data)
    if shares is None:
        return []
    least = mean_of(shares[:, -1], find.confidence("dts", data))
    return [Measurement.judged(data, "smallest share, D-TS", least, over(0.05))]


def _focus(find: Finder, data: str) -> list[Measurement]:
    """Share of exploitations for the winner that a run exploits most: D-TS+ minus D-TS."""
    one, other = find.shares("dts+", data), find.shares("dts", data)
    if one is None or other is None:
        return []
    confidence = find.confidence("dts", data)
    difference = mean_of(one[:, 0], confidence) - mean_of(other[:, 0], confidence)
    what = "largest share, D-TS+ minus D-TS"
    return [Measurement(data, what, difference, over(0.0)(difference))]


CLAIMS = (*_CONDORCET, *_OTHERS)
"""Claims of section 5 and appendix D about Figures 1, 3, 4 (except the order of arms) and 5."""
