"""Recipes for the problems of a grid."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax

from jaxduel import problems
from jaxduel.errors import InputError
from jaxduel.files import stamp_of
from jaxduel.problems import Problem

GENERATORS: dict[str, Callable[..., Problem]] = {
    generator.__name__: generator
    for generator in (
        problems.arithmetic,
        problems.batched_lower_bound,
        problems.btl,
        problems.btl_from_weights,
        problems.condorcet_hard,
        problems.copeland_cycle,
        problems.one_better_arm,
        problems.random_condorcet,
        problems.random_tournament,
        problems.random_sst,
    )
}
"""The families of instances that a grid can name."""

KEY = "key"
"""The parameter of generators that draw at random; of .npz files, the array's name."""


def parameters_of(generator: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a generator, including `KEY` for a generator that draws at random."""
    known = inspect.signature(GENERATORS[generator]).parameters
    return {key: parameter for key, parameter in known.items() if key != "name"}


@dataclass(frozen=True)
class ProblemSpec:
    """One problem of a grid: a recipe, not the matrix.

    Attributes:
      source: "name", "file" or "generator".
      what: the catalogue name, the path, or the generator's name.
      parameters: parameters that the grid sets, in the generator's order.
      instance: the seed of the instance, if drawn at random.
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
        """The problem, built once; of a file, once for each version of the file.

        Raises:
          InputError: from its generator, file or download.
          MemoryError: if there is too little memory for its matrix.
        """
        stamp: tuple[int, ...] = ()
        if self.source == "file":
            with suppress(OSError, ValueError):  # `_built` says why it cannot be read
                stamp = stamp_of(self.what)
        return _built(self, stamp)


@lru_cache(maxsize=4096)
def _built(spec: ProblemSpec, stamp: tuple[int, ...]) -> Problem:
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
    except MemoryError as error:
        raise MemoryError(f"problem '{spec.label}' takes too much memory: {error}") from None
