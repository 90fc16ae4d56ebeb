"""Open choices of Zoghi, Karnin, Whiteson and de Rijke (NIPS 2015): axes for claims."""

from __future__ import annotations

from dataclasses import replace

from jaxduel.problems import copeland_cycle
from jaxduel.studies.choices import Choice, on_instance
from jaxduel.studies.papers import five_hundred
from jaxduel.studies.wanted import Wanted

_UNITS = {1: (1,), 2: (1, 3), 3: (1, 2, 5), 5: (1, 2, 3, 5, 7), 9: (1, 2, 3, 4, 5, 6, 7, 8, 9)}
"""First digits of the horizons, by their number in a decade."""


def _apart(one: Wanted, number: int) -> Wanted:
    return replace(one, units=_UNITS[number]) if one.competitor.per_horizon else one


HORIZONS = Choice("horizons in a decade", tuple(_UNITS), 2, _apart, "horizons")
"""Of the separate runs; the text names 1e7 and 2e7."""


def _with_gap(one: Wanted, gap: float) -> Wanted:
    return on_instance(one, copeland_cycle(five_hundred.NUM_ARMS, gap))


GAPS = Choice(
    "gaps of the 500 arms", (five_hundred.GAP, 0.45, 0.49), five_hundred.GAP, _with_gap, "gap"
)
"""With smaller gaps the pairs are not told apart at the default T."""
