"""A sweep as a table: a data frame, or text with a row per setting and a column per policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from jaxduel.display import counted, range_text
from jaxduel.errors import InputError
from jaxduel.files import csv_text
from jaxduel.stats import paired, t95
from jaxduel.studies.sweep.axes import CELL, columns_of
from jaxduel.studies.sweep.reading.cells import (
    Frame,
    at_checkpoints,
    at_horizon,
    by_setting,
    cells_of,
    choose,
    parameter_names,
    with_text,
)
from jaxduel.studies.sweep.reading.found_table import found_csv, found_frame, found_lines
from jaxduel.studies.sweep.reading.layout import NAMED, REGRET, measure_of
from jaxduel.studies.tables import aligned, short, with_interval

if TYPE_CHECKING:
    import xarray

BEST, EQUAL = "*", "~"
"""The marks within a setting: the smallest mean, and means not significantly larger."""
NOT_RUN = "-"
"""Entry of a cell without seeds that have run."""
Columns = Literal["auto", "all", "best"]
"""A column for each combination of parameters, or one per policy with the best of each row; "auto":
the latter if not all columns fit."""

_GAP = 2
_CSV = ("num_seeds", "mean", "sem", "lower95", "upper95", "mark")


def frame_of(dataset: xarray.Dataset, chosen: Frame = None, *, final: bool = False) -> Frame:
    """The table of `SweepDataset.to_frame`.

    Args:
      chosen: the wanted rows of `cells_of`, all if left out.
      final: whether there are only rows at the horizon.
    """
    measure = measure_of(dataset)
    for name in (*CELL, measure.dimension, "num_arms", "t", "num_seeds", *measure.tabled):
        if name not in dataset:
            raise InputError(f"a table needs '{name}', which the data set has not: it was dropped.")
    cells: Frame = cells_of(dataset) if chosen is None else chosen
    return _TABLES[measure.dimension].frame(dataset, cells, final=final)


def _regret_frame(dataset: xarray.Dataset, cells: Frame, *, final: bool) -> Frame:
    """The table of a sweep that measures regret."""
    statistics = ["num_seeds", "mean", "std", "sem", "lower95", "upper95"]
    last = at_horizon(dataset, cells, quartiles=final).loc[cells.index]
    if not final and (last["num_seeds"] != cells["num_seeds"]).any():
        raise InputError(
            "means before the horizon are of all seeds, and the data set has some only, chosen or "
            "in blocks that can be read: to_frame(final=True) is of those."
        )
    if final:
        frame = last.assign(t=last["horizon"])
        statistics += ["q25", "median", "q75"]
    else:
        frame = at_checkpoints(dataset, cells)
        ends = frame["t"] == frame["horizon"]
        frame.loc[ends, statistics] = last.loc[frame.index[ends], statistics].values
    first = [name for name in cells if name not in ("variant", "num_seeds", "batches_mean")]
    batches = [name for name in ("batches_mean",) if name in cells]
    frame = frame[[*first, "t", *statistics, *batches]].reset_index(drop=True)
    return with_text(frame)


def show_lines(
    dataset: xarray.Dataset, *, columns: Columns = "auto", width: int = 100, **chosen: Any
) -> list[str]:
    """The results of a sweep so far, as text: regret at the horizon with its 95 % interval, or the
    probability that the best arm is named.

    Args:
      columns: whether all combinations of parameters have columns; "auto": if they fit, or if only
        one policy is shown.
      width: characters of a line, unless a single column is wider.
      **chosen: the cells to keep, as for `choose`.

    Returns:
      Lines: the finished part, the table (split if its columns do not fit), and the meaning of its
      marks.

    Raises:
      InputError: if a name is not in the sweep.
    """
    tables = _TABLES[measure_of(dataset).dimension]
    lines = tables.lines(dataset, choose(dataset, **chosen), columns, width)
    return [progress_line(dataset), "", *lines]


def show_csv(dataset: xarray.Dataset, **chosen: Any) -> str:
    """The numbers of `show_lines` as CSV: one line per cell of the grid and definition, floats to
    the last bit; nan for cells that have not run."""
    return _TABLES[measure_of(dataset).dimension].csv(dataset, choose(dataset, **chosen))


def _regret_csv(dataset: xarray.Dataset, cells: Frame) -> str:
    frame = marked(dataset, cells)
    frame = frame[[*columns_of(frame, "setting", "measure", "policy"), *_CSV]]
    return csv_text(list(frame), frame.itertuples(index=False))


def marked(dataset: xarray.Dataset, cells: Frame) -> Frame:
    """The table of `at_horizon` with the column mark.

    The mark is "*" for the smallest mean of a setting; "" for a significantly larger mean: the 95 %
    interval of the difference, paired seed by seed, is above 0; "~" otherwise, and if fewer than
    two seeds have run in both cells.
    """
    frame = at_horizon(dataset, cells)
    marks = []
    for some, final in by_setting(dataset, cells):
        means = frame.loc[some.index, "mean"].values
        best = int(np.nanargmin(means)) if np.isfinite(means).any() else None
        for i, values in enumerate(final):
            pair = None if best is None else paired(values, final[best])
            more = np.isnan(means[i]) or (pair is not None and pair.verdict == "worse")
            marks.append(BEST if i == best else "" if more else EQUAL)
    return frame.assign(mark=marks)


def progress_line(dataset: xarray.Dataset) -> str:
    """Finished part of the whole grid: cells, and seeds of all cells together."""
    planned, seeds = dataset["planned_seeds"].values, dataset["num_seeds"].values
    in_grid = planned > 0
    cells, finished = int(in_grid.sum()), int((in_grid & (seeds >= planned)).sum())
    ran, whole = int(seeds.sum()), int(planned.sum())
    each = range_text({int(number) for number in planned[in_grid]})
    if finished == cells:
        return f"finished: {counted(cells, 'cell')} of {each} seeds each"
    share = min(100 * ran / whole, 99.9)
    return (
        f"{finished:,} of {cells:,} cells finished; {ran:,} of {whole:,} runs (cells times "
        f"{each} seeds), {share:.1f} %"
    )


def _regret_lines(dataset: xarray.Dataset, cells: Frame, columns: Columns, width: int) -> list[str]:
    text = _Text(marked(dataset, cells), parameter_names(dataset))
    return text.lines(columns, width)


class _Tables(NamedTuple):
    """The tables of a measure."""

    frame: Callable[..., Frame]
    lines: Callable[[xarray.Dataset, Frame, Columns, int], list[str]]
    csv: Callable[[xarray.Dataset, Frame], str]


_TABLES = {
    REGRET.dimension: _Tables(_regret_frame, _regret_lines, _regret_csv),
    NAMED.dimension: _Tables(
        found_frame, lambda data, cells, *_: found_lines(data, cells), found_csv
    ),
}


class _Text:
    """The text of a table from `marked`, with parameters among its columns."""

    def __init__(self, numbers: Frame, parameters: Sequence[str]) -> None:
        entries = [
            f"{with_interval(mean, t95(seeds) * sem)} {mark or ' '}" if seeds else f"{NOT_RUN}  "
            for seeds, mean, sem, mark in zip(
                *(numbers[name] for name in ("num_seeds", "mean", "sem", "mark")), strict=True
            )
        ]
        row = numbers.groupby(REGRET.setting, observed=True).ngroup()
        self.numbers = numbers.assign(entry=entries, row=row)
        own = numbers.groupby("policy", observed=True)[list(parameters)].nunique(dropna=False)
        self.varied = {
            policy: [name for name in parameters if count[name] > 1]
            for policy, count in own.iterrows()
        }

    def lines(self, columns: Columns, width: int) -> list[str]:
        """The table and its explanation."""
        in_grid = self.numbers.sort_index()
        every = {name: self._column(in_grid[in_grid["variant"] == name])
                 for name in in_grid["variant"].unique()}  # fmt: skip
        policies = in_grid["policy"].unique()
        fits = self._width(every) <= width
        if columns == "best" or (columns == "auto" and not fits and len(policies) > 1):
            best = {name: self._best(in_grid[in_grid["policy"] == name]) for name in policies}
            return [*self._tables(best, width), "", *self._explained(len(every) > len(policies))]
        if fits:
            return [*self._tables(every, width), "", *self._explained()]
        lines = []
        for policy in policies:
            own = in_grid[in_grid["policy"] == policy].drop_duplicates("variant")
            labels = {
                v: label or v for v, label in zip(own["variant"], own["parameters"], strict=True)
            }
            inside = {label: every[variant] for variant, label in labels.items()}
            lines += ["", f"{policy}:", *self._tables(inside, width)]
        return [*lines[1:], "", *self._explained()]

    def _explained(self, chosen: bool = False) -> list[str]:
        """Lines that explain numbers and marks."""
        definitions = self.numbers["definition"].unique()
        of = f" ({definitions[0]})" if len(definitions) == 1 else ""
        runs = f" over {self._same_seeds} seeds" if self._same_seeds else ""
        lines = [
            f"Regret at T{of}: mean and 95 % interval{runs}. {BEST} is the smallest of the row;",
            f"{EQUAL} is not significantly more: the 95 % interval of the difference, paired seed",
            "by seed, reaches 0 (each against the smallest, not corrected for their number).",
        ]
        if chosen:
            names = {name for varied in self.varied.values() for name in varied}
            lines.append(f"[...] is the best {', '.join(sorted(names))} of the policy in the row.")
        if (self.numbers["num_seeds"] == 0).any():
            lines.append(f"{NOT_RUN} has not run yet.")
        return lines

    def _tables(self, columns: dict[str, list[str]], width: int) -> list[str]:
        """Tables with as many columns as fit, each with the settings at the left."""
        lines: list[str] = []
        rest = dict(columns)
        while rest:
            block: dict[str, list[str]] = {}
            for label, entries in rest.items():
                if block and self._width({**block, label: entries}) > width:
                    break
                block[label] = entries
            rest = {label: entries for label, entries in rest.items() if label not in block}
            head, settings = self._settings
            table = [[*left, *some] for left, *some in zip(settings, *block.values(), strict=True)]
            shown = [row for row in table if any(row[len(head) :])]
            # a column's heading ends with its numbers, before the marks
            lines += ["", *aligned([*head, *(f"{label}  " for label in block)], shown)]
        return lines[1:]

    def _width(self, columns: dict[str, list[str]]) -> int:
        head, rows = self._settings
        left = sum(max(map(len, column)) + _GAP for column in zip(head, *rows, strict=True))
        return left + sum(
            max(len(label) + 2, *map(len, entries)) + _GAP for label, entries in columns.items()
        ) - _GAP  # fmt: skip

    @cached_property
    def _settings(self) -> tuple[list[str], list[list[str]]]:
        """The first columns: their heads, and a row per setting."""
        definitions = self.numbers["definition"].nunique() > 1
        differ = self._same_seeds is None
        head = ["problem", "K", "T", *["definition"] * definitions, *["seeds"] * differ]
        rows = []
        for (problem, horizon, definition), some in self.numbers.groupby(
            REGRET.setting, observed=True
        ):
            counts = sorted(some["num_seeds"].unique())
            seeds = "-".join(map(str, dict.fromkeys([counts[0], counts[-1]])))
            row = [problem, str(some["num_arms"].iloc[0]), short(horizon)]
            rows.append([*row, *[definition] * definitions, *[seeds] * differ])
        return head, rows

    @cached_property
    def _same_seeds(self) -> int | None:
        """The number of seeds, if it is the same in all cells."""
        first, *others = self.numbers["num_seeds"].unique()
        return None if others or not first else int(first)

    def _column(self, some: Frame) -> list[str]:
        """The entries of some rows, at most one per setting, in the order of settings."""
        entries = dict(zip(some["row"], some["entry"], strict=True))
        return [entries.get(row, "") for row in range(len(self._settings[1]))]

    def _best(self, own: Frame) -> list[str]:
        """The entries of a policy's best parameters in each setting, with their values."""
        import pandas

        best = own.sort_values("mean", kind="stable").drop_duplicates("row")
        varied = self.varied[own["policy"].iloc[0]]
        texts = []
        for one in best.to_dict("records") if varied else ():
            inside = one["parameters"]
            if len(varied) == 1:
                value = one[varied[0]] if pandas.notna(one[varied[0]]) else ""
                inside = value if isinstance(value, str) else short(value)
            texts.append(f"[{inside}]  {one['entry']}" if one["num_seeds"] else one["entry"])
        return self._column(best.assign(entry=texts) if varied else best)
