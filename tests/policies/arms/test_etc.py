"""Explore, then commit: the oracle by hand, when it commits; oracle replay."""

import numpy as np
import pytest

from jaxduel.policies.arms.etc import ETC
from jaxduel.policies.arms.grids import KINDS
from tests.oracles.arms.etc import ETC as Oracle
from tests.policies.arms.cases import counts_of, make
from tests.policies.arms.oracle_runs import answer, the_plan
from tests.policies.arms.replays import (
    PADDED,
    ROUNDS,
    WHOLE,
    own_grids,
    pair,
    random_case,
    replay,
    sizes,
)

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_etc_commits_once_the_sums_are_far_apart():
    # t = 20: sqrt(4 log(2000 / 20 ) / 20) = .9597, against half the difference of the averages
    for gap, plan in [(1.94, (0, 980)), (1.90, (40, 40))]:
        oracle = Oracle(2, 1000, grid=[20, 100, 1000])
        assert the_plan(oracle) == (10, 10)
        answer(oracle, 0.0, gap)
        assert the_plan(oracle) == plan


def test_etc_commits_in_the_last_batch_in_any_case_but_with_two_batches():
    oracle = Oracle(2, 1000, grid=[20, 100, 1000])
    answer(oracle, 0.0, 0.1)
    answer(oracle, 0.0, 0.1)
    assert the_plan(oracle) == (0, 900)
    oracle = Oracle(2, 1000, grid=[20, 1000])
    answer(oracle, 0.0, 0.1)
    assert the_plan(oracle) == (490, 490)


def test_etc_of_one_batch_explores():
    assert the_plan(Oracle(2, 7, 1)) == (4, 3)


def test_etc_of_more_arms_compares_the_two_best():
    oracle = Oracle(3, 3000, grid=[60, 300, 3000])  # sqrt(4 log(100) / 60) = .554
    answer(oracle, 0.0, 5.0, 4.0)
    assert the_plan(oracle) == (80, 80, 80)
    oracle = Oracle(3, 3000, grid=[60, 300, 3000])
    answer(oracle, 0.0, 5.0, 3.8)
    assert the_plan(oracle) == (0, 2940, 0)


# ---- the policy ---------------------------------------------------------------------------------


def _etc(num_arms=2, **fields):
    return make(ETC, num_arms, **fields)


def test_a_clear_lead_wins_all_that_is_left():
    # after t = 100: sqrt(4 log(20) / 100) = 0.346 for half the lead
    for lead, wins in ((0.70, True), (0.68, False)):
        counts = counts_of(_etc(horizon=1000, grid=[100, 200, 300, 1000]), [0.0, lead])
        assert counts[0] == [50, 50]
        assert counts[1] == ([0, 900] if wins else [50, 50])
        assert sum(map(sum, counts)) == 1000


def test_the_last_of_three_or_more_batches_is_forced_but_not_of_two():
    for means, winner in (([0.0, 0.1], 1), ([0.1, 0.1], 0)):
        counts = counts_of(_etc(horizon=1000, num_batches=3), means)
        assert counts[:2] == [[25, 25], [161, 161]]  # t = 51, 372
        assert np.flatnonzero(counts[2]).tolist() == [winner]
        counts = counts_of(_etc(horizon=1003, num_batches=2), means)
        assert counts == [[50, 50], [452, 451]]
    assert counts_of(_etc(horizon=101, num_batches=1), [0.0, 9.0]) == [[51, 50]]
    assert counts_of(_etc(horizon=1003, num_batches=2), [0.0, 9.0]) == [[50, 50], [0, 903]]


def test_among_more_arms_the_best_leads_the_second():
    for means, winner in (([0.0, 1.0, 0.2, -9.0], 1), ([0.0, 1.0, 0.4, -9.0], None)):
        counts = counts_of(_etc(4, horizon=1000, grid=[100, 200, 1000]), means)
        assert counts[1] == ([0, 900, 0, 0] if winner == 1 else [25] * 4)
        assert np.flatnonzero(counts[-1]).tolist() == [1]


# ---- oracle replay ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "num_arms", "grain"),
    [*((kind, PADDED, 0.0) for kind in KINDS), ("geometric", 2, 0.0), ("geometric", 2, 1.0)],
)
def test_etc_follows_the_paper(kind, num_arms, grain):
    num, rng = 500, np.random.default_rng(8)
    active, cases = sizes(num, num_arms, 8), []
    for k in active.tolist():
        T, M = random_case(k, rng)
        if grain:
            T, M = min(T, 3000), min(M, 3000)
        exact = WHOLE if grain else None
        cases.append(pair(ETC, Oracle, k, num_arms, T, exact, num_batches=M, grid=kind))
    oracles = replay(cases, active, num_arms, ROUNDS, seed=8, grain=grain)
    early = [oracle.rounds < oracle.M for oracle in oracles if oracle.M >= 3]
    assert 0.1 < np.mean(early) < 0.9


@pytest.mark.thorough
def test_etc_on_grids_of_ones_own_follows_the_paper():
    active = sizes(300, PADDED, 9)
    grids = own_grids(300, 4, active, 1e5, 9)
    cases = [
        pair(ETC, Oracle, k, PADDED, times[-1], grid=np.array(times))
        for k, times in zip(active.tolist(), grids, strict=True)
    ]
    replay(cases, active, PADDED, 5, seed=9)
