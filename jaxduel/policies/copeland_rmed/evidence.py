"""Evidence on the Copeland winners: conditions (2), (4), (5) of Komiyama et al. (ICML 2016).

Tables are read by columns, `[j, i]`: column i holds what concerns the opponents j of arm i. The
superiors of arm i are the j that lead against it; L_i is their number.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.sums import sum_in_order

_ENOUGH = 64.0
"""Evidence above any log t; larger evidence is clipped to it, which changes no decision."""
_DEAR = 1e30
"""A number above any cost."""
_ROUNDING = 0.01
"""Upper bound of the rounding errors of `confidence_bounds` and `confident_until` together, where
they decide, near log t < 22: both are sums of up to K float32 numbers, off by at most K 2^-24 of
themselves, which are 44 K 2^-24 together; less than this up to K = 3,800."""


class Standing(NamedTuple):
    """Leads, costs and empirical Copeland winners, by the estimates."""

    lead: jax.Array  # (K, K) float32: n d(mu_ji, 1/2), the evidence that j beats i; < 0 if i leads
    costs: jax.Array  # (K, K) float32: 2 (K - 1) r_ji / d(mu_ji, 1/2) where j leads, else infinite
    evidence: jax.Array  # (K,) float32: the sum of the evidence of i's superiors
    losses: jax.Array  # (K,) int32: L_i; K for inactive arms
    fewest: jax.Array  # () int32: L^(1)
    second: jax.Array  # () int32: L^(2), the second smallest with multiplicity
    winners: jax.Array  # (K,) bool: the empirical Copeland winners


def standing(lead: jax.Array, price: jax.Array, active: jax.Array) -> Standing:
    """The standing of all arms.

    Args:
      lead: (K, K) float32, as in `Standing`.
      price: (K, K) float32, 1 / d(mu_ji, 1/2).
      active: (K,) bool.
    """
    num = len(active)
    ahead = lead > 0
    losses = jnp.where(active, jnp.sum(ahead, axis=0, dtype=jnp.int32), num)
    fewest = jnp.min(losses)
    winners = losses == fewest
    alone = jnp.sum(winners, dtype=jnp.int32) == 1
    second = jnp.where(alone, jnp.min(jnp.where(winners, num, losses)), fewest)
    costs = costs_of(lead, price, losses[:, None], losses, fewest)
    return Standing(lead, costs, evidence_of(lead), losses, fewest, second, winners)


def costs_of(
    lead: jax.Array, price: jax.Array, losses: jax.Array, losses_of: jax.Array, fewest: jax.Array
) -> jax.Array:
    """`Standing.costs` of comparing j with i, infinite where j does not lead.

    Args:
      lead: of j against i, float32 of any shape.
      price: 1 / d(mu_ji, 1/2), float32.
      losses: L_j, int32.
      losses_of: L_i, int32.
      fewest: () int32, L^(1).
    """
    extra = (losses - fewest).astype(jnp.float32) + (losses_of - fewest).astype(jnp.float32)
    return jnp.where(lead > 0, extra * price, jnp.inf)


def evidence_of(lead: jax.Array) -> jax.Array:
    """`Standing.evidence`, the sum of a lead's positive entries along the first axis."""
    return sum_in_order(jnp.clip(lead, 0.0, _ENOUGH), 0)


class Constraint(NamedTuple):
    """A constraint of (2): i2, the make-up of S and I, and the sum over both."""

    total: jax.Array  # () float32, infinite where there is no constraint
    rival: jax.Array  # () int32: i2
    dropped: jax.Array  # () int32: S are the superiors of i2 without this many largest
    size: jax.Array  # () int32: |I|
    inside: jax.Array  # () bool: True if i2 is in I


def confident_until(now: Standing, winner: jax.Array, at_least: jax.Array) -> jax.Array:
    """The largest log t at which the counts are in R_winner, condition (2).

    The counts give e = min(1, n d / log t): surplus comparisons are allowed. Then "the e of I and S
    sum to 1 or more" says that their n d sum to log t or more.

    Args:
      now: the standing.
      winner: () int32, i1, one of the empirical Copeland winners.
      at_least: () float32; a result below it is only known to be below it.

    Returns:
      () float32, infinite where there is no constraint.
    """
    return tightest(now, winner, jnp.minimum(now.lead, _ENOUGH), at_least).total


def confidence_bounds(
    lead: jax.Array, evidence: jax.Array, losses: jax.Array, fewest: jax.Array
) -> jax.Array:
    """Quick upper bounds of `confident_until`, its rounding near log t included, for each i2.

    They come from the constraints with l = L^(1) and I = {i2}: dropping the L^(1) largest superiors
    leaves at most the average share.

    Args:
      lead: the evidence that the winner beats i2, float32 of any shape.
      evidence: of all superiors of i2 together, as in `Standing`, float32.
      losses: L_i2, int32.
      fewest: () int32, L^(1).

    Returns:
      float32, infinite where the winner does not beat i2.
    """
    beaten = lead > 0
    evidence = evidence - jnp.where(beaten, jnp.minimum(lead, _ENOUGH), 0.0)
    count = losses - beaten
    kept = (count - fewest).astype(jnp.float32) / jnp.maximum(count, 1).astype(jnp.float32)
    bounds = lead + jnp.maximum(kept, 0.0) * jnp.maximum(evidence, 0.0) + _ROUNDING
    return jnp.where(beaten, bounds, jnp.inf)


class _Dropping(NamedTuple):
    """The search of `tightest`, after the largest superiors of every i2 were dropped from S."""

    dropped: jax.Array  # () int32: how many
    last: jax.Array  # (K,) float32: the evidence of the last one, of each i2
    equals: jax.Array  # (K,) int32: how many with that evidence have been dropped
    smallest: (
        jax.Array
    )  # () float32: sum of the smallest evidence of i1 in I, one arm less than now
    least: Constraint  # the tightest seen so far


def tightest(
    now: Standing, winner: jax.Array, evidence: jax.Array, at_least: jax.Array
) -> Constraint:
    """The constraint of R_winner whose I and S have the smallest sum of evidence.

    For given i2 and l, with i2 in I or not, the tightest I and S take the smallest evidence. S
    takes all but the largest few, one fewer with every l: the largest are dropped one by one, for
    all i2 at once.

    Args:
      now: the standing.
      winner: () int32, i1, one of the empirical Copeland winners.
      evidence: (K, K) float32, [j, i]; where j leads against i, at least 0.
      at_least: () float32; a sum below it need not be the smallest.
    """
    num = len(now.losses)
    arms = jnp.arange(num, dtype=jnp.int32)
    others = (arms != winner) & (now.losses < num)
    beaten = now.lead[winner] > 0
    own = jnp.where(beaten, evidence[winner], jnp.inf)
    digits = lax.sort(lax.bitcast_convert_type(own, jnp.int32))  # faster, in the same order
    in_order = lax.bitcast_convert_type(digits, jnp.float32)
    size = jnp.sum(beaten, dtype=jnp.int32)
    superior = (now.lead > 0) & (arms[:, None] != winner)
    evidence = jnp.where(superior, evidence, 0.0)

    def smallest(m: jax.Array) -> jax.Array:
        return in_order[jnp.clip(m - 1, 0, num - 1)]

    def turn(at: _Dropping) -> _Dropping:
        below = jnp.where(evidence < at.last, evidence, 0.0)
        equal = jnp.sum(evidence == at.last, axis=0, dtype=jnp.int32) - at.equals
        again = equal > 0
        rest = sum_in_order(below, 0) + jnp.where(again, equal.astype(jnp.float32) * at.last, 0.0)
        m = at.dropped - now.fewest + 1  # |I|, or |I| - 1 where i1 beats i2 and I is without it
        sum_m = jnp.where(m >= 1, at.smallest + smallest(m), 0.0)
        more = jnp.where(m >= 0, sum_m + smallest(m + 1), 0.0)
        with_i2 = at.smallest + jnp.maximum(own, smallest(m))
        with_i2 = jnp.where((m >= 1) & (m <= size), with_i2, jnp.inf)
        without = more + jnp.maximum(smallest(m + 2) - own, 0.0)
        fits = (m >= -1) & (m <= size - 2) & (at.dropped < now.second)
        without = jnp.where(fits, without, jnp.inf)
        unbeaten = jnp.where((m >= 0) & (m <= size), sum_m, jnp.inf)
        of_winner = jnp.where(beaten, jnp.minimum(with_i2, without), unbeaten)
        sums = jnp.where(others, of_winner + rest, jnp.inf)
        total = jnp.min(sums)
        rival = jnp.min(jnp.where(sums == total, arms, num - 1))
        inside = beaten[rival] & (with_i2[rival] <= without[rival])
        here = Constraint(
            total=total,
            rival=rival,
            dropped=at.dropped,
            size=jnp.where(beaten[rival] & ~inside, m + 1, m),
            inside=inside,
        )
        closer = total < at.least.total
        return _Dropping(
            dropped=at.dropped + 1,
            last=jnp.where(again, at.last, jnp.max(below, axis=0)),
            equals=jnp.where(again, at.equals + 1, 1),
            smallest=sum_m,
            least=jax.tree.map(lambda x, y: jnp.where(closer, x, y), here, at.least),
        )

    def goes_on(at: _Dropping) -> jax.Array:
        return (at.dropped <= now.second) & (at.least.total >= at_least)

    zero = jnp.int32(0)
    begin = _Dropping(
        dropped=zero,
        last=jnp.full(num, jnp.inf, jnp.float32),
        equals=jnp.zeros(num, jnp.int32),
        smallest=jnp.float32(0),
        least=Constraint(jnp.float32(jnp.inf), zero, zero, zero, jnp.array(False)),
    )
    return lax.while_loop(goes_on, turn, begin).least


def members(
    now: Standing, winner: jax.Array, evidence: jax.Array, which: Constraint
) -> tuple[jax.Array, jax.Array]:
    """I and S of a constraint that `tightest` found for the same arguments.

    Returns:
      (K,) bool each: the j with (winner, j) in the sum, and the j with (i2, j) in it.
    """
    num = len(now.losses)
    arms = jnp.arange(num, dtype=jnp.int32)
    rival = arms == which.rival
    beaten = (now.lead[winner] > 0) & ~rival
    own = jnp.where(beaten, evidence[winner], jnp.inf)
    chosen = beaten & (_rank(own) < which.size - which.inside.astype(jnp.int32))
    superior = (now.lead[:, which.rival] > 0) & (arms != winner)
    down = jnp.where(superior, -evidence[:, which.rival], jnp.inf)
    return chosen | (rival & which.inside), superior & (_rank(down) >= which.dropped)


def _rank(values: jax.Array) -> jax.Array:
    """Rank of each of (K,) values in increasing order, from 0: (K,) int32; ties by index."""
    arms = jnp.arange(len(values), dtype=jnp.int32)
    earlier = (values[:, None] < values) | ((values[:, None] == values) & (arms[:, None] < arms))
    return jnp.sum(earlier, axis=0, dtype=jnp.int32)


class Level(NamedTuple):
    """Theorem 5 for an i2: superiors of cost at most `cost` get e = 1 / `parts`, others none."""

    cost: jax.Array  # () float32: the value of i2's problem; -1 where nothing is needed
    parts: jax.Array  # () float32: h - k


class _Descent(NamedTuple):
    """The search of `ecw_level`."""

    cost: jax.Array  # () float32: the ratio so far
    number: jax.Array  # () int32: of superiors that cost at most the ratio before it; -1 at first
    raised: jax.Array  # () bool: whether it was raised, and stays
    moves: jax.Array  # () bool: whether that number has changed


def ecw_level(costs: jax.Array, needed: jax.Array, asked: jax.Array, guess: jax.Array) -> Level:
    """The optimum over R^E_i1, conditions (4) and (5), for an i2, as far as (4) does not give it.

    For i2 with superiors S (without i1) of which any `needed` must sum to 1, k = |S| - needed,
    Theorem 5 gives e = 1 / (h - k) to the h cheapest, and the value min_h (sum of the h smallest
    costs) / (h - k). It is found without sorting: the value is the only positive number that is the
    ratio of the set of superiors that cost at most that number. From any larger set the ratios fall
    to it, in a few turns. Where rounding puts the mean of equal costs below them, so that too few
    are left, the ratio is raised by more than rounding takes.

    Args:
      costs: (K,) float32, of comparing i2 with j, infinite where j is not in S.
      needed: () int32, L_i2 - L_i1 + 1.
      asked: () bool, false for i1 and for arms that do not exist.
      guess: () float32, the start of the search; any finite number will do.
    """
    size = jnp.sum(costs < _DEAR, dtype=jnp.int32)
    asked = asked & (size >= needed)
    spare = size - needed
    up = 1 + len(costs) * 2.0**-23

    def turn(at: _Descent) -> _Descent:
        chosen = costs <= at.cost
        count = jnp.sum(chosen, dtype=jnp.int32)
        total = sum_in_order(jnp.where(chosen, costs, 0.0), 0)
        ratio = total / jnp.maximum(count - spare, 1).astype(jnp.float32)
        ratio = jnp.where(count > spare, ratio, _DEAR)
        ratio = jnp.where(at.number < 0, ratio, jnp.minimum(ratio, at.cost))
        lost = (at.number > spare) & (count <= spare)
        ratio = jnp.where(at.raised, at.cost, jnp.where(lost, up * at.cost, ratio))
        moves = count != at.number
        return _Descent(jnp.where(moves, ratio, at.cost), count, at.raised | lost, moves)

    begin = _Descent(guess, jnp.int32(-1), jnp.array(False), asked)
    end = lax.while_loop(lambda at: at.moves, turn, begin)
    parts = jnp.maximum(end.number - spare, 1).astype(jnp.float32)
    return Level(jnp.where(asked, end.cost, -1.0), parts)


def ecw_levels(now: Standing, winner: jax.Array, guess: jax.Array) -> Level:
    """`ecw_level` for all i2.

    Args:
      now: the standing.
      winner: () int32, i1, one of the empirical Copeland winners.
      guess: (K,) float32, any finite numbers.

    Returns:
      (K,) each.
    """
    num = len(now.losses)
    arms = jnp.arange(num, dtype=jnp.int32)
    costs = jnp.where(arms[:, None] != winner, now.costs, jnp.inf)
    asked = (arms != winner) & (now.losses < num)
    of_all = jax.vmap(ecw_level, in_axes=(1, 0, 0, 0))
    return of_all(costs, now.losses - now.fewest + 1, asked, guess)


def ecw_total(costs: jax.Array, levels: jax.Array) -> jax.Array:
    """The optimal regret per log t over R^E_i1, in units of the costs: () float32.

    Args:
      costs: (K,) float32, of comparing i1 with each i2, infinite where i1 does not lead.
      levels: (K,) float32, the costs of the levels.
    """
    own = sum_in_order(jnp.where(costs < _DEAR, costs, 0.0), 0)
    return own + sum_in_order(jnp.maximum(levels, 0.0), 0)


def ecw_due(lead: jax.Array, costs: jax.Array, winner: jax.Array, level: Level) -> jax.Array:
    """The log t from which on the n_ij of an i2 fall short of q*_ij log t.

    It is n_ij / q*_ij = n_ij d(mu_ij, 1/2) / e_ij, infinite where e_ij = 0.

    Args:
      lead: (K,) float32, the evidence that j beats i2.
      costs: (K,) float32, as in `Standing`.
      winner: () int32, i1.
      level: of i2.

    Returns:
      (K,) float32, infinite where j does not lead against i2.
    """
    of_winner = jnp.arange(len(lead), dtype=jnp.int32) == winner
    parts = jnp.where(of_winner, 1.0, level.parts)
    return jnp.where((lead > 0) & (of_winner | (costs <= level.cost)), lead * parts, jnp.inf)
