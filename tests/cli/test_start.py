"""JAX as commands start it."""

import os
import subprocess
import sys

import pytest


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
     ({"JAX_NUM_CPU_DEVICES": "3"}, 3),
     ({"XLA_FLAGS": "--xla_force_host_platform_device_count=3"}, 3)],
)  # fmt: skip
def test_all_cores_unless_the_user_chose(environment, expected):
    code = (
        "import jax; from jaxduel.simulation.devices import use_all_cores; use_all_cores();"
        "print(len(jax.local_devices(backend='cpu'))); use_all_cores()"
    )
    kept = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "JAX_NUM_CPU_DEVICES")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert int(done.stdout) == expected
