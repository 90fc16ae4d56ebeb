"""The triples of arms that break transitivity by most, for matrices of thousands of arms.

All take margins eps_ij = p_ij - 1/2 as a (K, K) float64 array and return the largest amount by
which a triple breaks a condition, with that triple (i, j, k); of several such triples, one. Memory
is a few (K, K) arrays.
"""

from __future__ import annotations

import numpy as np

Triple = tuple[int, int, int]

_ROWS, _COLUMNS = 64, 512
_STEP = 64


def sst_triple(eps: np.ndarray) -> tuple[float, Triple]:
    """The largest max(eps_ij, eps_jk) - eps_ik over i < j < k, in O(K^2) operations.

    Args:
      eps: (K, K), the arms in the order that is tested.

    Returns:
      The maximum and its first triple, i and then k running slower; -inf if K = 2.
    """
    num_arms = len(eps)
    later = np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)
    upper = np.where(later, eps, -np.inf)
    largest = np.full_like(eps, -np.inf)
    # [i, k]: the largest eps_ij, then also the largest eps_jk, of the j between them
    np.maximum.accumulate(upper[:, :-1], axis=1, out=largest[:, 1:])
    along_columns = np.maximum.accumulate(upper[:0:-1], axis=0)[::-1]
    np.maximum(largest[:-1], along_columns, out=largest[:-1])
    shortfall = np.where(later, largest, -np.inf) - eps
    i, k = _argmax(shortfall)
    if k - i < 2:
        return -np.inf, (0, 0, 0)
    between = np.maximum(eps[i, i + 1 : k], eps[i + 1 : k, k])
    return float(shortfall[i, k]), (i, i + 1 + int(np.argmax(between)), k)


def sti_triple(eps: np.ndarray, may_precede: np.ndarray, above: float) -> tuple[float, Triple]:
    """The largest eps_ik - (eps_ij + eps_jk) above a threshold, where i, j, k may stand in this
    order.

    A product of matrices in which + takes the place of * and min that of +, tile by tile: K^3 / 6
    additions if the arms are sorted and nothing is tied. Tiles that cannot exceed the largest
    excess found so far are left out.

    Args:
      eps: (K, K), fast if the arms are sorted by their preferences.
      may_precede: (K, K) bool, [i, j] where i may stand before j.
      above: only larger excesses count; not negative.

    Returns:
      The largest excess and its triple; `above` itself and (0, 0, 0) if no excess is larger.
    """
    num_arms = len(eps)
    steps = np.where(may_precede, eps, np.inf)
    np.fill_diagonal(steps, np.inf)
    bound = eps - steps.min(axis=1)[:, None] - steps.min(axis=0)[None, :]
    tiles = []
    for top in range(0, num_arms, _ROWS):
        for left in range(0, num_arms, _COLUMNS):
            rows, columns = slice(top, top + _ROWS), slice(left, left + _COLUMNS)
            tiles.append((float(bound[rows, columns].max()), rows, columns))
    tiles.sort(key=lambda tile: -tile[0])  # stable: the first of equal ones stays first
    worst, triple = above, (0, 0, 0)
    for most, rows, columns in tiles:
        if most <= worst:
            break
        middles = np.flatnonzero(
            may_precede[rows].any(axis=0) & may_precede[:, columns].any(axis=1)
        )
        excess = eps[rows, columns] - _shortest(steps[rows], steps[:, columns], middles)
        place = _argmax(excess)
        if excess[place] > worst:
            worst = float(excess[place])
            i, k = rows.start + place[0], columns.start + place[1]
            triple = (i, int(np.argmin(steps[i] + steps[:, k])), k)
    return worst, triple


def intransitive_triple(eps: np.ndarray, tie: float) -> tuple[float, Triple]:
    """The largest max(eps_ij, eps_jk) - eps_ik where i beats j beats k, but i does not beat k.

    Args:
      eps: (K, K).
      tie: margins up to this are ties.

    Returns:
      The maximum and its triple; -inf if there is none.
    """
    beats = (eps > tie).astype(np.float32)
    broken = (beats @ beats > 0) & (beats == 0)  # counts below 2^24 are exact
    np.fill_diagonal(broken, False)
    first = _largest_first_step(eps, beats > 0, broken, -np.inf)
    second = _largest_first_step(eps.T, beats.T > 0, broken.T, first[0])
    if first[0] >= second[0]:
        return first
    k, j, i = second[1]
    return second[0], (i, j, k)


def _shortest(first: np.ndarray, second: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """[i, k]: the least first[i, j] + second[j, k] over the given j."""
    least = np.full((len(first), second.shape[1]), np.inf)
    sums = np.empty_like(least)
    for j in middles:
        np.add(first[:, j, None], second[j], out=sums)
        np.minimum(least, sums, out=least)
    return least


def _largest_first_step(
    eps: np.ndarray, beats: np.ndarray, broken: np.ndarray, above: float
) -> tuple[float, Triple]:
    """The largest eps_ij - eps_ik above a threshold, where i beats j beats k and broken[i, k].

    For each i, the arms j that it beats are tried from the largest margin down, a few at a time,
    for all k that could still give more than the largest difference so far.
    """
    worst, triple = above, (0, 0, 0)
    for i in range(len(eps)):
        rivals = np.flatnonzero(beats[i])
        rivals = rivals[np.argsort(-eps[i, rivals], kind="stable")]
        for start in range(0, len(rivals), _STEP):
            tried = rivals[start : start + _STEP]
            open_ends = np.flatnonzero(broken[i] & (eps[i, tried[0]] - eps[i] > worst))
            if len(open_ends) == 0:
                break
            found = beats[np.ix_(tried, open_ends)]
            differences = np.where(
                found.any(axis=0), eps[i, tried[found.argmax(axis=0)]] - eps[i, open_ends], -np.inf
            )
            best = int(np.argmax(differences))
            if differences[best] > worst:
                worst = float(differences[best])
                k = int(open_ends[best])
                triple = (i, int(tried[found[:, best].argmax()]), k)
    return worst, triple


def _argmax(values: np.ndarray) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(row), int(column)
