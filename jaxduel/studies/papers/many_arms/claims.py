"""Claims on many arms: the abstracts of MergeRUCB and of MergeDTS, section 5 of REX3's paper.

The 110th informational ranker is left out, as by MergeDTS's authors: with it there is no Condorcet
winner. Two readings of REX3 play: its program has twice the step of its text.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxduel.studies.claims import Claim, Measurement, at_least, between, less
from jaxduel.studies.findings import Finder, over_other

INFORMATIONAL = "mslr-informational without 110"
RANKERS = (INFORMATIONAL, "mslr-navigational", "mslr-perfect")
SIZES = (4, 8, 16, 32, 64, 136)
MANY = (64, 136)
"""Numbers of arms at which REX3 is ahead in its paper's figure."""
ANYTIME = "rex3[anytime=true]"
RIVALS = ("dts", "rmed1", "self-sparring", ANYTIME, "rucb", "merge-rucb")
REX3S = ("rex3", "rex3[half=false]")
OTHERS = ("rucb", "savage", "sparring")
ROOT = (0.35, 0.65)
"""Slopes of log R against log t that count as growth like sqrt t."""


LONG = 10_000_000
"""T from which on claims about long runs are judged; MergeDTS's experiments have 1e8."""


def subset(num_arms: int) -> str:
    """The name of the instance of random subsets of the navigational rankers."""
    return f"{num_arms} of mslr-navigational"


def _slopes(find: Finder) -> Iterator[Measurement]:
    """REX3's slopes, undecided where T is below `LONG`."""
    for name in RANKERS:
        for found in find.slopes((ANYTIME,), (name,), between(*ROOT)):
            late = find.runs[name, ANYTIME].times[-1] >= LONG
            yield found if late else found.left_open()


CLAIMS = (
    Claim(
        "MergeDTS has lower cumulative regret than the state of the art on large sets",
        "MergeDTS, abstract",
        f"less regret than each other policy on all three sets at T = {LONG:,} or later",
        lambda find: (
            m for other in RIVALS for m in find.ratios("merge-dts", other, RANKERS, less, LONG)
        ),
        len(RIVALS) * len(RANKERS),
        needs=f"T = {LONG:,} (--full); the paper has 1e8.",
    ),
    Claim(
        "MergeDTS has lower regret than MergeRUCB",
        "MergeDTS, section 6, by its sense",
        "less regret on all three sets",
        *over_other("merge-dts", "merge-rucb", RANKERS),
    ),
    Claim(
        "MergeRUCB outperforms RUCB where there are many rankers",
        "MergeRUCB, abstract, by its sense",
        "less regret on all three sets",
        *over_other("merge-rucb", "rucb", RANKERS),
    ),
    *(
        Claim(
            f"REX3 has less regret than RUCB, SAVAGE and Sparring for many arms: {words}",
            "REX3, Figure 3, right",
            f"less regret for K = {' and '.join(map(str, MANY))} at T = 1e5",
            lambda find, name=name: find.against_best(name, OTHERS, tuple(map(subset, MANY))),
            len(MANY),
        )
        for name, words in zip(REX3S, ("the step of the text", "that of the program"), strict=True)
    ),
    Claim(
        "REX3's regret grows like sqrt t",
        "REX3, section 5.2",
        f"slope of log R over the last decade from {ROOT[0]:g} to {ROOT[1]:g} on two of three sets "
        f"at T = {LONG:,} or later",
        _slopes,
        len(RANKERS),
        at_least(2),
        needs=f"T = {LONG:,} (--full), where it has left uniform play.",
    ),
)
"""Claims about the figures."""
