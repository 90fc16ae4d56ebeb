"""The command `jaxduel report`."""

from __future__ import annotations

from pathlib import Path

from tyro.conf import Positional

from jaxduel.cli.options import MaybeFolder


def report(folder: Positional[Path], out: MaybeFolder = None) -> int:
    """Write a page of a sweep, or of papers: one HTML file.

    The page, index.html, needs no network.

    Args:
      folder: a sweep's folder, finished or not; or one that `jaxduel reproduce` wrote.
      out: folder for the page; if left out DIR/report of a sweep DIR, and the folder itself of
        papers.
    """
    from jaxduel.experiments.report.folders import write_report

    print(write_report(folder, out))
    return 0
