"""Instances that depend on parameters: their values and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.problems import (
    ArmsProblem,
    DuelingProblem,
    bernoulli,
    from_matrix,
    gaussian,
)
from jaxduel.simulation.traces import ASKS_FOR_VALUES

InstanceFn = Callable[[Any], Any]
"""From parameters, any pytree of floating-point arrays, to an instance: a (K, K) matrix of
preferences, or an `ArmsProblem` of traced means."""

_ROUNDING = 1e-6
"""Share of the largest derivative that those of p_ij and p_ji may miss the sum 0 by."""


class Parametrised(NamedTuple):
    """An instance, and its derivatives with respect to n parameters, flattened."""

    problem: DuelingProblem | ArmsProblem
    played: np.ndarray
    """(K, K) or (K,) float64: its probabilities or means, rounded as in simulations."""
    slopes: np.ndarray
    """Derivatives, float64: (K, K, n) of the preferences, antisymmetric in i and j; (K, n) of the
    means."""
    unravel: Callable[[np.ndarray], Any]
    """From (..., n) to the pytree of the parameters, with the leading axes in front."""


def parametrised(instance_fn: InstanceFn, params: Any) -> Parametrised:
    """The instance at `params`, computed in float64.

    Raises:
      InputError: if `instance_fn` is no function of JAX, if parameters are not floating-point
        numbers, if the instance leaves its range, or if a derivative is not finite. The entry is
        named.
    """
    if not callable(instance_fn):
        raise InputError(
            "instance_fn must be a function from parameters to an instance, such as "
            f"jaxduel.gradients.families.btl, not of type {type(instance_fn).__name__}."
        )
    leaves = jax.tree.leaves(params)
    if not leaves or not all(np.issubdtype(np.asarray(x).dtype, np.floating) for x in leaves):
        raise InputError(
            "params must be real numbers, in a pytree of floating-point arrays with at least one; "
            "whole numbers are none: 1.0, not 1."
        )
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float64), params)
        flat, unravel = ravel_pytree(wide)
        problem = _validated(instance_fn(wide))
        try:
            slopes = np.asarray(jax.jacrev(lambda x: _values(instance_fn(unravel(x))))(flat))
        except (*ASKS_FOR_VALUES, InputError):  # with plain numbers it worked above
            raise InputError(
                "instance_fn must be a function of JAX, which can be differentiated, but asks for "
                "the values of its parameters, as NumPy and the generators of jaxduel.problems do: "
                "use jax.numpy, and jaxduel.problems.ArmsProblem(means, std) for arms with rewards."
            ) from None
        if not np.isfinite(slopes).all():
            entry = tuple(int(i) for i in np.argwhere(~np.isfinite(slopes))[0])
            raise InputError(
                f"instance_fn has a derivative that is not finite: that of entry {entry[:-1]} with "
                f"respect to parameter {entry[-1]} (counted from 0)."
            )
        if isinstance(problem, ArmsProblem):
            played = problem.means
            if problem.std is not None:
                _require_fixed_spread(instance_fn, wide)
        else:
            played = problem.preferences
            _require_both_triangles(slopes)
            slopes = (slopes - slopes.swapaxes(0, 1)) / 2

    def tree_of(rows: np.ndarray) -> Any:
        ends = np.cumsum([np.size(x) for x in leaves])[:-1]
        parts = zip(np.split(rows, ends, axis=-1), leaves, strict=True)
        arrays = [part.reshape(*rows.shape[:-1], *np.shape(leaf)) for part, leaf in parts]
        return jax.tree.unflatten(jax.tree.structure(params), arrays)

    rounded = np.asarray(played, np.float32).astype(np.float64)
    return Parametrised(problem, rounded, slopes, tree_of)


def require_uncertain(at: Parametrised, undefined: str) -> None:
    """Raises InputError, which names the entry, if a probability is 0 or 1: `undefined` is
    undefined there."""
    if isinstance(at.problem, ArmsProblem) and at.problem.std is not None:
        return
    sure = (at.played <= 0) | (at.played >= 1)
    if sure.any():
        entry = tuple(int(i) for i in np.argwhere(sure)[0])
        raise InputError(
            f"instance_fn(params) has {at.played[entry]:g} at {list(entry)} (counted from 0), "
            f"where {undefined} is undefined: probabilities must be between 0 and 1."
        )


def warn_if_constant(at: Parametrised) -> None:
    """Warns if the instance depends on no parameter."""
    if not at.slopes.any():
        warn_caller(
            "instance_fn does not depend on params, as far as differentiation goes: the gradient "
            "is zero in every coordinate."
        )


def gap_slopes(at: Parametrised, definition: str) -> np.ndarray:
    """Derivatives of the gaps, (K, n) float64, with the present winner held fixed.

    Copeland, binary and votes' gaps are piecewise constant: their derivatives are zero. `simulate`
    checks that the instance has gaps of this definition.
    """
    problem, slopes = at.problem, at.slopes
    if isinstance(problem, ArmsProblem):
        return slopes[problem.best_arms[0]] - slopes
    if definition in ("copeland", "binary weak", "binary strong", "votes"):
        return np.zeros(slopes.shape[1:])
    if definition == "borda":
        scores = slopes.sum(axis=1) / (problem.num_arms - 1)
        return scores[problem.borda_winners[0]] - scores
    winner = problem.condorcet_winner
    assert winner is not None
    return slopes[winner]


def _values(instance: Any) -> jax.Array:
    if isinstance(instance, ArmsProblem):
        return jnp.asarray(instance.means)
    if isinstance(instance, DuelingProblem):
        return jnp.asarray(instance.preferences)
    try:
        return jnp.asarray(instance)
    except (TypeError, ValueError):
        raise InputError(
            "instance_fn must return a (K, K) matrix of preferences, or an ArmsProblem, not "
            f"{shorten(repr(instance))}."
        ) from None


def _validated(instance: Any) -> DuelingProblem | ArmsProblem:
    """The instance on the host, checked."""
    if isinstance(instance, ArmsProblem):
        means = np.asarray(instance.means)
        if instance.std is None:
            return bernoulli(means, instance.name)
        return gaussian(means, np.asarray(instance.std), instance.name)
    name = instance.name if isinstance(instance, DuelingProblem) else "instance_fn(params)"
    return from_matrix(np.asarray(_values(instance)), name)


def _require_both_triangles(slopes: np.ndarray) -> None:
    """Raises InputError if p + p.T = 1 holds at the parameters alone: (K, K, n) derivatives."""
    sums = np.abs(slopes + slopes.swapaxes(0, 1))
    if sums.max(initial=0.0) > _ROUNDING * np.abs(slopes).max(initial=0.0):
        i, j, n = (int(at) for at in np.unravel_index(np.argmax(sums), sums.shape))
        raise InputError(
            f"instance_fn moves p[{i}, {j}] by {slopes[i, j, n]:.6g} times a change of parameter "
            f"{n}, and p[{j}, {i}] by {slopes[j, i, n]:.6g} (counted from 0): p + p.T = 1 must "
            "hold for all parameters, in both triangles."
        )


def _require_fixed_spread(instance_fn: InstanceFn, params: Any) -> None:
    """Raises InputError if the spread of Gaussian rewards depends on the parameters."""
    slopes = jax.jacrev(lambda x: jnp.asarray(instance_fn(x).std, float))(params)
    if any(np.any(np.asarray(x)) for x in jax.tree.leaves(slopes)):
        raise InputError(
            "the std of Gaussian rewards depends on params: only their means may be varied."
        )
