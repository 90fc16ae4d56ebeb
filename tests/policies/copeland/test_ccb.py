"""CCB: line 9 and the choice of a pair against their text, probabilities, delay; oracle replay."""

import itertools
import warnings
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import KeyWords
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback
from tests.oracles.copeland.ccb import CCB
from tests.policies.copeland.cases import KEY, close, frequencies, learnt, state_of, wins_of
from tests.policies.histories import judged, padded_policy, random_histories, random_preferences

pytestmark = pytest.mark.usefixtures("quick_compilation")


def _sets(state_sets, num):
    """The first `num` sets, held as bits, as a (num, num) mask whose row i is the set of i."""
    words = np.ascontiguousarray(np.asarray(state_sets).T)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits[:num, :num].astype(bool)


def _intervals(wins, t, alpha):
    """u and l at comparison number t, float64."""
    n = wins + wins.T
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, radius = wins / n, np.sqrt(alpha * np.log(t) / n)
    upper, lower = np.where(n > 0, mean + radius, 2), np.where(n > 0, mean - radius, 0)
    np.fill_diagonal(upper, 0.5)
    np.fill_diagonal(lower, 0.5)
    return upper, lower


def _scores(upper, lower):
    off = ~np.eye(len(upper), dtype=bool)
    return (off & (upper >= 0.5)).sum(axis=1), (off & (lower >= 0.5)).sum(axis=1)


def _members(mask):
    return set(np.flatnonzero(mask).tolist())


def _line_9(shortlist, rivals, losses, upper, lower):
    """Line 9 as it is printed; of a set to be cut, ("cut", all of it, the size)."""
    num = len(upper)
    cpld, low = _scores(upper, lower)
    shortlist, rivals = _members(shortlist), [_members(row) for row in rivals]
    cuts, events = {}, set()

    def reset():
        return set(range(num)), [set() for _ in range(num)], num

    if any(lower[i, j] > 0.5 for i in range(num) for j in rivals[i]):
        shortlist, rivals, losses = reset()
        events.add("9A")
    for i in sorted(shortlist):
        if cpld[i] < low.max():
            shortlist.remove(i)
            events.add("9B")
            if len(rivals[i]) != losses + 1:
                rivals[i] = _members(upper[i] < 0.5)
    if not shortlist:
        shortlist, rivals, losses = reset()
        events.add("empty")
    for i in sorted(_members(cpld == cpld.max())):
        if cpld[i] == low[i]:
            shortlist.add(i)
            losses = num - 1 - cpld[i]
            events.add("9C")
            for j in range(num):
                if j == i or len(rivals[j]) < losses + 1:
                    rivals[j] = set()
                    cuts.pop(j, None)
                elif len(rivals[j]) > losses + 1:
                    cuts[j] = losses + 1
    return shortlist, rivals, losses, cuts, events | ({"cut"} if cuts else set())


def _agrees(state, expected, num):
    """Whether B, B^i and L_C are as expected; of cut sets, some subset of the right size."""
    shortlist, rivals, losses, cuts, _ = expected
    held = _sets(state.beliefs.hypotheses.rivals, num)
    for i in range(num):
        mine = set(np.flatnonzero(held[i]))
        right = mine <= rivals[i] and len(mine) == cuts[i] if i in cuts else mine == rivals[i]
        assert right, (i, mine, rivals[i], cuts)
    assert set(np.flatnonzero(state.beliefs.hypotheses.shortlist)) == shortlist
    assert int(state.beliefs.hypotheses.losses) == losses


def _allowed(wins, state, t, alpha, num):
    """All pairs that lines 10 to 13 allow."""
    upper, lower = _intervals(wins, t, alpha)
    rivals, shortlist = (
        _sets(state.beliefs.hypotheses.rivals, num),
        np.asarray(state.beliefs.hypotheses.shortlist),
    )
    explored = rivals & (lower <= 0.5) & (upper >= 0.5)
    pairs = {(i, j) for i, j in np.argwhere(explored)}
    cpld, _ = _scores(upper, lower)
    for c in np.flatnonzero(cpld == cpld.max()):
        every = set(np.flatnonzero(lower[:, c] <= 0.5))
        for group in (every, every & set(np.flatnonzero(rivals[c])) or every):
            top = max(upper[j, c] for j in group)
            ties = {j for j in group if np.isclose(upper[j, c], top, rtol=1e-6)}
            pairs |= {(c, j) for j in (ties - {c} or ties)}
    assert shortlist.any()
    return pairs


@partial(jax.jit, static_argnames="steps")
def _histories(policy, preferences, keys, steps):
    """The duels of (num,) runs and the states that chose them."""

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            outcome = jnp.where(u < p[duel.left, duel.right], 1, -1).astype(jnp.int32)
            return policy.update(state, duel, outcome, here), (state, duel)

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))[1]

    return jax.vmap(run)(preferences, keys)


def _policy(num_arms, **parameters):
    """CCB, with an alpha below 1/2 if asked for, so that short histories decide pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        return jd.policies.make("ccb", num_arms=num_arms, **parameters)


@pytest.mark.parametrize(("num", "alpha"), [(2, 0.51), (5, 0.25)])
def test_every_step_of_random_histories_follows_the_text(num, alpha):
    runs, steps = 6, 400
    policy = _policy(5, active_arms=np.arange(5) < num, alpha=alpha)
    keys = jax.random.split(jax.random.key(2), runs)
    states, duels = _histories(policy, random_preferences(5, runs, seed=2), keys, steps)
    states, duels = jax.device_get((states, duels))
    seen = set()
    for run in range(runs):
        before = None
        for t in range(1, steps + 1):
            state = jax.tree.map(lambda x, r=run, t=t: x[r, t - 1], states)
            assert int(state.t) == t - 1
            wins = state.wins[:num, :num]
            if before is not None:
                rivals, losses = _sets(before.rivals, num), int(before.losses)
                expected = _line_9(before.shortlist, rivals, losses, *_intervals(wins, t, alpha))
                _agrees(state, expected, num)
                seen |= expected[-1]
            pair = int(duels.left[run, t - 1]), int(duels.right[run, t - 1])
            assert pair in _allowed(wins, state, t, alpha, num)
            before = state.beliefs.hypotheses
    assert seen >= ({"9B", "9C"} if num == 2 else {"9B", "9C", "cut"})


def _random_state(rng, policy, decided):
    """Counts of which a share is decided, and hypotheses as they may come."""
    num, t = policy.num_arms, int(rng.integers(2, 10**6))
    n = rng.integers(120 if decided == 1.0 else 1, 200, size=(num, num))
    p = np.where(rng.random((num, num)) < decided, 0.98, 0.5)
    order = rng.permutation(num)
    p = np.where(order[:, None] < order, p, 1 - p)
    wins = np.triu(rng.binomial(n, p), 1)
    wins = wins + np.triu(n - wins, 1).T
    np.fill_diagonal(wins, 0)
    upper, lower = _intervals(wins, t + 1, 0.51)
    rivals = (upper < 0.5) & (rng.random((num, num)) < 0.5)
    rivals[rng.random(num) < 0.3] = False
    if rng.random() < 0.2:
        rivals |= (lower > 0.5) & (rng.random((num, num)) < 0.02)
    few = rng.random(num) < (1.5 / num if rng.random() < 0.5 else 0.5)
    few[rng.integers(num)] = True
    return state_of(policy, wins, t, few, rivals, int(rng.integers(0, num)))


def test_line_9_from_any_state():
    policy = jd.policies.make("ccb", num_arms=34)
    rng = np.random.default_rng(0)
    update = jax.jit(policy.update)
    seen = {}
    for number in range(60):
        state = _random_state(rng, policy, decided=(0.3, 0.9, 1.0)[number % 3])
        pair = Duel(*(jnp.int32(arm) for arm in rng.integers(0, 34, 2)))
        after = update(state, pair, jnp.int32(rng.choice([-1, 0, 1])), jax.random.key(number))
        before = state.beliefs.hypotheses
        rivals, losses = _sets(before.rivals, 34), int(before.losses)
        intervals = _intervals(np.asarray(after.wins), int(after.t) + 1, 0.51)
        expected = _line_9(before.shortlist, rivals, losses, *intervals)
        _agrees(after, expected, 34)
        for event in expected[-1]:
            seen[event] = seen.get(event, 0) + 1
    assert seen.keys() == {"9A", "9B", "9C", "empty", "cut"}
    assert min(seen.values()) >= 3, seen


@pytest.mark.thorough
def test_the_first_pair_is_any_two_arms():
    policy = jd.policies.make("ccb", num_arms=5)
    frequency = frequencies(policy, policy.init(KEY))
    assert close(frequency, np.where(np.eye(5, dtype=bool), 0, 0.05))


def test_coins_have_the_probabilities_of_the_text():
    policy = jd.policies.make("ccb", num_arms=5)
    # 4 loses to all; 0 to 3 are candidates, of which 0 and 1 are on the shortlist, with 4
    wins = wins_of([(0, 4), (1, 4), (2, 4), (3, 4)])
    wins[1, 0], wins[0, 1] = 210, 190  # u_10 is the largest u_j0
    shortlist = [True, True, False, False, True]
    rivals = np.zeros((5, 5), bool)
    state = state_of(policy, wins, 1000, shortlist, rivals, 1)
    frequency = frequencies(policy, state)
    # no rivals: lines 11 and 12
    assert close(frequency.sum(axis=1), [5 / 12, 5 / 12, 1 / 12, 1 / 12, 0])
    assert close(frequency[0] / frequency[0].sum(), [0, 1, 0, 0, 0])
    # c = 1 prefers among equals 2 and 3 (u_01 is lower); c = 2 and 3 among 0, 1 and each other
    expected = [0, 0, 0.5, 0.5, 0]
    assert close(frequency[1] / frequency[1].sum(), expected, 16_000)
    expected = [1 / 3, 1 / 3, 0, 1 / 3, 0]
    assert close(frequency[2] / frequency[2].sum(), expected, 3_000)
    # rivals: of 0, 2 and 3 (open) and of 2, 4 (decided: not eligible in line 10, and in line 13 it
    # is, as l_42 <= 1/2, and loses); of 4, which is no candidate, 1 (decided) is not eligible
    rivals[0, [2, 3]] = rivals[2, 4] = rivals[4, 1] = True
    frequency = frequencies(policy, state_of(policy, wins, 1000, shortlist, rivals, 1))
    expected = np.zeros((5, 5))
    expected[0, [2, 3]] = 1 / 8  # line 10
    shares = 0.75 * np.array([5 / 12, 5 / 12, 1 / 12, 1 / 12])
    expected[0, 1] += shares[0] / 2
    expected[0, [2, 3]] += shares[0] / 4
    expected[1, [2, 3]] = shares[1] / 2
    expected[2, [0, 1, 3]] = shares[2] / 6
    expected[2, 4] = shares[2] / 2
    expected[3, [0, 1, 2]] = shares[3] / 3
    assert close(frequency, expected)


def test_an_arm_that_settled_all_its_pairs_meets_itself():
    policy = jd.policies.make("ccb", num_arms=5)
    state = state_of(policy, wins_of([(0, j) for j in range(1, 5)]), 1000)
    assert frequencies(policy, state)[0, 0] == 1
    # an arm that it is even with may beat it, and comes before the arm itself
    state = state_of(policy, wins_of([(0, 1), (0, 2), (0, 3), (1, 4)]), 1000)
    assert frequencies(policy, state)[0, 4] == 1
    # a rival that surely beats the candidate is not eligible: all arms are
    wins = wins_of([(0, 1), (0, 2), (0, 3), (4, 0)] + [(i, 4) for i in (1, 2, 3)])
    wins[[1, 1, 2], [2, 3, 3]], wins[[2, 3, 3], [1, 1, 2]] = 400, 0
    rivals = np.zeros((5, 5), bool)
    rivals[0, 4] = True
    state = state_of(policy, wins, 1000, rivals=rivals, losses=1)
    frequency = frequencies(policy, state)
    assert frequency[0, 0] == frequency[0].sum() > 0.4


def test_sets_are_cut_to_uniformly_random_subsets():
    num, draws = 40, 10_000
    mask = np.zeros((num, num), bool)
    mask[3, [1, 7, 33, 39]] = mask[5, [0, 1]] = mask[39, [31]] = True
    mask[36] = np.arange(num) != 36
    sets = arm_sets.sets_where(jnp.asarray(mask.T))
    keys = jax.random.key_data(jax.random.split(jax.random.key(3), draws))

    @jax.jit
    @jax.vmap
    def cut(words):
        return arm_sets.random_subsets(sets, jnp.int32(2), KeyWords(words[0], words[1]), 7)

    kept = np.asarray(cut(keys))
    assert np.array_equal(
        kept[:, :, [5, 39, 0]], np.broadcast_to(sets[:, [5, 39, 0]], (draws, 2, 3))
    )
    third = [_sets(k, num)[3] for k in kept[:3000]]
    pairs = [tuple(np.flatnonzero(one).tolist()) for one in third]
    shares = [pairs.count(pair) / 3000 for pair in itertools.combinations((1, 7, 33, 39), 2)]
    assert sum(shares) == pytest.approx(1)
    assert close(np.array(shares), np.full(6, 1 / 6), 3000)
    words = kept[:, :, 36].astype(np.uint64)
    bits = (
        (words[:, 0] | (words[:, 1] << np.uint64(32)))[:, None] >> np.arange(40, dtype="u8")
    ) & 1
    assert (bits.sum(axis=1) == 2).all()
    assert close(bits.mean(axis=0), np.where(np.arange(num) == 36, 0, 2 / 39), draws)


def test_learning_late_agrees_with_the_counts():
    policy = jd.policies.make("ccb", num_arms=5)
    rng = np.random.default_rng(4)
    update = jax.jit(policy.update)
    state = policy.init(KEY)
    left_wins, right_wins = (np.zeros((5, 5), np.int32) for _ in range(2))
    for t in range(40):
        pair = rng.integers(0, 5, 2)
        (left_wins if pair[0] <= pair[1] else right_wins)[tuple(pair)] += 9
        duel = Duel(*(jnp.int32(arm) for arm in pair))
        state = update(state, duel, jnp.int32(0), jax.random.key(t))
    assert int(state.wins.sum()) == 0
    assert int(state.t) == 40
    late = learnt(policy, state, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
    wins = left_wins + right_wins.T
    np.fill_diagonal(wins, 0)
    assert np.array_equal(late.wins, wins)
    upper, lower = _intervals(wins, 41, 0.51)
    assert np.array_equal(_sets(late.beliefs.verdicts.superiors, 5), upper < 0.5)
    assert np.array_equal(_sets(late.beliefs.verdicts.decided, 5), (upper < 0.5) | (lower > 0.5))
    assert (upper < 0.5).any()
    cpld, _ = _scores(upper, lower)
    assert np.array_equal(late.beliefs.candidates, cpld == cpld.max())
    assert jax.tree.all(
        jax.tree.map(jnp.array_equal, late.beliefs.hypotheses, state.beliefs.hypotheses)
    )
    after = update(late, Duel(jnp.int32(0), jnp.int32(0)), jnp.int32(1), KEY)
    rivals = _sets(late.beliefs.hypotheses.rivals, 5)
    intervals = _intervals(wins, 42, 0.51)
    expected = _line_9(
        late.beliefs.hypotheses.shortlist, rivals, int(late.beliefs.hypotheses.losses), *intervals
    )
    _agrees(after, expected, 5)
    assert expected[-1]


@pytest.mark.thorough
def test_it_finds_the_copeland_winners_of_a_cycle():
    problem = jd.problems.load("noncondorcet-cyclic")
    policy = jd.policies.make("ccb", num_arms=problem.num_arms)
    result = jd.simulate(
        policy, problem, horizon=16_000, num_seeds=12, lanes=12, checkpoints=[14_000, 16_000]
    )
    plays = result.plays[:, 1] - result.plays[:, 0]
    winners = np.asarray(problem.gaps("copeland")) == 0
    assert winners.sum() == 3
    assert plays[:, winners].sum() > 0.8 * plays.sum()  # at random, a third of them


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("num_arms", "fields"),
    [
        pytest.param(2, {}, id="ccb-2"),
        pytest.param(5, {}, id="ccb-5"),
        pytest.param(3, {"alpha": 1.0}, id="ccb, alpha 1"),
    ],
)
def test_duels_follow_the_paper(num_arms, fields):
    histories, _ = random_histories(padded_policy("ccb", num_arms, horizon=500, **fields), 100, 120)
    judged(lambda run: CCB(num_arms, **fields), histories)
