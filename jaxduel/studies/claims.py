"""Claims of papers, their measurements, and verdicts: confirmed, not confirmed or undecided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from jaxduel.display import counted
from jaxduel.files import csv_text
from jaxduel.studies.choices import Choice
from jaxduel.studies.estimates import Estimate, unseen_chance

Verdict = Literal["confirmed", "not confirmed", "undecided", "not measured"]
_MARKS = {"confirmed": "yes", "not confirmed": "no", "undecided": "?", "not measured": ""}
"""Short form of a verdict on a measurement, for lines of text."""


@dataclass(frozen=True)
class Measurement:
    """One number that bears on a claim.

    Attributes:
      where: the instance.
      what: the quantity, such as "SCOMP2 / RMED1" for a ratio of mean final regrets, or in words.
      estimate: its value, with its interval.
      verdict: the verdict on the claim on this instance, from the interval.
      medians: for a ratio of means, the ratio of medians over runs, for comparison; else NaN. No
        verdict depends on it.
      limits: the limits of the criterion, if it is one on the estimate.
      decidable: False if the verdict is open for another reason than too few runs.
    """

    where: str
    what: str
    estimate: Estimate
    verdict: Verdict
    medians: float = math.nan
    limits: tuple[float, ...] = ()
    decidable: bool = True

    @classmethod
    def judged(
        cls, where: str, what: str, estimate: Estimate, judge: Judge, medians: float = math.nan
    ) -> Measurement:
        """A measurement with the verdict of a criterion."""
        limits = judge.limits if isinstance(judge, Between) else ()
        return cls(where, what, estimate, judge(estimate), medians, limits)

    def left_open(self) -> Measurement:
        """The same number, which decides nothing however many runs there are: T is too short, or
        something else is missing."""
        return replace(self, verdict="undecided", decidable=False)

    @property
    def missed(self) -> int | None:
        """N such that an event in one of N runs is missed by all runs with probability 2.5 %; None
        for a number that was computed."""
        runs = self.estimate.runs
        return None if runs is None else math.floor(1 / unseen_chance(runs))

    @property
    def sample(self) -> str:
        """The number of runs, and the rarest event they show."""
        runs = self.estimate.runs
        return "computed" if runs is None else f"{counted(runs, 'run')} (1 in {self.missed:,})"


def all_hold(verdicts: Sequence[Verdict]) -> Verdict:
    """Confirmed if all are confirmed, not confirmed if any is not confirmed, else undecided."""
    counts = Counter(verdicts)
    return _decided(counts["confirmed"] == len(verdicts), counts["not confirmed"] > 0)


def at_least(number: int) -> Callable[[Sequence[Verdict]], Verdict]:
    """A rule: confirmed if `number` verdicts are, not confirmed if fewer than that can be."""

    def combined(verdicts: Sequence[Verdict]) -> Verdict:
        counts = Counter(verdicts)
        possible = len(verdicts) - counts["not confirmed"]
        return _decided(counts["confirmed"] >= number, possible < number)

    return combined


def _decided(yes: bool, no: bool) -> Verdict:
    return "confirmed" if yes else "not confirmed" if no else "undecided"


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the rule that decides it.

    Attributes:
      quote: the paper's words.
      source: their place in the paper.
      criterion: the condition that confirms the claim, in words.
      estimate: makes the measurements from the paper's evidence (mostly a
        `jaxduel.studies.findings.Finder`).
      expected: number of measurements if no instance is missing; a missing one leaves the claim
        undecided unless the others decide it. None if any number will do.
      combine: computes the claim's verdict from the measurements' verdicts.
      needs: a sentence on what decides the claim if that is not the number of runs.
      reason: sentences on why the claim does not hold here, if known; shown unless it is confirmed.
      facts: makes sentences with numbers that support the reason, from the evidence.
      open: choices that the text leaves open and that may decide the claim.
      measurements: the numbers, once the claim is measured.
      read: keys of the runs that they were made of, missing ones included.
    """

    quote: str
    source: str
    criterion: str
    estimate: Callable[[Any], Iterable[Measurement]]
    expected: int | None
    combine: Callable[[Sequence[Verdict]], Verdict] = all_hold
    needs: str = ""
    reason: str = ""
    facts: Callable[[Any], Iterable[str]] = lambda evidence: ()
    open: tuple[Choice, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    read: frozenset[tuple[str, str]] = frozenset()

    def measured(self, evidence: Any) -> Claim:
        """The claim with its measurements, and the numbers behind its reason."""
        reason = " ".join([self.reason, *self.facts(evidence)]).strip()
        return replace(self, measurements=tuple(self.estimate(evidence)), reason=reason)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        if not self.measurements:
            return "not measured"
        number = len(self.measurements)
        missing: list[Verdict] = ["not measured"] * ((self.expected or number) - number)
        return self.combine([*(m.verdict for m in self.measurements), *missing])

    @property
    def remark(self) -> str:
        """Sentences that explain the verdict, or say what would decide the claim."""
        if self.verdict == "not confirmed":
            return self.reason
        waits = self.verdict == "undecided" and not all(m.decidable for m in self.measurements)
        return f"To decide it: {self.needs}" if self.needs and waits else ""


Judge = Callable[[Estimate], Verdict]
"""A criterion: the verdict on a claim from an estimate."""


@dataclass(frozen=True)
class Between:
    """The criterion "between two limits": undecided if the interval contains one of them."""

    low: float
    high: float

    @property
    def limits(self) -> tuple[float, ...]:
        """The finite limits."""
        return tuple(limit for limit in (self.low, self.high) if math.isfinite(limit))

    def __call__(self, estimate: Estimate) -> Verdict:
        """The verdict on an estimate."""
        lower, upper = estimate.interval
        above = self.low == -math.inf or lower > self.low
        below = self.high == math.inf or upper < self.high
        return _decided(above and below, upper < self.low or lower > self.high)


def under(limit: float) -> Judge:
    """The criterion "below the limit": undecided if the interval contains the limit."""
    return Between(-math.inf, limit)


def over(limit: float) -> Judge:
    """The criterion "above the limit": undecided if the interval contains the limit."""
    return Between(limit, math.inf)


def between(low: float, high: float) -> Judge:
    """The criterion "between two limits": undecided if the interval contains one of them."""
    return Between(low, high)


less, more, similar = under(1.0), over(1.0), between(0.8, 1.25)
"""Criteria for a ratio: below 1, above 1, and between 0.8 and 1.25."""


def lines(claims: Sequence[Claim]) -> list[str]:
    """The claims as lines of text: verdict, criterion, and one line per measurement; at the end,
    the numbers of the claims without measurements. No line if there is no claim."""
    if not claims:
        return []
    text = [
        "Claims, by ratios of mean final regrets, [95 % intervals, allowing for an unseen run of "
        "large regret], (ratios of medians), runs (what they miss with probability 2.5 %); ?: the "
        "limit is inside, or T is too short."
    ]
    measurements = [m for claim in claims for m in claim.measurements]
    where = max((len(m.where) for m in measurements), default=0)
    what = max((len(m.what) for m in measurements), default=0)
    missing = [n for n, claim in enumerate(claims, start=1) if not claim.measurements]
    for number, claim in enumerate(claims, start=1):
        if number in missing:
            continue
        measured = len(claim.measurements)
        whole = claim.expected in (None, measured)
        part = "" if whole else f" ({measured} of {claim.expected} measured)"
        text.append(f'{number}. {claim.verdict.upper()}{part}: "{claim.quote}" ({claim.source})')
        text.append(f"   criterion: {claim.criterion}")
        if claim.remark:
            text.append(f"   {claim.remark}")
        for m in claim.measurements:
            medians = "" if math.isnan(m.medians) else f" ({m.medians:.2g})"
            of = f"{m.where:<{where}}  {m.what:<{what}}"
            text.append(f" {_MARKS[m.verdict]:<3} {of}  {m.estimate}{medians}, {m.sample}")
    if missing:
        text.append(
            f"Not measured here: {len(missing)} of {len(claims)} claims "
            f"({', '.join(map(str, missing))}), on what was not simulated."
        )
    return text


def table(claims: Sequence[Claim]) -> str:
    """The claims as CSV: a line per measurement, or one line for a claim without any."""
    header = (
        "claim", "source", "criterion", "claim_verdict", "instance", "quantity", "ratio_of_means",
        "value", "lower95", "upper95", "num_runs", "missed_one_in", "ratio_of_medians", "verdict",
        "remark",
    )  # fmt: skip
    rows = []
    for claim in claims:
        shared = (claim.quote, claim.source, claim.criterion, claim.verdict)
        entries = [_entries(m) for m in claim.measurements] or [("",) * 10]
        rows += [(*shared, *entry, claim.remark) for entry in entries]
    return csv_text(header, rows)


def _entries(measurement: Measurement) -> tuple[str | float | None, ...]:
    """A measurement's table entries. Columns for ratios of means are empty for other numbers;
    columns about runs are empty for computed numbers."""
    value, of_means = measurement.estimate.value, not math.isnan(measurement.medians)
    return (
        measurement.where,
        measurement.what,
        value if of_means else "",
        value,
        *measurement.estimate.interval,
        measurement.estimate.runs,
        measurement.missed,
        measurement.medians if of_means else "",
        measurement.verdict,
    )
