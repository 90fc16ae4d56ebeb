"""Papers with fewer panels and policies, on smaller machines, for tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jax
import pytest

import jaxduel as jd
from jaxduel.studies.claims import Claim
from jaxduel.studies.engine import machines
from jaxduel.studies.papers.paper import Panel, Paper
from jaxduel.studies.wanted import Competitor


def smaller(
    paper: Paper,
    playing: Mapping[str, Sequence[str] | None],
    changed: Callable[[Competitor], Competitor] = lambda competitor: competitor,
) -> Paper:
    """A paper with some of its panels, and in each some of its competitors (None: all)."""

    def cut(panel: Panel, names: Sequence[str] | None) -> Panel:
        lineups = tuple(
            lineup._replace(
                competitors=tuple(
                    changed(c) for c in lineup.competitors if names is None or c.name in names
                )
            )
            for lineup in panel.lineups
        )
        there = {c.name for lineup in lineups for c in lineup.competitors}
        sizes = {name: own for name, own in panel.sizes_by_policy.items() if name in there}
        return replace(panel, lineups=lineups, sizes_by_policy=sizes)

    return replace(paper, panels=tuple(cut(paper.panel(name), n) for name, n in playing.items()))


def measured_by(paper: Paper, evidence: Any) -> list[Claim]:
    """The paper's claims with their measurements, from evidence that a test has made up."""
    return [claim.measured(evidence) for claim in paper.claims]


@contextmanager
def machine(missing: str = "") -> Iterator[None]:
    """A machine with one device, and without the data of a problem if one is named."""
    load = jd.problems.load

    def load_others(name):
        if name == missing:
            raise jd.InputError(f"{missing} is not on this machine.")
        return load(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jd.problems, "load", load_others)
        patch.setattr(machines, "cpu_devices", lambda: jax.local_devices()[:1])
        yield
