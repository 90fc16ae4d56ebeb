"""Blocks of rounds: seeds that take each other's slots."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import lanes, rounds

pytestmark = [
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning"),
]

ARXIV = jd.problems.load("arxiv")
FIELDS = "plays", "pairs", "outcomes", "batches", "regret"


def policy_of(name, problem, num_batches=5, **settings):
    return jd.policies.make(
        name, problem=problem, horizon=10**6, num_batches=num_batches, **settings
    )


def in_few_slots(monkeypatch):
    """Has blocks of 64 seeds run in 8 slots; the list of the numbers of seeds in each call."""
    monkeypatch.setattr(lanes, "FEWEST_LANES", 8)
    monkeypatch.setattr(lanes, "MOST_LANES", 8)
    advance, asked = rounds.advance, []

    def counted(cell, setups, block, waiting, number, chunk, **static):
        assert (block.seeds.shape[-1], block.batches.shape[-1]) == (8, 64)
        asked.append(int(number))
        return advance(cell, setups, block, waiting, number, chunk, **static)

    monkeypatch.setattr(rounds, "advance", counted)
    return asked


def assert_same(one, two):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["scomp2", "pcomp", "base"])
def test_seeds_that_share_slots_are_those_with_slots_of_their_own(name, monkeypatch):
    problem = jd.problems.one_better_arm(4) if name == "base" else ARXIV
    policy, devices = policy_of(name, problem), jax.devices()[:1]
    settings = {"record_pairs": name != "base", "record_outcomes": True, "devices": devices}
    alone = jd.simulate(policy, problem, 10**6, 100, lanes=100, **settings)
    asked = in_few_slots(monkeypatch)
    assert_same(jd.simulate(policy, problem, 10**6, 100, **settings), alone)
    assert set(asked) == {64, 36}


@pytest.mark.thorough
def test_cells_of_one_program_share_slots_each_among_its_own_seeds(monkeypatch):
    policies = [policy_of("scomp", ARXIV, number) for number in (2, 9)]
    devices = jax.devices()[:1]
    alone = jd.simulate_many(policies, ARXIV, num_seeds=100, lanes=100, devices=devices)
    asked = in_few_slots(monkeypatch)
    shared = jd.simulate_many(policies, ARXIV, num_seeds=100, devices=devices)
    for one, two in zip(shared, alone, strict=True):
        assert_same(one, two)
    assert set(asked) == {64, 36}


@pytest.mark.parametrize(
    ("num_seeds", "devices", "expected"),
    [(10, 1, 64), (255, 1, 64), (500, 1, 256), (512, 1, 512), (10**6, 1, 512), (1024, 4, 256)],
)
def test_blocks_are_few_lanes_wide_and_as_many_as_devices(num_seeds, devices, expected):
    assert lanes.block_seeds(64, num_seeds, devices) == expected
