"""Records of lines against time, votes or a varied quantity, reference lines, and their panels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jaxduel.plotting.marks import (
    spread_words,
)
from jaxduel.plotting.ticks import Scale, scale_for
from jaxduel.plotting.words import FEW, problem_words, regret_words, seeds_words, steps_words
from jaxduel.runs import Runs

REGRET_LABELS = {
    "average": r"regret $R(t)=\sum\,(\epsilon_i+\epsilon_j)/2$",
    "copeland": "Copeland regret $R(t)$, normalised",
    "2 copeland": r"regret $\sum\,2\,\mathrm{cpld}_1-\mathrm{cpld}_i-\mathrm{cpld}_j$",
    "borda": "Borda regret $R(t)$",
    "binary weak": r"weak regret $R(t)=\sum\,\mathbf{1}[w\notin\{i,j\}]$",
    "binary strong": r"strong regret $R(t)=\sum\,\mathbf{1}[(i,j)\neq(w,w)]$",
    "pulls": "regret $R(t)$",
    "votes": "comparisons of two different arms",
    "weak": r"weak regret $R(t)=\sum\,\min(\epsilon_i,\epsilon_j)$",
}
"""Labels of the vertical axis, by definition of regret (after a paper's factor, if any). Regret is
cumulative, in units of the gap; binary regret is in comparisons."""

Kind = Literal["time", "varied", "votes"]
"""Horizontal axis: time, a quantity that is varied, or votes."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One policy's number against time, votes or a varied quantity.

    Attributes:
      name: the policy, with parameters in brackets where it is a variant; it decides on the style.
        Variants of a policy have shades of its colour.
      label: text in the legend.
      at: (N,) places on the horizontal axis, increasing.
      mean, lower95, upper95: (N,) the number and its 95 % interval; NaN where there is none.
      num_seeds: number of seeds, 0 if a caption gives it.
      seeds: (n, N) each seed's number, if there are fewer than five seeds; NaN where unknown. They
        are drawn in place of the interval.
      separate: whether each place has separate runs: drawn as points with error bars, not joined by
        a line.
      level: whether the number does not depend on the horizontal axis: a line without markers.
      dense: whether few of the points have markers, as always against time and votes.
      rule: the rule that names the arm, which decides on the line's style.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Line
      >>> policy = jd.policies.make("rucb", num_arms=2, unseen=1)
      >>> problem = jd.problems.btl_from_weights([2, 1])
      >>> line = Line.of(jd.simulate(policy, problem, 100, num_seeds=8).runs, "RUCB")
      >>> line.name, line.label, int(line.at[-1]), line.num_seeds
      ('rucb[unseen=1]', 'RUCB', 100, 8)
    """

    name: str
    label: str
    at: np.ndarray
    mean: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    num_seeds: int = 0
    seeds: np.ndarray | None = None
    separate: bool = False
    level: bool = False
    dense: bool = False
    rule: str = ""

    @classmethod
    def of(cls, runs: Runs, label: str | None = None) -> Line:
        """The mean regret of runs against time, with a Student t interval over their groups;
        `label` replaces the label of the runs."""
        lower, upper = runs.interval
        return cls(
            name=runs.name,
            label=label or runs.label,
            at=runs.times,
            mean=runs.mean,
            lower95=lower,
            upper95=upper,
            num_seeds=runs.num_runs,
            seeds=few_seeds(runs.regret) if runs.moments is None else None,
            separate=runs.separate,
        )


def few_seeds(numbers: np.ndarray) -> np.ndarray | None:
    """The numbers, (n, N), if their seeds are few enough to be drawn one by one, else None."""
    return numbers if 1 < len(numbers) < FEW else None


@dataclass(frozen=True)
class Reference:
    """A line that is computed, not simulated, such as a lower bound: a level, or a value per place.

    Attributes:
      label: text in the legend.
      values: () or (N,) the level, or the values.
      at: (N,) places on the horizontal axis, where there is more than one value.
      name: the policy whose colour and style the line has, drawn thin; "" for no policy.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Reference
      >>> constant = jd.theory.condorcet_lower_bound(jd.problems.load("arxiv"))
      >>> times = np.array([10, 100, 1000])
      >>> Reference("lower bound", constant * np.log(times), times).values.round(1)
      array([ 47.7,  95.5, 143.2])
    """

    label: str
    values: float | np.ndarray
    at: np.ndarray | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class LinePanel:
    """One set of axes with lines.

    Attributes:
      lines: at least one.
      kind: the horizontal axis.
      references: lines to compare with.
      title: text above the axes.
      across, up: labels of the axes.
      across_scale, up_scale: scales of the axes; without a positive number the vertical axis is
        linear.
      top: top of the vertical axis, where lines may leave the picture above it.
      names: names of the places 0, 1, 2, ... of a varied quantity that is not a number.
      about: the numbers and their seeds in words.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Line, LinePanel
      >>> batches, mean = np.array([2, 4, 8]), np.array([900.0, 210.0, 120.0])
      >>> line = Line(
      ...     name="pcomp", label="PCOMP", at=batches,
      ...     mean=mean, lower95=0.9 * mean, upper95=1.1 * mean,
      ... )
      >>> panel = LinePanel(lines=[line], across="batches", up="regret at T", up_scale="log")
      >>> panel.across_scale, panel.drawn_scale
      ('linear', 'log')
    """

    lines: Sequence[Line]
    kind: Kind = "varied"
    references: Sequence[Reference] = ()
    title: str = ""
    across: str = ""
    up: str = ""
    across_scale: Scale = "linear"
    up_scale: Scale = "linear"
    top: float | None = None
    names: Sequence[str] = ()
    about: str = ""

    @property
    def drawn_scale(self) -> Scale:
        """The scale of the vertical axis: linear if no number is above 0."""
        return scale_for(self.up_scale, (line.mean for line in self.lines))


def regret_panel(
    lines: Sequence[Line],
    title: str = "",
    *,
    references: Sequence[Reference] = (),
    regret: str = "average",
    time_scale: Scale = "linear",
    regret_scale: Scale = "log",
    top: float | None = None,
) -> LinePanel:
    """Regret against time, with the labels of a definition of regret.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Line, Reference, regret_panel
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> result = jd.simulate(policy, jd.problems.btl_from_weights([2, 1]), 100, num_seeds=8)
      >>> panel = regret_panel([Line.of(result.runs)], references=[Reference("one", 0.5)])
      >>> panel.across, panel.about
      ('comparisons $t$', 'average regret, 8 seeds, bands: 95 % of the mean')
    """
    words = seeds_words({line.num_seeds for line in lines}, spread_words(lines))
    return LinePanel(
        lines=lines,
        kind="time",
        references=references,
        title=title,
        across=f"{steps_words(regret)} $t$",
        up=regret_label(regret),
        across_scale=time_scale,
        up_scale=regret_scale,
        top=top,
        about=f"{regret_words(regret)}, {words}",
    )


def votes_panel(
    lines: Sequence[Line],
    title: str = "",
    targets: Sequence[float] = (),
    about: str = "",
    across: str = "votes",
) -> LinePanel:
    """The probability that the best arm is named against votes, or pulls, with levels at some
    targets.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import votes_line, votes_panel
      >>> line = votes_line("dts", "D-TS", np.array([100, 1000]), [np.array([0.5, 0.9])] * 3)
      >>> votes_panel([line], targets=[0.95]).across
      'votes'
    """
    references = [Reference("", target) for target in targets]
    return LinePanel(
        lines=lines, kind="votes", references=references, title=title, across=across,
        up="P(best arm named)", about=about,
    )  # fmt: skip


def votes_line(
    name: str, label: str, votes: np.ndarray, ends: Sequence[np.ndarray], rule: str = ""
) -> Line:
    """A probability against votes; `ends` are its mean and the ends of its 95 % interval.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import votes_line
      >>> share = np.array([0.5, 0.9])
      >>> ends = (share, share - 0.05, share + 0.05)
      >>> votes_line("dts", "D-TS", np.array([100, 1000]), ends).mean.tolist()
      [0.5, 0.9]
    """
    mean, lower, upper = ends
    return Line(
        name=name, label=label, at=votes, mean=mean, lower95=lower, upper95=upper, rule=rule
    )


def votes_panels(
    lines: Mapping[str, Sequence[Line]], num_seeds: Iterable[int], across: str = "votes"
) -> list[LinePanel]:
    """A panel for each problem, by its name; `num_seeds` has the seed counts of all results."""
    drawn = spread_words((line for some in lines.values() for line in some), of="")
    about = seeds_words(num_seeds, drawn)
    return [
        votes_panel(some, problem_words(name), about=about, across=across)
        for name, some in lines.items()
    ]


def regret_label(definition: str, final: bool = False) -> str:
    """Label of the vertical axis for a definition of regret.

    Args:
      definition: a key of `REGRET_LABELS`, or another name.
      final: whether it is the regret at the horizon.

    Example:
      >>> from jaxduel.plotting import regret_label
      >>> regret_label("copeland", final=True)
      'Copeland regret $R(T)$, normalised'
    """
    label = REGRET_LABELS.get(definition, f"{definition} regret $R(t)$")
    return label.replace("R(t)", "R(T)") if final else label
