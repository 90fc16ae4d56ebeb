"""Figures: regret against time, with bands, at the width of a column.

The only module that imports matplotlib. It never touches pyplot, so it opens no window and keeps
no global figure; drawing the same curves gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator

from jaxduel.errors import InputError
from jaxduel.simulation import Result
from jaxduel.simulation.intervals import interval95

COLUMN_WIDTH = 3.3
"""Inches: one column of a two-column paper."""
PAGE_WIDTH = 6.75
"""Inches: both columns."""
FONT_SIZE = 7.5
"""Points, for all text but panel titles, which are larger."""
DPI = 300

_LONG_LABEL = 8
"""Characters: of longer labels only two fit side by side in a column."""

Scale = Literal["linear", "log"]


class Style(NamedTuple):
    """How a policy looks, in every figure of every paper."""

    color: str
    line: str | tuple[float, tuple[float, ...]]  # a matplotlib line style
    marker: str


_DASH_DOT_DOT = (0.0, (4.0, 1.2, 1.0, 1.2, 1.0, 1.2))
_LONG_DASH = (0.0, (7.0, 2.0))

STYLES = {
    # batched elimination: blues
    "scomp2": Style("#0072B2", "-", "o"),
    "scomp2[num_batches=8]": Style("#4C97C9", "--", "s"),
    "scomp2[num_batches=2]": Style("#8DA0CB", "-.", "^"),
    "scomp": Style("#56B4E9", "--", "s"),
    "pcomp": Style("#332288", "-.", "^"),
    "base": Style("#004466", "-", "h"),
    # minimum empirical divergence: reds
    "rmed1": Style("#D55E00", "-", "D"),
    "rmed2": Style("#882255", "--", "P"),
    "rmed2fh": Style("#CC6677", "-.", "X"),
    "cw-rmed": Style("#F28E6D", ":", "d"),
    "ecw-rmed": Style("#7A2E00", _LONG_DASH, "p"),
    # confidence bounds: greens
    "rucb": Style("#009E73", "--", "v"),
    "rcs": Style("#66C2A5", "-.", "<"),
    "ccb": Style("#117733", ":", ">"),
    "scb": Style("#999933", _LONG_DASH, "8"),
    "ucb1": Style("#44AA99", "--", "H"),
    # posterior sampling: purples
    "dts": Style("#AA3377", "-", "*"),
    "dts+": Style("#CC79A7", "--", "P"),
    "pure-dts": Style("#6A3D9A", "-.", "X"),
    # explore, then exploit: yellows, browns
    "btm": Style("#E69F00", "-.", "s"),
    "interleaved-filter": Style("#8C6D31", "--", "^"),
    "etc": Style("#C9B400", ":", "D"),
    # the rest: greys
    "savage": Style("#777777", ":", "o"),
    "sparring": Style("#444444", _DASH_DOT_DOT, "v"),
    "multisbm": Style("#AAAAAA", _LONG_DASH, "<"),
    "pbr": Style("#111111", ":", ">"),
}
"""Colour, line and marker by policy (a variant of one has its parameters in brackets)."""

_MARKER_SIZES = {"*": 6.0, "P": 4.4, "X": 4.4, "<": 4.0, ">": 4.0, "^": 3.8, "v": 3.8, ".": 5.0}
"""Points, where the usual size would look smaller than the others."""

_OTHERS = ("#3B3B98", "#B33771", "#218C74", "#CD6133", "#57606F", "#B8A300")

REGRET_LABELS = {
    "average": r"regret $R(t)=\sum\,(\epsilon_i+\epsilon_j)/2$",
    "copeland": "Copeland regret $R(t)$, normalised",
    "borda": "Borda regret $R(t)$",
    "weak": r"weak regret $R(t)=\sum\,\min(\epsilon_i,\epsilon_j)$",
}
"""Labels of the vertical axis, by definition of regret; cumulative, in units of the gap."""


def style_of(name: str) -> Style:
    """The style of a policy; one that is not in `STYLES` has a style that its name determines."""
    if name in STYLES:
        return STYLES[name]
    number = sum(name.encode())
    return Style(_OTHERS[number % len(_OTHERS)], _LONG_DASH, ".")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One policy's regret against time.

    Attributes:
      name: which policy; it decides on the style.
      label: what the legend says.
      times: (M,) comparisons made.
      mean, sem, std, median, q25, q75, lower95, upper95: (M,) over seeds, in units of the gap.
      num_seeds: how many seeds.
    """

    name: str
    label: str
    times: np.ndarray
    mean: np.ndarray
    sem: np.ndarray
    std: np.ndarray
    median: np.ndarray
    q25: np.ndarray
    q75: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    num_seeds: int

    @classmethod
    def from_result(cls, result: Result, label: str | None = None) -> Curve:
        """The curve of a simulation, with a Student t interval of the mean over its seeds."""
        q25, median, q75 = result.quantile(np.array([0.25, 0.5, 0.75]))
        lower, upper = interval95(result.mean, result.sem, result.num_seeds)
        return cls(
            name=result.policy,
            label=label or result.policy.upper(),
            times=result.checkpoints,
            mean=result.mean,
            sem=result.sem,
            std=result.std,
            median=median,
            q25=q25,
            q75=q75,
            lower95=lower,
            upper95=upper,
            num_seeds=result.num_seeds,
        )


@dataclass(frozen=True)
class Reference:
    """A line to compare with, such as a lower bound: a level, or one value per time."""

    label: str
    values: float | np.ndarray  # () or (M,)
    times: np.ndarray | None = None  # (M,), where there is more than one value


@dataclass(frozen=True)
class Panel:
    """One set of axes: curves, lines to compare with, and the scales."""

    curves: Sequence[Curve]
    title: str = ""
    references: Sequence[Reference] = ()
    definition: str = "average"
    time_scale: Scale = "linear"
    regret_scale: Scale = "log"


def regret_figure(panels: Sequence[Panel]) -> Figure:
    """A figure with one panel at column width, or several, two in a row, at page width.

    There is one legend, outside the axes, for all panels: a policy looks the same in each.

    Raises:
      InputError: if there is no panel, or one without curves.
    """
    if not panels or not all(panel.curves for panel in panels):
        raise InputError("a figure needs at least one panel, and a panel at least one curve.")
    alone = len(panels) == 1
    columns, rows = (1, 1) if alone else (2, -(-len(panels) // 2))
    size = (COLUMN_WIDTH, 2.75) if alone else (PAGE_WIDTH, 0.55 + 2.2 * rows)
    with _settings():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            draw(axes, panel)
        for axes in grid[len(panels) :]:
            axes.remove()
        if not alone:
            for position, axes in enumerate(grid[: len(panels)]):
                axes.set_xlabel(axes.get_xlabel() if position >= len(panels) - columns else "")
                axes.set_ylabel(axes.get_ylabel() if position % columns == 0 else "")
        handles: dict[str, Artist] = {}
        for axes in grid[: len(panels)]:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside upper center",
            ncols=min(len(handles), _legend_columns(alone, list(handles))),
            frameon=False,
            handlelength=3.2,
            columnspacing=1.2,
        )
        figure.draw_without_rendering()
    return figure


def _legend_columns(alone: bool, labels: Sequence[str]) -> int:
    """How many entries of a legend fit side by side: two where labels are long in one column."""
    if not alone:
        return 6
    return 3 if max(map(len, labels)) <= _LONG_LABEL else 2


def draw(axes: Axes, panel: Panel) -> None:
    """Draws a panel: means, 95 % bands, and lines to compare with."""
    floor = _floor(panel)
    for position, curve in enumerate(panel.curves):
        color, line, marker = style_of(curve.name)
        axes.plot(
            curve.times,
            curve.mean,
            color=color,
            linestyle=line,
            linewidth=1.2,
            marker=marker,
            markersize=_MARKER_SIZES.get(marker, 3.4),
            markeredgewidth=0.35,
            markeredgecolor="white",
            markevery=(0.03 + 0.03 * (position % 6), 0.19),
            label=curve.label,
            zorder=3 + 0.01 * position,
        )
        if np.isfinite(curve.lower95).any():
            lower, upper = np.maximum(curve.lower95, floor), np.maximum(curve.upper95, floor)
            axes.fill_between(curve.times, lower, upper, color=color, alpha=0.13, linewidth=0)
    for reference in panel.references:
        look = {"color": "black", "linestyle": (0, (1, 1.5)), "linewidth": 1.0}
        if reference.times is None:
            axes.axhline(float(reference.values), label=reference.label, **look)  # type: ignore[arg-type]
        else:
            axes.plot(reference.times, reference.values, label=reference.label, **look)  # type: ignore[arg-type]
    _scale(axes, panel, floor)
    axes.set_title(panel.title, fontsize=FONT_SIZE + 0.5)
    axes.set_ylabel(REGRET_LABELS.get(panel.definition, f"{panel.definition} regret $R(t)$"))
    axes.grid(True, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _floor(panel: Panel) -> float:
    """Where a logarithmic axis of regret begins: below every line at an early time."""
    if panel.regret_scale == "linear":
        return 0.0
    end = max(int(curve.times[-1]) for curve in panel.curves)
    early = end / 100 if panel.time_scale == "linear" else end ** (1 / 3)
    values = [np.interp(early, curve.times, curve.mean) for curve in panel.curves]
    for line in panel.references:
        level = line.values if line.times is None else np.interp(early, line.times, line.values)
        values.append(np.float64(level))
    positive = [value for value in values if value > 0]
    return 0.6 * float(min(positive)) if positive else 1e-3


def _scale(axes: Axes, panel: Panel, floor: float) -> None:
    end = max(int(curve.times[-1]) for curve in panel.curves)
    axes.set_yscale(panel.regret_scale)
    axes.set_ylim(bottom=floor)
    if panel.regret_scale == "log":
        axes.yaxis.set_major_formatter(LogFormatterSciNotation())
        axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.set_xscale(panel.time_scale)
    if panel.time_scale == "log":
        axes.set_xlim(min(int(curve.times[0]) for curve in panel.curves), end)
        axes.set_xlabel("comparisons $t$")
        return
    unit, word = next(
        (size, word) for size, word in ((1e6, "millions"), (1e3, "thousands"), (1, ""))
        if end >= 10 * size or size == 1
    )  # fmt: skip
    axes.set_xlim(0, end)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{t / unit:g}"))
    axes.set_xlabel(f"comparisons $t$ ({word})" if word else "comparisons $t$")


@contextmanager
def _settings() -> Iterator[None]:
    """Fonts and lines, for the time of a drawing."""
    chosen = {
        "font.family": "DejaVu Sans",
        "font.size": FONT_SIZE,
        "axes.labelsize": FONT_SIZE,
        "axes.linewidth": 0.6,
        "xtick.labelsize": FONT_SIZE,
        "ytick.labelsize": FONT_SIZE,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "ytick.minor.width": 0.4,
        "legend.fontsize": FONT_SIZE,
        "pdf.fonttype": 42,
        "svg.hashsalt": "jaxduel",
    }
    with mpl.rc_context(chosen):  # type: ignore[arg-type]
        yield


def png(figure: Figure, dpi: int = DPI) -> bytes:
    """The figure as a PNG file, without a date."""
    return _rendered(figure, "png", {"Software": None}, dpi)


def pdf(figure: Figure) -> bytes:
    """The figure as a PDF file with embedded fonts, without a date."""
    nothing: dict[str, None] = dict.fromkeys(("Creator", "Producer", "CreationDate"))
    return _rendered(figure, "pdf", nothing, DPI)


def _rendered(figure: Figure, kind: str, metadata: dict[str, None], dpi: int) -> bytes:
    file = io.BytesIO()
    with _settings():
        figure.savefig(file, format=kind, metadata=metadata, dpi=dpi)  # type: ignore[arg-type]
    return file.getvalue()


COLUMNS = ("mean", "sem", "std", "median", "q25", "q75", "lower95", "upper95")
"""What the table of a curve has beside its policy, t and number of seeds."""


def table(curves: Sequence[Curve]) -> str:
    """The numbers of curves as CSV: one line per policy and time, floats to the last bit."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["policy", "t", *COLUMNS, "num_seeds"])
    for curve in curves:
        for at, time in enumerate(curve.times):
            numbers = [repr(float(getattr(curve, column)[at])) for column in COLUMNS]
            writer.writerow([curve.name, int(time), *numbers, curve.num_seeds])
    return file.getvalue()
