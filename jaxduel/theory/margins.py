"""Evaluation of bounds: on the host in float64, or in JAX, where they are differentiated.

A closed form is one function for both, of the margins x_ij = p_ij - p_ji, which are
2 p_ij - 1: the gradient with respect to p is antisymmetric, and the chain rule is right for every
parametrisation that keeps p + p.T = 1, whichever triangle it writes first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxduel.errors import InputError
from jaxduel.problems import ArmsProblem, DuelingProblem, from_matrix
from jaxduel.problems.dueling import TOLERANCE, require_dueling
from jaxduel.problems.piecewise import PiecewiseProblem, require_constant
from jaxduel.theory.divergence import namespace

Instance = DuelingProblem | np.ndarray | jax.Array
"""A problem, or a (K, K) array of preferences, which may be traced."""


def on_host(instance: Instance) -> TypeGuard[DuelingProblem]:
    """True if this is a problem as users build it, that did not go through a transformation."""
    return isinstance(instance, DuelingProblem) and isinstance(instance.preferences, np.ndarray)


def evaluate(
    formula: Callable[..., Any],
    instance: Instance,
    check: Callable[[DuelingProblem], None],
    defined: Callable[[Any], Any],
    *numbers: float,
) -> Any:
    """The value of a bound: a float of a problem, a JAX scalar of an array.

    Args:
      formula: the bound of margins (K, K), NumPy's or JAX's, and of `numbers`: a function of a
        module, since compiled programs are kept by it.
      instance: the instance.
      check: raises InputError for a problem to which the bound does not apply. Arrays that are not
        traced are checked as the problems that they would make.
      defined: the same for margins of JAX, as a boolean scalar: the value and its gradient are NaN
        where it is false, or where the array is no matrix of preferences.
      *numbers: further arguments of the formula.

    Returns:
      A float, computed in float64; of an array (or a problem that went through a transformation) a
      JAX scalar of its dtype, float32 at least.

    Raises:
      InputError: from `check`; or an array is not a square matrix, or not one of preferences; or
        a problem of another kind.
    """
    if on_host(instance):
        require_dueling(instance, "bounds")
        check(instance)
        return float(formula(margins(np.asarray(instance.preferences, np.float64)), *numbers))
    if isinstance(instance, ArmsProblem | PiecewiseProblem):
        require_constant(instance, "bounds")
        require_dueling(instance, "bounds")
    array = instance.preferences if isinstance(instance, DuelingProblem) else instance
    if not isinstance(array, Tracer):
        from_matrix(array)  # it may be a name; below, what JAX rounds it to is checked
        check(from_matrix(np.asarray(jnp.asarray(array))))
    array = jnp.asarray(array)
    shape = array.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        raise InputError(f"preferences have shape {shape}: a square matrix (K, K) is needed.")
    return _in_jax(formula, defined, array, *numbers)


def margins(preferences: Any) -> Any:
    """x_ij = p_ij - p_ji, (K, K); of a valid matrix exactly 2 p_ij - 1."""
    return preferences - preferences.T


def losses(x: Any) -> Any:
    """L_i, the number of arms that beat each arm, of margins: (K,) integers."""
    return namespace(x).sum(x < 0, axis=1)


def best_arm(x: Any) -> Any:
    """The first of the arms that beat most others, of margins: the Condorcet winner if any."""
    xp = namespace(x)
    return xp.argmax(xp.sum(x > 0, axis=1))


def untied(x: Any) -> Any:
    """True if no two arms are tied, of margins."""
    return namespace(x).sum(x == 0) == len(x)


def has_condorcet_winner(x: Any) -> Any:
    """True if an arm beats all others, of margins."""
    xp = namespace(x)
    return xp.max(xp.sum(x > 0, axis=1)) == len(x) - 1


@partial(jax.jit, static_argnums=(0, 1))
def _in_jax(
    formula: Callable[..., Any],
    defined: Callable[[Any], Any],
    preferences: jax.Array,
    *numbers: jax.Array,
) -> jax.Array:
    p = preferences.astype(jnp.promote_types(preferences.dtype, jnp.float32))
    x = margins(p)
    possible = (p >= 0) & (p <= 1) & (jnp.abs(p + p.T - 1) <= TOLERANCE)
    valid = defined(x) & jnp.all(possible)
    return jnp.where(valid, 1.0, jnp.nan).astype(x.dtype) * formula(x, *numbers)
