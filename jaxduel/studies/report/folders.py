"""The page of a folder that holds a sweep, a paper, or all papers."""

from __future__ import annotations

import os
from pathlib import Path

from jaxduel.errors import InputError, shorten
from jaxduel.studies.engine import manifest
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.report.records import FILE


def write_report(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Writes the page, `index.html`, of a sweep, finished or not, or of papers.

    Args:
      folder: a sweep's folder; or one that `jaxduel reproduce` wrote, for a paper or for all.
      out: folder for the page; if None the folder itself, and its subfolder `report` for a sweep.

    Returns:
      The path of the page.

    Raises:
      InputError: if the folder holds neither, or the page cannot be written.

    Example:
      >>> from jaxduel.studies.report.folders import write_report
      >>> from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
      >>> rucb, cyclic = PolicyEntry("rucb"), ProblemEntry(name="cyclic")
      >>> grid = Grid(policies=rucb, problems=cyclic, horizons=1000, num_seeds=4)
      >>> outcome = run_sweep(grid, "results")
      >>> write_report("results").as_posix()
      'results/report/index.html'
    """
    folder = Path(folder)
    if (folder / manifest.FILE).is_file():
        from jaxduel.studies.report.sweeps import sweep_page

        place = OutputFolder(folder / "report" if out is None else out)
        return sweep_page(folder, place).write(place)
    from jaxduel.studies.papers.pages import read_page

    page = read_page(folder) if folder.is_dir() else None
    if page is None:
        said = shorten(str(folder), 300)
        raise InputError(
            f"'{said}' holds neither a sweep ({manifest.FILE}) nor reproduced papers ({FILE}): "
            "give the folder of jaxduel sweep --out, or of jaxduel reproduce --out."
        )
    return page.write(OutputFolder(folder if out is None else out))
