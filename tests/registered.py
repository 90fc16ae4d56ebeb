"""What tests of all registered policies need to know of each: parameters, plays, number of arms."""

from dataclasses import MISSING
from typing import Any

import jaxduel as jd
from jaxduel.policies.base import Pull, PullBatch
from jaxduel.policies.registry import policy_class
from jaxduel.simulation.blocks import plan_kind

LIKE_OTHERS = (
    "cw-rmed",
    "d-exp3",
    "detc-anytime",
    "detc-batched",
    "detc-batched-known-gap",
    "detc-known-gap",
    "detc-minimax",
    "dts+",
    "merge-dts",
    "multisbm",
    "pure-dts",
    "rmed2",
    "rmed2fh",
    "scomp",
    "select-then-verify",
    "successive-elimination",
    "ws-s",
)
"""Policies that share most of their code with another of their family: what is long to check of
every policy is checked of these by `-m slow`."""

ESTABLISHED = (
    "arena",
    "base",
    "beat-the-winner",
    "borda-cb",
    "btm",
    "ccb",
    "cw-rmed",
    "d-exp3",
    "d-ucb",
    "detc",
    "detc-anytime",
    "detc-arms",
    "detc-batched",
    "detc-batched-known-gap",
    "detc-known-gap",
    "detc-minimax",
    "dkwt",
    "dts",
    "dts+",
    "ecw-rmed",
    "etc",
    "interleaved-filter",
    "lucb",
    "merge-dts",
    "merge-rucb",
    "multisbm",
    "nts",
    "pbr",
    "pcomp",
    "pocowista",
    "pure-dts",
    "rcs",
    "rex3",
    "rmed1",
    "rmed2",
    "rmed2fh",
    "round-robin",
    "rucb",
    "savage",
    "scb",
    "scomp",
    "scomp2",
    "select-then-verify",
    "self-sparring",
    "sequential-halving",
    "sparring",
    "successive-elimination",
    "successive-rejects",
    "sw-ucb",
    "thompson-gaussian",
    "top-two-thompson",
    "ucb1",
    "uniform",
    "uniform-arms",
    "versatile-db",
    "ws-s",
    "ws-w",
)
"""Policies of which a few stand for the others in every run of the tests, and all are checked by
`-m thorough`. One that is not listed, such as a new one, is checked in every run."""


NAMED_GRIDS = ("base", "etc")
"""Policies that need `num_batches` for a grid with a name, and not for one of the user's own."""


def needed(name: str, num_batches: int = 6) -> dict[str, Any]:
    """Values of the parameters without a default, the horizon aside."""
    known = jd.policies.parameters(name)
    usual = {"num_batches": num_batches, "gap": 0.5}
    return {
        key: value
        for key, value in usual.items()
        if key in known and (known[key] is MISSING or name in NAMED_GRIDS)
    }


def arms_for(name: str, num_arms: int) -> int:
    """So many arms, or as many as the policy takes."""
    return min(num_arms, getattr(policy_class(name), "max_arms", num_arms))


def pulls(name: str) -> bool:
    """True if the policy pulls arms with rewards."""
    made = jd.policies.make(name, num_arms=2, horizon=1_000, **needed(name))
    return plan_kind(made) in (Pull, PullBatch)


PULLS = tuple(filter(pulls, jd.policies.names()))
"""Policies that pull arms with rewards."""
