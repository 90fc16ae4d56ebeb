"""Groups of arms: the state that MergeRUCB and MergeDTS share, and how it shrinks.

Arms of different groups have never met, since groups only unite and arms only leave. So wins are
kept for pairs of one group alone, slot by slot: O(K p) numbers in place of K^2, and a step reads
those of one group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics import count_true, masked_choice, signed_tail
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.threefry import KeyWords, random_words, uniform, words_of
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require, require_alpha, require_whole
from jaxduel.policies.counts import duel_result, lead_of
from jaxduel.policies.registry import name_of
from jaxduel.policies.thompson.sampling import tails_after, tails_of

_ORDER, _MERGE, _LEAVE = 16, 17, 24
"""Streams of random words: the first groups, the two merges of a stage, the arms that leave."""


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """The inputs of both policies, and all that they do but for the choice of a pair.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      alpha: width of the confidence bounds, > 1/2 in theory; 1.01 in MergeRUCB's experiments, 0.8^6
        in MergeDTS's.
      delta: bound on the probability that the best arm is lost, in (0, 1).
      offset: C, which log(t + C) adds to the clock; None: the theory's, ((4 alpha - 1) K^2 /
        ((2 alpha - 1) delta))^(1 / (2 alpha - 1)). MergeDTS's experiments have 400,000.
      group_size: p, arms of a group at first; 4 in the theory, 8 (MergeRUCB) and 16 (MergeDTS) in
        MergeDTS's experiments. No group ever has more than 1.5 p.
      restarts: whether t begins again at 1 with every stage, as in MergeDTS's program.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 1.01
    delta: float | jax.Array = 0.01
    offset: float | jax.Array | None = None
    group_size: int = field(default=4, metadata={"static": True})
    restarts: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)
    keeps_tail: ClassVar[bool] = False

    def validate(self) -> None:
        """Raises InputError for parameters out of range; warns where alpha <= 1/2."""
        name = name_of(self)
        require_alpha(self.alpha, name)
        require(self.delta, lambda x: (x > 0) & (x < 1), f"{name}: delta must be in (0, 1)")
        require(self.offset, lambda x: x >= 0, f"{name}: offset must not be negative")
        require_whole(self.group_size, 2, f"{name}: group_size must be a whole number, at least 2")
        if self.offset is None and np.any(np.asarray(self.alpha) <= 0.5):
            raise InputError(f"{name}: for alpha of at most 1/2 theory has no C: give an offset.")

    def init(self, key: Key) -> GroupState:
        """All active arms in random order, cut into groups of p; the last one may be smaller."""
        num, p = self.num_arms, self.group_size
        groups, slots = -(-num // p), min(3 * p // 2, num)
        arms = lax.iota(jnp.int32, num)
        words = random_words(words_of(key), arms, _ORDER)[0]
        missing = (~jnp.asarray(self.active_arms)).astype(jnp.int32)
        missing, _, order = lax.sort((missing, words, arms), num_keys=2)
        listed, padding = jnp.where(missing > 0, -1, order), (0, groups * p - num)
        listed = jnp.pad(listed, padding, constant_values=-1)
        width = min(p, slots)
        members = listed.reshape(groups, p)[:, :width]
        members = jnp.pad(members, ((0, 0), (0, slots - width)), constant_values=-1)
        sizes = jnp.sum(members >= 0, axis=1, dtype=jnp.int32)
        wins = jnp.zeros((groups, slots, slots), jnp.int32)
        return GroupState(
            members=members,
            sizes=sizes,
            number=count_true(sizes > 0),
            left=count_true(self.active_arms),
            wins=wins,
            turn=jnp.int32(0),
            stage=jnp.int32(1),
            t=jnp.int32(0),
            untested=jnp.zeros((groups, 2), jnp.int32),
            tail=tails_of(wins) if self.keeps_tail else None,
        )

    def update(self, state: GroupState, plan: Duel, outcome: jax.Array, key: Key) -> GroupState:
        """Counts the outcome, merges groups if few arms are left, and lets the arms that are surely
        beaten leave the next group."""
        seed = words_of(key)
        state = _next_stage(self, _counted(state, plan, outcome), seed)
        turn, bound = state.turn + 1, bound_of(self, state.t)
        turn = jnp.where(turn < state.number, turn, turn % state.number)
        passes = (state.sizes[turn] <= 1) & (state.left > 1)
        i, j = state.untested[turn]
        lead = jnp.abs(lead_of(state.wins[turn, i, j] + 1, state.wins[turn, j, i] + 1))
        changes = passes | (i < 0) | (lead > bound)
        ready = _Ready(state.members, state.sizes, state.left, state.untested, turn)
        ready = compacted_cond(_made_ready, changes, ready, bound, seed, table=state.wins)
        return state._replace(**ready._asdict())

    def quiet(self, state: GroupState, limit: jax.Array, key: Key) -> tuple[GroupState, Quiet]:
        """All comparisons to come, once a single arm is left, which is then the first group's."""
        n = jnp.where(state.left == 1, limit, 0)
        return state._replace(t=state.t + n), Quiet(jnp.max(state.members[0]), n)

    def learn(self, state: GroupState, feedback: Feedback) -> GroupState:
        """Takes in withheld outcomes; the groups' next turns test them."""
        arms = jnp.maximum(state.members, 0)
        exists = state.members >= 0
        told = feedback.wins()[arms[:, :, None], arms[:, None, :]]
        told = jnp.where(exists[:, :, None] & exists[:, None, :], told, 0)
        untested = jnp.full_like(state.untested, -1)
        tail = None if state.tail is None else tails_after(state.tail, state.wins, told)
        return state._replace(wins=state.wins + told, untested=untested, tail=tail)


class GroupState(NamedTuple):
    """One seed's state. There are G = ceil(K / p) groups or fewer, of at most S <= 1.5 p slots.

    The group whose turn it is has no arm that is surely beaten by another of its arms.
    """

    members: jax.Array  # (G, S) int32: the arm in each slot, -1 where a slot is empty
    sizes: jax.Array  # (G,) int32: arms of each group; 0 beyond the last one
    number: jax.Array  # () int32: groups
    left: jax.Array  # () int32: arms of all groups
    wins: jax.Array  # (G, S, S) int32: wins of slot i over slot j
    turn: jax.Array  # () int32: the group that plays next
    stage: jax.Array  # () int32: s, from 1
    t: jax.Array  # () int32: comparisons made, with `restarts` those of this stage
    untested: jax.Array
    """(G, 2) int32: the slots of each group's last comparison, the only pair that can be surely
    beaten since the group was tested, as bounds grow; (0, 0) for none, (-1, -1) where every pair
    can, after a merge or late outcomes."""
    tail: jax.Array | None = None
    """(G, S, S) float32: `tails_of` the wins; None if unused."""


def bound_of(settings: GroupSettings, t: jax.Array) -> jax.Array:
    """alpha log(t + C), the bound of the upper confidence bounds, for the comparison after t."""
    clock = jnp.log((t + 1).astype(jnp.float32))
    if settings.offset is not None:
        log_c = jnp.log(jnp.float32(settings.offset))
    else:
        excess = 2 * settings.alpha - 1
        size = count_true(settings.active_arms).astype(jnp.float32)
        log_c = jnp.log((4 * settings.alpha - 1) / (excess * settings.delta)) + 2 * jnp.log(size)
        log_c = log_c / excess
    return settings.alpha * jnp.logaddexp(clock, log_c)


def _counted(state: GroupState, duel: Duel, outcome: jax.Array) -> GroupState:
    """The state with an outcome in the wins of the group that played, and the clock moved on."""
    learnt, row = duel_result(duel, outcome), state.members[state.turn]
    slots = lax.iota(jnp.int32, len(row))
    i, j = (jnp.sum(jnp.where(row == arm, slots, 0), dtype=jnp.int32) for arm in learnt[:2])
    mode = "promise_in_bounds"
    wins = state.wins.at[state.turn, i, j].add(learnt.amount, mode=mode)
    tail = state.tail
    if tail is not None:
        new = signed_tail(wins[state.turn, i, j], wins[state.turn, j, i])
        new = jnp.where(learnt.amount > 0, new, tail[state.turn, i, j])
        tail = tail.at[state.turn, i, j].set(new, mode=mode)
        tail = tail.at[state.turn, j, i].set(-new, mode=mode)
    pair = jnp.where(state.untested[state.turn] < 0, -1, jnp.stack([i, j]))
    untested = state.untested.at[state.turn].set(pair, mode=mode)
    return state._replace(wins=wins, untested=untested, tail=tail, t=state.t + 1)


# ---- arms leave ---------------------------------------------------------------------------------


class _Ready(NamedTuple):
    """The part of the state that changes before a turn."""

    members: jax.Array
    sizes: jax.Array
    left: jax.Array
    untested: jax.Array
    turn: jax.Array


def _beaten(row: jax.Array, wins: jax.Array, bound: jax.Array) -> jax.Array:
    """The slots i with u_ij < 1/2 for a j of the same group: (S,) bool.

    u_ij = mu_ij + sqrt(bound / n_ij), mu_ij = (w_ij + 1) / n_ij and n_ij = w_ij + w_ji + 2. Column
    sums, over the j that are ahead: summing rows costs several times as much.
    """
    exists = row >= 0
    surely = lead_of(wins + 1, wins.T + 1) > bound  # [j, i]: of j over i
    return exists & jnp.any(surely & exists[:, None], axis=0)


def _made_ready(
    ready: _Ready,
    bound: jax.Array,
    seed: KeyWords,
    wins_of: Callable[[jax.Array], jax.Array],
) -> _Ready:
    """The state after arms have left, one by one, until the group whose turn it is has several, of
    which none is surely beaten; if all groups have one arm, the turn stays."""

    def passed_on(ready: _Ready) -> tuple[_Ready, jax.Array]:
        turn = _next_turn(ready.sizes, ready.turn)
        beaten = _beaten(ready.members[turn], wins_of(turn), bound)
        return ready._replace(untested=ready.untested.at[turn].set(0), turn=turn), beaten

    def leave(carry: tuple[_Ready, jax.Array]) -> tuple[_Ready, jax.Array]:
        (members, sizes, left, untested, turn), beaten = carry
        slot = masked_choice(beaten, uniform(random_words(seed, left, _LEAVE)[0]))
        members, sizes = members.at[turn, slot].set(-1), sizes.at[turn].add(-1)
        return passed_on(_Ready(members, sizes, left - 1, untested, turn))

    return lax.while_loop(lambda carry: jnp.any(carry[1]), leave, passed_on(ready))[0]


def _next_turn(sizes: jax.Array, start: jax.Array) -> jax.Array:
    """The first group of several arms from `start` on, round and round; if none has, `start`."""
    total = len(sizes)
    groups = lax.iota(jnp.int32, total)
    ahead = jnp.where(groups < start, groups + total, groups) - start
    steps = jnp.min(jnp.where(sizes > 1, ahead, total))
    turn = start + jnp.where(steps < total, steps, 0)
    return jnp.where(turn < total, turn, turn - total)


# ---- groups are merged --------------------------------------------------------------------------


class _Tables(NamedTuple):
    """The part of the state that a merge makes anew."""

    members: jax.Array
    sizes: jax.Array
    number: jax.Array
    wins: jax.Array
    untested: jax.Array
    tail: jax.Array | None


def _next_stage(settings: GroupSettings, state: GroupState, seed: KeyWords) -> GroupState:
    """The state after its stage, if at most K / 2^s + 1 arms are left in several groups."""
    few = state.left - 1 <= count_true(settings.active_arms) >> state.stage
    ends = few & (state.number > 1)
    tables = _Tables(
        state.members, state.sizes, state.number, state.wins, state.untested, state.tail
    )
    tables = compacted_cond(_merged, ends, tables, seed, jnp.int32(settings.group_size))
    t = jnp.where(ends, 0, state.t) if settings.restarts else state.t
    return state._replace(**tables._asdict(), stage=state.stage + ends, t=t)


def _merged(tables: _Tables, seed: KeyWords, p: jax.Array) -> _Tables:
    """The groups merged, and once more if one of them has at most p / 2 arms."""
    tables = _merged_once(tables, seed, p, 0)
    sizes = tables.sizes
    small = 2 * jnp.min(jnp.where(sizes > 0, sizes, p)) <= p
    again = _merged_once(tables, seed, p, 1)
    return jax.tree.map(lambda two, one: jnp.where(small, two, one), again, tables)


def _merged_once(tables: _Tables, seed: KeyWords, p: jax.Array, turn: int) -> _Tables:
    """The groups, by size and in random order among equal sizes: the smallest joins the largest,
    which stays alone if both together have more than 1.5 p arms."""
    total, slots = tables.members.shape
    made, one, other = _partners(tables, seed, p, turn)
    both = jnp.stack([one, other], axis=1)  # (G, 2): the old groups of each new one, or -1
    arms = jnp.where((both >= 0)[:, :, None], tables.members[both], -1).reshape(total, 2 * slots)
    places = jnp.broadcast_to(lax.iota(jnp.int32, 2 * slots), arms.shape)
    empty = (arms < 0).astype(jnp.int32)
    empty, members, places = lax.sort((empty, arms, places), dimension=1, num_keys=1)
    members, places = members[:, :slots], places[:, :slots]

    source, slot = jnp.take_along_axis(both, places // slots, axis=1), places % slots
    exists, i, j = members >= 0, (slice(None), slice(None), None), (slice(None), None, slice(None))
    met = exists[i] & exists[j] & (source[i] == source[j])
    old = source[i], slot[i], slot[j]
    tail = tables.tail
    if tail is not None:
        unseen = jnp.where(jnp.tri(slots, dtype=bool), -0.5, 0.5)  # `tails_of` no comparisons
        tail = jnp.where(met, tail[old], unseen)
    return _Tables(
        members=members,
        sizes=jnp.sum(exists, axis=1, dtype=jnp.int32),
        number=made,
        wins=jnp.where(met, tables.wins[old], 0),
        untested=jnp.full_like(tables.untested, -1),
        tail=tail,
    )


def _partners(
    tables: _Tables, seed: KeyWords, p: jax.Array, turn: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The number of new groups, and the old ones that each is made of: (G,) int32 twice, -1 where
    there is none."""
    sizes, total = tables.sizes, len(tables.sizes)
    groups = lax.iota(jnp.int32, total)
    words = random_words(seed, groups, _MERGE + turn)[0]
    rank = jnp.where(sizes > 0, sizes, jnp.iinfo(jnp.int32).max)
    _, _, order = lax.sort((rank, words, groups), num_keys=2)

    def pair(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        i, j, made, one, other = carry
        small, large = order[i], order[j]
        alone = (i == j) | (2 * (sizes[small] + sizes[large]) > 3 * p)
        one = one.at[made].set(large)
        other = other.at[made].set(jnp.where(alone, -1, small))
        return jnp.where(alone, i, i + 1), j - 1, made + 1, one, other

    nobody = jnp.full(total, -1, jnp.int32)
    carry = jnp.int32(0), tables.number - 1, jnp.int32(0), nobody, nobody
    _, _, made, one, other = lax.while_loop(lambda carry: carry[0] <= carry[1], pair, carry)
    return made, one, other
