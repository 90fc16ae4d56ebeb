"""The notebooks run: in small sizes always, in the sizes that they are written with as slow tests.

Each ends with checks of its finding, of as much of it as a size has.
"""

import ast
import tomllib
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.py"))
SMALL = tomllib.loads((NOTEBOOKS / "small.toml").read_text())
LONG = ("2_a_policy_of_your_own", "3_worst_instances", "6_arena")
WITH_DATA = ("6_arena",)
"""Those that need files which the package does not ship."""

notebooks = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


@notebooks
def test_small_sizes_replace_constants_of_the_parameters_cell(path):
    cells = [cell for cell in jupytext.read(path).cells if is_parameters(cell)]
    assert [cell.cell_type for cell in cells] == ["code"]
    constants = {
        target.id
        for statement in ast.parse(cells[0].source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    assert set(SMALL[path.stem]) <= constants
    assert all(name.isupper() for name in constants)


def test_every_table_of_small_sizes_is_of_a_notebook():
    assert PATHS
    assert set(SMALL) == {path.stem for path in PATHS}


@notebooks
def test_it_ends_with_a_finding_that_is_checked(path):
    cells = jupytext.read(path).cells
    titles = [cell.source.splitlines()[0] for cell in cells if cell.cell_type == "markdown"]
    assert titles[0].startswith("# ")
    assert titles[-1] == "## Finding"
    assert cells[-1].cell_type == "code"
    assert "assert " in cells[-1].source


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) if path.stem in LONG else path for path in PATHS],
    ids=[path.stem for path in PATHS],
)
def test_it_runs(path, tmp_path, monkeypatch, request):
    """In its small sizes; programs are compiled with few optimisations, since they run briefly."""
    skip_without_data(path, request)
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    notebook = with_sizes(jupytext.read(path), SMALL[path.stem])
    run(notebook, tmp_path, timeout=900)


@pytest.mark.slow
@notebooks
def test_it_runs_as_written(path, tmp_path, request):
    skip_without_data(path, request)
    run(jupytext.read(path), tmp_path, timeout=3600)


def skip_without_data(path, request):
    if path.stem in WITH_DATA:
        request.getfixturevalue("data_folder")


def is_parameters(cell):
    return "parameters" in cell.metadata.get("tags", [])


def with_sizes(notebook, sizes):
    """A notebook with one more cell, after that of the parameters, that sets some of them."""
    (position,) = (at for at, cell in enumerate(notebook.cells) if is_parameters(cell))
    source = "\n".join(f"{name} = {value!r}" for name, value in sizes.items())
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(position + 1, cell)
    return notebook


def run(notebook, folder, timeout):
    """Runs all cells with this interpreter's kernel, warnings visible; a cell that raises, or
    warns, fails."""
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    streams = [output for cell in code for output in cell.outputs if output.get("name") == "stderr"]
    assert [output.text for output in streams if "Warning" in output.text] == []
