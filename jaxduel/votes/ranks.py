"""Ranks of arms, with ranges that hold for all arms at once.

Ranges are those of Besag, Green, Higdon and Mengersen ("Bayesian computation and stochastic
systems", Statistical Science 10, 1995): every arm's range leaves out the same probability at either
end, as much as lets 95 % of draws lie within the ranges of all arms. A draw is judged by the other
draws: among many arms most draws are the first or last of some arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import warn_caller
from jaxduel.policies.checks import whole_number
from jaxduel.problems.strengths import Laplace
from jaxduel.votes.posterior import Draws, normal_draws

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.95
_LEVEL_ARMS = 1e-6
"""Difference of strengths up to which arms share a rank: modes have errors of rounding."""
_ROUNDING = 1e-12
"""Error of a sum of weights, and of a tail as it is found from either end."""


def ranks(arms: Sequence[str], posterior: Laplace, draws: Draws | None, top: int) -> pd.DataFrame:
    """The table of `Fit.ranks`.

    Args:
      arms: names of the arms.
      posterior: the normal approximation of the strengths.
      draws: weighted draws of the strengths; None where the normal approximation stands in.
      top: places that count as the top, at least 1.

    Raises:
      InputError: unless `top` is a whole number of at least 1.

    Warns:
      UserWarning: the draws are too few for ranges of so many arms.
    """
    import pandas as pd

    top = whole_number(top, 1, "top")
    sample = normal_draws(posterior) if draws is None else draws
    drawn = _ranks(sample.strengths)
    chances = _chances(drawn, sample.weights)
    low, high = _ranges(drawn, sample.weights, chances)
    mode = posterior.mode
    columns = {
        "arm": arms,
        "rank": 1 + (mode > mode[:, None] + _LEVEL_ARMS).sum(axis=1),
        "rank_low": low + 1,
        "rank_high": high + 1,
        f"top_{top}": np.minimum(chances[:, :top].sum(axis=1), 1),
    }
    order = np.argsort(-mode, kind="stable")
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


def _ranks(strengths: np.ndarray) -> np.ndarray:
    """Ranks from 0, the strongest's: (N, K) int16."""
    ranked = np.empty(strengths.shape, np.int16)
    places = np.arange(strengths.shape[1], dtype=np.int16)
    np.put_along_axis(ranked, np.argsort(-strengths, axis=1), places[None], axis=1)
    return ranked


def _chances(drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Probability of each rank, for each arm: (K, K), rows sum to 1."""
    num_arms = drawn.shape[1]
    return np.stack([np.bincount(own, weights, num_arms) for own in drawn.T])


def _ranges(
    drawn: np.ndarray, weights: np.ndarray, chances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and last ranks, from 0, of each arm's range: (K,) each."""
    # probability of a rank and of all beyond it, on the rarer side
    below, above = np.cumsum(chances, axis=1), np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    tails = np.minimum(below, above)
    # of the arms of a draw, without the draw itself
    least = np.min(tails[np.arange(len(tails)), drawn], axis=1) - weights
    order = np.argsort(-least, kind="stable")
    last = order[np.argmax(np.cumsum(weights[order]) >= _LEVEL - _ROUNDING)]
    if least[last] < _ROUNDING:
        warn_caller(
            f"{len(weights):,} draws are too few for ranks of {len(tails):,} arms: their ranges "
            f"hold at once with a probability below {_LEVEL}."
        )
    inside = tails >= max(least[last] - _ROUNDING, _ROUNDING)
    return np.argmax(inside, axis=1), len(tails) - 1 - np.argmax(inside[:, ::-1], axis=1)
