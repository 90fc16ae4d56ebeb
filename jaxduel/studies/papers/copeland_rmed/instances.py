"""Instances of Komiyama, Honda and Nakagawa (ICML 2016) that are not in the catalogue.

For the MSLR data the paper took random subsets of rankers, except subsets with "extremely small
gaps"; the text breaks off before it says how small. The limit 0.005 on min |p_ij - 1/2| gives the
means of its Table 1, and 0.003, 0.002 and 0.001 do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxduel import problems
from jaxduel.problems import DuelingProblem

SMALLEST_GAP = 0.005
"""Least min |p_ij - 1/2| of a random submatrix that is kept."""

MSLR64 = "mslr64-noncondorcet"
_MSLR64_ARMS = (
    3, 5, 6, 7, 9, 14, 15, 19, 21, 22, 23, 27, 28, 29, 31, 32, 39, 41, 42, 43, 44, 45, 47, 49, 54,
    57, 58, 59, 60, 61, 63, 66, 67, 68, 70, 71, 72, 73, 75, 76, 77, 81, 82, 85, 89, 91, 92, 93, 94,
    97, 98, 99, 100, 103, 105, 107, 113, 116, 117, 119, 123, 126, 128, 130,
)  # fmt: skip

MULTISOL = "multisol-like"
_MULTISOL = (
    (0.5, 0.6, 0.8, 0.8, 0.2),
    (0.4, 0.5, 0.2, 0.8, 0.8),
    (0.2, 0.8, 0.5, 0.4, 0.8),
    (0.2, 0.2, 0.6, 0.5, 0.8),
    (0.8, 0.2, 0.2, 0.2, 0.5),
)

_AT_ONCE = 1_000


def mslr64() -> DuelingProblem:
    """64 arms of mslr-informational without a Condorcet winner; the paper's arms are unknown.

    No 64 arms have all gaps 0.005 or larger: the 136 fall into 58 sets within each of which all
    gaps are smaller. Here gaps are at least 0.0025. The arms were visited in a random order
    (`numpy.random.default_rng(135).permutation(136)`); an arm was taken if its gaps to the arms
    taken before were that large, until there were 64. Seed 135 is the first of 0, 1, 2, ... to give
    64 arms without a Condorcet winner. With 0.003 none of 4,000 seeds did.

    Raises:
      InputError: if the data are not available.
    """
    whole = problems.load("mslr-informational")
    chosen = whole.submatrix([arm - 1 for arm in _MSLR64_ARMS])
    return DuelingProblem(chosen.preferences, MSLR64)


def multisol_like() -> DuelingProblem:
    """An instance constructed in place of MultiSol, whose matrix is lost.

    The paper only says of MultiSol that several entries are 0.8 and that the optimum of the linear
    program of Theorem 2 is not unique. Both hold here: the arms 1, 2 and 3 beat one another in a
    cycle and share a Copeland score one below that of the only winner, so that the comparisons that
    prove them losers can be divided among pairs in several ways.
    """
    return problems.from_matrix(_MULTISOL, MULTISOL)


def random_submatrices(
    preferences: np.ndarray, num_arms: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """An endless stream of random sets of arms whose gaps are at least `SMALLEST_GAP`.

    Args:
      preferences: (N, N) float64.
      num_arms: K of the submatrices.
      rng: draws the sets, 1,000 candidates at a time.

    Yields:
      (K,) int64, arms from 0 in increasing order, uniformly distributed over such sets.
    """
    total = len(preferences)
    wide = np.abs(preferences - 0.5) >= SMALLEST_GAP
    np.fill_diagonal(wide, True)
    while True:
        order = np.argsort(rng.random((_AT_ONCE, total)), axis=1)[:, :num_arms]
        kept = wide[order[:, :, None], order[:, None, :]].all(axis=(1, 2))
        yield from np.sort(order[kept], axis=1)
