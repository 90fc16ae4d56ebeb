"""A relaxed pathwise simulator of PCOMP, SCOMP and SCOMP2: low variance, biased.

Regret of a run is a smooth function of the preferences and of normal noise, so that automatic
differentiation goes through the run. The rounds are relaxed in `relaxed_rounds`.

The temperature trades bias for variance. Measured for BTL arms whose log-weights fall by x = y =
0.5 from arm to arm, T = 1e4, B = 3 (21 comparisons of a pair in round 1), 1e5 relaxed seeds,
against `jaxduel.simulate` with 4e5 seeds and central differences of step 0.05 with common random
numbers; standard errors in brackets:

                          simulate      temperature 0.2   0.1           0.05          0.02
    pcomp, K = 3   value    87.8 (0.1)    90.4 (0.2)      81.8 (0.2)    81.3 (0.2)    81.0 (0.2)
                   d/dx    -18.2 (0.8)  -105.7 (0.8)     -38.9 (0.9)   -26.7 (1.3)   -21.4 (2.7)
                   d/dy    -76.6 (0.6)   -62.4 (0.2)     -70.6 (0.4)   -75.2 (0.7)   -75.9 (1.5)
    scomp, K = 3   value    86.0 (0.1)    96.9 (0.2)      84.3 (0.2)    81.8 (0.2)    80.0 (0.2)
                   d/dx     -6.3 (0.8)   -79.5 (0.9)     -26.7 (1.2)   -16.2 (1.8)   -16.9 (3.7)
                   d/dy    -61.7 (0.8)   -67.0 (0.6)     -62.8 (0.9)   -63.7 (1.6)   -67.5 (4.7)
    scomp2, K = 3  value    85.2 (0.2)   113.1 (0.3)      87.9 (0.3)    84.9 (0.3)    83.8 (0.4)
                   d/dx    -28.6 (1.2)   -74.6 (0.9)     -44.8 (1.3)   -37.9 (2.3)   -36.5 (4.5)
                   d/dy    -65.0 (1.4)   -75.0 (0.7)     -68.9 (1.3)   -71.5 (2.5)   -69.4 (6.3)
    pcomp, K = 2   value    24.4 (0.1)    33.4 (0.2)      26.3 (0.2)    24.9 (0.2)    24.3 (0.2)
                   d/dx      8.2 (0.7)   -41.4 (0.6)      -9.6 (0.7)    -1.0 (1.3)     2.2 (3.0)

A component that is a small difference of large effects may have the wrong sign. Temperatures of
0.05 to 0.1 are a start; below 0.02 a gradient is made of rare large values, and its standard error
is too small. The bias of normal sums does not fall with the temperature: it is up to 8 % of the
value above, and large where early batches decide and are tiny: for pcomp, K = 2, T = 1e5 at
temperature 0.05, B = 5 (first batch 10) has value 90 (3), d/dx -315 (14) instead of 118 (3) and
-301 (16), and B = 16 (first batches 2, 4, 8) has 206 (4), -478 (33) instead of 405 (5), -401 (26).
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
from jax.typing import ArrayLike

from jaxduel.errors import InputError
from jaxduel.gradients.instances import (
    InstanceFn,
    parametrised,
    require_uncertain,
    warn_if_constant,
)
from jaxduel.gradients.relaxed_inputs import checked, playable
from jaxduel.gradients.relaxed_rounds import relaxed_plays
from jaxduel.policies import PCOMP, SCOMP, SCOMP2
from jaxduel.policies.checks import MAX_HORIZON, whole_number
from jaxduel.problems import from_matrix
from jaxduel.simulation.keys import root_key

_BLOCK_NUMBERS = 2**22
_MOST_LANES = 256


class RelaxedGradient(NamedTuple):
    """Estimates from independent seeds. Their standard errors do not cover the bias.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("pcomp", num_arms=2, horizon=100, num_batches=2)
      >>> found = jd.gradients.relaxed_gradient(
      ...     policy, jd.gradients.families.btl, jnp.array([1.0, 0.0]), 100, 32, jax.random.key(0),
      ...     temperature=0.1,
      ... )
      >>> found.gradient.shape, found.gradient_sem.shape
      ((2,), (2,))
    """

    value: float  # mean relaxed regret
    value_sem: float
    gradient: Any  # like params: derivative of the value
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
    temperature falls to 0, the run tends to the run of `jaxduel.simulate` with such sums in place
    of binomial ones (evidence that equals a threshold counts as half a test passed). An entry of 0
    or 1 has no noise, and only the derivative of its mean.

    Args:
      policy: "pcomp", "scomp" or "scomp2", its numbers known (not traced): T and the sizes of the
        batches fix the number of rounds that are computed.
      preferences: (K, K), K = policy.num_arms. Only p_ij - p_ji is read: the gradient is
        antisymmetric, each of the two entries having half of the pair's derivative.
      horizon: T, at most the policy's horizon.
      key: () typed key of this seed, or a whole number.
      temperature: positive, a pure number: the relative excess of evidence over a test's radius
        that multiplies the odds of the test's passing by e.
      regret: "average" (gaps to the Condorcet winner) or "borda".

    Returns:
      () of the preferences' dtype (float32 unless they are float64), comparisons times gap.

    Raises:
      InputError: for arguments out of range, preferences that are no preference matrix or have no
        Condorcet winner, where "average" needs one. (Traced preferences are not checked.)

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("pcomp", num_arms=2, horizon=100, num_batches=2)
      >>> key, p = jax.random.key(0), jd.problems.btl_from_weights([2, 1]).preferences
      >>> regret = jd.gradients.relaxed_regret(policy, p, 100, key, temperature=0.1)
      >>> 0 < float(regret) < 100 * float(p[0, 1] - 0.5)
      True
    """
    sizes = checked(policy, horizon, temperature, regret)
    if not isinstance(preferences, Tracer):
        playable(policy, from_matrix(preferences, "preferences"), regret)
    matrix, key = jnp.asarray(preferences), root_key(key)
    matrix = matrix.astype(jnp.promote_types(matrix.dtype, jnp.float32))
    if not isinstance(temperature, Tracer):
        temperature = float(temperature)
    return _regret(policy, sizes, horizon, matrix, key, temperature, regret=regret)


def relaxed_gradient(
    policy: PCOMP | SCOMP | SCOMP2,
    instance_fn: InstanceFn,
    params: Any,
    horizon: int,
    num_seeds: int,
    key: jax.Array,
    *,
    temperature: float,
    regret: str = "average",
) -> RelaxedGradient:
    """Mean relaxed regret and its gradient in the parameters of an instance.

    Biased as an estimate of the gradient of expected regret: see the module's docstring. Seeds run
    in blocks, so that memory does not grow with their number. A seed's noise depends on the key and
    its index alone: calls with the same key have common random numbers.

    Args:
      policy: as in `relaxed_regret`.
      instance_fn: from params to (K, K) preferences. It is differentiated by JAX, in float64.
      params: a pytree of floating-point arrays.
      horizon: T.
      num_seeds: at least 2.
      key: root of the seeds, a () typed key or a whole number.
      temperature: positive.
      regret: "average" or "borda".

    Returns:
      Value and gradient with their standard errors; NumPy arrays of the params' shapes, float32
      (float64 with 64-bit JAX).

    Raises:
      InputError: as `relaxed_regret`; for an entry of 0 or 1, where the noise has no derivative, a
        derivative that is not finite, and params that are no floating-point numbers.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("pcomp", num_arms=2, horizon=100, num_batches=2)
      >>> found = jd.gradients.relaxed_gradient(
      ...     policy, jd.gradients.families.btl, jnp.array([1.0, 0.0]), 100, 32, jax.random.key(0),
      ...     temperature=0.1,
      ... )
      >>> bool(abs(found.gradient.sum()) < 1e-3)  # a shift of all log-weights changes nothing
      True
    """
    sizes = checked(policy, horizon, temperature, regret)
    num_seeds = whole_number(num_seeds, 2, "relaxed_gradient: num_seeds")
    if num_seeds > MAX_HORIZON:
        raise InputError(f"relaxed_gradient: num_seeds must be at most 2^31 - 1, not {num_seeds}.")
    key = root_key(key)
    at = parametrised(instance_fn, params)
    problem = playable(policy, at.problem, regret)
    require_uncertain(at, "the derivative of a comparison's noise")
    warn_if_constant(at)
    preferences = jnp.asarray(problem.preferences, float)
    lanes = min(_BLOCK_NUMBERS // (len(sizes) * policy.num_arms**2), _MOST_LANES, num_seeds)
    lanes = max(lanes, 1)
    counted, means, squares = _compiled(jax.default_backend())(
        policy,
        sizes,
        horizon,
        preferences,
        jnp.asarray(at.slopes, float),
        key,
        num_seeds,
        float(temperature),
        blocks=-(-num_seeds // lanes),
        lanes=lanes,
        regret=regret,
    )
    mean, sem = _pooled(counted, means, squares)
    return RelaxedGradient(
        value=float(mean[0]),
        value_sem=float(sem[0]),
        gradient=at.unravel(mean[1:].astype(preferences.dtype)),
        gradient_sem=at.unravel(sem[1:].astype(preferences.dtype)),
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
    """(K,) p_wi - 1/2 with the Condorcet winner w, or the largest Borda score minus the score of i.

    The winner is found by comparison and carries no derivative.
    """
    drift = jnp.where(active[:, None] & active[None, :], drift, 0.0)
    if regret == "average":
        return 0.5 * drift[jnp.argmax(jnp.sum(drift > 0, axis=1))]
    scores = 0.5 * jnp.sum(drift, axis=1) / (jnp.sum(active) - 1)
    return jnp.max(jnp.where(active, scores, -jnp.inf)) - scores


@cache
def _compiled(platform: str) -> Callable[..., Any]:
    """`_moments` for a platform. On a CPU it is compiled with less optimisation, in two thirds of
    the time; the program is no slower.
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
    """Each block's number of seeds, mean of (regret, gradient), and sum of its squared deviations:
    (blocks,), (blocks, 1 + P), (blocks, 1 + P)."""

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
