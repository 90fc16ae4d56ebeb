"""The code for a GPU, run on the CPU: the same numbers as by the code for a CPU."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.numerics import target
from jaxduel.simulation.events import ACCELERATOR_SLOTS, MOST_SLOTS, slots_for
from jaxduel.simulation.memory_maps import forget_programs
from tests.choice import some


@pytest.fixture
def for_gpu(monkeypatch):
    """Functions are traced for a GPU; a call returns to the CPU's."""
    forget_programs()
    monkeypatch.setenv(target.TARGET_VARIABLE, "gpu")

    def end():
        monkeypatch.delenv(target.TARGET_VARIABLE)
        forget_programs()

    yield end
    forget_programs()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "skips"),
    [
        ("dts", True),
        pytest.param("ccb", False, marks=pytest.mark.slow),
        pytest.param("ecw-rmed", False, marks=pytest.mark.slow),
        pytest.param("scb", False, marks=pytest.mark.slow),
    ],
)
def test_a_gpu_s_code_gives_the_same_numbers(name, skips, for_gpu):
    problem = jd.problems.copeland_cycle(5, 0.3)
    policy = jd.policies.make(name, num_arms=5, horizon=2_000)
    there = jd.simulate(policy, problem, 2_000, num_seeds=20, skip_quiet=skips)
    for_gpu()
    here = jd.simulate(policy, problem, 2_000, num_seeds=20, skip_quiet=skips)
    np.testing.assert_array_equal(there.plays, here.plays)


@pytest.mark.thorough
@pytest.mark.parametrize("loops", some(["static", "dynamic"], ["static"]))
def test_steps_in_stretches_of_known_length(loops, for_gpu, monkeypatch):
    monkeypatch.setenv(target.LOOPS_VARIABLE, loops)
    problem = jd.problems.load("cyclic")
    policy = jd.policies.make("rucb", num_arms=problem.num_arms)
    settings = {"num_seeds": 5, "checkpoints": [1, 31, 32, 33, 100, 163], "skip_quiet": False}
    there = jd.simulate(policy, problem, 163, **settings)
    for_gpu()
    here = jd.simulate(policy, problem, 163, **settings)
    np.testing.assert_array_equal(there.plays, here.plays)


def test_a_target_is_that_of_the_thread_and_the_variable_has_the_last_word(monkeypatch):
    assert target.for_accelerator() == (jax.default_backend() != "cpu")
    with target.tracing_for("gpu"):
        assert target.for_accelerator()
        with target.tracing_for("cpu"):
            assert not target.for_accelerator()
        monkeypatch.setenv(target.TARGET_VARIABLE, "cpu")
        assert not target.for_accelerator()


def test_loops_are_chosen_by_the_driver_or_the_variable(monkeypatch):
    for version, loops in ((0, "static"), (12_020, "static"), (12_030, "graph")):
        monkeypatch.setattr(target, "_driver", lambda version=version: version)
        assert target.gpu_loops() == loops
    monkeypatch.setenv(target.LOOPS_VARIABLE, "dynamic")
    assert target.gpu_loops() == "dynamic"
    monkeypatch.setenv(target.LOOPS_VARIABLE, "fast")
    with pytest.raises(InputError, match="must be graph, static or dynamic, not 'fast'"):
        target.gpu_loops()


@pytest.mark.parametrize("lanes", [8, MOST_SLOTS, 1_000, ACCELERATOR_SLOTS, 2**20])
def test_slots(lanes):
    assert slots_for(lanes, "cpu") == min(lanes, MOST_SLOTS)
    assert lanes // 8 <= slots_for(lanes, "gpu") <= lanes
    assert slots_for(min(lanes, ACCELERATOR_SLOTS), "gpu") == min(lanes, ACCELERATOR_SLOTS)
