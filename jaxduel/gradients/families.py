"""Families of instances, as functions from free parameters to (K, K) matrices of preferences.

All are differentiable, and all parameters give an instance of the family.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jax.typing import ArrayLike

from jaxduel.errors import InputError


def btl(log_weights: ArrayLike) -> jax.Array:
    """Bradley-Terry-Luce: p_ij = w_i / (w_i + w_j). It is SST, and has a Condorcet winner unless
    two weights share the lead.

    Args:
      log_weights: (K,) log w. Adding one number to all of them does not change the instance.

    Example:
      >>> import jaxduel as jd
      >>> jd.gradients.families.btl([0.0, 0.0])[0].tolist()
      [0.5, 0.5]
    """
    scores = _floats(log_weights)
    return jax.nn.sigmoid(scores[:, None] - scores)


def thurstone(utilities: ArrayLike) -> jax.Array:
    """Thurstone's case V: p_ij = Phi(u_i - u_j), utilities in units of a comparison's noise.

    Args:
      utilities: (K,).

    Example:
      >>> import jaxduel as jd
      >>> print(jd.gradients.families.thurstone([1.0, 0.0]).round(2))
      [[0.5  0.84]
       [0.16 0.5 ]]
    """
    scores = _floats(utilities)
    return ndtr(scores[:, None] - scores)


def free(logits: ArrayLike) -> jax.Array:
    """Any matrix of probabilities strictly between 0 and 1: p_ij = 1 / (1 + exp(-x_ij)), i < j.

    Args:
      logits: (K (K - 1) / 2,) x, the pairs in lexicographic order.

    Raises:
      InputError: if their number is not K (K - 1) / 2 for any K.

    Example:
      >>> import jaxduel as jd
      >>> [f"{p:.2f}" for p in jd.gradients.families.free([0.0, 1.0, -1.0])[0]]
      ['0.50', '0.50', '0.73']
    """
    return _matrix(jax.nn.sigmoid(_floats(logits)))


def tournament(beats: ArrayLike, magnitudes: ArrayLike) -> jax.Array:
    """Matrices with a fixed winner of each pair and free margins: p_ij = 1 / (1 + exp(-s_ij log(1 +
    e^x_ij))), with s_ij = 1 where i beats j, else -1.

    Copeland scores and winners are those of the tournament: a 3-cycle on top of others, for
    example, has no Condorcet winner.

    Args:
      beats: (K, K) bool, concrete: whether i beats j; read above the diagonal.
      magnitudes: (K (K - 1) / 2,) x, the pairs in lexicographic order.

    Raises:
      InputError: if there is not one magnitude for each pair, or `beats` has other entries than 0
        and 1.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> beats = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], bool)  # each the next
      >>> p = jd.gradients.families.tournament(beats, [1.0, 1.0, 1.0])
      >>> jd.problems.from_matrix(p).condorcet_winner is None
      True
    """
    wins = np.asarray(beats)
    x = _floats(magnitudes)
    if wins.shape != (num_arms_of(x.size),) * 2:
        raise InputError(
            f"tournament: beats has shape {wins.shape} and {x.size} magnitudes are given: (K, K) "
            "and K (K - 1) / 2 are needed."
        )
    if not np.isin(wins, (0, 1)).all():
        raise InputError(
            "tournament: beats must be True or False for each pair, not a probability."
        )
    signs = np.where(wins[np.triu_indices(len(wins), 1)], 1.0, -1.0)
    return _matrix(jax.nn.sigmoid(signs * jax.nn.softplus(x)))


def sst(increments: ArrayLike) -> jax.Array:
    """All matrices with p_ij < 1 that are strictly strongly stochastically transitive in the order
    of the arms, arm 0 first: for i < j the logit of p_ij is the larger one of (i + 1, j) and
    (i, j - 1), or 0 for neighbours, plus log(1 + e^x_ij). Arm 0 is the Condorcet winner.

    Differentiable except where these two logits are equal.

    Args:
      increments: (K (K - 1) / 2,) x, the pairs in lexicographic order.

    Raises:
      InputError: if their number is not K (K - 1) / 2 for any K.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix(jd.gradients.families.sst([0.1, 2.0, -1.0]))
      >>> problem.condorcet_winner, jd.problems.sst_violation(problem)
      (0, None)
    """
    x = _floats(increments)
    num = num_arms_of(x.size)
    above = np.triu_indices(num, 1)
    steps = jnp.zeros((num, num), x.dtype).at[above].set(jax.nn.softplus(x))
    logits = steps
    for apart in range(2, num):
        i = np.arange(num - apart)
        nearer = jnp.maximum(logits[i + 1, i + apart], logits[i, i + apart - 1])
        logits = logits.at[i, i + apart].add(nearer)
    return _matrix(jax.nn.sigmoid(logits[above]))


def num_arms_of(num_pairs: int) -> int:
    """K, from the number K (K - 1) / 2 of pairs.

    Raises:
      InputError: if there is no such K of at least 2.

    Example:
      >>> import jaxduel as jd
      >>> jd.gradients.families.num_arms_of(6)
      4
    """
    num = (1 + math.isqrt(1 + 8 * num_pairs)) // 2
    if num < 2 or num * (num - 1) // 2 != num_pairs:
        raise InputError(
            f"{num_pairs} numbers are not one for each pair of arms: K (K - 1) / 2 are needed, "
            "K at least 2."
        )
    return num


def _floats(numbers: ArrayLike) -> jax.Array:
    """Numbers in their dtype, float32 at least."""
    array = jnp.asarray(numbers)
    return array.astype(jnp.promote_types(array.dtype, jnp.float32))


def _matrix(probabilities: jax.Array) -> jax.Array:
    """The preference matrix with these p_ij, i < j."""
    num = num_arms_of(probabilities.size)
    above = np.triu_indices(num, 1)
    upper = jnp.full((num, num), 0.5, probabilities.dtype).at[above].set(probabilities)
    return upper.at[above[::-1]].set(1 - probabilities)
