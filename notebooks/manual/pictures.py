"""Small pictures of regret, drawn from `regret.csv`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

import jaxduel as jd
from jaxduel.plotting import Line, draw_on, regret_panel
from notebooks.manual.pages import GENERATED, policy_page, write_file

NUMBERS = Path(__file__).with_name("regret.csv")
"""Columns problem, policy, t, mean, lower95, upper95, num_seeds."""

_WORDS = {"pulls": "Regret of pulls", "copeland": "Copeland regret"}
_POINTS = 10
"""Points of a grey line."""
_STYLE = {"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "jaxduel"}
"""Text is text in the file, which makes it small."""

Lines = dict[tuple[str, str], Line]
"""By problem and policy."""


def lines() -> Lines:
    """All lines; none if there is no file."""
    if not NUMBERS.exists():
        return {}
    rows = pd.read_csv(NUMBERS)
    return {key: _line(key[1], part) for key, part in rows.groupby(["problem", "policy"])}


def _line(policy: str, rows: pd.DataFrame) -> Line:
    return Line(
        name=policy,
        label=jd.policies.label(policy),
        at=rows["t"].to_numpy(),
        **{name: rows[name].to_numpy() for name in ("mean", "lower95", "upper95")},
        num_seeds=int(rows["num_seeds"].iloc[0]),
    )


def thumbnail(policy: str) -> str:
    """The picture of a policy's first panel."""
    return f"/{policy_page(policy)}-small.svg"


def draw_all(found: Lines) -> dict[str, str]:
    """Draws the pictures of all policies.

    Returns:
      By policy, its picture with a caption, in Markdown.
    """
    crowds = {
        problem: _crowd([line for (where, _), line in found.items() if where == problem])
        for problem in dict.fromkeys(problem for problem, _ in found)
    }
    texts = {}
    for policy in dict.fromkeys(policy for _, policy in found):
        own = {problem: line for (problem, name), line in found.items() if name == policy}
        place = policy_page(policy)
        first = dict(list(own.items())[:1])
        with rc_context(_STYLE):
            _save(f"{place}.svg", _figure(own, crowds))
            _save(f"{place}-small.svg", _figure(first, crowds, small=True))
        runs = max(line.num_seeds for line in own.values())
        label, where = jd.policies.label(policy), ", ".join(own)
        texts[policy] = (
            f"```{{figure}} /{place}.svg\n:alt: Regret of {label} on {where}\n\n"
            f"{_WORDS[_kind(policy)]}: mean of {runs:,} runs on {where}, with 95 % intervals; in "
            "grey, the other policies.\n```"
        )
    return texts


def _kind(policy: str) -> str:
    """Name of the regret: each problem's own, as sweeps measure it."""
    return "pulls" if "pull" in (jd.policies.describe(policy).plays or "") else "copeland"


class _Crowd(NamedTuple):
    """All lines on an instance, as one line with gaps, and the range of regret."""

    times: np.ndarray
    means: np.ndarray
    lowest: float
    highest: float


def _crowd(lines: list[Line]) -> _Crowd:
    times, means = [], []
    for line in lines:
        few = np.unique(np.linspace(0, len(line.at) - 1, _POINTS).astype(int))
        times += [*line.at[few], np.nan]
        means += [*line.mean[few], np.nan]
    known = np.array(means)
    known = known[np.nan_to_num(known) > 0]
    return _Crowd(np.array(times), np.array(means), known.min() / 1.3, known.max() * 1.3)


def _figure(own: dict[str, Line], crowds: dict[str, _Crowd], small: bool = False) -> Figure:
    """A panel for each instance; a small picture has no words."""
    width, left, bottom, top = (1.9, 0.08, 0.08, 0.06) if small else (2.3, 0.5, 0.45, 0.25)
    height = 1.4 if small else 1.9
    figure = Figure(figsize=(width * len(own), height))
    for at, (problem, line) in enumerate(own.items()):
        axes = figure.add_axes(
            (
                (at + left / width) / len(own),
                bottom / height,
                (1 - (left + 0.1) / width) / len(own),
                1 - (bottom + top) / height,
            )
        )
        crowd = crowds[problem]
        axes.plot(crowd.times, crowd.means, color="0.85", linewidth=0.6, zorder=1)
        title = "" if small else problem
        panel = regret_panel([line], title, regret=_kind(line.name), time_scale="log")
        draw_on(axes, panel)
        axes.set_ylim(crowd.lowest, crowd.highest)
        axes.set_ylabel("regret" if at == 0 and not small else "")
        axes.minorticks_off()
        if small:
            axes.set_xlabel("")
            axes.tick_params(length=0, labelbottom=False, labelleft=False)
    return figure


def _save(place: str, figure: Figure) -> None:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    write_file(place.removeprefix(f"{GENERATED}/"), file.getvalue())
