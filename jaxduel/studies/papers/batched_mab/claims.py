"""Claims of Gao, Han, Ren and Zhou (NeurIPS 2019) about Figure 1, for both readings of BaSE.

Ratios are of mean regrets at the horizon; the runs of all policies on an instance share their
seeds. The paper says "typically" and "approach" without numbers: the criteria are chosen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from jaxduel.studies.claims import Claim, Judge, Measurement, at_least, less, under
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.batched_mab.choices import INDEX, STD, gamma
from jaxduel.studies.papers.batched_mab.entries import (
    ARMS,
    BATCHES,
    GRIDS,
    NUM_ARMS,
    NUM_BATCHES,
    PROGRAM,
    READINGS,
    TEXT,
    UCB1,
    Reading,
    base,
    etc,
    horizons_to,
    where,
)
from jaxduel.studies.pictures import AllRuns
from jaxduel.studies.wanted import Competitor

ENOUGH = 4
"""The M that the paper calls sufficient."""
CLOSE, SETTLED = 2.0, 1.25


class Evidence(NamedTuple):
    """Finished runs, and T of Figure 1."""

    runs: AllRuns
    horizon: int

    @property
    def usual(self) -> str:
        """The instance of panel (a)."""
        return where(NUM_ARMS, self.horizon)

    @property
    def two(self) -> str:
        """The instance of panel (d)."""
        return where(2, self.horizon)

    @property
    def settings(self) -> list[tuple[str, int]]:
        """Pairs of an instance and M in panels (a) to (c), each once."""
        found = [(self.usual, number) for number in BATCHES]
        found += [(where(arms, self.horizon), NUM_BATCHES) for arms in ARMS]
        found += [(where(NUM_ARMS, end), NUM_BATCHES) for end in horizons_to(self.horizon)]
        return list(dict.fromkeys(found))

    def ratio(
        self, where: str, policy: Competitor, *others: Competitor, judge: Judge
    ) -> list[Measurement]:
        """Mean regret of a policy over the smallest mean of the others, if all runs are there."""
        names = [c.name for c in (policy, *others)]
        if not all((where, name) in self.runs for name in names):
            return []
        find = Finder(self.runs)
        if len(others) == 1:
            return find.ratios(names[0], names[1], (where,), judge)
        return find.against_best(names[0], names[1:], (where,), judge)


NUM_SETTINGS = len(Evidence({}, 50_000).settings)


_WRONG_ARM = "In some runs a wrong arm is still pulled in the third batch."
_UNDECIDED = (
    "Without commitment, runs that eliminate neither arm pull both to the end, and a few others "
    "drop the better arm."
)
_COMMITTED = "Some runs commit to the worse arm, and pay to the end."
_GEOMETRIC = {PROGRAM: _UNDECIDED, TEXT: _COMMITTED}


def _claims(reading: Reading) -> tuple[Claim, ...]:
    source = f"section 4, Figure 1 {{}}; BaSE of {reading.source}: {reading.words}"
    of = partial(base, reading)
    enough, most = of(GRIDS[0], ENOUGH), of(GRIDS[0], BATCHES[-1])
    return (
        Claim(
            "We observe that the minimax grid typically results in a smallest regret among all "
            "grids",
            source.format("(a)-(c)"),
            "less regret than the better one of the other grids, in more than half of the "
            f"{NUM_SETTINGS} settings",
            lambda find: (
                m
                for where, number in find.settings
                for m in find.ratio(where, *(of(grid, number) for grid in GRIDS), judge=less)
            ),
            NUM_SETTINGS,
            at_least(NUM_SETTINGS // 2 + 1),
        ),
        Claim(
            f"M = {ENOUGH} batches appear to be sufficient for the BaSE performance to approach "
            "the centralized performance",
            source.format("(a)"),
            f"on the minimax grid at most {CLOSE:g} times the regret of UCB1 at M = {ENOUGH}, and "
            f"at most {SETTLED:g} times that at M = {BATCHES[-1]}",
            lambda find: (
                *find.ratio(find.usual, enough, UCB1, judge=under(CLOSE)),
                *find.ratio(find.usual, enough, most, judge=under(SETTLED)),
            ),
            2,
            reason=_WRONG_ARM,
            facts=lambda find: Finder(find.runs).costly(
                enough.name, UCB1.name, (find.usual,), CLOSE
            ),
            open=(gamma(reading), STD, INDEX),
        ),
        *(
            Claim(
                "Figure 1 (d) shows that BaSE achieves lower regrets than ETC",
                f"{source.format('(d)')}; {grid} grid",
                "less regret at each M",
                partial(_lower_than_etc, reading, grid),
                len(BATCHES),
                reason=why,
                facts=partial(_costly, reading, grid) if why else lambda find: (),
                open=choices,
            )
            for grid, why, choices in zip(
                GRIDS[:2], ("", _GEOMETRIC[reading]), ((), (gamma(reading), STD)), strict=True
            )
        ),
    )


def _costly(reading: Reading, grid: str, find: Evidence) -> Iterator[str]:
    """The runs of BaSE with more than twice the regret of ETC, at M = 3."""
    names = base(reading, grid, NUM_BATCHES).name, etc(grid, NUM_BATCHES).name
    return Finder(find.runs).costly(*names, (find.two,), CLOSE)


def _lower_than_etc(reading: Reading, grid: str, find: Evidence) -> Iterator[Measurement]:
    """Regret of BaSE over that of ETC for two arms, at each M."""
    for number in BATCHES:
        players = base(reading, grid, number), etc(grid, number)
        yield from find.ratio(find.two, *players, judge=less)


CLAIMS = tuple(claim for reading in READINGS for claim in _claims(reading))
"""Claims of section 4, for both readings."""
