"""Prices of a turn of the event loop, in steps, and the policies whose quiet runs are drawn."""

from __future__ import annotations

import numpy as np

from jaxduel.policies.registry import is_of_package, registered_name

ARMS = (5, 16, 64)
"""Numbers of arms at which the prices were measured."""
TURN_COSTS: dict[str, tuple[float, ...]] = {
    "borda-cb": (3.2, 2.3, 2.1),
    "btm": (1.8, 1.7, 1.9),
    "ccb": (3.3, 2.2, 2.2),
    "detc": (2.2, 2.2, 2.2),
    "detc-minimax": (2.2, 2.2, 2.2),
    "dkwt": (3.5, 2.8, 4.2),
    "dts": (4.5, 9.7, 12.0),
    "dts+": (3.2, 4.3, 5.3),
    "ecw-rmed": (3.3, 1.3, 1.4),
    "interleaved-filter": (3.3, 2.4, 2.0),
    "lucb": (3.3, 2.6, 3.0),
    "merge-dts": (1.5, 1.6, 1.8),
    "merge-rucb": (2.0, 2.0, 2.4),
    "nts": (3.3, 2.6, 2.1),
    "pbr": (1.4, 2.3, 2.1),
    "pocowista": (2.0, 2.1, 2.5),
    "rcs": (3.9, 8.6, 11.0),
    "rex3": (10.0, 10.0, 10.0),
    "rmed1": (4.2, 3.4, 2.8),
    "rmed2": (3.5, 2.3, 2.0),
    "rmed2fh": (2.7, 2.2, 1.7),
    "rucb": (2.4, 2.5, 2.3),
    "savage": (2.9, 2.3, 2.0),
    "scb": (2.4, 2.4, 2.1),
    "select-then-verify": (3.4, 2.4, 2.1),
    "self-sparring": (4.5, 4.5, 4.5),
    "ws-s": (2.4, 3.1, 3.3),
}
"""Cost of a turn of one of 64 slots on a CPU, in steps of a lane, by policy and number of arms:
written by `python -m benchmarks.turn_costs`, or for its ELSEWHERE chosen by whole runs. Prices are
constants of the code, not timed where they are used: policies with drawn quiet runs draw other runs
if skipping begins at another time, and the same seeds are to play the same."""
UNKNOWN_COST = 3.0
"""The price for policies that the table does not name."""
ACCELERATOR_COST = 3.0
"""The price on an accelerator: by the kernels of an NVIDIA H200, 1.1 (ECW-RMED) to 3.7 (D-TS)."""
_DRAWN = frozenset({"ccb", "dts", "dts+", "rcs", "rex3", "self-sparring"})
"""Policies that draw how long a quiet run is, or who of several arms meets itself in it."""


def is_drawn(policy_class: type) -> bool:
    """True if the comparisons of a policy depend, or for all that is known may depend, on when
    skipping begins."""
    return registered_name(policy_class) in _DRAWN or not is_of_package(policy_class)


def has_price(policy_class: type) -> bool:
    """True if the price of a policy's turn is in the table."""
    return registered_name(policy_class) in TURN_COSTS


def turn_cost(policy_class: type, num_arms: int, on_cpu: bool) -> float:
    """Price of a turn, in steps: on a CPU the table's, linear in the logarithm of K."""
    if not on_cpu:
        return ACCELERATOR_COST
    costs = TURN_COSTS.get(registered_name(policy_class) or "", (UNKNOWN_COST,) * len(ARMS))
    return float(np.interp(np.log(num_arms), np.log(ARMS), costs))
