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

from jaxduel.errors import InputError, unknown_name
from jaxduel.gradients.score import regret_gradient
from jaxduel.gradients.spaces import Space
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require, require_whole
from jaxduel.problems import DuelingProblem, from_matrix
from jaxduel.simulation.devices import Device
from jaxduel.simulation.simulate import simulate
from jaxduel.theory import condorcet_lower_bound, lower_bound_constant

OBJECTIVES = ("regret", "ratio", "difference")
"""What is made as large as possible: expected regret; regret over (lower bound) log T; regret minus
that of another policy on the same instance."""


@dataclass(frozen=True)
class Trajectory:
    """An ascent from one start.

    Attributes:
      params: (steps + 1, n) float64, the parameters before each step, and after the last.
      value: (steps,) float64, the objective as it was estimated at each step: on seeds that were
        also used to go on, so that it is not what to report.
      sem: (steps,) float64, its standard error.
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
      before: the mean of the objective over the instances that the ascents began with, on seeds of
        their own.
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
    brought back to where the space allows them. Every step has seeds of its own. Of all ascents'
    last instances and starts the one with the largest objective on fresh seeds is taken, and is
    evaluated once more on others: what is reported was not chosen for its noise.

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
      InputError: for arguments out of range, and what `jaxduel.simulate` raises.
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
    last: Any = getattr(policy, "horizon", None) if horizon is None else horizon
    if last is None:
        raise InputError("worst_case: the policy has no horizon of its own: give one.")
    search = _Search(policy, against, space, int(last), objective, definition, num_seeds, devices)
    root = jax.random.key(key) if isinstance(key, int) else key
    first = [
        space.project(np.asarray(space.draw(_key(root, 0, number)), np.float64))
        for number in range(num_starts)
    ]
    with tqdm(total=num_starts * steps, unit=" steps", disable=not progress) as bar:
        found = tuple(
            _climb(search, params, steps, learning_rate, _key(root, 1, number), bar.update)
            for number, params in enumerate(first)
        )
    ends = [trajectory.params[-1] for trajectory in found]
    starts = [search.fresh(params, fresh_seeds, _key(root, 2, 0)) for params in first]
    chosen = [search.fresh(params, fresh_seeds, _key(root, 2, 1))[0] for params in ends]
    best = int(np.argmax(chosen))
    params = ends[best]
    if max(chosen) < max(value for value, _ in starts):
        best = int(np.argmax([value for value, _ in starts]))
        params = first[best]
    value, sem = search.fresh(params, fresh_seeds, _key(root, 2, 2))
    before = np.array([value for value, _ in starts])
    return WorstCase(
        problem=from_matrix(_preferences(space, params), f"worst-{space.name}"),
        params=params,
        value=value,
        sem=sem,
        before=float(before.mean()),
        before_sem=float(np.sqrt(np.sum(np.square([sem for _, sem in starts])))) / num_starts,
        starts=before,
        trajectories=found,
        best=best,
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
    """An ascent; it stops where the objective or its gradient is not a number."""
    optimiser = optax.adam(learning_rate)
    state: Any = optimiser.init(jnp.asarray(params))
    path, values, sems = [params], [], []
    for step in range(steps):
        value, sem, gradient = search.slope(params, jax.random.fold_in(key, step))
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            warnings.warn(
                f"an ascent stopped at step {step}, where the objective or its gradient is not a "
                "number: the instance before it is kept.",
                stacklevel=3,
            )
            path = path[:-1] if len(path) > 1 else path
            break
        values.append(value)
        sems.append(sem)
        updates, state = optimiser.update(jnp.asarray(-gradient), state)
        params = search.space.project(params + np.asarray(updates, np.float64))
        path.append(params)
        tick()
    return Trajectory(np.array(path), np.array(values), np.array(sems))


def _preferences(space: Space, params: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(space.instance(jnp.asarray(params, jnp.float64)))


def _key(root: jax.Array, *numbers: int) -> jax.Array:
    for number in numbers:
        root = jax.random.fold_in(root, number)
    return root
