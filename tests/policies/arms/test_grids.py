"""The grids of batched bandits: exact times, the next batch, the user's own times, bad input."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.arms.base import BaSE
from jaxduel.policies.arms.etc import ETC
from jaxduel.policies.arms.grids import KINDS, BatchGrid, end_of, grid_times, next_batch
from tests.choice import some
from tests.oracles.arms.loops import grid_time, named_grid
from tests.policies.arms.cases import counts_of, make, rounds_of

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracles' -------------------------------------------------------------------------------


def test_grids_of_the_paper():
    assert named_grid("minimax", 50_000, 3) == [484, 10_658, 50_000]
    assert named_grid("geometric", 50_000, 3) == [36, 1357, 50_000]
    assert named_grid("arithmetic", 50_000, 3) == [16_666, 33_333, 50_000]


def test_exact_powers_come_out():
    assert named_grid("geometric", 1000, 3) == [10, 100, 1000]
    assert named_grid("minimax", 2**21, 3) == [2**12, 2**18, 2**21]  # 4/7, 6/7
    assert named_grid("minimax", 8, 2) == [4, 8]  # 2/3
    assert named_grid("minimax", 2**30, 4)[1] == 2**24  # 4/5


@pytest.mark.parametrize("horizon", [2, 17, 1000, 5**7, 2**30, 50_000, 10**9, 2**31 - 1])
def test_grids_are_exact_floors(horizon):
    for M in range(1, 7):
        for m in range(1, M + 1):
            p, q = (2**m - 1) * 2 ** (M - m), 2**M - 1
            t = grid_time("minimax", horizon, M, m)
            assert t**q <= horizon**p < (t + 1) ** q
            t = grid_time("geometric", horizon, M, m)
            assert t**M <= horizon**m < (t + 1) ** M
            t = grid_time("arithmetic", horizon, M, m)
            assert t * M <= m * horizon < (t + 1) * M


def test_only_the_last_batch_ends_at_the_horizon():
    for kind in ("minimax", "geometric", "arithmetic"):
        grid = named_grid(kind, 300, 300)
        assert grid[-2:] == [299 if kind != "geometric" else 294, 300]
        assert grid == sorted(grid)


# ---- the policies' ------------------------------------------------------------------------------

LARGEST = 2**31 - 1


def _policy(kind="minimax", horizon=1000, num_batches=None, num_arms=2, cls=BaSE, **fields):
    return cls(
        num_arms=num_arms,
        active_arms=np.ones(num_arms, bool),
        horizon=horizon,
        num_batches=num_batches,
        grid=kind,
        **fields,
    )


@jax.jit
def _ends_of(policy, batches):
    return jax.vmap(lambda m: end_of(policy, m))(batches)


@jax.jit
def _next_batches(policy, batches, done):
    return jax.vmap(lambda m, t: next_batch(policy, m, t))(batches, done)


def _traced(kind, horizon, num_batches, batches):
    policy = _policy(kind, np.int32(horizon), np.int32(num_batches))
    return np.asarray(_ends_of(policy, np.asarray(batches, np.int32)))


def _root(power, degree):
    """floor(power^(1/degree)) in whole numbers."""
    low, high = 0, 1
    while high**degree <= power:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= power else (low, middle)
    return low


def _exact(kind, horizon, num_batches):
    """The times in whole numbers."""
    m_and_last = [(m, num_batches) for m in range(1, num_batches + 1)]
    if kind == "arithmetic":
        return [horizon * m // last for m, last in m_and_last]
    if kind == "geometric":
        return [_root(horizon**m, last) for m, last in m_and_last]
    return [_root(horizon ** (2**last - 2 ** (last - m)), 2**last - 1) for m, last in m_and_last]


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("minimax", [484, 10658, 50_000]),
        ("geometric", [36, 1357, 50_000]),
        ("arithmetic", [16_666, 33_333, 50_000]),
    ],
)
def test_the_times_of_the_papers_figures(kind, times):
    assert grid_times(kind, 50_000, 3).tolist() == times
    assert _traced(kind, 50_000, 3, [1, 2, 3]).tolist() == times


@pytest.mark.parametrize("kind", KINDS)
def test_times_are_the_exact_integer_parts(kind):
    rng = np.random.default_rng(1)
    cells = [(1, 1), (2, 1), (2, 2), (1000, 3), (2**14, 3), (10**9, 9), (LARGEST, 8), (3**15, 4)]
    cells += [(int(np.exp(rng.uniform(3, 21.4))), int(rng.integers(1, 9))) for _ in range(200)]
    cells += [(root**degree, degree) for degree in (2, 3, 7) for root in (2, 5, 10, 19)]
    for horizon, num_batches in cells:
        times = grid_times(kind, horizon, num_batches)
        assert times.dtype == np.int64
        assert times.tolist() == _exact(kind, horizon, num_batches)
        batches = np.resize(np.arange(1, num_batches + 1), 9)
        assert (_traced(kind, horizon, num_batches, batches) == times[batches - 1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_host_and_program_agree_for_many_batches(kind):
    rng = np.random.default_rng(2)
    cells = [(10**6, 10**6), (LARGEST, 2**20)]
    for _ in range(100):
        horizon = int(np.exp(rng.uniform(1, 21.4)))
        cells.append((horizon, int(np.exp(rng.uniform(0, np.log(min(horizon, 10**5)))))))
    for horizon, num_batches in cells:
        times = grid_times(kind, horizon, num_batches)
        assert times.shape == (num_batches,)
        assert (np.diff(times) >= 0).all()
        assert times[0] >= 1
        assert times[-1] == horizon
        assert num_batches == 1 or times[-2] < horizon
        batches = np.concatenate([np.arange(1, 60), rng.integers(1, num_batches + 1, 140)])
        batches = np.minimum(batches, num_batches)
        assert (_traced(kind, horizon, num_batches, batches) == times[batches - 1]).all()


def test_times_do_not_depend_on_the_global_precision():
    for kind in KINDS:
        plain = _traced(kind, 10**9, 7, range(1, 8))
        with jax.enable_x64(True):
            wide = _traced(kind, 10**9, 7, range(1, 8))
        assert plain.dtype == wide.dtype == np.int32
        assert (plain == wide).all()


def test_products_do_not_overflow_at_the_largest_horizon():
    batches = [1, 2**30, LARGEST - 1, LARGEST]
    assert _traced("arithmetic", LARGEST, LARGEST, batches).tolist() == batches


@pytest.mark.parametrize(("horizon", "num_batches"), [(500, 1), (500, 7), (500, 60), (500, 500)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_next_batch_is_the_first_that_ends_later(kind, horizon, num_batches):
    times = grid_times(kind, horizon, num_batches)
    rng = np.random.default_rng(3)
    batches = rng.integers(1, num_batches + 1, 400)
    done = np.minimum(times[batches - 1] + rng.integers(0, 40, 400), horizon)
    policy = _policy(kind, np.int32(horizon), np.int32(num_batches))
    found = _next_batches(policy, batches.astype(np.int32), done.astype(np.int32))
    for m, t, nearest in zip(batches, done, np.asarray(found), strict=True):
        later = [n for n in range(m + 1, num_batches + 1) if times[n - 1] > t]
        assert nearest == (later[0] if later else num_batches)


def test_the_next_of_two_thousand_million_batches_is_found_at_once():
    policy = _policy("minimax", np.int32(LARGEST), np.int32(LARGEST))
    done = np.array([10**5, 10**9, LARGEST - 1, LARGEST], np.int32)
    found = np.asarray(_next_batches(policy, np.ones(4, np.int32), done))
    assert found[2:].tolist() == [LARGEST, LARGEST]
    assert (_traced("minimax", LARGEST, LARGEST, found[:2]) > done[:2]).all()
    assert (_traced("minimax", LARGEST, LARGEST, found[:2] - 1) <= done[:2]).all()


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, jnp.array, lambda times: np.array(times, float)]
)
def test_a_given_grid_is_taken_as_it_is(kind):
    policy = _policy(kind([10, 400, 1000]), num_batches=3)
    policy.validate()
    assert policy.grid.rule is None
    assert _ends_of(policy, np.array([1, 2, 3], np.int32)).tolist() == [10, 400, 1000]
    found = _next_batches(policy, np.array([1, 1, 2], np.int32), np.array([10, 400, 999], np.int32))
    assert found.tolist() == [2, 3, 3]


def test_grids_pass_through_transformations():
    named, given = _policy("geometric", 1000, 4), _policy([10, 400, 1000])
    for policy in (named, given):
        leaves, tree = jax.tree.flatten(policy)
        assert repr(jax.tree.unflatten(tree, leaves)) == repr(policy)
        assert jax.tree.map(lambda _: None, policy).grid.times is None
    grid = BatchGrid(np.int32(0))
    assert _policy(grid).grid is grid
    stacked = jax.tree.map(lambda *x: jnp.stack(x), given, _policy([20, 300, 1000]))
    stacked.validate()
    ends = jax.vmap(lambda policy: end_of(policy, jnp.int32(1)))(stacked)
    assert ends.tolist() == [10, 20]


def test_rules_are_stacked():
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *(_policy(kind, 1000, 4) for kind in KINDS))
    stacked.validate()
    assert "'minimax', 'geometric', 'arithmetic'" in repr(stacked)
    ends = jax.vmap(lambda policy: end_of(policy, jnp.int32(2)))(stacked)
    assert ends.tolist() == [grid_times(kind, 1000, 4)[1] for kind in KINDS]


@pytest.mark.parametrize("cls", [BaSE, ETC])
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"horizon": 0}, "the horizon must be a whole number from 1 to"),
        ({"horizon": 2**31}, "the horizon must be a whole number from 1 to"),
        ({"horizon": 1, "num_batches": 1}, "the horizon 1 is too short for one pull of each of 2"),
        ({}, "with the grid .minimax. needs num_batches"),
        ({"num_batches": 0}, "num_batches must be a whole number of at least 1, not 0"),
        ({"num_batches": 2.5}, "num_batches must be a whole number of at least 1, not 2.5"),
        ({"num_batches": 1001}, "num_batches must be at most the horizon 1000, not 1001"),
        ({"kind": "geometrc", "num_batches": 3}, "unknown grid .*did you mean 'geometric'"),
        ({"kind": "given", "num_batches": 3}, "unknown grid 'given'"),
        ({"kind": 7, "num_batches": 3}, "grid must be 'minimax', .* or a list of times, not 7"),
        ({"kind": [10, 400, 400, 1000]}, "must increase strictly, and 400 follows 400"),
        ({"kind": [10, 400, 300, 1000]}, "must increase strictly, and 300 follows 400"),
        ({"kind": [10, 400, 900]}, "must end at the horizon 1000, not at 900"),
        ({"kind": [10, 400, 1001]}, "must end at the horizon 1000, not at 1001"),
        ({"kind": [1, 400, 1000]}, "the first time of a grid, 1, is too short for one pull"),
        ({"kind": [10, 400, 1000], "num_batches": 2}, "has 3 times, which num_batches = 2"),
        ({"kind": []}, "must be a list of whole numbers"),
        ({"kind": [[10, 1000]]}, "must be a list of whole numbers"),
        ({"kind": [[10], [20, 1000]]}, "must be a list of whole numbers"),
        ({"kind": [10.5, 1000]}, "must be a list of whole numbers"),
        ({"kind": [10, float("nan")]}, "must be a list of whole numbers"),
        ({"kind": [10, float("inf")]}, "must be a list of whole numbers"),
        ({"kind": ["10", "1000"]}, "must be a list of whole numbers"),
    ],
)
def test_bad_grids_are_refused(cls, fields, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        _policy(cls=cls, **fields).validate()


def test_bad_arguments_of_the_host_function_are_refused():
    for arguments, sentence in (
        (("linear", 10, 2), "unknown grid 'linear'"),
        (("minimax", 0, 1), "the horizon must be"),
        (("minimax", 10, 0), "at least 1, not 0"),
        (("minimax", 10, 11), "at most the horizon 10, not 11"),
    ):
        with pytest.raises(jd.InputError, match=sentence):
            grid_times(*arguments)


# ---- batches that they make ---------------------------------------------------------------------


@pytest.mark.parametrize("cls", [BaSE, ETC])
def test_every_arm_is_pulled_in_the_first_batch_and_times_that_passed_are_skipped(cls):
    # geometric, T = 1000, M = 7: 2, 7, 19, 51, 138, 372, 1000
    counts = counts_of(make(cls, 10, 1000, num_batches=7, grid="geometric"))
    assert [sum(row) for row in counts] == [10, 10, 30, 80, 240, 630]
    assert counts[0] == [1] * 10


READINGS = [
    (cls, commit, kind)
    for cls, commit in ((BaSE, False), (BaSE, True), (ETC, None))
    for kind in KINDS
]


@pytest.mark.parametrize(("cls", "commit", "kind"), some(READINGS, READINGS[::4]))
def test_counts_add_up_to_the_horizon_in_at_most_m_batches(cls, commit, kind):
    rng = np.random.default_rng(4)
    cells = [(k, t, m) for k in (2, 5) for t, m in ((k, 1), (k, k), (12, 12), (LARGEST, 12))]
    while len(cells) < 200:
        num_arms = int(rng.choice([2, 3, 5]))
        horizon = int(np.exp(rng.uniform(np.log(num_arms), np.log(LARGEST))))
        cells.append((num_arms, horizon, int(rng.integers(1, min(horizon, 12) + 1))))
    switches = {} if commit is None else {"commit": commit, "gamma": np.float32(0.2)}
    policies = [
        make(cls, k, t, padding=7 - k, num_batches=np.int32(m), grid=kind, **switches)
        for k, t, m in cells
    ]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *policies)
    stacked.validate()
    means = rng.choice([0.0, 0.05, 0.5], (200, 7)).astype(np.float32)
    run = jax.vmap(partial(rounds_of, noise=np.float32(1), rounds=13))
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
