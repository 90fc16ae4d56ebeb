"""Blocks of sweeps that identify arms."""

from dataclasses import dataclass, replace

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation.identity import problem_digest
from jaxduel.studies.engine import work
from jaxduel.studies.engine.groups import tasks_of
from jaxduel.studies.engine.planning import plan
from jaxduel.studies.engine.work import carry_out
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry
from jaxduel.studies.sweep.sweep import groups_of

pytestmark = pytest.mark.usefixtures("quick_compilation")
RULES = ("copeland", "btl")


def one(**settings):
    grid = Grid(
        **{
            "policies": PolicyEntry(name="rucb", parameters={"alpha": (0.51, 1.0)}),
            "problems": ProblemEntry(name="cyclic"),
            "identify": True,
            "votes": 150,
            "recommend": RULES,
            "checkpoints": (10, 60),
            "lanes": 4,
            "num_seeds": 6,
            **settings,
        }
    )
    return groups_of(grid, "cpu"), grid


def assert_found(groups, grid, make):
    """Blocks hold what `jaxduel.identify` finds, to the bit."""
    device = jax.devices()[0]
    for task in tasks_of(groups):
        block = carry_out(task, device)
        for number, cell in enumerate(task.group.cells):
            problem = cell.recipe.build()
            found = jd.identify(
                make(cell),
                problem,
                **{grid.unit: cell.horizon},
                num_seeds=task.seeds,
                first_seed=task.first_seed,
                checkpoints=cell.checkpoints,
                recommend=grid.recommend,
                target=grid.target,
                stop=grid.stop,
                delta=grid.delta,
                ties=grid.ties,
                seed=grid.seed,
                lanes=4,
            )
            own = {name: array[number] for name, array in block.arrays.items()}
            for row, rule in enumerate(grid.recommend):
                np.testing.assert_array_equal(own["named"][row], found.named[rule])
                np.testing.assert_array_equal(own["tau"][row], found.tau[rule])
            np.testing.assert_array_equal(own["cast"], found.cast)
            num = problem.num_arms
            np.testing.assert_array_equal(own["gaps"][:num], found.truth.gaps)
            np.testing.assert_array_equal(np.flatnonzero(own["best"]), sorted(found.truth.best))
            assert np.isnan(own["gaps"][num:]).all()
            assert ("stopped" in own) == (found.stops is not None)
            if found.stops is not None:
                np.testing.assert_array_equal(own["stopped"], found.stops.at)
                np.testing.assert_array_equal(own["stopped_named"], found.stops.named)
                assert own["stopped"].max() <= cell.horizon


@pytest.mark.thorough
def test_blocks_hold_what_identify_finds():
    groups, grid = one(stop="condorcet", delta=0.4, seed=3)
    assert len(groups) == 1
    assert [task.seeds for task in tasks_of(groups)] == [4, 2]
    assert_found(groups, grid, lambda c: jd.policies.make("rucb", num_arms=4, **dict(c.parameters)))


@pytest.mark.thorough
def test_policies_made_for_a_horizon_are_made_for_the_votes():
    pcomp = PolicyEntry(name="pcomp", parameters={"num_batches": 3})
    groups, grid = one(policies=pcomp, votes=(80, 150), target="borda")
    assert len(groups) == 2
    assert_found(
        groups,
        grid,
        lambda c: jd.policies.make("pcomp", num_arms=4, horizon=c.horizon, num_batches=3),
    )
    block = carry_out(tasks_of(groups)[0], jax.devices()[0])
    assert (block.arrays["batches"] <= 4).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "entry", [PolicyEntry("ucb1"), PolicyEntry("base", parameters={"num_batches": 3})]
)
def test_blocks_of_arms_with_rewards_hold_what_identify_finds(entry):
    problems = ProblemEntry(name="bernoulli[0.1,0.9,0.2]")
    asked = {"recommend": None, "votes": None, "pulls": (60, 150)}
    groups, grid = one(policies=entry, problems=problems, **asked, stop="glr", delta=0.9)
    assert grid.recommend == ("mean", "most-pulled", "posterior")

    def made(cell):
        parameters = dict(cell.parameters)
        return jd.policies.make(entry.name, num_arms=3, horizon=cell.horizon, **parameters)

    assert_found(groups, grid, made)


@pytest.mark.thorough
def test_padded_cells_share_a_program_and_know_their_own_arms():
    problems = ProblemEntry(name="cyclic"), ProblemEntry(name="arxiv[1,2,3]")
    groups, grid = one(policies=PolicyEntry(name="rucb"), problems=problems)
    assert len(groups) == 1

    def padded(cell):
        return jd.policies.make("rucb", num_arms=4, active_arms=np.arange(4) < cell.num_arms)

    assert_found(groups, grid, padded)
    apart, _ = one(policies=PolicyEntry(name="rucb"), problems=problems, stop="condorcet")
    assert len(apart) == 2  # whose thresholds differ


@dataclass(frozen=True)
class Tied:
    """The recipe of a problem with ties."""

    label = "tied"

    def build(self):
        ties = np.array([[0.0, 0.4], [0.4, 0.0]])
        return jd.problems.from_matrix([[0.5, 0.6], [0.4, 0.5]], ties=ties)


@pytest.mark.slow
def test_ties_may_be_dropped():
    (group,), grid = one(policies=PolicyEntry(name="rucb"), ties="drop")
    digest = problem_digest(Tied().build())
    cell = replace(group.cells[0], recipe=Tied(), digest=digest, num_arms=2, padded_arms=2)
    (group,) = plan([cell], 6, lanes=4)
    assert_found([group], grid, lambda _: jd.policies.make("rucb", num_arms=2))
    dropped, coins = (
        carry_out(tasks_of(plan([replace(cell, ties=ties)], 6, lanes=4))[0], jax.devices()[0])
        for ties in ("drop", "coin")
    )
    assert (dropped.arrays["named"] != coins.arrays["named"]).any()


@pytest.mark.thorough
def test_too_little_memory_halves_the_block(monkeypatch):
    groups, _ = one(lanes=4)
    (task, *_), device = tasks_of(groups), jax.devices()[0]
    whole = carry_out(task, device)
    monkeypatch.setitem(work._fewer_lanes, (groups[0].program, device), 2)
    parts = carry_out(task, device)
    assert parts.attributes == {"lanes": 2}
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(parts.arrays[name], array)


def test_keys_tell_questions_apart():
    keys = [
        one(**settings)[0][0].key
        for settings in (
            {}, {"target": "borda"}, {"stop": "condorcet"}, {"recommend": "btl"}, {"ties": "drop"},
            {"stop": "condorcet", "delta": 0.1}, {"votes": 151},
        )
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
