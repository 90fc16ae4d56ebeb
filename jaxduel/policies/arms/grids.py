"""Grids of batched multi-armed bandits: the ends of the batches of a run.

Paper: Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019), Section 2.1,
eq. (3), and Section 4 for the arithmetic grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxduel.display import is_known, value_text
from jaxduel.errors import InputError, unknown_name
from jaxduel.numerics import count_true
from jaxduel.numerics.crossing import count_while_true
from jaxduel.policies.checks import require_horizon, require_pulls, require_whole
from jaxduel.policies.registry import name_of
from jaxduel.pytrees import register_dataclass

KINDS = ("minimax", "geometric", "arithmetic")
"""The grids that have a name."""

_GEOMETRIC, _ARITHMETIC = map(KINDS.index, KINDS[1:])
_GUARD = 1.0 + 1e-13


@register_dataclass
@dataclass(frozen=True, eq=False)
class BatchGrid:
    """A rule or a list for the ends t_1 < ... < t_M = T of M batches, as a policy holds it.

    Attributes:
      rule: () int32, the index of a rule in `KINDS`, so that one program runs all; None where
        `times` are given.
      times: (M,) int32, the ends of a given grid; None for the others.
    """

    rule: Any = None
    times: Any = None

    def __repr__(self) -> str:
        return value_text(self.given)

    @property
    def given(self) -> Any:
        """The grid as `as_grid` accepts it: a name or times, for a stack one per policy. A traced
        leaf, or a placeholder, is returned unchanged."""
        if self.times is not None:
            return self.times
        if not is_known(self.rule) or not np.isin(self.rule, range(len(KINDS))).all():
            return self.rule
        return np.array(KINDS, object)[np.asarray(self.rule, int)]


@dataclass(frozen=True, kw_only=True)
class GridSettings:
    """The inputs of a policy whose batches end on a grid.

    Attributes:
      num_arms: K; formulas count the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all.
      num_batches: M, from 1 to T; None for the number of times of a given grid.
      grid: where batches end, t_1 <= ... <= t_M = T, in pulls. With integer parts taken,
        "minimax": t_m = a^(2 - 2^(1 - m)) with a = T^(1 / (2 - 2^(1 - M))), for the regret in the
        worst case; "geometric": t_m = T^(m / M), for the regret on an instance with known gaps;
        "arithmetic": t_m = m T / M; or the user's own (M,) times, whole numbers that increase
        strictly, from at least K to T. For T = 50,000 and M = 3: 484, 10658, 50000; 36, 1357,
        50000; 16666, 33333, 50000. Integer parts are exact, except that a power less than one part
        in 10^13 below a whole number counts as that number.

    Every batch but the last pulls the k remaining arms equally often, k max(1, floor((t_m - t) /
    k)) pulls after t were made: the remainder is left to the next batch, as in the authors' program
    (footnote 1 of the paper leaves odd pulls out of the averages). Where t_1 < K the first batch
    ends later than the grid says; ends already passed are skipped. Hence there are at most M
    batches.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    num_batches: int | jax.Array | None = None
    grid: Any = "minimax"

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", as_grid(self.grid))

    def validate(self) -> None:
        """Raises InputError for a horizon, a number of batches or a grid out of range."""
        name = name_of(self)
        require_horizon(self.horizon, name)
        require_pulls(self.horizon, self.active_arms, name)
        if isinstance(self.grid, str):
            raise unknown_name("grid", self.grid, KINDS)
        if not isinstance(self.grid, BatchGrid):
            raise InputError(
                f"{name}: grid must be {', '.join(repr(kind) for kind in KINDS)} or a list of "
                f"times, not {self.grid!r}."
            )
        if self.grid.times is not None:
            arms = int(np.max(np.sum(self.active_arms, axis=-1)))
            self._validate_times(name, np.asarray(self.grid.times), arms)
            return
        if self.num_batches is None:
            raise InputError(f"{name} with the grid {self.grid!r} needs num_batches.")
        _require_batches(self.num_batches, self.horizon, name)

    def _validate_times(self, name: str, times: np.ndarray, arms: int) -> None:
        """The checks of a given grid: times (M,), or one more axis for a stacked policy."""
        flat = times.ndim == np.ndim(self.active_arms)
        if times.dtype.kind not in "iu" or not flat or not times.size:
            raise InputError(f"{name}: the times of a grid must be a list of whole numbers.")
        batches = times.shape[-1]
        if self.num_batches is not None and np.any(np.asarray(self.num_batches) != batches):
            raise InputError(
                f"{name}: the grid has {batches} times, which num_batches = {self.num_batches} "
                "contradicts; leave num_batches out."
            )
        falls = np.argwhere(np.diff(times.astype(np.int64), axis=-1) <= 0)
        if len(falls):
            at = tuple(falls[0])
            after = (*at[:-1], at[-1] + 1)
            raise InputError(
                f"{name}: the times of a grid must increase strictly, and {times[after]} follows "
                f"{times[at]}."
            )
        if np.any(times[..., -1] != np.asarray(self.horizon)):
            raise InputError(
                f"{name}: a grid must end at the horizon {self.horizon}, "
                f"not at {times[..., -1].ravel()[0]}."
            )
        if np.any(times[..., 0] < arms):
            raise InputError(
                f"{name}: the first time of a grid, {times[..., 0].min()}, is too short for one "
                f"pull of each of {arms} arms."
            )


def as_grid(grid: Any) -> Any:
    """A `BatchGrid` from a name in `KINDS` or a list of times; other values are returned unchanged.

    Whole floating-point times become integers; others stay, for `validate` to refuse.
    """
    if isinstance(grid, str):
        return BatchGrid(np.int32(KINDS.index(grid))) if grid in KINDS else grid
    if isinstance(grid, Tracer):
        return BatchGrid(times=grid)
    if isinstance(grid, jax.Array | np.ndarray | Sequence):
        try:
            times = np.asarray(grid)
        except ValueError:
            times = np.asarray(None)
        if times.dtype.kind == "f" and ((times == np.floor(times)) & (abs(times) < 2**53)).all():
            times = times.astype(np.int64)
        return BatchGrid(times=times)
    return grid


def batches_of(settings: GridSettings) -> jax.Array:
    """M: () int32."""
    if settings.grid.times is not None:
        return jnp.int32(settings.grid.times.shape[0])
    return jnp.asarray(settings.num_batches, jnp.int32)


def end_of(settings: GridSettings, batch: jax.Array) -> jax.Array:
    """t_m for m = `batch`, () int32 from 1 to M: () int32.

    Powers are taken in float64 and products in int64, whatever the global setting is.
    """
    if settings.grid.times is not None:
        times = jnp.asarray(settings.grid.times, jnp.int32)
        return times[jnp.clip(batch - 1, 0, times.shape[0] - 1)]
    with jax.enable_x64(True):
        numbers = (settings.grid.rule, settings.horizon, settings.num_batches, batch)
        wide = (jnp.asarray(number).astype(jnp.int64) for number in numbers)
        end = _ends(jnp, *wide).astype(jnp.int32)
    return end


def pulls_of_batch(
    settings: GridSettings, batch: jax.Array, done: jax.Array, left: jax.Array
) -> jax.Array:
    """Number of pulls in a batch: every arm equally often up to t_m, at least once, never beyond T;
    the last batch takes all remaining pulls.

    Args:
      settings: the policy.
      batch: () int32, m.
      done: () int32, pulls made before.
      left: (K,) bool, the arms left; a single arm takes all remaining pulls, too.

    Returns:
      () int32; 0 once T is reached.
    """
    remaining = jnp.asarray(settings.horizon, jnp.int32) - done
    size = count_true(left)
    each = jnp.maximum((end_of(settings, batch) - done) // size, 1)
    takes_all = (size == 1) | (batch == batches_of(settings))
    return jnp.where(takes_all, remaining, jnp.minimum(each * size, remaining))


def next_batch(settings: GridSettings, batch: jax.Array, done: jax.Array) -> jax.Array:
    """The first m > `batch` with t_m > `done`: () int32; M once T is reached."""
    last = batches_of(settings)
    over = done >= jnp.asarray(settings.horizon, jnp.int32)
    between = jnp.where(over, 0, jnp.maximum(last - 1 - batch, 0))
    passed = count_while_true(lambda m: end_of(settings, m) <= done, batch, between)
    return jnp.where(over, last, jnp.minimum(batch + 1 + passed, last))


def grid_times(kind: str, horizon: int, num_batches: int) -> np.ndarray:
    """The ends of all batches of a named grid, on the host.

    Args:
      kind: one of `KINDS`; formulas at `GridSettings`.
      horizon: T, from 1 to 2^31 - 1.
      num_batches: M, from 1 to T.

    Returns:
      (M,) int64, not decreasing, from at least 1 to T.

    Raises:
      InputError: for arguments out of range.
    """
    if kind not in KINDS:
        raise unknown_name("grid", kind, KINDS)
    require_horizon(horizon, "grid_times")
    _require_batches(num_batches, horizon, "grid_times")
    batches = np.arange(1, int(num_batches) + 1, dtype=np.int64)
    return _ends(np, KINDS.index(kind), np.int64(horizon), np.int64(num_batches), batches)


def _require_batches(num_batches: Any, horizon: Any, where: str) -> None:
    """Raises InputError unless M is a whole number in 1 .. T."""
    require_whole(num_batches, 1, f"{where}: num_batches must be a whole number of at least 1")
    if np.any(np.asarray(num_batches) > np.asarray(horizon)):
        raise InputError(
            f"{where}: num_batches must be at most the horizon {horizon}, not {num_batches}."
        )


def _ends(xp: Any, rule: Any, horizon: Any, num_batches: Any, batch: Any) -> Any:
    """t_m by a rule, int64, with the functions of NumPy or of JAX (64 bits on).

    A mathematical integer must come out as one: 1000^(1/3) is 10, though rounded arithmetic says
    9.999..., hence the guard. Before the last batch every time is below T.
    """
    minimax = (1.0 - xp.exp2(-1.0 * batch)) / (1.0 - xp.exp2(-1.0 * num_batches))
    share = xp.where(rule == _GEOMETRIC, batch / num_batches, minimax)
    power = xp.exp(share * xp.log(1.0 * horizon))
    end = xp.floor(power * _GUARD).astype(xp.int64)
    end = xp.where(rule == _ARITHMETIC, batch * horizon // num_batches, end)
    return xp.where(batch < num_batches, xp.minimum(end, horizon - 1), horizon)
