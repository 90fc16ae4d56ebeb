"""Batch sizes, commitments and elimination rules of PCOMP, SCOMP and SCOMP2 and their oracles."""

import math
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
from tests.oracles.batched_dueling.pcomp import PCOMP
from tests.oracles.batched_dueling.rounds import floor_power
from tests.oracles.batched_dueling.scomp import SCOMP
from tests.oracles.batched_dueling.scomp2 import SCOMP2
from tests.policies.batched_dueling.cases import make, the_plan

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracles --------------------------------------------------------------------------------


@pytest.mark.parametrize(("horizon", "num_batches"), [(1000, 3), (2**20, 20), (7**5, 5), (97, 6)])
def test_batch_sizes_are_the_exact_floor(horizon, num_batches):
    for r in range(1, num_batches + 1):
        c = floor_power(horizon, r, num_batches)
        assert c**num_batches <= horizon**r < (c + 1) ** num_batches
    assert floor_power(horizon, num_batches, num_batches) == horizon


def test_batch_sizes_of_the_paper():
    sizes = [floor_power(100_000, r, 16) for r in range(1, 17)]
    assert sizes[:6] == [2, 4, 8, 17, 36, 74]
    assert sizes[-1] == 100_000
    assert [floor_power(20, r, 20) for r in (1, 4, 5, 20)] == [1, 1, 2, 20]


def test_thresholds_and_radii():
    for elimination, threshold in [
        ("kl", 2 * math.log(5)),
        ("kl-safe", math.log(100 * 25)),
        ("kl-log-horizon", math.log(100)),
    ]:
        oracle = PCOMP(5, 100, 2, elimination=elimination)
        assert oracle.threshold() == pytest.approx(threshold)
        assert oracle.gamma(1) == pytest.approx(math.sqrt(math.log(100 * 25) / 20))
    oracle = PCOMP(5, 100, 2, elimination="hoeffding")
    assert oracle.gamma(2) == pytest.approx(math.sqrt(math.log(6 * 100 * 25 * 2) / 200))
    assert PCOMP(5, 100, 2, threshold=7.0).threshold() == 7.0


BATCHED = {"pcomp": PCOMP, "scomp": SCOMP, "scomp2": SCOMP2}


@pytest.mark.parametrize("name", BATCHED)
@pytest.mark.parametrize("elimination", ["kl", "kl-safe", "hoeffding"])
@pytest.mark.parametrize(
    ("num_arms", "horizon", "num_batches"),
    [(2, 1, 1), (2, 50, 1), (2, 40, 40), (5, 3, 2), (5, 9, 9), (3, 10**6, 2), (6, 10**5, 16)],
)
def test_totals_and_rounds(name, elimination, num_arms, horizon, num_batches):
    limit = {"pcomp": num_batches, "scomp": num_batches + 1, "scomp2": 2 * num_batches + 1}[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        skill = rng.normal(scale=(0.3, 3.0)[seed % 2], size=num_arms)
        preferences = 1 / (1 + np.exp(skill[None, :] - skill[:, None]))
        params = {"elimination": elimination}
        if name != "pcomp":
            params["seeds"] = np.arange(num_arms) <= rng.integers(num_arms)
        oracle = BATCHED[name](num_arms, horizon, num_batches, **params)
        while oracle.used < horizon:
            plans = oracle.plan()
            counts = plans[rng.integers(len(plans))]
            assert np.all(counts >= 0)
            assert not np.any(np.tril(counts, -1))
            assert 0 < counts.sum() <= horizon - oracle.used
            upper = np.triu(counts, 1)
            wins = rng.binomial(upper, preferences)
            oracle.play(counts, wins + (upper - wins).T)
            assert len(oracle.positions) <= 2 * num_arms
        assert oracle.used == horizon
        assert oracle.rounds <= limit
        assert not np.any(the_plan(oracle))


# ---- the policies -------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("horizon", "num_batches"),
    [(1, 1), (2, 2), (1000, 3), (100_000, 16), (10**9, 9), (2**31 - 1, 31), (2**31 - 1, 2)],
)
def test_batch_sizes_are_the_exact_integer_parts(horizon, num_batches):
    policy = make(horizon=horizon, num_batches=num_batches)
    rounds = np.arange(1, min(num_batches, 40) + 1)
    sizes = jax.vmap(lambda r: comparisons_per_pair(policy, r))(jnp.asarray(rounds, jnp.int32))
    assert sizes.dtype == jnp.int32
    assert sizes.tolist() == [max(1, floor_power(horizon, int(r), num_batches)) for r in rounds]
    assert int(sizes[-1]) == horizon or len(rounds) < num_batches


@pytest.mark.thorough
def test_batch_sizes_do_not_depend_on_the_global_precision():
    policy = make(horizon=10**9, num_batches=7)
    plain = [int(comparisons_per_pair(policy, jnp.int32(r))) for r in range(1, 8)]
    with jax.enable_x64(True):
        assert plain == [int(comparisons_per_pair(policy, jnp.int32(r))) for r in range(1, 8)]


@pytest.mark.thorough
def test_given_growth_replaces_the_root_of_the_horizon():
    policy = make(horizon=10**6, q=3.0)
    assert [int(comparisons_per_pair(policy, jnp.int32(r))) for r in (1, 2, 5)] == [3, 9, 243]


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_no_number_overflows_at_the_largest_horizon():
    active = jnp.ones(100, bool)
    largest = jnp.int32(2**31 - 1)
    counts = np.asarray(commit(all_pairs(active), active, largest, largest).counts, np.int64)
    assert counts.sum() == 2**31 - 1
    assert counts[0, 1] == 2**31 - 1


@pytest.mark.thorough
def test_the_last_arm_plays_itself_with_all_that_is_left():
    active = jnp.array([False, True, False])
    counts = commit(all_pairs(active), active, jnp.int32(4), jnp.int32(123)).counts
    assert counts.tolist() == [[0, 0, 0], [0, 123, 0], [0, 0, 0]]


@pytest.mark.thorough
def test_evidence_equal_to_the_threshold_does_not_eliminate():
    for num_arms, losses in ((2, 2), (4, 4), (16, 8)):
        policy = make(num_arms=num_arms)
        active = jnp.ones(num_arms, bool)
        wins = jnp.zeros((num_arms, num_arms), jnp.int32).at[1, 0].set(losses)
        assert not beaten_by_kl(policy, active, wins, terms_of(policy)).any()
        beaten = beaten_by_kl(policy, active, wins.at[1, 0].add(1), terms_of(policy))
        assert np.flatnonzero(beaten).tolist() == [0]


@pytest.mark.thorough
def test_only_active_arms_eliminate_and_thresholds_are_in_order():
    wins = jnp.zeros((4, 4), jnp.int32).at[1, 0].set(60).at[0, 1].set(30)
    active = jnp.array([True, False, True, True])
    policy = make()
    assert not beaten_by_kl(policy, active, wins, terms_of(policy)).any()
    active = jnp.ones(4, bool)
    evidence = 5.09
    for elimination, threshold in (
        ("kl", 2 * np.log(4)),
        ("kl-log-horizon", np.log(1000)),
        ("kl-safe", np.log(1000 * 16)),
    ):
        policy = make(elimination=elimination)
        gone = bool(beaten_by_kl(policy, active, wins, terms_of(policy))[0])
        assert gone == (evidence > threshold)
    for threshold, gone in ((5.2, False), (5.0, True)):
        policy = make(threshold=threshold)
        assert beaten_by_kl(policy, active, wins, terms_of(policy)).tolist() == [gone, *[False] * 3]


@pytest.mark.thorough
def test_an_elimination_that_would_leave_nobody_is_not_made():
    active = jnp.array([True, True, False, True])
    assert keep_survivors(active, active).tolist() == active.tolist()
    one = jnp.array([True, True, False, False])
    assert keep_survivors(active, one).tolist() == [False, False, False, True]


@pytest.mark.slow
def test_few_seeds_and_the_edges_of_horizon_and_batches_run():
    arithmetic = jd.problems.arithmetic
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        for name in ("pcomp", "scomp", "scomp2"):
            for num_arms, horizon, num_batches in ((3, 1, 1), (3, 2, 1), (3, 2, 2), (3, 64, 64)):
                policy = make(name, num_arms, horizon, num_batches)
                result = jd.simulate(
                    policy, arithmetic(3), num_seeds=8, lanes=8, checkpoints=[horizon]
                )
                assert (result.plays[:, -1].sum(axis=-1) == 2 * horizon).all()
                most = 2 * num_batches + 1 if name == "scomp2" else num_batches + 1
                assert result.batches is not None
                assert result.batches.max() <= min(most, horizon)
