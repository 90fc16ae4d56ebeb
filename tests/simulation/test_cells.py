"""Cells: two policies of equal fields are two programs; cells beside each other are as alone."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import run
from jaxduel.simulation.cells import Program
from jaxduel.simulation.checking import Settings
from jaxduel.simulation.run import prepare, run_prepared

pytestmark = pytest.mark.thorough


def test_the_class_of_a_policy_tells_programs_apart():
    settings = {"num_arms": 3, "horizon": 10, "num_batches": 2}
    one, other = (jd.policies.make(name, **settings) for name in ("scomp", "scomp2"))
    switches = {"stacked": False, "shuffle": True, "pairs": False, "outcomes": False}
    switches |= {"delayed": False, "skips": False}
    traced = []

    def run(policy, program):
        traced.append(program.policy_class)
        return policy.horizon

    compiled = jax.jit(run, static_argnames="program")
    for policy in (one, other, one, other):
        compiled(policy, program=Program(type(policy), **switches))
    assert traced == [type(one), type(other)]


@pytest.mark.parametrize("prng", ["threefry2x32", "philox4x32"])
def test_cells_with_roots_of_their_own_are_simulations_of_their_own(prng):
    roots = [jax.random.key(i, impl=prng) for i in (3, 4)]
    policies = [jd.policies.make("rucb", num_arms=6)] * 2
    problems, settings = [jd.problems.load("arxiv")] * 2, Settings(num_seeds=5, lanes=4)
    prepared = prepare(policies, problems, [200, 200], settings, stacked=True, roots=roots)
    blocks = {}
    run_prepared(prepared, prepared.settings, blocks.__setitem__)
    plays = np.concatenate([blocks[first].fetched().tallies.plays for first in (0, 4)], axis=1)
    for root, both in zip(roots, plays, strict=True):
        alone = jd.simulate(policies[0], problems[0], 200, 5, root, lanes=4).plays
        np.testing.assert_array_equal(both[:5, : alone.shape[1]], alone)
    assert (plays[0] != plays[1]).any()


@pytest.mark.parametrize("prng", ["threefry2x32", "philox4x32"])
def test_a_cell_has_the_same_seeds_alone_and_among_others(prng):
    policies = [jd.policies.make("rucb", num_arms=6, alpha=alpha) for alpha in (0.51, 0.6)]
    problem, settings = jd.problems.load("arxiv"), {"num_seeds": 5, "prng": prng}
    both = jd.simulate_many(policies, problem, 200, **settings)
    alone = jd.simulate(policies[1], problem, 200, **settings)
    np.testing.assert_array_equal(both[1].plays, alone.plays)


def test_cells_of_any_kind_are_those_that_run_alone():
    arms = jd.problems.gaussian([0.5, 0.0])
    cells = [
        ("rucb", "arxiv", 200),
        ("rmed1", "arxiv", 200),
        ("ucb1", arms, 300),
        ("rucb", "cyclic", 200),
        ("rucb", "arxiv", 300),
        ("rucb", "arxiv", 200),
    ]
    results = jd.simulate_many(*zip(*cells, strict=True), num_seeds=5, checkpoints=4)
    for result, cell in zip(results, cells, strict=True):
        alone = jd.simulate(*cell, num_seeds=5, checkpoints=4)
        assert result.made_by == alone.made_by
        np.testing.assert_array_equal(result.plays, alone.plays)


def test_programs_share_the_budget():
    row = 8 * (1 + 6) + 8  # of a checkpoint, K = 6, and of the seed
    names, settings = ["rucb", "rmed1"], {"num_seeds": 8, "checkpoints": [50], "lanes": 4}
    with pytest.warns(UserWarning, match="would exceed table_budget"):
        results = jd.simulate_many(names, "arxiv", 50, table_budget=2 * 4 * row, **settings)
    assert [result.num_kept for result in results] == [4, 4]


def test_after_an_interrupt_no_further_program_runs(monkeypatch):
    ran, fewer = [], jd.simulate("rucb", "arxiv", 20, num_seeds=2)

    def interrupted(prepared, collectors):
        ran.append(prepared.checked)
        return [fewer] * len(prepared.checked)

    monkeypatch.setattr(run, "run_collecting", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jd.simulate_many(["rucb", "rmed1"], "arxiv", 20, num_seeds=4)
    assert len(ran) == 1
