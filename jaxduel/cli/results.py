"""The commands `jaxduel show`, `plot` and `export` on files of `jaxduel run --out`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jaxduel.cli.lines import write


def show_result(path: Path) -> int:
    """Prints the summary that `jaxduel run` printed, and the command and versions behind it."""
    from jaxduel.simulation import load_result

    result = load_result(path)
    write(*result.summary())
    made = result.made_by
    versions = ", ".join(f"{name} {found}" for name, found in made.get("versions", {}).items())
    write(f"made by: {made.get('command') or 'a script'}")
    code, lanes = (made.get(name, "unknown") for name in ("code", "lanes"))
    write(f"with {versions or 'unknown versions'}; code {code}, seed {result.seed}, {lanes} lanes")
    return 0


def plot_results(paths: Sequence[Path], out: Path | None) -> int:
    """Draws the results of files in one figure, and prints the paths it is written to."""
    from jaxduel.files import csv_text
    from jaxduel.runs import STATISTICS
    from jaxduel.simulation import load_result
    from jaxduel.simulation.figures import figure_lines, results_figure
    from jaxduel.studies.output import OutputFolder, named_after

    results = [load_result(path) for path in paths]
    apart = len({path.parent for path in paths}) > 1
    names = [str(path.with_suffix("")) if apart else path.stem for path in paths]
    name = named_after(f"curves-{','.join(names)}")
    folder = OutputFolder(paths[0].parent if out is None else out)
    rows = []
    for path, one, line in zip(paths, results, figure_lines(results), strict=True):
        told = str(path), one.problem, one.definition, one.horizon, line.label, line.name
        rows += [(*told, *row) for row in one.runs.rows()]
    first = ("file", "problem", "definition", "horizon", "label", "policy", "t")
    numbers = csv_text([*first, *STATISTICS, "num_seeds"], rows)
    write(*folder.write_figure(name, results_figure(results), numbers))
    return 0
