"""The parts of a grid: policies with lists for their parameters, and problems."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxduel import problems
from jaxduel.errors import shorten, unknown_name
from jaxduel.experiments.sweep.values import GridError, listed, located, typed
from jaxduel.policies import registry
from jaxduel.problems.files import SUFFIXES

HORIZON = "horizon"
"""The parameter of policies that the grid's horizons set."""
BATCHES = "num_batches"
"""The parameter of policies that the grid's numbers of batches set."""

GENERATORS: dict[str, Callable[..., problems.Problem]] = {
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
        problems.random_sst,
    )
}
"""The families of instances that a grid can name."""

PROBLEM_KEYS = ("name", "file", "generator", "instances")
"""The keys of a problem that are not parameters."""

_ARMS = re.compile(r"(gaussian|bernoulli)\[[^\[\]]*\]")
_SUBMATRIX = re.compile(r"(.+)\[[^\[\]]*\]")
_KEY = "key"
_Kinds = Mapping[str, tuple[Any, Any]]
"""Parameters of a problem: their annotations and defaults."""


@dataclasses.dataclass(frozen=True)
class PolicyEntry:
    """A policy with values for its parameters.

    Attributes:
      name: a registered policy.
      parameters: by name, the values to try, a tuple; parameters not named keep their defaults. One
        value may be given without a tuple. The horizon is set by the grid.

    Raises:
      GridError: an unknown policy or parameter, or a value of the wrong type.

    Example:
      >>> from jaxduel.experiments.sweep import PolicyEntry
      >>> PolicyEntry("dts", {"alpha": [0.51, 0.6]})
      PolicyEntry(name='dts', parameters={'alpha': (0.51, 0.6)})
    """

    name: str
    parameters: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise GridError(f"a policy's name must be text, not {self.name!r}.", "name")
        if self.name not in registry.names():
            raise located(unknown_name("policy", self.name, registry.names()), "name")
        fields = {field.name: field for field in dataclasses.fields(self.policy_class)}
        known = [name for name in registry.parameters(self.name) if name != HORIZON]
        for key in self.parameters:
            if key == HORIZON and key in fields:
                raise GridError(f"{self.name}: the horizon is set by the grid's horizons.", key)
            if not known:
                raise GridError(f"{self.name} has no parameter '{key}': it has none.", key)
            if key not in known:
                raise located(unknown_name(f"parameter of {self.name}", key, known), key)
        given = {
            key: tuple(
                typed(f"{self.name}: {key}", key, value, fields[key].type, fields[key].default)
                for value in listed(f"{self.name}: {key}", key, self.parameters[key])
            )
            for key in known
            if key in self.parameters
        }
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProblemEntry:
    """A problem of the catalogue, a file, or instances of a family. One of the first three is
    given.

    Attributes:
      name: of the catalogue, or arms with rewards such as "gaussian[0.6,0.5]": as in
        `jaxduel.problems.load`, without paths.
      file: the path of a file that `jaxduel.problems.from_file` reads; made absolute.
      generator: one of `GENERATORS`.
      parameters: by name, values of the generator's parameters to try, a tuple (one value may be
        given without); for an .npz file, "key" may be given: names of arrays.
      instances: for generators that take a PRNG key: the seeds of the instances, from 0 to 2^32 - 1
        (() stands for (0,)).

    Raises:
      GridError: an unknown name or parameter, a file that does not exist, a value of the wrong
        type.

    Example:
      >>> from jaxduel.experiments.sweep import ProblemEntry
      >>> ProblemEntry(name="arxiv").takes_key
      False
      >>> btl = ProblemEntry(generator="btl", parameters={"num_arms": [4, 8]}, instances=(0, 1))
      >>> btl.parameters, btl.instances, btl.takes_key
      ({'num_arms': (4, 8)}, (0, 1), True)
    """

    name: str | None = None
    file: str | os.PathLike[str] | None = None
    generator: str | None = None
    parameters: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    instances: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        given = {key: getattr(self, key) for key in ("name", "file", "generator")}
        given = {key: value for key, value in given.items() if value is not None}
        if not given and self.parameters:
            wrong = next(iter(self.parameters))
            raise located(unknown_name("key of a problem", wrong, PROBLEM_KEYS), wrong)
        if len(given) != 1:
            said = " and ".join(given) or "none"
            raise GridError(f"a problem needs one of name, file and generator, not {said}.", said)
        ((key, value),) = given.items()
        if not isinstance(value, str | os.PathLike):
            raise GridError(f"a problem's {key} must be text, not {value!r}.", key)
        known = {"name": self._named, "file": self._filed, "generator": self._generated}[key]()
        for parameter in self.parameters:
            if parameter not in known:
                whose = f"problem '{os.path.basename(value)}'"
                if not known:
                    raise GridError(
                        f"{whose} has no parameter '{parameter}': it has none.", parameter
                    )
                names = (*known, "instances") if self.takes_key else known
                raise located(unknown_name(f"parameter of {whose}", parameter, names), parameter)
        values = {
            parameter: tuple(
                typed(f"{value}: {parameter}", parameter, one, *kind)
                for one in listed(f"{value}: {parameter}", parameter, self.parameters[parameter])
            )
            for parameter, kind in known.items()
            if parameter in self.parameters
        }
        object.__setattr__(self, "parameters", values)
        self._check_instances()

    @property
    def takes_key(self) -> bool:
        """True if instances are drawn with a PRNG key."""
        return self.generator is not None and _KEY in _parameters_of(self.generator)

    def _named(self) -> _Kinds:
        name = str(self.name)
        if _ARMS.fullmatch(name):
            return {}
        submatrix = _SUBMATRIX.fullmatch(name)
        base = submatrix.group(1) if submatrix else name
        if base not in problems.names():
            if Path(base).suffix.lower() in SUFFIXES:
                raise GridError(f"problem '{name}' is a file: write file = \"{name}\".", "name")
            raise located(unknown_name("problem", base, problems.names()), "name")
        return {}

    def _filed(self) -> _Kinds:
        path = Path(os.path.expanduser(str(self.file))).absolute()
        said = f"file '{shorten(str(path), 300)}'"
        if path.suffix.lower() not in SUFFIXES:
            raise GridError(
                f"{said} is of an unknown kind: {', '.join(SUFFIXES)} files can be read.",
                "file",
            )
        if not os.path.isfile(path):
            raise GridError(f"{said} does not exist.", "file")
        object.__setattr__(self, "file", str(path))
        return {_KEY: (str, "")} if path.suffix.lower() == ".npz" else {}

    def _generated(self) -> _Kinds:
        name = str(self.generator)
        if name not in GENERATORS:
            raise located(unknown_name("generator", name, GENERATORS), "generator")
        known = _parameters_of(name)
        for key, parameter in known.items():
            needed = parameter.default is inspect.Parameter.empty and key != _KEY
            if needed and key not in self.parameters:
                raise GridError(f"{name} needs the parameter '{key}'.", "generator")
        return {key: (one.annotation, one.default) for key, one in known.items() if key != _KEY}

    def _check_instances(self) -> None:
        key = "instances"
        given = self.instances
        if not self.takes_key:
            if given != ():
                what = self.generator or self.name or os.path.basename(str(self.file))
                raise GridError(f"{what} draws nothing at random: it has no instances.", key)
            return
        seeds = (0,) if given == () else listed(key, key, given)
        for seed in seeds:
            if type(seed) is not int or not 0 <= seed < 2**32:
                raise GridError(
                    f"instances must be whole numbers from 0 to 2^32 - 1, not {seed!r}.", key
                )
        object.__setattr__(self, key, seeds)


def _parameters_of(generator: str) -> Mapping[str, inspect.Parameter]:
    known = inspect.signature(GENERATORS[generator]).parameters
    return {key: parameter for key, parameter in known.items() if key != "name"}
