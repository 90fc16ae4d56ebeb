"""Figures of results: their lines with distinct labels, and axes for each instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from jaxduel.errors import InputError
from jaxduel.plotting.figures import draw
from jaxduel.plotting.line import Line, regret_panel
from jaxduel.plotting.words import names_of, plain, problem_words
from jaxduel.simulation.result import Result

_TELLING = ("problem", "regret", "horizon", "seed", "first_seed", "num_seeds", "lanes", "code")
"""Fields that distinguish results of one policy with the same parameters, in this order."""


def result_lines(results: Sequence[Result]) -> list[Line]:
    """The lines of results; labels name all parameters that are not at their defaults, and further
    fields that distinguish results, or a number if no field does.

    Raises:
      InputError: if `results` is no sequence of results.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import result_lines
      >>> problem = jd.problems.btl_from_weights([2, 1])
      >>> policies = [jd.policies.make("rucb", num_arms=2, unseen=unseen) for unseen in (2, 1)]
      >>> results = [jd.simulate(policy, problem, 100, num_seeds=8) for policy in policies]
      >>> [line.label for line in result_lines(results)]
      ['RUCB', 'RUCB, unseen = 1']
    """
    _require_results(results)
    lines = [Line.of(result.runs, _label(result)) for result in results]
    for key in _TELLING:
        again = Counter(line.label for line in lines)
        texts = [_text(result, key) for result in results]
        for label in (label for label, count in again.items() if count > 1):
            which = [i for i, line in enumerate(lines) if line.label == label]
            if len({texts[i] for i in which}) > 1:
                for i in which:
                    lines[i] = replace(lines[i], label=f"{label}, {key} = {texts[i]}")
    seen: Counter[str] = Counter()
    for i, line in enumerate(lines):
        seen[line.label] += 1
        if seen[line.label] > 1:
            lines[i] = replace(line, label=f"{line.label} ({seen[line.label]})")
    return lines


def results_figure(results: Sequence[Result]) -> Figure:
    """Regret against time, on logarithmic axes, with 95 % bands: a set of axes for each problem and
    definition of regret.

    Raises:
      InputError: if there is no result, or `results` is no sequence of them.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import png, results_figure
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> problems = [jd.problems.btl_from_weights([w, 1], f"weights {w} to 1") for w in (2, 4)]
      >>> results = [jd.simulate(policy, problem, 100, num_seeds=8) for problem in problems]
      >>> [axes.get_title() for axes in results_figure(results).axes]
      ['weights 2 to 1, $K=2$', 'weights 4 to 1, $K=2$']
    """
    lines, groups = figure_lines(results), _groups(results)
    named = Counter((results[which[0]].problem, key[1]) for key, which in groups.items())
    panels = []
    for (text, definition), which in groups.items():
        first, drawn = results[which[0]], [lines[i] for i in which]
        words = problem_words(first.problem) if named[first.problem, definition] == 1 else text
        title = f"{words}, $K={first.plays.shape[-1]}$"
        panels.append(regret_panel(drawn, title, regret=definition, time_scale="log"))
    return draw(panels)


def figure_lines(results: Sequence[Result]) -> list[Line]:
    """The lines of `results_figure`, in the order of the results: as `result_lines`, but labels
    distinguish only results of one problem and one definition of regret.

    Raises:
      InputError: if `results` is no sequence of results.
    """
    _require_results(results)
    lines: dict[int, Line] = {}
    for which in _groups(results).values():
        lines |= zip(which, result_lines([results[i] for i in which]), strict=True)
    return [lines[i] for i in range(len(results))]


def _groups(results: Sequence[Result]) -> dict[tuple[str, str], list[int]]:
    """Indices of the results that share axes, by problem and definition of regret."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, result in enumerate(results):
        groups.setdefault((_text(result, "problem"), result.definition), []).append(i)
    return groups


def _require_results(results: Sequence[Result]) -> None:
    if isinstance(results, Result) or not all(isinstance(one, Result) for one in results):
        raise InputError("a list of results, as jaxduel.simulate returns them, is needed.")


def _label(result: Result) -> str:
    """The policy, with its changed parameters and settings, as papers write them."""
    return names_of(result.policy, result.changed)[1]


def _text(result: Result, key: str) -> str:
    if key == "problem":
        made = result.made_by.get("problem", {})
        return f"{plain(result.problem)} {made.get('digest', '')[:6]}".strip()
    if key == "regret":
        return result.definition
    if key == "horizon":
        return f"{result.horizon:,}"
    return str(result.made_by.get(key, ""))
