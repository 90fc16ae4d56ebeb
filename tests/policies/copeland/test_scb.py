"""SCB: rounds, the test of a pair, commitment, delay, quiet runs; oracle replay."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics.threefry import random_words, uniform, words_of
from jaxduel.policies.base import Duel, Feedback
from jaxduel.policies.copeland.scb import SCB, Round, SCBState
from jaxduel.policies.copeland.score_elimination import no_rewards
from tests.choice import some
from tests.oracles.copeland.scb import SCB as Oracle
from tests.policies.copeland.cases import log_inverse_delta
from tests.policies.histories import duel_histories, judged, padded_policy, random_histories
from tests.policies.quiet_cases import (
    ARMS,
)

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


def _is_decided(n, lead, num_arms, length, scale):
    if n == 0:
        return False
    bound = np.log(4.0 * n**2 * num_arms**2) + log_inverse_delta(length)
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


@pytest.mark.thorough
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
    some(
        [
            (4, (16, 256, 65_536, 2**31 - 1)),
            (1000, (10**6, 2**31 - 1)),
            (2, (4, 16, 256, 65_536)),
        ],
        [(1000, (10**6, 2**31 - 1))],
    ),
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
            bound = scale * (np.log(4.0 * n**2 * 9**2) + log_inverse_delta(length))
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


@pytest.mark.parametrize("name", some(["cyclic", "noncondorcet-cyclic"], ["noncondorcet-cyclic"]))
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


def test_it_assumes_that_no_pair_ties():
    assert jd.policies.make("scb", num_arms=2).assumes == ("no ties",)


# ---- quiet runs ---------------------------------------------------------------------------------


def test_a_round_of_scb_ends_with_a_step():
    policy, zero = SCB(num_arms=ARMS, active_arms=jnp.ones(ARMS, bool)), jnp.int32(0)
    tally = no_rewards(jnp.ones(ARMS, bool))
    for left, limit, expected in ((9, 20, 8), (9, 5, 5), (1, 5, 0), (9, 0, 0)):
        duel = Duel(jnp.int32(3), jnp.int32(3))
        here = Round(jnp.int32(2), jnp.int32(left), tally, duel, zero, zero, zero)
        table = jnp.zeros((ARMS, ARMS), jnp.int8)
        after, run = policy.quiet(SCBState(table, here), jnp.int32(limit), KEY)
        assert (int(run.arm), int(run.n)) == (3, expected)
        assert int(after.round.left) == left - expected


# ---- oracle replay ------------------------------------------------------------------------------


@partial(jax.jit, static_argnames=("steps", "draws"))
def _opponent_words(keys, steps, draws):
    """The uniform numbers of pulls: of `init`, then of each update, by run, comparison, number."""

    def of_key(key):
        return uniform(random_words(words_of(key), jnp.arange(draws, dtype=jnp.int32), 0)[0])

    def of_run(key):
        folded = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jnp.arange(steps))
        return jnp.concatenate([of_key(key)[None], jax.vmap(of_key)(folded)])

    return jax.vmap(of_run)(keys)


@pytest.mark.thorough
@pytest.mark.parametrize(("num_arms", "scale"), [(2, 0.2), (4, 0.05), (5, 0.2)])
def test_scb_follows_the_paper(num_arms, scale):
    num, steps = 60, 400
    policy = padded_policy("scb", num_arms, scale=scale)
    histories, keys = random_histories(policy, num, steps)
    words = np.asarray(_opponent_words(keys, steps, 256))

    def oracle_of(run):
        def draw(pull):
            u = words[run, pull.t - 1, pull.position]
            others = [j for j in range(num_arms) if j != pull.arm]
            return others[min(int(u * np.float32(num_arms - 1)), num_arms - 2)]

        return Oracle(num_arms, draw, scale=scale)

    oracles = judged(oracle_of, histories)
    assert sum(len(oracle.memories[0].beats) for oracle in oracles) > num // 2
