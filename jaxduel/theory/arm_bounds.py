"""Regret bounds of batched bandits: BaSE's rates, and lower bounds for any policy on a grid.

Paper: Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019). All values are
for "pulls" regret, the sum over the pulls of mu* - mu_arm, of Gaussian arms with standard deviation
1. With a standard deviation of s, take s times a lower bound at gap / s; BaSE does not know s, and
its rates stay as they are for s <= 1, as for rewards in [0, 1]. A "rate" lacks the constant
factor, which the theorem does not give: an order, not a bound. Lower bounds have all their
constants; they hold for the worst instance with such a gap, not for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxduel.arguments import real_number, real_numbers, switch
from jaxduel.errors import InputError
from jaxduel.policies.checks import require_number
from jaxduel.theory.batched_bounds import require_rounds

_STEP = 0.02


def base_minimax_rate(
    num_arms: int, horizon: int, num_batches: int, logarithms: bool = False
) -> float:
    """The regret of BaSE on the minimax grid: sqrt(K) T^(1 / (2 - 2^(1-M))), Theorem 1.

    Proved of gamma >= 12, where the default is 1, and of `commit=True`.

    Args:
      num_arms: K, at least 2.
      horizon: T.
      num_batches: M, from 1 to T.
      logarithms: times log K sqrt(log(K T)), as in Theorem 4, eq. (4).

    Raises:
      InputError: K < 2, or M outside 1..T.

    Example:
      >>> import jaxduel as jd
      >>> [round(jd.theory.base_minimax_rate(4, 10**6, num_batches)) for num_batches in (1, 2, 3)]
      [2000000, 20000, 5365]
    """
    _require(num_arms, horizon, num_batches)
    rate = math.sqrt(num_arms) * horizon ** (1 / (2 - 2.0 ** (1 - num_batches)))
    if switch(logarithms, "logarithms"):
        rate *= math.log(num_arms) * math.sqrt(math.log(num_arms * horizon))
    return rate


def base_problem_dependent_rate(
    num_arms: int,
    horizon: int,
    num_batches: int,
    gap: ArrayLike | Sequence[float],
    logarithms: bool = False,
) -> Any:
    """The regret of BaSE on the geometric grid: K T^(1/M) / gap, Theorem 1.

    Proved of gamma >= 12, where the default is 1, and of `commit=True`.

    Args:
      num_arms: K, at least 2.
      horizon: T.
      num_batches: M, from 1 to T.
      gap: the smallest gap that is not zero; a number, or an array of any shape, which may be
        traced.
      logarithms: times log K log(K T), as in Theorem 4, eq. (5).

    Returns:
      A float, or an array of the shape of `gap`.

    Raises:
      InputError: K < 2, M outside 1..T, or a gap that is not positive.

    Example:
      >>> import jaxduel as jd
      >>> jd.theory.base_problem_dependent_rate(2, 10_000, 4, gap=[0.1, 0.2])
      array([200., 100.])
    """
    _require(num_arms, horizon, num_batches)
    gap = _gap(gap, math.inf)
    rate = num_arms * horizon ** (1 / num_batches)
    if switch(logarithms, "logarithms"):
        rate *= math.log(num_arms) * math.log(num_arms * horizon)
    return rate / gap


def static_grid_minimax_rate(num_arms: int, horizon: int, num_batches: int) -> float:
    """The least regret on the worst instance of any policy on any grid fixed in advance, Theorem 2:
    sqrt(K) T^(1 / (2 - 2^(1-M))), which BaSE attains up to logarithms.

    Args:
      num_arms: K, at least 2.
      horizon: T.
      num_batches: M, from 1 to T.

    Raises:
      InputError: K < 2, or M outside 1..T.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.static_grid_minimax_rate(4, 10**6, num_batches=2))
      20000
    """
    return base_minimax_rate(num_arms, horizon, num_batches)


def static_grid_problem_dependent_rate(num_arms: int, horizon: int, num_batches: int) -> float:
    """The least of sup_gap (gap times regret) on any grid fixed in advance, Theorem 2: K T^(1/M).

    In squared units of reward; arguments and errors as `static_grid_minimax_rate`.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.static_grid_problem_dependent_rate(4, 10_000, num_batches=2))
      400
    """
    _require(num_arms, horizon, num_batches)
    return num_arms * horizon ** (1 / num_batches)


def adaptive_grid_minimax_rate(num_arms: int, horizon: int, num_batches: int) -> float:
    """Theorem 3: M^-2 times `static_grid_minimax_rate`, for grids that adapt: the length of each
    batch may depend on the rewards before it.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.adaptive_grid_minimax_rate(4, 10**6, num_batches=2))
      5000
    """
    return static_grid_minimax_rate(num_arms, horizon, num_batches) / num_batches**2


def adaptive_grid_problem_dependent_rate(num_arms: int, horizon: int, num_batches: int) -> float:
    """Theorem 3: M^-2 times `static_grid_problem_dependent_rate`, for grids that adapt.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.adaptive_grid_problem_dependent_rate(4, 10_000, num_batches=2))
      100
    """
    return static_grid_problem_dependent_rate(num_arms, horizon, num_batches) / num_batches**2


def static_grid_lower_bound(
    times: ArrayLike | Sequence[float], num_arms: int, gap: ArrayLike | Sequence[float]
) -> Any:
    """Lemma 2: gap sum_j (t_j - t_{j-1}) / 4 exp(-2 t_{j-1} gap^2 / (K - 1)), with t_0 = 0.

    Whatever the policy, its mean regret over the K instances of
    `jaxduel.problems.static_grid_family` is at least this, so it is on one of them: by Lemma 3 and
    (10) the arm pulled in batch j is wrong in a fraction (K-1)/(2K) >= 1/4 times the exponential of
    the hypotheses, and a wrong pull costs `gap` (9).

    Args:
      times: (M,) the ends t_1..t_M of the batches, positive and not decreasing, t_M = T. An end
        that is repeated is that of an empty batch.
      num_arms: K, at least 2.
      gap: the smallest gap, in (0, sqrt(K)]; a number, or an array of any shape, which may be
        traced. For K > 2 the instances have gaps of 2 `gap`, too.

    Returns:
      A float, or an array of the shape of `gap`, of NumPy or of JAX as `gap` is, float32 at least;
      smooth in `gap`.

    Raises:
      InputError: for arguments out of range.

    Example:
      >>> import jaxduel as jd
      >>> round(float(jd.theory.static_grid_lower_bound([10_000], num_arms=2, gap=0.1)), 1)
      250.0
      >>> round(float(jd.theory.static_grid_lower_bound([100, 10_000], num_arms=2, gap=0.1)), 1)
      36.0
    """
    starts, lengths = _batches(times, num_arms)
    return _lemma_2(starts, lengths, num_arms, _gap(gap, math.sqrt(num_arms)))


def static_minimax_lower_bound(
    times: ArrayLike | Sequence[float], num_arms: int, largest_gap: float | None = None
) -> float:
    """The least regret on the worst instance, of any policy on this grid: `static_grid_lower_bound`
    at the gap where it is largest.

    Found to a relative 2e-4, on a logarithmic grid of gaps and then between its points; Lemma 2 at
    any gap is a valid bound, so that this one is, too.

    Args:
      times: (M,) the ends of the batches, as for `static_grid_lower_bound`.
      num_arms: K, at least 2.
      largest_gap: the smallest gap of an instance is in (0, largest_gap]; sqrt(K), as in the paper,
        if left out. For K > 2 its other gaps are up to twice as large.

    Raises:
      InputError: for arguments out of range.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.static_minimax_lower_bound([10_000], num_arms=2))  # one batch
      3536
      >>> round(jd.theory.static_minimax_lower_bound([100, 10_000], num_arms=2))
      76
    """
    return _over_gaps(times, num_arms, largest_gap, 0)


def static_problem_dependent_lower_bound(
    times: ArrayLike | Sequence[float], num_arms: int, largest_gap: float | None = None
) -> float:
    """The least of sup_gap (gap times regret), of any policy on this grid: gap times
    `static_grid_lower_bound` at the gap where that is largest.

    In squared units of reward. Precision, arguments and errors as `static_minimax_lower_bound`.

    Example:
      >>> import jaxduel as jd
      >>> round(jd.theory.static_problem_dependent_lower_bound([10_000], num_arms=2))  # one batch
      5000
      >>> round(jd.theory.static_problem_dependent_lower_bound([100, 10_000], num_arms=2))
      50
    """
    return _over_gaps(times, num_arms, largest_gap, 1)


def _over_gaps(
    times: ArrayLike | Sequence[float], num_arms: int, largest: float | None, power: int
) -> float:
    """The maximum over the gap of gap^power times Lemma 2.

    Every term of the sum increases up to gap^2 = (K - 1) (1 + power) / (4 t_{j-1}), so the maximum
    lies above that of the last batch. In log gap, the logarithm of the sum curves by at least -2 at
    a maximum if power is 0, -4 if it is 1: half a step beside it, the loss is 1e-4, or 2e-4.
    """
    from scipy.optimize import minimize_scalar  # here: slow to import, and seldom needed

    starts, lengths = _batches(times, num_arms)
    most = math.sqrt(num_arms)
    largest = float(_gap(most if largest is None else real_number(largest, "largest_gap"), most))

    def value(gap: float) -> float:
        return gap**power * float(_lemma_2(starts, lengths, num_arms, np.float64(gap)))

    least = math.sqrt((num_arms - 1) / (4 * max(starts[-1], 1.0)))
    if largest <= least:
        return value(largest)
    count = 2 + int(math.log(largest / least) / _STEP)
    gaps = np.geomspace(least, largest, count)
    values = [value(float(gap)) for gap in gaps]
    best = int(np.argmax(values))
    near = np.log(gaps[[max(best - 1, 0), min(best + 1, count - 1)]])
    found = minimize_scalar(
        lambda log_gap: -value(math.exp(log_gap)), bounds=near, method="bounded"
    )
    return max(values[best], -float(found.fun))


def _lemma_2(starts: np.ndarray, lengths: np.ndarray, num_arms: int, gap: Any) -> Any:
    """Lemma 2, in float64 if `gap` is NumPy's, in its dtype, float32 at least, if it is JAX's."""
    begun, long, library = starts, lengths, np
    if isinstance(gap, jax.Array):
        library, dtype = jnp, jnp.promote_types(gap.dtype, jnp.float32)
        gap, begun, long = (jnp.asarray(values, dtype) for values in (gap, starts, lengths))
    kept = library.exp(-2 * begun * gap[..., None] ** 2 / (num_arms - 1))
    return gap / 4 * library.sum(long * kept, axis=-1)


def _batches(times: ArrayLike | Sequence[float], num_arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of the batches: (M,) float64 each."""
    _require_arms(num_arms)
    ends = real_numbers(times, "times")
    if ends.ndim != 1 or ends.size == 0:
        raise InputError(f"times have shape {ends.shape}: a list of at least one time is needed.")
    starts = np.concatenate([[0.0], ends[:-1]])
    wrong = ~(np.isfinite(ends) & (ends > 0) & (ends >= starts))
    if wrong.any():
        batch = int(np.argmax(wrong))
        raise InputError(
            f"times[{batch}] is {ends[batch]:g} after {starts[batch]:g}: times of batches must be "
            "positive, finite, and must not decrease."
        )
    return starts, ends - starts


def _gap(gap: Any, largest: float) -> Any:
    """The gap as an array or a scalar of NumPy or JAX, in (0, largest] if it is not traced."""
    if isinstance(gap, Tracer):
        return gap
    values = real_numbers(gap, "gaps")
    wrong = ~((values > 0) & (values <= largest) & np.isfinite(values))
    if wrong.any():
        accepted = "positive and finite" if largest == math.inf else f"in (0, {largest:.6g}]"
        raise InputError(f"a gap is {values[wrong].flat[0]:g}: it must be {accepted}.")
    return gap if isinstance(gap, jax.Array) else values[()]


def _require(num_arms: int, horizon: int, num_batches: int) -> None:
    _require_arms(num_arms)
    require_rounds(horizon, num_batches, 1, "M")


def _require_arms(num_arms: int) -> None:
    require_number(
        num_arms,
        lambda x: (x >= 2) & (x == np.floor(x)),
        "bounds of batched bandits need a whole number of at least 2 arms",
    )
