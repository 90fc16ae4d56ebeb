"""Open choices of Komiyama, Honda and Nakagawa (ICML 2016): axes for claims about Figure 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxduel import problems
from jaxduel.problems import DuelingProblem
from jaxduel.studies.choices import Choice, on_instance, parameter
from jaxduel.studies.papers.copeland_rmed.instances import random_submatrices
from jaxduel.studies.wanted import Wanted

_NUM_ARMS, _SEED = 16, 0
_STATED = "Wu and Liu's"
_ORDINALS = ("first", "second", "third", "fourth", "fifth")

ALPHA_OF_CCB = parameter(
    "alpha of CCB", "alpha", (0.3, 0.51, 0.75, 1.0, 1.5, 2.0), 0.51, "ccb", symbol="alpha"
)
"""The text does not give it; CCB's theorem needs more than 1/2, its authors' value is not known."""
ALPHA = parameter(
    "alpha of CW-RMED", "alpha", (0.3, 0.5, 1.0, 2.0, 3.0, 5.0), 3.0, "cw-rmed", symbol="alpha",
    scale="log",
)  # fmt: skip
"""The paper does not run CW-RMED; 3 is ECW-RMED's. The theorem holds for each positive one."""


def _drawn(condorcet: bool) -> Iterator[DuelingProblem]:
    """Random submatrices as the paper describes them, with or without a Condorcet winner."""
    whole = problems.load("mslr-informational")
    rng = np.random.default_rng(_SEED)
    for arms in random_submatrices(np.asarray(whole.preferences), _NUM_ARMS, rng):
        problem = whole.submatrix(arms.tolist())
        if (problem.condorcet_winner is not None) == condorcet:
            yield problem


def _submatrix(one: Wanted, name: str) -> Wanted:
    kinds = {"mslr16-condorcet": True, "mslr16-noncondorcet": False}
    if one.where not in kinds:
        return one
    drawn = _drawn(kinds[one.where])
    for _ in range(_ORDINALS.index(name)):
        next(drawn)
    return on_instance(one, next(drawn))


SUBMATRIX = Choice("random submatrices", (_STATED, *_ORDINALS), _STATED, _submatrix)
"""Those of 16 arms; the 64 arms stay."""
