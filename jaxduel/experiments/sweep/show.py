"""A sweep as a table: regret at the horizon, a row per setting, a column per policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from jaxduel.experiments.sweep.numbers import number, with_interval
from jaxduel.experiments.sweep.readings import Readings, Setting, Variant
from jaxduel.experiments.sweep.table import BEST, EQUAL, Entry, SweepTable
from jaxduel.experiments.tables import aligned
from jaxduel.stats import t95

if TYPE_CHECKING:
    import xarray

NOT_RUN = "-"
"""Entry of a cell of which no seed has run."""
Columns = Literal["auto", "all", "best"]
"""A column for each combination of parameters, or one per policy with the best of each row; "auto":
the latter if all do not fit."""

_GAP = 2


class _Text:
    """The text of a table."""

    def __init__(self, table: SweepTable) -> None:
        self.readings, self.rows, self.num_arms = table.readings, table.rows, table.num_arms

    def lines(self, columns: Columns = "auto", width: int = 100) -> list[str]:
        """The table as text; several below each other if its columns do not fit.

        Args:
          columns: whether all combinations of parameters have columns.
          width: characters of a line, unless a single column is wider.
        """
        variants = self.readings.variants
        policies = list(dict.fromkeys(variant.policy for variant in variants))
        every = {v.label: [self._entry(s, v) for s in self.rows] for v in variants}
        fits = self._width(every) <= width
        if columns == "best" or (columns == "auto" and not fits and len(policies) > 1):
            best = {p: [self._best(s, p) for s in self.rows] for p in policies}
            lines = self._tables(best, width)
            chosen = len(variants) > len(policies)
            return [*lines, "", *self._explained(every, chosen)]
        if fits:
            return [*self._tables(every, width), "", *self._explained(every)]
        lines = []
        for policy, group in groupby(sorted(variants, key=lambda v: policies.index(v.policy)),
                                     key=lambda v: v.policy):  # fmt: skip
            inside = {v.parameters or v.label: every[v.label] for v in group}
            lines += ["", f"{policy}:", *self._tables(inside, width)]
        return [*lines[1:], "", *self._explained(every)]

    def _explained(self, every: dict[str, list[str]], chosen: bool = False) -> list[str]:
        """Lines that explain numbers and marks."""
        definitions = {setting.definition for setting in self.rows}
        of = f" ({next(iter(definitions))})" if len(definitions) == 1 else ""
        seeds = self._same_seeds
        runs = f" over {seeds} seeds" if seeds else ""
        lines = [
            f"Regret at T{of}: mean and 95 % interval{runs}. {BEST} is the smallest of the row;",
            f"{EQUAL} is not significantly more: the 95 % interval of the difference, paired seed",
            "by seed, reaches 0 (each against the smallest, not corrected for their number).",
        ]
        if chosen:
            policies = {variant.policy for variant in self.readings.variants}
            names = dict.fromkeys(name for policy in policies for name in self._varied(policy))
            lines.append(f"[...] is the best {', '.join(sorted(names))} of the policy in the row.")
        if any(entry.strip() == NOT_RUN for entries in every.values() for entry in entries):
            lines.append(f"{NOT_RUN} has not run yet.")
        return lines

    def _tables(self, columns: dict[str, list[str]], width: int) -> list[str]:
        """Tables with as many columns as fit, each with the settings at its left."""
        lines: list[str] = []
        rest = dict(columns)
        while rest:
            block: dict[str, list[str]] = {}
            for label, entries in rest.items():
                if block and self._width({**block, label: entries}) > width:
                    break
                block[label] = entries
            rest = {label: entries for label, entries in rest.items() if label not in block}
            shown = [
                i for i in range(len(self.rows)) if any(entries[i] for entries in block.values())
            ]
            head, settings = self._settings
            rows = [settings[i] + [entries[i] for entries in block.values()] for i in shown]
            # the heading of a column ends where its numbers do, before the marks
            lines += ["", *aligned([*head, *(f"{label}  " for label in block)], rows)]
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
        definitions = len({setting.definition for setting in self.rows}) > 1
        seeds = [_seeds(entries.values()) for entries in self.rows.values()]
        differ = self._same_seeds is None
        head = ["problem", "K", "T", *["definition"] * definitions, *["seeds"] * differ]
        rows = [
            [s.problem, str(self.num_arms[s.problem]), number(s.horizon)]
            + [s.definition] * definitions
            + [count] * differ
            for s, count in zip(self.rows, seeds, strict=True)
        ]
        return head, rows

    @cached_property
    def _same_seeds(self) -> int | None:
        """The number of seeds of all cells, if it is the same."""
        seeds = {reading.seeds for reading in self.readings.all}
        return seeds.pop() if len(seeds) == 1 and seeds != {0} else None

    def _varied(self, policy: str) -> list[str]:
        """The parameters in which a policy's variants differ."""
        own = [r.values for r in self.readings.all if r.variant.policy == policy]
        names = dict.fromkeys(name for values in own for name in values)
        return [name for name in names if len({values.get(name) for values in own}) > 1]

    def _entry(self, setting: Setting, variant: Variant) -> str:
        one = self.rows[setting].get(variant)
        if one is None:
            return ""
        if not one.seeds:
            return f"{NOT_RUN}  "
        return f"{with_interval(one.mean, t95(one.seeds) * one.sem)} {one.mark or ' '}"

    def _best(self, setting: Setting, policy: str) -> str:
        """The entry of a policy's best parameters, with their values."""
        entries = {v: one for v, one in self.rows[setting].items() if v.policy == policy}
        if not entries:
            return ""
        best = min(entries, key=lambda v: (not entries[v].seeds, entries[v].mean))
        names = self._varied(policy)
        if not names or not entries[best].seeds:
            return self._entry(setting, best)
        values = next(r.values for r in self.readings.all if r.variant == best)
        inside = best.parameters
        if len(names) == 1:
            value = values.get(names[0], "")
            inside = number(value) if isinstance(value, float) else value
        return f"[{inside}]  {self._entry(setting, best)}"


def show_lines(
    dataset: xarray.Dataset,
    *,
    problems: Sequence[str] = (),
    horizons: Sequence[int] = (),
    policies: Sequence[str] = (),
    definitions: Sequence[str] = (),
    columns: Columns = "auto",
    width: int = 100,
) -> list[str]:
    """The results of a sweep so far, as text: regret at the horizon with its 95 % interval.

    Args:
      dataset: data set from `open_sweep`, of a finished sweep or not.
      problems, horizons, policies, definitions: those to keep, as for `Readings`.
      columns: whether all combinations of parameters have columns; "auto": if they fit, or only
        one policy is shown.
      width: characters of a line.

    Returns:
      Lines: the finished part, the table, and the meaning of its marks.

    Raises:
      InputError: if a name is not in the sweep.
    """
    readings = Readings(
        dataset, problems=problems, horizons=horizons, policies=policies, definitions=definitions
    )
    return [progress_line(dataset), "", *_Text(SweepTable(readings)).lines(columns, width)]


def show_csv(
    dataset: xarray.Dataset,
    *,
    problems: Sequence[str] = (),
    horizons: Sequence[int] = (),
    policies: Sequence[str] = (),
    definitions: Sequence[str] = (),
) -> str:
    """The numbers of `show_lines` as CSV, of all combinations of parameters."""
    readings = Readings(
        dataset, problems=problems, horizons=horizons, policies=policies, definitions=definitions
    )
    return SweepTable(readings).csv()


def progress_line(dataset: xarray.Dataset) -> str:
    """Finished part of the whole grid: cells, and seeds of all cells together."""
    wanted = int(json.loads(dataset.attrs["grid"])["seeds"])
    in_grid = dataset["t"].notnull().any("checkpoint")
    seeds = dataset["num_seeds"].where(in_grid, 0)
    cells, finished = int(in_grid.sum()), int((seeds.where(in_grid, -1) >= wanted).sum())
    ran, whole = int(seeds.sum()), cells * wanted
    if finished == cells:
        return f"finished: {cells:,} cells of {wanted:,} seeds each"
    share = min(100 * ran / whole, 99.9)
    return (
        f"{finished:,} of {cells:,} cells finished; {ran:,} of {whole:,} runs (cells times "
        f"{wanted:,} seeds), {share:.1f} %"
    )


def _seeds(entries: Iterable[Entry]) -> str:
    counts = sorted({entry.seeds for entry in entries})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
