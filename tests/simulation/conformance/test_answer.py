"""Answers that the conformance suite refuses."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

from jaxduel.policies.base import UNDECIDED, Duel
from jaxduel.simulation.conformance import answer


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Stops:
    """Compares arms 0 and 1; after `patience` comparisons `named` is the answer, for `lasts`
    comparisons, and `alone` meets itself."""

    patience: jax.Array | int = 10
    named: jax.Array | int = 0
    alone: jax.Array | int = 0
    lasts: jax.Array | int = 1_000

    def init(self, key):
        return jnp.int32(0)

    def act(self, state, key):
        over = state >= self.patience
        left, right = (jnp.where(over, self.alone, arm) for arm in (0, 1))
        return Duel(left.astype(jnp.int32), right.astype(jnp.int32))

    def update(self, state, plan, outcome, key):
        return state + 1

    def answer(self, state):
        late = state - self.patience
        answer = jnp.where(late >= self.lasts, self.named + 1, self.named)
        return jnp.where(late >= 0, answer, UNDECIDED).astype(jnp.int32)


def test_a_right_answer_passes():
    assert answer.wrong_type(Stops()) is None
    assert answer.wrong_course(Stops()) is None


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
