"""Orders of arms from win counts, and measures of orders, from their definitions, in loops."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy import optimize


def copeland(wins, i):
    """Arms that i leads, half for equal."""
    others = [j for j in range(len(wins)) if j != i]
    return sum(
        Fraction(1) if wins[i][j] > wins[j][i] else Fraction(int(wins[i][j] == wins[j][i]), 2)
        for j in others
    )


def borda(wins, i):
    """The mean of (w_ij + 1/2) / (n_ij + 1), exactly."""
    others = [j for j in range(len(wins)) if j != i]
    shares = [Fraction(2 * wins[i][j] + 1, 2 * (wins[i][j] + wins[j][i] + 1)) for j in others]
    return sum(shares) / len(shares)


def order(rule, wins, noise):
    """By the definition, for "copeland" and "borda"."""
    wins = [[int(w) for w in row] for row in wins]
    arms = range(len(wins))
    if rule == "borda":
        return sorted(arms, key=lambda i: (-borda(wins, i), noise[i]))
    return sorted(arms, key=lambda i: (-copeland(wins, i), -borda(wins, i), noise[i]))


def log_posterior(wins, strengths):
    """Of btl with prior N(0, 2^2), without constants."""
    value = -sum(s**2 for s in strengths) / 8
    for i, j in combinations(range(len(wins)), 2):
        d = strengths[i] - strengths[j]
        value -= wins[i, j] * np.logaddexp(0, -d) + wins[j, i] * np.logaddexp(0, d)
    return value


def strengths(wins):
    """Its mode, by a quasi-Newton method without derivatives of ours; centred, as the mode is,
    because the likelihood says nothing of the mean."""
    found = optimize.minimize(
        lambda s: -log_posterior(wins, s), np.zeros(len(wins)), options={"gtol": 1e-7}
    )
    return found.x - found.x.mean()


def kendall_tau(order, truth):
    """Concordant minus discordant pairs, over those not tied in the truth."""
    place = {arm: k for k, arm in enumerate(order)}
    signs = [
        1 if (truth[i] > truth[j]) == (place[i] < place[j]) else -1
        for i, j in combinations(range(len(truth)), 2)
        if truth[i] != truth[j]
    ]
    return sum(signs) / len(signs) if signs else math.nan


def wilson(successes, n):
    """The ends of {p: |successes / n - p| <= z sqrt(p (1 - p) / n)}, by root finding."""
    z = 1.959963984540054
    share = successes / n

    def excess(p):
        return (share - p) ** 2 - z**2 * p * (1 - p) / n

    low = 0.0 if successes == 0 else optimize.brentq(excess, 0, share - 1e-9)
    high = 1.0 if successes == n else optimize.brentq(excess, share + 1e-9, 1)
    return low, high


def isotonic(values):
    """max over a <= m of min over b >= m of the mean of values a..b, exactly."""
    values = [Fraction(int(v)) for v in values]
    at = range(len(values))
    return [
        max(
            min(sum(values[a : b + 1]) / (b - a + 1) for b in range(m, len(values)))
            for a in range(m + 1)
        )
        for m in at
    ]


def votes_needed(checkpoints, correct, target):
    """The value by scanning a fine grid of votes for where the curve reaches the target, the ends
    by walking the checkpoints from either side."""
    runs = len(correct)
    won = [int(column.sum()) for column in correct.T]
    votes = np.expm1(np.linspace(np.log1p(checkpoints[0]), np.log1p(checkpoints[-1]), 200_001))
    curve = [float(f / runs) for f in isotonic(won)]
    on = np.interp(np.log1p(votes), np.log1p(checkpoints), curve)
    value = (votes[on >= target - 1e-9][:1].tolist() or [math.inf])[0]
    low = high = math.inf
    for m in reversed(range(len(won))):
        if wilson(won[m], runs)[0] <= target:
            break
        high = float(checkpoints[m])
    for m in range(len(won)):
        if wilson(won[m], runs)[1] >= target:
            low = float(checkpoints[max(m - 1, 0)])
            break
    return value, low, high
