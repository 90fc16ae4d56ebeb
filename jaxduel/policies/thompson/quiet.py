"""Quiet runs of Thompson sampling on win counts: steps in which arms only meet themselves.

One step tosses independent coins: one for every pair {i, j}, which decides the votes of both arms,
and in the second phase one for every arm j that is eligible against the first arm, which decides
whether theta_j,first > 1/2. If some votes, V, fall on their likelier sides, then, whatever the
other votes show, the first arm is one of a few, the leaders: i with a probability l_i. If then no
arm replies, the comparison is (i, i). Call this event D. V is chosen by the state alone. Then

* comparisons (i, i) teach nothing, so that V, the l_i and the probability p of D stay the same from
  step to step until log t changes a set of arms: a run is cut before that;
* the number N of steps in a row in which D happens is geometric, P(N >= n) = p^n, their arms are
  independent, i with a probability in proportion to l_i P(no arm replies to i), and the other coins
  of these steps leave no trace. A run cut at n <= N goes on as if it began there: N has no memory;
* the step after a run that was not cut is one in which D does not happen. In any order of V either
  there is a first vote that falls on its unlikely side, number k with a probability in proportion
  to (1 - q_1) ... (1 - q_{k-1}) q_k, where q is a coin's smaller side. Given k, the votes before it
  fall on their likelier sides, vote k does not, and all other coins are tossed as usual. Or V falls
  on the likelier sides, i is the first arm and an arm replies, with a probability in proportion to
  the product of the three: then i is the first arm, its first reply is found like k, and no vote
  matters any more. `ThompsonState.decided` carries this to the next step
  (`jaxduel.policies.thompson.runs`).

The l_i are not needed where the law of the first arm is unknown and the leaders' comparisons with
themselves cost the same. With a_i the probability that an arm replies to i, a step then fails with
probability a, the largest a_i of a leader. The step after such a run finds its first arm i by all
its votes, as usual, and with probability a_i / a an arm replies to i, found by the same uniform
number for all i; else i meets itself. Such a run does not tell the arms of its comparisons.

The outcomes of other comparisons must not arrive within a run: a caller that withholds some asks
for a run that ends, with the step after it, when they arrive. If they come right after a run of
length n, its length needs no correction: all that matters is N >= n, the next step has new
probabilities, and `jaxduel.policies.thompson.sampling.after_feedback` frees its coins.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.reductions import least
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Key, Quiet
from jaxduel.policies.counts import log_bound
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.leaders import chances_to_lead, few
from jaxduel.policies.thompson.runs import LEAST, Coins, Run, any_of, run_of
from jaxduel.policies.thompson.sampling import DoubleThompsonSettings, ThompsonState

_NEVER = 2.0**-126  # the `signed_tail` of a coin that cannot fall on its unlikely side


def confident_run(
    policy: DoubleThompsonSettings,
    self_duels: bool,
    state: ThompsonState,
    limit: jax.Array,
    key: Key,
    among: jax.Array | None = None,
) -> tuple[ThompsonState, Quiet]:
    """The quiet run of a policy whose first arm is a candidate with most votes, as D-TS's is.

    The leaders are the candidates that win most votes, s, if all votes fall on their likelier
    sides; where there are several and not all are `among`, there is no run. V holds the likely wins
    of the leader that is surest of them, and, for every candidate that is no leader, its K - s
    likeliest losses: only leaders can have s votes or more. V is empty if all candidates are
    leaders. Where there are too many leaders for `jaxduel.policies.thompson.leaders`, V holds all
    other votes of leaders, too, and they are equally likely to be the first arm.

    Args:
      policy: with `tells_which` a run of several leaders has weights, as ties of votes are broken
        uniformly; else it is reported as the first leader's.
      self_duels: whether an arm may meet itself; else there is no run.
      state: before the step.
      limit: () int32, at least 0.
      key: used for nothing else.
      among: (K,) bool, the arms that may share a run; None if no arms may.

    Returns:
      The state after the run, and the run.
    """
    if not self_duels:
        return state, Quiet(jnp.int32(0), jnp.int32(0))
    alpha, active = policy.alpha, jnp.asarray(policy.active_arms)
    tells_which = among is not None and policy.tells_which
    num = len(active)
    bound = log_bound(alpha, state.t + 1)
    candidates = sampling.possible_winners(state, bound, active)
    score = jnp.where(candidates, likely_votes(state, active), -1)
    arm = lax.argmax(score, 0, jnp.int32)
    one = lax.iota(jnp.int32, num) == arm
    leaders, pooled = one, None
    if among is not None:
        best = score == score[arm]
        several = (count_true(best) > 1) & ~jnp.any(best & ~among)
        leaders = jnp.where(several, best, one)
        pooled = None if tells_which else several
    others = ~jnp.eye(num, dtype=bool) & active
    meeting = leaders[:, None] & others
    eligible = meeting & (state.lead >= -bound)
    answers = jnp.where(eligible, _chance_to_lose(state.tail), 0.0)
    answered = any_of(answers.T)
    lowest = jnp.min(jnp.where(leaders, answered, 1.0))
    leads = one.astype(jnp.float32)
    if pooled is not None:  # a single leader is the likeliest
        likeliest = lax.argmax(jnp.where(leaders, answered, -1.0), 0, jnp.int32)
        lowest = answered[likeliest]
        leads = (lax.iota(jnp.int32, num) == likeliest).astype(jnp.float32)
    votes, found = _decisive_votes(state, score, leaders, candidates, active, lowest)
    if tells_which:
        leads = _chances_to_lead(state, votes, leaders, active)
    coins = Coins(votes, leads, jnp.where(found, answers, 1.0), pooled)
    refuted = least(jnp.where(active & (state.lead >= bound), state.lead, jnp.inf).ravel())
    refused = least(jnp.where(meeting & ~eligible, -state.lead, jnp.inf).ravel())

    def settled(t: jax.Array) -> jax.Array:
        now = log_bound(alpha, t)
        return (refuted >= now) & (refused > now)

    run = run_of(words_of(key), state, coins, settled, limit)
    if not tells_which:
        return _later(state, run), Quiet(arm, run.n)
    weights = leads * (1.0 - answered)
    return _later(state, run), Quiet(lax.argmax(weights, 0, jnp.int32), run.n, weights)


def champion_run(
    state: ThompsonState,
    arm: jax.Array,
    unbeaten: Callable[[jax.Array], jax.Array],
    active: jax.Array,
    limit: jax.Array,
    key: Key,
) -> tuple[ThompsonState, Quiet]:
    """The quiet run of an arm that meets itself while it wins all its votes (the event D).

    Args:
      state: before the step.
      arm: () int32, the arm.
      unbeaten: whether it meets itself in comparison number t, () int32 to () bool, if it wins all
        votes; once false, always false.
      active: (K,) bool.
      limit: () int32, at least 0.
      key: used for nothing else.

    Returns:
      The state after the run, and the run.
    """
    itself = lax.iota(jnp.int32, len(active)) == arm
    rivals = active & ~itself
    votes, lost = itself[:, None] & rivals, jnp.any(rivals & (state.tail[arm] > 0))
    never = jnp.where(lost | ~unbeaten(state.t + 1), 1.0, 0.0)  # in place of the arm's own reply
    answers = jnp.where(itself[:, None] & itself, never, 0.0)
    coins = Coins(votes, itself.astype(jnp.float32), answers)
    run = run_of(words_of(key), state, coins, unbeaten, limit)
    return _later(state, run), Quiet(arm, run.n)


def likely_votes(state: ThompsonState, active: jax.Array) -> jax.Array:
    """Votes that each arm wins if all fall on their likelier sides: (K,) int32, -1 for inactive
    arms."""
    return sampling.votes_of(state.tail < 0, active)


def _later(state: ThompsonState, run: Run) -> ThompsonState:
    return state._replace(t=state.t + run.n, decided=run.decided)


def _chance_to_lose(tail: jax.Array) -> jax.Array:
    """P(theta < 1/2) where `tail` is the `signed_tail` of theta."""
    return jnp.where(tail < 0, -tail, 1.0 - tail)


def _decisive_votes(
    state: ThompsonState,
    score: jax.Array,
    leaders: jax.Array,
    candidates: jax.Array,
    active: jax.Array,
    answered: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """The votes V of `confident_run`, and whether there are any.

    V gives one leader more votes than any candidate that is no leader can have, or, if leaders are
    not `few`, all leaders the same number. A lane looks for votes of third arms only if D can have
    a probability above 1/2: where one lane needs many, all lanes wait.

    Args:
      state: before the step.
      score: (K,) int32, the likely votes of candidates.
      leaders: (K,) bool.
      candidates: (K,) bool.
      active: (K,) bool.
      answered: () float32, a lower bound of the probability that D fails by a reply.

    Returns:
      (K, K) bool, True where the win of i over j is in V, and () bool, False where even all likely
      votes together do not suffice.
    """
    num = len(active)
    pairs = ~jnp.eye(num, dtype=bool) & active[:, None] & active
    likely, rivals = pairs & (state.tail < 0), candidates & ~leaders
    many = ~few(leaders)
    unsure = jnp.where(leaders, any_of(jnp.where(likely, -state.tail, 0.0).T), jnp.inf)
    surest = lax.iota(jnp.int32, num) == lax.argmin(unsure, 0, jnp.int32)
    winners = jnp.where(many, leaders, surest)
    own = likely & (winners[:, None] | (leaders & many)) & (many | jnp.any(rivals))
    won = jnp.sum(own & winners[:, None], axis=0, dtype=jnp.int32)
    missing = jnp.where(rivals, count_true(active) - jnp.max(score) - won, 0)
    least = any_of(jnp.append(any_of(jnp.where(own, -state.tail, 0.0)), answered))
    missing = jnp.where(least < 1.0 - LEAST, missing, 0)
    third = pairs & ~winners[:, None] & rivals

    def losses(tail: jax.Array) -> jax.Array:
        return jnp.where(third & (tail < 0), -tail, jnp.inf)

    def raised(loop: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        level, lacking, tail = loop
        chances = losses(tail)
        above = jnp.min(jnp.where(chances > level, chances, jnp.inf), axis=0)
        level = jnp.where(lacking, above, level)
        enough = jnp.sum(chances <= level, axis=0, dtype=jnp.int32) >= missing
        return level, lacking & ~enough, tail

    start = jnp.zeros(num, jnp.float32), missing > 0, state.tail
    level = lax.while_loop(lambda loop: jnp.any(loop[1]), raised, start)[0]
    votes = own | (losses(state.tail) <= level)
    return votes, jnp.all(level < jnp.inf)


def _chances_to_lead(
    state: ThompsonState, votes: jax.Array, leaders: jax.Array, active: jax.Array
) -> jax.Array:
    """Probability that each leader is the first arm of a step in which these votes fall on their
    likelier sides: (K,) float32."""
    tail = jnp.where(votes, -_NEVER, jnp.where(votes.T, _NEVER, state.tail))
    number = count_true(leaders)
    several = (number > 1) & few(leaders)
    alike = leaders / number.astype(jnp.float32)
    return compacted_cond(_unlike, several, alike, tail, leaders, active)


def _unlike(alike: jax.Array, tail: jax.Array, leaders: jax.Array, active: jax.Array) -> jax.Array:
    """`chances_to_lead`, as the branch of a `compacted_cond` that replaces equal chances."""
    return chances_to_lead(tail, leaders, active)
