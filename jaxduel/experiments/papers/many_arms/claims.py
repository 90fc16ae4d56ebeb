"""Claims on many arms: the abstracts of MergeRUCB and of MergeDTS, section 5 of REX3's paper.

The 136 rankers are those of the paper of RUCB's authors. For REX3 several readings play: its
program has twice the step of its text, and a horizon must be given or not.
"""

from __future__ import annotations

from jaxduel.experiments.claims import Claim, all_hold, at_least
from jaxduel.experiments.estimates import Estimate
from jaxduel.experiments.findings import Verdict, above, below, less

RANKERS = ("mslr-informational", "mslr-navigational", "mslr-perfect")
SIZES = (4, 8, 16, 32, 64, 136)
MANY = (64, 136)
"""Sizes at which REX3's figure has it in front."""
ANYTIME = "rex3[anytime=true]"
RIVALS = ("dts", "rmed1", "self-sparring", ANYTIME, "rucb", "merge-rucb")
REX3S = ("rex3", "rex3[half=false]")
OTHERS = ("rucb", "savage", "sparring")
ROOT = (0.35, 0.65)
"""Slopes of log R against log t that count as those of sqrt t."""


def subset(num_arms: int) -> str:
    """The name of the data set of random subsets of the navigational rankers."""
    return f"{num_arms} of mslr-navigational"


def like_root(estimate: Estimate) -> Verdict:
    """Criterion: a slope like that of sqrt t."""
    return all_hold((above(estimate, ROOT[0]), below(estimate, ROOT[1])))


CLAIMS = (
    Claim(
        "MergeDTS has lower cumulative regret than the state of the art on large sets",
        "MergeDTS, abstract",
        "less regret than each other policy on two of three sets",
        lambda find: find.against_best("merge-dts", RIVALS, RANKERS),
        len(RANKERS),
        at_least(2),
        "the paper's T = 1e8 and 50 runs; --full has 1e6.",
    ),
    Claim(
        "MergeDTS has lower regret than MergeRUCB",
        "MergeDTS, section 6, by its sense",
        "less regret on all three sets",
        lambda find: find.ratios("merge-dts", "merge-rucb", RANKERS, less),
        len(RANKERS),
        all_hold,
    ),
    Claim(
        "MergeRUCB outperforms RUCB where there are many rankers",
        "MergeRUCB, abstract, by its sense",
        "less regret on all three sets",
        lambda find: find.ratios("merge-rucb", "rucb", RANKERS, less),
        len(RANKERS),
        all_hold,
    ),
    *(
        Claim(
            f"REX3 has less regret than RUCB, SAVAGE and Sparring for many arms: {words}",
            "REX3, Figure 3, right",
            f"less regret for K = {' and '.join(map(str, MANY))} at T = 1e5",
            lambda find, name=name: find.against_best(name, OTHERS, tuple(map(subset, MANY))),
            len(MANY),
            all_hold,
        )
        for name, words in zip(REX3S, ("the step of the text", "that of the program"), strict=True)
    ),
    Claim(
        "REX3's regret grows like sqrt t",
        "REX3, section 5.2",
        f"slope of log R over the last decade from {ROOT[0]:g} to {ROOT[1]:g} on two of three sets",
        lambda find: find.slopes((ANYTIME,), RANKERS, like_root),
        len(RANKERS),
        at_least(2),
        "t beyond K^2 or so, where it has left uniform play (--full).",
    ),
)
"""Claims about the figures."""
