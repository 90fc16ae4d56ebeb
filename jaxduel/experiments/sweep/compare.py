"""Two policies of a sweep against each other, on common random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import InputError
from jaxduel.experiments.sweep.numbers import number, rounded, with_interval
from jaxduel.experiments.sweep.readings import (
    Readings,
    Setting,
    Variant,
    find_variants,
    listed_labels,
)
from jaxduel.experiments.tables import aligned, csv_text
from jaxduel.stats import Paired, paired

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Difference:
    """Two policies in one setting.

    Attributes:
      setting: the problem, the horizon, the definition of regret.
      parameters: the label that both have, where all parameters are compared.
      paired: the difference of their regret at the horizon.
    """

    setting: Setting
    parameters: str
    paired: Paired


@dataclass(frozen=True)
class Comparison:
    """The regret of a minus that of b, setting by setting.

    Attributes:
      a, b: labels.
      differences: one per setting in which a seed of both has run, in the order of the grid.
      waiting: number of settings that both have in the grid, without a seed that both have run.
    """

    a: str
    b: str
    differences: tuple[Difference, ...]
    waiting: int

    @property
    def better(self) -> int:
        """Number of settings in which a has significantly smaller regret (95 %)."""
        return self._count("better")

    @property
    def worse(self) -> int:
        """Number of settings in which a has significantly larger regret (95 %)."""
        return self._count("worse")

    @property
    def undecided(self) -> int:
        """Number of settings in which the difference is not significant."""
        return self._count("undecided")

    @property
    def tightness(self) -> float:
        """The median over settings of the unpaired standard error over the paired one; NaN where
        none has both."""
        ratios = [one.paired.tightness for one in self.differences]
        ratios = [ratio for ratio in ratios if np.isfinite(ratio)]
        return float(np.median(ratios)) if ratios else float("nan")

    def lines(self) -> list[str]:
        """The table and its summary as text."""
        some = self.differences
        definitions = len({one.setting.definition for one in some}) > 1
        parameters = any(one.parameters for one in some)
        header = ["problem", "T", *["definition"] * definitions, *["parameters"] * parameters]
        header += ["seeds", self.a, self.b, "difference", "verdict", "tighter"]
        rows = []
        for one in some:
            problem, horizon, definition = one.setting
            row = [problem, number(horizon)]
            row += [definition] * definitions + [one.parameters] * parameters
            row += [str(one.paired.seeds), *_numbers(one.paired)]
            rows.append(row)
        lines = aligned(header, rows) if rows else []
        return [*lines, *([""] if rows else []), *self.summary()]

    def summary(self) -> list[str]:
        """Numbers of settings in which either is better, and the meaning of the table's columns."""
        count = len(self.differences)
        definitions = {one.setting.definition for one in self.differences}
        of = f" ({next(iter(definitions))})" if len(definitions) == 1 else ""
        lines = [
            f"{self.a} against {self.b}, regret at T{of}: better in {self.better}, worse in "
            f"{self.worse}, undecided in {self.undecided} of {count} settings."
        ]
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
        numbers = ("mean_a", "mean_b", "difference", "sem", "lower95", "upper95")
        numbers += ("unpaired_sem", "tightness", "verdict")
        header = ["a", "b", "problem", "horizon", "definition", "parameters", "seeds", *numbers]
        rows = [
            [self.a, self.b, *one.setting, one.parameters, one.paired.seeds]
            + [getattr(one.paired, name) for name in numbers]
            for one in self.differences
        ]
        return csv_text(header, rows)

    def _count(self, verdict: str) -> int:
        return sum(one.paired.verdict == verdict for one in self.differences)


def compare(
    dataset: xarray.Dataset,
    a: str,
    b: str,
    *,
    problems: Sequence[str] = (),
    horizons: Sequence[int] = (),
    definitions: Sequence[str] = (),
) -> Comparison:
    """Compares the regret at the horizon of two policies, in every setting that both have.

    Args:
      dataset: data set from `open_sweep`, of a finished sweep or not.
      a, b: a policy's name, with parameters in brackets where the sweep has several combinations:
        "dts[alpha=0.6]". Two names without them, of policies with the same combinations, are
        compared combination by combination.
      problems, horizons, definitions: those to keep, as for `Readings`.

    Raises:
      InputError: if a name is not in the sweep, stands for several combinations of parameters that
        the other does not have, or both stand for the same; or the two share no setting.
    """
    chosen = Readings(dataset, problems=problems, horizons=horizons, definitions=definitions)
    matches = _matches(a, b, chosen.variants)
    alone = len(matches) == 1
    where = {(reading.variant, reading.setting): reading for reading in chosen.all}
    differences, waiting = [], 0
    for setting in chosen.settings:
        for first, second in matches:
            one, other = where.get((first, setting)), where.get((second, setting))
            if one is None or other is None:
                continue
            found = paired(chosen.final(one), chosen.final(other))
            if found is None:
                waiting += 1
            else:
                parameters = "" if alone else first.parameters
                differences.append(Difference(setting, parameters, found))
    if not differences and not waiting:
        raise InputError(f"the sweep has '{a}' and '{b}' in no setting together.")
    labels = [variant.label for variant in matches[0]] if alone else [a, b]
    return Comparison(labels[0], labels[1], tuple(differences), waiting)


def _matches(a: str, b: str, variants: Sequence[Variant]) -> list[tuple[Variant, Variant]]:
    """The pairs of variants to compare."""
    first, second = find_variants(a, variants), find_variants(b, variants)
    if first == second:
        raise InputError(f"'{a}' and '{b}' are the same: name two policies, or two parameters.")
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    by_label = {variant.parameters: variant for variant in second}
    if set(by_label) != {variant.parameters for variant in first}:
        name, several = (a, first) if len(first) > 1 else (b, second)
        raise InputError(
            f"'{name}' stands for several combinations of parameters: name one of "
            f"{listed_labels(several)}."
        )
    return [(variant, by_label[variant.parameters]) for variant in first]


def _numbers(one: Paired) -> list[str]:
    half = (one.upper95 - one.lower95) / 2
    return [
        rounded(one.mean_a, half),
        rounded(one.mean_b, half),
        with_interval(one.difference, half),
        one.verdict,
        f"{one.tightness:.3g}" if np.isfinite(one.tightness) else "-",
    ]
