"""CW-RMED, Algorithm 1 of Komiyama, Honda and Nakagawa (ICML 2016)."""

from __future__ import annotations

from typing import Any

from ..choices import Choices
from ..sequential import Pair
from .covering import CoveringProgram, Family, families
from .ecw_rmed import ECWRMED


class CWRMED(ECWRMED):
    """Copeland winners relative minimum empirical divergence.

    ECW-RMED with the optimum over all conditions of (2). Its solutions are not listed: unless the
    run is real, `play` has to be told the list L_N.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._programs: dict[int, CoveringProgram] = {}  # of the counts of now

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        self._programs.clear()

    def families(self, i1: int) -> tuple[Family, ...]:
        """(2)."""
        return families(self.game(), i1)

    def program(self, i1: int) -> CoveringProgram:
        """The program whose solutions are allowed for i1."""
        if i1 not in self._programs:
            self._programs[i1] = super().program(i1)
        return self._programs[i1]

    def value(self, i1: int) -> float:
        """C_i1^*."""
        return self.program(i1).value

    def solution(self, i1: int, choices: Choices) -> dict[Pair, float]:
        """The optimal e_p = q_p d_p that HiGHS finds."""
        assert self.listed is not None or choices.rng is not None, "the lists are needed"
        return self.program(i1).solution
