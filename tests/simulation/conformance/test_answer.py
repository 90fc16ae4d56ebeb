"""Answers that the conformance suite refuses."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

from jaxduel.policies.base import UNDECIDED, Duel, Pull, PullBatch
from jaxduel.simulation.conformance import answer


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Stops:
    """Compares arms 0 and 1; after `patience` comparisons `named` is the answer, for `lasts`
    comparisons, and `alone` meets itself."""

    num_arms = 2
    patience: jax.Array | int = 10
    named: jax.Array | int = 0
    alone: jax.Array | int = 0
    lasts: jax.Array | int = 1_000

    def init(self, key):
        return jnp.int32(0)

    def act(self, state, key) -> Duel:
        over = state >= self.patience
        left, right = (jnp.where(over, self.alone, arm) for arm in (0, 1))
        return Duel(left.astype(jnp.int32), right.astype(jnp.int32))

    def update(self, state, plan, outcome, key):
        return state + 1

    def answer(self, state):
        late = state - self.patience
        answer = jnp.where(late >= self.lasts, self.named + 1, self.named)
        return jnp.where(late >= 0, answer, UNDECIDED).astype(jnp.int32)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class StopsPulling(Stops):
    """Pulls arm 1, and after its answer `alone`."""

    def act(self, state, key) -> Pull:
        return Pull(jnp.where(state >= self.patience, self.alone, 1).astype(jnp.int32))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class StopsInRounds(Stops):
    """Pulls both arms, and after its answer `alone`."""

    def act(self, state, key) -> PullBatch:
        chosen = (state < self.patience) | (jnp.arange(2) == self.alone)
        return PullBatch(chosen.astype(jnp.int32))


KINDS = (Stops, StopsPulling, StopsInRounds)


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_answer_passes(kind):
    assert answer.wrong_type(kind()) is None
    assert answer.wrong_course(kind()) is None


@pytest.mark.parametrize("kind", KINDS[1:])
def test_another_arm_that_is_pulled_after_the_answer_is_said(kind):
    assert "must pull one arm" in answer.wrong_course(kind(alone=1))


def test_pulls_without_an_answer_are_said():
    found = answer.wrong_course(StopsPulling(patience=2**30))
    assert "no answer after 100,000 pulls whose reward" in found


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"patience": 2**30}, "there is no answer after 100,000 comparisons"),
        ({"lasts": 5}, "the answer changes from 0 to"),
        ({"alone": 1}, "must compare one arm with itself"),
    ],
)
def test_a_wrong_course_is_said(fields, sentence):
    assert sentence in answer.wrong_course(Stops(**fields))


def test_a_wrong_type_is_said():
    class Floats(Stops):
        def answer(self, state):
            return jnp.float32(0)

    assert "not float32[]" in answer.wrong_type(Floats())
