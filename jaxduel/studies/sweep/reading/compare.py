"""Two policies of a sweep against each other, on common random numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.display import listed
from jaxduel.errors import InputError
from jaxduel.files import csv_text
from jaxduel.studies.sweep.axes import columns_of
from jaxduel.studies.sweep.reading.cells import (
    Frame,
    by_setting,
    choose,
    find_variants,
)
from jaxduel.studies.sweep.reading.layout import Measure, measure_of
from jaxduel.studies.tables import aligned, short

if TYPE_CHECKING:
    import xarray

_COLUMNS = ["parameters", "num_seeds", "mean_a", "mean_b", "difference", "sem", "lower95"]
_COLUMNS += ["upper95", "unpaired_sem", "tightness", "verdict"]


@dataclass(frozen=True)
class Comparison:
    """The regret of a minus the regret of b at the horizon, setting by setting; if arms are
    identified, the difference of the shares of seeds for which a rule names a wrong arm after the
    last vote.

    Attributes:
      a, b: labels.
      differences: a row for each setting in which a seed of both has run, in the order of the grid:
        problem, num_arms, horizon, the parameters of instances, definition (or rule); parameters,
        the common label if all combinations are compared; and the numbers of
        `jaxduel.stats.Paired`.
      waiting: number of common settings in the grid for which no seed of both has run.
    """

    a: str
    b: str
    differences: Frame
    waiting: int

    @property
    def measure(self) -> Measure:
        """The measure that is compared."""
        return measure_of(self.differences)

    @property
    def tightness(self) -> float:
        """The median over settings of the unpaired standard error over the paired one; NaN if
        unknown."""
        ratios = self.differences["tightness"].astype(float)
        return float(ratios[np.isfinite(ratios)].median())

    def count(self, verdict: str) -> int:
        """Number of settings in which a is "better" or "worse" (95 %), or neither, "undecided"."""
        return int((self.differences["verdict"] == verdict).sum())

    def lines(self) -> list[str]:
        """The table and its summary as text."""
        some, kind = self.differences, self.measure.dimension
        named = [kind] * (some[kind].nunique() > 1)
        named += ["parameters"] * any(some["parameters"])
        header = ["problem", self.measure.clock, *named, "seeds", self.a, self.b]
        header += ["difference", "verdict", "tighter"]
        rows = []
        for one in some.to_dict("records"):
            numbers = self.measure.texts(one)
            tighter = f"{one['tightness']:.3g}" if np.isfinite(one["tightness"]) else "-"
            row = [one["problem"], short(one["horizon"]), *(one[name] for name in named)]
            rows.append([*row, str(one["num_seeds"]), *numbers, one["verdict"], tighter])
        return [*(aligned(header, rows) if rows else []), *([""] if rows else []), *self.summary()]

    def summary(self) -> list[str]:
        """Numbers of settings in which either is better, and the meaning of the table's columns."""
        count, measures = len(self.differences), self.differences[self.measure.dimension].unique()
        of = f" ({measures[0]})" if len(measures) == 1 else ""
        lines = [
            f"{self.a} against {self.b}, {self.measure.words}{of}: better in "
            f"{self.count('better')}, worse in {self.count('worse')}, undecided in "
            f"{self.count('undecided')} of {count} settings."
        ]
        if count and self.measure.compared:
            lines.append(f"{self.a}, {self.b}: {self.measure.compared}")
        if self.waiting:
            lines.append(f"Of {self.waiting} more no seed has run in both yet.")
        if count:
            lines += [
                f"difference: {self.a} minus {self.b}, with its 95 % interval, paired over the "
                "seeds that have run in both;",
                "of 40 settings without any difference about two are called better or worse.",
            ]
        if np.isfinite(self.tightness):
            lines.append(
                "tighter: how many times narrower the interval is than without pairing; "
                f"{self.tightness:.3g} in the median."
            )
        return lines

    def csv(self) -> str:
        """One line per setting, floats to the last bit."""
        rows = ([self.a, self.b, *row] for row in self.differences.itertuples(index=False))
        return csv_text(["a", "b", *self.differences], rows)


def compare(dataset: xarray.Dataset, a: str, b: str, **chosen: Any) -> Comparison:
    """Compares two policies by regret at the horizon, in every common setting; in a sweep that
    identifies arms, by how often a wrong arm is named after the last vote.

    Args:
      dataset: data set from `open_sweep`, of a finished sweep or not.
      a, b: a policy's name, with parameters in brackets if the sweep has several combinations:
        "dts[alpha=0.6]". Two names without brackets, of policies with the same combinations, are
        compared combination by combination.
      **chosen: the cells to keep, as for `choose`.

    Raises:
      InputError: if a name is not in the sweep, or stands for several combinations of parameters
        that the other policy does not have; if both stand for the same; or if they share no
        setting.
    """
    import pandas

    measure = measure_of(dataset)
    cells = choose(dataset, **chosen)
    matches = _matches(a, b, cells)
    settings, rows, waiting = columns_of(cells, "setting", "measure"), [], 0
    involved = cells[cells["variant"].isin([variant for match in matches for variant in match])]
    for some, final in by_setting(dataset, involved):
        of_seeds = dict(zip(some["variant"], final, strict=True))
        setting = some[settings].iloc[0].to_dict()
        for (one, other), label in matches.items():
            if one not in of_seeds or other not in of_seeds:
                continue
            found = measure.paired(of_seeds[one], of_seeds[other])
            if found is None:
                waiting += 1
                continue
            numbers = {**asdict(found), "tightness": found.tightness, "verdict": found.verdict}
            rows.append({**setting, "parameters": label, **numbers})
    if not rows and not waiting:
        raise InputError(f"the sweep has '{a}' and '{b}' in no setting together.")
    labels = next(iter(matches)) if len(matches) == 1 else (a, b)
    return Comparison(*labels, pandas.DataFrame(rows, columns=[*settings, *_COLUMNS]), waiting)


def _matches(a: str, b: str, cells: Frame) -> dict[tuple[str, str], str]:
    """The pairs of variants to compare, with their common parameters; "" for a single pair."""
    first, second = find_variants(a, cells), find_variants(b, cells)
    if first == second:
        raise InputError(f"'{a}' and '{b}' are the same: name two policies, or two parameters.")
    if len(first) == len(second) == 1:
        return {(first[0], second[0]): ""}
    labels = dict(zip(cells["variant"], cells["parameters"], strict=True))
    same = {labels[variant]: variant for variant in second}
    if set(same) != {labels[variant] for variant in first}:
        name, several = (a, first) if len(first) > 1 else (b, second)
        raise InputError(
            f"'{name}' stands for several combinations of parameters: name one of "
            f"{listed([label if '[' in label else f'{label}[]' for label in several])}."
        )
    return {(variant, same[labels[variant]]): labels[variant] for variant in first}
