"""A claim measured at each value of a choice that its paper leaves open: picture, table, words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from jaxduel import plotting
from jaxduel.plotting.ticks import is_wide
from jaxduel.plotting.words import plain
from jaxduel.studies.choices import Choice
from jaxduel.studies.claims import Claim, Measurement, Verdict
from jaxduel.studies.tables import aligned

COLUMNS = (
    "choice", "value", "stated", "claim_verdict", "instance", "quantity", "estimate", "lower95",
    "upper95", "num_runs", "limits", "verdict",
)  # fmt: skip
"""Columns of `Swept.rows`."""
_FEW = 2
"""Up to as many measurements are printed; more are counted."""
_LONGEST = 34
"""Most letters of the label of an axis."""
_DODGE = 0.12
"""Distance of two points of the same value of a categorical axis."""


@dataclass(frozen=True)
class Swept:
    """A claim at each value of an open choice.

    Attributes:
      number: the claim's number in the paper's list, from 1.
      choice: the choice.
      points: the measured claim at each value of the choice.
    """

    number: int
    choice: Choice
    points: tuple[Claim, ...]

    @property
    def stated(self) -> Claim:
        """The claim at the stated value."""
        return self.points[self.choice.values.index(self.choice.stated)]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict at each value."""
        return [point.verdict for point in self.points]

    @property
    def sentence(self) -> str:
        """What was tried, and where the claim holds."""
        choice = self.choice
        said = choice.categorical or len(set(self.verdicts)) == 1
        tried = "" if said else f", {choice.where(choice.values)}"
        stated = choice.words(choice.stated)
        return f"{choice.name} (stated: {stated}){tried}: {choice.sentence(self.verdicts)}."

    @property
    def columns(self) -> list[list[Measurement]]:
        """The measurements, one list per quantity with an entry per value; none if any value lacks
        them."""
        return [
            list(column) for column in zip(*(p.measurements for p in self.points), strict=False)
        ]

    def panel(self) -> plotting.LinePanel:
        """A line per quantity over the axis, or points if the axis is categorical, with the limits
        of the criterion."""
        choice, columns = self.choice, self.columns
        places = np.arange(len(choice.values)) if choice.categorical else np.array(choice.values)
        labels = _labels([column[0] for column in columns])
        lines = []
        for number, (label, column) in enumerate(zip(labels, columns, strict=True)):
            numbers = [(m.estimate.value, *m.estimate.interval) for m in column]
            mean, lower, upper = _finite(np.array(numbers).T)
            shift = _DODGE * (number - (len(columns) - 1) / 2) if choice.categorical else 0.0
            lines.append(
                plotting.Line(
                    name=f"quantity {number + 1}", label=label, at=places + shift, mean=mean,
                    lower95=lower, upper95=upper, separate=choice.categorical,
                )
            )  # fmt: skip
        limits = sorted({limit for column in columns for m in column for limit in m.limits})
        shown = [line.mean for line in lines] + [line.lower95 for line in lines]
        known = np.concatenate([*shown, *(line.upper95 for line in lines), limits])
        known = known[np.isfinite(known)]
        wide = known.size > 0 and is_wide(float(known.min()), float(known.max()))
        runs = [m.estimate.runs for column in columns for m in column]
        about = plotting.seeds_words([n for n in runs if n], "with 95 % intervals")
        return plotting.LinePanel(
            lines=lines,
            references=[plotting.Reference(f"limit {limit:.3g}", limit) for limit in limits],
            title=f"claim {self.number}: {choice.sentence(self.verdicts)}",
            across=f"{choice.name} (stated: {choice.words(choice.stated)})",
            up=_quantity(columns),
            across_scale=choice.scale,
            up_scale="log" if wide else "linear",
            names=choice.values if choice.categorical else (),
            about=about,
        )

    def rows(self) -> list[tuple[object, ...]]:
        """A row per value and measurement, by `COLUMNS`."""
        choice = self.choice
        return [
            (
                *(choice.name, value, value == choice.stated, point.verdict, m.where, m.what),
                *(m.estimate.value, *m.estimate.interval, m.estimate.runs),
                *(" ".join(f"{limit:g}" for limit in m.limits), m.verdict),
            )
            for value, point in zip(choice.values, self.points, strict=True)
            for m in point.measurements
        ]

    def lines(self) -> list[str]:
        """A row of text per value, and the sentence."""
        choice = self.choice
        rows = []
        for value, point in zip(choice.values, self.points, strict=True):
            mark = " (stated)" if value == choice.stated else ""
            rows.append((choice.words(value) + mark, point.verdict, _numbers(point)))
        table = aligned((choice.name, "verdict", "measured"), rows, left=3)
        return [*(f"   {line}" for line in table), f"   {self.sentence}"]


def _numbers(point: Claim) -> str:
    """The estimates of a claim, or how many meet the criterion if there are many."""
    if len(point.measurements) <= _FEW:
        return "; ".join(str(m.estimate) for m in point.measurements)
    counts = Counter(m.verdict for m in point.measurements)
    return ", ".join(f"{counts[name]} {name}" for name in counts)


def _labels(first: list[Measurement]) -> list[str]:
    """Labels of lines: instances, quantities or both, whichever tell them apart."""
    where, what = [m.where for m in first], [m.what for m in first]
    if len(set(where)) == len(first):
        return where
    if len(set(what)) < len(first):
        return [f"{m.where}: {m.what}" for m in first]
    parts = [words.partition(" / ") for words in what]
    if len({other for _, _, other in parts}) == 1:
        what = [mine for mine, _, _ in parts]
    pieces = [words.split(", ") for words in what]
    return [
        ", ".join(part for part in own if not all(part in other for other in pieces)) or own[0]
        for own in pieces
    ]


def _quantity(columns: list[list[Measurement]]) -> str:
    """The label of the axis: what all measurements have in common, or "ratio of mean regrets"."""
    all_measured = [m for column in columns for m in column]
    names = [m.what.split(", ") for m in all_measured]
    shared = [part for part in names[0] if all(part in other for other in names)]
    words = [part for part in shared if not part.startswith("T = ")] or ["measured"]
    whole, alike = ", ".join(words), len({m.what for m in all_measured}) == 1
    ratios = not any(np.isnan(m.medians) for m in all_measured)
    if ratios and not (alike and len(whole) <= _LONGEST):
        return "ratio of mean regrets"
    return plain(whole if len(whole) <= _LONGEST else words[0])


def _finite(numbers: np.ndarray) -> np.ndarray:
    """The numbers, with NaN for infinite ones."""
    return np.where(np.isfinite(numbers), numbers, np.nan)
