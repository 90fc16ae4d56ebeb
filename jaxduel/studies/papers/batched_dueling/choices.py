"""Open choices of Agarwal, Ghuge and Nagarajan (ICML 2022) about SCOMP2: axes for claims."""

from __future__ import annotations

import math

from jaxduel.studies.choices import Choice, parameter, with_parameters
from jaxduel.studies.wanted import Wanted

_SCOMP2 = "scomp2"
_RULES = {
    "elimination + kept": {"switch": "elimination", "candidate": "kept"},
    "elimination + redrawn": {"switch": "elimination", "candidate": "redrawn"},
    "Hoeffding + kept": {"switch": "hoeffding", "candidate": "kept"},
    "Hoeffding + redrawn": {"switch": "hoeffding", "candidate": "redrawn"},
}


def _threshold(one: Wanted, factor: float) -> Wanted:
    if one.competitor.policy != _SCOMP2:
        return one
    return with_parameters(one, {"threshold": factor * 2 * math.log(one.problem.num_arms)})


def _rules(one: Wanted, rules: str) -> Wanted:
    return with_parameters(one, _RULES[rules]) if one.competitor.policy == _SCOMP2 else one


THRESHOLD = Choice(
    "KL threshold / (2 log K)", (0.5, 1.0, 1.5, 2.0, 4.0), 1.0, _threshold, "threshold",
    "log",
)  # fmt: skip
"""log(T delta) of the text is negative; read as its absolute value it is 2 log K. With log T it is
3.2 times that for K = 6."""
CRITERION = parameter(
    "elimination criterion", "elimination", ("kl", "kl-log-horizon", "kl-safe", "hoeffding"), "kl",
    _SCOMP2,
)  # fmt: skip
RULES = Choice("switch to PCOMP, and candidate", tuple(_RULES), "elimination + kept", _rules)

OPEN = (THRESHOLD, CRITERION, RULES)
"""All choices about SCOMP2."""
