"""The public names of jaxduel, which the manual documents and which must have an example."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

ROOMS = (
    *("jaxduel", "jaxduel.problems", "jaxduel.policies", "jaxduel.theory"),
    *("jaxduel.gradients", "jaxduel.gradients.families", "jaxduel.votes"),
    *("jaxduel.studies.sweep", "jaxduel.plotting", "jaxduel.numerics", "jaxduel.stats"),
)
"""Packages and modules whose names users import."""
NEED_NO_EXAMPLE = {"AssumptionWarning", "InputError", "SolverError"}


def names(room: str) -> dict[str, Any]:
    """Functions and classes of a room, and its constants, by name."""
    module = import_module(room)
    found = {name: getattr(module, name) for name in dir(module) if name[0] != "_"}
    return {name: thing for name, thing in found.items() if _is_public(module, name, thing)}


def _is_public(module: ModuleType, name: str, thing: Any) -> bool:
    if not is_documented(thing):
        return name.isupper() or (name == "Problem")
    own = hasattr(module, "__path__") or thing.__module__ == module.__name__
    return own and thing.__module__.startswith("jaxduel")


def is_documented(thing: Any) -> bool:
    """Whether it is a function or a class, which have docstrings; constants have none."""
    return inspect.isroutine(thing) or inspect.isclass(thing)


def functions_and_classes() -> Iterator[tuple[str, str, Any]]:
    """Each function and class with its name and the first room that has it."""
    seen = set()
    for room in ROOMS:
        for name, thing in names(room).items():
            if is_documented(thing) and thing not in seen:
                seen.add(thing)
                yield room, name, thing


def examples(thing: Any) -> list[doctest.Example]:
    """The examples in its docstring."""
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def lacking() -> list[str]:
    """A sentence for each public function or class without a docstring or an example."""
    found = []
    for room, name, thing in functions_and_classes():
        if not inspect.getdoc(thing):
            found.append(f"{room}.{name} has no docstring.")
        elif name not in NEED_NO_EXAMPLE and not examples(thing):
            found.append(f"{room}.{name} has no example in its docstring.")
    return found
