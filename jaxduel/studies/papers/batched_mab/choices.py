"""Open choices of Gao, Han, Ren and Zhou (NeurIPS 2019): axes for claims about Figure 1."""

from __future__ import annotations

from jaxduel import problems
from jaxduel.studies.choices import Choice, on_instance, parameter
from jaxduel.studies.papers.batched_mab.entries import Reading
from jaxduel.studies.wanted import Wanted


def _with_std(one: Wanted, std: float) -> Wanted:
    return on_instance(one, problems.one_better_arm(one.problem.num_arms, std=std))


STD = Choice(
    "standard deviation of rewards", (0.25, 0.35, 0.5, 0.7, 0.85, 1.0), 1.0, _with_std, "deviation"
)
"""1 in the authors' program; the text says nothing. Rewards 0 and 1 would have 0.5. BaSE and UCB1
are as with 1."""


def gamma(reading: Reading) -> Choice:
    """BaSE's gamma: 0.5 in the authors' program, 1 in the text, at least 12 in the theorem."""
    values = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
    return parameter(
        "gamma of BaSE", "gamma", values, reading.gamma, "base", symbol="gamma", scale="log"
    )


INDEX = parameter("log in UCB1's index", "index", ("horizon", "anytime"), "horizon", "ucb1")
"""log T of the authors' program, or log t of UCB1's paper."""
