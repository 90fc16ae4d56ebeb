"""Round robin of arms."""

from __future__ import annotations

from ..arms.loops import PullOracle
from ..choices import Choices


class UniformArms(PullOracle):
    """Pull t, from 0, is of arm t mod K."""

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        return self.used % self.K, None
