"""The gradient of expected regret, unbiased, from outcomes alone: no policy is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.arguments import switch
from jaxduel.equality import same
from jaxduel.gradients.instances import (
    InstanceFn,
    Parametrised,
    gap_slopes,
    parametrised,
    require_uncertain,
    warn_if_constant,
)
from jaxduel.numerics import log_times
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require_policy, whole_number
from jaxduel.problems import ArmsProblem
from jaxduel.simulation import regret as regrets
from jaxduel.simulation.checking import Settings, horizon_of
from jaxduel.simulation.devices import Device
from jaxduel.simulation.run import run_cell
from jaxduel.stats import moments_of

POINTS = 16
"""Approximate number of checkpoints if none are given.

More checkpoints lower the variance, and scores take more memory. Measured: variance of the gradient
at T = 2,000 (BTL, K = 3, 6,000 seeds; summed over coordinates), divided by the variance with 16:

    points              4      8     16     32     50    100
    dts               1.70   1.23   1      0.92   0.89   0.87
    rmed1             1.52   1.17   1      0.90   0.86   0.83
    pcomp, B = 4      1.74   1.07   1      0.84   0.85   0.83
    scomp2, B = 8     1.08   1.03   1      0.99   0.98   0.99
"""
_CACHED = 2**21
"""Bytes of a table that are processed at a time: they stay in a core's cache."""


@dataclass(frozen=True, eq=False)
class RegretGradient:
    """Expected regret and its gradient, estimated.

    Attributes:
      checkpoints: (M,) int64, comparisons or pulls made.
      value: (M,) float64, mean regret.
      value_sem: (M,) float64, its standard error.
      gradient: the pytree of the parameters, each leaf float64 with an axis of M in front: the
        derivatives of expected regret.
      gradient_sem: the same pytree, standard errors.
      num_seeds: number of runs.
      definition: definition of regret.

    Example:
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> found = jd.gradients.regret_gradient(
      ...     policy, jd.gradients.families.btl, jnp.array([1.0, 0.0]), 100, num_seeds=32
      ... )
      >>> found.gradient.shape == (len(found.checkpoints), 2)
      True
      >>> value, gradient, value_sem, gradient_sem = found.at()  # at T
      >>> gradient.shape
      (2,)
    """

    checkpoints: np.ndarray
    value: np.ndarray
    value_sem: np.ndarray
    gradient: Any = field(repr=False)
    gradient_sem: Any = field(repr=False)
    num_seeds: int
    definition: str

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def at(self, index: int = -1) -> tuple[float, Any, float, Any]:
        """Value, gradient, and their standard errors, at a checkpoint: the last by default."""
        gradient, sem = (
            jax.tree.map(lambda x: x[index], tree) for tree in (self.gradient, self.gradient_sem)
        )
        return float(self.value[index]), gradient, float(self.value_sem[index]), sem


def regret_gradient(
    policy: Policy,
    instance_fn: InstanceFn,
    params: Any,
    horizon: float | None = None,
    num_seeds: int = 1_000,
    key: int | jax.Array = 0,
    *,
    regret: str | None = None,
    checkpoints: Any = None,
    causal: bool = True,
    shuffle_arms: bool = True,
    delay: int = 1,
    skip_quiet: bool = True,
    devices: Sequence[Device] | None = None,
    progress: bool | None = None,
) -> RegretGradient:
    """The gradient of expected regret with respect to the parameters of an instance.

    It is unbiased, for every policy, horizon and delay, and whether quiet runs are skipped or not.
    A policy sees the instance through outcomes only, so that (score function; Glynn 1990, Williams
    1992) with W_ij the wins of i over j,

        d E[R] / d theta = E[dR / d theta at fixed plays] + E[(R - c) S],
        S = sum over i < j of (W_ij / p_ij - W_ji / (1 - p_ij)) dp_ij / d theta,

    where c does not depend on the run: the mean regret of the other runs. With rewards, the scores
    are (reward - mean) / std^2 for Gaussian arms and (reward - mean) / (mean (1 - mean)) for
    Bernoulli arms; batched sums have the same scores.

    The growth of regret between two checkpoints does not depend on later outcomes, so it is
    multiplied by the score up to the second checkpoint only (`causal`): the more checkpoints, the
    smaller the variance. Batched policies plan a round before its outcomes: scores at checkpoints
    inside the round leave these out.

    Where the instance's winners change, expected regret jumps or has a kink; the gradient holds the
    winners at `params` fixed. "copeland" and binary regrets count arms, so that their first term is
    zero.

    Args:
      policy: the policy.
      instance_fn: from parameters to a (K, K) matrix of preferences (p + p.T = 1), such as those of
        `jaxduel.gradients.families`, or to `jaxduel.problems.ArmsProblem(means, std)`, without std
        for Bernoulli rewards. It is differentiated by JAX, in float64: no NumPy in it.
      params: a pytree of floating-point arrays.
      horizon: T; the policy's horizon if None.
      num_seeds: number of independent runs, at least 2.
      key: root of all randomness, an integer or a typed JAX key.
      regret: as in `jaxduel.simulate`; "copeland" or "pulls" by default.
      checkpoints: times, increasing, within 1 .. T; about `POINTS` evenly in log t if None.
      causal: multiply regret by earlier scores only, else by the score of the whole run. Both are
        unbiased.
      shuffle_arms: as in `jaxduel.simulate`.
      delay: as in `jaxduel.simulate`.
      skip_quiet: as in `jaxduel.simulate`.
      devices: as in `jaxduel.simulate`.
      progress: as in `jaxduel.simulate`.

    Returns:
      Mean regret, its gradient, and their standard errors, at every checkpoint.

    Raises:
      InputError: for an instance that leaves [0, 1] or breaks p + p.T = 1, or a probability of 0 or
        1, whose score is undefined (the entry is named); for an `instance_fn` that JAX cannot
        differentiate; and what `jaxduel.simulate` raises.

    Example:
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> found = jd.gradients.regret_gradient(
      ...     policy, jd.gradients.families.btl, jnp.array([1.0, 0.0]), 100, num_seeds=32
      ... )
      >>> value, gradient, value_sem, gradient_sem = found.at()  # at T
      >>> bool(abs(gradient.sum()) < 1e-3)  # adding one number to all log-weights changes nothing
      True
    """
    num_seeds = whole_number(num_seeds, 2, "regret_gradient: num_seeds")
    causal = switch(causal, "regret_gradient: causal")
    at = parametrised(instance_fn, params)
    require_uncertain(at, "the score")
    warn_if_constant(at)
    definition = regrets.default_of(at.problem) if regret is None else regret
    regrets.needs_pairs(definition)  # refuses an unknown definition
    require_policy(policy, "regret_gradient")
    last = horizon_of(policy, horizon)
    if checkpoints is None:
        checkpoints = log_times(last, POINTS)
    settings = Settings(
        num_seeds=num_seeds,
        seed=key,
        checkpoints=checkpoints,
        regret=definition,
        shuffle_arms=shuffle_arms,
        delay=delay,
        record_pairs=regrets.needs_pairs(definition),
        record_outcomes=True,
        of_outcomes=_scorer(at),
        skip_quiet=skip_quiet,
        devices=devices,
        progress=progress,
    )
    result = run_cell(policy, at.problem, last, settings)
    if result.num_seeds < num_seeds:
        raise KeyboardInterrupt
    value, scores = result.regret, result.outcomes
    assert scores is not None

    def counts(rows: slice) -> np.ndarray:
        if result.pairs is None:
            return regrets.counts_from_plays(definition, result.plays[rows])
        gaps = at.problem.gaps(definition)
        return regrets.counts_from_pairs(definition, gaps, result.pairs[rows])

    gradient, sem = _gradient(value, scores, counts, gap_slopes(at, definition), causal)
    of_seeds = moments_of(value)
    return RegretGradient(
        checkpoints=result.checkpoints,
        value=of_seeds.mean,
        value_sem=of_seeds.sem,
        gradient=at.unravel(gradient),
        gradient_sem=at.unravel(sem),
        num_seeds=num_seeds,
        definition=definition,
    )


def _gradient(
    value: np.ndarray,
    scores: np.ndarray,
    counts: Callable[[slice], np.ndarray],
    gap_slopes: np.ndarray,
    causal: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of dR / d theta + (R - c) S, c the mean of the other runs, and its standard error:
    (M, n) float64 each.

    Args:
      value: (num_seeds, M) float64, regret.
      scores: (num_seeds, M, n) float32, of the outcomes up to each checkpoint.
      counts: from a slice of runs to (runs, M, K) float64, the number of times that each arm's gap
        counts in regret.
      gap_slopes: (K, n) float64, the derivatives of the gaps.
      causal: as in `regret_gradient`.
    """
    number = len(value)
    noise = np.diff(value, axis=1, prepend=0.0) if causal else value
    noise = (number / (number - 1) * (noise - noise.mean(axis=0))).astype(np.float32)
    gap_slopes = gap_slopes.astype(np.float32)
    shift: Any = None
    total, squares = 0.0, 0.0
    for rows in _parts(scores):
        mine = noise[rows, :, None]
        each = counts(rows).astype(np.float32) @ gap_slopes
        each += np.cumsum(mine * scores[rows], axis=1) if causal else mine * scores[rows, -1:]
        if shift is None:
            shift = each.mean(axis=0)
        each -= shift
        total = total + each.sum(axis=0).astype(np.float64)
        squares = squares + np.square(each, out=each).sum(axis=0).astype(np.float64)
    variance = (squares - total**2 / number) / (number - 1)
    return shift + total / number, np.sqrt(np.maximum(variance, 0.0) / number)


def _scorer(at: Parametrised) -> Callable[[np.ndarray], np.ndarray]:
    """The function from `Result.outcomes` of some runs to the derivatives of their log-likelihood,
    (runs, M, n) float32."""
    if isinstance(at.problem, ArmsProblem):
        mean, std = at.played, at.problem.std
        variance = mean * (1 - mean) if std is None else std**2
        return lambda sums: (sums @ (at.slopes / variance[:, None])).astype(np.float32)
    upper = np.triu_indices(len(at.played), 1)
    p, slopes = at.played[upper], at.slopes[upper]
    per_win = (slopes / (p * (1 - p))[:, None]).astype(np.float32)

    def score(wins: np.ndarray) -> np.ndarray:
        with jax.enable_x64(True):
            return np.asarray(_scores_of_wins(wins, p, per_win))

    return score


@jax.jit
def _scores_of_wins(wins: jax.Array, p: jax.Array, per_win: jax.Array) -> jax.Array:
    """The scores of wins. By JAX, since the threads of NumPy's matrix products keep spinning
    afterwards, and would take cores from the simulation.

    Args:
      wins: (runs, M, K, K) int32.
      p: (K (K - 1) / 2,) the preferences above the diagonal; float64, since wins reach 2^31 and
        their surplus over the expectation is far smaller.
      per_win: (K (K - 1) / 2, n) float32.

    Returns:
      (runs, M, n) float32.
    """
    upper = np.triu_indices(wins.shape[-1], 1)
    surplus = wins[..., *upper] * (1 - p) - wins[..., *upper[::-1]] * p
    return surplus.astype(jnp.float32) @ per_win


def _parts(table: np.ndarray) -> Iterator[slice]:
    """Slices of a table's rows, each of at most about `_CACHED` bytes."""
    size = max(_CACHED // table[:1].nbytes, 1)
    return (slice(begin, begin + size) for begin in range(0, len(table), size))
