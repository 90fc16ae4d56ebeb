"""Recommendations from rewards: orders of arms by a rule. Host code in float64, vectorised over
leading axes `...`: seeds, checkpoints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jaxduel.arguments import require_known
from jaxduel.problems import ArmsProblem

REWARD_RULES = ("mean", "most-pulled", "posterior")
"""Names of the rules that read an order of the arms off their pulls and rewards."""


def unit_of(rules: Iterable[str]) -> str:
    """The unit in which runs are measured whose arms some rules name: "pulls", or "votes"."""
    return "pulls" if any(rule in REWARD_RULES for rule in rules) else "votes"


def order_of_rewards(
    rule: str, problem: ArmsProblem, pulls: np.ndarray, totals: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """The arms in the order of a rule, the best first.

    - "mean": the average reward, arms never pulled last; ties by noise;
    - "most-pulled": the number of pulls; ties by mean, then by noise;
    - "posterior": the mean of the posterior, by which the expected simple regret is least. Means of
      Gaussian rewards with known standard deviations are taken to be standard normal, which gives
      total / (pulls + std^2), probabilities of Bernoulli rewards uniform, (total + 1) / (pulls +
      2); ties by noise.

    Args:
      rule: one of `REWARD_RULES`.
      problem: says the law of the rewards, and their standard deviations.
      pulls: (..., K) integers.
      totals: (..., K) float64, sums of rewards.
      noise: (..., K) floats, independent and uniform: of tied arms, the smallest noise comes first.

    Returns:
      (..., K) int64.

    Raises:
      InputError: an unknown rule.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> from jaxduel.votes.rewards import order_of_rewards
      >>> pulls, totals, noise = np.array([1, 9, 4]), np.array([1.0, 8.0, 2.0]), np.zeros(3)
      >>> problem = jd.problems.bernoulli([0.5, 0.5, 0.5])
      >>> for rule in ("mean", "most-pulled", "posterior"):
      ...     print(order_of_rewards(rule, problem, pulls, totals, noise))
      [0 1 2]
      [1 2 0]
      [1 0 2]
    """
    require_known("rule", rule, REWARD_RULES)
    if rule == "posterior":
        variance = 2.0 if problem.std is None else np.square(problem.std)
        more = 1.0 if problem.std is None else 0.0
        return np.lexsort((noise, -(totals + more) / (pulls + variance)))
    averages = np.where(pulls > 0, totals / np.maximum(pulls, 1), -np.inf)
    if rule == "mean":
        return np.lexsort((noise, -averages))
    return np.lexsort((noise, -averages, -pulls))
