"""Figures of fits of votes, and of several results of `identify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from jaxduel.display import told_apart
from jaxduel.errors import printable
from jaxduel.plotting.figures import draw
from jaxduel.plotting.intervals import IntervalsPanel
from jaxduel.plotting.line import Line, votes_panels
from jaxduel.plotting.matrices import MatrixPanel
from jaxduel.plotting.words import boxed, names_of, plain
from jaxduel.votes.found import Found

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 30
"""Most letters of an arm's name in a figure."""


def identification_figure(founds: Sequence[Found]) -> Figure:
    """The probability of naming the best arm against votes, or pulls: a set of axes for each
    problem, a line for each result and rule.

    Raises:
      InputError: if there is no result.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import identification_figure
      >>> problem, policy = jd.problems.load("cyclic"), jd.policies.make("uniform", num_arms=4)
      >>> found = jd.identify(policy, problem, votes=500, num_seeds=50, recommend=["borda", "btl"])
      >>> figure = identification_figure([found])
      >>> [text.get_text() for text in figure.legends[0].get_texts()]
      ['uniform', 'by borda', 'by btl']
    """
    panels: dict[str, dict[str, list[Line]]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for found in founds:
        _, label = names_of(found.policy, found.changed)
        seen[found.problem, label] += 1
        if (again := seen[found.problem, label]) > 1:
            label = f"{label} ({again})"
        panels.setdefault(found.unit, {}).setdefault(found.problem, []).extend(found.lines(label))
    seeds = [found.num_seeds for found in founds]
    return draw(
        [panel for unit, some in panels.items() for panel in votes_panels(some, seeds, unit)]
    )


def ratings_panel(table: pd.DataFrame, anchor: str | None, rating: float) -> IntervalsPanel:
    """Ratings of arms with 95 % intervals, or Borda scores without.

    Args:
      table: a row for each arm, of `Fit.elo`, or of `Fit.table` for the free model.
      anchor: the arm that has the rating; the mean of all if None.
      rating: of the anchor.
    """
    names = drawn_names(table["arm"].tolist())
    if "elo" not in table:
        unknown = np.full(len(names), np.nan)
        label = "Borda score: mean probability to win a vote"
        values = table["borda"].to_numpy()
        return IntervalsPanel(
            names=names, values=values, lower95=unknown, upper95=unknown, label=label, reference=0.5
        )
    who = "mean of all" if anchor is None else drawn_names([anchor])[0]
    values, lower95, upper95 = table[["elo", "elo_low", "elo_high"]].to_numpy().T
    label = f"Elo rating, 95 % interval ({who}: {rating:.10g})"
    return IntervalsPanel(
        names=names, values=values, lower95=lower95, upper95=upper95, label=label, reference=rating
    )


def preferences_panel(
    arms: Sequence[str], preferences: np.ndarray, order: Sequence[int]
) -> MatrixPanel:
    """Probabilities that the arm of the row wins a vote against that of the column.

    Args:
      arms: names of the arms.
      preferences: (K, K); NaN where unknown.
      order: the arms from above, by number.
    """
    values = preferences[np.ix_(order, order)]
    np.fill_diagonal(values, np.nan)
    names = drawn_names([arms[arm] for arm in order])
    return MatrixPanel(names=names, values=values, label="P(row beats column in a vote)")


def drawn_names(arms: Sequence[str]) -> list[str]:
    """Names of arms for a figure: short, all different."""
    safe = [boxed(printable(name)) for name in arms]
    return [plain(name) for name in told_apart(safe, _LONGEST)]
