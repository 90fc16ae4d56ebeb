"""The probability of naming the best arm against votes: curves with 95 % bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jaxduel.plotting import ticks
from jaxduel.plotting.figures import panels_figure
from jaxduel.plotting.lines import draw_intervals, marked, some_markers, spread_words
from jaxduel.plotting.missing import Missing
from jaxduel.plotting.styles import Style, dress, looks_of
from jaxduel.plotting.words import problem_words, seeds_words

_LINES = ("-", (0.0, (5.0, 1.2)), (0.0, (1.2, 1.0)), (0.0, (4.0, 1.2, 1.0, 1.2)))
"""Line styles of rules, in the order in which they come."""


@dataclass(frozen=True)
class Curve:
    """The probability that the best arm is named, against votes.

    Attributes:
      label: text in the legend, of the policy.
      votes: (M,) increasing, from 0 or more.
      probability, lower95, upper95: (M,) the probability and its 95 % interval.
      name: the policy, which decides on the colour; the label if left out.
      rule: the rule that names the arm, which decides on the line.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting.identification import Curve
      >>> share = np.array([0.5, 0.9])
      >>> Curve("D-TS", np.array([100, 1000]), share, share - 0.05, share + 0.05).rule
      ''
    """

    label: str
    votes: np.ndarray
    probability: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    name: str = ""
    rule: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Policy and label, which decide on the colour."""
        return self.name or self.label, self.label


@dataclass(frozen=True)
class VotesPanel:
    """One set of axes: curves, a title, probabilities at which there are lines, and the seeds in
    words."""

    curves: Sequence[Curve]
    title: str = ""
    targets: Sequence[float] = ()
    about: str = ""


def votes_figure(panels: Sequence[VotesPanel | Missing]) -> Figure:
    """Probability against votes, laid out as in `jaxduel.plotting.regret_figure`: a colour for each
    policy, shades of it for its variants, and a line style for each rule.

    Raises:
      InputError: if there is no panel, or one without curves.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting.identification import Curve, VotesPanel, votes_figure
      >>> votes, share = np.array([0, 100, 1000]), np.array([0.2, 0.5, 0.9])
      >>> curve = Curve("dts", votes, share, share - 0.05, share + 0.05)
      >>> votes_figure([VotesPanel([curve])]).axes[0].get_xlabel()
      'votes'
    """
    there = [panel for panel in panels if isinstance(panel, VotesPanel)]
    every = [curve for panel in there for curve in panel.curves]
    looks = looks_of(curve.key for curve in every)
    rules = list(dict.fromkeys(curve.rule for curve in every))
    one = partial(_draw, looks=looks, rules=rules)
    return panels_figure(panels, one, lambda panel: panel.curves, "curve")


def found_figure(curves: Mapping[str, Sequence[Curve]], num_seeds: Iterable[int]) -> Figure:
    """A set of axes for each problem, by its name; the numbers of seeds are those of all results.

    Raises:
      InputError: if there is no problem.
    """
    drawn = spread_words((curve for some in curves.values() for curve in some), of="")
    about = seeds_words(num_seeds, drawn)
    return votes_figure([
        VotesPanel(some, problem_words(problem), about=about) for problem, some in curves.items()
    ])  # fmt: skip


def rule_lines(rules: Sequence[str]) -> dict[str, Any]:
    """The line style of each rule; of a single one none, so that policies keep their own."""
    if len(rules) == 1:
        return {}
    return dict(zip(rules, _LINES * len(rules), strict=False))


def _draw(
    axes: Axes,
    panel: VotesPanel,
    *,
    looks: Mapping[tuple[str, str], Style],
    rules: Sequence[str],
) -> None:
    """Draws a panel; `looks` and `rules` are those of all panels."""
    labelled: set[tuple[str, str]] = set()
    lines = rule_lines(rules)
    for position, curve in enumerate(panel.curves):
        look = looks[curve.key]
        axes.plot(
            curve.votes,
            curve.probability,
            linestyle=lines.get(curve.rule, look.line),
            linewidth=1.2,
            markevery=some_markers(curve.probability, 0.03 + 0.03 * (position % 6), 0.19),
            label=None if curve.key in labelled else curve.label,
            zorder=3 + 0.01 * position,
            **marked(look),
        )
        labelled.add(curve.key)
        draw_intervals(axes, curve.votes, curve.lower95, curve.upper95, look.color, 0.13)
    for target in panel.targets:
        axes.axhline(target, color="0.4", linestyle=(0, (1, 1.5)), linewidth=0.8, zorder=2)
    for rule, line in lines.items():
        axes.plot([], [], color="0.3", linestyle=line, linewidth=1.2, label=f"by {rule}")
    votes = np.concatenate([curve.votes for curve in panel.curves])
    first = votes[votes > 0].min(initial=max(votes.max(), 1))
    if votes.min() == 0:  # up to the first checkpoint linear
        axes.set_xscale("symlog", linthresh=first)
    else:
        axes.set_xscale("log")
    ticks.span(axes, votes.min(), votes.max())
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("votes")
    by = f" by {rules[0]}" if len(rules) == 1 and rules[0] else ""
    axes.set_ylabel(f"P(best arm named{by})")
    dress(axes, panel.title)
