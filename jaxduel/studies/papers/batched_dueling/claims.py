"""Claims of Agarwal, Ghuge and Nagarajan (ICML 2022) about batched algorithms, Figures 1 and 2.

Ratios are of mean regrets at the horizon of the instance.
"""

from __future__ import annotations

from jaxduel.studies.claims import Claim, Measurement, at_least, less, more, similar, under
from jaxduel.studies.findings import Finder, over_best, over_other
from jaxduel.studies.papers.batched_dueling.choices import OPEN

SIX, SUSHI, BTL, CD = "six rankers", "sushi", "SYN-BTL", "SYN-CD"
REAL, SYNTHETIC, ALL = (SIX, SUSHI), (BTL, CD), (SIX, SUSHI, BTL, CD)
FEW, SOME = "scomp2[num_batches=2]", "scomp2[num_batches=8]"

LOST = 3.0
"""Runs with more than this many times the mean regret of RMED1 have mostly lost the best arm."""

CLAIMS = (
    Claim(
        "SCOMP2 performs comparably to RMED1 in all datasets",
        "section 5, Figure 1",
        "at most twice the regret of RMED1, on every data set",
        *over_other("scomp2", "rmed1", ALL, under(2.0)),
        reason="On the six rankers some runs give up the best arm and pay until T: the KL test "
        "has no guarantee, and errs more without the transitivity that the paper assumes.",
        facts=lambda find: find.costly("scomp2", "rmed1", (SIX,), LOST),
        open=OPEN,
    ),
    Claim(
        "even outperforms RUCB in 3 out of the 4 datasets",
        "section 5, Figure 1",
        "less regret than RUCB on at least 3 data sets",
        *over_other("scomp2", "rucb", ALL),
        at_least(3),
    ),
    Claim(
        "always beats BTM",
        "section 5, Figure 1",
        "less regret than BTM on every data set",
        *over_other("scomp2", "btm", ALL),
    ),
    Claim(
        "both PCOMP and SCOMP considerably outperform BTM on the six rankers and sushi data",
        "section 5, Figure 1",
        "at most half the regret of BTM, both, on both data sets",
        *over_other(("pcomp", "scomp"), "btm", REAL, under(0.5)),
    ),
    Claim(
        "however their performance degrades on the synthetic data",
        "section 5, Figure 1",
        "regret relative to BTM's grows from the worse of the real data sets to each synthetic "
        "one, for both",
        lambda find: (m for policy in ("pcomp", "scomp") for m in _degradation(find, policy)),
        4,
    ),
    Claim(
        "it performs the best amongst all sequential algorithms",
        "section 5 (of RMED1), Figure 1",
        "less regret than RUCB and BTM on every data set",
        *over_best("rmed1", ("rucb", "btm"), ALL),
    ),
    Claim(
        "as we increase the number of batches, the (expected) cumulative regret decreases",
        "section 5, Figure 2",
        "less regret with B = 8 than with 2, and with 16 than with 8, on every data set",
        lambda find: (*find.ratios(SOME, FEW, ALL, less), *find.ratios("scomp2", SOME, ALL, less)),
        8,
        reason="From 8 to 16 batches the median falls on the six rankers, too; the mean rises, "
        "since more runs give up the best arm.",
        facts=lambda find: (
            line for name in (SOME, "scomp2") for line in find.costly(name, "rmed1", (SIX,), LOST)
        ),
        open=OPEN,
    ),
    Claim(
        "on the synthetic datasets (where K = 100), the regret of SCOMP2 approaches that of RMED1",
        "section 5, Figure 2",
        "at B = 16 at most twice the regret of RMED1, and less than at B = 2, on both",
        lambda find: (
            *find.ratios("scomp2", "rmed1", SYNTHETIC, under(2.0)),
            *find.ratios("scomp2", FEW, SYNTHETIC, less),
        ),
        4,
    ),
    Claim(
        "the regret incurred is almost identical for SYN-BTL dataset",
        "section 5, Figure 2",
        "between 0.8 and 1.25 times the regret of RMED1 at B = 16",
        *over_other("scomp2", "rmed1", (BTL,), similar),
    ),
)
"""Claims of section 5 and appendix A."""


def _degradation(find: Finder, policy: str) -> list[Measurement]:
    """Regret relative to BTM's on synthetic data, over that ratio on the worse real instance."""
    to_btm = {m.where: m for m in find.ratios(policy, "btm", ALL, less)}
    real = [to_btm[data] for data in REAL if data in to_btm]
    if not real:
        return []
    worse = max(real, key=lambda m: m.estimate.value)
    found = []
    for data in (data for data in SYNTHETIC if data in to_btm):
        growth = to_btm[data].estimate / worse.estimate
        medians = to_btm[data].medians / worse.medians
        what = f"{policy.upper()} / BTM over {worse.where}'s"
        found.append(Measurement(data, what, growth, more(growth), medians=medians))
    return found
