"""Groups: merging by hand and against the oracle's sizes, arms that leave, turns, delay, C."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Duel, Feedback
from jaxduel.policies.many_arms import groups
from jaxduel.policies.thompson.sampling import tails_of
from tests.oracles.choices import Choices
from tests.oracles.many_arms.merge_rucb import FAST, MergeRUCB
from tests.policies.many_arms.cases import groups_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

KEY = jax.random.key(0)


GROUPS, SLOTS = 9, 12


def _made(sizes, seed=0):
    """Groups of these sizes, in random slots, with random wins within each: the tables of a state,
    and wins by arm."""
    rng = np.random.default_rng(seed)
    sizes = [*sizes, *[0] * (GROUPS - len(sizes))]
    arms = rng.permutation(sum(sizes))
    members = np.full((GROUPS, SLOTS), -1, np.int32)
    by_arm, first = np.zeros((len(arms), len(arms)), np.int32), 0
    for row, size in zip(members, sizes, strict=True):
        row[rng.permutation(SLOTS)[:size]] = arms[first : first + size]
        first += size
        inside = row[row >= 0]
        by_arm[np.ix_(inside, inside)] = rng.integers(0, 9, (size, size))
    np.fill_diagonal(by_arm, 0)
    exists = members >= 0
    wins = by_arm[members[:, :, None], members[:, None, :]]
    wins = np.where(exists[:, :, None] & exists[:, None, :], wins, 0)
    tables = groups._Tables(
        members=jnp.asarray(members),
        sizes=jnp.asarray(np.array(sizes, np.int32)),
        number=jnp.int32(sum(size > 0 for size in sizes)),
        wins=jnp.asarray(wins),
        untested=jnp.zeros((GROUPS, 2), jnp.int32),
        tail=tails_of(jnp.asarray(wins)),
    )
    return tables, by_arm


_merged = jax.jit(groups._merged)


@jax.jit
def _updated(policy, state, duel, key):
    """The state after a withheld outcome."""
    return policy.update(state, duel, jnp.int32(0), key)


@pytest.mark.parametrize(
    ("sizes", "p", "after"),
    [
        ([4, 4, 1, 1], 4, [5, 5]),
        ([2, 2, 2, 2, 2], 4, [4, 6]),  # 4, 4, 2 at first; 2 <= p / 2, so once more: 6 and 4
        ([6, 5, 4, 3, 3], 4, [6, 5, 4, 6]),  # 6 + 3 and 5 + 3 and 4 + 3 are above 6, 3 + 3 is not
        ([8, 8, 4], 8, [12, 8]),
        ([1, 1], 2, [2]),
        ([3, 3, 3], 2, [3, 3, 3]),
        ([2, 1], 2, [3]),
    ],
)
def test_merged_sizes_by_hand(sizes, p, after):
    for seed in range(5):
        tables, _ = _made(sizes, seed)
        found = _merged(tables, words_of(jax.random.key(seed)), jnp.int32(p))
        assert sorted(found.sizes.tolist()) == sorted([*after, *[0] * (GROUPS - len(after))])
        assert int(found.number) == len(after)


@pytest.mark.thorough
@pytest.mark.parametrize("p", [2, 3, 4, 8])
def test_a_merge_unites_groups_and_keeps_what_is_known(p):
    rng = np.random.default_rng(p)
    oracle = MergeRUCB(2, group_size=p)
    for seed in range(20):
        sizes = rng.integers(1, 3 * p // 2 + 1, GROUPS)
        sizes[rng.integers(3, 10) :] = 0
        tables, wins = _made(sizes.tolist(), seed)
        found = _merged(tables, words_of(jax.random.key(seed)), jnp.int32(p))
        before, after = groups_of(tables.members), groups_of(found.members)
        # every old group is in one new group, and the sizes are the oracle's, in its order
        assert sorted(arm for group in after for arm in group) == list(range(sizes.sum()))
        assert all(any(old <= new for new in after) for old in before)
        assert found.sizes.tolist()[: len(after)] == [len(group) for group in after]
        assert (found.untested == -1).all()
        some = Choices(rng=np.random.default_rng(0))
        theirs = oracle.merge(tuple(map(frozenset, before)), some)
        if min(map(len, theirs)) <= p / 2:
            theirs = oracle.merge(theirs, some)
        assert list(map(len, after)) == list(map(len, theirs))
        for row, table, tail in zip(found.members, found.wins, found.tail, strict=True):
            arms = np.asarray(row)
            exists = (arms[:, None] >= 0) & (arms >= 0)
            assert np.array_equal(table, np.where(exists, wins[arms[:, None], arms], 0))
            np.testing.assert_array_equal(np.abs(tail), np.abs(tails_of(table)))
            off = ~np.eye(len(arms), dtype=bool)
            assert np.array_equal(np.asarray(tail)[off], -np.asarray(tail).T[off])


@pytest.mark.thorough
def test_merges_are_random_among_groups_of_one_size():
    tables, _ = _made([3, 3, 3, 3])
    seeds = words_of(KEY)._replace(first=jnp.arange(600, dtype=jnp.uint32))
    in_axes = (None, type(seeds)(0, None), None)
    found = jax.jit(jax.vmap(groups._merged, in_axes))(tables, seeds, jnp.int32(4))
    old = groups_of(tables.members)
    partners = [groups_of(members)[0] - old[0] for members in np.asarray(found.members)]
    together = [old.index(arms) for arms in partners if len(arms) == 3]
    share = (
        np.bincount(together, minlength=4)[1:] / 600
    )  # with the first group, in the first new one
    assert (np.abs(share - 1 / 6) < 4.5 * math.sqrt(5 / 36 / 600)).all()


@pytest.mark.thorough
def test_the_first_groups_are_random_and_have_only_arms_that_exist():
    policy = jd.policies.make("merge-rucb", num_arms=11, active_arms=np.arange(11) < 9)
    states = jax.jit(jax.vmap(policy.init))(jax.random.split(KEY, 4_000))
    assert states.members.shape == (4_000, 3, 6)
    assert (np.asarray(states.sizes) == [4, 4, 1]).all()
    assert (np.asarray(states.number) == 3).all()
    assert (np.asarray(states.left) == 9).all()
    arms = np.sort(np.asarray(states.members).reshape(4_000, -1), axis=1)
    assert (arms[:, -9:] == np.arange(9)).all()
    assert (arms[:, :-9] == -1).all()
    alone = np.bincount(np.asarray(states.members)[:, 2, 0], minlength=9) / 4_000
    assert (np.abs(alone - 1 / 9) < 4.5 * math.sqrt(8 / 81 / 4_000)).all()


def _before_turn(members, beats, turn, **fields):
    """A state whose group `turn` plays next, without having lost an arm: 50 wins by each pair of
    `beats`."""
    policy = jd.policies.make("merge-rucb", num_arms=8, **FAST, group_size=2, **fields)
    members = np.array(members, np.int32)
    wins = np.zeros((*members.shape, members.shape[1]), np.int32)
    for winner, loser in beats:
        (group,), (i,) = np.nonzero(members == winner)
        (j,) = np.nonzero(members[group] == loser)[0]
        wins[group, i, j] = 50
    sizes = (members >= 0).sum(axis=1).astype(np.int32)
    state = policy.init(KEY)._replace(
        members=jnp.asarray(members),
        sizes=jnp.asarray(sizes),
        number=jnp.int32((sizes > 0).sum()),
        left=jnp.int32(sizes.sum()),
        wins=jnp.asarray(wins),
        turn=jnp.int32(turn - 1),
        stage=jnp.int32(3),
        t=jnp.int32(300),
        untested=jnp.full((len(members), 2), -1, jnp.int32),
    )
    return policy, state


def _next(members, beats, turn, seed=0):
    """Groups and turn after a withheld outcome of the group before `turn`."""
    policy, state = _before_turn(members, beats, turn)
    duel = Duel(*(jnp.int32(arm) for arm in members[turn - 1][:2]))
    state = _updated(policy, state, duel, jax.random.key(seed))
    return groups_of(state.members), int(state.turn)


def test_arms_that_are_surely_beaten_leave_before_their_group_plays():
    members = [[0, 1, -1], [2, 3, 4], [5, 6, 7]]
    assert _next(members, [(4, 2), (6, 5)], 1) == ([{0, 1}, {3, 4}, {5, 6, 7}], 1)
    assert _next(members, [(4, 2), (6, 5)], 2) == ([{0, 1}, {2, 3, 4}, {6, 7}], 2)
    # one that is beaten only by an arm that has left stays
    found = {tuple(sorted(_next(members, [(2, 3), (3, 4)], 1, s)[0][1])) for s in range(30)}
    assert found == {(2,), (2, 4)}
    # in a cycle one always stays
    found = {tuple(_next(members, [(2, 3), (3, 4), (4, 2)], 1, s)[0][1]) for s in range(30)}
    assert found == {(2,), (3,), (4,)}


def test_groups_of_one_arm_pass_their_turn_on():
    members = [[0, 1, -1], [2, -1, -1], [4, 5, -1], [6, 7, -1]]
    assert _next(members, [], 1) == ([{0, 1}, {2}, {4, 5}, {6, 7}], 2)
    # also if it has just lost the others, to a group that loses arms itself
    assert _next(members, [(5, 4), (6, 7)], 1) == ([{0, 1}, {2}, {5}, {6}], 0)
    # if all have one arm, the turn stays, until the stage ends
    assert _next(members, [(5, 4), (6, 7), (0, 1)], 1) == ([{0}, {2}, {5}, {6}], 0)


@pytest.mark.thorough
def test_a_stage_ends_when_few_arms_are_left():
    for left, stage, ends in ((5, 1, True), (6, 1, False), (3, 2, True), (4, 2, False)):
        members = np.full((4, 3), -1)
        members[np.arange(left) % 4, np.arange(left) // 4] = np.arange(left)
        for restarts in (False, True):
            policy, state = _before_turn(members, [], 1, restarts=restarts)
            state = state._replace(stage=jnp.int32(stage))
            state = _updated(policy, state, Duel(*jnp.arange(2)), KEY)
            assert int(state.stage) == stage + ends
            assert (int(state.number) < min(left, 4)) == ends
            assert int(state.t) == (0 if ends and restarts else 301)


@pytest.mark.thorough
def test_learning_late_counts_pairs_of_one_group():
    policy = jd.policies.make("merge-dts", num_arms=7)
    state = policy.init(KEY)
    rng = np.random.default_rng(0)
    left_wins, right_wins = rng.integers(0, 20, (2, 7, 7)).astype(np.int32)
    told = policy.learn(state, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    wins = left_wins + right_wins.T
    pairs = 0
    for row, table in zip(np.asarray(told.members), np.asarray(told.wins), strict=True):
        for i, a in enumerate(row):
            for j, b in enumerate(row):
                apart = a < 0 or b < 0 or a == b
                assert table[i, j] == (0 if apart else wins[a, b])
                pairs += not apart
    assert pairs == 4 * 3 + 3 * 2
    assert np.array_equal(told.tail, tails_of(told.wins))
    assert int(told.t) == 0


def test_arms_that_late_outcomes_beat_leave_when_their_group_plays_next():
    members = [[0, 1, -1], [2, 3, 4], [5, 6, 7]]
    policy, state = _before_turn(members, [], 1)
    state = state._replace(untested=jnp.zeros((3, 2), jnp.int32))  # the group's turn is prepared
    told = np.zeros((8, 8), np.int32)
    told[0, 1] = told[4, 2] = 50
    state = policy.learn(state, Feedback(jnp.asarray(told), jnp.zeros((8, 8), jnp.int32)))
    found = []
    for pair in ((0, 1), (3, 4), (5, 6)):
        state = _updated(policy, state, Duel(*map(jnp.int32, pair)), KEY)
        found.append(groups_of(state.members))
    assert found == [
        [{0, 1}, {3, 4}, {5, 6, 7}],
        [{0, 1}, {3, 4}, {5, 6, 7}],
        [{0}, {3, 4}, {5, 6, 7}],
    ]
    assert int(state.turn) == 1


def test_the_bound_is_that_of_the_theory():
    for num, expected in ((16, 6.1e4), (136, 4.1e6)):  # as written in the source
        policy = jd.policies.make(
            "merge-rucb", num_arms=num + 3, active_arms=np.arange(num + 3) < num
        )
        c = MergeRUCB(num, batches=[]).C
        assert c == pytest.approx(expected, rel=0.02)
        for t in (0, 10**4, 10**8):
            bound = groups.bound_of(policy, jnp.int32(t))
            assert float(bound) == pytest.approx(1.01 * math.log(t + 1 + c), rel=1e-6)
    policy = jd.policies.make("merge-dts", num_arms=9, alpha=0.6, offset=0)
    assert float(groups.bound_of(policy, jnp.int32(0))) == 0
    assert float(groups.bound_of(policy, jnp.int32(99))) == pytest.approx(0.6 * math.log(100))


@pytest.mark.parametrize("name", ["merge-rucb", "merge-dts"])
def test_small_alphas_warn_and_need_an_offset_where_the_default_is_infinite(name):
    with pytest.warns(jd.AssumptionWarning, match="alpha > 1/2"):
        jd.policies.make(name, num_arms=5, alpha=0.8**6, offset=4e5)
    with (
        pytest.raises(jd.InputError, match="give an offset"),
        pytest.warns(jd.AssumptionWarning, match="alpha > 1/2"),
    ):
        jd.policies.make(name, num_arms=5, alpha=0.5)
