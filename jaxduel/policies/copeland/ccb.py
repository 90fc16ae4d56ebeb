"""Copeland Confidence Bound (CCB)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.crossing import drawn_run
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import KeyWords, random_words, uniform, words_of
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_alpha
from jaxduel.policies.copeland.hypotheses import (
    Hypotheses,
    Outlook,
    Verdicts,
    anew,
    candidates_of,
    changes_with_pair,
    has_excess,
    is_settled,
    line_9,
    outlook_of,
    with_pair,
)
from jaxduel.policies.counts import add_result, duel_result, lead_of, log_bound, upper_bounds
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_CHOICES, _KEPT, _LENGTH = 0, 1, 2
"""Streams of random words."""


class Choices(NamedTuple):
    """The law of lines 10 to 13, as far as it concerns F, the arms of C that would meet
    themselves."""

    explores: jax.Array  # () float32: the probability of a pair of line 10
    listed: jax.Array  # () float32: else, the probability of an arm of both B and C
    of_both: jax.Array  # (K,) bool: the arms that it is drawn from then
    of_candidates: jax.Array  # (K,) bool: the arms that it is drawn from otherwise
    weights: jax.Array  # (K,) float32: the probability of an arm of F against itself
    sleeps: jax.Array  # () float32: P, their sum, 1 only where it is certain


class Beliefs(NamedTuple):
    """Those of the comparison to come, after its line 9."""

    verdicts: Verdicts
    candidates: jax.Array  # (K,) bool: C
    hypotheses: Hypotheses
    outlook: Outlook


class CCBState(NamedTuple):
    """One seed's state."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    beliefs: Beliefs
    awake: jax.Array  # () bool: True if a quiet run has ended: no arm of F meets itself now
    t: jax.Array  # () int32: comparisons made
    bound: jax.Array  # () float32: alpha log t of the comparison to come


@register("ccb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class CCB:
    """CCB, Zoghi, Karnin, Whiteson and de Rijke (NIPS 2015), Algorithm 1, for Copeland winners.

    u_ij, l_ij = w_ij / n_ij +- sqrt(alpha log t / n_ij), 1/2 for i = j; of a pair never compared
    "x / 0 := 1" makes them 2 and 0. Lines 7 and 8: C is the set of the arms of the largest upper
    Copeland score #{k != i : u_ik >= 1/2}; the lower score is #{k != i : l_ik >= 1/2}.

    - 9A: if l_ij > 1/2 for some j in B^i, then B, L_C and all B^k are reset: all arms, K, empty.
    - 9B: arms i of B of an upper score below some lower score leave B; if then |B^i| != L_C + 1,
      B^i becomes {k : u_ik < 1/2}. If that leaves B empty, all is reset.
    - 9C: arms i of C of equal scores enter B, B^i becomes empty and L_C is K - 1 less the score;
      every other B^j is emptied if smaller than L_C + 1, else cut to L_C + 1 of its arms, at
      random.
    - 10: with probability 1/4, (i, j) is uniform among j in B^i, l_ij <= 1/2 <= u_ij, if there are.
    - 11 to 13: else c is uniform in C, or with probability 2/3 in the intersection of B and C if
      that is not empty, and d = argmax of u_jc over arms j with l_jc <= 1/2, with probability 1/2
      over those in B^c if there are. c itself is allowed; ties are broken at random, not for c.

    For t >= 2, alpha log t does not equal n_ij (mu_ij - 1/2)^2, a rational number: < or <= is the
    same. So u_ij < 1/2 means that j leads against i by more than alpha log t. Such verdicts change
    with a pair's comparison, or with time once alpha log t reaches the smallest lead; all pairs are
    tested anew in the second case alone, and else a step costs O(K), with K^2 / 32 words of bits.
    In line 13, u_jc is below u_cc = 1/2 if it is decided that c beats j.

    `update` does line 9 for the comparison to come, before the first of which it does nothing. With
    delayed feedback, the update after `learn` does line 9. Started from win counts, lines 1 to 4
    are done with these counts, and line 9 of the next comparison.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      alpha: width of the confidence bounds, > 1/2 in theory; 0.51 as in the experiments of Wu and
        Liu (2016).

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("ccb", num_arms=6, alpha=0.6)
      CCB(num_arms=6, alpha=0.6)
      >>> jd.policies.describe("ccb").assumes  # but no Condorcet winner
      ('a preference in every pair',)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 0.51

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)

    def validate(self) -> None:
        """Raises InputError unless alpha > 0; warns where alpha <= 1/2."""
        require_alpha(self.alpha, "ccb")

    def init(self, key: Key) -> CCBState:
        """No comparisons: lines 1 to 4."""
        num, active = self.num_arms, self._active
        nothing = arm_sets.empty_sets(num)
        beliefs = _beliefs(
            Hypotheses(active, nothing, count_true(active)),
            Verdicts(nothing, nothing, jnp.float32(jnp.inf)),
            active,
        )
        return CCBState(
            wins=jnp.zeros((num, num), jnp.int32),
            beliefs=beliefs,
            awake=jnp.array(False),
            t=jnp.int32(0),
            bound=log_bound(self.alpha, jnp.int32(1)),
        )

    def from_wins(self, wins: jax.Array, key: Key) -> CCBState:
        """The comparisons counted in `wins`, then lines 1 to 4 and 9."""
        start, t = self.init(key), jnp.sum(wins, dtype=jnp.int32)
        bound = log_bound(self.alpha, t + 1)
        verdicts = anew(start.beliefs.verdicts, wins, bound)
        beliefs = _line_9(start.beliefs, verdicts, self._active, words_of(key))
        return start._replace(wins=wins, beliefs=beliefs, t=t, bound=bound)

    def act(self, state: CCBState, key: Key) -> Duel:
        """Lines 7, 8 and 10 to 13."""
        words = random_words(words_of(key), jnp.arange(4, dtype=jnp.int32), _CHOICES)
        coins, picks = uniform(materialize(jnp.stack(words), state.t < 0))  # read for every arm
        choices = self._choices(state)
        listed = coins[1] < choices.listed
        left = masked_choice(jnp.where(listed, choices.of_both, choices.of_candidates), picks[2])
        duel = Duel(left, self._opponent(state, left, coins[2], picks[3]))
        rivals, decided = state.beliefs.hypotheses.rivals, state.beliefs.verdicts.decided
        explores = coins[0] < choices.explores
        return compacted_cond(_random_pair, explores, duel, rivals, decided, picks, is_light=True)

    def update(self, state: CCBState, plan: Duel, outcome: jax.Array, key: Key) -> CCBState:
        """Counts the outcome, then line 9 of the next comparison."""
        learnt = duel_result(plan, outcome)
        i, j = learnt.winner, learnt.loser
        wins = add_result(state.wins, learnt)
        t = state.t + 1
        bound = log_bound(self.alpha, t + 1)
        pair = i, j, lead_of(wins[i, j], wins[j, i]), bound
        beliefs, lead = state.beliefs, jnp.abs(pair[2])
        verdicts = beliefs.verdicts
        until = jnp.where(lead > bound, jnp.minimum(verdicts.until, lead), verdicts.until)
        fades = bound >= until
        changes = fades | changes_with_pair(verdicts, *pair) | ~beliefs.outlook.settled
        verdicts = compacted_cond(anew, fades, verdicts._replace(until=until), wins, bound)
        beliefs = beliefs._replace(verdicts=verdicts)
        beliefs = compacted_cond(
            _renewed, changes, beliefs, pair, self._active, words_of(key), is_light=True
        )
        return CCBState(wins=wins, beliefs=beliefs, awake=jnp.array(False), t=t, bound=bound)

    def learn(self, state: CCBState, feedback: Feedback) -> CCBState:
        """Takes in withheld outcomes; the next update does line 9."""
        wins, hypotheses = state.wins + feedback.wins(), state.beliefs.hypotheses
        verdicts = anew(state.beliefs.verdicts, wins, state.bound)
        beliefs = _beliefs(hypotheses, verdicts, self._active)
        return state._replace(wins=wins, beliefs=beliefs, awake=jnp.array(False))

    def quiet(self, state: CCBState, limit: jax.Array, key: Key) -> tuple[CCBState, Quiet]:
        """The comparisons with themselves of F, the arms of C all of whose pairs are decided.

        A run needs that line 9 would change nothing with the verdicts as they are. Then verdicts,
        C, B and all B^i stay until alpha log t reaches the smallest lead that decides, or two
        different arms are compared: each comparison is, independently, with the same probability P
        that of an arm of F with itself (line 13), in proportion to what lines 10 to 12 give these.
        So the run's length is geometric, P(N >= n) = P^n, without end where P = 1, and cut before
        the comparison after which verdicts may change, since N has no memory. The comparison after
        a run that was not cut is any other, with its probability given that: `awake` tells `act`.
        There is no run where P <= 1/2.
        """
        choices = self._choices(state)
        verdicts, _, hypotheses, outlook = state.beliefs
        until, settled = verdicts.until, outlook.settled
        if for_accelerator():
            settled = is_settled(hypotheses, verdicts, self._active)
        asked = settled & ~state.awake & (choices.sleeps > 0.5)
        u = uniform(random_words(words_of(key), 0, _LENGTH)[0])
        with jax.enable_x64(True):
            length = jnp.log1p(-u.astype(jnp.float64)) / jnp.log(choices.sleeps.astype(jnp.float64))
            length = jnp.where(choices.sleeps < 1, jnp.floor(length), jnp.inf)
            length = jnp.minimum(length, limit.astype(jnp.float64)).astype(jnp.int32)
        n, ended = drawn_run(
            asked, length, lambda t: log_bound(self.alpha, t + 1) < until, state.t, limit
        )
        arm = lax.argmax(choices.weights, 0, jnp.int32)
        t = state.t + n
        bound = log_bound(self.alpha, t + 1)
        state = state._replace(t=t, bound=bound, awake=state.awake | ended)
        return state, Quiet(arm, n, choices.weights)

    @property
    def _active(self) -> jax.Array:
        """`active_arms` as an array of JAX."""
        return jnp.asarray(self.active_arms)

    def _choices(self, state: CCBState) -> Choices:
        """The law of lines 10 to 12; where `awake`, given that no arm of F meets itself."""
        _, candidates, hypotheses, outlook = state.beliefs
        both, known = candidates & hypotheses.shortlist, candidates & outlook.known
        explores = jnp.where(outlook.explores, 0.25, 0.0)
        listed = jnp.where(jnp.any(both), 2.0 / 3.0, 0.0)

        def each(mask: jax.Array, chance: jax.Array) -> jax.Array:
            size = jnp.maximum(count_true(mask), 1).astype(jnp.float32)
            return jnp.where(mask, (1 - explores) * chance / size, 0.0)

        of_both, of_candidates = each(both, listed), each(candidates, 1 - listed)
        weights = jnp.where(known, of_both + of_candidates, 0.0)
        always = jnp.all(known == candidates) & (explores == 0)
        sleeps = jnp.where(always, 1.0, jnp.minimum(jnp.sum(weights), 1.0))
        one, other = (jnp.sum(jnp.where(known, 0.0, x)) for x in (of_both, of_candidates))
        rest = explores + one + other
        awake = state.awake & (rest > 0)
        return Choices(
            explores=jnp.where(awake, explores / rest, explores),
            listed=jnp.where(awake & (one + other > 0), one / (one + other), listed),
            of_both=both & ~(awake & known),
            of_candidates=candidates & ~(awake & known),
            weights=weights,
            sleeps=sleeps,
        )

    def _opponent(
        self, state: CCBState, left: jax.Array, coin: jax.Array, tie: jax.Array
    ) -> jax.Array:
        """Line 13."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        upper = upper_bounds(state.wins[:, left], state.wins[left], state.bound)
        verdicts, _, hypotheses, _ = state.beliefs
        sets = verdicts.superiors, verdicts.decided, hypotheses.rivals
        superiors, decided, rivals = (
            arm_sets.as_mask(words, self.num_arms) for words in jnp.stack(sets)[:, :, left]
        )
        rivals = rivals & ~superiors
        others = self._active & ~decided & (arms != left)
        others = jnp.where((coin < 0.5) & jnp.any(rivals), rivals, others)
        upper = jnp.where(others, upper, -jnp.inf)
        other = masked_choice(others & (upper == jnp.max(upper)), tie)
        return jnp.where(jnp.any(others), other, left)


def _beliefs(hypotheses: Hypotheses, verdicts: Verdicts, active: jax.Array) -> Beliefs:
    outlook = outlook_of(hypotheses, verdicts, active)
    return Beliefs(verdicts, candidates_of(verdicts, active), hypotheses, outlook)


def _line_9(beliefs: Beliefs, verdicts: Verdicts, active: jax.Array, seed: KeyWords) -> Beliefs:
    """The beliefs after line 9 with these verdicts."""
    hypotheses, exact = line_9(beliefs.hypotheses, verdicts, active)
    most = hypotheses.losses + 1
    excess = has_excess(hypotheses, exact)
    rivals = compacted_cond(_cut, excess, hypotheses.rivals, most, seed)
    return _beliefs(hypotheses._replace(rivals=rivals), verdicts, active)


def _renewed(
    beliefs: Beliefs, pair: tuple[jax.Array, ...], active: jax.Array, seed: KeyWords
) -> Beliefs:
    """The beliefs with the verdict on a pair, after line 9."""
    return _line_9(beliefs, with_pair(beliefs.verdicts, *pair), active, seed)


def _cut(rivals: jax.Array, size: jax.Array, seed: KeyWords) -> jax.Array:
    """9C: the sets B^j, those larger than L_C + 1 cut to that size."""
    return arm_sets.random_subsets(rivals, size, seed, _KEPT)


def _random_pair(duel: Duel, rivals: jax.Array, decided: jax.Array, picks: jax.Array) -> Duel:
    """Line 10, by two uniform numbers: i, and an arm of B^i whose pair with i is open."""
    return Duel(*arm_sets.random_pair(rivals & ~decided, picks[0], picks[1]))
