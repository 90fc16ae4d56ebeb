"""Grids: a study's policies, problems, horizons or votes, and numbers of seeds."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from numpy.typing import ArrayLike
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, InstanceOf, Tag
from pydantic.dataclasses import dataclass

from jaxduel.errors import unknown_name
from jaxduel.numerics import log_times
from jaxduel.policies.checks import MAX_HORIZON
from jaxduel.simulation.checking import TIES
from jaxduel.simulation.keys import GENERATORS as PRNGS
from jaxduel.simulation.lanes import WIDEST_LANES
from jaxduel.simulation.regret import DEFINITIONS
from jaxduel.studies.sweep.describing.entries import PROBLEM_KEYS, PolicyEntry, ProblemEntry
from jaxduel.studies.sweep.describing.fields import (
    KEYS,
    STRICT,
    WHOLE,
    GridError,
    Several,
    Some,
    constant,
    sentences,
)
from jaxduel.votes.found import TARGETS, targets_of
from jaxduel.votes.recommending import RULES
from jaxduel.votes.rewards import REWARD_RULES
from jaxduel.votes.stopping import STOPS, stops_of

KEPT = ("seeds", "wins")
"""Optional records besides statistics: the regret of every seed at all checkpoints, the comparisons
of every pair."""

BUDGETS = ("votes", "pulls")
"""Fields of which grids that identify arms have one."""
OF_NAMING = (*BUDGETS, "recommend", "target", "stop", "delta")
"""Fields of grids that identify arms, which measure no regret."""
OF_REGRET = ("horizons", "regret", "keep")
"""Fields of grids that measure regret."""

TABLES = ("policies", "problems")
"""The keys of the TOML file that are lists of tables."""


def _is_probability(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError("a probability between 0 and 1")
    return value


def _increasing(times: tuple[int, ...]) -> tuple[int, ...]:
    if not times or any(after <= before for before, after in pairwise(times)):
        raise ValueError("a number of times, or a list of times that increase")
    return times


def _by_name(entry: type) -> BeforeValidator:
    """Makes the entry of a name."""
    return BeforeValidator(lambda value: entry(name=value) if isinstance(value, str) else value)


Count = Annotated[int, Field(ge=1, le=MAX_HORIZON), WHOLE]
Times = Annotated[tuple[Count, ...], BeforeValidator(constant), AfterValidator(_increasing)]
_HOW_MANY = Discriminator(lambda value: ("one", "several")[isinstance(constant(value), tuple)])


@sentences("key of the grid")
@dataclass(frozen=True, kw_only=True, config=STRICT)
class Grid:
    """Every policy on every problem that it can play, up to every horizon or number of votes.

    A field that takes a tuple also takes a list or a single value.

    Attributes:
      policies: at least one; a name stands for the entry without parameters.
      problems: at least one, or names.
      horizons: T, each from 1 to 2^31 - 1; whole floats such as 1e6 are accepted. At least one,
        unless arms are identified.
      num_seeds: runs per cell.
      seed: root of all randomness, from 0 to 2^32 - 1.
      checkpoints: approximate number of times (or numbers of votes or pulls) to record, evenly in
        log t; or a tuple of increasing times: a cell has the times up to its horizon, and the
        horizon.
      regret: definitions ("average", "binary strong", "binary weak", "borda", "copeland", "pulls",
        "votes", "weak"), of which a problem has the ones defined for it; () stands for each
        problem's default, "copeland" or "pulls".
      delay: numbers of comparisons, or pulls, after which outcomes reach policies; policies that do
        not support delays only have cells for a delay of 1.
      batches: numbers of batches, for every policy that has the parameter `num_batches` and does
        not set it itself.
      shuffle_arms: as in `jaxduel.simulate`.
      prng: as in `jaxduel.simulate`.
      lanes: seeds side by side; None: a number that depends on the policy and its cells.
      keep: optional records, some of `KEPT`.
      ties: "coin", "drop" or "tell", as in `jaxduel.simulate`.
      identify: whether cells are runs of `jaxduel.identify`, and measure no regret.
      votes: with identify, of policies that compare arms: votes per seed; each number has its own
        cells, like a horizon. Policies that are made for a horizon take the number as horizon.
      pulls: with identify, of policies that pull arms, in place of votes: pulls per seed.
      recommend: with identify: rules that name arms, "copeland", "borda", "btl", or, with pulls,
        "mean", "most-pulled", "posterior"; None stands for all.
      target: with identify: the best arms, "copeland", "borda" or "condorcet", or, with pulls,
        "mean"; None stands for the first of them.
      stop: with identify: the rule that stops a run, "condorcet", or with pulls "glr"; "policy";
        or None.
      delta: with identify: the probability with which the stopping rule may name a wrong arm.

    Raises:
      GridError: an InputError, for an empty grid or a value out of range.

    Example:
      >>> from jaxduel.studies.sweep import Grid, PolicyEntry
      >>> dts = PolicyEntry("dts", {"alpha": [0.51, 0.6]})
      >>> grid = Grid(policies=dts, problems="arxiv", horizons=[1e3, 1e5], checkpoints=(10, 5000))
      >>> grid.horizons, grid.checkpoints_of(1000)
      ((1000, 100000), (10, 1000))
      >>> Grid(policies=["dts", "rucb"], problems="arxiv", identify=True, votes=5000).recommend
      ('copeland', 'borda', 'btl')
    """

    policies: Some[Annotated[InstanceOf[PolicyEntry], _by_name(PolicyEntry)]]
    problems: Some[Annotated[InstanceOf[ProblemEntry], _by_name(ProblemEntry)]]
    horizons: Some[Count] | None = None
    num_seeds: Count = 100
    seed: Annotated[int, Field(ge=0, le=2**32 - 1), WHOLE] = 0
    checkpoints: Annotated[
        Annotated[Count, Tag("one")] | Annotated[Times, Tag("several")], _HOW_MANY
    ] = 20
    regret: Several[Literal[DEFINITIONS]] = ()  # pyright: ignore[reportInvalidTypeForm]
    delay: Some[Count] = (1,)
    batches: Several[Count] = ()
    shuffle_arms: bool = True
    prng: Literal[PRNGS] = PRNGS[0]  # pyright: ignore[reportInvalidTypeForm]
    lanes: Annotated[int, Field(ge=1, le=WIDEST_LANES), WHOLE] | None = None
    keep: Several[Literal[KEPT]] = ()  # pyright: ignore[reportInvalidTypeForm]
    ties: Literal[TIES] = TIES[0]  # pyright: ignore[reportInvalidTypeForm]
    identify: bool = False
    votes: Some[Count] | None = None
    pulls: Some[Count] | None = None
    recommend: Some[Literal[(*RULES, *REWARD_RULES)]] | None = None  # pyright: ignore[reportInvalidTypeForm]
    target: Literal[TARGETS] | None = None  # pyright: ignore[reportInvalidTypeForm]
    stop: Literal[STOPS] | None = None  # pyright: ignore[reportInvalidTypeForm]
    delta: Annotated[float, AfterValidator(_is_probability)] = 0.05

    if TYPE_CHECKING:  # what pydantic converts to the fields' types

        def __init__(
            self,
            *,
            policies: str | PolicyEntry | Sequence[str | PolicyEntry],
            problems: str | ProblemEntry | Sequence[str | ProblemEntry],
            horizons: ArrayLike | None = None,
            num_seeds: float = 100,
            seed: float = 0,
            checkpoints: ArrayLike = 20,
            regret: str | Sequence[str] = (),
            delay: ArrayLike = 1,
            batches: ArrayLike = (),
            shuffle_arms: bool = True,
            prng: str = PRNGS[0],
            lanes: float | None = None,
            keep: str | Sequence[str] = (),
            ties: str = TIES[0],
            identify: bool = False,
            votes: ArrayLike | None = None,
            pulls: ArrayLike | None = None,
            recommend: str | Sequence[str] | None = None,
            target: str | None = None,
            stop: str | None = None,
            delta: float = 0.05,
        ) -> None: ...

    def __post_init__(self) -> None:
        for field in OF_REGRET if self.identify else OF_NAMING:
            if getattr(self, field) != getattr(type(self), field):
                raise GridError(_MISPLACED[field in OF_NAMING].format(field), field)
        if not self.ends:
            keys = BUDGETS if self.identify else ("horizons",)
            text = "', or, for arms with rewards, '".join(keys)
            raise GridError(f"the grid needs the key '{text}'.", keys[0])
        if self.identify:
            self._fill_in()
        for number, entry in enumerate(self.policies):
            try:
                entry.require_parameters(bool(self.batches))
                entry.require_abilities(self.unit, self.stop, self.ties)
            except GridError as error:
                raise GridError(error, "policies", number, *error.place) from None

    def _fill_in(self) -> None:
        """Checks the fields of grids that identify arms, and puts rules and a target for None.

        Raises:
          GridError: for votes and pulls at once, or what arms of the other kind have.
        """
        _require_one_budget(vars(self))
        rewards = bool(self.pulls)
        rules, targets = REWARD_RULES if rewards else RULES, targets_of(rewards)
        object.__setattr__(self, "recommend", self.recommend or rules)
        object.__setattr__(self, "target", self.target or targets[0])
        known = {"recommend": rules, "target": targets, "stop": stops_of(rewards)}
        for field, names in known.items():
            value = getattr(self, field)
            for one in value if isinstance(value, tuple) else (value,):
                if one is not None and one not in names:
                    kind = "arms with rewards" if rewards else "arms that are compared"
                    what = f"{field} '{one}' is not for {kind}"
                    raise GridError(f"{what}: known are {', '.join(names)}.", field)

    @property
    def unit(self) -> str:
        """The unit of runs that identify arms, "votes" or "pulls"; "" if regret is measured."""
        return ("pulls" if self.pulls else "votes") if self.identify else ""

    @property
    def ends(self) -> tuple[int, ...]:
        """The horizons, in comparisons or pulls, or in the unit of runs that identify arms."""
        return (self.votes or self.pulls if self.identify else self.horizons) or ()

    def checkpoints_of(self, horizon: int) -> tuple[int, ...]:
        """The times at which a run up to a horizon is recorded: increasing, the last is the
        horizon."""
        if isinstance(self.checkpoints, int):
            return tuple(int(t) for t in log_times(horizon, self.checkpoints))
        return (*(t for t in self.checkpoints if t < horizon), horizon)

    def to_json(self) -> dict[str, Any]:
        """The grid as plain values under the keys of the TOML file, with defaults filled in, except
        for keys of the other kind of grid: equal grids give equal values. (JSON text of an infinite
        parameter is Infinity.)"""
        left_out = OF_REGRET if self.identify else (*OF_NAMING, "identify")
        left_out += tuple(key for key in BUDGETS if self.identify and key != self.unit)
        left_out += ("ties",) if self.ties == TIES[0] else ()
        document = {
            **{KEYS.get(k, k): value for k, value in vars(self).items() if k not in left_out},
            "policies": [{"name": entry.name, **entry.parameters} for entry in self.policies],
            "problems": [
                {key: value for key in PROBLEM_KEYS if (value := getattr(entry, key))}
                | dict(entry.parameters)
                for entry in self.problems
            ],
        }
        return json.loads(json.dumps(document))  # lists in place of tuples

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
        given = {key: value for key, value in document.items() if value is not None}
        fields = {KEYS.get(field.name, field.name): field.name for field in dataclasses.fields(cls)}
        for key in given:
            if key not in fields:
                raise GridError(unknown_name("key of the grid", key, fields), key)
        _require_one_budget(given)
        has_batches = constant(given.get("batches", ())) != ()
        unit = ("pulls" if "pulls" in given else "votes") if given.get("identify") is True else ""
        needs = unit, given.get("stop"), given.get("ties")
        made: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
            "policies": lambda table: _policies(table, has_batches, needs),
            "problems": lambda table: _problems(table, Path(folder or "")),
        }
        given |= {key: _entries(key, given[key], made[key]) for key in TABLES if key in given}
        return cls(**{fields[key]: value for key, value in given.items()})

    def with_seeds(self, num_seeds: int) -> Grid:
        """The same grid with another number of seeds."""
        return dataclasses.replace(self, num_seeds=num_seeds)


def _require_one_budget(given: Mapping[str, Any]) -> None:
    if all(given.get(key) for key in BUDGETS):
        raise GridError("a grid has votes or pulls, not both.", BUDGETS[-1])


_MISPLACED = {
    True: "{} is for grids that identify arms: write identify = true, or leave it out.",
    False: "{} is for regret, which a grid with identify = true does not measure: its runs "
    "end with votes, such as votes = 10_000, or with pulls.",
}
"""Sentences on a key of the other kind of grid; True: a key for identifying arms."""


def single_table(key: str) -> GridError:
    """An error for a single table, [policies], where a list of tables is needed."""
    return GridError(
        f"[{key}] is a single table: write [[{key}]], in double brackets, above each entry.", key
    )


def _entries(key: str, tables: Any, made: Callable[[dict[str, Any]], list[Any]]) -> list[Any]:
    """The entries that tables describe; errors name the table."""
    if isinstance(tables, dict):
        raise single_table(key)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise GridError(f"{key} must be tables, each under a line [[{key}]].", key)
    entries = []
    for number, table in enumerate(tables):
        try:
            entries += made(dict(table))
        except GridError as error:
            raise GridError(error, key, number, *error.place) from None
    return entries


def _policies(
    table: dict[str, Any], has_batches: bool, needs: tuple[str, Any, Any]
) -> list[PolicyEntry]:
    """The policies of a table, whose `name` may be a list of names; `needs` are arguments of
    `PolicyEntry.require_abilities`."""
    given = {"name": table.pop("name")} if "name" in table else {}
    key = next(iter(table), "name")
    if table and not given:
        raise GridError(unknown_name("key of a policy without a name", key, ["name"]), key)
    if table and isinstance(given["name"], list):
        raise GridError(
            f"a list of policies takes no parameters, such as {key}: "
            "give each policy an entry of its own.",
            key,
        )
    entries = [PolicyEntry(**one, parameters=table) for one in _one_by_one(given)]
    for entry in entries:
        entry.require_parameters(has_batches)
        entry.require_abilities(*needs)
    return entries


def _problems(table: dict[str, Any], folder: Path) -> list[ProblemEntry]:
    """The problems of a table, whose `name` may be a list of names."""
    given = {key: table.pop(key) for key in PROBLEM_KEYS if key in table}
    if constant(given.get("instances")) == ():
        raise GridError("instances is an empty list: it needs at least one value.", "instances")
    if isinstance(given.get("file"), str):
        given["file"] = folder / os.path.expanduser(given["file"])
    return [ProblemEntry(**one, parameters=table) for one in _one_by_one(given)]


def _one_by_one(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The given table, repeated for each name of a list."""
    names = given.get("name")
    if not isinstance(names, list):
        return [given]
    if not names:
        raise GridError("name is an empty list: it needs at least one value.", "name")
    return [{**given, "name": name} for name in names]
