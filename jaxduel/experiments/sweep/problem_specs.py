"""Recipes for the problems of a grid."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax

from jaxduel import problems
from jaxduel.errors import InputError
from jaxduel.experiments.sweep.entries import GENERATORS, ProblemEntry
from jaxduel.problems import Problem


@dataclass(frozen=True)
class ProblemSpec:
    """One problem of a grid: a recipe, not the matrix.

    Attributes:
      source: "name", "file" or "generator".
      what: the catalogue name, the path, or the generator's name.
      parameters: those that the grid sets, in the order of the generator's own.
      instance: the seed of the instance, where it is drawn at random.
    """

    source: str
    what: str
    parameters: tuple[tuple[str, Any], ...] = ()
    instance: int | None = None

    @property
    def label(self) -> str:
        """Label in the data set: "arxiv", "my.csv", "btl(num_arms=4, instance=0)"."""
        what = os.path.basename(self.what) if self.source == "file" else self.what
        values = [f"{key}={value}" for key, value in self.parameters]
        if self.instance is not None:
            values.append(f"instance={self.instance}")
        if self.source == "generator" or values:
            return f"{what}({', '.join(values)})"
        return what

    def build(self) -> Problem:
        """The problem, built once."""
        return build(self)


def specs_of(entry: ProblemEntry) -> tuple[ProblemSpec, ...]:
    """The problems of an entry: all combinations of its parameters, later ones varying faster, and
    of the instances, which vary fastest."""
    given = {"name": entry.name, "file": entry.file, "generator": entry.generator}
    source, what = next((key, value) for key, value in given.items() if value is not None)
    combinations = itertools.product(*entry.parameters.values())
    instances = entry.instances if entry.takes_key else (None,)
    return tuple(
        ProblemSpec(source, str(what), tuple(zip(entry.parameters, values, strict=True)), instance)
        for values in combinations
        for instance in instances
    )


@lru_cache(maxsize=4096)
def build(spec: ProblemSpec) -> Problem:
    """The problem of a recipe; built once.

    Raises:
      InputError: what its generator, file or download raises.
    """
    parameters = dict(spec.parameters)
    try:
        if spec.source == "name":
            return problems.load(spec.what)
        if spec.source == "file":
            return problems.from_file(spec.what, **parameters)
        if spec.instance is None:
            return GENERATORS[spec.what](**parameters)
        key = jax.random.key(spec.instance, impl="threefry2x32")
        return GENERATORS[spec.what](key, **parameters)
    except InputError as error:
        raise InputError(f"problem '{spec.label}': {error}") from None
