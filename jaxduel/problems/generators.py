"""Families of instances. Random ones take a JAX PRNG key first; the same key gives the same bits.

They run on the host and give float64 matrices whatever JAX's default precision is: random numbers
in (0, 1) have 52 random bits. Matrices have at most `MAX_ARMS` arms. The name of an instance does
not depend on what was drawn, so that instances of one family can be stacked and vmapped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxduel.arguments import real_numbers
from jaxduel.errors import InputError, shorten
from jaxduel.numerics.threefry import host_bits, is_threefry
from jaxduel.problems.dueling import MAX_ARMS, TIE, DuelingProblem, from_matrix

_PARTITIONABLE = "jax_threefry_partitionable"
_WEIGHT_RANGE = 1e300


def btl(key: jax.Array, num_arms: int = 100) -> DuelingProblem:
    """SYN-BTL: a Bradley-Terry-Luce model with weights uniform in the unit interval.

    Source: "Batched Dueling Bandits" (2022), section 5, "BTL-Uniform", with K = 100. SST and STI
    hold.

    Args:
      key: a JAX PRNG key.
      num_arms: K >= 2.

    Raises:
      InputError: a bad key or number of arms.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.btl(jax.random.key(0), num_arms=5)
      >>> problem.preferences.shape
      (5, 5)
      >>> jd.problems.sst_violation(problem) is None, jd.problems.sti_violation(problem) is None
      (True, True)
    """
    num_arms = _checked_arms(num_arms)
    weights = _uniforms(key, (num_arms,))
    return btl_from_weights(weights, name=f"btl(K={num_arms})")


def btl_from_weights(weights: ArrayLike | Sequence[float], name: str = "btl") -> DuelingProblem:
    """The Bradley-Terry-Luce model p_ij = w_i / (w_i + w_j). SST and STI hold.

    Args:
      weights: (K,) positive numbers, K >= 2.
      name: the name of the instance in reports.

    Raises:
      InputError: not a vector of at least two positive finite numbers.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.btl_from_weights([3.0, 1.0, 1.0])
      >>> problem.preferences[0].tolist()
      [0.5, 0.75, 0.75]
    """
    values = real_numbers(weights, "weights")
    if values.ndim != 1 or len(values) < 2:
        raise InputError(
            f"weights have shape {values.shape}: a vector of at least 2 weights is needed."
        )
    _checked_arms(len(values))
    if not (np.isfinite(values).all() and values.min() > 0):
        raise InputError("weights must be positive and finite.")
    if values.max() / _WEIGHT_RANGE > values.min():
        raise InputError("the largest weight is more than 1e300 times the smallest: too far apart.")
    values = values / values.max()
    return from_matrix(values[:, None] / (values[:, None] + values[None, :]), name)


def condorcet_hard(key: jax.Array, num_arms: int = 100, gap: float | None = None) -> DuelingProblem:
    """SYN-CD: a winner, uniform among the arms, beats all others by one gap; all others are tied.

    Source: "Batched Dueling Bandits" (2022), section 5, "Hard-Instance", with K = 100. SST and STI
    hold.

    Args:
      key: a JAX PRNG key.
      num_arms: K >= 2.
      gap: p_wj - 1/2 of the winner, in (1e-9, 1/2]; drawn uniformly from (0, 1/2) if left out. The
        winner that a key draws does not depend on it.

    Raises:
      InputError: a bad key, number of arms or gap.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.condorcet_hard(jax.random.key(0), num_arms=5, gap=0.2)
      >>> report = jd.problems.examine(problem)
      >>> round(report.smallest_winner_gap, 3), report.ties
      (0.2, 6)
    """
    num_arms = _checked_arms(num_arms)
    draws = _uniforms(key, (2,))
    winner = int(draws[0] * num_arms)
    margin = float(draws[1]) / 2 if gap is None else _checked_gap(gap)
    return _one_winner(num_arms, winner, margin, f"condorcet-hard(K={num_arms})")


def batched_lower_bound(
    num_arms: int, num_batches: int, horizon: float, level: int, winner: int = 0
) -> DuelingProblem:
    """The instance E_{j,k} of the lower bound for B batches: SYN-CD with a calibrated gap.

    Source: "Batched Dueling Bandits" (2022), appendix C: Delta_j = sqrt(K) / (24 B)
    T^(-(j-1)/(2B)). The extracted text loses the square root; the proof of its lemma C.3, sqrt(16
    Delta_j^2 T^((j-1)/B) / K) = 1/(6B), holds with it only. SST and STI hold.

    Args:
      num_arms: K >= 2, at most 144 B^2, for Delta_1 <= 1/2.
      num_batches: B >= 1.
      horizon: T >= B.
      level: j in 1..B.
      winner: k, the Condorcet winner, counted from 0.

    Raises:
      InputError: a parameter outside these ranges.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.batched_lower_bound(9, num_batches=2, horizon=10_000, level=2)
      >>> problem.condorcet_winner
      0
      >>> round(problem.smallest_gap, 5)  # sqrt(9) / (24 x 2) x 10,000^(-1/4)
      0.00625
    """
    num_arms, num_batches = _checked_arms(num_arms), _checked_whole("num_batches", num_batches, 1)
    horizon = _checked_number("horizon", horizon)
    level, winner = _checked_whole("level", level, 1), _checked_whole("winner", winner, 0)
    if not 1 <= num_batches <= horizon:
        raise InputError(f"{num_batches} batches for T = {horizon:g}: 1 <= B <= T is needed.")
    if not 1 <= level <= num_batches:
        raise InputError(f"level {level} does not exist: levels are 1 to B = {num_batches}.")
    if not 0 <= winner < num_arms:
        raise InputError(f"arm {winner} cannot win: arms are 0 to {num_arms - 1}.")
    if num_arms > 144 * num_batches**2:
        raise InputError(
            f"{num_arms} arms are too many for B = {num_batches}: the family needs K <= 144 B^2 = "
            f"{144 * num_batches**2}."
        )
    decay = horizon ** (-(level - 1) / (2 * num_batches))
    gap = math.sqrt(num_arms) / (24 * num_batches) * decay
    return _one_winner(num_arms, winner, _checked_gap(gap), f"batched-lower-bound(K={num_arms})")


def arithmetic(num_arms: int = 8, step: float = 0.05) -> DuelingProblem:
    """p_ij = 1/2 + step (j - i): arm 0 is best and SST and STI hold, STI with equality.

    Source: Komiyama's duelingbanditlib (prefmats/pref_arithmetic.txt), with K = 8 and step 0.05.

    Args:
      num_arms: K >= 2.
      step: above 1e-9, at most 1 / (2 (K - 1)).

    Raises:
      InputError: a parameter outside these ranges.

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.arithmetic(num_arms=4, step=0.1).preferences[0].round(3).tolist()
      [0.5, 0.6, 0.7, 0.8]
    """
    num_arms, step = _checked_arms(num_arms), _checked_number("step", step)
    if not (step > TIE and step * (num_arms - 1) <= 0.5 * (1 + 1e-12)):
        raise InputError(
            f"step {step:g} is out of range: with {num_arms} arms it must be positive, above "
            f"{TIE:g}, and at most {0.5 / (num_arms - 1):g}."
        )
    arms = np.arange(num_arms)
    matrix = np.clip(0.5 + step * (arms[None, :] - arms[:, None]), 0.0, 1.0)
    return from_matrix(matrix, f"arithmetic(K={num_arms})")


def copeland_cycle(num_arms: int = 500, gap: float = 0.1) -> DuelingProblem:
    """Three Copeland winners in a cycle above a total order: the family of the 500-armed instance.

    Arms 0 > 1 > 2 > 0 beat one another in a cycle and all of 3..K-1; arms 3..K-1 are totally
    ordered. Their Copeland scores, K - 2 for the winners and K - 4 down to 0 for the others,
    determine these relations up to relabelling: 498 and 496 to 0 for K = 500, as the D-TS paper
    (2016), appendix D.1.2, says of the instance of Zoghi et al. (2015). No source that could be
    opened gives the probabilities; that all decided pairs have one gap, and its default 0.1, are
    choices made here.

    Args:
      num_arms: K >= 3.
      gap: |p_ij - 1/2| of every pair, in (1e-9, 1/2].

    Raises:
      InputError: a parameter outside these ranges.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.copeland_cycle(num_arms=6)
      >>> problem.copeland_winners, problem.condorcet_winner
      ((0, 1, 2), None)
      >>> problem.copeland_scores.tolist()
      [4, 4, 4, 2, 1, 0]
    """
    num_arms, gap = _checked_arms(num_arms, least=3), _checked_gap(gap)
    margin = np.triu(np.full((num_arms, num_arms), gap), 1)
    margin[0, 2] = -gap
    return from_matrix(0.5 + margin - margin.T, f"copeland-cycle(K={num_arms})")


def random_condorcet(key: jax.Array, num_arms: int) -> DuelingProblem:
    """A Condorcet winner and nothing else: no structure among the other arms.

    All pairs are independent: p_wj is uniform in (1/2, 1), the others in (0, 1).

    Args:
      key: a JAX PRNG key; it also draws the winner w, uniformly.
      num_arms: K >= 2.

    Raises:
      InputError: a bad key or number of arms.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.random_condorcet(jax.random.key(0), num_arms=5)
      >>> int(problem.copeland_scores[problem.condorcet_winner])  # beats the four others
      4
    """
    num_arms = _checked_arms(num_arms)
    draws = _uniforms(key, (num_arms * num_arms + 1,))
    winner = int(draws[-1] * num_arms)
    upper = np.triu(draws[:-1].reshape(num_arms, num_arms), 1)
    matrix = upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(num_arms)
    row = np.maximum(matrix[winner], 1 - matrix[winner])
    row[winner] = 0.5
    matrix[winner], matrix[:, winner] = row, 1 - row
    return from_matrix(matrix, f"random-condorcet(K={num_arms})")


def random_sst(key: jax.Array, num_arms: int) -> DuelingProblem:
    """Strong stochastic transitivity without a utility model; STI need not hold.

    Along a random order of the arms the margins grow from nearest to farthest pairs,
    eps_ik = max(eps_{i,k-1}, eps_{i+1,k}) + u_ik with u uniform in (0, 1), which makes every row
    and column of the ordered matrix monotone, hence SST; all are then scaled so that the largest
    margin is uniform in (0, 1/2). There are no ties.

    Args:
      key: a JAX PRNG key.
      num_arms: K >= 2.

    Raises:
      InputError: a bad key or number of arms.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.random_sst(jax.random.key(0), num_arms=5)
      >>> jd.problems.sst_violation(problem) is None
      True
      >>> sorted(problem.copeland_scores.tolist())  # a strict order
      [0, 1, 2, 3, 4]
    """
    num_arms = _checked_arms(num_arms)
    draws = _uniforms(key, (num_arms * num_arms + num_arms + 1,))
    increments = draws[: num_arms**2].reshape(num_arms, num_arms)
    margin = np.zeros((num_arms, num_arms))
    for distance in range(1, num_arms):
        i = np.arange(num_arms - distance)
        k = i + distance
        margin[i, k] = np.maximum(margin[i, k - 1], margin[i + 1, k]) + increments[i, k]
    margin *= draws[-1] / 2 / margin[0, -1]
    places = np.argsort(draws[num_arms**2 : -1])
    matrix = (0.5 + margin - margin.T)[np.ix_(places, places)]
    return from_matrix(matrix, f"random-sst(K={num_arms})")


def random_tournament(key: jax.Array, num_arms: int, gap: float = 0.1) -> DuelingProblem:
    """A tournament without any order: every preference is 1/2 + gap or 1/2 - gap, by a fair coin.

    There is a Condorcet winner with probability K / 2^(K - 1).

    Args:
      key: a JAX PRNG key.
      num_arms: K >= 2.
      gap: in (1e-9, 1/2].

    Raises:
      InputError: a bad key, number of arms or gap.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.random_tournament(jax.random.key(0), num_arms=5, gap=0.25)
      >>> sorted(set(problem.preferences.ravel().tolist()))
      [0.25, 0.5, 0.75]
    """
    num_arms, gap = _checked_arms(num_arms), _checked_gap(gap)
    lead = np.triu(np.where(_uniforms(key, (num_arms, num_arms)) < 0.5, gap, -gap), 1)
    return from_matrix(0.5 + lead - lead.T, f"random-tournament(K={num_arms})")


def _uniforms(key: jax.Array, shape: tuple[int, ...]) -> np.ndarray:
    """Float64 numbers uniform on the 2^52 midpoints of (0, 1), whatever `jax_enable_x64` says."""
    try:
        words = _words(key, (2, *shape)).astype(np.uint64)
    except (TypeError, ValueError):
        raise InputError(
            f"{shorten(repr(key))} is no JAX PRNG key: pass one such as jax.random.key(0)."
        ) from None
    return (((words[0] << 20) | (words[1] >> 12)).astype(np.float64) + 0.5) / 2.0**52


def _words(key: jax.Array, shape: tuple[int, ...]) -> np.ndarray:
    """`jax.random.bits`, without compiling it where that can be avoided."""
    if is_threefry(key) and key.ndim == 0 and getattr(jax.config, _PARTITIONABLE, True):
        words = np.asarray(jax.random.key_data(key))
        return host_bits(words, math.prod(shape)).reshape(shape)
    return np.asarray(jax.random.bits(key, shape, jnp.uint32))


def _one_winner(num_arms: int, winner: int, gap: float, name: str) -> DuelingProblem:
    matrix = np.full((num_arms, num_arms), 0.5)
    matrix[winner] += gap
    matrix[:, winner] -= gap
    return from_matrix(matrix, name)


def _checked_arms(num_arms: int, least: int = 2) -> int:
    num_arms = _checked_whole("num_arms", num_arms, least)
    if num_arms > MAX_ARMS:
        raise InputError(f"num_arms = {num_arms:,}: matrices have at most {MAX_ARMS:,} arms.")
    return num_arms


def _checked_whole(name: str, value: int, least: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        said = shorten(repr(value))
        raise InputError(f"{name} = {said}: an integer of at least {least} is needed.")
    return int(value)


def _checked_gap(gap: float) -> float:
    gap = _checked_number("gap", gap)
    if not TIE < gap <= 0.5:
        raise InputError(f"gap {gap:g} is out of range: it must lie in ({TIE:g}, 1/2].")
    return gap


def _checked_number(name: str, value: float) -> float:
    try:
        if np.ndim(value) > 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {shorten(repr(value))}: a number is needed.") from None
