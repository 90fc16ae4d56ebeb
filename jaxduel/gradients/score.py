"""The gradient of expected regret, unbiased, from outcomes alone: no policy is differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.gradients.instances import InstanceFn, Parametrised, parametrised, regret_slopes
from jaxduel.numerics import log_grid
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require_horizon, require_whole
from jaxduel.problems import ArmsProblem
from jaxduel.simulation import regret as regrets
from jaxduel.simulation.devices import Device
from jaxduel.simulation.simulate import simulate

POINTS = 16
"""Checkpoints, about, where none are given: more make the variance hardly smaller."""
_OUTCOME_BYTES = 2**28
"""Most bytes for the outcomes of the seeds that are simulated before they are projected."""
_CALL = 512
"""Seeds of a call are a multiple of it: the lanes of a block divide it, or nearly."""


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
    _require_scores(at)
    definition = regret or regrets.default_of(at.problem)
    last: Any = getattr(policy, "horizon", None) if horizon is None else horizon
    if checkpoints is None and last is not None:
        require_horizon(last, "regret_gradient")
        checkpoints = log_grid(int(last), POINTS)
    values, scores, direct = [], [], []
    times, done, size = np.empty(0, np.int64), 0, _CALL
    while done < num_seeds:
        number = min(size, num_seeds - done)
        result = simulate(
            policy,
            at.problem,
            horizon,
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
        values.append(result.regret)
        scores.append(_scores(at, result.outcomes))
        direct.append(regret_slopes(at, definition, result.plays, result.pairs))
        times, done = result.checkpoints, done + number
        size = max(_OUTCOME_BYTES // (result.outcomes[0].nbytes * _CALL), 1) * _CALL
    value, gradients = np.concatenate(values), np.concatenate(direct)
    gradients += _noise_times_score(value, np.concatenate(scores), causal)
    return RegretGradient(
        checkpoints=times,
        value=value.mean(axis=0),
        value_sem=_sem(value),
        gradient=at.unravel(gradients.mean(axis=0)),
        gradient_sem=at.unravel(_sem(gradients)),
        num_seeds=num_seeds,
        definition=definition,
    )


def _noise_times_score(value: np.ndarray, scores: np.ndarray, causal: bool) -> np.ndarray:
    """(R - c) S of each run, c the mean of the other runs: (num_seeds, M, n) float64.

    Args:
      value: (num_seeds, M), regret.
      scores: (num_seeds, M, n), of the outcomes up to each checkpoint.
      causal: as in `regret_gradient`.
    """
    runs = len(value)
    if not causal:
        return runs / (runs - 1) * (value - value.mean(axis=0))[..., None] * scores[:, -1:]
    growth = np.diff(value, axis=1, prepend=0.0)
    growth = runs / (runs - 1) * (growth - growth.mean(axis=0))
    return np.cumsum(growth[..., None] * scores, axis=1)


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
    return outcomes.reshape(*outcomes.shape[:-2], num**2) @ per_win.reshape(num**2, -1)


def _require_scores(at: Parametrised) -> None:
    """Raises InputError where a probability is 0 or 1."""
    if isinstance(at.problem, ArmsProblem) and at.problem.std is not None:
        return
    sure = (at.played <= 0) | (at.played >= 1)
    if sure.any():
        entry = tuple(int(i) for i in np.argwhere(sure)[0])
        raise InputError(
            f"instance_fn(params) has the probability {at.played[entry]:g} at {list(entry)} "
            "(counted from 0), where the score is undefined: probabilities must be between 0 and 1."
        )


def _sem(x: np.ndarray) -> np.ndarray:
    """The standard error of the mean over the first axis."""
    return x.std(axis=0, ddof=1) / np.sqrt(len(x))
