"""Figures of results: their curves with distinct labels, and axes for each instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from jaxduel.errors import InputError
from jaxduel.plotting.curves import Curve, Panel
from jaxduel.plotting.figures import regret_figure
from jaxduel.plotting.words import plain, problem_words
from jaxduel.simulation.result import Result

_TELLING = ("problem", "regret", "horizon", "seed", "first_seed", "num_seeds", "lanes", "code")
"""Fields that distinguish results of one policy with the same parameters, in this order."""


def result_curves(results: Sequence[Result]) -> list[Curve]:
    """The curves of results; labels name all parameters that are not at their defaults, and further
    fields that distinguish results, or a number where none does.

    Raises:
      InputError: if `results` is no sequence of results.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import result_curves
      >>> problem = jd.problems.btl_from_weights([2, 1])
      >>> policies = [jd.policies.make("rucb", num_arms=2, unseen=unseen) for unseen in (2, 1)]
      >>> results = [jd.simulate(policy, problem, 100, num_seeds=8) for policy in policies]
      >>> [curve.label for curve in result_curves(results)]
      ['RUCB', 'RUCB, unseen = 1']
    """
    _require_results(results)
    curves = [Curve.from_result(result) for result in results]
    for key in _TELLING:
        again = Counter(curve.label for curve in curves)
        texts = [_text(result, key) for result in results]
        for label in (label for label, count in again.items() if count > 1):
            which = [i for i, curve in enumerate(curves) if curve.label == label]
            if len({texts[i] for i in which}) > 1:
                for i in which:
                    curves[i] = replace(curves[i], label=f"{label}, {key} = {texts[i]}")
    seen: Counter[str] = Counter()
    for i, curve in enumerate(curves):
        seen[curve.label] += 1
        if seen[curve.label] > 1:
            curves[i] = replace(curve, label=f"{curve.label} ({seen[curve.label]})")
    return curves


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
    curves, groups = figure_curves(results), _groups(results)
    named = Counter((results[which[0]].problem, key[1]) for key, which in groups.items())
    panels = []
    for (text, definition), which in groups.items():
        first, drawn = results[which[0]], [curves[i] for i in which]
        words = problem_words(first.problem) if named[first.problem, definition] == 1 else text
        title = f"{words}, $K={first.plays.shape[-1]}$"
        panels.append(Panel(drawn, title, definition=definition, time_scale="log"))
    return regret_figure(panels)


def figure_curves(results: Sequence[Result]) -> list[Curve]:
    """The curves of `results_figure`, in the order of the results: as `result_curves`, but labels
    distinguish only results of one problem and one definition of regret.

    Raises:
      InputError: if `results` is no sequence of results.
    """
    _require_results(results)
    curves: dict[int, Curve] = {}
    for which in _groups(results).values():
        curves |= zip(which, result_curves([results[i] for i in which]), strict=True)
    return [curves[i] for i in range(len(results))]


def _groups(results: Sequence[Result]) -> dict[tuple[str, str], list[int]]:
    """Indices of the results that share axes, by problem and definition of regret."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, result in enumerate(results):
        groups.setdefault((_text(result, "problem"), result.definition), []).append(i)
    return groups


def _require_results(results: Sequence[Result]) -> None:
    if isinstance(results, Result) or not all(isinstance(one, Result) for one in results):
        raise InputError("a list of results, as jaxduel.simulate returns them, is needed.")


def _text(result: Result, key: str) -> str:
    if key == "problem":
        made = result.made_by.get("problem", {})
        return f"{plain(result.problem)} {made.get('digest', '')[:6]}".strip()
    if key == "regret":
        return result.definition
    if key == "horizon":
        return f"{result.horizon:,}"
    return str(result.made_by.get(key, ""))
