"""Many arms: regret on the 136 rankers of MSLR, and at T = 1e5 against the number of arms.

Figure 1: the experiment of MergeDTS (Li, Markov, de Rijke and Zoghi, TOIS 2020), average regret on
three matrices of 136 rankers (one without the 110th ranker, to have a Condorcet winner), with its
tuned alpha = 0.8^6, C = 4e5 and p = 16 (8 for MergeRUCB), and D-TS with 0.8^7. In the paper T is
1e8, with 50 runs.

Figure 2: Figure 3, right, of REX3 (Gajane, Urvoy and Clerot, ICML 2015): regret at T = 1e5 on
random subsets of the navigational rankers. The paper has 50 runs; here each run has its own subset.

Chosen here:

- Figure 1: T = 1e5 and 10 runs by default, 1e7 and 50 with `full`, but 5 of D-TS, where one to 1e7
  takes six minutes of a core.
- REX3: anytime in figure 1, gamma recomputed with G_max = t / 2; for T in figure 2, G_max = T / 2,
  with the step of the text and with twice that step, as in the authors' program.
- Sparring has UCB players (REX3's paper: EXP3), SAVAGE is made for T.
"""

from __future__ import annotations

from functools import partial

import jax
import numpy as np

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.papers.many_arms.claims import (
    CLAIMS,
    INFORMATIONAL,
    LONG,
    RANKERS,
    SIZES,
    subset,
)
from jaxduel.studies.papers.paper import (
    Instances,
    Lineup,
    Order,
    Panel,
    Paper,
    Size,
    Sizes,
    named_key,
    regret,
)
from jaxduel.studies.pictures import Setting
from jaxduel.studies.varied import Axis, VariedPicture, across
from jaxduel.studies.wanted import Competitor, Draw

HORIZON = 100_000
_136_ARMS = Sizes(Size(HORIZON, 10), Size(LONG, 50))
_DTS = Sizes(Size(HORIZON, 5), Size(LONG, 5))
_SUBSETS = Sizes(Size(HORIZON, 10), Size(HORIZON, 50))

TUNED = {"alpha": 0.8**6, "offset": 4e5}

FIGURE_1 = (
    Competitor("merge-dts", "MergeDTS", "merge-dts", {**TUNED, "group_size": 16}),
    Competitor("merge-rucb", "MergeRUCB", "merge-rucb", {**TUNED, "group_size": 8}, quick=True),
    Competitor("dts", "D-TS", "dts", {"alpha": 0.8**7}),
    Competitor("rmed1", "RMED1", "rmed1", {}),
    Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}),
    Competitor("self-sparring", "Self-Sparring", "self-sparring", {}),
    Competitor("rex3[anytime=true]", "REX3, anytime", "rex3", {"anytime": True}, quick=True),
)
FIGURE_2 = (
    Competitor("rex3", "REX3", "rex3", {}, quick=True),
    Competitor(
        "rex3[half=false]",
        "REX3, twice the step",
        "rex3",
        {"half": False},
        quick=True,
    ),
    Competitor("rucb", "RUCB", "rucb", {"alpha": 0.51}),
    Competitor("savage", "SAVAGE", "savage", {}, quick=True),
    Competitor("sparring", "Sparring", "sparring", {}, quick=True),
)


def informational() -> DuelingProblem:
    """The informational rankers without the 110th.

    Raises:
      InputError: if the data are not available.
    """
    whole = problems.load("mslr-informational").preferences
    left_out = 110 - 1
    rest = np.delete(np.delete(whole, left_out, axis=0), left_out, axis=1)
    return problems.from_matrix(rest, INFORMATIONAL)


def drawn(num_arms: int, order: Order, runs: int) -> tuple[Draw, ...]:
    """A random subset of the navigational rankers for each run, redrawn until it has a Condorcet
    winner."""
    whole = problems.load("mslr-navigational")
    root, draws = named_key(order.seed, subset(num_arms)), []
    for number in range(runs):
        pick, play = jax.random.split(jax.random.fold_in(root, number))
        rng = np.random.default_rng(np.asarray(jax.random.key_data(pick)))
        while True:
            arms = rng.permutation(whole.num_arms)[:num_arms]
            problem = whole.submatrix(np.sort(arms).tolist())
            if problem.condorcet_winner is not None:
                break
        draws.append(Draw(problem, play, 1))
    return tuple(draws)


def by_size(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Final regret against the number of arms."""
    lines = across(SIZES, panel.wanted(order, setting))
    title = "random subsets of mslr-navigational"
    axis = Axis("arms $K$", "num_arms", "log")
    return VariedPicture(panel.name, title, axis, lines, regret_scale="log")


PAPER = Paper(
    name="many-arms",
    panels=(
        *(
            regret(
                f"1{letter}",
                Instances(name, f"{name}, $K={{}}$", _136_ARMS, make),
                FIGURE_1,
                sizes_by_policy={"dts": _DTS},
            )
            for letter, name, make in zip("abc", RANKERS, (informational, None, None), strict=True)
        ),
        Panel(
            "2",
            "regret by K",
            by_size,
            tuple(
                Lineup(
                    Instances(subset(k), "$K={}$", _SUBSETS, draws=partial(drawn, k)),
                    FIGURE_2,
                )
                for k in SIZES
            ),
        ),
    ),
    setting=Setting(HORIZON, "average", time_scale="log", regret_scale="log", start=100),
    claims=CLAIMS,
    notes=(
        "MergeDTS, MergeRUCB and D-TS with the constants of MergeDTS's experiments, for which less "
        "is proved.",
        "The paper of figure 1 has T = 1e8.",
    ),
    shortest=100,
    breaks_assumptions=True,
)
