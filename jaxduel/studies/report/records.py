"""Records of a page: sections, figures, tables and claims, kept as JSON beside the figures.

A section is a paper or a sweep. Records name pictures; `jaxduel.studies.report.page` embeds the
files. A record may come from anybody. Fields that a browser does not show as text (styles, names of
files, anchors), and commands, which readers copy, are therefore refused with a ValueError unless
jaxduel could have written them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from jaxduel.errors import InputError
from jaxduel.files import read_whole, why

FILE = "report.json"
"""The file of a section in the folder of its figures."""
MOST_BYTES = 2**28
"""Largest size of the file that is read."""

Numbers = tuple[float | None, ...]
"""Numbers of a curve; None where a number is missing."""

_COLOR = re.compile("#[0-9a-fA-F]{6}|currentcolor")
_LENGTH = r"\d{1,4}(\.\d{1,4})?px"
_DASH = re.compile(f"solid|dash|dot|dashdot|longdashdot|{_LENGTH}(,{_LENGTH}){{0,15}}")
_ANCHOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_PICTURE = re.compile(r"(?!\.)[^/\\]+\.png")
_FILE = re.compile(r"(?!\.)[^/\\]+\.(png|pdf|csv)")
_WORD = r"(?:[A-Za-z0-9_@%+=:,./-]|'[^']*'|\"'\")+"
_SHELL = f"jaxduel (?:plot|report|reproduce)(?: {_WORD})*"
_PYTHON = r"jaxduel\.reproduce\('[a-z-]+', [a-z_]+=[\w',. =-]+\)"
_COMMAND = re.compile(f"{_SHELL}|{_PYTHON}")
_VERDICT = re.compile("confirmed|undecided|not confirmed|not measured")


@dataclass(frozen=True)
class Line:
    """A curve, or a reference line.

    Attributes:
      label: text in the legend.
      color, dash: the style, as in CSS and in Plotly.
      x, y: its points.
      lower, upper: ends of 95 % intervals; empty where there are none.
      points: whether it is drawn as points with error bars; a single point always is.
      reference: whether it is computed, not simulated.
    """

    label: str
    color: str
    dash: str
    x: Numbers
    y: Numbers
    lower: Numbers = ()
    upper: Numbers = ()
    points: bool = False
    reference: bool = False

    def __post_init__(self) -> None:
        _require("colour", self.color, _COLOR)
        _require("dash", self.dash, _DASH)
        if {len(self.x), len(self.y), len(self.lower or self.x), len(self.upper or self.x)} != {
            len(self.x)
        }:
            raise ValueError("numbers of a curve are not equally many")
        numbers = (*self.x, *self.y, *self.lower, *self.upper)
        if not all(value is None or math.isfinite(value) for value in numbers):
            raise ValueError("a number of a curve is not finite")


@dataclass(frozen=True)
class Chart:
    """Lines in one set of axes.

    Attributes:
      across, up: labels of the axes.
      across_log, up_log: whether the axes are logarithmic.
      low, high: ends of the vertical axis.
      lines: the lines, in the order of the legend.
    """

    across: str
    up: str
    across_log: bool
    up_log: bool
    low: float | None
    high: float | None
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Table:
    """A table: its caption, column heads, and rows, each headed by its first entry."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
      name: such as "1a"; unique in its section.
      title: its heading.
      caption: the content.
      alt: the text alternative of the picture.
      command: the command that makes the figure again; "" if there is none.
      picture: name of its PNG file; "" if it was not made.
      files: names of further files with the same content.
      chart: its curves, if any.
      table: its numbers.
      lines: further numbers as lines of text.
      missing: the reason why it was not made; "" if it was.
    """

    name: str
    title: str
    caption: str = ""
    alt: str = ""
    command: str = ""
    picture: str = ""
    files: tuple[str, ...] = ()
    chart: Chart | None = None
    table: Table | None = None
    lines: tuple[str, ...] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        _require("name", self.name, _ANCHOR)
        _require_command(self.command)
        if self.picture:
            _require("picture", self.picture, _PICTURE)
        for name in self.files:
            _require("file", name, _FILE)


@dataclass(frozen=True)
class Measured:
    """A number that bears on a claim: data set, quantity, value with interval, and verdict."""

    where: str
    what: str
    value: str
    verdict: str


@dataclass(frozen=True)
class Earlier:
    """A verdict from an earlier call with another order, and the command of that order."""

    command: str
    verdict: str

    def __post_init__(self) -> None:
        _require("command", self.command, _COMMAND)
        _require("verdict", self.verdict, _VERDICT)


@dataclass(frozen=True)
class ClaimRow:
    """A claim of a paper: its place, words, criterion, verdict, reasons, numbers, the verdicts of
    earlier calls in the same folder, the latest first, and where it holds over what the paper
    leaves open, a sentence for each choice."""

    place: str
    quote: str
    criterion: str
    verdict: str
    why: str
    measured: tuple[Measured, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def claim(self) -> tuple[str, str, str]:
        """Place, quote and criterion, which identify a claim."""
        return self.place, self.quote, self.criterion

    @property
    def differs(self) -> bool:
        """Whether it is not confirmed, by its order or an earlier one."""
        return "not confirmed" in (self.verdict, *(each.verdict for each in self.earlier))


@dataclass(frozen=True)
class Section:
    """A paper or a sweep.

    Attributes:
      name: its name on the command line.
      title: its heading.
      order: everything except the code that determines its numbers, as options of the command.
      facts: names and texts, such as the run time.
      notes: sentences.
      claims: claims of a paper.
      tables: tables about the whole section.
      figures: the figures.
      seconds: total seconds of the calls that simulated it.
      seconds_known: False if an earlier call was killed: the true total is larger.
      blocks: number of blocks simulated in `seconds`.
      missing: the reason why parts, or all, are missing; "" if complete.
    """

    name: str
    title: str
    order: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    claims: tuple[ClaimRow, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    seconds: float = 0.0
    seconds_known: bool = True
    blocks: int = 0
    missing: str = ""

    def __post_init__(self) -> None:
        _require("name", self.name, _ANCHOR)
        for command in (self.order, *(text for name, text in self.facts if name == "command")):
            _require_command(command)


def _require(what: str, text: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(text):
        raise ValueError(f"{text!r} is no {what} of a page")


def _require_command(text: str) -> None:
    """Raises ValueError unless a command is one that makes a figure or a page of jaxduel again, in
    Python or quoted for a shell."""
    if text:
        _require("command", text, _COMMAND)


def encoded(section: Section) -> bytes:
    """A section as JSON."""
    from pydantic import TypeAdapter

    return TypeAdapter(Section).dump_json(section, indent=None)


def read_section(folder: Path) -> Section | None:
    """The section in a folder; None if the folder has no file of a section.

    Raises:
      InputError: if the file cannot be read, or is not of this version.
    """
    from pydantic import TypeAdapter, ValidationError

    path = folder / FILE
    try:
        return TypeAdapter(Section).validate_json(read_whole(path, MOST_BYTES), strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {why(error)}.") from None
    except ValidationError:
        raise InputError(
            f"'{path}' is damaged, or of another version: make the figures again."
        ) from None


def earlier_section(folder: Path) -> Section | None:
    """The section of an earlier call in a folder; None if there is none, or none that can be
    read."""
    try:
        return read_section(folder)
    except InputError:
        return None
