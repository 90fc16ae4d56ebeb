"""Measurements of claims on the finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxduel.problems import load
from jaxduel.runs import Runs
from jaxduel.stats import wilson95
from jaxduel.studies.claims import Judge, Measurement, less, over
from jaxduel.studies.estimates import Estimate, final_ratio, slope
from jaxduel.studies.pictures import AllRuns


class Finder:
    """Makes measurements on the finished runs; missing runs give none.

    Attributes:
      runs: finished runs by name of the instance and of the competitor.
    """

    def __init__(self, runs: AllRuns) -> None:
        self.runs = runs

    def ratios(
        self, policy: str, other: str, where: Sequence[str], judge: Judge, judged_from: int = 0
    ) -> list[Measurement]:
        """Mean regret of one policy over that of another, on each instance; undecided where T is
        below `judged_from`."""
        found = []
        for data in where:
            pair = self._pair(data, policy, other)
            if pair is not None:
                found.append(self._of_means(data, *pair, judge, judged_from=judged_from))
        return found

    def against_best(
        self, policy: str, others: Sequence[str], where: Sequence[str], judge: Judge = less
    ) -> list[Measurement]:
        """Mean regret of a policy over the smallest mean regret of the others, on each instance.

        If the runs of one of the others are missing, this can refute a claim but not confirm it.
        """
        found = []
        for data in where:
            mine = self.runs.get((data, policy))
            there = [self.runs[data, o] for o in others if (data, o) in self.runs]
            if mine is None or not there:
                continue
            best = min(there, key=lambda runs: runs.mean[-1])
            of = f", best of {len(there)} of {len(others)} others"
            complete = len(there) == len(others)
            found.append(self._of_means(data, mine, best, judge, of, complete))
        return found

    def of_pairs(
        self,
        what: str,
        estimate: Callable[[Runs, Runs], Estimate],
        policy: str,
        other: str,
        data: str,
        judge: Judge,
    ) -> list[Measurement]:
        """Any quantity of two policies; {0} and {1} in its name, `what`, stand for their labels."""
        pair = self._pair(data, policy, other)
        if pair is None:
            return []
        value = estimate(*pair)
        words = what.format(pair[0].label, pair[1].label) + self._until(pair[0])
        return [Measurement.judged(data, words, value, judge)]

    def growths(
        self, policy: str, other: str, suffix: str, where: Sequence[str], judge: Judge
    ) -> list[Measurement]:
        """Growth factor of mean regret from a policy to its variant (named by the policy and
        `suffix`), over the same factor of another policy."""
        found = []
        for data in where:
            mine, theirs = (self._pair(data, name + suffix, name) for name in (policy, other))
            if mine is None or theirs is None:
                continue
            growth = final_ratio(*mine) / final_ratio(*theirs)
            words = " over ".join(f"{late.label} / {base.label}" for late, base in (mine, theirs))
            words += self._until(mine[1])
            found.append(Measurement.judged(data, words, growth, judge))
        return found

    def slopes(self, names: Sequence[str], where: Sequence[str], judge: Judge) -> list[Measurement]:
        """Smallest log-log slope of the policies over the last decade, on each instance."""
        found = []
        for data in where:
            flattest = self._flattest(data, names)
            if flattest is not None:
                value = slope(flattest)
                words = f"slope of log R, {flattest.label}{self._until(flattest)}"
                found.append(Measurement.judged(data, words, value, judge))
        return found

    def rising(self, names: Sequence[str], other: str, where: Sequence[str]) -> list[Measurement]:
        """Log-log slope over the last decade of the flattest of the policies, minus that of
        `other`, on each instance: above 0, the ratio of their regrets still rises."""
        found = []
        for data in where:
            flattest, base = self._flattest(data, names), self._flattest(data, (other,))
            if flattest is not None and base is not None:
                value = slope(flattest) - slope(base)
                words = (
                    f"slope of log R, {flattest.label} minus {base.label}{self._until(flattest)}"
                )
                found.append(Measurement(data, words, value, over(0.0)(value)))
        return found

    def _flattest(self, data: str, names: Sequence[str]) -> Runs | None:
        """The policy with the smallest log-log slope over the last decade; None unless all runs are
        there and span a decade."""
        there = [self.runs[data, n] for n in names if (data, n) in self.runs]
        if len(there) < len(names) or not all(runs.spans_a_decade for runs in there):
            return None
        return min(there, key=lambda runs: slope(runs).value)

    def costly(self, policy: str, other: str, where: Sequence[str], factor: float) -> Iterator[str]:
        """Sentences on the runs of a policy with more than `factor` times the mean regret of
        another: their share, with Wilson's 95 % interval, and the mean regret of the rest."""
        for data in where:
            pair = self._pair(data, policy, other)
            if pair is None or not pair[1].mean[-1] > 0:
                continue
            runs, base = pair
            regret = runs.final / base.mean[-1]
            many = regret > factor
            lower, upper = wilson95(many.sum(), len(many))
            rest = f"; the rest have {regret[~many].mean():.2g} times it" if not many.all() else ""
            yield (
                f"{data}: {many.mean():.1%} [{lower:.1%}, {upper:.1%}] of the runs of {runs.label} "
                f"have more than {factor:g} times the mean regret of {base.label}{rest}."
            )

    def shares(self, name: str, data: str) -> np.ndarray | None:
        """Shares of the W Copeland winners in a competitor's comparisons of a winner with itself,
        largest first: (n, W) for the n runs with such comparisons; None if there are none."""
        runs = self.runs.get((data, name))
        if runs is None or runs.selves is None:
            return None
        shares = runs.ordered_shares(load(data).copeland_winners)
        return shares if len(shares) else None

    def confidence(self, name: str, data: str) -> float:
        """Confidence of the intervals by which a competitor's runs are judged."""
        return self.runs[data, name].confidence

    def _pair(self, data: str, policy: str, other: str) -> tuple[Runs, Runs] | None:
        first, second = self.runs.get((data, policy)), self.runs.get((data, other))
        return None if first is None or second is None else (first, second)

    def _of_means(
        self,
        data: str,
        first: Runs,
        second: Runs,
        judge: Judge,
        of: str = "",
        complete: bool = True,
        judged_from: int = 0,
    ) -> Measurement:
        ratio = final_ratio(first, second)
        with np.errstate(all="ignore"):
            medians = float(np.float64(np.median(first.final)) / np.median(second.final))
        words = f"{first.label} / {second.label}{of}{self._until(first)}"
        found = Measurement.judged(data, words, ratio, judge, medians)
        open_yet = found.verdict == "confirmed" and not complete
        return found.left_open() if open_yet or first.times[-1] < judged_from else found

    def _until(self, runs: Runs) -> str:
        """The horizon in words, if runs have different horizons."""
        ends = {int(other.times[-1]) for other in self.runs.values()}
        return f", T = {runs.times[-1]:,}" if len(ends) > 1 else ""


class Ratios(NamedTuple):
    """Fields of a `Claim`: measurements of ratios of mean regrets, and their number."""

    estimate: Callable[[Finder], Iterable[Measurement]]
    expected: int


def over_other(
    policies: str | Sequence[str],
    other: str,
    where: Sequence[str],
    judge: Judge = less,
    judged_from: int = 0,
) -> Ratios:
    """Regret of each policy over that of another, on each instance (`Finder.ratios`)."""
    return _of_each(
        policies, where, lambda find, p: find.ratios(p, other, where, judge, judged_from)
    )


def over_best(
    policies: str | Sequence[str],
    others: Sequence[str],
    where: Sequence[str],
    judge: Judge = less,
) -> Ratios:
    """Regret of each policy over the least of others, on each instance (`Finder.against_best`)."""
    return _of_each(policies, where, lambda find, p: find.against_best(p, others, where, judge))


def _of_each(
    policies: str | Sequence[str],
    where: Sequence[str],
    ratios: Callable[[Finder, str], Iterable[Measurement]],
) -> Ratios:
    """Ratios of each policy, one on each instance."""
    names = (policies,) if isinstance(policies, str) else policies
    return Ratios(
        lambda find: (m for name in names for m in ratios(find, name)), len(names) * len(where)
    )
