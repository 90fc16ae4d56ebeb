"""Further runs for claims that are undecided, until they are decided or the time is spent.

Claims are judged at most `LOOKS` times: with the runs asked for, then with 2, 4, 8, ... times the
runs that an undecided claim reads. Several looks err more often than one look. All intervals
therefore have the confidence `CONFIDENCE`: by Bonferroni's inequality an interval holds its number
at all looks together with 95 %, so that a number at the limit of a criterion is decided at any look
with at most 5 %. Claims that share runs are judged together. Sets of claims without common runs
follow one another, the cheapest set first, so that expensive runs take no time from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from jaxduel.runs import Runs
from jaxduel.studies.claims import Claim
from jaxduel.studies.engine.machines import Machines
from jaxduel.studies.stored_runs import StoredRuns
from jaxduel.studies.wanted import Wanted

_Key = tuple[str, str]
LOOKS = 6
"""Most times that a claim is judged."""
CONFIDENCE = 1 - 0.05 / LOOKS
"""Confidence of the intervals at each look."""


def open_keys(claims: Sequence[Claim]) -> set[_Key]:
    """Keys of runs of which more may decide a claim: all runs that an open claim reads on its
    undecided instances, or everywhere if its measurements do not name an instance."""
    found: set[_Key] = set()
    for claim in claims:
        if claim.verdict == "undecided":
            open_yet = [m for m in claim.measurements if m.verdict == "undecided" and m.decidable]
            where = {m.where for m in open_yet}
            there = {key for key in claim.read if key[0] in where}
            found |= there if where <= {key[0] for key in there} else claim.read
    return found


def _apart(claims: Sequence[Claim], wanted: Sequence[Wanted]) -> list[set[int]]:
    """Numbers of claims, in sets that share no runs, each with open claims: the cheapest first."""
    found: list[tuple[set[int], set[_Key]]] = []
    for number, claim in enumerate(claims):
        numbers, read = {number}, set(claim.read)
        for other in [one for one in found if not read.isdisjoint(one[1])]:
            found.remove(other)
            numbers, read = numbers | other[0], read | other[1]
        found.append((numbers, read))
    costs = {one.key: one.problem.num_arms * one.horizon * one.num_runs for one in wanted}

    def cost(numbers: set[int]) -> int:
        return sum(costs.get(key, 0) for key in open_keys([claims[n] for n in numbers]))

    return sorted((numbers for numbers, _ in found if cost(numbers)), key=cost)


def further_runs(
    claims: Callable[[], list[Claim]],
    wanted: Callable[[int], Sequence[Wanted]],
    folder: Path,
    until: float,
    progress: bool | None,
    machines: Machines | None = None,
) -> Iterator[tuple[_Key, Runs]]:
    """Runs that replace those of the same key, until no claim is open for want of runs.

    Args:
      claims: measures the claims on all runs so far; called before each look.
      wanted: the wanted runs of all panels, with so many times the runs.
      folder: of the runs' store.
      until: time (`time.monotonic`) by which the runs must be finished; later ones are taken from
        the store if they are there.
      progress: as in `jaxduel.simulate`.
      machines: where they are simulated, as in `StoredRuns`.

    Raises:
      KeyboardInterrupt: after Ctrl-C.
    """
    wanted = cache(wanted)
    for numbers in _apart(claims(), wanted(2)):
        for look in range(1, LOOKS):
            keys = open_keys([claim for n, claim in enumerate(claims()) if n in numbers])
            more = [one for one in wanted(2**look) if one.key in keys]
            if not more:
                break
            more.sort(key=lambda one: one.problem.num_arms * one.horizon)  # most claims a second
            store = StoredRuns(folder, more, machines)
            yield from store.stored().items()
            with store.progress(progress) as shown, closing(store.missing(shown, until)) as each:
                shown.note(f"look {look + 1} of {LOOKS}: more runs of {len(more)} curves")
                yield from each
