"""One JAX device per CPU core, so that blocks of seeds run on all of them."""

from __future__ import annotations

import os
from typing import Any

import jax

from jaxduel.simulation.memory_maps import FOR_A_POLICY, most_pieces

Device = Any
"""A `jax.Device`, which type checkers take for a variable."""

_VARIABLE = "JAX_NUM_CPU_DEVICES"
_FLAG = "xla_force_host_platform_device_count"


def use_all_cores() -> None:
    """Tells JAX to make one CPU device per core that this process may use.

    JAX shows the CPU as one device, and a block of seeds keeps about one core busy; with one device
    per core, `simulate` runs as many blocks at a time. Results do not depend on it. Call it before
    anything else uses JAX. It does nothing where the number of devices is the user's choice
    already (`jax_num_cpu_devices`, or the environment variables JAX_NUM_CPU_DEVICES or XLA_FLAGS),
    or where JAX has started.

    Every device has compiled programs of its own, and Linux limits how many pieces of memory they
    may have in all: with its usual 65,530 there are at most 15 devices; `sysctl
    vm.max_map_count=262144` allows 64.
    """
    chosen = jax.config.jax_num_cpu_devices  # type: ignore[attr-defined]
    if chosen > 0 or os.environ.get(_VARIABLE) or _FLAG in os.environ.get("XLA_FLAGS", ""):
        return
    try:
        jax.config.update("jax_num_cpu_devices", _cores())
    except RuntimeError:  # JAX has started
        return


def _cores() -> int:
    """Cores that this process may use, but no more than there is room for programs."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    most = most_pieces()
    return cores if most is None else max(1, min(cores, most // FOR_A_POLICY))
