"""SCB: rounds, the test of a pair, elimination, commitment, free rewards, delay."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Feedback
from jaxduel.policies.copeland.scb import SCBState
from jaxduel.policies.copeland.score_elimination import (
    Confidence,
    Tally,
    after_pass,
    lower_end,
    next_duel,
    no_rewards,
)
from tests.policies.histories import duel_histories

pytestmark = pytest.mark.usefixtures("quick_compilation")

KEY = jax.random.key(0)
WITHHELD, WON, LOST = jnp.int32(0), jnp.int32(1), jnp.int32(-1)
LENGTHS = {1: 4, 2: 16, 3: 256, 4: 65_536}


@jax.jit
def _init(policy):
    return policy.init(KEY)


@jax.jit
def _update(policy, state, outcome, key=KEY):
    return policy.update(state, policy.act(state, key), outcome, key)


def _log_inverse_delta(length):
    return np.log(length) - np.log(np.log(length))


def _is_decided(n, lead, num_arms, length, scale):
    if n == 0:
        return False
    bound = np.log(4.0 * n**2 * num_arms**2) + _log_inverse_delta(length)
    return lead**2 / (2 * n) > scale * bound


def _in_round(state, **fields):
    return state._replace(round=state.round._replace(**fields))


def _counted(state, wins, losses):
    return _in_round(state, wins=jnp.int32(wins), losses=jnp.int32(losses))


def _histories(policy, preferences, seed):
    """Runs of one shape, to be compiled once: lists of pairs, and who won."""
    keys = jax.random.split(jax.random.key(seed), 24)
    left, right, won = (np.asarray(x) for x in duel_histories(policy, preferences, keys, 4_000))
    return np.stack([left, right], axis=2).tolist(), won


def _preferences(upper):
    """24 matrices from their upper triangles, (24, 9, 9), or from one number for all."""
    p = np.broadcast_to(np.float32(upper), (24, 9, 9))
    p = np.where(np.triu(np.ones((9, 9), bool), 1), p, 1 - p.swapaxes(1, 2))
    p[:, np.arange(9), np.arange(9)] = 0.5
    return p


def test_rounds_begin_at_comparisons_1_5_21_and_277_with_a_fresh_pair():
    policy = jd.policies.make("scb", num_arms=9)
    duels, _ = _histories(policy, _preferences(0.5), seed=0)
    left, right = np.moveaxis(np.array(duels), 2, 0)
    assert (left == 0).all()  # nothing is decided: the first arm is still on its first pull
    _, begins = np.nonzero(np.diff(right, axis=1, prepend=-1))
    assert set(1 + begins) == {1, 5, 21, 277}
    again = (right[:, 300] == right[:, 200]).mean()  # a pair follows itself: probability 1 / 8
    assert abs(again - 1 / 8) < 4 * np.sqrt(7 / 64 / 24)

    state, seen = _init(policy), []
    for t in range(1, 280):
        seen.append((int(state.round.number), int(state.round.left)))
        state = _update(policy, state, WON if t % 2 else LOST, jax.random.key(t))
    expected = [(r, left) for r, length in LENGTHS.items() for left in range(length, 0, -1)]
    assert seen == expected[:279]


@pytest.mark.parametrize(
    ("first_length", "lengths"),
    [(4, [16, 256, 65_536, 2**31 - 1]), (1000, [10**6, 2**31 - 1]), (2, [4, 16, 256, 65_536])],
)
def test_rounds_are_squared_and_the_last_does_not_end(first_length, lengths):
    policy = jd.policies.make("scb", num_arms=9, first_length=first_length)
    state = _init(policy)
    assert int(state.round.left) == first_length
    for length in lengths:
        state = _update(policy, _in_round(state, left=jnp.int32(1)), WON)
        assert int(state.round.left) == length
        assert int(state.round.tally.decided.sum()) == int(state.round.wins) == 0
    assert int(state.round.number) == len(lengths) + 1


@pytest.mark.parametrize("scale", [1.0, 0.51])
def test_a_pair_is_decided_when_its_mean_is_beyond_the_bound(scale):
    policy = jd.policies.make("scb", num_arms=9, scale=scale)
    for number, length in ((2, 16), (4, 65_536), (5, 2**32)):
        state = _in_round(_init(policy), number=jnp.int32(number), left=jnp.int32(9))
        for n in (1, 40, 1_000, 12_345, 2_000_000):
            bound = scale * (np.log(4.0 * n**2 * 9**2) + _log_inverse_delta(length))
            edge = np.sqrt(2 * n * bound)
            for lead in {min(int(edge), n), min(int(edge) + 1, n)}:
                lead -= (n - lead) % 2
                won, lost = (n + lead) // 2 - 1, (n - lead) // 2
                after = _update(policy, _counted(state, won, lost), WON)
                decided = _is_decided(n, lead, 9, length, scale)
                assert int(after.round.tally.decided.sum()) == 2 * decided
                mirrored = _update(policy, _counted(state, lost, won), LOST)
                assert int(mirrored.round.tally.decided.sum()) == 2 * decided
                assert int(after.round.tally.rewards[0]) == decided
                assert int(mirrored.round.tally.rewards.sum()) == 0
                pair = state.round.duel
                assert int(after.decisions[pair.left, pair.right]) == number * decided
                assert int(mirrored.decisions[pair.left, pair.right]) == -number * decided


def _decisions(duels, won, lengths, scale):
    """Checks the pairs of one run; returns its decisions, {(i, j): i won} for every round."""
    num, t, rounds = 9, 0, []
    for length in lengths:
        end = min(t + length, len(duels))
        decided, winner = {}, None
        while t < end:
            i, j = duels[t]
            if i == j:
                assert winner in (None, i)
                winner, t = i, t + 1
                continue
            assert winner is None
            assert (i, j) not in decided
            n = lead = 0
            while t < end and not _is_decided(n, lead, num, length, scale):
                assert duels[t] == [i, j]
                n, lead, t = n + 1, lead + (1 if won[t] else -1), t + 1
            if _is_decided(n, lead, num, length, scale):
                decided[i, j], decided[j, i] = lead > 0, lead < 0
            everything = len(decided) == num * (num - 1)
            assert t == end or not everything or duels[t][0] == duels[t][1]
        rounds.append((decided, winner))
    return rounds


def test_pairs_run_until_decided_and_never_again_in_the_round():
    policy = jd.policies.make("scb", num_arms=9, scale=0.3)
    upper = np.random.default_rng(3).choice([0.0, 0.1, 0.3, 0.8, 0.9], size=(24, 9, 9))
    duels, won = _histories(policy, _preferences(upper), seed=2)
    rounds = [r for k in range(24) for r in _decisions(duels[k], won[k], LENGTHS.values(), 0.3)]
    assert sum(len(decided) for decided, _ in rounds) > 1_000
    assert sum(winner is not None for _, winner in rounds) >= 10


def test_decisions_are_right_and_a_tie_is_not_decided():
    # a round of 4,000 comparisons errs with probability log(4000) / 4000 / 81 = 2.6e-5 in a pair
    policy = jd.policies.make("scb", num_arms=9, first_length=4_001)
    duels, won = _histories(policy, _preferences(0.8), seed=5)
    runs = [_decisions(duels[k], won[k], [4_001], 1.0)[0][0] for k in range(24)]
    assert sum(len(decided) for decided in runs) > 1_000
    assert all(wins == (i < j) for decided in runs for (i, j), wins in decided.items())
    duels, _ = _histories(policy, _preferences(0.5), seed=6)
    assert all(pair == run[0] for run in duels for pair in run)


def _divergence(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0, p * np.log(p / q), 0)
        return first + np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0)


def _ends(mean, level):
    """[a, b] = {q : d(mean, q) <= level}, in float64."""
    ends = []
    for outside in (0.0, 1.0):
        out, inside = np.full_like(mean, outside), mean.copy()
        for _ in range(80):
            middle = (out + inside) / 2
            within = _divergence(mean, middle) <= level
            out, inside = np.where(within, out, middle), np.where(within, middle, inside)
        ends.append(inside)
    return ends


def test_lower_ends_are_those_of_a_bisection_in_float64():
    mean, level = np.meshgrid(np.linspace(0, 1, 41), np.geomspace(3e-4, 40, 30))
    found = jax.jit(jax.vmap(jax.vmap(lower_end, (0, 0, None)), (0, 0, None)))(
        jnp.float32(mean), jnp.float32(level), jnp.array(True)
    )
    exact, _ = _ends(np.float32(mean).astype(float), np.float32(level).astype(float))
    assert np.abs(found - exact).max() < 1e-6


@pytest.mark.parametrize("scale", [1.0, 0.51])
def test_a_pass_drops_the_arms_whose_interval_is_below_the_best(scale):
    rng = np.random.default_rng(0)
    num, cases = 9, 4_000
    s = rng.integers(1, 3_000, cases)
    rewards = rng.binomial(s[:, None], rng.random((cases, num)) ** 0.5)
    remaining = rng.random((cases, num)) < 0.8
    remaining[:, 3] = True
    log_ratio = np.log(4 * num) + _log_inverse_delta(65_536)
    tallies = Tally(
        jnp.array(remaining),
        jnp.int32(rewards),
        jnp.int32(s - 1),
        jnp.zeros((cases, num), jnp.int32),
        jnp.zeros((cases, num), jnp.int32),
    )
    confidence = Confidence(jnp.float32(log_ratio), jnp.float32(scale))
    after = jax.jit(jax.vmap(after_pass, (0, None, None)))(tallies, jnp.array(True), confidence)

    bound = log_ratio + np.log(s) + 2 * np.log(np.maximum(1, np.log(s)))
    a, b = _ends(rewards / s[:, None], (scale * bound / s)[:, None])
    stays = remaining & (b >= np.max(np.where(remaining, a, 0), axis=1, keepdims=True))
    assert (after.remaining == stays).all()
    assert np.asarray(after.remaining).any(axis=1).all()
    assert (after.passes == s).all()
    assert 0.2 < stays.sum() / remaining.sum() < 0.8


@jax.jit
def _next(tally, cursor, table, keys):
    active = jnp.ones(5, bool)
    confidence = Confidence(jnp.float32(12), jnp.float32(1))

    def one(key):
        return next_duel(tally, cursor, active, confidence, words_of(key), lambda i, j: table[i, j])

    return jax.vmap(one)(keys)


def _total_order():
    return jnp.array(np.triu(np.ones((5, 5), int)) - np.tril(np.ones((5, 5), int)), jnp.int32)


def _frequency(arms, num=5):
    return np.bincount(np.asarray(arms), minlength=num) / len(arms)


def test_opponents_are_uniform_and_free_rewards_are_copeland_scores():
    keys, runs = jax.random.split(jax.random.key(1), 40_000), 40_000
    fresh = no_rewards(jnp.ones(5, bool))
    _, duel = _next(fresh, jnp.int32(2), jnp.zeros((5, 5), jnp.int32), keys)
    assert (duel.left == 2).all()
    error = 4.5 * np.sqrt(0.25 * 0.75 / runs)
    assert np.abs(_frequency(duel.right) - [0.25, 0.25, 0, 0.25, 0.25]).max() < error
    # only arm 4 has undecided pairs; arms 0 to 3 beat 4, 3, 2 and 1 of the other four
    table = _total_order().at[4].set(0)
    tally, duel = _next(fresh, jnp.int32(0), table, keys)
    assert (duel.left == 4).all()
    assert np.abs(_frequency(duel.right) - [0.25, 0.25, 0.25, 0.25, 0]).max() < error
    rewards = np.asarray(tally.rewards)
    assert (rewards[:, 0] == 1).all()
    assert np.abs(rewards.mean(axis=0) - [1, 0.75, 0.5, 0.25, 0]).max() < error
    assert np.abs(np.corrcoef(rewards[:, 1:4].T) - np.eye(3)).max() < 4.5 / np.sqrt(runs)
    assert not np.asarray(tally.passes).any()


def test_a_round_commits_to_the_last_arm_or_once_all_pairs_are_decided():
    keys = jax.random.split(jax.random.key(3), 40_000)
    order = _total_order()
    beats = jnp.array([4, 3, 2, 1, 0], jnp.int32)
    fresh = no_rewards(jnp.ones(5, bool))

    def committed(tally, table):
        after, duel = _next(tally, jnp.int32(0), table, keys)
        assert (duel.left == duel.right).all()
        return after, set(np.asarray(duel.left).tolist())

    # all pairs of the remaining arms are decided, others are not
    some = fresh._replace(
        remaining=jnp.array([False, True, False, True, False]),
        decided=jnp.array([2, 4, 2, 4, 2], jnp.int32),
        beats=jnp.array([2, 1, 2, 1, 0], jnp.int32),
    )
    after, winners = committed(some, order * 0)
    assert winners == {1}  # of those that remain; a tie: the lowest index
    assert not np.asarray(after.rewards).any()
    # one arm remains
    alone = fresh._replace(remaining=jnp.arange(5) == 3)
    assert committed(alone, order * 0)[1] == {3}
    # a pair of arm 4 is left, which is never pulled to need it before it is eliminated
    nearly = fresh._replace(
        rewards=jnp.array([400, 300, 200, 100, 0], jnp.int32),
        passes=jnp.int32(400),
        decided=jnp.array([4, 4, 4, 3, 3], jnp.int32),
        beats=beats,
    )
    after, duel = _next(nearly, jnp.int32(0), order.at[3, 4].set(0).at[4, 3].set(0), keys)
    stopped = np.asarray(duel.left != duel.right)
    assert {*np.asarray(duel.left)[stopped].tolist()} == {3, 4}
    assert set(np.asarray(duel.left)[~stopped].tolist()) == {0}
    assert (np.asarray(after.passes)[~stopped] == 401).all()
    assert np.abs((~stopped).mean() - (3 / 4) ** 2) < 4.5 * np.sqrt(0.25 / 40_000)


def test_a_new_round_forgets_decisions():
    policy = jd.policies.make("scb", num_arms=9)
    state = _in_round(_init(policy), number=jnp.int32(4), left=jnp.int32(2))
    full = np.where(np.triu(np.ones((9, 9), bool), 1), 4, -4).astype(np.int8)
    np.fill_diagonal(full, 0)
    pair = state.round.duel
    full[pair.left, pair.right] = full[pair.right, pair.left] = 0
    tally = state.round.tally._replace(
        decided=jnp.int32((full != 0).sum(axis=1)), beats=jnp.int32((full > 0).sum(axis=1))
    )
    state = SCBState(jnp.array(full), _counted(_in_round(state, tally=tally), 999, 0).round)
    after = _update(policy, state, WON)
    assert int(after.round.duel.left) == int(after.round.duel.right) == 0
    again = _update(policy, after, WON)
    assert int(again.round.number) == 5
    assert int(again.round.left) == 2**31 - 1
    assert int(again.round.duel.left) == 0 != int(again.round.duel.right)
    assert np.array_equal(again.decisions, after.decisions)
    assert np.asarray(again.round.tally.remaining).all()


@pytest.mark.parametrize("name", ["cyclic", "noncondorcet-cyclic"])
def test_it_settles_on_a_copeland_winner(name):
    problem = jd.problems.load(name)
    mask = np.arange(9) < problem.num_arms
    result = jd.simulate(
        jd.policies.make("scb", num_arms=9, active_arms=mask),
        problem,
        horizon=65_812,
        num_seeds=32,
        checkpoints=[60_000, 65_812],
        regret="copeland",
        lanes=32,
    )
    late = result.plays[:, 1] - result.plays[:, 0]
    best = problem.gaps("copeland") == 0
    assert (late[:, best].max(axis=1) == 2 * 5_812).all()


def _feedback(num, **wins):
    tables = {
        "left_wins": np.zeros((num, num), np.int32),
        "right_wins": np.zeros((num, num), np.int32),
    }
    for side, entries in wins.items():
        for pair, count in entries.items():
            tables[side][pair] = count
    return Feedback(**{side: jnp.array(table) for side, table in tables.items()})


def test_withheld_outcomes_count_for_the_pair_under_way_once_they_are_told():
    policy = jd.policies.make("scb", num_arms=9, first_length=100)
    state = _init(policy)
    pair = tuple(int(arm) for arm in state.round.duel)
    for t in range(1, 61):
        state = _update(policy, state, WITHHELD, jax.random.key(t))
    assert tuple(int(arm) for arm in state.round.duel) == pair
    assert (int(state.round.withheld), int(state.round.left)) == (60, 40)
    told = policy.learn(state, _feedback(9, left_wins={pair: 59, (3, 3): 9}, right_wins={pair: 1}))
    assert (int(told.round.wins), int(told.round.losses), int(told.round.withheld)) == (59, 1, 0)
    assert tuple(int(arm) for arm in policy.act(told, KEY)) == pair
    after = _update(policy, told, WITHHELD)
    assert int(after.decisions[pair]) == 1
    assert tuple(int(arm) for arm in after.round.duel) != pair
    assert int(after.round.withheld) == 0
    stray = policy.learn(after, _feedback(9, left_wins={pair: 1}))
    assert int(stray.round.wins) == 0


def test_outcomes_of_an_earlier_round_do_not_count():
    policy = jd.policies.make("scb", num_arms=9)
    state = _init(policy)
    state = _in_round(state, withheld=jnp.int32(3), left=jnp.int32(1))
    state = _update(policy, state, WITHHELD)
    pair = tuple(int(arm) for arm in state.round.duel)
    state = _update(policy, state, WITHHELD)
    own = policy.learn(state, _feedback(9, left_wins={pair: 1, (0, 0): 4}))
    assert (int(own.round.wins), int(own.round.withheld)) == (1, 0)
    mixed = policy.learn(state, _feedback(9, left_wins={pair: 4}, right_wins={pair: 1}))
    assert (int(mixed.round.wins), int(mixed.round.losses)) == (0, 0)
    assert int(mixed.round.withheld) == 0


def test_two_arms():
    mask = np.arange(9) < 2
    policy = jd.policies.make("scb", num_arms=9, active_arms=mask, first_length=1_000)
    state, left = _init(policy), []
    for _ in range(60):
        left.append(tuple(int(arm) for arm in state.round.duel))
        state = _update(policy, state, LOST)
    n = next(n for n in range(1, 60) if _is_decided(n, n, 2, 1_000, 1.0))
    assert left == [(0, 1)] * n + [(1, 1)] * (60 - n)


def _large_results(jaxpr, size, found):
    for equation in jaxpr.eqns:
        inner = [x for x in jax.tree.leaves(equation.params, is_leaf=_is_jaxpr) if _is_jaxpr(x)]
        for one in inner:
            _large_results(getattr(one, "jaxpr", one), size, found)
        if not inner and any(np.prod(v.aval.shape) >= size for v in equation.outvars):
            found.add(equation.primitive.name)
    return found


def _is_jaxpr(x):
    return hasattr(x, "eqns") or hasattr(x, "jaxpr")


def test_a_step_of_500_arms_touches_single_entries_of_the_table():
    policy = jd.policies.make("scb", num_arms=500)
    state = jax.eval_shape(_init, policy)
    assert state.decisions.dtype == np.int8
    rest = [x for x in jax.tree.leaves(state) if x.shape != (500, 500)]
    assert len(rest) == len(jax.tree.leaves(state)) - 1
    assert sum(x.size * x.dtype.itemsize for x in rest) < 20 * 500

    def lanes(states, outcomes, keys):
        return jax.vmap(_update.__wrapped__, (None, 0, 0, 0))(policy, states, outcomes, keys)

    wide = jax.tree.map(lambda x: jax.ShapeDtypeStruct((32, *x.shape), x.dtype), state)
    keys = jax.random.split(KEY, 32)
    jaxpr = jax.make_jaxpr(lanes)(wide, jnp.ones(32, jnp.int32), keys)
    assert _large_results(jaxpr.jaxpr, 500**2, set()) == {"scatter"}


def test_parameters_are_checked():
    assert jd.policies.make("scb", num_arms=2).assumes == ("no ties",)
    with pytest.raises(jd.InputError, match=r"^scb: scale must be positive, not 0\.0\.$"):
        jd.policies.make("scb", num_arms=3, scale=0.0)
    with pytest.raises(jd.InputError, match=r"first_length must be a whole number, not 2\.5"):
        jd.policies.make("scb", num_arms=3, first_length=2.5)
    for length in (1, 2**31):
        with pytest.raises(jd.InputError, match="first_length must be a whole number from 2 to"):
            jd.policies.make("scb", num_arms=3, first_length=length)
