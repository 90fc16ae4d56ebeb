"""Padding of numbers of arms so that they share a program, where it costs less than compiling."""

from __future__ import annotations

from collections.abc import Mapping

BUCKETS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Numbers of arms above one bucket and up to the next may be padded to the largest of them; above
the last bucket none are."""

SEEDS = 1_000
"""Nominal seed count for padding decisions: results depend on padding, and must not depend on the
number of seeds that run."""
ARM_STEPS = 4e8
"""Cost of one compilation, for a policy that makes one comparison or pull at a time, in comparisons
times arms: about 4 seconds at 10 ns each."""
PAIR_ROUNDS = 2e8
"""The same for a policy that commits to batches, in rounds times arms squared: about 5 seconds at
25 ns each."""


def padded_arms(loads: Mapping[int, float], *, batched: bool) -> dict[int, int]:
    """The number of arms that each number of arms is padded to.

    All K of one bucket are padded to the largest of them if the cost of the arms that are never
    played, for `SEEDS` seeds of each cell, is at most that of the compilations saved: a comparison
    costs K, a round K^2.

    Args:
      loads: for each K, the sum over its cells of comparisons (or of rounds).
      batched: whether the policy commits to batches.

    Returns:
      For each K of `loads` a number of at least K.
    """
    padded = {}
    for bucket in sorted({bucket_of(num) for num in loads}):
        members = [num for num in loads if bucket_of(num) == bucket]
        largest, power = max(members), 2 if batched else 1
        idle = SEEDS * sum(loads[num] * (largest**power - num**power) for num in members)
        saved = (len(members) - 1) * (PAIR_ROUNDS if batched else ARM_STEPS)
        shared = bucket <= BUCKETS[-1] and idle <= saved
        padded.update({num: largest if shared else num for num in members})
    return padded


def bucket_of(num_arms: int) -> int:
    """The smallest bucket that holds so many arms; the number itself above the last one."""
    return next((bucket for bucket in BUCKETS if num_arms <= bucket), num_arms)
