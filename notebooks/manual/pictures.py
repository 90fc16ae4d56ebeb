"""Small pictures of regret, drawn from `regret.csv`."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

import jaxduel as jd
from jaxduel.plotting import Curve, Panel, draw
from notebooks.manual.pages import GENERATED, policy_page, write_file

NUMBERS = Path(__file__).with_name("regret.csv")
"""Columns problem, policy, t, mean, lower95, upper95, num_seeds."""

_POINTS = 12
"""Points of a grey curve."""

Curves = dict[tuple[str, str], Curve]
"""By problem and policy."""


def curves() -> Curves:
    """All curves; none if there is no file."""
    if not NUMBERS.exists():
        return {}
    rows = pd.read_csv(NUMBERS)
    return {key: _curve(key[1], part) for key, part in rows.groupby(["problem", "policy"])}


def _curve(policy: str, rows: pd.DataFrame) -> Curve:
    unknown = np.full(len(rows), np.nan)
    return Curve(
        name=policy,
        label=jd.policies.label(policy),
        times=rows["t"].to_numpy(),
        **{name: rows[name].to_numpy() for name in ("mean", "lower95", "upper95")},
        **dict.fromkeys(("sem", "std", "median", "q25", "q75"), unknown),
        num_seeds=int(rows["num_seeds"].iloc[0]),
    )


def thumbnail(policy: str) -> str:
    """The picture of a policy's first panel."""
    return f"/{policy_page(policy)}-small.svg"


def draw_all(found: Curves) -> dict[str, str]:
    """Draws the pictures of all policies.

    Returns:
      By policy, its picture with a caption, in Markdown.
    """
    texts = {}
    for policy in dict.fromkeys(policy for _, policy in found):
        own = {problem: curve for (problem, name), curve in found.items() if name == policy}
        place = policy_page(policy)
        others = {problem: _others(found, problem, policy) for problem in own}
        _save(f"{place}.svg", _figure(own, others, (2.2, 1.9)))
        first = dict(list(own.items())[:1])
        _save(f"{place}-small.svg", _figure(first, others, (1.8, 1.4), small=True))
        runs = max(curve.num_seeds for curve in own.values())
        label, where = jd.policies.label(policy), ", ".join(own)
        texts[policy] = (
            f"```{{figure}} /{place}.svg\n:alt: Regret of {label} on {where}\n\n"
            f"Mean regret on {where}, with 95 % intervals, over {runs:,} runs; in grey, the other "
            "policies.\n```"
        )
    return texts


def _others(found: Curves, problem: str, policy: str) -> list[Curve]:
    return [c for (where, name), c in found.items() if where == problem and name != policy]


def _figure(
    own: dict[str, Curve],
    others: dict[str, list[Curve]],
    size: tuple[float, float],
    small: bool = False,
) -> Figure:
    figure = Figure(figsize=(size[0] * len(own), size[1]), layout="constrained")
    for axes, (problem, curve) in zip(
        figure.subplots(1, len(own), squeeze=False)[0], own.items(), strict=True
    ):
        draw(axes, Panel([curve], title="" if small else problem, time_scale="log"))
        everyone = [curve, *others[problem]]
        for other in others[problem]:
            few = np.unique(np.linspace(0, len(other.times) - 1, _POINTS).astype(int))
            axes.plot(other.times[few], other.mean[few], color="0.85", linewidth=0.6, zorder=1)
        lowest = min(np.min(c.mean[c.mean > 0], initial=np.inf) for c in everyone)
        axes.set_ylim(lowest / 1.3, 1.3 * max(c.mean.max() for c in everyone))
        axes.set_ylabel("" if small or axes.get_subplotspec().colspan.start else "regret")
        if small:
            axes.set(xlabel="", xticklabels=[], yticklabels=[])
    return figure


def _save(place: str, figure: Figure) -> None:
    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "jaxduel"}):  # text as text: small
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    write_file(place.removeprefix(f"{GENERATED}/"), file.getvalue())
