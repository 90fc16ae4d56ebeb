"""A relaxed pathwise simulator of PCOMP, SCOMP and SCOMP2: low variance, biased.

Regret of a run as a smooth function of the preferences and of normal noise, so that automatic
differentiation goes through the run. How the rounds are relaxed: `relaxed_rounds`.

MEASURED
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike

from jaxduel.errors import InputError, unknown_name
from jaxduel.gradients.relaxed_rounds import relaxed_plays
from jaxduel.policies import PCOMP, SCOMP, SCOMP2
from jaxduel.policies.batched import comparisons_per_pair
from jaxduel.policies.checks import require, require_horizon, require_whole
from jaxduel.problems import DuelingProblem, from_matrix

REGRETS = ("average", "borda")
"""The regrets whose gaps are smooth in the preferences."""

_MOST_ROUNDS = 1024
_BLOCK_NUMBERS = 2**22
_MOST_LANES = 256


class RelaxedGradient(NamedTuple):
    """Estimates from independent seeds. Their standard errors do not cover the bias."""

    value: float  # mean relaxed regret
    value_sem: float
    gradient: Any  # like params: its derivative
    gradient_sem: Any  # like params


def relaxed_regret(
    policy: PCOMP | SCOMP | SCOMP2,
    preferences: ArrayLike,
    horizon: int,
    key: jax.Array,
    *,
    temperature: float | jax.Array,
    regret: str = "average",
) -> jax.Array:
    """The relaxed regret of one seed, differentiable in the preferences.

    Works under jit, vmap and grad; vmap over keys gives seeds. Sums of n comparisons are normal, n
    p + sqrt(n p (1 - p)) z, clipped to [0, n]: the same z, whatever the preferences. As the
    temperature falls to 0, the run tends to that of `jaxduel.simulate` with such sums in place of
    binomial ones (evidence that equals a threshold counts as half a test passed). An entry of 0 or
    1 has no noise, and the derivative of the mean alone.

    Args:
      policy: "pcomp", "scomp" or "scomp2", its numbers known (not traced): T and the sizes of the
        batches fix how many rounds are computed.
      preferences: (K, K), K = policy.num_arms. Of a pair, p_ij - p_ji is read: the gradient is
        antisymmetric, and each of the two entries has half of the pair's derivative.
      horizon: T, at most the policy's own.
      key: () typed key of this seed.
      temperature: positive, a pure number: the relative excess of evidence over a test's radius
        that multiplies the odds of the test's passing by e.
      regret: "average" (gaps to the Condorcet winner) or "borda".

    Returns:
      () of the preferences' dtype (float32 unless they are float64), comparisons times gap.

    Raises:
      InputError: for arguments out of range, preferences that are no preference matrix or have no
        Condorcet winner, where "average" needs one. (Traced preferences are not checked.)
    """
    sizes = _checked(policy, horizon, temperature, regret)
    if not isinstance(preferences, Tracer):
        _problem(policy, preferences, "preferences", regret)
    matrix = jnp.asarray(preferences)
    matrix = matrix.astype(jnp.promote_types(matrix.dtype, jnp.float32))
    return _regret(policy, sizes, horizon, matrix, key, temperature, regret=regret)


def relaxed_gradient(
    policy: PCOMP | SCOMP | SCOMP2,
    instance_fn: Callable[[Any], Any],
    params: Any,
    horizon: int,
    num_seeds: int,
    key: jax.Array,
    *,
    temperature: float,
    regret: str = "average",
) -> RelaxedGradient:
    """Mean relaxed regret and its gradient in the parameters of an instance.

    Biased as an estimate of the gradient of expected regret: see the head of this module. Seeds run
    in blocks, so that memory does not grow with their number. A seed's noise depends on the key and
    its index alone: calls with the same key have common random numbers.

    Args:
      policy: as in `relaxed_regret`.
      instance_fn: from params to (K, K) preferences, differentiable.
      params: any pytree of real numbers.
      horizon: T.
      num_seeds: at least 2.
      key: () typed key, the root of the seeds.
      temperature: positive.
      regret: "average" or "borda".

    Returns:
      Value and gradient with their standard errors; arrays like the params, float32 (float64 with
      64-bit JAX).

    Raises:
      InputError: as `relaxed_regret`; for an entry of 0 or 1, where the noise has no derivative,
        and for params that are not real numbers.
    """
    sizes = _checked(policy, horizon, temperature, regret)
    require_whole(num_seeds, 2, "relaxed_gradient: num_seeds must be a whole number of at least 2")
    flat, unravel = ravel_pytree(jax.tree.map(_real, params))

    def instance(flat: jax.Array) -> jax.Array:
        return jnp.asarray(instance_fn(unravel(flat)), flat.dtype)

    preferences = instance(flat)
    problem = _problem(policy, preferences, "instance_fn(params)", regret)
    for i, j in np.argwhere((problem.preferences == 0) | (problem.preferences == 1))[:1]:
        raise InputError(
            f"relaxed_gradient: the noise of a comparison whose outcome is certain has no "
            f"derivative, and instance_fn(params) has {problem.preferences[i, j]:g} at [{i}, {j}] "
            "(counted from 0): entries must be in (0, 1)."
        )
    lanes = min(_BLOCK_NUMBERS // (len(sizes) * policy.num_arms**2), _MOST_LANES, num_seeds)
    lanes = max(lanes, 1)
    counted, means, squares = _compiled(jax.default_backend())(
        policy,
        sizes,
        horizon,
        preferences,
        jax.jacrev(instance)(flat),
        key,
        num_seeds,
        temperature,
        blocks=-(-num_seeds // lanes),
        lanes=lanes,
        regret=regret,
    )
    mean, sem = _pooled(counted, means, squares)
    return RelaxedGradient(
        value=float(mean[0]),
        value_sem=float(sem[0]),
        gradient=unravel(jnp.asarray(mean[1:], flat.dtype)),
        gradient_sem=unravel(jnp.asarray(sem[1:], flat.dtype)),
    )


@partial(jax.jit, static_argnames="regret")
def _regret(
    policy: Any,
    sizes: jax.Array,
    horizon: jax.Array,
    preferences: jax.Array,
    key: jax.Array,
    temperature: jax.Array,
    *,
    regret: str,
) -> jax.Array:
    """Half the sum over arms of plays times gap."""
    drift = preferences - preferences.T
    plays = relaxed_plays(policy, sizes, horizon, drift, key, temperature)
    return 0.5 * jnp.sum(plays * _gaps(drift, jnp.asarray(policy.active_arms), regret))


def _gaps(drift: jax.Array, active: jax.Array, regret: str) -> jax.Array:
    """(K,) p_wi - 1/2 with the Condorcet winner w, or the largest Borda score less that of i.

    The winner is found by comparison and carries no derivative.
    """
    drift = jnp.where(active[:, None] & active[None, :], drift, 0.0)
    if regret == "average":
        return 0.5 * drift[jnp.argmax(jnp.sum(drift > 0, axis=1))]
    scores = 0.5 * jnp.sum(drift, axis=1) / (jnp.sum(active) - 1)
    return jnp.max(jnp.where(active, scores, -jnp.inf)) - scores


@cache
def _compiled(platform: str) -> Callable[..., Any]:
    """`_moments` for a platform. On a CPU it is compiled with less optimisation: in two thirds of
    the time, and the program is no slower.
    """
    options = {"xla_backend_optimization_level": 1} if platform == "cpu" else None
    static = ("blocks", "lanes", "regret")
    return jax.jit(_moments, static_argnames=static, compiler_options=options)


def _moments(
    policy: Any,
    sizes: jax.Array,
    horizon: jax.Array,
    preferences: jax.Array,
    jacobian: jax.Array,
    key: jax.Array,
    num_seeds: jax.Array,
    temperature: jax.Array,
    *,
    blocks: int,
    lanes: int,
    regret: str,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Of each block: how many seeds it has, and the mean and the sum of squared deviations of
    (regret, gradient): (blocks,), (blocks, 1 + P), (blocks, 1 + P)."""

    def of_seed(preferences: jax.Array, index: jax.Array) -> jax.Array:
        seed = jax.random.fold_in(key, index)
        return _regret(policy, sizes, horizon, preferences, seed, temperature, regret=regret)

    across = jacobian.reshape(preferences.size, -1)

    def of_block(block: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        index = block * lanes + jnp.arange(lanes)
        counted = (index < num_seeds)[:, None]
        values, slopes = jax.vmap(jax.value_and_grad(of_seed), (None, 0))(preferences, index)
        slopes = jnp.matmul(slopes.reshape(lanes, -1), across, precision=lax.Precision.HIGHEST)
        sample = jnp.concatenate([values[:, None], slopes], axis=1)
        number = jnp.sum(counted)
        mean = jnp.sum(jnp.where(counted, sample, 0.0), axis=0) / number
        return number, mean, jnp.sum(jnp.where(counted, (sample - mean) ** 2, 0.0), axis=0)

    return lax.map(of_block, jnp.arange(blocks))


def _pooled(counted: Any, means: Any, squares: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error over all blocks, in float64."""
    counted = np.asarray(counted, np.float64)[:, None]
    means, squares = np.asarray(means, np.float64), np.asarray(squares, np.float64)
    number = counted.sum()
    mean = (counted * means).sum(axis=0) / number
    total = (squares + counted * (means - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(total / (number * (number - 1)))


def _checked(policy: Any, horizon: Any, temperature: Any, regret: str) -> np.ndarray:
    """The sizes of the batches, (R + 1,) float64, once policy and numbers are found right."""
    if not isinstance(policy, PCOMP | SCOMP | SCOMP2):
        raise InputError(
            "the relaxed simulator knows the policies pcomp, scomp and scomp2, not "
            f"{type(policy).__name__}."
        )
    if regret not in REGRETS:
        raise unknown_name("regret of the relaxed simulator", regret, REGRETS)
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((policy, horizon))):
        raise InputError(
            "the relaxed simulator needs the policy's numbers and the horizon to be known, not "
            "traced: they fix how many rounds there are."
        )
    if not isinstance(temperature, Tracer):
        require(temperature, lambda x: x > 0, "temperature must be a positive number")
    with jax.ensure_compile_time_eval():
        policy.validate()
    require_horizon(horizon, "the relaxed simulator")
    if horizon > policy.horizon:
        raise InputError(
            f"the relaxed simulator: the horizon {horizon} exceeds the {policy.horizon} that the "
            "policy was made for."
        )
    return _sizes(policy, int(horizon))


def _sizes(policy: Any, horizon: int) -> np.ndarray:
    """c_(r - 1), ..., for as many rounds as T can take: one pair is compared in each, and one round
    is played twice where PCOMP takes over."""
    first = int(policy.tau) if isinstance(policy, PCOMP) else 1
    with jax.ensure_compile_time_eval():
        rounds = jnp.arange(first - 1, first + _MOST_ROUNDS, dtype=jnp.int32)
        sizes = np.asarray(jax.vmap(partial(comparisons_per_pair, policy))(rounds), np.float64)
    ends = np.cumsum(sizes[1:])
    if ends[-1] < horizon:
        raise InputError(
            f"the relaxed simulator: the batches grow so slowly that {_MOST_ROUNDS} rounds do not "
            f"surely hold {horizon} comparisons, and it accepts no more rounds."
        )
    last = int(np.searchsorted(ends, horizon)) + (1 if isinstance(policy, PCOMP) else 2)
    return sizes[: last + 1]


def _problem(policy: Any, preferences: Any, name: str, regret: str) -> DuelingProblem:
    """The validated instance."""
    problem = from_matrix(preferences, name)
    if problem.num_arms != policy.num_arms:
        raise InputError(
            f"the policy has {policy.num_arms} arms and {name} has {problem.num_arms}: they must "
            "agree."
        )
    active = np.flatnonzero(policy.active_arms)
    DuelingProblem(problem.preferences[np.ix_(active, active)], name).gaps(regret)
    return problem


def _real(leaf: Any) -> jax.Array:
    """A leaf of the params as floating-point numbers."""
    if np.asarray(leaf).dtype.kind not in "iuf":
        raise InputError(f"relaxed_gradient: params must be real numbers, not {leaf!r}.")
    return jnp.asarray(leaf, float)
