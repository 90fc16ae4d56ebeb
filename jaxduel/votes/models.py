"""Models of votes, what each reads of them, and the effect of sides."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from jaxduel.problems.strengths import Comparisons, comparisons
from jaxduel.votes.counts import Votes

Model = Literal["free", "btl", "thurstone", "davidson"]
MODELS: tuple[Model, ...] = ("free", "btl", "thurstone", "davidson")
"""Names of the models that `fit` knows."""


class Side(NamedTuple):
    """The effect of standing left: level arms win there with odds exp(`value`) in btl.

    Example:
      >>> from pathlib import Path
      >>> import jaxduel as jd
      >>> rows = ["left,right,left_wins,right_wins", "ada,bob,60,40", "bob,ada,60,40"]
      >>> _ = Path("votes.csv").write_text("\\n".join(rows) + "\\n")
      >>> side = jd.votes.fit(jd.votes.read("votes.csv"), side=True).side
      >>> round(side.value, 1), side.low > 0
      (0.4, True)
    """

    value: float
    """Added to the difference of strengths in favour of the left arm, at the mode."""
    low: float
    high: float
    """Ends of the 95 % interval: 2.5 and 97.5 % quantiles of the posterior."""
    above: float
    """Posterior probability that the left side is the better one."""
    moved: float
    """Most by which a strength differs from the fit without sides."""


def compared(votes: Votes, model: Model, sided: bool) -> Comparisons:
    """The votes that a model reads, of pairs or, with known sides, of ordered pairs."""
    if not sided or votes.sides is None:
        return comparisons(votes.wins, votes.ties * (model == "davidson"))
    left, right, ties = votes.sides
    ties = ties * (model == "davidson")
    i, j = np.nonzero(left + right + ties)
    return Comparisons(i, j, left[i, j], right[i, j], ties[i, j], votes.num_arms, sided=True)
