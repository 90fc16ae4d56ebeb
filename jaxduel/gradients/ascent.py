"""Instances on which a policy is at its worst, by ascent of the gradient of expected regret."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from jaxduel.errors import AssumptionWarning, InputError, unknown_name
from jaxduel.gradients.instances import parametrised
from jaxduel.gradients.score import regret_gradient
from jaxduel.gradients.spaces import Space
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require, require_whole
from jaxduel.problems import DuelingProblem, from_matrix
from jaxduel.simulation.devices import Device
from jaxduel.simulation.run import horizon_of
from jaxduel.simulation.simulate import simulate
from jaxduel.theory import condorcet_lower_bound, lower_bound_constant

OBJECTIVES = ("regret", "ratio", "difference")
"""What is made as large as possible: expected regret; regret over (lower bound) log T; regret minus
that of another policy on the same instance."""


@dataclass(frozen=True)
class Trajectory:
    """An ascent from one start.

    Attributes:
      params: (steps + 1, n) float64, the parameters before each step, and after the last. Where the
        ascent stopped early, those with a row in `value` alone, or the start alone.
      value: (steps,) float64, the objective as it was estimated at each step: on seeds that were
        also used to go on, so that it is not what to report. It is shorter where the ascent
        stopped early.
      sem: the same shape, its standard error.
    """

    params: np.ndarray
    value: np.ndarray
    sem: np.ndarray


@dataclass(frozen=True)
class WorstCase:
    """The worst instance that was found.

    Attributes:
      problem: the instance.
      params: (n,), its parameters.
      value: the objective there, on seeds that nothing was chosen by.
      sem: its standard error.
      before: the mean of the objective over the instances that the ascents began with, each on
        seeds of its own.
      before_sem: its standard error, over seeds.
      starts: (num_starts,) float64, the objective at each of these.
      trajectories: the ascents, one for each start.
      best: which of them led to the instance.
      objective: which objective.
      regret: which regret.
      horizon: T.
    """

    problem: DuelingProblem
    params: np.ndarray = field(repr=False)
    value: float
    sem: float
    before: float
    before_sem: float
    starts: np.ndarray = field(repr=False)
    trajectories: tuple[Trajectory, ...] = field(repr=False)
    best: int
    objective: str
    regret: str
    horizon: int


def worst_case(
    policy: Policy,
    space: Space,
    horizon: int | None = None,
    *,
    objective: str = "regret",
    against: Policy | None = None,
    num_starts: int = 4,
    steps: int = 60,
    num_seeds: int = 512,
    fresh_seeds: int = 8_192,
    learning_rate: float = 0.1,
    regret: str | None = None,
    key: int | jax.Array = 0,
    devices: Sequence[Device] | None = None,
    progress: bool = False,
) -> WorstCase:
    """Looks for the instance of a space on which a policy is at its worst.

    From several starts Adam (optax) climbs the objective by the gradient of expected regret
    (`regret_gradient`), which needs no differentiable policy; after each step the parameters are
    brought back to where the space allows them. Every step has seeds of its own. Of each ascent its
    last instance, the one that seemed the highest on the way, and its start are evaluated on fresh
    seeds; the one with the largest objective is taken, and is evaluated once more on others: what
    is reported was not chosen for its noise. An ascent whose instance, objective or gradient is no
    longer a number stops there, with a warning, and has led to the instance before. What the policy
    assumes and an instance does not have is warned of where the instance is the one found.

    It is a local search: the instance found is a bad one, not proven to be the worst.

    Args:
      policy: the policy, for `space.num_arms` arms.
      space: where to look, see `jaxduel.gradients.space`.
      horizon: T; the policy's own if None.
      objective: one of `OBJECTIVES`. The lower bound of "ratio" is that of the regret:
        `theory.condorcet_lower_bound` for "average", `theory.lower_bound_constant` for "copeland".
      against: the other policy, for "difference".
      num_starts: how many ascents, at least 1.
      steps: of each, at least 1.
      num_seeds: runs for each step.
      fresh_seeds: runs for each evaluation.
      learning_rate: of Adam, about how far a parameter moves in a step; positive.
      regret: the definition; the space's own if None.
      key: root of all randomness.
      devices: as in `jaxduel.simulate`.
      progress: whether to show a progress bar on standard error.

    Returns:
      The instance, what it costs on fresh seeds and what the starts did, and the ascents.

    Raises:
      InputError: for arguments out of range, a start whose instance or its derivative is not a
        number, and what `regret_gradient` raises.
    """
    for name, number in (("num_starts", num_starts), ("steps", steps), ("num_seeds", num_seeds)):
        least = 2 if name == "num_seeds" else 1
        require_whole(number, least, f"worst_case: {name} must be a whole number >= {least}")
    require_whole(fresh_seeds, 2, "worst_case: fresh_seeds must be a whole number >= 2")
    require(learning_rate, lambda x: x > 0, "worst_case: learning_rate must be positive")
    if objective not in OBJECTIVES:
        raise unknown_name("objective", objective, OBJECTIVES)
    if (objective == "difference") != (against is not None):
        raise InputError(
            'worst_case: `against` is needed for the objective "difference", and only.'
        )
    definition = regret or space.regret
    if objective == "ratio" and definition not in ("average", "copeland"):
        raise InputError(
            f"worst_case: there is no lower bound of {definition} regret to divide by: a ratio is "
            'that of "average" or "copeland" regret.'
        )
    last = horizon_of(policy, horizon)
    search = _Search(policy, against, space, last, objective, definition, num_seeds, devices)
    root = jax.random.key(key) if isinstance(key, int) else key
    first = [
        space.project(np.asarray(space.draw(_key(root, 0, number)), np.float64))
        for number in range(num_starts)
    ]
    for params in first:
        parametrised(space.instance, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        with tqdm(total=num_starts * steps, unit=" steps", disable=not progress) as bar:
            found = tuple(
                _climb(search, params, steps, learning_rate, _key(root, 1, number), bar.update)
                for number, params in enumerate(first)
            )
        candidates = [
            *(ascent.params[-1] for ascent in found),
            *(ascent.params[_highest(ascent.value)] for ascent in found),
            *first,
        ]
        values, sems = np.array(
            [
                search.fresh(params, fresh_seeds, _key(root, 2, number))
                for number, params in enumerate(candidates)
            ]
        ).T
    best = _highest(values)
    params = candidates[best]
    value, sem = search.fresh(params, fresh_seeds, _key(root, 3))
    starts, starts_sem = values[-num_starts:], sems[-num_starts:]
    return WorstCase(
        problem=from_matrix(_preferences(space, params), f"worst-{space.name}"),
        params=params,
        value=value,
        sem=sem,
        before=float(starts.mean()),
        before_sem=float(np.linalg.norm(starts_sem)) / num_starts,
        starts=starts,
        trajectories=found,
        best=best % num_starts,
        objective=objective,
        regret=search.regret,
        horizon=search.horizon,
    )


@dataclass(frozen=True)
class _Search:
    """What is made large."""

    policy: Policy
    against: Policy | None
    space: Space
    horizon: int
    objective: str
    regret: str
    num_seeds: int
    devices: Sequence[Device] | None

    def slope(self, params: np.ndarray, key: jax.Array) -> tuple[float, float, np.ndarray]:
        """The objective, its standard error, and its gradient."""
        value, gradient, sem, _ = self._of(self.policy, params, key)
        if self.against is not None:
            other, less, other_sem, _ = self._of(self.against, params, key)
            return value - other, float(np.hypot(sem, other_sem)), gradient - less
        if self.objective == "regret":
            return value, sem, gradient
        with jax.enable_x64(True):
            bound, slope = jax.value_and_grad(self._bound)(jnp.asarray(params))
        bound, slope = float(bound), np.asarray(slope)
        return value / bound, sem / bound, (gradient - value / bound * slope) / bound

    def has_numbers(self, params: np.ndarray) -> bool:
        """Whether the instance and its derivatives are numbers."""
        with jax.enable_x64(True):
            x = jnp.asarray(params, jnp.float64)
            found = self.space.instance(x), jax.jacrev(self.space.instance)(x)
        return all(bool(np.isfinite(part).all()) for part in found)

    def fresh(self, params: np.ndarray, num_seeds: int, key: jax.Array) -> tuple[float, float]:
        """The objective and its standard error; of two policies on common random numbers."""
        problem = from_matrix(_preferences(self.space, params))
        values = self._runs(self.policy, problem, num_seeds, key)
        if self.against is not None:
            values = values - self._runs(self.against, problem, num_seeds, key)
        if self.objective == "ratio":
            with jax.enable_x64(True):
                values = values / float(self._bound(jnp.asarray(params)))
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(num_seeds))

    def _runs(
        self, policy: Policy, problem: DuelingProblem, num_seeds: int, key: jax.Array
    ) -> np.ndarray:
        settings = {"regret": self.regret, "devices": self.devices, "checkpoints": [self.horizon]}
        return simulate(policy, problem, self.horizon, num_seeds, key, **settings).regret[:, 0]

    def _of(self, policy: Policy, params: np.ndarray, key: jax.Array) -> Any:
        found = regret_gradient(
            policy,
            self.space.instance,
            params,
            self.horizon,
            self.num_seeds,
            key,
            regret=self.regret,
            devices=self.devices,
        )
        return found.at()

    def _bound(self, params: Any) -> Any:
        """The lower bound of regret at T."""
        p = self.space.instance(params)
        constant = lower_bound_constant if self.regret == "copeland" else condorcet_lower_bound
        return constant(p) * np.log(self.horizon)


def _climb(
    search: _Search,
    params: np.ndarray,
    steps: int,
    learning_rate: float,
    key: jax.Array,
    tick: Callable[[], Any],
) -> Trajectory:
    """An ascent; it stops where the instance, the objective or its gradient is not a number."""
    optimiser = optax.adam(learning_rate)
    state: Any = optimiser.init(jnp.asarray(params))
    path, values, sems = [params], [], []
    for step in range(steps):
        slope = _slope_if_finite(search, params, jax.random.fold_in(key, step))
        if slope is None:
            break
        value, sem, gradient = slope
        values.append(value)
        sems.append(sem)
        updates, state = optimiser.update(jnp.asarray(-gradient), state)
        params = search.space.project(params + np.asarray(updates, np.float64))
        path.append(params)
        tick()
    if len(values) < steps or not search.has_numbers(params):
        warnings.warn(
            f"an ascent stopped at step {len(values)}, where the instance, the objective or its "
            "gradient is not a number: the instance before it is kept.",
            stacklevel=3,
        )
        path = path[: max(len(values), 1)]
    return Trajectory(np.array(path), np.array(values), np.array(sems))


def _slope_if_finite(
    search: _Search, params: np.ndarray, key: jax.Array
) -> tuple[float, float, np.ndarray] | None:
    """`_Search.slope`; None where that, or what it is computed from, is not a number."""
    try:
        value, sem, gradient = search.slope(params, key)
    except InputError:
        if search.has_numbers(params):
            raise
        return None
    return (value, sem, gradient) if np.isfinite([value, *gradient]).all() else None


def _highest(values: np.ndarray) -> int:
    """The place of the largest number; 0 where there is none."""
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values))) if len(values) else 0


def _preferences(space: Space, params: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(space.instance(jnp.asarray(params, jnp.float64)))


def _key(root: jax.Array, *numbers: int) -> jax.Array:
    for number in numbers:
        root = jax.random.fold_in(root, number)
    return root
