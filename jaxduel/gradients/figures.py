"""Figure of the search for a worst instance: the ascents, and the instance found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from jaxduel.display import counted
from jaxduel.gradients.ascent import WorstCase
from jaxduel.plotting import ticks
from jaxduel.plotting.figures import PAGE_WIDTH, drawing
from jaxduel.plotting.heatmaps import write_numbers
from jaxduel.plotting.styles import FONT_SIZE, LETTER, dress
from jaxduel.plotting.words import broken, names_of, regret_words, setting_words
from jaxduel.simulation.provenance import changed_parameters
from jaxduel.stats import interval95

_HEIGHT, _MATRIX = 2.6, 1.5
"""Inches: height of the figure, and roughly of the matrix."""
_FOUND, _OTHER = "#0072B2", "0.6"
_LABELS = {
    "regret": "{} at $T$",
    "ratio": "{} at $T$ / lower bound",
    "difference": "{} at $T$, difference",
}


def worst_case_figure(found: WorstCase, label: str | None = None) -> Figure:
    """Objective against steps, one line for each start, and the preferences of the instance; the
    title names policy, family and T.

    Args:
      found: result of the search. Bands are 95 % intervals, over the seeds of a step and over fresh
        seeds.
      label: label of the objective, with its unit; by default from the objective and the definition
        of regret.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import worst_case_figure
      >>> found = jd.gradients.worst_case(
      ...     jd.policies.make("sparring", num_arms=2), jd.gradients.space("btl", 2), 100,
      ...     num_starts=1, steps=3, num_seeds=32, fresh_seeds=32,
      ... )
      >>> figure = worst_case_figure(found)
      >>> [axes.get_xlabel() for axes in figure.axes[:2]]
      ['step', 'against arm $j$']
    """
    with drawing():
        figure = Figure(layout="constrained")
        figure.set_size_inches(PAGE_WIDTH, _HEIGHT)
        left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
        _draw_levels(left, found)
        _draw_ascents(left, found)
        left.set_ylabel(label or _LABELS[found.objective].format(regret_words(found.regret)))
        dress(left, "")
        title = broken(_title(found), int(PAGE_WIDTH / LETTER))
        figure.legend(
            loc="outside upper left", ncols=4, frameon=False, title=title, alignment="left",
            title_fontsize=FONT_SIZE + 0.5,
        )  # fmt: skip
        _draw_matrix(figure, right, found.problem.preferences)
        figure.draw_without_rendering()
    return figure


def _title(found: WorstCase) -> str:
    """Policy, family, sizes and seeds in words."""
    who = _policy_words(found.policy)
    if found.against is not None:
        who += f" minus {_policy_words(found.against)}"
    sizes = {"num_arms": found.problem.num_arms, "horizon": found.horizon}
    words = [f"worst case of {who}", f"family {found.family}"]
    words += [setting_words(name, value) for name, value in sizes.items()]
    words.append(f"{counted(found.num_seeds, 'seed')} for a step")
    words.append(f"{found.fresh_seeds:,} fresh ones")
    return ", ".join(words)


def _policy_words(record: Mapping[str, Any]) -> str:
    """A policy of a record with its changed parameters."""
    return names_of(record["name"], changed_parameters({"policy": record}))[1]


def _draw_levels(axes: Axes, found: WorstCase) -> None:
    for level, sem, color, line, name in (
        (found.before, found.before_sem, "black", ":", "starts, fresh seeds"),
        (found.value, found.sem, "#D55E00", "--", "found, fresh seeds"),
    ):
        axes.axhline(level, color=color, linestyle=line, linewidth=1.0, label=name, zorder=4)
        low, high = interval95(level, sem, found.fresh_seeds)
        axes.axhspan(float(low), float(high), color=color, alpha=0.15, linewidth=0)


def _draw_ascents(axes: Axes, found: WorstCase) -> None:
    ascents = found.trajectories
    for number, ascent in enumerate(ascents):
        steps = np.arange(1, len(ascent.value) + 1)
        chosen = number == found.best
        color, above = (_FOUND, 3) if chosen else (_OTHER, 2)
        axes.plot(steps, ascent.value, color=color, linewidth=1.1 if chosen else 0.8, zorder=above)
        band = interval95(ascent.value, ascent.sem, found.num_seeds)
        axes.fill_between(steps, *band, color=color, alpha=0.2, linewidth=0, zorder=above)
    axes.plot([], [], color=_FOUND, label="ascent to it")
    if len(ascents) > 1:
        axes.plot([], [], color=_OTHER, label="other ascents")
    axes.set_xlim(1, max([2, *(len(ascent.value) for ascent in ascents)]))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    ticks.linear(axes.yaxis)
    axes.set_xlabel("step")


def _draw_matrix(figure: Figure, axes: Axes, preferences: np.ndarray) -> None:
    num = len(preferences)
    image = axes.imshow(preferences, cmap="PuOr", vmin=0.0, vmax=1.0)
    arms = np.arange(0, num, max(num // 8, 1))
    axes.set_xticks(arms)
    axes.set_yticks(arms)
    axes.set_xlabel("against arm $j$")
    axes.set_ylabel("arm $i$")
    texts = [f"{value:.2f}".lstrip("0") for value in preferences.flat]
    write_numbers(axes, preferences, _MATRIX, _MATRIX, texts)
    bar = figure.colorbar(image, ax=axes, shrink=0.85)
    bar.set_label("$p_{ij}$, $i$ beats $j$")
