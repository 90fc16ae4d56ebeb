"""Lines of the reports of bounds, and their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from jaxduel.display import Facts

ORDER = " (O() only)"
"""Marks the argument of an O(), an order and no bound; with the rest it fits a terminal's line."""
CONSTANT = "as a constant of log T (natural)"
_NOT = "does not apply: "
UNKNOWN = "depends on the horizon and the number of batches"


@dataclasses.dataclass(frozen=True)
class Bound:
    """One line of a report.

    Example:
      >>> import jaxduel as jd
      >>> bound = jd.theory.bounds(jd.problems.load("cyclic")).bounds[0]
      >>> f"{bound.name}: {bound.value:.2f} {bound.unit}"
      'lower bound, Copeland: 27.55 as a constant of log T (natural)'
      >>> bound.source
      'Komiyama et al. 2016, Theorem 2; CW-RMED attains it if the optimum is unique'
    """

    name: str
    """The policy whose regret is bounded, or the kind of lower bound."""
    regret: str
    """The kind of regret: "copeland", "average" or "pulls"."""
    value: float | None
    """The constant of log T; of batched policies the bound itself; None if it does not apply."""
    source: str
    """Paper and theorem, and whether it is an order only; or else why it does not apply."""
    unit: str = CONSTANT
    """The meaning of the value, in words."""


@dataclasses.dataclass(frozen=True)
class Theorem:
    """A bound that is proved of some policies, whatever the instance is."""

    name: str
    """The policy whose regret is bounded, or the kind of lower bound."""
    policies: tuple[str, ...]
    """The registered names of the policies whose regret is at most this, or attains it."""
    regret: str
    """The kind of regret."""
    source: str
    """Paper and theorem, and whether it is an order only."""
    value: Callable[..., float]
    """The bound, of an instance; of batched policies, of T and the number of batches as well."""
    obstacle: Callable[[Any], str | None]
    """Why the theorem says nothing of an instance; None where it does."""

    def of(self, problem: Any, *at: int, unit: str = CONSTANT) -> Bound:
        """Its line for an instance, and for T and a number of batches where it depends on them;
        computed only if nothing stands in its way."""
        if (why := self.obstacle(problem)) is not None:
            return Bound(self.name, self.regret, None, f"{_NOT}{why}", unit)
        return Bound(self.name, self.regret, self.value(problem, *at), self.source, unit)


def of_batches(
    theorems: Sequence[Theorem], problem: Any, asked: tuple[int, int] | None, letter: str = "B"
) -> list[Bound]:
    """Lines of bounds that depend on T and a number of batches, which may be unknown."""
    if asked is None:
        return [Bound(each.name, each.regret, None, UNKNOWN) for each in theorems]
    unit = f"at T = {asked[0]:,}, {letter} = {asked[1]}"
    return [each.of(problem, *asked, unit=unit) for each in theorems]


def rows_of(bounds: Sequence[Bound]) -> list[str | Facts]:
    """The bounds that apply, under a heading for each kind; then the names of the others, by what
    stands in their way."""
    width = max((len(bound.name) for bound in bounds if bound.value is not None), default=0)
    found: dict[str, list[tuple[str, str]]] = {}
    others: dict[str, list[str]] = {}
    for bound in bounds:
        if bound.value is None:
            others.setdefault(bound.source, []).append(bound.name)
        else:
            row = bound.name, f"{bound.value:>10.6g}  {bound.source}"
            found.setdefault(f"{bound.regret} regret, {bound.unit}:", []).append(row)
    rows: list[str | Facts] = [Facts(heading, group, width) for heading, group in found.items()]
    for reason, names in others.items():
        why = f"not for this problem ({reason.removeprefix(_NOT)})"
        why = "add --horizon T --batches B for" if reason == UNKNOWN else why
        rows.append(f"{why}: {'; '.join(dict.fromkeys(names))}")
    return rows
