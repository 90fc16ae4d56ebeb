"""Cores and devices: the warning about idle cores, and operations that stay on one."""

import warnings

import jax
import jax.numpy as jnp
import pytest

import jaxduel as jd
from jaxduel.simulation import devices
from jaxduel.simulation.compiling import compiled_once

ARGUMENTS = {"horizon": 20, "num_seeds": 5, "lanes": 2, "checkpoints": [20]}


@pytest.fixture
def one_device(monkeypatch):
    """A process with four cores in which nobody chose the number of devices."""
    monkeypatch.setattr(devices, "_has_warned", False)
    monkeypatch.setattr(devices, "_is_chosen", lambda: False)
    monkeypatch.setattr(devices, "cores", lambda: 4)
    there = jax.local_devices()
    monkeypatch.setattr(jax, "local_devices", lambda **_: there[:1])
    return there[0]


def simulated(**others):
    policy, arxiv = jd.policies.make("rucb", num_arms=6), jd.problems.load("arxiv")
    return jd.simulate(policy, arxiv, **{**ARGUMENTS, **others})


def test_idle_cores_are_warned_of_once(one_device):
    with pytest.warns(UserWarning, match=r"3 blocks .* 1 of 4 cores: call jaxduel.use_all_cores"):
        simulated()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulated()


@pytest.mark.parametrize("why", ["one block", "given devices", "one core", "chosen"])
def test_nobody_is_warned_where_no_core_is_idle_by_accident(one_device, monkeypatch, why):
    others = {"one block": {"num_seeds": 2}, "given devices": {"devices": [one_device]}}
    if why == "one core":
        monkeypatch.setattr(devices, "cores", lambda: 1)
    if why == "chosen":
        monkeypatch.setattr(devices, "_is_chosen", lambda: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulated(**others.get(why, {}))


def test_the_number_of_devices_is_chosen_by_jax_and_by_the_environment(monkeypatch):
    assert devices._is_chosen()  # tests have two
    monkeypatch.setattr(jax.config, "update", lambda *_: pytest.fail("changed"))
    devices.use_all_cores()


def test_no_operation_is_split_among_cores_that_have_devices():
    """Tests have two CPU devices. Alone, XLA splits this where there is more than one core."""
    wide = compiled_once(lambda x: 2 * jnp.sin(x), lasting=True).on("cpu")
    texts = [f.lower(jnp.zeros(10**6)).compile().as_text() for f in (wide, jax.jit(jnp.sin))]
    assert ["outer_dimension_partitions" in text for text in texts] == [False, devices.cores() > 1]
