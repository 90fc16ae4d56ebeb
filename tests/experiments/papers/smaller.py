"""Papers with fewer panels and policies, on smaller machines, for tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import jax
import pytest

import jaxduel as jd
from jaxduel.experiments import stored_curves
from jaxduel.experiments.curves import Competitor
from jaxduel.experiments.papers.paper import Panel, Paper


def smaller(
    paper: Paper,
    playing: Mapping[str, Sequence[str] | None],
    changed: Callable[[Competitor], Competitor] = lambda competitor: competitor,
) -> Paper:
    """A paper with some of its panels, and in each some of its competitors (None: all)."""

    def cut(panel: Panel, names: Sequence[str] | None) -> Panel:
        groups = tuple(
            group._replace(
                competitors=tuple(
                    changed(c) for c in group.competitors if names is None or c.name in names
                )
            )
            for group in panel.groups
        )
        there = {c.name for group in groups for c in group.competitors}
        lesser = {name: sizes for name, sizes in panel.lesser.items() if name in there}
        return replace(panel, groups=groups, lesser=lesser)

    return replace(paper, panels=tuple(cut(paper.panel(name), n) for name, n in playing.items()))


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
        patch.setattr(stored_curves, "_devices", lambda: jax.local_devices()[:1])
        yield
