"""MergeRUCB, Zoghi, Whiteson and de Rijke (WSDM 2015), by the program of its first author."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle

Batch = frozenset[int]


class Memory(NamedTuple):
    """All that counts do not tell."""

    batches: tuple[Batch, ...]
    current: int  # the batch whose turn it is
    s: int  # the stage, from 1
    since: int  # the comparison at which t began


def cut(arms: frozenset[int], p: int) -> Iterator[tuple[Batch, ...]]:
    """All ways to shuffle arms and cut them into batches of p; the last one may be shorter."""
    if len(arms) <= p:
        yield (arms,)
        return
    for batch in subsets(sorted(arms), p):
        for others in cut(arms - batch, p):
            yield (batch, *others)


def subsets(arms: list[int], size: int) -> Iterator[Batch]:
    """All subsets of a size."""
    if size == 0:
        yield frozenset()
    elif arms:
        first, *others = arms
        yield from (batch | {first} for batch in subsets(others, size - 1))
        yield from subsets(others, size)


class MergeRUCB(SequentialOracle):
    """MergeRUCB. The counts are those of real comparisons: w_ij = W_ij + 1, n_ij = N_ij + 2.

    Args:
      num_arms: K.
      alpha: a, the exploration rate.
      delta: eps, of which C is made, unless `offset` is given.
      offset: C.
      group_size: p.
      restarts: whether t begins again with each stage, as in MergeDTS's program.
      batches: the first batches, where they are known.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 1.01,
        delta: float = 0.01,
        offset: float | None = None,
        group_size: int = 4,
        restarts: bool = False,
        batches: Iterable[Iterable[int]] | None = None,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.p, self.restarts = alpha, group_size, restarts
        # C = ((4a-1) K^2 / ((2a-1) eps))^(1/(2a-1))
        self.C = offset
        if offset is None:
            ratio = (4 * alpha - 1) * num_arms**2 / ((2 * alpha - 1) * delta)
            self.C = ratio ** (1 / (2 * alpha - 1))
        if batches is not None:
            first = [tuple(map(frozenset, batches))]
        elif rng is not None:
            order = rng.permutation(num_arms).tolist()
            first = [
                tuple(frozenset(order[i : i + self.p]) for i in range(0, num_arms, self.p)),
            ]
        else:
            first = list(cut(frozenset(range(num_arms)), self.p))
        self.memories = [Memory(batches, 0, 1, 1) for batches in first]

    def u(self, i: int, j: int, since: int) -> float:
        """u_ij = mu_ij + sqrt(a log t / n_ij), t from C + 1 on; u_ii = 1/2."""
        if i == j:
            return 0.5
        n = self.N[i, j] + 2
        t = self.C + 1 + self.t - since
        return (self.W[i, j] + 1) / n + math.sqrt(self.alpha * math.log(t) / n)

    def choose(self, memory: Memory, choices: Choices) -> tuple[Pair, Memory]:
        batches, current, s, since = memory
        while True:
            # 1. while |L| <= 1 and there are several batches: the next batch. (Where all have a
            # single arm, the program would not end.)
            if any(len(L) > 1 for L in batches):
                while len(batches[current]) <= 1:
                    current = (current + 1) % len(batches)
            # 2. while some u_ij < 1/2 (i, j in L): remove one such i
            L = batches[current]
            dominated = [
                i
                for i in sorted(L)
                if any(choices.greater(0.5, self.u(i, j, since)) for j in L if j != i)
            ]
            if not dominated:
                break
            L = L - {choices.any_of(dominated)}
            batches = (*batches[:current], L, *batches[current + 1 :])
        c, d = self.duel(sorted(L), since, choices) if len(L) > 1 else [*L, *L]
        return (c, d), Memory(batches, current, s, since)

    def duel(self, L: list[int], since: int, choices: Choices) -> Pair:
        """3. c uniform in L; d = argmax_{j in L, j != c} u_jc."""
        c = choices.any_of(L)
        others = [j for j in L if j != c]
        return c, choices.any_of(choices.largest(others, lambda j: self.u(j, c, since)))

    def after(self, memory: Memory, left: int, right: int, choices: Choices) -> Memory:
        batches, current, s, since = memory
        # 5. if #arms left <= K / 2^s + 1 and several batches: merge; if the smallest batch has
        # <= p/2 arms: merge once more; s += 1
        if sum(map(len, batches)) <= self.K / 2**s + 1 and len(batches) > 1:
            batches = self.merge(batches, choices)
            if min(map(len, batches)) <= self.p / 2:
                batches = self.merge(batches, choices)
            s += 1
            since = self.t + 1 if self.restarts else since
        # 4. current = next batch
        return Memory(batches, (current + 1) % len(batches), s, since)

    def merge(self, batches: tuple[Batch, ...], choices: Choices) -> tuple[Batch, ...]:
        """Shuffles batches and sorts them by size; the smallest joins the largest, inwards."""
        rest, old, new = list(batches), [], []
        while rest:
            old.append(choices.any_of([x for x in rest if len(x) == min(map(len, rest))]))
            rest.remove(old[-1])
        i, j = 0, len(old) - 1
        while i < j:
            if len(old[i]) + len(old[j]) > 1.5 * self.p:
                new.append(old[j])
                j -= 1
            else:
                new.append(old[i] | old[j])
                i, j = i + 1, j - 1
        # a last single one is kept
        return (*new, old[i]) if i == j else tuple(new)


FAST = {"alpha": 0.51, "offset": 1.0}
"""Parameters by which arms leave within tens of comparisons."""
PAIRS = {**FAST, "group_size": 2}
REPLAYS = {
    "merge-rucb": (MergeRUCB, PAIRS, PAIRS),
    "merge-rucb, theory": (MergeRUCB, {}, {}),
    "merge-rucb, restarts": (MergeRUCB, {**PAIRS, "restarts": True}, {**PAIRS, "restarts": True}),
}
