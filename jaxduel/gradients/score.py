"""The gradient of expected regret, unbiased, from outcomes alone: no policy is differentiated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.gradients.instances import (
    InstanceFn,
    Parametrised,
    parametrised,
    regret_slopes,
    require_uncertain,
    warn_if_constant,
)
from jaxduel.numerics import log_grid
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require_whole
from jaxduel.problems import ArmsProblem
from jaxduel.simulation import regret as regrets
from jaxduel.simulation.devices import Device
from jaxduel.simulation.run import horizon_of
from jaxduel.simulation.simulate import simulate

POINTS = 16
"""Checkpoints, about, where none are given.

More of them make the variance smaller, and outcomes take more memory. Measured is the variance of
the gradient at T = 2,000 (BTL, K = 3, 6,000 seeds; the sum over coordinates) over that with 16:

    points              4      8     16     32     50    100
    dts               1.70   1.23   1      0.92   0.89   0.87
    rmed1             1.52   1.17   1      0.90   0.86   0.83
    pcomp, B = 4      1.74   1.07   1      0.84   0.85   0.83
    scomp2, B = 8     1.32   1.15   1      0.90   0.88   0.88
"""
_OUTCOME_BYTES = 2**28
"""Most bytes for the outcomes of the seeds that are simulated before they are projected."""
_CALL = 512
"""Seeds of a call are a multiple of it: the lanes of a block divide it, or nearly."""
_CACHED = 2**21
"""Bytes of the tables that are worked on at a time: they stay in a core's cache."""


@dataclass(frozen=True)
class RegretGradient:
    """Expected regret and its gradient, estimated.

    Attributes:
      checkpoints: (M,) int64, comparisons or pulls made.
      value: (M,) float64, mean regret.
      value_sem: (M,) float64, its standard error.
      gradient: the pytree of the parameters, each leaf float64 with an axis of M in front: the
        derivatives of expected regret.
      gradient_sem: the same, their standard errors.
      num_seeds: how many runs.
      definition: which regret.
    """

    checkpoints: np.ndarray
    value: np.ndarray
    value_sem: np.ndarray
    gradient: Any = field(repr=False)
    gradient_sem: Any = field(repr=False)
    num_seeds: int
    definition: str

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
    horizon: int | None = None,
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
    progress: bool = False,
) -> RegretGradient:
    """The gradient of expected regret with respect to what an instance is made from.

    It is unbiased, for every policy, horizon and delay, and whether quiet runs are skipped or not.
    A policy sees the instance through outcomes only, so that (score function; Glynn 1990, Williams
    1992) with W_ij the wins of i over j,

        d E[R] / d theta = E[dR / d theta at fixed plays] + E[(R - c) S],
        S = sum over i < j of (W_ij / p_ij - W_ji / (1 - p_ij)) dp_ij / d theta,

    where c does not depend on the run: the mean regret of the other runs. Of arms with rewards, the
    scores are those of Gaussian means, (reward - mean) / std^2, or of Bernoulli ones, (reward -
    mean) / (mean (1 - mean)), and batched sums have the same.

    What regret grows by between two checkpoints does not depend on outcomes after it, so that it
    is multiplied by the score up to the second one only (`causal`): the more checkpoints, the
    smaller the variance. Batched policies plan a round before its outcomes, which are left out of
    the score of checkpoints in it.

    Where the instance's winners change, expected regret jumps or has a kink; the gradient is that
    of the winners that there are at `params`. "copeland" regret counts arms, so that its first term
    is zero.

    Args:
      policy: the policy.
      instance_fn: from parameters to a (K, K) matrix of preferences (p + p.T = 1), or to an
        `ArmsProblem`; see `jaxduel.gradients.families`. It is differentiated by JAX, in float64.
      params: a pytree of floating-point arrays.
      horizon: T; the policy's own if None.
      num_seeds: how many independent runs, at least 2.
      key: root of all randomness, an integer or a typed JAX key.
      regret: as in `jaxduel.simulate`; "copeland" or "pulls" by default.
      checkpoints: times, increasing, within 1 .. T; about `POINTS` evenly in log t if None.
      causal: whether regret is multiplied by earlier scores only; if not, by those of the whole
        run. Both are unbiased.
      shuffle_arms: as in `jaxduel.simulate`.
      delay: as in `jaxduel.simulate`.
      skip_quiet: as in `jaxduel.simulate`.
      devices: as in `jaxduel.simulate`.
      progress: as in `jaxduel.simulate`.

    Returns:
      Mean regret, its gradient, and their standard errors, at every checkpoint.

    Raises:
      InputError: for an instance that leaves [0, 1] or breaks p + p.T = 1, or a probability of 0 or
        1, whose score is undefined (the entry is named); and what `jaxduel.simulate` raises.
    """
    require_whole(num_seeds, 2, "regret_gradient: num_seeds must be a whole number of at least 2")
    at = parametrised(instance_fn, params)
    require_uncertain(at, "the score")
    warn_if_constant(at)
    definition = regret or regrets.default_of(at.problem)
    last = horizon_of(policy, horizon)
    if checkpoints is None:
        checkpoints = log_grid(last, POINTS)
    runs: list[_Runs] = []
    times, done, size = np.empty(0, np.int64), 0, _CALL
    while done < num_seeds:
        number = min(size, num_seeds - done)
        result = simulate(
            policy,
            at.problem,
            last,
            number,
            key,
            checkpoints=checkpoints,
            regret=definition,
            shuffle_arms=shuffle_arms,
            delay=delay,
            first_seed=done,
            record_pairs=regrets.needs_pairs(definition),
            record_outcomes=True,
            skip_quiet=skip_quiet,
            devices=devices,
            progress=progress,
        )
        if result.num_seeds < number:
            raise KeyboardInterrupt
        assert result.outcomes is not None
        direct = regret_slopes(at, definition, result.plays, result.pairs)
        runs.append(_Runs(result.regret, _scores(at, result.outcomes), direct))
        times, done = result.checkpoints, done + number
        size = max(_OUTCOME_BYTES // (result.outcomes[0].nbytes * _CALL), 1) * _CALL
    value = np.concatenate([some.value for some in runs])
    gradient, sem = _gradient(runs, value, causal)
    return RegretGradient(
        checkpoints=times,
        value=value.mean(axis=0),
        value_sem=value.std(axis=0, ddof=1) / np.sqrt(num_seeds),
        gradient=at.unravel(gradient),
        gradient_sem=at.unravel(sem),
        num_seeds=num_seeds,
        definition=definition,
    )


class _Runs(NamedTuple):
    """Some of the runs, with n parameters."""

    value: np.ndarray  # (runs, M) float64: regret
    scores: np.ndarray  # (runs, M, n) float64: of the outcomes up to each checkpoint
    direct: np.ndarray  # (runs, M, n) float64: what regret gains at fixed plays


def _gradient(
    runs: Sequence[_Runs], value: np.ndarray, causal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of dR / d theta + (R - c) S, c the mean of the other runs, and its standard error:
    (M, n) float64 each.

    Args:
      runs: all of them.
      value: (num_seeds, M), their regret.
      causal: as in `regret_gradient`.
    """
    number = len(value)
    noise = np.diff(value, axis=1, prepend=0.0) if causal else value
    noise = number / (number - 1) * (noise - noise.mean(axis=0))
    shift: Any = None
    first, total, squares = 0, 0.0, 0.0
    for some in runs:
        for rows in _parts(some.scores):
            mine = noise[first : first + len(some.scores[rows]), :, None]
            first += len(mine)
            if causal:
                each = np.cumsum(mine * some.scores[rows], axis=1)
            else:
                each = mine * some.scores[rows, -1:]
            each += some.direct[rows]
            if shift is None:
                shift = each.mean(axis=0)
            each -= shift
            total = total + each.sum(axis=0)
            squares = squares + np.square(each, out=each).sum(axis=0)
    variance = (squares - total**2 / number) / (number - 1)
    return shift + total / number, np.sqrt(np.maximum(variance, 0.0) / number)


def _scores(at: Parametrised, outcomes: np.ndarray) -> np.ndarray:
    """The derivatives of the log-likelihood: (num_seeds, M, n) float64 from `Result.outcomes`."""
    if isinstance(at.problem, ArmsProblem):
        mean, std = at.played, at.problem.std
        variance = mean * (1 - mean) if std is None else std**2
        return outcomes @ (at.slopes / variance[:, None])
    num = len(at.played)
    above = np.triu(at.played, 1)
    p = np.where(above > 0, above, 1 - above.T)[..., None]
    per_win = np.where(np.eye(num, dtype=bool)[..., None], 0.0, at.slopes / p)
    per_win = per_win.reshape(num**2, -1)
    found = np.empty((*outcomes.shape[:2], per_win.shape[1]))
    for rows in _parts(outcomes):
        wins = outcomes[rows].reshape(-1, num**2).astype(np.float64)
        np.matmul(wins, per_win, out=found[rows].reshape(-1, per_win.shape[1]))
    return found


def _parts(table: np.ndarray) -> Iterator[slice]:
    """The rows of a table, part by part; these are the same however many runs a call has made."""
    size = min(1 << max(_CACHED // table[:1].nbytes, 1).bit_length() - 1, _CALL)
    return (slice(begin, begin + size) for begin in range(0, len(table), size))
