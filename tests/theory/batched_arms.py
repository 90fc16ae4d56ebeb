"""Policies on a static grid in plain NumPy, many runs at once, for tests of lower bounds.

A player gets the number of the batch, how many there are, the pulls and the sums of rewards so far,
(runs, K) each, and the gap of the family; it gives the shares of the arms in the batch, (runs, K).
"""

import numpy as np

from jaxduel.problems import ArmsProblem


def explore_then_commit(batch, batches, pulls, sums, gap):
    """All arms equally, and in the last batch the best of them."""
    if batch < batches - 1 or batches == 1:
        return np.ones_like(sums)
    return _only(sums / pulls)


def eliminate(batch, batches, pulls, sums, gap):
    """All arms equally that are within a confidence width of the best."""
    if batch == 0:
        return np.ones_like(sums)
    means, widths = sums / pulls, np.sqrt(2 / pulls)
    return (means + widths >= np.max(means - widths, axis=1, keepdims=True)).astype(float)


def greedy(batch, batches, pulls, sums, gap):
    """All arms equally in the first batch, then the best so far."""
    return np.ones_like(sums) if batch == 0 else _only(sums / pulls)


def knowing(batch, batches, pulls, sums, gap):
    """The family is known: the first batch for the arms that tell, then the likeliest best arm."""
    if batch == 0:
        shares = np.ones_like(sums)
        shares[:, 0] = 0
        return shares
    evidence = 2 * gap * sums - 2 * gap**2 * pulls
    evidence[:, 0] = 0
    return _only(evidence)


def stubborn(batch, batches, pulls, sums, gap):
    """Always arm 0."""
    return _only(-np.arange(sums.shape[1]) * np.ones_like(sums))


PLAYERS = (explore_then_commit, eliminate, greedy, knowing, stubborn)


def regret_of(player, problem: ArmsProblem, times, gap, runs, rng) -> np.ndarray:
    """The regret of each run: (runs,). Pulls of a batch are divided without rounding."""
    pulls, sums = np.zeros((2, runs, problem.num_arms))
    for batch, length in enumerate(np.diff(times, prepend=0)):
        shares = player(batch, len(times), pulls, sums, gap)
        more = length * shares / shares.sum(axis=1, keepdims=True)
        sums = sums + more * problem.means + np.sqrt(more) * rng.standard_normal(more.shape)
        pulls = pulls + more
    return pulls @ problem.gaps("pulls")


def _only(scores: np.ndarray) -> np.ndarray:
    """One arm of the largest score in each run."""
    return np.eye(scores.shape[1])[np.argmax(scores, axis=1)]
