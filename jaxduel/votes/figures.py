"""The figure of several results of `identify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.figure import Figure

from jaxduel.plotting.figures import draw
from jaxduel.plotting.line import Line, votes_panels
from jaxduel.plotting.words import names_of
from jaxduel.votes.found import Found


def identification_figure(founds: Sequence[Found]) -> Figure:
    """The probability of naming the best arm against votes: a set of axes for each problem, a line
    for each result and rule.

    Raises:
      InputError: if there is no result.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import identification_figure
      >>> problem, policy = jd.problems.load("cyclic"), jd.policies.make("uniform", num_arms=4)
      >>> found = jd.identify(policy, problem, votes=500, num_seeds=50, recommend=["borda", "btl"])
      >>> figure = identification_figure([found])
      >>> [text.get_text() for text in figure.legends[0].get_texts()]
      ['uniform', 'by borda', 'by btl']
    """
    panels: dict[str, list[Line]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for found in founds:
        _, label = names_of(found.policy, found.changed)
        seen[found.problem, label] += 1
        if (again := seen[found.problem, label]) > 1:
            label = f"{label} ({again})"
        panels.setdefault(found.problem, []).extend(found.lines(label))
    return draw(votes_panels(panels, (found.num_seeds for found in founds)))
