"""Points and figures of a sweep that identifies arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import InputError
from jaxduel.experiments.sweep.reading.cells import Frame, values_at
from jaxduel.experiments.sweep.reading.found_table import needed_frame, with_wilson95

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

NOT_YET = "has not run yet"
"""In the place of a facet of which nothing has run."""
DRAWN_TARGET = 0.9
"""The probability for which figures have the votes needed."""


def found_points(dataset: xarray.Dataset, lines: Frame, x: str) -> Frame:
    """The points of curves, in the columns mean, lower95 and upper95: against votes (x = "t") the
    probability that the best arm is named; else, in the column up too, the votes needed for
    `DRAWN_TARGET`.

    Raises:
      InputError: if that is not reached anywhere.
    """
    if x == "t":
        points = with_wilson95(values_at(dataset, lines, {"probability": "probability"}))
        return points.rename(columns={"probability": "mean"})
    points = needed_frame(dataset, lines, DRAWN_TARGET).rename(columns={"needed": "mean"})
    if not np.isfinite(points["mean"]).any():
        raise InputError(
            f"no rule names the best arm with probability {DRAWN_TARGET:g} yet: there are no votes "
            "needed to draw."
        )
    return points.assign(t=points["horizon"], up=f"votes for P = {DRAWN_TARGET:g}")


def draw_votes(points: Frame, titles: Mapping[str, str], about: str) -> Figure:
    """Draws a set of axes for each facet, by name its title, with the probability against votes;
    `about` is in words what all have in common."""
    from jaxduel.plotting import Missing
    from jaxduel.plotting.identification import Curve, VotesPanel, votes_figure

    panels: list[VotesPanel | Missing] = []
    for name, title in titles.items():
        some = points[points["facet"] == name]
        if some.empty:
            panels.append(Missing(title, NOT_YET))
            continue
        curves = [
            Curve(
                line["label"].iloc[0],
                *(line[name].to_numpy() for name in ("t", "mean", "lower95", "upper95")),
                name=line["policy"].iloc[0],
                rule=line["rule"].iloc[0],
            )
            for _, line in some.groupby("line", sort=False)
        ]
        panels.append(VotesPanel(curves, title, about=about))
    return votes_figure(panels)
