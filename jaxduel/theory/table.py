"""The lines that reports of bounds are made of, and their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class Bound:
    """One line of a report."""

    name: str
    """What is bounded."""
    regret: str
    """Of which regret: "copeland", "average" or "pulls"."""
    value: float | None
    """The constant of log T; of batched policies the bound itself; None if it does not apply."""
    source: str
    """Paper and theorem, and whether it is an order only; or else why it does not apply."""


def bound_unless(
    name: str, regret: str, value: Callable[[], float], source: str, obstacle: str | None
) -> Bound:
    """The line of a bound, computed only if nothing stands in its way.

    Args:
      name: what is bounded.
      regret: of which regret.
      value: computes the bound.
      source: paper and theorem.
      obstacle: why the bound does not apply, or None.
    """
    if obstacle is not None:
        return Bound(name, regret, None, f"does not apply: {obstacle}")
    return Bound(name, regret, value(), source)


def table(bounds: Sequence[Bound]) -> list[str]:
    """A heading and a line of text for each of the bounds."""
    width = max(len(bound.name) for bound in bounds)
    rows = [f"  {'bound':<{width}}  regret    {'constant':>10}  source"]
    for bound in bounds:
        value = "-" if bound.value is None else f"{bound.value:.6g}"
        rows.append(f"  {bound.name:<{width}}  {bound.regret:<8}  {value:>10}  {bound.source}")
    return rows


def shown(arms: Sequence[int]) -> str:
    """The numbers of the first arms, and how many more there are."""
    more = len(arms) - _SHOWN
    listed = ", ".join(str(arm) for arm in arms[:_SHOWN])
    return f"{listed} and {more} more" if more > 0 else listed
