"""Constrained families of instances in which to search for a worst one, with starting points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import jax
import numpy as np

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.gradients import families
from jaxduel.policies.checks import require_number, whole_number

SPACES = ("btl", "thurstone", "sst", "condorcet", "cycle")
"""Names that `space` knows."""


@dataclass(frozen=True)
class Space:
    """Instances to search, with one number of arms and one assumption.

    Attributes:
      name: the family's name.
      num_arms: K.
      instance: from parameters, (n,), to (K, K) preferences, as in `jaxduel.gradients.families`.
      draw: from a key to the parameters of a starting instance.
      project: from parameters to allowed parameters, which stay unchanged. "condorcet" and "cycle":
        the nearest; "btl" and "thurstone": the nearest after a shift that puts arm 0 at 0; "sst",
        whose allowed set is no box: every parameter is clipped to its bounds, then the excess of
        the logits' increments over their least values is shrunk by one factor, as little as
        possible.
      regret: the default definition of regret.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> space = jd.gradients.space("condorcet", 3, min_gap=0.1)
      >>> params = space.project(np.zeros(3))
      >>> print(np.asarray(space.instance(params)).round(2))
      [[0.5 0.6 0.6]
       [0.4 0.5 0.5]
       [0.4 0.5 0.5]]
    """

    name: str
    num_arms: int
    instance: Callable[[Any], jax.Array]
    draw: Callable[[jax.Array], np.ndarray]
    project: Callable[[np.ndarray], np.ndarray]
    regret: str


def space(name: str, num_arms: int, *, min_gap: float = 0.02, most: float = 0.95) -> Space:
    """A family with its constraints: arm 0 is the winner, by a minimal gap.

    - "btl" and "thurstone": the Condorcet winner's p_0j is at least 1/2 + min_gap, and no
      probability is above `most`. SST.
    - "sst": any strongly transitive matrix in the order of the arms; neighbours are at least
      min_gap apart.
    - "condorcet": arm 0 beats all others by at least min_gap; the rest is free.
    - "cycle": arms 0 to 2 form a cycle and beat all others; every other arm beats the arms after
      it; all gaps are at least min_gap. No Condorcet winner, three Copeland winners.

    Starting points are standard normal: scores, sorted so that arm 0 wins ("btl", "thurstone"), or
    one parameter for each pair (other families).

    Args:
      name: one of `SPACES`.
      num_arms: K, at least 2 ("cycle": 3).
      min_gap: the least |p_ij - 1/2| of the pairs named above, positive.
      most: the largest probability, above 1/2 + min_gap, below 1.

    Raises:
      InputError: for an unknown name, or numbers out of range.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> space = jd.gradients.space("cycle", 4, min_gap=0.1)
      >>> problem = jd.problems.from_matrix(space.instance(space.project(np.zeros(6))))
      >>> problem.copeland_winners
      (0, 1, 2)
    """
    require_known("family of instances", name, SPACES)
    least = 3 if name == "cycle" else 2
    num_arms = whole_number(num_arms, least, f"'{name}': num_arms")
    for what, value in (("min_gap", min_gap), ("most", most)):
        require_number(value, np.isfinite, f"'{name}': {what} must be a number")
    if not 0 < min_gap < most - 0.5 < 0.5:
        raise InputError(
            f"'{name}': min_gap {min_gap:g} and most {most:g} must satisfy 0 < min_gap < most - "
            "1/2 < 1/2."
        )
    if name in ("btl", "thurstone"):
        return _of_scores(name, num_arms, min_gap, most)
    return _of_pairs(name, num_arms, min_gap, most)


def _of_scores(name: str, num_arms: int, min_gap: float, most: float) -> Space:
    """A space of scores: arm 0's score is 0, and leads by at least the minimal gap."""
    quantile = _logit if name == "btl" else NormalDist().inv_cdf
    nearest, farthest = quantile(0.5 + min_gap), quantile(most)

    def draw(key: jax.Array) -> np.ndarray:
        scores = np.asarray(jax.random.normal(key, (num_arms,)), np.float64)
        return -np.sort(-scores)

    def project(scores: np.ndarray) -> np.ndarray:
        behind = np.clip(scores[0] - scores, nearest, farthest)
        behind[0] = 0.0
        return -behind

    instance = families.btl if name == "btl" else families.thurstone
    return Space(name, num_arms, instance, draw, project, "average")


def _of_pairs(name: str, num_arms: int, min_gap: float, most: float) -> Space:
    """A space with a parameter for each pair of arms."""
    above = np.triu_indices(num_arms, 1)
    bounded = {
        "sst": above[1] == above[0] + 1,
        "condorcet": above[0] == 0,
        "cycle": np.ones(len(above[0]), bool),
    }[name]
    low = math.log(math.expm1(_logit(0.5 + min_gap)))
    high = _logit(most) if name == "condorcet" else math.log(math.expm1(_logit(most)))

    def draw(key: jax.Array) -> np.ndarray:
        return np.asarray(jax.random.normal(key, (len(bounded),)), np.float64)

    def project(x: np.ndarray) -> np.ndarray:
        if name == "condorcet":
            least = np.where(bounded, _logit(0.5 + min_gap), -high)
            return np.clip(x, least, high)
        x = np.minimum(np.where(bounded, np.maximum(x, low), x), high)
        return _within_sst(x, np.where(bounded, low, -np.inf), most) if name == "sst" else x

    beats = np.triu(np.ones((num_arms, num_arms), bool), 1)
    if name == "cycle":
        beats[0, 2], beats[2, 0] = False, True
    instance: Callable[[Any], jax.Array] = {
        "sst": families.sst,
        "condorcet": families.free,
        "cycle": partial(families.tournament, beats),
    }[name]
    regret = "copeland" if name == "cycle" else "average"
    return Space(name, num_arms, instance, draw, project, regret)


def _within_sst(x: np.ndarray, low: np.ndarray, most: float) -> np.ndarray:
    """The parameters of `families.sst`, all at least `low`, with the excess of log(1 + e^x) over
    log(1 + e^low) shrunk by one factor so that no probability exceeds `most`."""
    least = np.logaddexp(0, low)
    more = np.logaddexp(0, x) - least

    def shrunk(share: float) -> np.ndarray:
        return np.log(np.expm1(least + share * more))

    def fits(x: np.ndarray) -> bool:
        with jax.enable_x64(True):
            return bool(_sst(x).max() <= most)

    if fits(x):
        return x
    shares = 0.0, 1.0
    for _ in range(50):
        middle = sum(shares) / 2
        shares = (middle, shares[1]) if fits(shrunk(middle)) else (shares[0], middle)
    return shrunk(shares[0])


_sst = jax.jit(families.sst)


def _logit(p: float) -> float:
    return math.log(p / (1 - p))
