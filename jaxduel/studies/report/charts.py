"""Panels for a page: charts of their lines, tables of their numbers, captions and alternative
texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_hex

from jaxduel import plotting
from jaxduel.display import counted, range_text
from jaxduel.plotting.styles import looks_in
from jaxduel.plotting.ticks import bottom
from jaxduel.runs import Runs
from jaxduel.studies.report.records import Chart, Line, Numbers, Table
from jaxduel.studies.report.words import capital, plain
from jaxduel.studies.tables import rounded, short

_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
_REFERENCES = (("currentcolor", "dot"), ("#888888", "dash"), ("#666666", "longdashdot"))
_DIGITS = 5
_MOST_NAMED = 3
"""Most curves that a text alternative names, from below."""


class Seen(NamedTuple):
    """A panel for a page.

    Attributes:
      what: the content, in words.
      alt: the text alternative.
      chart: the lines, if any.
      table: the numbers, if they are few.
    """

    what: str
    alt: str
    chart: Chart | None = None
    table: Table | None = None


def seen(content: Any, runs: Sequence[Runs] = ()) -> Seen:
    """A page's version of any panel that `jaxduel.plotting` draws. For regret against time, `runs`
    gives a table of final regrets."""
    if isinstance(content, plotting.LinePanel):
        return _regret(content, runs) if content.kind == "time" else _varied(content)
    kinds = {
        plotting.BarsPanel: _bars,
        plotting.SharesPanel: _shares,
        plotting.HeatPanel: _maps,
    }
    return kinds[type(content)](content)


def css_dash(line: str | tuple[float, tuple[float, ...]]) -> str:
    """A line style of matplotlib, translated to Plotly."""
    if isinstance(line, str):
        return _DASHES.get(line, "solid")
    return ",".join(f"{2 * length:g}px" for length in line[1])


def numbers(values: Iterable[float]) -> Numbers:
    """Numbers with as many digits as a picture shows; None for numbers that are not finite."""
    return tuple(
        float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None
        for value in np.asarray(values, np.float64).tolist()
    )


def interval(mean: float, lower: float, upper: float) -> str:
    """A mean with its interval, to the digits that the interval leaves: "134.2 [130.1, 138.3]"."""
    if not np.isfinite(lower + upper):
        return rounded(mean, np.nan)
    error = (upper - lower) / 2
    return f"{rounded(mean, error)} [{rounded(lower, error)}, {rounded(upper, error)}]"


def ranking(ends: Sequence[tuple[str, float]], at: str) -> str:
    """The lowest and the highest, in words; `ends` has labels with numbers, in any order."""
    known = sorted(((value, label) for label, value in ends if np.isfinite(value)))
    if not known:
        return f"{at} there is no number."
    said = [f"{label} ({value:.3g})" for value, label in known]
    if len(said) == 1:
        return f"{at} {said[0]}."
    rest = said[1:_MOST_NAMED] if len(said) > _MOST_NAMED else said[1:-1]
    then = f", then {', '.join(rest)}" if rest else ""
    return f"{at} the lowest is {said[0]}{then}; the highest is {said[-1]}."


def runs_words(counts: Collection[int], lower: Iterable[np.ndarray], one: str = "run") -> str:
    """A description of a figure's means: the numbers of runs, and the intervals, if any; `lower`
    are their lower ends."""
    many = f"{range_text(counts)} {one}{'' if max(counts) == 1 else 's'}"
    known = any(np.isfinite(values).any() for values in lower)
    return f"mean of {many} of each policy{', with its 95 % interval' if known else ''}"


def _scales(across_log: bool, up_log: bool) -> str:
    if across_log and up_log:
        return "both axes logarithmic"
    if across_log or up_log:
        return f"{'horizontal' if across_log else 'vertical'} axis logarithmic"
    return "linear axes"


def _lines(panel: plotting.LinePanel) -> list[Line]:
    """The lines of a panel with styles and intervals, then its references."""
    looks, found = looks_in(panel.lines), []
    for line in panel.lines:
        look, label = looks[line.name, line.label], plain(line.label)
        x, y, low, high = map(numbers, (line.at, line.mean, line.lower95, line.upper95))
        color, dash = to_hex(look.color), css_dash(look.line)
        found.append(Line(label, color, dash, x, y, low, high, line.separate))
    ends = np.array([panel.lines[0].at[0], max(line.at[-1] for line in panel.lines)])
    for number, line in enumerate(panel.references):
        color, dash = _REFERENCES[number % len(_REFERENCES)]
        if line.name:
            color, dash = to_hex(plotting.style_of(line.name).color), "dot"
        at = ends if line.at is None else line.at
        values = np.broadcast_to(np.asarray(line.values, np.float64), np.shape(at))
        label = plain(line.label)
        found.append(Line(label, color, dash, numbers(at), numbers(values), reference=True))
    return found


def _regret(panel: plotting.LinePanel, runs: Sequence[Runs]) -> Seen:
    lines = _lines(panel)
    end = max(int(line.at[-1]) for line in panel.lines)
    log, up_log = panel.across_scale == "log", panel.drawn_scale == "log"
    across, up = plain(panel.across), plain(panel.up)
    low, high = _limits(panel) if up_log else (bottom(c.mean for c in panel.lines), panel.top)
    each = runs_words({c.num_seeds for c in panel.lines}, [c.lower95 for c in panel.lines])
    separate = [plain(line.label) for line in panel.lines if line.separate]
    what = f"{capital(up)} against {across} up to T = {end:,}: {each}; {_scales(log, up_log)}."
    if separate:
        verb = "has" if len(separate) == 1 else "have"
        what += f" {', '.join(separate)} {verb} separate runs to each horizon, shown as points."
    if panel.references:
        named = ", ".join(plain(line.label) for line in panel.references)
        what += f" Beside them, not simulated: {named}."
    if panel.top is not None:
        what += " Curves may leave the picture above."
    ends = [(plain(c.label), float(c.mean[-1])) for c in panel.lines]
    several = len({int(line.at[-1]) for line in panel.lines}) > 1
    alt = f"{counted(len(panel.lines), 'curve')} of regret. " + ranking(
        ends, "At the end" if several else f"At T = {end:,}"
    )
    return Seen(
        what,
        alt,
        Chart(across, up, log, up_log, low, high, tuple(lines)),
        _final_regrets(runs),
    )


def _limits(panel: plotting.LinePanel) -> tuple[float | None, float | None]:
    """The ends of a logarithmic axis of regret: below all curves after an early time, above all
    intervals."""
    end = max(int(line.at[-1]) for line in panel.lines)
    early = end / 100 if panel.across_scale == "linear" else 10
    low = [c.mean[np.searchsorted(c.at, early)] for c in panel.lines if c.at[-1] >= early]
    high = [np.fmax.reduce(np.fmax(c.upper95, c.mean), initial=0.0) for c in panel.lines]
    positive = [value for value in low if value > 0]
    top = panel.top or 1.2 * max(high)
    return (0.6 * float(min(positive)) if positive else None), (float(top) if top > 0 else None)


def _final_regrets(runs: Sequence[Runs]) -> Table:
    """The final regret of each policy, the lowest first."""
    rows = []
    for one in sorted(runs, key=lambda one: np.nan_to_num(one.mean[-1], nan=np.inf)):
        last = {name: float(numbers[-1]) for name, numbers in one.statistics().items()}
        error = last["sem"] if np.isfinite(last["sem"]) else np.nan
        rows.append(
            (
                plain(one.label),
                f"{one.times[-1]:,}",
                interval(last["mean"], last["lower95"], last["upper95"]),
                *(rounded(last[name], error) for name in ("std", "q25", "median", "q75")),
                f"{one.num_runs:,}",
            )
        )
    header = ("policy", "T", "mean [95 %]", "std", "quartile", "median", "quartile", "runs")
    return Table("Final regrets, the lowest mean first", header, tuple(rows))


def _varied(panel: plotting.LinePanel) -> Seen:
    lines, bounds = _lines(panel), panel.references
    log, up_log = panel.across_scale == "log", panel.drawn_scale == "log"
    across, up = plain(panel.across), plain(panel.up)
    what = f"{capital(up)} against {across}: means with 95 % intervals; {_scales(log, up_log)}."
    if bounds:
        what += f" Dotted, not simulated: {', '.join(plain(b.label) for b in bounds)}."
    at = sorted({float(value) for line in panel.lines for value in line.at})
    ends = [
        ranking(
            [
                (plain(c.label), float(c.mean[np.flatnonzero(c.at == place)[0]]))
                for c in panel.lines
                if place in c.at
            ],
            f"At {across} = {short(place)}",
        )
        for place in dict.fromkeys([at[0], at[-1]])
    ]
    rows = []
    for place in at:
        row = [short(place)]
        for line in panel.lines:
            (found,) = np.nonzero(line.at == place)
            of = (line.mean, line.lower95, line.upper95)
            row.append(interval(*(float(values[found[0]]) for values in of)) if len(found) else "")
        rows.append(tuple(row))
    header = (across, *(plain(line.label) for line in panel.lines))
    table = Table(f"{capital(up)}: mean [95 %]", header, tuple(rows))
    drawn = [np.concatenate([c.mean, c.lower95, c.upper95]) for c in panel.lines]
    drawn += [np.atleast_1d(bound.values) for bound in bounds]
    known = np.concatenate(drawn)[np.isfinite(np.concatenate(drawn))]
    low = 0.8 * float(min(known[known > 0], default=0)) if up_log else bottom([known])
    high = 1.2 * float(known.max(initial=0.0))
    chart = Chart(
        across, up, log, up_log, low if low or not up_log else None, high or None, tuple(lines)
    )
    alt = f"{counted(len(panel.lines), 'curve')}. {' '.join(ends)}"
    return Seen(what, alt, chart, table)


def _bars(panel: plotting.BarsPanel) -> Seen:
    label = plain(panel.label)
    groups = [plain(group) for group in panel.groups]
    rows = tuple(
        (
            plain(bar.label),
            *map(interval, *(map(float, ends) for ends in (bar.values, bar.lower95, bar.upper95))),
        )
        for bar in panel.bars
    )
    said = [
        ranking([(plain(bar.label), float(bar.values[at])) for bar in panel.bars], f"{group}:")
        for at, group in enumerate(groups)
    ]
    return Seen(
        f"{capital(label)}, with 95 % intervals, for {' and '.join(groups)}; "
        f"{'logarithmic' if panel.drawn_scale == 'log' else 'linear'} axis.",
        f"Bars. {' '.join(said)}",
        table=Table(f"{capital(label)} [95 %]", ("", *groups), rows),
    )


def _shares(panel: plotting.SharesPanel) -> Seen:
    said = [
        f"{plain(stack.label)}: "
        + ", ".join(
            f"{word} {share:.0%}"
            for share, word in zip(stack.shares, stack.inscriptions, strict=True)
        )
        for stack in panel.stacks
    ]
    what = ": ".join(plain(text) for text in (panel.label, panel.about) if text)
    return Seen(f"{capital(what)}.", f"Columns of shares. {'; '.join(said)}.")


def _maps(panel: plotting.HeatPanel) -> Seen:
    across, up, title = plain(panel.across), plain(panel.up), plain(panel.title)
    cells = f"{counted(len(panel.columns), 'value')} of {across} by {len(panel.rows)} of {up}"
    maps = counted(len(panel.maps), "map")
    what = f"{maps} ({', '.join(plain(one.title) for one in panel.maps)}), {cells}."
    values = np.concatenate([one.values.ravel() for one in panel.maps])
    known = values[np.isfinite(values)]
    if not known.size:
        said = "There is no number."
    elif panel.kind == "choice":
        counts = [int((known == number).sum()) for number in range(len(panel.choices))]
        most = ", ".join(
            f"{name} in {count}" for name, count in zip(panel.choices, counts, strict=True)
        )
        said = f"Of {counted(len(known), 'cell')} the best is {most}."
    elif panel.kind == "ratio":
        said = (
            f"The ratio is above 1 in {int((known > 0).sum())} and below 1 in "
            f"{int((known < 0).sum())} of {counted(len(known), 'cell')}; it goes "
            f"from {10 ** known.min():.3g} to {10 ** known.max():.3g}."
        )
    else:
        said = f"{plain(panel.label)} goes from {known.min():.3g} to {known.max():.3g}."
    return Seen(f"{title}: {what}" if title else what, f"Heat maps. {said}")
