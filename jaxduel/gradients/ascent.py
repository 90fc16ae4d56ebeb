"""Search for a policy's worst instance, by gradient ascent of expected regret."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import entries_of, require_known
from jaxduel.errors import AssumptionWarning, InputError, shorten, warn_caller
from jaxduel.gradients.instances import parametrised
from jaxduel.gradients.objective import OBJECTIVES, Objective
from jaxduel.gradients.spaces import Space
from jaxduel.policies import registry
from jaxduel.policies.base import Policy
from jaxduel.policies.checks import require_number, require_policy, whole_number
from jaxduel.problems import DuelingProblem
from jaxduel.progress import Progress
from jaxduel.simulation.checking import horizon_of
from jaxduel.simulation.devices import Device
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.provenance import policy_record
from jaxduel.simulation.regret import needs_pairs


@dataclass(frozen=True)
class Trajectory:
    """An ascent from one start.

    Attributes:
      params: (steps + 1, n) float64, the parameters before each step and after the last. An ascent
        that stopped early has one row per row of `value`, at least the start.
      value: (steps,) float64, the objective as estimated at each step, on the seeds that also chose
        the next step: not a number to report. Shorter where the ascent stopped early.
      sem: (steps,) float64, standard error of `value`; for a difference, as for independent runs.
    """

    params: np.ndarray
    value: np.ndarray
    sem: np.ndarray


@dataclass(frozen=True)
class WorstCase:
    """Result of a search: the worst instance found.

    Attributes:
      problem: the instance.
      params: (n,), parameters of the instance.
      value: the objective there, on fresh seeds that no choice was based on.
      sem: standard error of `value`.
      before: the mean of the objective over the starting instances, each on seeds of its own.
      before_sem: standard error of `before`, over seeds.
      starts: (num_starts,) float64, the objective at each starting instance.
      trajectories: the ascents, one for each start.
      best: index of the ascent that led to the instance.
      objective: name of the objective, one of `OBJECTIVES`.
      regret: definition of regret.
      horizon: T.
      num_seeds: runs behind each value of an ascent.
      fresh_seeds: runs behind `value`, and behind each of `starts`.
      family: name of the space of instances.
      policy: name and parameters of the policy, as in `Result.made_by["policy"]`.
      against: the same for the other policy, or None.

    Example:
      >>> import jaxduel as jd
      >>> found = jd.gradients.worst_case(
      ...     jd.policies.make("sparring", num_arms=2), jd.gradients.space("btl", 2), 100,
      ...     num_starts=1, steps=3, num_seeds=32, fresh_seeds=32,
      ... )
      >>> found.objective, found.regret
      ('regret', 'average')
      >>> found.trajectories[found.best].params.shape  # before each step, and after the last
      (4, 2)
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
    num_seeds: int
    fresh_seeds: int
    family: str
    policy: Mapping[str, Any] = field(repr=False)
    against: Mapping[str, Any] | None = field(repr=False)


def worst_case(
    policy: Policy,
    space: Space,
    horizon: float | None = None,
    *,
    objective: str = "regret",
    against: Policy | None = None,
    starts: ArrayLike | None = None,
    num_starts: int = 4,
    steps: int = 60,
    num_seeds: int = 512,
    fresh_seeds: int = 8_192,
    learning_rate: float = 0.1,
    regret: str | None = None,
    key: int | jax.Array = 0,
    devices: Sequence[Device] | None = None,
    progress: bool | None = None,
) -> WorstCase:
    """Searches a space of instances for a policy's worst one.

    Adam (optax) climbs the objective from several starts by the gradient of expected regret
    (`regret_gradient`), which needs no differentiable policy. Every step has new seeds, and ends
    with a projection onto the space. Three instances of each ascent are evaluated on fresh seeds:
    its start, its last instance and the instance of its highest estimate. The best of all is
    evaluated once more on other seeds, so that the reported value has no selection bias. An ascent
    stops, with a warning, where its instance, objective or gradient is not a number, and keeps the
    instance before. Warnings about assumptions that an instance breaks are suppressed.

    The search is local: the instance found is bad, not proven to be the worst.

    Args:
      policy: the policy, for `space.num_arms` arms.
      space: the instances to search, see `jaxduel.gradients.space`.
      horizon: T; the policy's horizon if None.
      objective: one of `OBJECTIVES`. The lower bound of "ratio" depends on the regret:
        `theory.condorcet_lower_bound` for "average", `theory.lower_bound_constant` for "copeland".
      against: the other policy, for "difference".
      starts: (num_starts, n) starting parameters, projected onto the space; if None, drawn by the
        space.
      num_starts: number of ascents, at least 1; ignored if `starts` are given.
      steps: steps of each ascent, at least 1.
      num_seeds: runs for each step.
      fresh_seeds: runs for each evaluation.
      learning_rate: Adam's, positive: about the change of a parameter per step.
      regret: definition of regret; the space's if None.
      key: root of all randomness.
      devices: as in `jaxduel.simulate`.
      progress: as in `jaxduel.simulate`; it counts runs.

    Returns:
      The instance, its objective on fresh seeds, the starts' objectives, and the ascents.

    Raises:
      InputError: for arguments out of range, a start whose instance or its derivative is not a
        number, and what `regret_gradient` raises.

    Example:
      >>> import jaxduel as jd
      >>> found = jd.gradients.worst_case(
      ...     jd.policies.make("sparring", num_arms=2), jd.gradients.space("btl", 2), 100,
      ...     num_starts=1, steps=3, num_seeds=32, fresh_seeds=32,
      ... )
      >>> found.problem.condorcet_winner  # the space's constraints hold
      0
      >>> bool(0.52 <= found.problem.preferences[0, 1] <= 0.95)
      True
    """
    num_starts = whole_number(num_starts, 1, "worst_case: num_starts")
    steps = whole_number(steps, 1, "worst_case: steps")
    num_seeds = whole_number(num_seeds, 2, "worst_case: num_seeds")
    fresh_seeds = whole_number(fresh_seeds, 2, "worst_case: fresh_seeds")
    require_number(learning_rate, lambda x: x > 0, "worst_case: learning_rate must be positive")
    learning_rate = float(learning_rate)
    require_known("objective", objective, OBJECTIVES)
    if (objective == "difference") != (against is not None):
        raise InputError(
            'worst_case: `against` is needed for the objective "difference", and only.'
        )
    if not isinstance(space, Space):
        raise InputError(
            "worst_case: the space must be one that jaxduel.gradients.space returns, not of type "
            f"{type(space).__name__}."
        )
    definition = space.regret if regret is None else regret
    needs_pairs(definition)  # refuses an unknown definition
    if objective == "ratio" and definition not in ("average", "copeland"):
        raise InputError(
            f"worst_case: there is no lower bound of {definition} regret to divide by: a ratio is "
            'that of "average" or "copeland" regret.'
        )
    require_policy(policy, "worst_case")
    last = horizon_of(policy, horizon)
    if objective == "ratio" and last == 1:
        raise InputError("worst_case: a ratio to (lower bound) log T needs a horizon above 1.")
    climbed = Objective(objective, policy, against, space, last, definition, devices)
    root = root_key(key)

    def drawn(n: int) -> np.ndarray:
        return np.asarray(space.draw(_key(root, 0, n)), np.float64)

    if starts is None:
        chosen = [drawn(n) for n in range(num_starts)]
    else:
        chosen = _checked(starts, drawn(0).size)
    first, num_starts = [space.project(params) for params in chosen], len(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        for params in first:
            problem = replace(parametrised(space.instance, params).problem, name=space.name)
            climbed.require_playable(problem, max(num_seeds, fresh_seeds))
            climbed.require_bound(params)
        runs = num_starts * steps * num_seeds + (3 * num_starts + 1) * fresh_seeds
        name = registry.name_of(policy)
        with Progress(f"worst case of {name}", runs, "runs", progress) as shown:

            def climb(number: int, params: np.ndarray) -> Trajectory:
                key = _key(root, 1, number)
                ascent = _climb(climbed, params, steps, num_seeds, learning_rate, key, shown.tick)
                shown.tick((steps - len(ascent.value)) * num_seeds)
                return ascent

            def evaluate(params: np.ndarray, *key: int) -> tuple[float, float]:
                found = climbed.value(params, fresh_seeds, _key(root, *key))
                shown.tick(fresh_seeds)
                return found

            found = tuple(climb(number, params) for number, params in enumerate(first))
            candidates = [
                *(ascent.params[-1] for ascent in found),
                *(ascent.params[_highest(ascent.value)] for ascent in found),
                *first,
            ]
            values, sems = np.array(
                [evaluate(params, 2, number) for number, params in enumerate(candidates)]
            ).T
            best = _highest(values)
            params = candidates[best]
            value, sem = evaluate(params, 3)
    begun, begun_sem = values[-num_starts:], sems[-num_starts:]
    return WorstCase(
        problem=climbed.problem(params, f"worst-{space.name}"),
        params=params,
        value=value,
        sem=sem,
        before=float(begun.mean()),
        before_sem=float(np.linalg.norm(begun_sem)) / num_starts,
        starts=begun,
        trajectories=found,
        best=best % num_starts,
        objective=objective,
        regret=definition,
        horizon=last,
        num_seeds=num_seeds,
        fresh_seeds=fresh_seeds,
        family=space.name,
        policy=policy_record(policy),
        against=None if against is None else policy_record(against),
    )


def _checked(starts: ArrayLike, size: int) -> np.ndarray:
    """The user's starts, (num_starts, n) float64, checked.

    Raises:
      InputError: unless they are finite numbers of shape (num_starts, size).
    """
    given = entries_of(starts)
    given = given.astype(np.float64) if given.dtype.kind in "biuf" else np.array(np.nan)
    if given.ndim != 2 or given.shape[1] != size or not given.size or not np.isfinite(given).all():
        raise InputError(
            f"worst_case: starts must be finite numbers of shape (num_starts, {size}), not "
            f"{shorten(repr(starts))}."
        )
    return given


def _climb(
    objective: Objective,
    params: np.ndarray,
    steps: int,
    num_seeds: int,
    learning_rate: float,
    key: jax.Array,
    tick: Callable[[float], Any],
) -> Trajectory:
    """Runs an ascent, until the instance, the objective or its gradient is not a number."""
    import optax  # here: it takes half a second to import

    optimiser = optax.adam(learning_rate)
    state: Any = optimiser.init(jnp.asarray(params))
    path, values, sems = [params], [], []
    for step in range(steps):
        slope = _slope_if_finite(objective, params, num_seeds, jax.random.fold_in(key, step))
        if slope is None:
            break
        value, sem, gradient = slope
        values.append(value)
        sems.append(sem)
        updates, state = optimiser.update(jnp.asarray(-gradient), state)
        params = objective.space.project(params + np.asarray(updates, np.float64))
        path.append(params)
        tick(num_seeds)
    if len(values) < steps or not objective.has_numbers(params):
        warn_caller(
            f"an ascent stopped at step {len(values)}, where the instance, the objective or its "
            "gradient is not a number: the instance before it is kept."
        )
        path = path[: max(len(values), 1)]
    return Trajectory(np.array(path), np.array(values), np.array(sems))


def _slope_if_finite(
    objective: Objective, params: np.ndarray, num_seeds: int, key: jax.Array
) -> tuple[float, float, np.ndarray] | None:
    """`Objective.slope`; None where the slope or its instance is not a number."""
    try:
        value, sem, gradient = objective.slope(params, num_seeds, key)
    except InputError:
        if objective.has_numbers(params):
            raise
        return None
    return (value, sem, gradient) if np.isfinite([value, *gradient]).all() else None


def _highest(values: np.ndarray) -> int:
    """Index of the largest number, NaNs left aside; 0 if there is none."""
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values))) if len(values) else 0


def _key(root: jax.Array, *numbers: int) -> jax.Array:
    for number in numbers:
        root = jax.random.fold_in(root, number)
    return root
