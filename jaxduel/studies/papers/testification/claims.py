"""Claims of Haddenhorst, Bengs, Brandt and Huellermeier (UAI 2021) about Table 1 of the supplement.

Their program begins with a duel of every pair. NTS asks for `ASKED` of these duels anyway, so that
the program counts `FREE` more duels than ours. Their SELECT plays up to 21 matches among 20 arms,
ours 19: a difference of a tenth.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from jaxduel.studies.claims import Claim, Measurement, between
from jaxduel.studies.estimates import exact, mean_final
from jaxduel.studies.findings import Finder, over_other

NUM_ARMS = 20
NTS, VERIFY = "nts", "select-then-verify"

PRINTED = {
    NTS: {
        0.45: 887,
        0.40: 980,
        0.35: 1_085,
        0.30: 1_262,
        0.25: 1_447,
        0.20: 1_798,
        0.15: 2_331,
        0.10: 3_383,
        0.05: 6_607,
        0.02: 14_155,
    },
    VERIFY: {0.45: 21_751, 0.30: 21_773, 0.10: 22_096, 0.05: 22_544, 0.02: 23_567},
}
"""Mean duels by policy and h': every preference is 1/2 + h' or 1/2 - h'."""
LEADS = tuple(PRINTED[NTS])
PAIRS = NUM_ARMS * (NUM_ARMS - 1) // 2
ASKED = (NUM_ARMS - 1) + 2
"""Mean number of pairs in the knockout and of pairs with the champion, whom each arm beats with
probability 1/2."""
FREE = PAIRS - ASKED
CLOSE, NEAR = 1.05, 1.25


def where(lead: float) -> str:
    """The name of an instance."""
    return f"no winner, h' = {lead:.2f}"


def _printed(find: Finder, policy: str, free: int, factor: float) -> Iterator[Measurement]:
    """Mean duels of each h', judged by their ratio to the printed number."""
    for lead, number in PRINTED[policy].items():
        runs = find.runs.get((where(lead), policy))
        if runs is not None:
            share = (mean_final(runs) - exact(-free)).times(1 / number)
            duels = f"(duels + {free})" if free else "duels"
            words = f"{duels} / {number:,}, {runs.label}"
            yield Measurement(where(lead), words, share, between(1 / factor, factor)(share))


def _claim(label: str, policy: str, free: int, factor: float, why: str) -> Claim:
    printed = PRINTED[policy]
    return Claim(
        f"{label}: {printed[0.45]:,} duels at h' = 0.45, {printed[0.02]:,} at 0.02",
        "Table 1 of the supplement",
        f"mean duels within a factor of {factor:g} of each printed number, {why}",
        partial(_printed, policy=policy, free=free, factor=factor),
        len(printed),
    )


CLAIMS = (
    Claim(
        "NTS needs fewer duels than SELECT-then-verify",
        "Table 1 of the supplement",
        "fewer duels at each h'",
        *over_other(NTS, VERIFY, tuple(map(where, LEADS))),
    ),
    _claim("NTS", NTS, FREE, CLOSE, f"with the {FREE} first duels of their program"),
    _claim("SELECT-then-verify", VERIFY, 0, NEAR, "whose program plays two matches more"),
)
"""Claims about Table 1."""
