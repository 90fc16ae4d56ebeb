"""Random instances without ties, and the linear program of the lower bound, written out in full."""

import itertools

import numpy as np
from scipy.optimize import linprog

from jaxduel.problems import DuelingProblem, from_matrix


def from_margins(upper) -> DuelingProblem:
    """The instance whose p_ij - 1/2, i < j, are given row by row."""
    count = len(upper)
    num_arms = int((1 + np.sqrt(1 + 8 * count)) / 2)
    eps = np.zeros((num_arms, num_arms))
    eps[np.triu_indices(num_arms, 1)] = upper
    return from_matrix(0.5 + eps - eps.T)


def random_instance(rng: np.random.Generator, num_arms: int, kind: str) -> DuelingProblem:
    """A random tournament with gaps that are "any", or "few" different ones; "order": total."""
    count = num_arms * (num_arms - 1) // 2
    sizes = rng.choice([0.1, 0.3], count) if kind == "few" else rng.uniform(0.01, 0.5, count)
    signs = np.ones(count) if kind == "order" else rng.choice([-1, 1], count)
    instance = from_margins(sizes * signs)
    return instance.submatrix(rng.permutation(num_arms).tolist())


def brute_force(problem: DuelingProblem, winner: int) -> float:
    """C*_{i1} of Komiyama et al. 2016, section 3, with a row for every I and S of eq. (2)."""
    p = np.asarray(problem.preferences)
    arms = range(len(p))
    divergence = {
        (i, j): p[i, j] * np.log(2 * p[i, j]) + p[j, i] * np.log(2 * p[j, i])
        for i, j in itertools.combinations(arms, 2)
    }
    pairs = list(divergence)
    superior = [{j for j in arms if p[i, j] < 0.5} for i in arms]
    inferior = [{j for j in arms if p[i, j] > 0.5} for i in arms]
    losses = [len(s) for s in superior]
    first, second = sorted(losses)[:2]
    assert losses[winner] == first
    rows = set()
    for i2 in set(arms) - {winner}:
        for level in range(max(0, first - 1), second + 1):
            for chosen in itertools.combinations(inferior[winner], level + 1 - first):
                size = max(0, losses[i2] - level - (i2 in chosen))
                for beaters in itertools.combinations(superior[i2] - {winner}, size):
                    rows.add(
                        frozenset(
                            [tuple(sorted((winner, j))) for j in chosen]
                            + [tuple(sorted((i2, j))) for j in beaters]
                        )
                    )
    regret = [(losses[i] + losses[j] - 2 * first) / (2 * (len(p) - 1)) for i, j in pairs]
    answer = linprog(
        regret,
        A_ub=[[-divergence[pair] * (pair in row) for pair in pairs] for row in rows],
        b_ub=-np.ones(len(rows)),
        bounds=[(0, 1 / divergence[pair]) for pair in pairs],
        method="highs",
    )
    assert answer.status == 0
    return answer.fun
