"""Counts the house: lines, files, circles of imports, modules with one importer, names of curves.

python -m tests.house [--list]

A package's `__init__` re-exports: an import from it counts as one of the module that defines the
name, and its own imports count for no importer. `--list` names the modules with one importer.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import jaxduel

PACKAGE = Path(jaxduel.__file__).parent
FILES = {
    ".".join(("jaxduel", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
"""The files by their modules' names; those of packages end in `.__init__`."""
ALLOWED = {
    frozenset(f"jaxduel.policies.{name}" for name in circle)
    for circle in (("rmed.forced", "rmed.rmed2", "rmed.rmed2fh"),)
}
"""Circles that stay: what policies share names their fields by types alone."""
CURVES = {"Curve", "SweepCurve", "Sample", "Line", "PlannedCurves", "Recorded", "Seeds", "Runs"}
"""Classes that hold a curve of regret, between the simulator and a figure."""
WORDS = {
    *("Place", "DataSet", "Draw", "Entry", "Plan", "Curve", "Sample", "SweepCurve", "Line"),
    *("Chart", "Seen", "Instances", "Wanted"),
}
"""Classes for what a study wants, and for what it gets."""
FRONT_DOOR = "jaxduel.__init__"
ROOMS = ("runs", "simulation", "plotting", "studies")


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(FILES[module].read_text())


def file_of(name: str) -> str | None:
    """The module of a dotted name, if it is one."""
    return next((n for n in (name, f"{name}.__init__") if n in FILES), None)


def imports(module: str) -> Iterator[tuple[str, str | None]]:
    """The modules that a module imports anywhere in it, lazily and for types too, each with the
    name that it takes from it, or None for the module itself."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(str(node.module), alias.name) for alias in node.names]
        else:
            continue
        for name, taken in names:
            inner = file_of(f"{name}.{taken}") if taken else None
            found = inner or file_of(name)
            if found:
                yield found, None if inner else taken


def defining(module: str, name: str | None) -> str:
    """The module that defines a name: a package's `__init__` has it from another."""
    if name and module.endswith(".__init__"):
        for other, taken in imports(module):
            if taken == name:
                return defining(other, name)
    return module


def edges() -> dict[str, set[str]]:
    """By module those that it imports names from; the package's front door, lazy, is left out."""
    return {
        module: {defining(*pair) for pair in imports(module)} - {module, FRONT_DOOR}
        for module in FILES
        if module != FRONT_DOOR
    }


def circles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """The largest sets of modules of which each leads to all others."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        reach[start], todo = set(), [start]
        while todo:
            new = graph[todo.pop()] - reach[start]
            reach[start] |= new
            todo += new
    found = {frozenset({o for o in reach[m] if m in reach[o]}) for m in graph if m in reach[m]}
    return sorted(found, key=len, reverse=True)


def single(graph: dict[str, set[str]]) -> dict[str, str]:
    """Modules with one importer, each with that, without policies, papers and facades."""
    importers: dict[str, list[str]] = {module: [] for module in graph}
    for module, others in graph.items():
        for other in others:
            if not module.endswith(".__init__"):
                importers[other].append(module)
    left_out = ("jaxduel.policies.", "jaxduel.studies.papers.")
    return {
        module: some[0]
        for module, some in importers.items()
        if len(some) == 1 and not module.startswith(left_out) and "__" not in module
    }


def classes(names: set[str]) -> list[str]:
    """Classes of some names in the rooms between the simulator and a page."""
    return [
        f"{module}.{node.name}"
        for module in FILES
        if module.split(".")[1] in ROOMS
        for node in tree(module).body
        if isinstance(node, ast.ClassDef) and node.name in names
    ]


def main(arguments: Sequence[str]) -> int:
    """Prints the table; with `--list` the modules with one importer too."""
    graph = edges()
    lines = sum(path.read_text().count("\n") for path in FILES.values())
    found, alone = circles(graph), single(graph)
    print(f"lines {lines:,} in {len(FILES)} files")
    print(f"circles {len(found)}, {sum(circle in ALLOWED for circle in found)} of them allowed")
    for circle in found:
        print(f"  {len(circle)}: {', '.join(sorted(circle)[:6])}")
    print(f"modules with one importer {len(alone)}")
    if "--list" in arguments:
        for module, importer in alone.items():
            print(f"  {module} <- {importer}")
    print(f"representations of a curve of regret {len(classes(CURVES))}")
    print(f"names for what a study wants and gets {len(classes(WORDS))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
