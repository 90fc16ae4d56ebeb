"""What an algorithm may do: all its random choices, ties and doubtful comparisons of floats.

An oracle is written as plain code that asks a `Choices` object whenever the paper's line leaves
something open ("any arm with ...") or compares floats that a float32 program could see the other
way round. `every_outcome` runs that code once for each way to answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Result = TypeVar("Result", bound=Hashable)

TOLERANCE = 1e-5
"""Relative difference below which float32 arithmetic may order two numbers either way."""
EXACT = 1e-12
"""Relative difference below which two float64 results stand for the same real number."""


class Choices:
    """The answers of one run through the code of an algorithm.

    Args:
      path: the answers to give, as indices into the options; the first option after its end.
      rng: draw the answers instead, uniformly, and order floats as real numbers: a real run.
    """

    def __init__(self, path: Sequence[int] = (), rng: np.random.Generator | None = None):
        self.rng = rng
        self.path = list(path)
        self.sizes: list[int] = []

    def any_of(self, options: Iterable[T]) -> T:
        """One of the options, all of them allowed."""
        options = list(options)
        if len(options) == 1:
            return options[0]
        if self.rng is not None:
            return options[self.rng.integers(len(options))]
        if len(self.sizes) == len(self.path):
            self.path.append(0)
        answer = options[self.path[len(self.sizes)]]
        self.sizes.append(len(options))
        return answer

    def greater(self, a: float, b: float, scale: float = 0.0) -> bool:
        """Whether a > b; both answers when they are too close to tell.

        Args:
          a: the left side.
          b: the right side.
          scale: size of the largest number that went into a or b, if larger than both.
        """
        if math.isinf(a) or math.isinf(b):
            return a > b
        scale = max(abs(a), abs(b), scale)
        truth = a - b > EXACT * scale
        if self.rng is not None or abs(a - b) > TOLERANCE * scale:
            return truth
        return self.any_of([truth, not truth])

    def at_least(self, a: float, b: float, scale: float = 0.0) -> bool:
        """Whether a >= b; both answers when they are too close to tell."""
        return not self.greater(b, a, scale)

    def largest(self, options: Iterable[T], value: Callable[[T], float]) -> list[T]:
        """The options of the largest value, with those too close to tell."""
        options = list(options)
        top = max(value(x) for x in options)
        slack = (TOLERANCE if self.rng is None else EXACT) * abs(top)
        return [x for x in options if value(x) >= top - slack]

    def first_of(self, ties: Sequence[T]) -> T:
        """The first of the ties; any of them where float32 sums may break the tie."""
        return ties[0] if self.rng is not None else self.any_of(ties)

    def smallest(self, options: Iterable[T], value: Callable[[T], float]) -> list[T]:
        """The options of the smallest value, with those too close to tell."""
        return self.largest(options, lambda x: -value(x))

    def next_path(self) -> list[int] | None:
        """The path that answers the last question that has another answer differently, or None."""
        path = self.path[: len(self.sizes)]
        while path:
            answer = path.pop()
            if answer + 1 < self.sizes[len(path)]:
                return [*path, answer + 1]
        return None


def every_outcome(
    code: Callable[[Choices], Result], rng: np.random.Generator | None = None
) -> list[Result]:
    """The different results of `code` over all answers to its questions.

    Args:
      code: a function that takes its decisions from the `Choices` that it is given.
      rng: run it once, with drawn answers.

    Returns:
      The results, without repetition.
    """
    if rng is not None:
        return [code(Choices(rng=rng))]
    results: dict[Result, None] = {}
    path: list[int] | None = []
    while path is not None:
        choices = Choices(path)
        results[code(choices)] = None
        path = choices.next_path()
    return list(results)


class Oracle:
    """All that an algorithm may do, given what was played so far.

    What the past determines (counts, sums, time) is kept once, by the subclass. What it leaves open
    (a set that a tie or a doubtful comparison of floats decides) is the memory, a hashable value:
    every memory that agrees with the plans so far is kept.

    Args:
      num_arms: K.
      rng: take random choices for real, and order floats as real numbers, instead of keeping all
        ways in view.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        self.K = num_arms
        self.rng = rng
        self.memories: list[Any] = [None]
        self._allowed: list[tuple[Any, Any]] | None = None

    def choose(self, memory: Any, choices: Choices) -> tuple[Hashable, Hashable]:
        """The next plan, and the memory after choosing it; a subclass says which."""
        raise NotImplementedError

    def _choices(self) -> list[tuple[Any, Any]]:
        if self._allowed is None:
            found: dict[tuple[Any, Any], None] = {}
            for memory in self.memories:
                for outcome in every_outcome(lambda x, m=memory: self.choose(m, x), self.rng):
                    found[outcome] = None
            self._allowed = list(found)
        return self._allowed

    def allowed(self) -> set[Any]:
        """Every plan that may come next."""
        return {plan for plan, _ in self._choices()}

    def go_on(
        self, plan: Any, record: Callable[[], None], after: Callable[[Any, Choices], Hashable]
    ) -> None:
        """Goes on with the plan that was really played.

        Args:
          plan: one of `allowed()`.
          record: adds its outcome to what is known.
          after: the memory after that, from the one before.
        """
        possible = [memory for other, memory in self._choices() if other == plan]
        assert possible, f"{plan} was not allowed"
        record()
        self.follow(possible, after)

    def follow(self, memories: Iterable[Any], after: Callable[[Any, Choices], Hashable]) -> None:
        """Keeps the memories after these."""
        following: dict[Any, None] = {}
        for memory in memories:
            for outcome in every_outcome(lambda x, m=memory: after(m, x), self.rng):
                following[outcome] = None
        self.memories = list(following)
        self._allowed = None
