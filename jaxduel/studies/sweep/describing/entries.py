"""The parts of a grid: policies with lists for their parameters, and problems."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from numpy.typing import ArrayLike
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from jaxduel import problems
from jaxduel.errors import InputError, shorten, unknown_name
from jaxduel.policies import registry
from jaxduel.policies.base import SupportsAnswer
from jaxduel.problems.catalogue import pieces_of
from jaxduel.problems.files import SUFFIXES
from jaxduel.simulation.checking import no_ties
from jaxduel.studies.engine.cells import HORIZON
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.sweep.describing.fields import (
    STRICT,
    WHOLE,
    GridError,
    Several,
    checked,
    sentences,
    type_of,
)
from jaxduel.studies.sweep.describing.recipes import (
    GENERATORS,
    KEY,
    ProblemSpec,
    parameters_of,
)
from jaxduel.votes.stopping import no_answer

_ARMS = re.compile(r"(gaussian|bernoulli)\[[^\[\]]*\]")
_SUBMATRIX = re.compile(r"(.+)\[[^\[\]]*\]")
_SOURCES = ("name", "file", "generator")
PROBLEM_KEYS = (*_SOURCES, "instances")
"""The keys of a problem that are not parameters."""
_FSPATH = BeforeValidator(lambda path: str(path) if isinstance(path, os.PathLike) else path)


@sentences("key of a policy")
@dataclass(frozen=True, config=STRICT)
class PolicyEntry:
    """A policy with values for its parameters.

    Attributes:
      name: a registered policy.
      parameters: by name, a tuple of the values to try; parameters not named keep their defaults. A
        single value needs no tuple. The horizon is set by the grid.

    Raises:
      GridError: an unknown policy or parameter, or a value of the wrong type.

    Example:
      >>> from jaxduel.studies.sweep import PolicyEntry
      >>> PolicyEntry("dts", {"alpha": [0.51, 0.6]})
      PolicyEntry(name='dts', parameters={'alpha': (0.51, 0.6)})
    """

    name: str
    parameters: Mapping[str, Any] = Field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in registry.names():
            raise GridError(unknown_name("policy", self.name, registry.names()), "name")
        if HORIZON in self.parameters and HORIZON in registry.parameters(self.name):
            raise GridError(f"{self.name}: the horizon is set by the grid's horizons.", HORIZON)
        given = checked(self.name, policy_parameters(self.name), self.parameters)
        object.__setattr__(self, "parameters", given)

    @property
    def policy_class(self) -> Any:
        """The class of the policy."""
        return registry.policy_class(self.name)

    def require_parameters(self, has_batches: bool) -> None:
        """Raises GridError if a parameter without a default is not given.

        Args:
          has_batches: whether the grid gives numbers of batches.
        """
        for key, default in registry.parameters(self.name).items():
            given = key == HORIZON or key in self.parameters or (key == BATCHES and has_batches)
            if default is dataclasses.MISSING and not given:
                hint = ", or the grid's batches" if key == BATCHES else ""
                raise GridError(f"{self.name} needs the parameter '{key}'{hint}.", "name")

    def require_abilities(self, unit: str, stop: Any, ties: Any) -> None:
        """Raises GridError if the grid's keys need an ability that the policy lacks: to compare or
        to pull arms, as the unit of runs that identify arms says, to stop by itself, to learn from
        ties."""
        if unit and registry.pulls_arms(self.policy_class) != (unit == "pulls"):
            kind, other = ("pulls", "pulls") if unit == "votes" else ("compares", "votes")
            raise GridError(
                f"{self.name} {kind} arms: a grid that identifies arms needs {other} in place of "
                f"{unit}.",
                "name",
            )
        if stop == "policy" and not issubclass(self.policy_class, SupportsAnswer):
            raise GridError(no_answer(self.name), "name")
        if ties == "tell" and not getattr(self.policy_class, "hears_ties", False):
            raise GridError(no_ties(self.name), "name")


@sentences("key of a problem")
@dataclass(frozen=True, kw_only=True, config=STRICT)
class ProblemEntry:
    """A problem of the catalogue, a file, or instances of a family. One of `name`, `file` and
    `generator` is given.

    Attributes:
      name: a name of `jaxduel.problems.load`, without paths: of the catalogue, of arms with rewards
        such as "gaussian[0.6,0.5]", or of changing instances such as
        "piecewise[gap,10000,strong-borda]".
      file: the path of a file that `jaxduel.problems.from_file` reads; made absolute.
      generator: one of `GENERATORS`.
      parameters: by name, a tuple of values of the generator's parameters to try (a single value
        needs no tuple); for an .npz file, "key" may be given: names of arrays.
      instances: for generators that take a PRNG key: the seeds of the instances, from 0 to 2^32 - 1
        (() stands for (0,)).

    Raises:
      GridError: an unknown name or parameter, a file that does not exist, a value of the wrong
        type.

    Example:
      >>> from jaxduel.studies.sweep import ProblemEntry
      >>> ProblemEntry(name="arxiv").takes_key
      False
      >>> btl = ProblemEntry(generator="btl", parameters={"num_arms": [4, 8]}, instances=(0, 1))
      >>> btl.parameters, btl.instances, btl.takes_key
      ({'num_arms': (4, 8)}, (0, 1), True)
    """

    name: str | None = None
    file: Annotated[str, _FSPATH] | None = None
    generator: str | None = None
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    instances: Several[Annotated[int, Field(ge=0, le=2**32 - 1), WHOLE]] = ()

    if TYPE_CHECKING:  # what pydantic converts to the fields' types

        def __init__(
            self,
            *,
            name: str | None = None,
            file: str | os.PathLike[str] | None = None,
            generator: str | None = None,
            parameters: Mapping[str, Any] = {},
            instances: ArrayLike = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        given = [key for key in _SOURCES if getattr(self, key) is not None]
        if not given and self.parameters:
            key = next(iter(self.parameters))
            raise GridError(unknown_name("key of a problem", key, PROBLEM_KEYS), key)
        if len(given) != 1:
            said = " and ".join(given) or "none"
            raise GridError(f"a problem needs one of name, file and generator, not {said}.", said)
        source, what = self.source
        types = {"name": self._named, "file": self._filed, "generator": self._generated}[source]()
        what = os.path.basename(what)
        others = ("instances",) if self.takes_key else ()
        object.__setattr__(self, "parameters", checked(what, types, self.parameters, others))
        if self.instances and not self.takes_key:
            raise GridError(f"{what} draws nothing at random: it has no instances.", "instances")
        if self.takes_key:
            object.__setattr__(self, "instances", self.instances or (0,))

    @property
    def source(self) -> tuple[str, str]:
        """The given one of the keys name, file and generator, and its value."""
        return next((key, value) for key in _SOURCES if (value := getattr(self, key)) is not None)

    @property
    def takes_key(self) -> bool:
        """True if instances are drawn with a PRNG key."""
        return self.generator is not None and KEY in parameters_of(self.generator)

    def count(self) -> int:
        """The number of problems described."""
        return math.prod(map(len, self.parameters.values())) * max(len(self.instances), 1)

    def specs(self) -> tuple[ProblemSpec, ...]:
        """The problems described: all combinations of parameters, later ones varying faster, and of
        instances, which vary fastest."""
        combinations = itertools.product(*self.parameters.values())
        instances = self.instances if self.takes_key else (None,)
        return tuple(
            ProblemSpec(*self.source, tuple(zip(self.parameters, values, strict=True)), instance)
            for values in combinations
            for instance in instances
        )

    def _named(self) -> dict[str, Any]:
        try:
            pieces = pieces_of(str(self.name))
        except InputError as error:
            raise GridError(error, "name") from None
        for name in pieces[0] if pieces else [str(self.name)]:
            submatrix = _SUBMATRIX.fullmatch(name)
            base = submatrix.group(1) if submatrix else name
            if not _ARMS.fullmatch(name) and base not in problems.names():
                if not pieces and Path(base).suffix.lower() in SUFFIXES:
                    raise GridError(f"problem '{name}' is a file: write file = \"{name}\".", "name")
                raise GridError(unknown_name("problem", base, problems.names()), "name")
        return {}

    def _filed(self) -> dict[str, Any]:
        path = Path(os.path.expanduser(str(self.file))).absolute()
        said = f"file '{shorten(str(path), 300)}'"
        if path.suffix.lower() not in SUFFIXES:
            kinds = ", ".join(SUFFIXES)
            raise GridError(f"{said} is of an unknown kind: {kinds} files can be read.", "file")
        if not os.path.isfile(path):
            raise GridError(f"{said} does not exist.", "file")
        object.__setattr__(self, "file", str(path))
        return FILE_PARAMETERS if path.suffix.lower() == ".npz" else {}

    def _generated(self) -> dict[str, Any]:
        if self.generator not in GENERATORS:
            raise GridError(unknown_name("generator", self.generator, GENERATORS), "generator")
        return generator_parameters(self.generator)


FILE_PARAMETERS = {KEY: type_of(str, "")}
"""The type of the parameter of .npz files."""


def policy_parameters(name: str) -> dict[str, Any]:
    """The types of a policy's parameters that a grid can set."""
    fields = dataclasses.fields(registry.policy_class(name))
    known = registry.parameters(name).keys() - {HORIZON}
    return {one.name: type_of(one.type, one.default) for one in fields if one.name in known}


def generator_parameters(name: str) -> dict[str, Any]:
    """The types of a generator's parameters that a grid can set."""
    known = {key: one for key, one in parameters_of(name).items() if key != KEY}
    return {
        key: type_of(one.annotation, one.default, one.default is inspect.Parameter.empty)
        for key, one in known.items()
    }
