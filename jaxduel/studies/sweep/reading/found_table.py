"""A sweep that identifies arms as tables, and the points of its figures: the probability that the
best arm is named, and the votes or pulls needed for a probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import InputError
from jaxduel.files import csv_text
from jaxduel.policies.checks import require_probability
from jaxduel.stats import wilson95
from jaxduel.studies.sweep.axes import CELL, columns_of
from jaxduel.studies.sweep.reading.cells import Frame, values_at, values_in, with_text
from jaxduel.studies.sweep.reading.layout import MEANS, NAMED, measure_of
from jaxduel.studies.tables import aligned, short
from jaxduel.votes.recommending import crossings

if TYPE_CHECKING:
    import xarray

SHOWN_TARGET = 0.95
"""The probability for which tables have the votes needed."""
DRAWN_TARGET = 0.9
"""The probability for which figures have the votes needed."""
_OF_CELLS = ("share_stopped", "share_wrong", "batches_mean")
_ENDS = ("lower95", "upper95")
_NOT_RUN = "-"


def found_frame(dataset: xarray.Dataset, cells: Frame, *, final: bool = False) -> Frame:
    """The table of `SweepDataset.to_frame` if arms are identified, for some rows of `cells_of`; if
    `final`, only rows at the last checkpoint."""
    frame = _with_wilson95(values_at(dataset, cells, {name: name for name in MEANS}, last=final))
    unit = measure_of(dataset).clock
    frame = frame.rename(columns={"t": unit})
    first = [name for name in cells if name not in ("variant", "num_seeds", "batches_mean")]
    columns = [unit, "num_seeds", "probability", "lower95", "upper95", *MEANS[1:]]
    for name in _OF_CELLS[:2]:
        if name in dataset:
            values = values_in(dataset, name, CELL).ravel()
            frame[name] = values[np.asarray(frame.index) // dataset.sizes.get(NAMED.dimension, 1)]
    columns += [name for name in _OF_CELLS if name in frame]
    return with_text(frame[[*first, *columns]].reset_index(drop=True))


def _with_wilson95(frame: Frame) -> Frame:
    """The table with columns lower95 and upper95, the ends of the 95 % intervals of its
    probabilities; NaN where no seed has run."""
    runs = frame["num_seeds"].where(frame["num_seeds"] > 0).to_numpy(float)
    lower, upper = wilson95(np.rint(frame["probability"].to_numpy() * runs), runs)
    return frame.assign(lower95=lower, upper95=upper)


def needed_frame(dataset: xarray.Dataset, cells: Frame, target: float) -> Frame:
    """Votes, or pulls, after which a rule names one of the best arms with probability `target`, for
    some rows of `cells_of`.

    Returns:
      The cells that have run, with needed, lower95 and upper95: inf where the last
      checkpoint is not enough (`jaxduel.votes.recommending.votes_needed`).

    Raises:
      InputError: if the target is not strictly between 0 and 1.
    """
    cells = cells[cells["num_seeds"] > 0]
    require_probability(target, "target")
    points = _with_wilson95(values_at(dataset, cells, {"probability": "probability"}))
    needed = {}
    for index, some in points.groupby(level=0):
        times, *curves = some[["t", "probability", *_ENDS]].to_numpy().T
        share, lower, upper = curves
        needed[index] = crossings(times, share, lower, upper, target)
    columns = np.array([needed[index] for index in cells.index]).reshape(-1, 3)
    return cells.assign(needed=columns[:, 0], lower95=columns[:, 1], upper95=columns[:, 2])


def found_points(dataset: xarray.Dataset, lines: Frame, x: str) -> Frame:
    """The points of curves, in the columns mean, lower95 and upper95: against votes or pulls (x
    = "t") the probability that the best arm is named; else, in the column up too, those needed for
    `DRAWN_TARGET`.

    Raises:
      InputError: if `DRAWN_TARGET` is not reached anywhere.
    """
    if x == "t":
        points = _with_wilson95(values_at(dataset, lines, {"probability": "probability"}))
        return points.rename(columns={"probability": "mean"})
    unit = measure_of(dataset).clock
    points = needed_frame(dataset, lines, DRAWN_TARGET).rename(columns={"needed": "mean"})
    if not np.isfinite(points["mean"]).any():
        raise InputError(
            f"no rule names the best arm with probability {DRAWN_TARGET:g} yet: there are no "
            f"{unit} needed to draw."
        )
    return points.assign(t=points["horizon"], up=f"{unit} for P = {DRAWN_TARGET:g}")


def found_lines(dataset: xarray.Dataset, cells: Frame) -> list[str]:
    """The results of a sweep that identifies arms, as text, for some rows of `cells_of`."""
    numbers = _shown(dataset, cells)
    stops, unit = "share_stopped" in numbers, measure_of(dataset).clock
    header = ["problem", "policy", "rule", "K", unit, "seeds", "P(best named)"]
    header += [f"{unit} for {SHOWN_TARGET:g}", *["stopped", "wrongly"] * stops]
    rows = []
    for one in numbers.to_dict("records"):
        row = [one["problem"], one["variant"], one["rule"], str(one["num_arms"])]
        row += [short(one["horizon"]), str(one["num_seeds"])]
        if one["num_seeds"]:
            ends = (f"{one[name]:.3f}" for name in _ENDS)
            row.append(f"{one['probability']:.3f} [{', '.join(ends)}]")
            needed, *about = (
                f"{one[name]:,.0f}" if math.isfinite(one[name]) else f">{one['horizon']:,}"
                for name in ("needed", *(f"needed_{end}" for end in _ENDS))
            )
            row.append(f"{needed} [{', '.join(about)}]")
            shares = ("share_stopped", "share_wrong") if stops else ()
            row += [f"{one[name]:.1%}" for name in shares]
        else:
            row += [_NOT_RUN] * (len(header) - len(row))
        rows.append(row)
    explained = [
        "P(best named): share of seeds for which the rule names one of the best arms after the",
        f"last {unit[:-1]}, with its 95 % interval (Wilson). {unit} for {SHOWN_TARGET:g}: those",
        "after which it does with that probability, with a 95 % interval.",
    ]
    if stops:
        explained.append("stopped, wrongly: shares of seeds for which what stops did.")
    return [*aligned(header, rows, left=3), "", *explained]


def found_csv(dataset: xarray.Dataset, cells: Frame) -> str:
    """The numbers of `found_lines` as CSV, floats to the last bit; nan for cells not run."""
    frame = _shown(dataset, cells)
    columns = [*columns_of(frame, "setting", "policy", "measure"), "num_seeds"]
    columns += ["probability", "lower95", "upper95", "simple_regret", "tau"]
    columns += ["needed", "needed_lower95", "needed_upper95"]
    columns += [name for name in _OF_CELLS[:2] if name in frame]
    return csv_text(columns, frame[columns].itertuples(index=False))


def _shown(dataset: xarray.Dataset, cells: Frame) -> Frame:
    """The table at the last checkpoint with the votes needed, problem by problem."""
    last = found_frame(dataset, cells, final=True).set_index(cells.index)
    needed = needed_frame(dataset, cells, SHOWN_TARGET)[["needed", "lower95", "upper95"]]
    last = last.join(needed.rename(columns={name: f"needed_{name}" for name in _ENDS}))
    order = cells.sort_values(["problem", "horizon"], kind="stable").index
    return last.assign(variant=cells["variant"]).loc[order]
