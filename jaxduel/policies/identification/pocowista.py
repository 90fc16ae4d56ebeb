"""POCOWISTA."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true, evidence_against_half
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.stirling import close_stirling
from jaxduel.policies import arm_sets
from jaxduel.policies.base import TIED, UNDECIDED, Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class PocowistaState(NamedTuple):
    """One seed's state."""

    counts: jax.Array  # (3,) int32: wins of left, of right, and ties, since the two meet
    left: jax.Array  # () int32: i
    right: jax.Array  # () int32: j; i itself once there is an answer
    points: jax.Array  # (K,) int32: twice hat, 2 for an arm beaten, 1 for an indifference
    potential: jax.Array  # (K,) int32: twice pot; -1 for arms that do not exist
    decided: jax.Array  # (W, K) uint32: D_i, the arms with a verdict against i, and i (`arm_sets`)


@register("pocowista", "POCOWISTA")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class Pocowista:
    """POtential COpeland WInner STays Algorithm, Bengs, Haddenhorst and Huellermeier (AISTATS
    2024): names a Copeland winner, also where people may be indifferent.

    A duel is won by either arm or is a tie, and a pair's verdict is the most frequent of the three:
    an arm gets a point for each arm that it beats and half a point for an indifference. hat_i is
    the score of arm i so far, pot_i = hat_i + (number of arms without a verdict) its potential one.

    1. i is the arm of the largest pot, j the one of the largest hat among those without a verdict
       against i (ties: the lowest index).
    2. i and j duel until the density of Beta(a + 1, b + 1) at 1/2 is at most delta' / 2, a and b
       the two largest of the three counts, delta' = delta / (K choose 2). The verdict is the
       outcome of the largest count.
    3. When the arm b of the largest hat (ties: the lowest index) has hat_b >= pot of all others, it
       is the answer.

    If each pair has one most frequent outcome, a wrong arm is named with probability at most delta.
    This follows the authors' program; the text was not at hand. By `ties="tell"` it is told of
    ties. Else there are none, as in the authors' experiments: then `preferences` decide.

    Outcomes that are withheld change nothing, so that the pair goes on until they are told. A step
    costs O(1), and O(K) more after a verdict.

    Attributes:
      num_arms: K; delta' counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      delta: the error, in (0, 1).

    Nothing is drawn.

    Example:
      >>> import jaxduel as jd
      >>> p = [[0.5, 0.5, 0.9], [0.5, 0.5, 0.9], [0.1, 0.1, 0.5]]
      >>> ties = [[0, 0.8, 0.1], [0.8, 0, 0.1], [0.1, 0.1, 0]]
      >>> problem = jd.problems.from_matrix(p, ties=ties)
      >>> policy = jd.policies.make("pocowista", num_arms=3)
      >>> found = jd.identify(
      ...     policy, problem, votes=1_000, num_seeds=50, ties="tell", stop="policy"
      ... )
      >>> sorted(set(found.stops.named.tolist()))
      [0, 1]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    delta: float | jax.Array = 0.05

    assumes: ClassVar[tuple[str, ...]] = ("mode",)
    hears_ties: ClassVar[bool] = True

    def validate(self) -> None:
        """Raises InputError for an error out of range."""
        require(self.delta, lambda x: (x > 0) & (x < 1), "pocowista: delta must be in (0, 1)")

    def init(self, key: Key) -> PocowistaState:
        """No verdicts."""
        active = jnp.asarray(self.active_arms)
        potential = jnp.where(active, 2 * (count_true(active) - 1), -1)
        alone = arm_sets.sets_where(jnp.eye(self.num_arms, dtype=bool))
        return _next(jnp.zeros(self.num_arms, jnp.int32), potential, alone, active)

    def act(self, state: PocowistaState, key: Key) -> Duel:
        """The pair whose verdict is sought."""
        return Duel(state.left, state.right)

    def update(
        self, state: PocowistaState, plan: Duel, outcome: jax.Array, key: Key
    ) -> PocowistaState:
        """Line 2 and, at its end, lines 3 and 1."""
        return self._known(state, outcome == 1, outcome == -1, outcome == TIED)

    def quiet(
        self, state: PocowistaState, limit: jax.Array, key: Key
    ) -> tuple[PocowistaState, Quiet]:
        """All comparisons to come, once there is an answer."""
        return state, Quiet(state.left, jnp.where(state.left == state.right, limit, 0))

    def learn(self, state: PocowistaState, feedback: Feedback) -> PocowistaState:
        """Takes in withheld outcomes."""
        pair = state.left, state.right
        won, lost = feedback.left_wins[pair], feedback.right_wins[pair]
        return self._known(state, won, lost, jnp.int32(0))

    def answer(self, state: PocowistaState) -> jax.Array:
        """The arm of the largest score once no other can have a larger one: () int32."""
        return jnp.where(state.left == state.right, state.left, UNDECIDED)

    def _known(
        self, state: PocowistaState, won: jax.Array, lost: jax.Array, tied: jax.Array
    ) -> PocowistaState:
        """The state after more outcomes of each kind."""
        left, right = state.left, state.right
        more = jnp.stack([jnp.asarray(x, jnp.int32) for x in (won, lost, tied)])
        counts = state.counts + jnp.where(left == right, 0, more)
        first, second = jnp.max(counts), jnp.sum(counts) - jnp.max(counts) - jnp.min(counts)
        arms = count_true(jnp.asarray(self.active_arms))
        level = jnp.log(self.delta / (arms * (arms - 1)).astype(jnp.float32))
        ends = log_density_at_half(first, second) <= level
        known = state._replace(counts=counts)
        return compacted_cond(_decided, ends, known, jnp.asarray(self.active_arms), is_light=True)


def _decided(state: PocowistaState, active: jax.Array) -> PocowistaState:
    """The state after a verdict."""
    left, right, arms = state.left, state.right, jnp.arange(len(active), dtype=jnp.int32)
    verdict = lax.argmax(state.counts, 0, jnp.int32)
    for_left = jnp.where(verdict == 0, 2, verdict == 2)
    won = jnp.where(arms == left, for_left, jnp.where(arms == right, 2 - for_left, 0))
    met = (arms == left) | (arms == right)
    one, other = (arm_sets.only(*pair, len(active)) for pair in ((left, right), (right, left)))
    potential = state.potential + won - jnp.where(met, 2, 0)
    return _next(state.points + won, potential, state.decided | one | other, active)


def _next(
    points: jax.Array, potential: jax.Array, decided: jax.Array, active: jax.Array
) -> PocowistaState:
    """Lines 3 and 1, after a verdict."""
    score = jnp.where(active, points, -1)
    best = lax.argmax(score, 0, jnp.int32)
    others = jnp.arange(len(active), dtype=jnp.int32) != best
    is_over = score[best] >= jnp.max(jnp.where(others, potential, -1))
    left = lax.argmax(potential, 0, jnp.int32)
    open_arms = ~arm_sets.as_mask(decided[:, left], len(active))
    right = lax.argmax(jnp.where(open_arms, score, -1), 0, jnp.int32)
    return PocowistaState(
        counts=jnp.zeros(3, jnp.int32),
        left=jnp.where(is_over, best, left),
        right=jnp.where(is_over, best, right),
        points=points,
        potential=potential,
        decided=decided,
    )


def log_density_at_half(a: jax.Array, b: jax.Array) -> jax.Array:
    """The logarithm of the density of Beta(a + 1, b + 1) at 1/2, by Loader's expansion.

    (n + 1)! / (a! b!) 2^-n with n = a + b; where b is 0 it is (n + 1) 2^-n.

    Args:
      a, b: () int32, not negative.

    Returns:
      () float32, off by at most 4e-6 (1 + |x|).

    Example:
      >>> import jax.numpy as jnp
      >>> from jaxduel.policies.identification.pocowista import log_density_at_half
      >>> float(jnp.exp(log_density_at_half(jnp.int32(2), jnp.int32(1)))).__round__(4)
      1.5
    """
    n, x, y = (jnp.maximum(k, 1).astype(jnp.float32) for k in (a + b, a, b))
    rest = close_stirling(n) - close_stirling(x) - close_stirling(y)
    root = 0.5 * jnp.log(2 * math.pi * (x / n) * y)
    beyond = jnp.where((a > 0) & (b > 0), rest - root, 0.0)
    return jnp.log1p((a + b).astype(jnp.float32)) - evidence_against_half(a, b) + beyond
