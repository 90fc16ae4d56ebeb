"""Lines of the reports of bounds, and their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

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
    """The registered names of the policies whose regret is at most this."""
    regret: str
    """The kind of regret."""
    source: str
    """Paper and theorem, and whether it is an order only."""
    value: Callable[..., float]
    """The bound, of an instance; of batched policies, of T and the number of batches as well."""
    obstacle: Callable[[Any], str | None]
    """Why the theorem says nothing of an instance; None where it does."""

    def of(self, problem: Any, *at: int, unit: str = CONSTANT) -> Bound:
        """Its line for an instance, and for T and a number of batches where it depends on them."""
        why = self.obstacle(problem)
        return bound_unless(
            self.name, self.regret, lambda: self.value(problem, *at), self.source, why, unit
        )

    def without_horizon(self) -> Bound:
        """Its line where T and the number of batches are not known."""
        return Bound(self.name, self.regret, None, UNKNOWN)


def bound_unless(
    name: str,
    regret: str,
    value: Callable[[], float],
    source: str,
    obstacle: str | None,
    unit: str = CONSTANT,
) -> Bound:
    """The line of a bound, computed only if nothing stands in its way.

    Args:
      name: as in `Bound`.
      regret: the kind of regret.
      value: computes the bound.
      source: paper and theorem.
      obstacle: why the bound does not apply, or None.
      unit: the meaning of the value, in words.
    """
    if obstacle is not None:
        return Bound(name, regret, None, f"{_NOT}{obstacle}", unit)
    return Bound(name, regret, value(), source, unit)


def table(bounds: Sequence[Bound]) -> list[str]:
    """A line of text for each of the bounds that apply, under a heading for each kind; then the
    names of the others, by what stands in their way."""
    width = max((len(bound.name) for bound in bounds if bound.value is not None), default=0)
    rows: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for bound in bounds:
        if bound.value is None:
            others.setdefault(bound.source, []).append(bound.name)
        else:
            heading = f"  {bound.regret} regret, {bound.unit}:"
            row = f"    {bound.name:<{width}}  {bound.value:>10.6g}  {bound.source}"
            rows.setdefault(heading, []).append(row)
    lines = [line for heading, group in rows.items() for line in (heading, *group)]
    for reason, names in others.items():
        if reason == UNKNOWN:
            lines.append(f"  add --horizon T --batches B for: {'; '.join(names)}")
        else:
            why = reason.removeprefix(_NOT)
            lines.append(f"  not for this problem ({why}): {'; '.join(dict.fromkeys(names))}")
    return lines
