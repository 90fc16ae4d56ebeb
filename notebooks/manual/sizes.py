"""Notebooks in the sizes of `small.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

import jupytext
import nbformat

NOTEBOOKS = Path(__file__).parents[1]
SMALL = tomllib.loads((NOTEBOOKS / "small.toml").read_text())
"""Constants of each notebook's parameters cell that are set anew."""
_NOTE = """```{note}
This page is made with small sizes, so that it builds in seconds: the cell below sets them. The text
is that of the sizes above, which take minutes.
```"""


def in_small(name: str, text: str) -> str:
    """The text of a notebook, with one more cell after that of the parameters."""
    notebook = jupytext.reads(text, fmt="py:percent")
    notebook = with_sizes(notebook, SMALL[name], _NOTE)
    return jupytext.writes(notebook, fmt="py:percent")


def with_note(text: str, note: str) -> str:
    """The text of a notebook, with a note after its title."""
    notebook = jupytext.reads(text, fmt="py:percent")
    title, _, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = f"{title}\n\n{note}\n{rest}"
    return jupytext.writes(notebook, fmt="py:percent")


def with_sizes(
    notebook: nbformat.NotebookNode, sizes: dict[str, object], note: str = ""
) -> nbformat.NotebookNode:
    """A notebook with a cell that sets some parameters, after that of the parameters."""
    (position,) = (at for at, cell in enumerate(notebook.cells) if is_parameters(cell))
    source = "\n".join(f"{name} = {value!r}" for name, value in sizes.items())
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["injected-parameters"]})
    cells = [nbformat.v4.new_markdown_cell(note), cell] if note else [cell]
    notebook.cells[position + 1 : position + 1] = cells
    return notebook


def is_parameters(cell: nbformat.NotebookNode) -> bool:
    """Whether it is the cell of the parameters."""
    return "parameters" in cell.metadata.get("tags", [])
