"""The axes of sweeps: the quantities in which cells differ, with their values, columns, options and
words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Literal

from jaxduel.runs import number_or_text, problem_parts
from jaxduel.studies.engine.cells import parameters_label
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.engine.manifest import CellRecord
from jaxduel.studies.sweep.describing.recipes import GENERATORS, KEY, parameters_of

Part = Literal["policy", "setting", "measure", "parameter"]
"""The part of a study that an axis describes: the policy with its parameters, the setting in which
policies are compared, the measure, or one parameter of policies."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A quantity in which the cells of a sweep differ.

    Attributes:
      name: in figures and in their options: "K".
      part: what it describes.
      column: in tables, and the coordinate of the data set; "" for the same as `name`.
      along: the dimension of the data set along which it varies; "" for a dimension of its own.
      of: its value in the manifest's record of a cell, if cells have one.
      words: a value that is text as figures write it; None for numbers, which are written "K = 8".
      option: the argument of `choose`, and the command-line option, that keeps cells by it; "" if
        there is none.
      noun: its values in errors: "rule".
      letter: in the head of a table and in names of files, if not its name.
      label: beside the axis of a figure; "" for the parameter's symbol, or the name.
      aliases: other names that options take.
    """

    name: str
    part: Part
    column: str = ""
    along: str = ""
    of: Callable[[CellRecord], Any] = lambda cell: None
    words: Callable[[str], str] | None = None
    option: str = ""
    noun: str = ""
    letter: str = ""
    label: str = ""
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("column", "along"):
            object.__setattr__(self, field, getattr(self, field) or self.name)

    @property
    def is_dimension(self) -> bool:
        """True for a dimension of the data set."""
        return self.along == self.name


def _policy(name: str) -> str:
    from jaxduel.plotting.words import policy_words  # which imports matplotlib

    return policy_words(name, {})


def _problem(name: str) -> str:
    from jaxduel.plotting.words import problem_words

    return problem_words(name)


def _regret(definition: str) -> str:
    from jaxduel.plotting.words import regret_words

    return regret_words(definition)


def _label(cell: CellRecord) -> str:
    return parameters_label(cell.parameters, cell.delay)


_FIXED = (
    Axis(
        name="policy",
        part="policy",
        of=attrgetter("policy"),
        words=_policy,
        option="policy",
    ),
    Axis(
        name="problem",
        part="setting",
        of=attrgetter("problem"),
        words=_problem,
        option="problem",
        noun="problem of the sweep",
    ),
    Axis(
        name="K",
        part="setting",
        column="num_arms",
        along="problem",
        of=attrgetter("num_arms"),
        label="arms $K$",
        aliases=("num_arms", "arms", "k"),
    ),
    Axis(
        name="horizon",
        part="setting",
        of=attrgetter("horizon"),
        option="horizon",
        letter="T",
        aliases=("T",),
    ),
    Axis(name="parameters", part="policy", of=_label, words=str),
    Axis(
        name="definition",
        part="measure",
        words=_regret,
        option="regret",
        noun="definition of regret",
        aliases=("regret",),
    ),
    Axis(name="rule", part="measure", words=str, option="rule", noun="rule"),
    Axis(name=BATCHES, part="parameter", label="batches $B$", aliases=("B", "batches")),
)
"""The axes of all sweeps; dimensions of the data set are in its order. A property of instances,
such as K, needs a line here, a field of `StudyCell`, and one of `CellRecord`."""
_STATISTICS = {
    *("votes", "pulls", "probability", "simple_regret", "tau", "share_stopped", "share_wrong"),
    *("mean", "std", "sem", "lower95", "upper95", "q25", "median", "q75", "mark", "variant", "row"),
    *("entry", "facet", "curve", "line", "level", "title"),
}
"""Columns of tables that are no axes."""


@lru_cache(maxsize=2**17)
def _values(problem: str) -> dict[str, float | str]:
    """The parameters of a generator's instance, from its label; no others have any."""
    what, parts = problem_parts(problem)
    return {key: number_or_text(text) for key, text in parts} if what in GENERATORS else {}


def _of_generator(name: str, cell: CellRecord) -> float | str | None:
    return _values(cell.problem).get(name)


def _of_instances() -> Iterator[Axis]:
    """The parameters of generators as axes, and "instance", the seed of a drawn instance. A
    parameter with the name of another axis or column is called problem_NAME."""
    taken = {"num_arms", "family", *(axis.name for axis in _FIXED), *_STATISTICS}
    every = (name for generator in GENERATORS for name in parameters_of(generator))
    for name in dict.fromkeys("instance" if name == KEY else name for name in every):
        if name != "num_arms":  # K
            unique = f"problem_{name}" if name in taken else name
            value = partial(_of_generator, name)
            yield Axis(name=unique, part="setting", along="problem", of=value)


AXES = (*_FIXED, *_of_instances())
"""All axes. A sweep has the parameters of its own instances alone."""
FAMILY = Axis(name="family", part="setting", along="problem", words=_problem)
"""A problem without what is on other axes: the name "btl" without its number of arms."""
CELL = tuple(a.name for a in AXES if a.is_dimension and a.part in ("policy", "setting"))
"""The dimensions that identify a cell."""
OF_PROBLEMS = tuple(axis for axis in AXES if axis.along == "problem" and not axis.is_dimension)
"""Properties of problems: K, and parameters of generators."""
COLUMNS = {FAMILY.name, *_STATISTICS, *(axis.name for axis in AXES if axis.part != "parameter")}
"""Columns of tables; a parameter of policies with one of these names is called parameter_NAME."""
BY_OPTION = {axis.option: axis for axis in AXES if axis.option}
"""The axes by which cells are chosen."""
_BY_NAME = {axis.name: axis for axis in (FAMILY, *AXES)}


def axis_of(name: str) -> Axis:
    """The axis of this name; a parameter of policies if no other is known."""
    return _BY_NAME.get(name) or Axis(name=name, part="parameter")


def plain_name(name: str) -> str:
    """The name of a parameter as its policy or generator has it, of the name of its axis."""
    return name.removeprefix("parameter_").removeprefix("problem_")


def axes_of(*parts: Part) -> list[Axis]:
    """The axes that describe these parts of cells, part by part."""
    return [axis for part in parts for axis in AXES if axis.part == part]


def columns_of(table: Any, *parts: Part) -> list[str]:
    """The columns of a table that describe these parts of cells, part by part."""
    return [axis.column for axis in axes_of(*parts) if axis.column in table]
