"""Ranks of arms, with ranges that hold for all arms at once.

Ranges are those of Besag, Green, Higdon and Mengersen ("Bayesian computation and stochastic
systems", Statistical Science 10, 1995): every arm's range leaves out the same probability at either
end, as much as lets 95 % of draws lie within the ranges of all arms. A draw is judged by the other
draws: among many arms most draws are the first or last of some arm. Where all of 5 % of them are,
ranges reach as many deviations to either side of the mean rank instead (Ruppert, Wand and Carroll,
"Semiparametric regression", 2003, section 6.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.policies.checks import whole_number
from jaxduel.problems.strengths import Mode
from jaxduel.votes.posterior import Draws

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.95
_LEVEL_ARMS = 1e-6
"""Difference of strengths up to which arms share a rank: modes have errors of rounding."""
_ROUNDING = 1e-12
"""Error of a sum of weights, of a rank, and of a tail as it is found from either end."""
_LEAST_SCALE = 1e-6
"""Deviation of a rank that is certain."""


def ranks(arms: Sequence[str], mode: Mode, draws: Draws, top: int) -> pd.DataFrame:
    """The table of `Fit.ranks`.

    Args:
      arms: names of the arms.
      mode: the mode of the strengths.
      draws: draws of the strengths.
      top: places that count as the top, at least 1.

    Raises:
      InputError: unless `top` is a whole number of at least 1.
    """
    import pandas as pd

    top = whole_number(top, 1, "top")
    drawn = _ranks(draws.strengths)
    chances = _chances(drawn, draws.weights)
    low, high = _ranges(drawn, draws.weights, chances)
    strengths = mode.strengths
    columns = {
        "arm": arms,
        "rank": 1 + (strengths > strengths[:, None] + _LEVEL_ARMS).sum(axis=1),
        "rank_low": low + 1,
        "rank_high": high + 1,
        f"top_{top}": np.minimum(chances[:, :top].sum(axis=1), 1),
    }
    order = np.argsort(-strengths, kind="stable")
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
    cut = least[_last_within(-least, weights)]
    if cut < _ROUNDING:
        return _bands(drawn, weights)
    inside = tails >= cut - _ROUNDING
    return np.argmax(inside, axis=1), len(tails) - 1 - np.argmax(inside[:, ::-1], axis=1)


def _bands(drawn: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of few draws, by deviations."""
    mean = weights @ drawn
    away = drawn - mean
    scales = [np.sqrt(weights @ np.maximum(side, 0) ** 2) for side in (-away, away)]
    lower, upper = (np.maximum(scale, _LEAST_SCALE) for scale in scales)
    furthest = np.maximum(-away / lower, away / upper).max(axis=1)
    reach = furthest[_last_within(furthest, weights)] + _ROUNDING
    low, high = np.ceil(mean - reach * lower), np.floor(mean + reach * upper)
    return np.maximum(low, 0).astype(int), np.minimum(high, drawn.shape[1] - 1).astype(int)


def _last_within(values: np.ndarray, weights: np.ndarray) -> int:
    """The draw with the largest of the smallest values that make up 95 % of draws."""
    order = np.argsort(values, kind="stable")
    return int(order[np.argmax(np.cumsum(weights[order]) >= _LEVEL - _ROUNDING)])
