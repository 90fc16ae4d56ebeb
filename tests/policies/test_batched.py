"""Batch sizes, commitments and elimination rules of PCOMP, SCOMP and SCOMP2."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.batched_dueling.rounds import (
    all_pairs,
    beaten_by_kl,
    commit,
    comparisons_per_pair,
    keep_survivors,
    terms_of,
)
from tests.oracles.batched import floor_power

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


def _policy(name="pcomp", num_arms=4, horizon=1000, num_batches=8, **fields):
    return jd.policies.make(
        name, num_arms=num_arms, horizon=horizon, num_batches=num_batches, **fields
    )


@pytest.mark.parametrize(
    ("horizon", "num_batches"),
    [(1, 1), (2, 2), (1000, 3), (100_000, 16), (10**9, 9), (2**31 - 1, 31), (2**31 - 1, 2)],
)
def test_batch_sizes_are_the_exact_integer_parts(horizon, num_batches):
    policy = _policy(horizon=horizon, num_batches=num_batches)
    rounds = np.arange(1, min(num_batches, 40) + 1)
    sizes = jax.vmap(lambda r: comparisons_per_pair(policy, r))(jnp.asarray(rounds, jnp.int32))
    assert sizes.dtype == jnp.int32
    assert sizes.tolist() == [max(1, floor_power(horizon, int(r), num_batches)) for r in rounds]
    assert int(sizes[-1]) == horizon or len(rounds) < num_batches


def test_batch_sizes_do_not_depend_on_the_global_precision():
    policy = _policy(horizon=10**9, num_batches=7)
    plain = [int(comparisons_per_pair(policy, jnp.int32(r))) for r in range(1, 8)]
    with jax.enable_x64(True):
        assert plain == [int(comparisons_per_pair(policy, jnp.int32(r))) for r in range(1, 8)]


def test_given_growth_replaces_the_root_of_the_horizon():
    policy = _policy(horizon=10**6, q=3.0)
    assert [int(comparisons_per_pair(policy, jnp.int32(r))) for r in (1, 2, 5)] == [3, 9, 243]


@pytest.mark.parametrize("remaining", [0, 1, 7, 12, 100])
def test_a_round_is_cut_at_the_horizon_in_lexicographic_order(remaining):
    active = jnp.array([True, False, True, True])
    counts = np.asarray(
        commit(all_pairs(active), active, jnp.int32(4), jnp.int32(remaining)).counts
    )
    order = [(0, 2), (0, 3), (2, 3)]
    played = [counts[pair] for pair in order]
    expected = [min(4, max(0, remaining - 4 * k)) for k in range(3)]
    assert played == expected
    assert counts.sum() == sum(expected)


def test_no_number_overflows_at_the_largest_horizon():
    active = jnp.ones(100, bool)
    largest = jnp.int32(2**31 - 1)
    counts = np.asarray(commit(all_pairs(active), active, largest, largest).counts, np.int64)
    assert counts.sum() == 2**31 - 1
    assert counts[0, 1] == 2**31 - 1


def test_the_last_arm_plays_itself_with_all_that_is_left():
    active = jnp.array([False, True, False])
    counts = commit(all_pairs(active), active, jnp.int32(4), jnp.int32(123)).counts
    assert counts.tolist() == [[0, 0, 0], [0, 123, 0], [0, 0, 0]]


def test_evidence_equal_to_the_threshold_does_not_eliminate():
    for num_arms, losses in ((2, 2), (4, 4), (16, 8)):
        policy = _policy(num_arms=num_arms)
        active = jnp.ones(num_arms, bool)
        wins = jnp.zeros((num_arms, num_arms), jnp.int32).at[1, 0].set(losses)
        assert not beaten_by_kl(policy, active, wins, terms_of(policy)).any()
        beaten = beaten_by_kl(policy, active, wins.at[1, 0].add(1), terms_of(policy))
        assert np.flatnonzero(beaten).tolist() == [0]


def test_only_active_arms_eliminate_and_thresholds_are_in_order():
    wins = jnp.zeros((4, 4), jnp.int32).at[1, 0].set(60).at[0, 1].set(30)
    active = jnp.array([True, False, True, True])
    policy = _policy()
    assert not beaten_by_kl(policy, active, wins, terms_of(policy)).any()
    active = jnp.ones(4, bool)
    evidence = 5.09
    for elimination, threshold in (
        ("kl", 2 * np.log(4)),
        ("kl-log-horizon", np.log(1000)),
        ("kl-safe", np.log(1000 * 16)),
    ):
        policy = _policy(elimination=elimination)
        gone = bool(beaten_by_kl(policy, active, wins, terms_of(policy))[0])
        assert gone == (evidence > threshold)
    for threshold, gone in ((5.2, False), (5.0, True)):
        policy = _policy(threshold=threshold)
        assert beaten_by_kl(policy, active, wins, terms_of(policy)).tolist() == [gone, *[False] * 3]


def test_an_elimination_that_would_leave_nobody_is_not_made():
    active = jnp.array([True, True, False, True])
    assert keep_survivors(active, active).tolist() == active.tolist()
    one = jnp.array([True, True, False, False])
    assert keep_survivors(active, one).tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("probability", "expected"), [(None, 1 / 3), (9 ** (-2 / 3), 9 ** (-2 / 3)), (0.0, None)]
)
def test_seeds_are_sampled_with_their_probability_and_never_none(probability, expected):
    policy = _policy("scomp", num_arms=9, seed_probability=probability)
    keys = jax.random.split(jax.random.key(0), 20_000)
    seeds = np.asarray(jax.jit(jax.vmap(policy.init))(keys).seeds)
    assert seeds.any(axis=1).all()
    if expected is None:
        assert (seeds.sum(axis=1) == 1).all()
        share, mean = 1 / 9, seeds.mean(axis=0)
    else:
        share = expected + (1 - expected) ** 9 / 9
        mean = seeds.mean(axis=0)
    assert (np.abs(mean - share) < 4.5 * np.sqrt(share * (1 - share) / 20_000)).all()


def test_few_seeds_and_the_edges_of_horizon_and_batches_run():
    arithmetic = jd.problems.arithmetic
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        for name in ("pcomp", "scomp", "scomp2"):
            for num_arms, horizon, num_batches in ((3, 1, 1), (3, 2, 1), (3, 2, 2), (3, 64, 64)):
                policy = _policy(name, num_arms, horizon, num_batches)
                result = jd.simulate(
                    policy, arithmetic(3), num_seeds=8, lanes=8, checkpoints=[horizon]
                )
                assert (result.plays[:, -1].sum(axis=-1) == 2 * horizon).all()
                most = 2 * num_batches + 1 if name == "scomp2" else num_batches + 1
                assert result.batches is not None
                assert result.batches.max() <= min(most, horizon)


SEEDED = [("scomp", {}), ("scomp2", {"candidate": "redrawn"}), ("scomp2", {"candidate": "kept"})]


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.parametrize(("name", "fields"), SEEDED)
def test_the_switch_by_elimination_is_the_printed_one_where_elimination_is(name, fields):
    plays = [
        jd.simulate(
            _policy(name, 6, 5000, 5, elimination="hoeffding", delta=0.5, switch=switch, **fields),
            jd.problems.load("arxiv"),
            num_seeds=64,
            lanes=64,
            checkpoints=[5000],
        ).plays
        for switch in ("hoeffding", "elimination")
    ]
    assert np.array_equal(*plays)


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.parametrize("width", [None, 0.0])
@pytest.mark.parametrize(("name", "fields"), SEEDED)
def test_no_reading_uses_more_rounds_than_the_theorems_allow(name, fields, width):
    for horizon, num_batches in ((64, 64), (5000, 1), (5000, 3), (5000, 12)):
        policy = _policy(name, 6, horizon, num_batches, switch="elimination", width=width, **fields)
        result = jd.simulate(
            policy, jd.problems.load("arxiv"), num_seeds=128, lanes=128, checkpoints=[horizon]
        )
        most = 2 * num_batches + 1 if name == "scomp2" else num_batches + 1
        assert result.batches is not None
        assert result.batches.max() <= min(most, horizon)
        assert (result.plays[:, -1].sum(axis=-1) == 2 * horizon).all()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("scomp", {"switch": "kl"}, "unknown switch 'kl': known are elimination, hoeffding"),
        ("scomp", {"width": 1.5}, r"scomp: width must be in \[0, 1\], not 1.5"),
        ("scomp2", {"width": -0.1}, r"scomp2: width must be in \[0, 1\], not -0.1"),
        ("scomp2", {"candidate": "first"}, "unknown candidate 'first': known are kept, redrawn"),
        ("scomp", {"candidate": "kept"}, "unknown parameter of scomp 'candidate'"),
    ],
)
def test_readings_out_of_range_are_refused(name, fields, message):
    with pytest.raises(jd.InputError, match=message):
        _policy(name, **fields)
