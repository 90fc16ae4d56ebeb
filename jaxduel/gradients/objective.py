"""Objectives of the search for a worst instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError
from jaxduel.gradients.score import regret_gradient
from jaxduel.gradients.spaces import Space
from jaxduel.policies.base import Policy
from jaxduel.problems import DuelingProblem, Problem, from_matrix
from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.devices import Device
from jaxduel.simulation.run import run_cell
from jaxduel.stats import moments_of
from jaxduel.theory import condorcet_lower_bound, lower_bound_constant

OBJECTIVES = ("regret", "ratio", "difference")
"""Quantities to maximise: expected regret; regret over (lower bound) log T; regret minus another
policy's regret on the same instance."""


@dataclass(frozen=True)
class Objective:
    """One of `OBJECTIVES`, as a function of the parameters of an instance."""

    name: str
    policy: Policy
    against: Policy | None  # for "difference"
    space: Space
    horizon: int
    regret: str  # definition of regret
    devices: Sequence[Device] | None

    def slope(
        self, params: np.ndarray, num_seeds: int, key: jax.Array
    ) -> tuple[float, float, np.ndarray]:
        """The objective, its standard error, and its gradient; for a difference of two policies,
        the error is computed as for independent runs."""
        value, gradient, sem, _ = self._slope(self.policy, params, num_seeds, key)
        if self.against is not None:
            other, less, other_sem, _ = self._slope(self.against, params, num_seeds, key)
            return value - other, float(np.hypot(sem, other_sem)), gradient - less
        if self.name == "regret":
            return value, sem, gradient
        with jax.enable_x64(True):
            bound, slope = jax.value_and_grad(self._bound)(jnp.asarray(params))
        bound, slope = float(bound), np.asarray(slope)
        if bound <= 0:
            return np.nan, np.nan, np.full(slope.shape, np.nan)
        return value / bound, sem / bound, (gradient - value / bound * slope) / bound

    def require_playable(self, problem: Problem, num_seeds: int) -> None:
        """Raises InputError where `simulate` would, for either policy, before anything runs."""
        settings = self._settings(num_seeds, 0).checked()
        for policy in (self.policy, self.against):
            if policy is not None:
                CheckedCell(policy, problem, self.horizon, settings.checkpoints, settings)

    def require_bound(self, params: np.ndarray) -> None:
        """Raises InputError for a ratio to a lower bound of 0."""
        if self.name == "ratio" and self.bound(params) <= 0:
            raise InputError(
                "worst_case: where every arm is a winner, as at a start of "
                f"'{self.space.name}', the lower bound is 0, and there is no ratio to it: the "
                "objective regret or difference, or more arms, are needed."
            )

    def problem(self, params: np.ndarray, name: str) -> DuelingProblem:
        """The instance at `params`, named `name`."""
        with jax.enable_x64(True):
            matrix = np.asarray(self.space.instance(jnp.asarray(params, jnp.float64)))
        return from_matrix(matrix, name)

    def has_numbers(self, params: np.ndarray) -> bool:
        """True if the instance and its derivatives are finite."""
        with jax.enable_x64(True):
            x = jnp.asarray(params, jnp.float64)
            found = self.space.instance(x), jax.jacrev(self.space.instance)(x)
        return all(bool(np.isfinite(part).all()) for part in found)

    def value(self, params: np.ndarray, num_seeds: int, key: jax.Array) -> tuple[float, float]:
        """The objective and its standard error; two policies run on common random numbers."""
        problem = self.problem(params, self.space.name)
        values = self._runs(self.policy, problem, num_seeds, key)
        if self.against is not None:
            values = values - self._runs(self.against, problem, num_seeds, key)
        if self.name == "ratio":
            values = values / (self.bound(params) or np.nan)
        of_seeds = moments_of(values)
        return float(of_seeds.mean), float(of_seeds.sem)

    def _runs(
        self, policy: Policy, problem: DuelingProblem, num_seeds: int, key: jax.Array
    ) -> np.ndarray:
        settings = self._settings(num_seeds, key)
        result = run_cell(policy, problem, self.horizon, settings)
        return result.regret[:, 0]

    def _settings(self, num_seeds: int, key: int | jax.Array) -> Settings:
        return Settings(
            num_seeds=num_seeds,
            seed=key,
            regret=self.regret,
            devices=self.devices,
            checkpoints=[self.horizon],
        )

    def _slope(self, policy: Policy, params: np.ndarray, num_seeds: int, key: jax.Array) -> Any:
        found = regret_gradient(
            policy,
            self.space.instance,
            params,
            self.horizon,
            num_seeds,
            key,
            regret=self.regret,
            devices=self.devices,
        )
        return found.at()

    def bound(self, params: np.ndarray) -> float:
        """The lower bound of regret at T, at least 0."""
        with jax.enable_x64(True):
            return float(self._bound(jnp.asarray(params)))

    def _bound(self, params: Any) -> Any:
        """The lower bound of regret at T."""
        p = self.space.instance(params)
        constant = lower_bound_constant if self.regret == "copeland" else condorcet_lower_bound
        return constant(p) * np.log(self.horizon)
