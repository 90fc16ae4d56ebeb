"""Policies of Jin, Xu, Xiao and Gu (COLT 2021), Figure 1, and of the study of their parameters."""

from __future__ import annotations

from jaxduel.studies.wanted import Competitor

GAP = 0.2
WHERE = f"two arms, gap {GAP:g}"
"""The name of the instance."""

UCB1 = Competitor("ucb1", "UCB", "ucb1", {"index": "anytime"}, quick=True, settles=False)
UNKNOWN_GAP = Competitor("detc", "DETC-UG", "detc", {}, per_horizon=True)
KNOWN_GAP = Competitor(
    "detc-known-gap", "DETC-KG", "detc-known-gap", {"gap": GAP}, quick=True, per_horizon=True
)
"""DETC with the parameters of the theory; it knows T, hence separate runs to each horizon."""

COMMIT_PULLS = (100, 200, 500, 1_000, 2_000, 5_000)
EPSILONS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


def unknown_gap(commit_pulls: float) -> Competitor:
    """DETC-UG with another T_1."""
    return Competitor(
        f"detc[commit_pulls={commit_pulls:g}]",
        f"DETC-UG, T_1 = {commit_pulls:g}",
        "detc",
        {"commit_pulls": commit_pulls},
    )


def known_gap(epsilon: float) -> Competitor:
    """DETC-KG with another epsilon."""
    return Competitor(
        f"detc-known-gap[epsilon={epsilon:g}]",
        f"DETC-KG, e = {epsilon:g}",
        "detc-known-gap",
        {"gap": GAP, "epsilon": epsilon},
        quick=True,
    )
