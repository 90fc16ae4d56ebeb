"""The active sampling rule of Chatbot Arena."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError, unknown_name
from jaxduel.numerics import compensated, count_true
from jaxduel.numerics.sums import sum_in_order
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.checks import require
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.policies.estimation.uniform import uniform_pair
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

VARIANCES = ("plug-in", "ipw")


class PairSums(NamedTuple):
    """Sums over the pairs of each arm, and comparisons whose outcome was withheld."""

    unmet: jax.Array  # (K,) float32: the number of pairs never compared
    weights: jax.Array  # (K,) float32: the weights of the others
    asked: jax.Array  # (K, K) int32: comparisons with i on the left of j


class WeightedOutcomes(NamedTuple):
    """Sums of X_t(a) and of its square for the pairs i < j, 0 elsewhere, with their carries.

    Equations (4) and (5): of a pair a = (i, j), i < j, that is compared with probability P_t(a),
    X_t(a) = H_t 1{A_t = a} / P_t(a), where H_t is 1 if i won and 0 if j did. The mean of X_t over
    all comparisons is an unbiased estimate of p_ij.
    """

    sums: jax.Array  # (K, K) float32
    sums_carry: jax.Array  # (K, K) float32
    squares: jax.Array  # (K, K) float32
    squares_carry: jax.Array  # (K, K) float32


class ArenaState(NamedTuple):
    """One seed's state."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    seen: PairSums | WeightedOutcomes  # for "plug-in", and for "ipw"


@register("arena", label="arena's rule")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class Arena:
    """Arena, Chiang et al. (ICML 2024), equation (9): the active sampling rule of Chatbot Arena.

    Pair a comes next with a probability in proportion to what one more comparison takes off the
    width of its interval,

        sqrt(Sigma_aa / n_a) - sqrt(Sigma_aa / (n_a + 1)),

    n_a its comparisons so far and Sigma_aa a variance. The paper does not say what to do where n_a
    or Sigma_aa is 0, and asks for probabilities bounded away from 0. Here pairs never compared come
    first, uniformly at random; after that a pair is uniform with probability epsilon, else by the
    rule. Sides are random.

    - variances "plug-in": Sigma_aa = m (1 - m) with m = (w + 1) / (n_a + 2), w the wins of one arm,
      never 0. Without the 1 and 2 a pair that stands 1 : 0 would not be compared again. In the long
      run n_a is in proportion to (p (1 - p))^(1/5).
    - variances "ipw": the estimate that the paper writes, equation (5), from the outcomes over
      their probabilities P(a) (`WeightedOutcomes`). A pair that is rarely chosen has a large one,
      so that the two differ by more than a factor; and it is not the same for the other order of
      two arms. P(a) is not in win counts, hence it cannot start from them; it counts outcomes that
      arrive late with the P(a) of the state that they find, which is that of their comparisons if
      all since the last arrival were withheld.

    With "plug-in", comparisons whose outcome is withheld count in n_a, and not in m until it
    arrives: several pairs that are asked for at once are not one pair several times. "ipw" does not
    know of them before they arrive.

    In the paper a tie is an outcome of 1/2. No policy is told that here: a tie tossed as a coin has
    the same mean and a larger variance; one that is dropped is an outcome withheld for ever.

    With "plug-in" a comparison changes the weight of its own pair. The state carries the sum of
    each arm's weights, of which two are added up anew: no drift. An arm is drawn by these sums, its
    opponent by its own weights. A step costs O(K), or O(K^2) with "ipw", where all weights change.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      epsilon: probability of a uniformly random pair, in [0, 1]; positive for "ipw".
      variances: "plug-in" or "ipw".

    `act` reads three uniform numbers of its key: the coin for epsilon, and one for each arm.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("arena", num_arms=3)
      >>> state = jd.policies.state_from_wins(policy, [[0, 9, 9], [0, 0, 0], [0, 0, 0]])
      >>> left, right = policy.act(state, jax.random.key(0))
      >>> sorted((int(left), int(right)))  # the pair never compared
      [1, 2]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    epsilon: float | jax.Array = 0.01
    variances: str = field(default="plug-in", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        if self.variances not in VARIANCES:
            raise unknown_name("variances", self.variances, VARIANCES)
        require(self.epsilon, lambda x: (x >= 0) & (x <= 1), "arena: epsilon must be from 0 to 1")
        if self.variances == "ipw":
            require(self.epsilon, lambda x: x > 0, "arena: with ipw, epsilon must be above 0")

    def init(self, key: Key) -> ArenaState:
        """No comparisons."""
        wins = jnp.zeros((self.num_arms, self.num_arms), jnp.int32)
        if self.variances == "ipw":
            return ArenaState(wins, no_outcomes(self.num_arms))
        return self.from_wins(wins, key)

    def from_wins(self, wins: jax.Array, key: Key) -> ArenaState:
        """The comparisons counted in `wins`.

        Raises:
          InputError: for "ipw".
        """
        if self.variances == "ipw":
            raise InputError(
                'arena: with variances="ipw" it cannot start from win counts, which do not tell '
                "the probabilities of the comparisons."
            )
        return self._after(wins, jnp.zeros_like(wins))

    def act(self, state: ArenaState, key: Key) -> Duel:
        """A pair never compared, else one by the rule or, with probability epsilon, any."""
        coin, u, v = uniforms(key, 3)
        if isinstance(state.seen, WeightedOutcomes):
            chances = self._chances(state.wins, state.seen)
            left = weighted_choice(sum_in_order(chances, 0), u)
            return Duel(left, weighted_choice(chances[left], v))
        unmet, weights, asked = state.seen
        begins = jnp.any(unmet > 0)
        left = weighted_choice(jnp.where(begins, unmet, weights), u)
        right = weighted_choice(jnp.where(begins, *self._pairs_of(state.wins, asked, left)), v)
        explores = ~begins & (coin < self.epsilon)
        anyone = uniform_pair(count_true(self.active_arms), u, v)
        return Duel(
            jnp.where(explores, anyone.left, left), jnp.where(explores, anyone.right, right)
        )

    def update(self, state: ArenaState, plan: Duel, outcome: jax.Array, key: Key) -> ArenaState:
        """Counts the outcome, or that it is withheld."""
        learnt = duel_result(plan, outcome)
        if isinstance(state.seen, WeightedOutcomes):
            won = add_result(jnp.zeros_like(state.wins), learnt)
            return self._weighed(state.wins, state.seen, won)
        wins, (unmet, weights, asked) = add_result(state.wins, learnt), state.seen
        untold = (plan.left != plan.right) - learnt.amount
        asked = asked.at[plan.left, plan.right].add(untold, mode="promise_in_bounds")
        for arm in plan:
            ours, others = self._sums_of(wins, asked, arm)
            unmet = unmet.at[arm].set(ours, mode="promise_in_bounds")
            weights = weights.at[arm].set(others, mode="promise_in_bounds")
        return ArenaState(wins, PairSums(unmet, weights, asked))

    def learn(self, state: ArenaState, feedback: Feedback) -> ArenaState:
        """Takes in withheld outcomes."""
        if isinstance(state.seen, WeightedOutcomes):
            return self._weighed(state.wins, state.seen, feedback.wins())
        told = feedback.left_wins + feedback.right_wins
        return self._after(state.wins + feedback.wins(), jnp.maximum(state.seen.asked - told, 0))

    def _after(self, wins: jax.Array, asked: jax.Array) -> ArenaState:
        """The state after the comparisons counted in `wins` and in `asked`, for "plug-in"."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        unmet, weights = jax.vmap(self._sums_of, (None, None, 0))(wins, asked, arms)
        return ArenaState(wins, PairSums(jnp.where(self.active_arms, unmet, 0.0), weights, asked))

    def _sums_of(
        self, wins: jax.Array, asked: jax.Array, arm: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Sums of what `_pairs_of` gives: () float32 each."""
        unmet, weights = self._pairs_of(wins, asked, arm)
        return sum_in_order(unmet, 0), sum_in_order(weights, 0)

    def _pairs_of(
        self, wins: jax.Array, asked: jax.Array, arm: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Of the pairs of an arm, 1 where never compared, and the weights of the others, "plug-in":
        (K,) float32 each, 0 at itself and inactive arms."""
        won, lost = wins[arm], wins[:, arm]
        others = self.active_arms & (jnp.arange(self.num_arms, dtype=jnp.int32) != arm)
        n = won + lost + asked[arm] + asked[:, arm]
        ours, theirs = (x.astype(jnp.float32) + 1.0 for x in (won, lost))
        deviation = jnp.sqrt(ours * theirs) / (ours + theirs)  # the root of m (1 - m)
        return (others & (n == 0)).astype(jnp.float32), deviation * _narrowing(n)

    def _chances(self, wins: jax.Array, seen: WeightedOutcomes) -> jax.Array:
        """P(a) of the next comparison, "ipw": (K, K) float32, symmetric."""
        size, n = count_true(self.active_arms), wins + wins.T
        exists = self.active_arms[:, None] & self.active_arms & ~jnp.eye(self.num_arms, dtype=bool)
        number = (size * (size - 1) // 2).astype(jnp.float32)
        variances = variances_of(seen, jnp.sum(wins, dtype=jnp.int32))
        weights = jnp.sqrt(variances) * _narrowing(n)
        total = _total(weights)
        rule = jnp.where(total > 0, weights / jnp.where(total > 0, total, 1.0), 1.0 / number)
        mixed = self.epsilon / number + (1.0 - self.epsilon) * rule
        unmet = exists & (n == 0)
        begins = unmet / _total(unmet.astype(jnp.float32))
        return jnp.where(jnp.any(unmet), begins, jnp.where(exists, mixed, 0.0))

    def _weighed(self, wins: jax.Array, seen: WeightedOutcomes, more: jax.Array) -> ArenaState:
        """The state after `more` wins, (K, K) int32, of comparisons that it chose, for "ipw"."""
        seen = with_wins(seen, more, self._chances(wins, seen))
        return ArenaState(wins + more, seen)


def _narrowing(n: jax.Array) -> jax.Array:
    """1 / sqrt(n) - 1 / sqrt(n + 1), without cancellation; 0 where n = 0."""
    met = jnp.maximum(n, 1).astype(jnp.float32)
    one, other = jnp.sqrt(met), jnp.sqrt(met + 1.0)
    return jnp.where(n > 0, 1.0 / (one * other * (one + other)), 0.0)


def _total(pairs: jax.Array) -> jax.Array:
    """The sum over pairs of a symmetric (K, K) table: () float32."""
    return 0.5 * sum_in_order(sum_in_order(pairs, 0), 0)


def weighted_choice(weights: jax.Array, u: jax.Array) -> jax.Array:
    """An arm with a probability in proportion to its weight; one of weight 0 is never chosen.

    Prefix sums are added up as a tree, in an order that no width of a block changes, and so rounded
    that they may fall: of the arms of positive weight, the first whose prefix sum is above u times
    the sum of all is chosen, or else the last.

    Args:
      weights: (K,) float32, not negative, one at least positive (else the result is meaningless).
      u: () float32, uniform in [0, 1).

    Returns:
      () int32.
    """
    arms, ends = jnp.arange(len(weights), dtype=jnp.int32), jnp.cumsum(weights)
    members = weights > 0
    first = jnp.min(jnp.where(members & (ends > u * ends[-1]), arms, len(weights)))
    return jnp.maximum(jnp.minimum(first, jnp.max(jnp.where(members, arms, -1))), 0)


def no_outcomes(num_arms: int) -> WeightedOutcomes:
    """Before the first comparison."""
    none = jnp.zeros((num_arms, num_arms), jnp.float32)
    return WeightedOutcomes(none, none, none, none)


def with_wins(seen: WeightedOutcomes, wins: jax.Array, chances: jax.Array) -> WeightedOutcomes:
    """The sums with more outcomes.

    Args:
      seen: the sums so far.
      wins: (K, K) int32, their wins of i over j.
      chances: (K, K) float32, the P_t(a) of all of them, positive where there are wins.
    """
    ours = jnp.triu(wins, 1)
    x = jnp.where(ours > 0, ours / jnp.where(ours > 0, chances, 1.0), 0.0)
    squares = jnp.where(ours > 0, x / jnp.where(ours > 0, chances, 1.0), 0.0)
    return WeightedOutcomes(
        *compensated.add(seen.sums, seen.sums_carry, x),
        *compensated.add(seen.squares, seen.squares_carry, squares),
    )


def variances_of(seen: WeightedOutcomes, number: jax.Array) -> jax.Array:
    """Sigma_aa, the variance of X_t(a) over `number` comparisons, at [i, j] and [j, i]: (K, K)
    float32, 0 where i never won."""
    n = jnp.maximum(number, 1).astype(jnp.float32)
    mean = compensated.value(seen.sums, seen.sums_carry) / n
    above = compensated.value(seen.squares, seen.squares_carry) / n - mean * mean
    return jnp.maximum(above + above.T, 0.0)
