"""Komiyama, Honda and Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm" (ICML 2016): Figure 1 and Table 1.

Given in the text (section 5, captions): Copeland regret, 100 runs, semilogarithmic plots of regret
with the leading terms of Theorems 2 and 4 (LB and ECWB, constants times log T); six data sets, the
MSLR ones random submatrices without extremely small gaps; Table 1 has means over 1e4 of them. The
parameters alpha = 3 and beta = 0.01 are in the authors' reply to the reviewers.

The text breaks off in section 5. Missing from it, and chosen here:

- The horizons: 1e7 with `full`, 1e6 for 64 arms; by default 3e5 on five arms with 100 runs, 1e5 on
  16 with 40 and on 64 with 12.
- The policies compared: ECW-RMED with CCB (alpha = 0.51), SCB, SAVAGE, RUCB and RMED1: all policies
  of the introduction that jaxduel has, except PBR, which is much like SAVAGE.
- The matrices: `jaxduel.studies.papers.copeland_rmed.instances` for 64 arms and MultiSol; the
  16-arm matrices of Wu and Liu (NIPS 2016).
- LB for 64 arms: not computed in the paper, but drawn here.
- The order of arms: each run shuffles them. The order matters on Gap, where a second curve of
  ECW-RMED has the order of the table.

Added: CW-RMED on five arms, with `full` in fewer and shorter runs on 16, and panel s1 for it; panel
s2, `jaxduel.studies.papers.copeland_rmed.study`: all policies for Copeland winners, with `full` to
T = 1e9, except D-TS+, whose comparisons cost most, and the policies that explore longest. SAVAGE
runs anew for each horizon, with its test for Copeland winners. Curves of policies that need a
Condorcet winner, or more comparisons, leave the panel if they would flatten the other curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.papers.copeland_rmed.claims import CLAIMS, Evidence
from jaxduel.studies.papers.copeland_rmed.constants import (
    LB,
    NUM_ARMS,
    SubmatrixTable,
    TablePicture,
    constants_of,
)
from jaxduel.studies.papers.copeland_rmed.instances import (
    MSLR64,
    MULTISOL,
    mslr64,
    multisol_like,
)
from jaxduel.studies.papers.copeland_rmed.study import MeetingPicture
from jaxduel.studies.papers.paper import (
    ABSENT,
    Instances,
    Lineup,
    Order,
    Panel,
    Paper,
    Size,
    Sizes,
    curves,
    regret,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.varied import in_fixed_order
from jaxduel.studies.wanted import Competitor

SUBMATRICES, FULL_SUBMATRICES = 2_000, 10_000

_5_ARMS = Sizes(Size(300_000, 100), Size(10_000_000, 100))
_16_ARMS = Sizes(Size(100_000, 40), Size(10_000_000, 100))
_64_ARMS = Sizes(Size(100_000, 12), Size(1_000_000, 100))
_SLOW = {"cw-rmed": Sizes(ABSENT, Size(100_000, 20))}
"""CW-RMED on 16 arms."""
_LONG = Sizes(Size(10**6, 50), Size(10**9, 500))
_LESS = Sizes(Size(10**5, 20), Size(10**7, 100))
"""Sizes of `COSTLY` in panel s2."""

MSLR16 = Instances("mslr16-condorcet", "MSLR, $K={}$, Condorcet", _16_ARMS)
MSLR16_OTHER = Instances("mslr16-noncondorcet", "MSLR, $K={}$, non-Condorcet", _16_ARMS)
MSLR64_OTHER = Instances(MSLR64, "MSLR, $K={}$, non-Condorcet", _64_ARMS, mslr64)
SUSHI = Instances("sushi", "Sushi, $K={}$", _16_ARMS)
GAP = Instances("gap", "Gap, $K={}$", _5_ARMS)
MULTISOL_LIKE = Instances(MULTISOL, "in place of MultiSol, $K={}$", _5_ARMS, multisol_like)
MSLR5 = Instances("mslr5-condorcet", "MSLR, $K={}$, Condorcet", _5_ARMS)
MSLR5_OTHER = Instances("mslr5-noncondorcet", "MSLR, $K={}$, non-Condorcet", _LONG)

COMPETITORS = {
    "ecw-rmed": Competitor("ecw-rmed", "ECW-RMED", "ecw-rmed", {}),
    "cw-rmed": Competitor("cw-rmed", "CW-RMED", "cw-rmed", {}),
    "ccb": Competitor("ccb", "CCB", "ccb", {"alpha": 0.51}),
    "scb": Competitor("scb", "SCB", "scb", {}, quick=True),
    "savage": Competitor(
        "savage", "SAVAGE", "savage", {"test": "copeland"}, quick=True, per_horizon=True
    ),
    "rucb": Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}, quick=True),
    "rmed1": Competitor("rmed1", "RMED1", "rmed1", {"scale": 0.3, "exponent": 1.01}, quick=True),
}
GUESTS = {
    "dts": Competitor("dts", "D-TS", "dts", {"alpha": 0.51}),
    "dts+": Competitor("dts+", "D-TS+", "dts+", {"alpha": 0.51}),
    "pbr": Competitor("pbr", "PBR", "pbr", {}, quick=True, per_horizon=True),
}
"""Policies for Copeland winners that the paper does not mention; they play in panel s2."""
STUDY = ("ecw-rmed", "cw-rmed", "dts", "dts+", "ccb", "scb", "savage", "pbr")
COSTLY = ("dts+", "scb", "savage", "pbr")
"""Policies of `STUDY` whose long runs in panel s2 cost too much."""
FIXED = in_fixed_order(COMPETITORS["ecw-rmed"])
WITHOUT_CW = tuple(c for name, c in COMPETITORS.items() if name != "cw-rmed")


def _lines(problem: DuelingProblem) -> Mapping[str, float]:
    """The bounds to draw."""
    return constants_of(problem).lines()


def _lower(problem: DuelingProblem) -> Mapping[str, float]:
    """The lower bound alone."""
    return {LB: constants_of(problem).lower}


def table(panel: Panel, order: Order, setting: Setting) -> TablePicture:
    """Table 1."""
    number = FULL_SUBMATRICES if order.full else SUBMATRICES
    rows = SubmatrixTable(problems.load("mslr-informational"), number, order.seed)
    return TablePicture(panel.name, rows)


def _regret(
    name: str,
    instances: Instances,
    competitors: tuple[Competitor, ...] = tuple(COMPETITORS.values()),
    what: str = "regret",
    sizes_by_policy: Mapping[str, Sizes] = MappingProxyType({}),
) -> Panel:
    options = {"bounds": _lines, "frame": ("ecw-rmed", FIXED.name, "cw-rmed", "ccb")}
    return regret(
        name, instances, competitors, what, sizes_by_policy=sizes_by_policy, options=options
    )


PAPER = Paper(
    name="copeland-rmed",
    panels=(
        _regret("1a", MSLR16, sizes_by_policy=_SLOW),
        _regret("1b", MSLR16_OTHER, sizes_by_policy=_SLOW),
        _regret("1c", MSLR64_OTHER, WITHOUT_CW),
        _regret("1d", SUSHI, sizes_by_policy=_SLOW),
        _regret("1e", GAP, (*COMPETITORS.values(), FIXED)),
        _regret("1f", MULTISOL_LIKE),
        Panel("table1", "constants of bounds", table, where=f"random {NUM_ARMS}-arm submatrices"),
        _regret("s1", MSLR5, (COMPETITORS["ecw-rmed"], COMPETITORS["cw-rmed"])),
        Panel(
            "s2",
            "who meets LB, when",
            partial(curves, kind=MeetingPicture),
            (Lineup(MSLR5_OTHER, tuple((COMPETITORS | GUESTS)[name] for name in STUDY)),),
            sizes_by_policy=dict.fromkeys(COSTLY, _LESS),
            options={"bounds": _lower, "regret_scale": "log"},
        ),
    ),
    setting=Setting(100_000, "copeland", time_scale="log", regret_scale="linear", start=100),
    claims=CLAIMS,
    notes=(
        "The paper's horizons are not known; s1 and s2 are not in the paper.",
        f"Table 1: {SUBMATRICES:,} random submatrices, {FULL_SUBMATRICES:,} with --full.",
        "s2: policies whose runs cost most there, D-TS+, SCB, SAVAGE and PBR, play less.",
        f"{MULTISOL}: constructed, not the paper's matrix, which is lost.",
        f"{MSLR64}: the paper's arms are not known; the smallest gap is 0.0025.",
        "Policies that need a Condorcet winner also play where there is none.",
    ),
    evidence=Evidence.at_hand,
    breaks_assumptions=True,
)
