"""Decided pairs of CCB, and the hypotheses that its line 9 keeps."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.target import for_accelerator
from jaxduel.policies import arm_sets
from jaxduel.policies.counts import lead_of


class Verdicts(NamedTuple):
    """Decided pairs at the comparison to come; column i holds a set of arms as bits."""

    superiors: jax.Array  # (ceil(K / 32), K) uint32: {k : u_ik < 1/2}
    decided: jax.Array  # (ceil(K / 32), K) uint32: {k : u_ik < 1/2 or l_ik > 1/2}
    until: jax.Array  # () float32: while alpha log t is below it, no decided pair becomes open


class Hypotheses(NamedTuple):
    """Hypotheses that line 9 maintains."""

    shortlist: jax.Array  # (K,) bool: B, potential Copeland winners
    rivals: jax.Array  # (ceil(K / 32), K) uint32: B^i, potential to beat i, as bits of column i
    losses: jax.Array  # () int32: L_C, estimated number of arms that beat a Copeland winner


class Outlook(NamedTuple):
    """Facts on all pairs for lines 9 to 13, as lasting as verdicts and hypotheses."""

    settled: jax.Array  # () bool: True if line 9 is known to change nothing; on a CPU only
    explores: jax.Array  # () bool: True if line 10 has a pair
    known: jax.Array  # (K,) bool: all pairs are decided, and all of B^i are superiors


def changes_with_pair(
    verdicts: Verdicts, i: jax.Array, j: jax.Array, lead: jax.Array, bound: jax.Array
) -> jax.Array:
    """True if `with_pair` would change a set: () bool."""
    sure = jnp.abs(lead) > bound
    decided = arm_sets.contains(verdicts.decided, i, j)
    behind = arm_sets.contains(verdicts.superiors, i, j)
    return (sure != decided) | (sure & ((lead > 0) != behind))


def with_pair(
    verdicts: Verdicts, i: jax.Array, j: jax.Array, lead: jax.Array, bound: jax.Array
) -> Verdicts:
    """The sets with the verdict on (i, j) replaced: i leads against j by `lead`."""
    num = verdicts.decided.shape[1]
    i_at_j, j_at_i = arm_sets.only(i, j, num), arm_sets.only(j, i, num)
    both = i_at_j | j_at_i
    sure = jnp.abs(lead) > bound
    superior = jnp.where(lead > 0, i_at_j, j_at_i)
    return Verdicts(
        superiors=(verdicts.superiors & ~both) | jnp.where(sure, superior, jnp.uint32(0)),
        decided=(verdicts.decided & ~both) | jnp.where(sure, both, jnp.uint32(0)),
        until=verdicts.until,
    )


def anew(verdicts: Verdicts, wins: jax.Array, bound: jax.Array) -> Verdicts:
    """The verdicts on all pairs, from the counts alone."""
    lead = lead_of(wins, wins.T)  # [k, i]: that of k over i
    sure = jnp.abs(lead) > bound
    return Verdicts(
        superiors=arm_sets.sets_where(lead > bound),
        decided=arm_sets.sets_where(sure),
        until=jnp.min(jnp.where(sure, jnp.abs(lead), jnp.inf)),
    )


def _scores(verdicts: Verdicts, active: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The upper and lower Copeland scores, (K,) int32 each; -1 and 0 for inactive arms."""
    lost = arm_sets.sizes(verdicts.superiors)
    upper = jnp.where(active, count_true(active) - 1 - lost, -1)
    return upper, arm_sets.sizes(verdicts.decided) - lost


def candidates_of(verdicts: Verdicts, active: jax.Array) -> jax.Array:
    """Lines 7 and 8: the arms of the largest upper score, (K,) bool."""
    upper, _ = _scores(verdicts, active)
    return active & (upper == jnp.max(upper))


def _reset(where: jax.Array, hypotheses: Hypotheses, active: jax.Array) -> Hypotheses:
    """Lines 2 to 4, where asked for."""
    return Hypotheses(
        shortlist=jnp.where(where, active, hypotheses.shortlist),
        rivals=jnp.where(where, jnp.uint32(0), hypotheses.rivals),
        losses=jnp.where(where, count_true(active), hypotheses.losses),
    )


def line_9(
    hypotheses: Hypotheses, verdicts: Verdicts, active: jax.Array
) -> tuple[Hypotheses, jax.Array]:
    """Line 9 but for the cut of larger B^j, and whether 9C concerned any arm: () bool."""
    upper, lower = _scores(verdicts, active)
    inferiors = verdicts.decided & ~verdicts.superiors
    disproven = jnp.any(hypotheses.rivals & inferiors != 0)
    shortlist, rivals, losses = _reset(disproven, hypotheses, active)

    leave = shortlist & (upper < jnp.max(lower))
    replaced = leave & (arm_sets.sizes(rivals) != losses + 1)
    rivals = jnp.where(replaced, verdicts.superiors, rivals)
    shortlist &= ~leave
    empty = ~jnp.any(shortlist)
    shortlist, rivals, losses = _reset(empty, Hypotheses(shortlist, rivals, losses), active)

    best = jnp.max(upper)
    enter = active & (upper == best) & (lower == best)
    exact = jnp.any(enter)
    losses = jnp.where(exact, count_true(active) - 1 - best, losses)
    emptied = enter | (exact & (arm_sets.sizes(rivals) < losses + 1))
    rivals = jnp.where(emptied, jnp.uint32(0), rivals)
    return Hypotheses(shortlist | enter, rivals, losses), exact


def has_excess(hypotheses: Hypotheses, exact: jax.Array) -> jax.Array:
    """True if 9C cuts a B^j: () bool.

    Args:
      hypotheses: after the rest of line 9.
      exact: () bool, whether 9C concerned any arm.
    """
    return exact & jnp.any(arm_sets.sizes(hypotheses.rivals) > hypotheses.losses + 1)


def is_settled(hypotheses: Hypotheses, verdicts: Verdicts, active: jax.Array) -> jax.Array:
    """True if line 9 would change nothing: () bool."""
    again, exact = line_9(hypotheses, verdicts, active)
    same = jax.tree.map(lambda x, y: jnp.all(x == y), hypotheses, again)
    return same.shortlist & same.rivals & same.losses & ~has_excess(again, exact)


def outlook_of(hypotheses: Hypotheses, verdicts: Verdicts, active: jax.Array) -> Outlook:
    """The outlook with these verdicts and hypotheses.

    On an accelerator, where all lanes do line 9 at every step, `settled` is False.
    """
    superiors, decided, _ = verdicts
    known = arm_sets.sizes(decided) == count_true(active) - 1
    return Outlook(
        settled=jnp.array(False) if for_accelerator() else is_settled(hypotheses, verdicts, active),
        explores=jnp.any(hypotheses.rivals & ~decided != 0),
        known=known & jnp.all(hypotheses.rivals & ~superiors == 0, axis=0),
    )
