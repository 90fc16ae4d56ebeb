"""Tables of a grid's TOML or JSON document as entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxduel.errors import unknown_name
from jaxduel.experiments.sweep.entries import PROBLEM_KEYS, PolicyEntry, ProblemEntry
from jaxduel.experiments.sweep.values import GridError, located


def policies_of(document: Mapping[str, Any]) -> tuple[PolicyEntry, ...]:
    """The policies of a document.

    Raises:
      GridError: for an error in a table, with the table's number.
    """
    has_batches = document.get("batches") not in (None, [])
    return _entries(document, "policies", lambda table: _policy_entries(table, has_batches))


def problems_of(
    document: Mapping[str, Any], folder: str | os.PathLike[str] | None
) -> tuple[ProblemEntry, ...]:
    """The problems of a document; paths are relative to a folder, the current one if None.

    Raises:
      GridError: for an error in a table, with the table's number.
    """
    return _entries(document, "problems", lambda table: _problem_entries(table, folder))


def one_table(table: str) -> GridError:
    """An error for a single table, [policies], where a list of them is needed."""
    return GridError(
        f"[{table}] is a single table: write [[{table}]], in double brackets, above each entry.",
        table,
    )


def _entries(
    document: Mapping[str, Any], table: str, made: Callable[[dict[str, Any]], list[Any]]
) -> tuple[Any, ...]:
    """The entries of a table; errors say which one they are about."""
    tables = document[table]
    if isinstance(tables, dict):
        raise one_table(table)
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise GridError(f"{table} must be tables, each under a line [[{table}]].", table)
    entries = []
    for number, one in enumerate(tables):
        try:
            entries += made(dict(one))
        except GridError as error:
            raise GridError(str(error), error.key, table, number) from None
    return tuple(entries)


def _policy_entries(table: dict[str, Any], has_batches: bool) -> list[PolicyEntry]:
    name = table.pop("name", None)
    if name is None and table:
        key = next(iter(table))
        raise located(unknown_name("key of a policy without a name", key, ["name"]), key)
    if name is None:
        raise GridError("a policy needs a name.", "name")
    if isinstance(name, list) and table:
        key = next(iter(table))
        raise GridError(
            f"a list of policies takes no parameters, such as {key}: "
            "give each policy an entry of its own.",
            key,
        )
    names = _names(name) if isinstance(name, list) else [name]
    entries = [PolicyEntry(one, table) for one in names]
    for entry in entries:
        entry.require_parameters(has_batches)
    return entries


def _problem_entries(
    table: dict[str, Any], folder: str | os.PathLike[str] | None
) -> list[ProblemEntry]:
    given = {key: table.pop(key) for key in PROBLEM_KEYS if key in table}
    if isinstance(given.get("file"), str):
        given["file"] = Path(folder or "") / os.path.expanduser(given["file"])
    if isinstance(given.get("name"), list):
        names = _names(given.pop("name"))
        return [ProblemEntry(name=name, parameters=table, **given) for name in names]
    return [ProblemEntry(parameters=table, **given)]


def _names(names: list[Any]) -> list[Any]:
    if not names:
        raise GridError("name is an empty list: it needs at least one.", "name")
    return names
