"""The labels of a sweep's data set, and each cell's place among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxduel.experiments.engine.cells import parameters_label, text_of
from jaxduel.experiments.engine.manifest import CellRecord, Manifest

CELL = ("policy", "problem", "horizon", "parameters")
"""The dimensions that identify a cell."""


@dataclass(frozen=True)
class Layout:
    """The labels along each dimension.

    Attributes:
      policies, problems: names, in the order of the grid.
      horizons: T, increasing.
      labels: combinations of parameters, in the order of the grid.
      combinations: for each label the parameters, and the delay where any label has one.
      num_arms: for each problem.
      definitions: names of regret definitions.
      num_checkpoints: the largest number that a cell has.
    """

    policies: tuple[str, ...]
    problems: tuple[str, ...]
    horizons: tuple[int, ...]
    labels: tuple[str, ...]
    combinations: tuple[dict[str, Any], ...]
    num_arms: tuple[int, ...]
    definitions: tuple[str, ...]
    num_checkpoints: int

    @classmethod
    def of(cls, manifest: Manifest) -> Layout:
        """The layout of the cells of a manifest."""
        cells = sorted((c for g in manifest.groups for c in g.cells), key=lambda c: c.index)
        delayed = any(cell.delay != 1 for cell in cells)
        combinations = {
            _label(c): {**c.parameters, **({"delay": c.delay} if delayed else {})} for c in cells
        }
        num_arms = {cell.problem: cell.num_arms for cell in cells}
        return cls(
            policies=_distinct(cell.policy for cell in cells),
            problems=tuple(num_arms),
            horizons=tuple(sorted({cell.horizon for cell in cells})),
            labels=tuple(combinations),
            combinations=tuple(combinations.values()),
            num_arms=tuple(num_arms.values()),
            definitions=_distinct(name for g in manifest.groups for name in g.definitions),
            num_checkpoints=max(len(cell.checkpoints) for cell in cells),
        )

    def places(self, cells: Iterable[CellRecord]) -> tuple[np.ndarray, ...]:
        """The index of each of C cells along the dimensions `CELL`: four (C,) int64."""
        axes = (self.policies, self.problems, self.horizons, self.labels)
        index = [{label: i for i, label in enumerate(axis)} for axis in axes]
        rows = [
            [at[label] for at, label in zip(index, _labels(cell), strict=True)] for cell in cells
        ]
        return tuple(np.array(rows, dtype=np.int64).T)

    def coordinates(self, taken: Iterable[str]) -> dict[str, Any]:
        """The coordinates: one along each dimension of a cell and `definition`, num_arms along
        `problem`, and one along `parameters` for each parameter: float64 with NaN where it does
        not apply, or text with "" there.

        Args:
          taken: names of variables and dimensions; a parameter called one of them is called
            parameter_NAME.
        """
        coordinates: dict[str, Any] = {
            "policy": np.array(self.policies),
            "problem": np.array(self.problems),
            "horizon": np.array(self.horizons, dtype=np.int64),
            "parameters": np.array(self.labels),
            "definition": np.array(self.definitions),
            "num_arms": ("problem", np.array(self.num_arms, dtype=np.int64)),
        }
        reserved = {*coordinates, *taken}
        for name in _distinct(name for one in self.combinations for name in one):
            values = _column([one.get(name) for one in self.combinations])
            coordinates[f"parameter_{name}" if name in reserved else name] = ("parameters", values)
        return coordinates


def _label(cell: CellRecord) -> str:
    return parameters_label(cell.parameters, cell.delay)


def _labels(cell: CellRecord) -> tuple[str, str, int, str]:
    return cell.policy, cell.problem, cell.horizon, _label(cell)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _column(values: list[Any]) -> np.ndarray:
    if all(_is_number(value) or value is None for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(["" if value is None else text_of(value) for value in values])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
