"""Hamiltonian Monte Carlo for log-concave densities of many variables, many chains at once.

Sources: R. Neal, "MCMC using Hamiltonian dynamics" (Handbook of Markov Chain Monte Carlo, 2011),
with the curvature at the mode as mass matrix; steps found by the Robbins-Monro rule of Andrieu and
Thoms (Statistics and Computing 18, 2008); split R-hat and effective draws by Geyer's initial
monotone sequence, as in Vehtari et al. (Bayesian Analysis 16, 2021), of values, not of ranks.

In the coordinates of the mass matrix such densities are nearly standard normal: a trajectory of a
quarter of a period, pi / 2, ends nearly independent of where it began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import ceil, pi

import numpy as np

_ACCEPTANCE = 0.8
"""Wanted share of accepted trajectories."""
_WARM_UP = 80
"""Trajectories of each chain that find the step, and are left out."""
_JITTER = 0.2
"""Steps vary by this share: no trajectory is a whole period of any direction."""


def chains(
    log_density: Callable[[np.ndarray], np.ndarray],
    slope: Callable[[np.ndarray], np.ndarray],
    information: np.ndarray,
    start: np.ndarray,
    normals: Callable[[], np.ndarray],
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Draws of C chains, without end: (P, C) each.

    Args:
      log_density: of points (P, C), up to a constant: (C,).
      slope: its gradient, (P, C).
      information: (P, P) minus the Hessian of the log-density at the mode.
      start: (P, C) points about as far apart as draws are.
      normals: gives (P, C) standard normal numbers, new ones at each call.
      rng: the source of other randomness.
    """
    squares, axes = np.linalg.eigh(information)
    mass_root = (axes * np.sqrt(squares)) @ axes.T
    inverse_mass = (axes / squares) @ axes.T
    x, value, force = start, log_density(start), slope(start)
    log_step, found = np.log(1.2) - np.log(len(x)) / 4, []
    for turn in count():
        step = float(np.exp(log_step)) * (1 + _JITTER * rng.uniform(-1, 1))
        momentum = mass_root @ normals()
        before = value - np.sum(momentum * (inverse_mass @ momentum), axis=0) / 2
        y, slope_there, momentum = x, force, momentum + step / 2 * force
        for _ in range(ceil(pi / 2 / np.exp(log_step))):
            y = y + step * (inverse_mass @ momentum)
            slope_there = slope(y)
            momentum = momentum + step * slope_there
        momentum = momentum - step / 2 * slope_there
        there = log_density(y)
        after = there - np.sum(momentum * (inverse_mass @ momentum), axis=0) / 2
        chance = np.nan_to_num(np.exp(np.minimum(after - before, 0)))
        moves = rng.random(len(chance)) < chance
        x, force = np.where(moves, y, x), np.where(moves, slope_there, force)
        value = np.where(moves, there, value)
        if turn < _WARM_UP:
            log_step += (chance.mean() - _ACCEPTANCE) / np.sqrt(turn + 1)
            found.append(log_step)
            if turn == _WARM_UP - 1:
                log_step = np.mean(found[_WARM_UP // 2 :])
        else:
            yield x


def diagnosed(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Effective number of draws, at most all, and split R-hat.

    Args:
      draws: (N, C, P): N of each of C chains, N at least 4.

    Returns:
      (P,) each. Of a variable that never moves, as many as there are, and R-hat 1.
    """
    half = len(draws) // 2
    split = np.concatenate([draws[:half], draws[-half:]], axis=1)
    centred = split - split.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * half, axis=0)) ** 2
    autocovariance = np.fft.irfft(spectrum, axis=0)[:half].mean(axis=1) / half
    within = autocovariance[0] * half / (half - 1)
    total = autocovariance[0] + split.mean(axis=0).var(axis=0, ddof=1)
    still = total == 0
    within, total = np.where(still, 1, within), np.where(still, 1, total)
    correlation = 1 - (within - autocovariance) / total
    correlation[0] = 1
    pairs = correlation[: half // 2 * 2].reshape(half // 2, 2, -1).sum(axis=1)
    pairs = np.minimum.accumulate(np.maximum(pairs, 0), axis=0)  # stays 0 from the first negative
    size = 2 * half * draws.shape[1]
    effective = size / np.maximum(2 * pairs.sum(axis=0) - 1, 1)
    return np.where(still, size, effective), np.sqrt(total / within)
