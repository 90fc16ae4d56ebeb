"""BaSE, successive elimination and explore-then-commit: pulls of a batch, tests, commitments."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxduel as jd
from jaxduel.policies.arms.base import BaSE
from jaxduel.policies.arms.elimination import Rewards, no_rewards, spread, survivors, with_round
from jaxduel.policies.arms.etc import ETC
from jaxduel.policies.arms.grids import KINDS
from jaxduel.policies.arms.successive_elimination import SuccessiveElimination
from jaxduel.policies.base import PullBatch

pytestmark = pytest.mark.usefixtures("quick_compilation")

KEY = jax.random.key(0)
LARGEST = 2**31 - 1


def _policy(cls=BaSE, num_arms=3, horizon=50_000, padding=0, **fields):
    active = np.arange(num_arms + padding) < num_arms
    return cls(num_arms=num_arms + padding, active_arms=active, horizon=np.int32(horizon), **fields)


@partial(jax.jit, static_argnames="rounds")
def _run(policy, means, noise, *, rounds):
    """Rounds of a run whose arms reward n mu + noise sqrt(n) z: counts (R, K), arms left (R, K)."""

    def play(state, key):
        plan = policy.act(state, key)
        n = plan.counts.astype(jnp.float32)
        z = jax.random.normal(key, n.shape, jnp.float32)
        state = policy.update(state, plan, n * means + noise * jnp.sqrt(n) * z, key)
        return state, (plan.counts, state.arms)

    return lax.scan(play, policy.init(KEY), jax.random.split(KEY, rounds))[1]


def _counts(policy, means=None, rounds=13):
    """The counts of rounds whose rewards are the arms' means (all 0 unless given), without noise.

    Rounds without a pull, after the end, are left out. Policies of a class with as many arms, the
    same kind of grid and the same switches share a program.
    """
    means = np.zeros(policy.num_arms) if means is None else np.asarray(means)
    counts, _ = _run(policy, means.astype(np.float32), np.float32(0), rounds=rounds)
    return [row.tolist() for row in np.asarray(counts) if row.any()]


# ---- pulls of a round ---------------------------------------------------------------------------


def test_pulls_are_shared_equally_and_odd_ones_go_to_the_lowest_numbers():
    rng = np.random.default_rng(0)
    program = jax.jit(spread)
    for _ in range(300):
        arms = rng.random(5) < 0.6
        arms[rng.integers(5)] = True
        amount = int(rng.integers(0, 23))
        totals = np.zeros(5, int)
        for _ in range(amount):
            totals[min(np.flatnonzero(arms), key=lambda i: (totals[i], i))] += 1
        plan = program(arms, np.int32(amount))
        assert plan.counts.dtype == jnp.int32
        assert plan.counts.tolist() == totals.tolist()


def test_batches_of_the_papers_grid_fill_up_to_its_times():
    policy = _policy(num_batches=3)
    # 484 and 10,658 pulls: the odd ones, 1 and then 2, are left to the batch that follows
    assert _counts(policy) == [[161] * 3, [3391] * 3, [39344, 0, 0]]
    explores = _counts(_policy(num_batches=3, commit=False))
    assert explores == [[161] * 3, [3391] * 3, [13115, 13115, 13114]]


@pytest.mark.parametrize("cls", [BaSE, ETC])
def test_every_arm_is_pulled_in_the_first_batch_and_times_that_passed_are_skipped(cls):
    # geometric, T = 1000, M = 7: 2, 7, 19, 51, 138, 372, 1000
    counts = _counts(_policy(cls, 10, 1000, num_batches=7, grid="geometric"))
    assert [sum(row) for row in counts] == [10, 10, 30, 80, 240, 630]
    assert counts[0] == [1] * 10


def test_a_given_grid_is_followed():
    policy = _policy(horizon=100, grid=[11, 40, 70, 100], commit=False)
    assert _counts(policy) == [[3] * 3, [10] * 3, [10] * 3, [11, 10, 10]]


@pytest.mark.parametrize(("cls", "commit"), [(BaSE, False), (BaSE, True), (ETC, None)])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_add_up_to_the_horizon_in_at_most_m_batches(cls, commit, kind):
    rng = np.random.default_rng(4)
    cells = [(k, t, m) for k in (2, 5) for t, m in ((k, 1), (k, k), (12, 12), (LARGEST, 12))]
    while len(cells) < 200:
        num_arms = int(rng.choice([2, 3, 5]))
        horizon = int(np.exp(rng.uniform(np.log(num_arms), np.log(LARGEST))))
        cells.append((num_arms, horizon, int(rng.integers(1, min(horizon, 12) + 1))))
    switches = {} if commit is None else {"commit": commit, "gamma": np.float32(0.2)}
    policies = [
        _policy(cls, k, t, padding=7 - k, num_batches=np.int32(m), grid=kind, **switches)
        for k, t, m in cells
    ]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *policies)
    stacked.validate()
    means = rng.choice([0.0, 0.05, 0.5], (200, 7)).astype(np.float32)
    run = jax.vmap(partial(_run, noise=np.float32(1), rounds=13))
    counts, left = (np.asarray(x) for x in run(stacked, means))
    sizes, horizons, batches = np.array(cells).T

    assert counts.min() >= 0
    assert (counts.any(axis=1) <= (np.arange(7) < sizes[:, None])).all()
    totals = counts.astype(np.int64).cumsum(axis=1)
    assert (totals[:, -1].sum(axis=-1) == horizons).all()
    used = counts.any(axis=-1)
    assert (used.sum(axis=1) <= batches).all()
    assert used[:, 0].all()
    assert (used[:, 1:] <= used[:, :-1]).all()
    # before every batch but the first the arms that are left have been pulled equally often
    most = np.where(left, totals, 0).max(axis=-1)[:, :-1]
    fewest = np.where(left, totals, LARGEST).min(axis=-1)[:, :-1]
    assert (most - fewest)[used[:, 1:]].max() == 0
    # and a batch pulls all of them, unless T cuts it short or it commits
    pulls_all = (counts[:, 1:] > 0) | ~left[:, :-1]
    at_the_end = totals[:, 1:].sum(axis=-1) == horizons[:, None]
    assert (pulls_all.all(axis=-1) | at_the_end)[used[:, 1:]].all()
    # arms were eliminated
    assert (left[:, 3].sum(axis=-1) < sizes).mean() > 0.1


# ---- the test of elimination ---------------------------------------------------------------------


def test_an_arm_at_exactly_the_width_goes_and_just_inside_stays():
    active = jnp.ones(3, bool)
    test = jax.jit(lambda rewards: survivors(rewards, active, 1.0, 1000, active))
    pulls = jnp.array([8, 4, 4], jnp.int32)  # tau = 4
    width = np.sqrt((np.log(np.float32(1000)) + np.log(np.float32(3))) / np.float32(4))
    for lead, stays in ((width, False), (np.nextafter(width, np.float32(0)), True)):
        total = jnp.array([8 * lead, 0.0, 4 * lead], jnp.float32)
        left = test(Rewards(pulls, total, jnp.zeros(3, jnp.float32)))
        assert left.tolist() == [True, stays, True]


def test_the_width_counts_active_arms_and_grows_with_gamma():
    arms = jnp.array([True, True, False, False, False])
    pulls = jnp.array([100, 100, 900, 0, 0], jnp.int32)
    rewards = Rewards(pulls, jnp.array([30.0, 0, 5000, 0, 0], jnp.float32), jnp.zeros(5))
    active = jnp.array([True, True, True, False, False])
    for gamma in (0.5, 1.0, 1.12, 1.13, 2.0):
        goes = np.sqrt(gamma * np.log(1000 * 3) / 100) <= 0.3
        left = survivors(rewards, arms, gamma, 1000, active)
        assert left.tolist() == [True, not goes, False, False, False]


def test_arms_of_the_largest_average_never_go():
    active = jnp.ones(3, bool)
    rewards = Rewards(jnp.full(3, 10**9, jnp.int32), jnp.array([1.0, 1, 1]), jnp.zeros(3))
    assert survivors(rewards, active, 1e-38, 10, active).all()
    ahead = rewards._replace(total=jnp.array([1.0, 2, 1]))
    assert survivors(ahead, active, 1e-38, 10, active).tolist() == [False, True, False]


def test_sums_of_rewards_do_not_stall():
    rewards = Rewards(jnp.ones(2, jnp.int32), jnp.full(2, 2.0**24), jnp.zeros(2))
    plan = PullBatch(jnp.ones(2, jnp.int32))

    @jax.jit
    def thousand(rewards):
        return lax.fori_loop(0, 1000, lambda _, r: with_round(r, plan, jnp.full(2, 0.1)), rewards)

    after = thousand(rewards)
    total = np.float64(after.total) + np.float64(after.carry)
    assert np.allclose(total, 2.0**24 + 100, rtol=0, atol=1e-3)
    assert after.pulls.tolist() == [1001, 1001]
    assert no_rewards(2).total.dtype == jnp.float32


# ---- BaSE ----------------------------------------------------------------------------------------


def test_the_arm_that_is_alone_takes_all_that_is_left_in_one_batch():
    # width after 100 pulls each: sqrt(log(3 10^4) / 100) = 0.32; arms 0 and 2 lose 0.5
    for commit in (False, True):
        policy = _policy(horizon=10_000, grid=[300, 600, 900, 10_000], commit=commit)
        counts = _counts(policy, [0.0, 0.5, 0.0])
        assert counts == [[100, 100, 100], [0, 9700, 0]]


def test_an_arm_goes_when_the_width_has_shrunk_to_its_gap():
    # widths after 100, 200, 350 pulls each: 0.32, 0.23, 0.17; arm 2 goes after the second batch
    policy = _policy(horizon=10_000, grid=[300, 600, 900, 10_000])
    counts = _counts(policy, [0.25, 0.2, 0.0])
    assert counts == [[100] * 3, [100] * 3, [150, 150, 0], [9100, 0, 0]]


def test_the_last_batch_goes_to_the_largest_average_and_on_ties_to_the_lowest_number():
    for means, best in (([0.0, 0.1, 0.05], 1), ([0.0, 0.1, 0.1], 1), ([0.0, 0.0, 0.0], 0)):
        counts = _counts(_policy(horizon=1000, grid=[30, 60, 90, 1000]), means)
        assert np.flatnonzero(counts[-1]).tolist() == [best]


def test_one_batch_has_nothing_to_commit_on():
    policy = _policy(horizon=100, num_batches=1)
    assert _counts(policy) == [[100, 0, 0]]
    policy = _policy(horizon=100, num_batches=1, commit=False)
    assert _counts(policy) == [[34, 33, 33]]


def test_as_many_batches_as_pulls_are_successive_elimination():
    for seed in range(8):
        means = np.random.default_rng(seed).normal(0, 0.7, 4).astype(np.float32)
        fields = {"num_arms": 4, "horizon": 203, "gamma": np.float32(0.3)}
        every = _policy(num_batches=203, grid="arithmetic", commit=False, **fields)
        plain = _policy(SuccessiveElimination, **fields)
        (one, arms), (other, left) = (
            _run(policy, means, np.float32(0.5), rounds=203) for policy in (every, plain)
        )
        assert (np.asarray(one) == np.asarray(other)).all()
        assert (np.asarray(arms) == np.asarray(left)).all()
        assert np.sum(one) == 203


def test_gamma_must_be_positive():
    for cls, name in ((BaSE, "base"), (SuccessiveElimination, "successive-elimination")):
        fields = {"num_batches": 3} if cls is BaSE else {}
        for gamma in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(jd.InputError, match=f"{name}: gamma must be positive, not"):
                _policy(cls, gamma=gamma, **fields).validate()


# ---- successive elimination ----------------------------------------------------------------------


def test_sweeps_pull_each_arm_once_and_the_last_is_cut_at_the_horizon():
    assert _counts(_policy(SuccessiveElimination, horizon=11)) == [[1] * 3] * 3 + [[1, 1, 0]]
    assert _counts(_policy(SuccessiveElimination, horizon=2)) == [[1, 1, 0]]


def test_what_beats_all_others_takes_the_rest():
    # sqrt(log 300 / tau) reaches 1 at tau = 6
    counts = _counts(_policy(SuccessiveElimination, horizon=100), [0.0, 1.0, 0.0])
    assert counts == [[1] * 3] * 6 + [[0, 82, 0]]


def test_successive_elimination_needs_a_horizon_in_range():
    with pytest.raises(jd.InputError, match="successive-elimination: the horizon must be"):
        _policy(SuccessiveElimination, horizon=0).validate()


# ---- explore, then commit ------------------------------------------------------------------------


def _etc(num_arms=2, **fields):
    return _policy(ETC, num_arms, **fields)


def test_a_clear_lead_wins_all_that_is_left():
    # after t = 100: sqrt(4 log(20) / 100) = 0.346 for half the lead
    for lead, wins in ((0.70, True), (0.68, False)):
        counts = _counts(_etc(horizon=1000, grid=[100, 200, 300, 1000]), [0.0, lead])
        assert counts[0] == [50, 50]
        assert counts[1] == ([0, 900] if wins else [50, 50])
        assert sum(map(sum, counts)) == 1000


def test_the_last_of_three_or_more_batches_is_forced_but_not_of_two():
    for means, winner in (([0.0, 0.1], 1), ([0.1, 0.1], 0)):
        counts = _counts(_etc(horizon=1000, num_batches=3), means)
        assert counts[:2] == [[25, 25], [161, 161]]  # t = 51, 372
        assert np.flatnonzero(counts[2]).tolist() == [winner]
        counts = _counts(_etc(horizon=1003, num_batches=2), means)
        assert counts == [[50, 50], [452, 451]]
    assert _counts(_etc(horizon=101, num_batches=1), [0.0, 9.0]) == [[51, 50]]
    assert _counts(_etc(horizon=1003, num_batches=2), [0.0, 9.0]) == [[50, 50], [0, 903]]


def test_among_more_arms_the_best_leads_the_second():
    for means, winner in (([0.0, 1.0, 0.2, -9.0], 1), ([0.0, 1.0, 0.4, -9.0], None)):
        counts = _counts(_etc(4, horizon=1000, grid=[100, 200, 1000]), means)
        assert counts[1] == ([0, 900, 0, 0] if winner == 1 else [25] * 4)
        assert np.flatnonzero(counts[-1]).tolist() == [1]


# ---- all three -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [BaSE, ETC, SuccessiveElimination])
def test_padding_changes_nothing(cls):
    fields = {} if cls is SuccessiveElimination else {"num_batches": 5}
    for means in ([0.0, 0.3, 0.1], [0.0, 0.0, 0.0]):
        plain = _counts(_policy(cls, horizon=30, **fields), means)
        padded = _counts(_policy(cls, horizon=30, padding=2, **fields), [*means, 9.0, 9.0])
        assert np.sum(plain) == 30
        assert padded == [[*row, 0, 0] for row in plain]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("cls", [BaSE, ETC, SuccessiveElimination])
def test_states_and_plans_keep_32_bits(cls, x64):
    fields = {} if cls is SuccessiveElimination else {"num_batches": np.int32(5)}
    with jax.enable_x64(x64):
        policy = _policy(cls, **fields)
        state = jax.eval_shape(policy.init, KEY)
        plan = jax.eval_shape(policy.act, state, KEY)
        sums = jax.ShapeDtypeStruct((3,), jnp.float32)
        after = jax.eval_shape(policy.update, state, plan, sums, KEY)
        assert plan.counts.dtype == jnp.int32
        assert state == after
        assert all(leaf.dtype.itemsize <= 4 for leaf in jax.tree.leaves(state))
