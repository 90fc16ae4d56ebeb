"""Papers with fewer panels and policies, for tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
