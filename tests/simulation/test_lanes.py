"""The number of lanes: from memory, from what int32 can index, and fewer where memory ends."""

import types

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Batch, Duel
from jaxduel.simulation import (
    blocks,
    compiling,
    devices,
    events,
    lanes,
    rounds,
    run,
    skip_heuristic,
    steps,
)
from jaxduel.simulation.memory_maps import forget_programs
from tests.choice import some

pytestmark = pytest.mark.usefixtures("quick_compilation")

ARXIV = jd.problems.load("arxiv")
GIB = 2**30


def lane_of(name, num_arms, cells=None):
    """The shapes of a lane, and its number of checkpoints."""
    extra = {"num_batches": 4} if name in ("base", "pcomp", "scomp2") else {}
    policy = jd.policies.make(name, num_arms=num_arms, horizon=1000, **extra)
    duels = blocks.plan_kind(policy) in (Batch, Duel)
    key = jax.random.key(0)
    problem = jd.problems.btl(key, num_arms) if duels else jd.problems.one_better_arm(num_arms)
    given = run.Settings(lanes=1)
    checked = [run.CheckedCell(policy, problem, 1000, None, given)] * (cells or 1)
    job = run.job_of(checked, given, stacked=cells is not None)
    shapes = blocks.runner_for(checked[0].kind).shapes(job)
    return shapes, job.cell.checkpoints.shape[-1]


@pytest.mark.parametrize(
    ("num_seeds", "memory", "expected"),
    [
        (1, 16 * GIB, 1024),
        (1025, 16 * GIB, 2048),
        (100_000, 16 * GIB, 131_072),
        (np.inf, 16 * GIB, 2**20),
        (10_000_000, 16 * GIB, 2**20),
        (np.inf, GIB, 131_072),
        (100_000, 2**20, 128),
    ],
)
def test_lanes_of_an_accelerator_are_a_power_of_two_that_fits(num_seeds, memory, expected):
    lane, points = lane_of("rucb", 16)
    assert lanes.default_lanes(lane, points, "gpu", memory, num_seeds) == expected


@pytest.mark.parametrize("name", ["rucb", "dts+", "ucb1", "pcomp", "base", "ecw-rmed"])
@pytest.mark.parametrize(
    "num_arms", [2, *(pytest.param(k, marks=pytest.mark.thorough) for k in (16, 64)), 200]
)
@pytest.mark.parametrize("cells", [None, 100])
def test_int32_indexes_every_array_of_a_block(name, num_arms, cells):
    lane, points = lane_of(name, num_arms, cells)
    width = lanes.default_lanes(lane, points, "gpu", 2**60)
    assert width <= 2**20
    record = [points * leaf.size for leaf in jax.tree.leaves(lane.tallies)]
    kept = [leaf.size for leaf in jax.tree.leaves(lane)]
    pairs = (cells or 1) * num_arms**2
    assert width * max(*record, *kept, 4 * pairs) < 2**31


def test_a_policy_may_have_an_empty_state():
    lane, points = lane_of("rucb", 16)
    stateless = lane._replace(state=())
    assert lanes.default_lanes(stateless, points, "cpu", GIB) == lanes.MOST_LANES
    assert lanes.default_lanes(stateless, points, "gpu", GIB, 1_000) == lanes.NARROW_LANES


@pytest.mark.parametrize(
    ("num_arms", "num_seeds", "expected"),
    [
        (16, 1, 4),
        (16, 10, 12),
        (16, 100, 100),
        (16, 225, 228),  # at most a quarter more than 224: a block
        (16, 280, 280),
        (16, 281, 144),
        (16, 1000, 200),
        (16, np.inf, 224),
        (136, 50, 52),
        (136, 97, 52),
        (136, np.inf, 64),
    ],
)
def test_seeds_are_divided_evenly_among_blocks_on_a_cpu(num_arms, num_seeds, expected):
    lane, points = lane_of("dts", num_arms)
    assert lanes.default_lanes(lane, points, "cpu", GIB, num_seeds) == expected


def test_seeds_of_a_block_fit_the_memory():
    lane, points = lane_of("dts", 16)
    assert lanes.default_lanes(lane, points, "cpu", 2**17, 100) == 18


def test_hundreds_of_thousands_of_lanes_at_16_arms():
    for name in ("rucb", "rmed1", "dts", "ccb", "pcomp"):
        lane, points = lane_of(name, 16)
        assert lanes.default_lanes(lane, points, "gpu", 12 * GIB) >= 2**19


def test_lanes_that_int32_cannot_index_are_refused():
    policy = jd.policies.make("rucb", num_arms=200)
    problem = jd.problems.btl(jax.random.key(0), 200)
    with pytest.raises(jd.InputError, match=r"lanes must be at most 7,669 for this policy"):
        jd.simulate(policy, problem, 10, 10_000, lanes=10_000)
    lane, points = lane_of("rucb", 200, 100)
    wide = jax.tree.map(lambda x: jax.ShapeDtypeStruct((10**6, *x.shape), x.dtype), lane)
    with pytest.raises(jd.InputError, match="all cells together"):
        lanes.default_lanes(wide, points, "gpu", 2**60)


def device(stats, platform="gpu"):
    return types.SimpleNamespace(
        platform=platform, device_kind="NVIDIA X", memory_stats=lambda: stats
    )


def test_a_block_has_a_part_of_the_smallest_memory():
    small, large = device({"bytes_limit": 6 * GIB}), device({"bytes_limit": 60 * GIB})
    assert devices.block_memory([large, small]) == GIB
    unknown = [device(None), device({}), device({"bytes_limit": 60 * GIB}, "cpu")]
    assert [devices.block_memory([each]) for each in unknown] == [4 * GIB] * 3
    assert devices.block_memory([large, unknown[0]]) == 4 * GIB
    assert devices.memory_text(large) == "NVIDIA X (60 GiB)"
    assert devices.memory_text(unknown[0]) == "NVIDIA X"


def test_seeds_are_shared_among_accelerators():
    policy = jd.policies.make("rucb", num_arms=6)
    gpu = device({"bytes_limit": 60 * GIB})
    found = []
    for number in (1, 4):
        settings = run.Settings(num_seeds=10_000, devices=[gpu] * number)
        checked = run.CheckedCell(policy, ARXIV, 100, None, settings)
        found.append(run.job_of([checked], settings, stacked=False))
    assert [job.lanes for job in found] == [16_384, 4096]


class Scarce:
    """A compiled function on a device that holds `most` lanes, from some call on.

    Attributes:
      asked: numbers of lanes of the calls.
      held: for each of them, whether there were arrays of more lanes.
    """

    def __init__(self, function, most, after=0):
        self.function, self.most, self.after = function, most, after
        self.asked, self.held, self.brief = [], [], self
        self.is_at_hand = function.is_at_hand

    def __call__(self, cell, setups, lanes, *others, program):
        number = getattr(lanes, "lanes", lanes).tallies.plays.shape[-2]
        self.asked.append(number)
        sizes = {shape for x in jax.live_arrays() for shape in x.shape}
        self.held.append(bool(sizes & {n for n in self.asked if n > number}))
        if number > self.most and len(self.asked) > self.after:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes")
        return self.function(cell, setups, lanes, *others, program=program)


def simulate(name, **settings):
    extra = {"num_batches": 4} if name == "pcomp" else {}
    policy = jd.policies.make(name, num_arms=6, horizon=3000, **extra)
    given = {"checkpoints": [10, 1500, 3000], "devices": jax.devices()[:1], **settings}
    return jd.simulate(policy, ARXIV, 3000, 1_024, **given)


@pytest.mark.parametrize(
    ("name", "module", "function", "late"),
    some(
        [
            ("rucb", steps, "advance", False),
            ("rucb", steps, "advance", True),
            ("rucb", events, "begin", False),
            ("pcomp", rounds, "advance", False),
            ("pcomp", rounds, "advance", True),
        ],
        (),
        [("rucb", steps, "advance", False), ("pcomp", rounds, "advance", False)],
    ),
)
def test_where_memory_ends_the_run_is_that_of_fewer_lanes(
    name, module, function, late, monkeypatch
):
    """From the first block on, or only in the second, after the first was kept."""
    monkeypatch.setattr(skip_heuristic, "WORTH", 0 if module is events else 2**62)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)  # if it is worth it, it pays
    original, expected, after = getattr(module, function), simulate(name, lanes=128), 0
    if late:
        counted = Scarce(original, 512)
        monkeypatch.setattr(module, function, counted)
        simulate(name)
        after = 3 * len(counted.asked) // 4
    scarce = Scarce(original, 128, after)
    monkeypatch.setattr(module, function, scarce)
    with pytest.warns(UserWarning, match=r"512 seeds did not fit .* of lanes=128\.") as warned:
        found = simulate(name)
    assert len(warned) == 1
    assert scarce.asked.count(512) == after + 1
    assert set(scarce.asked) == {512, 256, 128}
    assert not any(scarce.held)
    assert found.made_by["lanes"] == 128
    np.testing.assert_array_equal(found.plays, expected.plays)
    np.testing.assert_array_equal(found.regret, expected.regret)


@pytest.mark.thorough
def test_no_program_begins_that_needs_more_memory_than_is_free(monkeypatch):
    needed = []
    with monkeypatch.context() as patched:
        patched.setattr(compiling, "require_memory", lambda number, _: needed.append(number))
        forget_programs()
        expected = simulate("rucb", lanes=128)
    monkeypatch.setattr(devices, "free_memory", lambda device: max(needed))
    forget_programs()
    with pytest.warns(UserWarning, match=r"512 seeds did not fit .* of lanes=128\."):
        found = simulate("rucb")
    np.testing.assert_array_equal(found.plays, expected.plays)


def test_free_memory_is_what_is_not_in_use():
    known = device({"bytes_limit": 60 * GIB, "bytes_in_use": 59 * GIB})
    assert devices.free_memory(known) == GIB
    devices.require_memory(GIB, known)
    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED") as caught:
        devices.require_memory(GIB + 1, known)
    assert devices.is_out_of_memory(caught.value)
    devices.require_memory(2**60, device(None))


def test_lanes_that_were_asked_for_are_not_changed(monkeypatch):
    monkeypatch.setattr(steps, "advance", Scarce(steps.advance, 0))
    with pytest.raises(jd.InputError, match=r"lanes=8 does not fit the memory of .*fewer lanes"):
        simulate("rucb", lanes=8)
    with pytest.raises(jd.InputError, match=r"lanes=1 does not fit the memory of"):
        simulate("rucb", memory_budget=2000)


def test_other_errors_of_devices_are_raised(monkeypatch):
    def broken(*args, **static):
        raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    monkeypatch.setattr(rounds, "advance", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="broken"):
        simulate("pcomp")


def test_failures_outside_the_loops_are_raised():
    def fail(outcomes):
        raise RuntimeError("broken")

    policy = jd.policies.make("rucb", num_arms=6)
    settings = run.Settings(num_seeds=8, lanes=4, record_outcomes=True, of_outcomes=fail)
    with pytest.raises(RuntimeError, match="broken"):
        run.run_cell(policy, ARXIV, 20, settings)
