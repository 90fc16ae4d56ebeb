"""Grids from TOML files, with line numbers in errors."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from jaxduel.errors import InputError, shorten
from jaxduel.experiments.sweep.document import one_table
from jaxduel.experiments.sweep.grid import TABLES, Grid
from jaxduel.experiments.sweep.toml_lines import key_lines, single_tables
from jaxduel.experiments.sweep.values import GridError


def examples() -> tuple[Path, ...]:
    """The worked examples, in alphabetical order: paths of grid files that come with jaxduel.

    Example:
      >>> from jaxduel.experiments.sweep import examples, read_grid
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
      InputError: for a missing file, or an error in it; names the line.

    Example:
      >>> from pathlib import Path
      >>> from jaxduel.experiments.sweep import read_grid
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
    path = Path(path)
    if "\0" in str(path):
        raise InputError("the name of a grid file cannot have a null character in it.")
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InputError(f"grid file '{path}' does not exist.") from None
    except UnicodeDecodeError:
        raise InputError(f"grid file '{path}' is no text: a TOML file is needed.") from None
    except OSError as error:
        name = shorten(str(path), 300)
        raise InputError(f"grid file '{name}' cannot be read: {error.strerror or error}.") from None
    try:
        return Grid.from_json(_document(path, text), path.parent)
    except GridError as error:
        line = _line(text, error)
        where = f"grid file '{path}'" if line is None else f"grid file '{path}', line {line}"
        raise InputError(f"{where}: {error}") from None


def _document(path: Path, text: str) -> dict[str, Any]:
    """The tables of the file.

    Raises:
      InputError: if the text is not TOML, such as [policies] besides [[policies]].
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        reason = "its brackets are nested too deeply"
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        single = single_tables(text) if reason.startswith("Cannot ") else {}
        for table in TABLES:
            if table in single:
                where = f"grid file '{path}', line {single[table]}"
                raise InputError(f"{where}: {one_table(table)}") from None
    except ValueError:  # Python does not read longer ones
        reason = "a number has thousands of digits"
    raise InputError(f"grid file '{path}' is not valid TOML: {reason}.")


def _line(text: str, error: GridError) -> int | None:
    """The line of the key that an error is about, else of its table; None if there is neither."""
    lines = key_lines(text)
    table = error.table, error.number
    places = ((*table, error.key), (*table, ""), ("", 0, error.table))
    return next((lines[place] for place in places if place in lines), None)
