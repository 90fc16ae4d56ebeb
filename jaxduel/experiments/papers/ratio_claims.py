"""Claims about ratios of mean regrets, the shape of most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from jaxduel.experiments.claims import Claim, Measurement, Verdict, all_hold
from jaxduel.experiments.findings import Finder, Judge, less


class Ratios(NamedTuple):
    """Measurements of ratios of mean regrets, and their number if nothing is missing."""

    measured: Callable[[Finder], Iterable[Measurement]]
    expected: int


def over_other(
    policies: str | Sequence[str],
    other: str,
    where: Sequence[str],
    judge: Judge = less,
    judged_from: int = 0,
) -> Ratios:
    """Regret of each policy over that of another, on each data set (`Finder.ratios`)."""
    return _of_each(
        policies, where, lambda find, p: find.ratios(p, other, where, judge, judged_from)
    )


def over_best(
    policies: str | Sequence[str],
    others: Sequence[str],
    where: Sequence[str],
    judge: Judge = less,
) -> Ratios:
    """Regret of each policy over the least of others, on each data set (`Finder.against_best`)."""
    return _of_each(policies, where, lambda find, p: find.against_best(p, others, where, judge))


def _of_each(
    policies: str | Sequence[str],
    where: Sequence[str],
    ratios: Callable[[Finder, str], Iterable[Measurement]],
) -> Ratios:
    """Ratios of each policy, one on each data set."""
    names = (policies,) if isinstance(policies, str) else policies
    return Ratios(
        lambda find: (m for name in names for m in ratios(find, name)), len(names) * len(where)
    )


def claim(
    quote: str,
    source: str,
    criterion: str,
    ratios: Ratios,
    combine: Callable[[Sequence[Verdict]], Verdict] = all_hold,
    needs: str = "",
    reason: str = "",
) -> Claim:
    """The claim that ratios meet the criterion; arguments are as in `Claim`."""
    measured, expected = ratios
    return Claim(quote, source, criterion, measured, expected, combine, needs, reason)
