"""Measurements at the papers' full sizes: verdicts on claims, and the numbers of curves, which the
manual draws.

Numbers are kept as text, an array a line, in the digits that a picture shows. Single runs, which
pictures show of fewer than five, are not kept: papers have more.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

import jaxduel as jd
from jaxduel import plotting
from jaxduel.plotting.line import Kind
from jaxduel.studies.report.records import Figure, Section, earlier_section, read_section

FILE = Path(__file__).with_name("verdicts-full.json")
"""By paper, what was `Kept`, by `python -m notebooks.manual.measure FOLDER --full`."""
_MOST_BYTES = 2_000_000
_FACTS = ("run time", "seed", "versions", "code", "device")
_DIGITS = 5
_DPI = 120
_SHARED = ("kind", "title", "across", "up", "across_scale", "up_scale", "top", "names", "about")
"""The attributes of `Curves` that are those of a `jaxduel.plotting.LinePanel`."""


@dataclass(frozen=True)
class Curve:
    """A curve, or a reference line.

    Attributes:
      name, label: as in `jaxduel.plotting.Line`.
      at, mean, lower, upper: its numbers, a space between each two. `at` is empty for the places of
        the curve before, and for a reference that is a level.
      separate: as in `jaxduel.plotting.Line`.
    """

    name: str
    label: str
    at: str
    mean: str
    lower: str = ""
    upper: str = ""
    separate: bool = False


@dataclass(frozen=True)
class Curves:
    """A panel of curves, with the attributes of a `jaxduel.plotting.LinePanel`."""

    kind: Kind
    title: str
    across: str
    up: str
    across_scale: plotting.Scale
    up_scale: plotting.Scale
    top: float | None
    about: str
    lines: tuple[Curve, ...]
    references: tuple[Curve, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kept:
    """What is kept of a paper: its section of a report, of whose figures only the words, and by
    name the panels with curves."""

    section: Section
    curves: dict[str, Curves]


_ALL = TypeAdapter(dict[str, Kept])


def kept() -> dict[str, Kept]:
    """What is kept of each paper that was measured at full size, by its name."""
    return _ALL.validate_json(FILE.read_bytes()) if FILE.exists() else {}


def measure(name: str, folder: Path) -> None:
    """Reproduces a paper at full size in a folder, and keeps what was measured. If the folder has a
    report, it is made again by its command from the runs that are there.

    Raises:
      ValueError: if the report in the folder is of another size, if not all was reproduced, or if
        the file would have more than `_MOST_BYTES`. The file is then left as it was.
    """
    made = earlier_section(folder)
    chosen = _options(made.order) if made else {"full": True}
    if "full" not in chosen:
        raise ValueError(f"'{folder}' has a report that was made without --full")
    report = jd.reproduce(name, out=folder, **chosen, until=datetime.now() if made else None)
    section = read_section(folder)
    if section is None or section.missing or not report.panels:
        raise ValueError(f"{name}: not all was reproduced")
    panels = {panel: written.content for panel, written in report.panels.items()}
    content = _ALL.dump_json(kept() | {name: of(section, panels)}, indent=1) + b"\n"
    if len(content) > _MOST_BYTES:
        raise ValueError(
            f"{FILE.name} would have {len(content):,} bytes with {name}: at most {_MOST_BYTES:,}"
        )
    FILE.write_bytes(content)


def _options(order: str) -> dict[str, Any]:
    """The options of a command, as arguments of `jd.reproduce`."""
    found: dict[str, Any] = {}
    for word, value in pairwise([*shlex.split(order), "--"]):
        if word.startswith("--"):
            number = int if value.isdecimal() else float
            found[word.removeprefix("--")] = True if value.startswith("--") else number(value)
    return found


def of(section: Section, panels: Mapping[str, Any]) -> Kept:
    """What is kept of a paper.

    Args:
      section: its section of a report.
      panels: the contents of its panels, by name.
    """
    curves = {
        name: curves_of(panel)
        for name, panel in panels.items()
        if isinstance(panel, plotting.LinePanel)
    }
    words = (Figure(f.name, f.title, f.caption, f.alt) for f in section.figures if f.name in curves)
    facts = tuple(fact for fact in section.facts if fact[0] in _FACTS)
    return Kept(replace(section, facts=facts, notes=(), figures=tuple(words)), curves)


def curves_of(panel: plotting.LinePanel) -> Curves:
    """What is kept of a panel."""
    lines, before = [], ""
    for line in panel.lines:
        at, mean, lower, upper = map(_text, (line.at, line.mean, line.lower95, line.upper95))
        places, before = "" if at == before else at, at
        lines.append(Curve(line.name, line.label, places, mean, lower, upper, line.separate))
    references = [
        Curve(line.name, line.label, "" if line.at is None else _text(line.at), _text(line.values))
        for line in panel.references
    ]
    shared = {name: getattr(panel, name) for name in _SHARED}
    return Curves(**shared, lines=tuple(lines), references=tuple(references))


def _text(values: np.ndarray | float) -> str:
    return " ".join(f"{value:.{_DIGITS}g}" for value in np.atleast_1d(values).tolist())


def _numbers(text: str) -> np.ndarray:
    return np.array(text.split(), np.float64)


def panel_of(curves: Curves) -> plotting.LinePanel:
    """The panel that `jaxduel.plotting` draws."""
    lines, at = [], np.empty(0)
    for curve in curves.lines:
        at = _numbers(curve.at) if curve.at else at
        mean, lower, upper = map(_numbers, (curve.mean, curve.lower, curve.upper))
        lines.append(
            plotting.Line(
                name=curve.name,
                label=curve.label,
                at=at,
                mean=mean,
                lower95=lower,
                upper95=upper,
                separate=curve.separate,
            )
        )
    references = [
        plotting.Reference(c.label, _numbers(c.mean), _numbers(c.at), c.name)
        if c.at
        else plotting.Reference(c.label, float(c.mean), name=c.name)
        for c in curves.references
    ]
    shared = {name: getattr(curves, name) for name in _SHARED}
    return plotting.LinePanel(**shared, lines=lines, references=references)


def draw(curves: Curves) -> bytes:
    """The picture of a panel, as a PNG file."""
    return plotting.png(plotting.draw([panel_of(curves)]), _DPI)
