"""The cells of a sweep's data set one by one, and their choice by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxduel.errors import InputError, unknown_name
from jaxduel.experiments.sweep.layout import CELL
from jaxduel.experiments.sweep.numbers import number

if TYPE_CHECKING:
    import xarray


class Variant(NamedTuple):
    """A policy with a combination of its parameters.

    Attributes:
      policy: its name.
      parameters: label of the combination, such as "alpha=0.51"; "" for none.
    """

    policy: str
    parameters: str

    @property
    def label(self) -> str:
        """The policy with its parameters in brackets, if it has any: "dts[alpha=0.51]"."""
        return f"{self.policy}[{self.parameters}]" if self.parameters else self.policy


class Setting(NamedTuple):
    """Setting in which policies are compared: a problem, a horizon, a definition of regret."""

    problem: str
    horizon: int
    definition: str


@dataclass(frozen=True)
class Reading:
    """A cell of the grid under one definition of regret, run or not.

    Attributes:
      setting: the problem, the horizon, the definition.
      variant: the policy and its parameters.
      num_arms: the problem's arms.
      values: the parameters, by name of their coordinates: numbers, or text.
      seeds: number of seeds that have run.
      place: the cell's index along policy, problem, horizon and parameters.
      definition: index of the definition.
    """

    setting: Setting
    variant: Variant
    num_arms: int
    values: dict[str, float | str]
    seeds: int
    place: tuple[int, int, int, int]
    definition: int


class Readings:
    """The cells of a sweep's data set, or those chosen by name.

    Args:
      dataset: data set from `open_sweep`.
      problems: names of problems to keep, all if empty; "btl" stands for all that are called
        "btl(...)".
      horizons: those to keep.
      policies: those to keep; "dts" stands for all its combinations of parameters, and
        "dts[alpha=0.51]" for those with that value.
      definitions: definitions of regret to keep.

    Attributes:
      all: the cells that are chosen, by definition, in the order of the grid.

    Raises:
      InputError: if a name is not in the sweep, or no cell has all that is asked for.
    """

    def __init__(
        self,
        dataset: xarray.Dataset,
        *,
        problems: Sequence[str] = (),
        horizons: Sequence[int] = (),
        policies: Sequence[str] = (),
        definitions: Sequence[str] = (),
    ) -> None:
        self._dataset = dataset
        everything = _readings(dataset)
        known = {
            "problem": [str(name) for name in dataset["problem"].values],
            "definition": [str(name) for name in dataset["definition"].values],
        }
        chosen_problems = {p for name in problems for p in _problems(name, known["problem"])}
        for horizon in horizons:
            if horizon not in dataset["horizon"].values:
                listed = ", ".join(number(int(h)) for h in dataset["horizon"].values)
                raise InputError(
                    f"the sweep has no horizon {number(horizon)}: its horizons are {listed}."
                )
        for name in definitions:
            if name not in known["definition"]:
                raise unknown_name("definition of regret", name, known["definition"])
        variants = list(dict.fromkeys(reading.variant for reading in everything))
        chosen = {v for name in policies for v in find_variants(name, variants)}
        self.all: tuple[Reading, ...] = tuple(
            reading
            for reading in everything
            if (not problems or reading.setting.problem in chosen_problems)
            and (not horizons or reading.setting.horizon in horizons)
            and (not definitions or reading.setting.definition in definitions)
            and (not policies or reading.variant in chosen)
        )
        if not self.all:
            raise InputError(
                "the sweep has no cell with that policy, problem, horizon and definition of "
                "regret together."
            )

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Policies with their parameters, in the order of the grid."""
        return tuple(dict.fromkeys(reading.variant for reading in self.all))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Problems, horizons and definitions, in the order of the grid."""
        place = {reading.setting: (*reading.place[1:3], reading.definition) for reading in self.all}
        return tuple(sorted(place, key=lambda setting: place[setting]))

    def final(self, reading: Reading) -> np.ndarray:
        """(S,) float64: regret of each seed at the horizon; NaN for those that have not run."""
        return self._final[(*reading.place, reading.definition)]

    def at_checkpoints(self, name: str, reading: Reading) -> np.ndarray:
        """(M,) float64: "t", "regret_mean" or "regret_sem" at the cell's checkpoints."""
        of_cell = self._checkpoints["t"][reading.place]
        place = reading.place if name == "t" else (*reading.place, reading.definition)
        return self._checkpoints[name][place][: int(np.isfinite(of_cell).sum())]

    @cached_property
    def _final(self) -> np.ndarray:
        return self._dataset["final_regret"].transpose(*CELL, "definition", "seed").values

    @cached_property
    def _checkpoints(self) -> dict[str, np.ndarray]:
        of_cell, whole = (*CELL, "checkpoint"), (*CELL, "definition", "checkpoint")
        order: dict[str, tuple[str, ...]]
        order = {"t": of_cell, "regret_mean": whole, "regret_sem": whole}
        return {name: self._dataset[name].transpose(*dims).values for name, dims in order.items()}


def find_variants(name: str, variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants that a name stands for: "dts" for all of that policy, "dts[alpha=0.6]" for the
    one with exactly that label, or else for those that have that value among their parameters.

    Raises:
      InputError: if there is none.
    """
    policy, _, inside = name.partition("[")
    of_policy = [variant for variant in variants if variant.policy == policy.strip()]
    if not of_policy:
        raise unknown_name("policy of the sweep", policy, {variant.policy for variant in variants})
    wanted = _parts(inside.rstrip().removesuffix("]"))
    same = [variant for variant in of_policy if wanted and _parts(variant.parameters) == wanted]
    found = same or [variant for variant in of_policy if wanted <= _parts(variant.parameters)]
    if not found:
        raise InputError(
            f"the sweep has no '{name}': of that policy it has {listed_labels(of_policy)}."
        )
    return tuple(found)


def listed_labels(variants: Sequence[Variant], most: int = 12) -> str:
    """Labels for a sentence, no more than `most` of them."""
    shown = ", ".join(variant.label for variant in variants[:most])
    return shown + (f" and {len(variants) - most} more" if len(variants) > most else "")


def _readings(dataset: xarray.Dataset) -> list[Reading]:
    """All cells of the grid, policy by policy, under each definition that they have; cells that
    have not run get the definitions of others on the same problem, or else all."""
    labels = {name: dataset[name].values.tolist() for name in (*CELL, "definition", "num_arms")}
    seeds = dataset["num_seeds"].transpose(*CELL).values
    times = dataset["t"].transpose(*CELL, "checkpoint").values
    mean = dataset["regret_mean"].transpose(*CELL, "definition", "checkpoint").values
    measured = np.asarray(np.isfinite(mean).any(axis=-1))  # (*CELL, D)
    of_problem = np.asarray(np.einsum("abcde->be", measured.astype(int)) > 0)  # (problem, D)
    combinations = _combinations(dataset)
    found = []
    for a, b, c, d in np.argwhere(np.isfinite(times).any(axis=-1)).tolist():
        variant = Variant(labels["policy"][a], labels["parameters"][d])
        has = measured[a, b, c, d]  # (D,)
        if not has.any():
            has = of_problem[b] | ~of_problem[b].any()
        for e in np.flatnonzero(has).tolist():
            found.append(
                Reading(
                    setting=Setting(
                        labels["problem"][b], labels["horizon"][c], labels["definition"][e]
                    ),
                    variant=variant,
                    num_arms=labels["num_arms"][b],
                    values=combinations[d],
                    seeds=int(seeds[a, b, c, d]),
                    place=(a, b, c, d),
                    definition=e,
                )
            )
    return found


def _combinations(dataset: xarray.Dataset) -> list[dict[str, float | str]]:
    """The parameters of each label, without those that do not apply."""
    columns: dict[str, list[Any]] = {
        str(name): coordinate.values.tolist()
        for name, coordinate in dataset.coords.items()
        if coordinate.dims == ("parameters",) and name != "parameters"
    }
    return [
        {name: column[i] for name, column in columns.items() if _applies(column[i])}
        for i in range(dataset.sizes["parameters"])
    ]


def _applies(value: float | str) -> bool:
    return value != "" and value == value  # NaN is not itself


def _problems(name: str, known: Sequence[str]) -> list[str]:
    found = [one for one in known if one == name] or [
        one for one in known if one.partition("(")[0] == name
    ]
    if not found:
        raise unknown_name("problem of the sweep", name, known)
    return found


def _parts(label: str) -> frozenset[tuple[str, float | str]]:
    """The parameters of a label: numbers that are equal are the same however they are written."""
    parts = []
    for part in re.split(r",\s*", label):
        if part.strip():
            key, _, value = part.partition("=")
            try:
                parts.append((key.strip(), float(value)))
            except ValueError:
                parts.append((key.strip(), value.strip()))
    return frozenset(parts)
