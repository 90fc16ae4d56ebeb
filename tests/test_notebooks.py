"""The notebooks run in the sizes that they are written with; in small sizes the manual's build runs
them.

All but the quick start end with checks of a finding, of as much of it as a size has.
"""

import ast

import jupytext
import pytest
from nbclient import NotebookClient

from notebooks.manual.sizes import NOTEBOOKS, SMALL, in_small, is_parameters

PATHS = sorted(NOTEBOOKS.glob("[0-9]*.py"))
QUICK_START = PATHS[0]
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


def test_the_quick_start_has_one_figure_and_checks_nothing():
    code = "\n".join(c.source for c in jupytext.read(QUICK_START).cells if c.cell_type == "code")
    assert code.count("display(") == 1
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("path", PATHS[1:], ids=[path.stem for path in PATHS[1:]])
def test_it_ends_with_a_finding_that_is_checked(path):
    cells = jupytext.read(path).cells
    titles = [cell.source.splitlines()[0] for cell in cells if cell.cell_type == "markdown"]
    assert titles[0].startswith("# ")
    assert titles[-1] == "## Finding"
    assert cells[-1].cell_type == "code"
    assert "assert " in cells[-1].source


@notebooks
def test_small_sizes_are_set_after_the_parameters(path):
    usual = jupytext.read(path).cells
    small = jupytext.reads(in_small(path.stem, path.read_text()), fmt="py:percent").cells
    (at,) = (number for number, cell in enumerate(usual) if is_parameters(cell))
    assert [cell.cell_type for cell in small[at : at + 3]] == ["code", "markdown", "code"]
    values = {}
    exec(small[at + 2].source, {}, values)
    assert values == SMALL[path.stem]
    del small[at + 1 : at + 3]
    assert [cell.source for cell in small] == [cell.source for cell in usual]


@pytest.mark.slow
@notebooks
def test_it_runs_as_written(path, tmp_path, request):
    skip_without_data(path, request)
    run(jupytext.read(path), tmp_path, timeout=3600)


def skip_without_data(path, request):
    if path.stem in WITH_DATA:
        request.getfixturevalue("data_folder")


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
