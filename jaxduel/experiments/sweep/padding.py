"""Which numbers of arms share a program: padding against compiling."""

from __future__ import annotations

from collections.abc import Mapping

BUCKETS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Numbers of arms above one bucket and up to the next may be padded to the largest of them; above
the last bucket none are."""

SEEDS = 1_000
"""How many seeds a cell is taken to have, however many are asked for: numbers depend on padding,
and must not depend on how many seeds run."""
ARM_STEPS = 4e8
"""What one compilation costs, of a policy that makes one comparison or pull at a time: so many
comparisons times arms, about 4 seconds at 10 ns each."""
PAIR_ROUNDS = 2e8
"""The same for a policy that commits to batches: so many rounds times arms squared, about 5 seconds
at 25 ns each."""


def padded_arms(loads: Mapping[int, float], *, batched: bool) -> dict[int, int]:
    """The number of arms that each number of arms is padded to.

    The K of one bucket share the largest of them if what the arms that are never played cost, for
    `SEEDS` seeds of each cell, is at most what the compilations cost that they save: a comparison
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
