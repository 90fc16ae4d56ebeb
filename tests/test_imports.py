"""Imports: from floors below, never in a circle, and nothing heavy before it is used."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import jaxduel

PACKAGE = Path(jaxduel.__file__).parent
FLOORS = (
    ("equality", "errors", "netcdf", "pytrees"),
    ("screen",),
    ("interrupts", "progress", "arguments"),
    ("files", "display"),
    ("numerics", "stats"),
    ("runs",),
    ("problems",),
    ("policies",),
    ("plotting",),
    ("simulation",),
    ("theory",),
    ("gradients",),
    ("votes",),
    ("studies",),
    ("cli",),
    ("__main__",),
)
"""The rooms, ground floor first."""
HEAVY = {
    *("scipy", "matplotlib", "xarray", "pandas", "h5netcdf", "h5py", "optax", "pydantic", "dask"),
    *("distributed", "pooch", "chex", "tyro", "plotly", "jinja2"),
}
FILES = {
    ".".join(("jaxduel", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in PACKAGE.rglob("*.py")
}
"""The package's modules by name."""


def statements(body):
    """What runs when a module is imported, without what only type checkers read."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, part, []))


def imported(module):
    """The modules of the package that a module imports when it is itself imported.

    Python imports `a.b` before `a.b.c`; the packages that the module is in are then under way.
    """
    found = set()
    for node in statements(ast.parse(FILES[module].read_text()).body):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in FILES else str(node.module) for name in names]
        for name in names:
            parts = name.split(".")
            parents = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
            found |= {each for each in parents if not f"{module}.".startswith(f"{each}.")}
    return found & set(FILES)


def test_no_import_is_in_a_circle():
    TopologicalSorter({module: imported(module) for module in FILES}).prepare()


def test_rooms_import_from_floors_below():
    floor = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
    assert {module.split(".")[1] for module in FILES if module != "jaxduel"} == set(floor)
    assert not imported("jaxduel")
    for module in FILES.keys() - {"jaxduel"}:
        for other in imported(module) - {"jaxduel"}:
            own, below = module.split(".")[1], other.split(".")[1]
            assert own == below or floor[below] < floor[own], f"{module} imports {other}"


PROGRAM = """
import sys
{code}
print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""
COMMAND = """
from contextlib import suppress
from jaxduel.cli import main
with suppress(SystemExit):
    main({arguments})
"""


def loaded(code):
    """The packages that a process has loaded after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import jaxduel as jd; jd.simulate, jd.simulate_many, jd.policies.make, jd.problems.load",
        "import jaxduel as jd; jd.problems.load('arxiv'); jd.policies.make('dts', num_arms=6)",
        "import jaxduel.theory, jaxduel.gradients, jaxduel.votes",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code):
    found = loaded(code)
    assert "jax" in found
    assert not found & HEAVY


@pytest.mark.parametrize(
    "arguments", ["--version", "--help", "run --help", "sweep --help", "worst-case --help"]
)
def test_help_does_without_jax(arguments):
    assert not loaded(COMMAND.format(arguments=arguments.split())) & (
        HEAVY - {"tyro"} | {"jax", "numpy"}
    )


def test_lists_do_without_what_simulates():
    found = loaded(COMMAND.format(arguments=["list"]))
    assert not found & (HEAVY - {"tyro"})
