"""Grids: a study's policies, problems, horizons and numbers of seeds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from jaxduel.errors import unknown_name
from jaxduel.experiments.sweep.document import policies_of, problems_of
from jaxduel.experiments.sweep.entries import PROBLEM_KEYS, PolicyEntry, ProblemEntry
from jaxduel.experiments.sweep.values import GridError
from jaxduel.numerics import log_times
from jaxduel.policies.checks import MAX_HORIZON
from jaxduel.simulation.keys import GENERATORS as PRNGS
from jaxduel.simulation.regret import DEFINITIONS

KEPT = ("seeds", "wins")
"""Optional records besides statistics: the regret of every seed at all checkpoints, the comparisons
of every pair."""

_FIELDS = {"seeds": "num_seeds", "delay": "delays"}
"""Keys of the TOML file that have another name here."""
KEYS = (
    "seeds",
    "seed",
    "horizons",
    "batches",
    "checkpoints",
    "regret",
    "delay",
    "shuffle_arms",
    "prng",
    "lanes",
    "keep",
)
"""The keys of the TOML file, without its tables of policies and problems."""
TABLES = ("policies", "problems")


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every policy on every problem that it can play, up to every horizon.

    Whatever takes a tuple takes a list or a single value too.

    Attributes:
      policies: at least one.
      problems: at least one.
      horizons: T, each from 1 to 2^31 - 1; whole floats such as 1e6 are accepted.
      num_seeds: runs per cell.
      seed: root of all randomness, from 0 to 2^32 - 1.
      checkpoints: approximate number of times to record, evenly in log t; or a tuple of increasing
        times, of which a cell has those up to its horizon, and the horizon.
      regret: definitions ("average", "borda", "copeland", "pulls", "weak"), of which a problem has
        those that are defined for it; () stands for each problem's own, "copeland" or "pulls".
      delays: outcomes reach policies after so many comparisons; policies that do not support delays
        have cells for a delay of 1 only.
      batches: numbers of batches, for every policy that has the parameter `num_batches` and does
        not set it itself.
      shuffle_arms: as in `jaxduel.simulate`.
      prng: as in `jaxduel.simulate`.
      lanes: seeds side by side; None: a number that depends on the policy and its cells.
      keep: optional records, some of `KEPT`.

    Raises:
      GridError: an InputError, for an empty grid or a value out of range.

    Example:
      >>> from jaxduel.experiments.sweep import Grid, PolicyEntry, ProblemEntry
      >>> dts = PolicyEntry("dts", {"alpha": [0.51, 0.6]})
      >>> arxiv = ProblemEntry(name="arxiv")
      >>> grid = Grid(policies=dts, problems=arxiv, horizons=[1e3, 1e5], checkpoints=(10, 5000))
      >>> grid.horizons, grid.checkpoints_of(1000)
      ((1000, 100000), (10, 1000))
    """

    policies: tuple[PolicyEntry, ...]
    problems: tuple[ProblemEntry, ...]
    horizons: tuple[int, ...]
    num_seeds: int = 100
    seed: int = 0
    checkpoints: int | tuple[int, ...] = 20
    regret: tuple[str, ...] = ()
    delays: tuple[int, ...] = (1,)
    batches: tuple[int, ...] = ()
    shuffle_arms: bool = True
    prng: str = PRNGS[0]
    lanes: int | None = None
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for table, kind in (("policies", PolicyEntry), ("problems", ProblemEntry)):
            entries = _tuple(getattr(self, table))
            if not entries:
                raise GridError(f"the grid has no {table}: it needs at least one.", table)
            for entry in entries:
                if not isinstance(entry, kind):
                    raise GridError(f"{table} must be {kind.__name__}s, not {entry!r}.", table)
            object.__setattr__(self, table, entries)
        self._set_whole("horizons", 1, MAX_HORIZON)
        if not self.horizons:
            raise GridError("the grid has no horizons: it needs at least one.", "horizons")
        self._set_whole("num_seeds", 1, MAX_HORIZON, many=False)
        self._set_whole("seed", 0, 2**32 - 1, many=False)
        self._set_whole("delays", 1, MAX_HORIZON)
        if not self.delays:
            raise GridError("delay is an empty list: it needs at least one value.", "delay")
        self._set_whole("batches", 1, MAX_HORIZON)
        self._set_whole("checkpoints", 1, MAX_HORIZON, many=_is_list(self.checkpoints))
        if isinstance(self.checkpoints, tuple):
            times = self.checkpoints
            if not times or any(after <= before for before, after in pairwise(times)):
                raise GridError(
                    "checkpoints must be a number of times, or a list of times that increase.",
                    "checkpoints",
                )
        if self.lanes is not None:
            self._set_whole("lanes", 1, MAX_HORIZON, many=False)
        self._set_names("regret", "regret", DEFINITIONS)
        self._set_names("keep", "thing to keep", KEPT)
        if not isinstance(self.shuffle_arms, bool):
            raise GridError(
                f"shuffle_arms must be true or false, not {self.shuffle_arms!r}.", "shuffle_arms"
            )
        if self.prng not in PRNGS:
            error = unknown_name("random number generator", str(self.prng), PRNGS)
            raise GridError(str(error), "prng")
        for entry in self.policies:
            entry.require_parameters(bool(self.batches))

    def checkpoints_of(self, horizon: int) -> tuple[int, ...]:
        """The times at which a run up to a horizon is recorded: increasing, the last is the
        horizon."""
        if isinstance(self.checkpoints, int):
            return tuple(int(t) for t in log_times(horizon, self.checkpoints))
        return (*(t for t in self.checkpoints if t < horizon), horizon)

    def to_json(self) -> dict[str, Any]:
        """The grid as plain values under the keys of the TOML file, defaults filled in: equal grids
        give equal values. (JSON text of an infinite parameter is Infinity.)"""
        document: dict[str, Any] = {
            key: _plain(getattr(self, _FIELDS.get(key, key))) for key in KEYS
        }
        document["policies"] = [
            {"name": entry.name, **{key: _plain(v) for key, v in entry.parameters.items()}}
            for entry in self.policies
        ]
        document["problems"] = [
            {
                **{k: _plain(getattr(entry, k)) for k in PROBLEM_KEYS if getattr(entry, k)},
                **{key: _plain(values) for key, values in entry.parameters.items()},
            }
            for entry in self.problems
        ]
        return document

    @classmethod
    def from_json(
        cls, document: Mapping[str, Any], folder: str | os.PathLike[str] | None = None
    ) -> Grid:
        """The grid that `to_json` or a TOML file describes.

        Args:
          document: content of the TOML file; keys that are absent or None have their defaults.
          folder: folder that the paths of files are relative to; the current one if None.

        Raises:
          GridError: as for the class, and for unknown keys.
        """
        for key in document:
            if key not in (*KEYS, *TABLES):
                error = unknown_name("key of a grid", key, (*KEYS, *TABLES))
                raise GridError(str(error), key)
        for key in ("policies", "problems", "horizons"):
            if key not in document:
                raise GridError(f"the grid has no {key}: it needs at least one.", key)
        given = {_FIELDS.get(key, key): document[key] for key in KEYS if key in document}
        return cls(
            policies=policies_of(document),
            problems=problems_of(document, folder),
            **{key: value for key, value in given.items() if value is not None},
        )

    def with_seeds(self, num_seeds: int) -> Grid:
        """The same grid with another number of seeds."""
        return replace(self, num_seeds=num_seeds)

    def _set_whole(self, field: str, least: int, most: int, *, many: bool = True) -> None:
        """Checks that a field holds whole numbers within bounds; whole floats become integers."""
        key = next((key for key, name in _FIELDS.items() if name == field), field)
        values = _tuple(getattr(self, field)) if many else (getattr(self, field),)
        for value in values:
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and least <= value <= most and float(value).is_integer()):
                bounds = f"{least} to {most}"
                what = "whole numbers" if many else "a whole number"
                raise GridError(f"{key} must be {what} from {bounds}, not {value!r}.", key)
        whole = tuple(int(value) for value in values)
        object.__setattr__(self, field, whole if many else whole[0])

    def _set_names(self, field: str, kind: str, known: tuple[str, ...]) -> None:
        names = _tuple(getattr(self, field))
        for name in names:
            if name not in known:
                raise GridError(str(unknown_name(kind, str(name), known)), field)
        object.__setattr__(self, field, names)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if _is_list(values) else (values,)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value
