"""The page: sections rendered as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jaxduel
from jaxduel.errors import printable
from jaxduel.files import read_whole
from jaxduel.progress import duration
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.report.records import Chart, Figure, Section

NAME = "index.html"
VERDICTS = ("confirmed", "undecided", "not confirmed", "not measured")
_COLORS = 256
"""Colours of a picture: enough for figures of lines to look the same, in a third of the bytes."""
_LARGEST = 2**26
"""Most bytes of a picture's file."""


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
      title: its heading.
      lead: a sentence below it.
      sections: the sections, each with the folder of its pictures, or None.
      commands: names and commands, such as the command that makes the page again.
      style: name of a file of styles beside those of all pages; "" for none.
    """

    title: str
    lead: str
    sections: Sequence[tuple[Section, Path | None]]
    commands: Mapping[str, str]
    style: str = ""

    def write(self, folder: OutputFolder) -> Path:
        """Writes index.html into a folder, in one step.

        Returns:
          The path of the page.
        """
        return folder.write(NAME, self.html(folder.path))

    def html(self, folder: Path) -> str:
        """The page as text. Texts of sections are escaped, and a browser runs only the scripts
        named by their digests.

        Args:
          folder: the folder of the page; links to files are relative to it.
        """
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

        loader = PackageLoader("jaxduel.studies.report", ".")
        environment = Environment(
            loader=loader,
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_seen,
        )
        script, _, _ = loader.get_source(environment, "page.js")
        sections = [_shown(section, own, folder) for section, own in self.sections]
        plotly = ""
        if any(f["chart"] for section in sections for f in section["figures"]):
            from plotly.offline import get_plotlyjs

            plotly = get_plotlyjs()
        rows = [(s, claim) for s, _ in self.sections for claim in s.claims]
        return environment.get_template("page.html.jinja").render(
            title=self.title,
            lead=self.lead,
            version=jaxduel.__version__,
            commands=self.commands,
            style=self.style,
            sections=sections,
            claims=rows,
            counts=_counts(claim.verdict for _, claim in rows),
            differing=sum(claim.differs for _, claim in rows),
            verdicts=VERDICTS,
            plotly=Markup(plotly),
            script=Markup(script),
            allowed=_allowed(*filter(None, [script, plotly])),
        )


def _allowed(*scripts: str) -> str:
    """The content security policy of a page: these scripts, styles (Plotly sets styles of elements)
    and embedded pictures; nothing from elsewhere."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    named = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"style-src 'unsafe-inline'; script-src {named}"
    )


def _seen(value: Any) -> Any:
    """A text of the template, without invisible characters or ones that reverse its direction."""
    return printable(value) if type(value) is str else value


def _counts(verdicts: Iterable[str]) -> dict[str, int]:
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _shown(section: Section, own: Path | None, folder: Path) -> dict[str, Any]:
    """A section with its pictures embedded, and with values computed for the template."""
    place = "" if own is None else os.path.relpath(own, folder).replace(os.sep, "/")
    return {
        **vars(section),
        "figures": [_figure(figure, section.name, own, place) for figure in section.figures],
        "counts": _counts(claim.verdict for claim in section.claims),
        "made": sum(not figure.missing for figure in section.figures),
        "time": _time(section),
    }


def _time(section: Section) -> str:
    """The run time in the list of contents."""
    least = "" if section.seconds_known else "at least "
    return f"{least}{duration(section.seconds)}" if section.seconds else ""


def _figure(figure: Figure, section: str, own: Path | None, place: str) -> dict[str, Any]:
    """A figure with its picture, and links to existing files."""
    picture = _picture(own / figure.picture) if own and figure.picture else None
    links = [
        (name.rpartition(".")[2].upper(), quote(f"{place}/{name}" if place != "." else name))
        for name in (figure.picture, *figure.files)
        if own and name and (own / name).is_file()
    ]
    chart = None if figure.chart is None else _chart(figure.chart)
    return {**vars(figure), "id": f"{section}-{figure.name}", "image": picture, "links": links,
            "chart": chart}  # fmt: skip


def _chart(chart: Chart) -> dict[str, Any]:
    """A chart as plain values."""
    lines = tuple(replace(line, label=printable(line.label)) for line in chart.lines)
    across, up = printable(chart.across), printable(chart.up)
    return asdict(replace(chart, across=across, up=up, lines=lines))


def _picture(path: Path) -> dict[str, Any] | None:
    """A PNG file as a data URI with its width and height; None if it cannot be read, or is a link
    to another folder."""
    from PIL import Image

    file = io.BytesIO()
    try:
        if path.resolve().parent != path.parent.resolve():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(read_whole(path, _LARGEST)), formats=("PNG",)) as image:
                size = image.size
                colors = image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE)
                colors.save(file, "PNG", optimize=True)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, RuntimeWarning):
        return None  # no picture, or too large for one of ours
    content = base64.b64encode(file.getvalue()).decode()
    return {"uri": f"data:image/png;base64,{content}", "width": size[0], "height": size[1]}
