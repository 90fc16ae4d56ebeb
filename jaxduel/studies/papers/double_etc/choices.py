"""Open choices of Jin, Xu, Xiao and Gu (COLT 2021): axes for claims about Figure 1."""

from __future__ import annotations

import math
from dataclasses import replace

from jaxduel import problems
from jaxduel.runs import Runs
from jaxduel.studies.choices import Choice, on_instance, with_parameters
from jaxduel.studies.papers.double_etc.entries import (
    COMMIT_PULLS,
    EPSILONS,
    GAP,
    KNOWN_GAP,
    UCB1,
    UNKNOWN_GAP,
)
from jaxduel.studies.wanted import Wanted

_VARIANCES = (0.2, 0.3, 0.55, 0.75, 1.0)
_UCB_RUNS = 100
"""UCB's runs at values other than the stated one."""
THEORY = "theory"
"""The value that the theory gives, which depends on T."""


def _with_variance(one: Wanted, variance: float) -> Wanted:
    """Rewards of another variance, which the policies know: all is as with variance 1 and a gap
    that many standard deviations wide."""
    gap = GAP / math.sqrt(variance)
    changed = _fewer(_to_the_end(on_instance(one, problems.gaussian([gap, 0.0]))))
    if "gap" not in one.competitor.parameters:
        return changed
    return with_parameters(changed, {"gap": gap})


def _to_the_end(one: Wanted) -> Wanted:
    """Runs to T alone: the claims read no other horizon."""
    return replace(one, competitor=replace(one.competitor, per_horizon=False))


def _fewer(one: Wanted) -> Wanted:
    """UCB with at most `_UCB_RUNS` runs: they cost most, and vary little."""
    if one.competitor.policy != UCB1.policy:
        return one
    few = (replace(draw, num_runs=min(draw.num_runs, _UCB_RUNS)) for draw in one.draws)
    return replace(one, draws=tuple(few))


def _in_rewards(runs: Runs, variance: float) -> Runs:
    """Regret in units of the reward again."""
    return runs.scaled(math.sqrt(variance))


VARIANCE = Choice(
    "variance of rewards", _VARIANCES, 1.0, _with_variance, "variance", "log", _in_rewards
)
"""The text does not give it; its policies are written for variance 1 or known ones."""


def _with_scale(one: Wanted, scale: float) -> Wanted:
    if one.competitor.policy != UCB1.policy:
        return one
    return _fewer(with_parameters(one, {"scale": scale}))


SCALE = Choice(
    "c of UCB's sqrt(c log t / n)", (0.5, 0.75, 1.0, 1.5, 2.0), 2.0,
    _with_scale, "c",
)  # fmt: skip


def _of_theory(name: str, symbol: str, argument: str, values: tuple[float, ...], of: str) -> Choice:
    """A parameter whose stated value is the theory's; others play to T alone."""

    def change(one: Wanted, value: str) -> Wanted:
        if one.competitor.name != of:
            return one
        return _to_the_end(with_parameters(one, {argument: float(value)}))

    return Choice(name, (THEORY, *(f"{value:g}" for value in values)), THEORY, change, symbol)


COMMIT = _of_theory("T_1 of DETC-UG", "T_1", "commit_pulls", COMMIT_PULLS, UNKNOWN_GAP.name)
EPSILON = _of_theory("epsilon of DETC-KG", "epsilon", "epsilon", EPSILONS, KNOWN_GAP.name)
