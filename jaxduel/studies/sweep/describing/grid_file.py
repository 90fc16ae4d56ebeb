"""Grids from TOML files, with line numbers in errors; the schema of such files."""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from jaxduel import problems
from jaxduel.errors import InputError, shorten
from jaxduel.files import as_path, read_whole, why
from jaxduel.policies import registry
from jaxduel.studies.sweep.describing.entries import (
    FILE_PARAMETERS,
    ProblemEntry,
    generator_parameters,
    policy_parameters,
)
from jaxduel.studies.sweep.describing.fields import KEYS, GridError, table_of
from jaxduel.studies.sweep.describing.grid import (
    BUDGETS,
    OF_NAMING,
    OF_REGRET,
    TABLES,
    Grid,
    single_table,
)
from jaxduel.studies.sweep.describing.recipes import GENERATORS, KEY, parameters_of

_LARGEST = 2**20
"""Most bytes of a grid file."""
_MOST_PARTS = 32
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[^\s.=,\[\]{}#"']++)"""
_LONG_KEY = re.compile(rf"(?<![^\s.=,\[\]{{}}#\"'])(?:{_PART}[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}")
"""The beginning of a key of more parts, for which `tomllib` takes quadratic time and memory."""
_ENDS = re.compile(r"\]|\"\"\"|'''")
"""Endings of statements of several lines."""
_MOST_TRIED = 2**22
"""Most characters that `key_lines` parses; statements of n lines are parsed n times."""


def examples() -> tuple[Path, ...]:
    """The worked examples, in alphabetical order: paths of grid files that come with jaxduel.

    Example:
      >>> from jaxduel.studies.sweep import examples, read_grid
      >>> [path.name for path in examples()]
      ['batched.toml', 'dts_alpha.toml', 'everything.toml']
      >>> read_grid(examples()[0]).batches
      (2, 4, 8, 16, 32)
    """
    return tuple(sorted((Path(__file__).parent / "examples").glob("*.toml")))


def read_grid(path: str | os.PathLike[str]) -> Grid:
    """The grid in a TOML file.

        seeds = 1000                  # per cell; 100 if left out
        seed = 0                      # root of all randomness
        horizons = [1e3, 1e6]         # whole numbers
        batches = [2, 8, 32]          # for every policy that has num_batches and does not set it
        checkpoints = 20              # about so many, evenly in log t; or a list of times
        regret = ["average"]          # each problem's own if left out: copeland, or pulls
        delay = [1]
        shuffle_arms = true
        prng = "threefry2x32"
        lanes = 64                    # seeds side by side; chosen if left out
        keep = ["seeds"]              # regret of each seed; "wins": comparisons of each pair
        ties = "coin"                 # or "drop", "tell"

    In place of horizons, regret and keep, to identify arms (`jaxduel.identify`):

        identify = true
        votes = 10_000                # or a list
        recommend = ["copeland", "borda", "btl"]
        target = "copeland"           # or "borda", "condorcet"
        stop = "condorcet"            # or "policy"; none if left out
        delta = 0.05

    Of arms with rewards, `pulls` take the place of votes, the rules are "mean", "most-pulled" and
    "posterior", and a run stops by "glr" or "policy".

    Then, in both cases:

        [[policies]]
        name = "dts"                  # or a list of names, without parameters
        alpha = [0.51, 0.6]           # any parameter: a value or a list of values

        [[problems]]
        name = "arxiv"                # or a list of names

        [[problems]]
        file = "my.csv"               # relative to the grid file

        [[problems]]
        generator = "btl"             # a function of jaxduel.problems
        num_arms = [4, 8, 16]         # any parameter
        instances = [0, 1, 2]         # seeds of the instances, [0] if left out

    Args:
      path: the file.

    Returns:
      The grid, checked.

    Raises:
      InputError: for a missing file, or an error in it; the message names the line.

    Example:
      >>> from pathlib import Path
      >>> from jaxduel.studies.sweep import read_grid
      >>> text = '''
      ... horizons = [1e3, 1e6]
      ... [[policies]]
      ... name = ["dts", "rucb"]
      ... [[problems]]
      ... name = "arxiv"
      ... '''
      >>> characters = Path("grid.toml").write_text(text)
      >>> grid = read_grid("grid.toml")
      >>> grid.horizons, [policy.name for policy in grid.policies]
      ((1000, 1000000), ['dts', 'rucb'])
    """
    path = as_path(path, "read_grid")
    try:
        text = read_whole(path, _LARGEST).decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InputError(f"grid file '{path}' does not exist.") from None
    except UnicodeDecodeError:
        raise InputError(f"grid file '{path}' is no text: a TOML file is needed.") from None
    except OSError as error:
        name = shorten(str(path), 300)
        raise InputError(f"grid file '{name}' cannot be read: {why(error)}.") from None
    try:
        return Grid.from_json(_document(path, text), path.parent)
    except GridError as error:
        lines = key_lines(text)
        places = (error.place[:length] for length in range(len(error.place), 0, -1))
        line = next((f", line {lines[place]}" for place in places if place in lines), "")
        raise InputError(f"grid file '{path}'{line}: {error}") from None


def _document(path: Path, text: str) -> dict[str, Any]:
    """The tables of the file.

    Raises:
      InputError: if the text is not TOML, such as [policies] besides [[policies]].
    """
    try:
        if not _LONG_KEY.search(text):
            return tomllib.loads(text)
        reason = f"a key has more than {_MOST_PARTS} parts"
    except RecursionError:
        reason = "its brackets are nested too deeply"
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        single = re.search(rf"^\s*\[\s*({'|'.join(TABLES)})\s*\]", text, re.MULTILINE)
        if single is not None and reason.startswith("Cannot "):
            line = text.count("\n", 0, single.start(1)) + 1
            where = f"grid file '{path}', line {line}"
            raise InputError(f"{where}: {single_table(single[1])}") from None
    except ValueError:  # Python reads no longer integers
        reason = "a number has thousands of digits"
    raise InputError(f"grid file '{path}' is not valid TOML: {reason}.")


def key_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The lines, counted from 1, of the keys and tables of a valid TOML file, by place: ("seeds",),
    ("policies", 0), ("policies", 0, "alpha"). Keys of inline tables, and keys after very long
    statements, are not found.

    `tomllib` does not report lines, so statements are parsed one by one.
    """
    found: dict[tuple[str | int, ...], int] = {}
    entries: Counter[str] = Counter()
    table: tuple[str | int, ...] = ()
    begun, statement, tried = 1, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        if number > begun and not _ENDS.search(line):
            continue
        tried += len(statement)
        if tried > _MOST_TRIED:
            break
        try:
            parsed = tomllib.loads(statement)
        except ValueError:  # the statement continues in the next line
            continue
        for key, value in parsed.items():
            if not statement.lstrip().startswith("["):
                found.setdefault((*table, key), begun)
                continue
            found.setdefault((key,), begun)
            entries[key] += isinstance(value, list)
            table = (key, entries[key] - 1) if entries[key] else (key,)
            table += tuple(value)[:1] if isinstance(value, dict) else ()
            found.setdefault(table, begun)
        begun, statement = number + 1, ""
    return found


def schema() -> dict[str, Any]:
    """The JSON schema of grid files, for editors. It covers the registered policies, the catalogue,
    the generators, and the parameters of each.

    Example:
      >>> from jaxduel.studies.sweep import schema
      >>> schema()["required"]
      ['policies', 'problems']
    """
    found = TypeAdapter(Grid).json_schema()
    fields = {KEYS.get(key, key): _or_one(value) for key, value in found["properties"].items()}
    attributes = str(inspect.getdoc(Grid)).partition("Attributes:")[2].partition("\n\n")[0]
    for key, text in re.findall(r"\n  (\w+): (.+(?:\n    .+)*)", attributes):
        fields[KEYS.get(key, key)]["description"] = " ".join(text.split())
    for key, items in (("policies", _policy_tables()), ("problems", _problem_tables())):
        fields[key] = {"type": "array", "minItems": 1, "items": {"anyOf": items}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A grid of jaxduel",
        **{key: found[key] for key in ("type", "required", "additionalProperties")},
        "oneOf": [
            {"required": [key], "not": {"anyOf": [{"required": [other]} for other in others]}}
            for key, others in (
                ("horizons", OF_NAMING),
                ("votes", (*OF_REGRET, "pulls")),
                ("pulls", (*OF_REGRET, "votes")),
            )
        ],
        "dependentRequired": {key: ["identify"] for key in BUDGETS},
        "properties": fields,
    }


def _policy_tables() -> list[dict[str, Any]]:
    names = list(registry.names())
    several = {"type": "array", "items": {"enum": names}, "minItems": 1}
    tables = (
        _table({"name": {"const": name}}, policy_parameters(name), registry.policy_class(name))
        for name in names
    )
    return [*tables, _table({"name": several})]


def _problem_tables() -> list[dict[str, Any]]:
    name = {"anyOf": [{"enum": list(problems.names())}, {"type": "string", "pattern": r".\[.*\]$"}]}
    several = {"type": "array", "items": name, "minItems": 1}
    tables = [
        _table({"name": _or_one(several)}),
        _table({"file": {"type": "string"}}, FILE_PARAMETERS, problems.from_file),
    ]
    instances = TypeAdapter(ProblemEntry).json_schema()["properties"]["instances"]
    for source, generator in GENERATORS.items():
        made = _table({"generator": {"const": source}}, generator_parameters(source), generator)
        if KEY in parameters_of(source):
            made["properties"]["instances"] = _or_one(instances)
        tables.append(made)
    return tables


def _table(
    needed: dict[str, Any], types: dict[str, Any] | None = None, described: Any = None
) -> dict[str, Any]:
    """The schema of a table: the keys that identify it, and the types of its parameters."""
    text = inspect.getdoc(described) or "" if described else "Several, without parameters."
    found = table_of("", tuple((types or {}).items())).json_schema()
    parameters = {key: _or_one(value) for key, value in found["properties"].items()}
    return {
        "description": " ".join(text.partition("\n\n")[0].split()),
        "type": "object",
        "properties": needed | parameters,
        "required": [*needed, *found.get("required", [])],
        "additionalProperties": False,
    }


def _or_one(value: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field in which one value may replace a list of one."""
    value = {key: part for key, part in value.items() if key != "title"}
    if value.get("anyOf", [])[1:] == [{"type": "null"}]:  # TOML has no null
        value = value["anyOf"][0]
    return {"anyOf": [value["items"], value]} if value.get("type") == "array" else value
