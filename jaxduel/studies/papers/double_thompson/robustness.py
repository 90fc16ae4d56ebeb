"""Claims of Wu and Liu (NIPS 2016) about the robustness of D-TS and D-TS+, and about D-TS without
elimination: Figures 2, 4 (c), 6 and 7."""

from __future__ import annotations

from collections.abc import Iterator

from jaxduel.studies.claims import Claim, Measurement, at_least, less, more, over, under
from jaxduel.studies.estimates import std_over_mean, std_ratio
from jaxduel.studies.findings import Finder, over_other
from jaxduel.studies.papers.double_thompson.claims import (
    BORDA,
    BOTH,
    CONDORCET_5,
    CYCLE_9,
    EARLY,
    GAP,
    HORIZONS,
    OTHER_5,
)

FIXED = "ecw-rmed[shuffle_arms=false]"

_ROBUST = (
    Claim(
        "the STD of regret for ECW-RMED is almost 200% of its mean value",
        "section 5, Figure 2, no Condorcet winner",
        "above 1",
        lambda find: find.of_pairs(
            "STD / mean, {0}", std_over_mean, "ecw-rmed", "ecw-rmed", OTHER_5, over(1.0)
        ),
        1,
        reason=EARLY,
    ),
    Claim(
        "while it is only 13.16% for D-TS+",
        "section 5, Figure 2, no Condorcet winner",
        "below 0.2, of its own mean or of that of ECW-RMED: the text does not say of which",
        lambda find: (
            m
            for what, other in (("STD / mean, {0}", "dts+"), ("STD, {0} / mean, {1}", "ecw-rmed"))
            for m in find.of_pairs(what, std_over_mean, "dts+", other, OTHER_5, under(0.2))
        ),
        2,
        at_least(1),
        reason=EARLY,
        open=(HORIZONS,),
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
    ),
    Claim(
        "when the order of arms is fixed [...], ECW-RMED performs very well. [...] However, "
        "when the arms are randomly shuffled in each experiment, ECW-RMED achieves much larger "
        "regret",
        "appendix D.2.3, Figure 4c",
        "at least twice the regret",
        *over_other("ecw-rmed", FIXED, (GAP,), over(2.0)),
    ),
    Claim(
        "D-TS and D-TS+ do not depend on the order of arms and perform much better than "
        "ECW-RMED on average in this dataset",
        "appendix D.2.3, Figure 4c",
        "less regret than ECW-RMED, both",
        *over_other(BOTH, "ecw-rmed", (GAP,)),
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
    ),
    Claim(
        "the regret of ECW-RMED becomes larger than D-TS and D-TS+ when the feedback delay is "
        "larger than about 300 time-slots",
        "appendix D.2.3, Figure 6b",
        "less regret than either at d = 100, more at d = 1,000 and 3,000",
        lambda find: _late(find),
        6,
    ),
    Claim(
        "D-TS and D-TS+ are also robust to delayed feedback",
        "section 5, appendix D.2.3, Figure 6",
        "at d = 300 at most twice the regret without delay, both, on both data sets",
        lambda find: _slowed(find),
        4,
    ),
)
"""Claims about Figures 2, 4 (c) and 6: spread, order of arms, and delay."""


def _late(find: Finder) -> Iterator[Measurement]:
    """ECW-RMED's regret over D-TS's and D-TS+'s: below 1 at a short delay, above at long delays."""
    for delay, judge in ((100, less), (1_000, more), (3_000, more)):
        for policy in BOTH:
            yield from find.ratios(
                f"ecw-rmed[delay={delay}]", f"{policy}[delay={delay}]", (CYCLE_9,), judge
            )


def _slowed(find: Finder) -> Iterator[Measurement]:
    """Regret at d = 300 over regret without delay, of D-TS and D-TS+."""
    for data in (CONDORCET_5, CYCLE_9):
        for policy in BOTH:
            yield from find.ratios(f"{policy}[delay=300]", policy, (data,), under(2.0))


_ELIMINATION = (
    Claim(
        "pure D-TS achieves higher regret in this case",
        "appendix D.2.4, Figure 7a",
        "more regret than D-TS on StrongBorda",
        *over_other("pure-dts", "dts", (BORDA,), more),
    ),
    Claim(
        "pure D-TS could achieve linear regret if a Copeland winner is beaten by a non-winner arm",
        "appendix D.2.4, Figure 7b",
        "slope of log R against log t over the last decade above 0.9",
        lambda find: find.slopes(("pure-dts",), (CYCLE_9,), over(0.9)),
        1,
    ),
    Claim(
        "By introducing RLCB elimination, D-TS/D-TS+ can avoid trapping in theses suboptimal "
        "comparisons and achieve much better performance",
        "appendix D.2.4, Figure 7b",
        "at most half the regret of pure D-TS, both",
        *over_other(BOTH, "pure-dts", (CYCLE_9,), under(0.5)),
    ),
    Claim(
        "without the limitation of RUCB/RLCB, pure D-TS may achieve [better performance] in "
        "certain practical scenarios, e.g., the 5-arm MSLR data sets",
        "appendix D.2.4, Figures 7c and 7d (a word is missing in the text)",
        "at most 1.1 times the regret of D-TS, on both",
        *over_other("pure-dts", "dts", (CONDORCET_5, OTHER_5), under(1.1)),
    ),
)
"""Claims about Figure 7: D-TS without elimination."""


CLAIMS = (*_ROBUST, *_ELIMINATION)
"""Claims of section 5 and appendix D about Figures 2, 4 (c), 6 and 7."""
