"""Uniform sampling of pairs, and all pairs in turn."""

from __future__ import annotations

import itertools

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Uniform(SequentialOracle):
    """Any two different arms, whatever happened."""

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        return choices.any_of(itertools.permutations(range(self.K), 2)), None


class RoundRobin(SequentialOracle):
    """Pair number (t - 1) mod K (K - 1) / 2 in lexicographic order."""

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        pairs = list(itertools.combinations(range(self.K), 2))
        return pairs[(self.t - 1) % len(pairs)], None


REPLAYS = {"uniform": (Uniform, {}, {}), "round-robin": (RoundRobin, {}, {})}
