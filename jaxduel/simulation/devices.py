"""One JAX device per CPU core, so that blocks of seeds run on all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import jax

from jaxduel.display import bytes_text
from jaxduel.errors import warn_caller
from jaxduel.simulation.memory_maps import FOR_A_POLICY, most_pieces

Device = Any
"""A `jax.Device`, which type checkers take for a variable."""

MEMORY_BYTES = 4 * 2**30
"""Most bytes for a block on a CPU, and where a device does not tell its memory."""
MEMORY_PART = 6
"""A block takes at most one part in so many of an accelerator's memory: its loops hold up to five
times the bytes that are counted (D-TS+ while it tries whether skipping pays)."""

_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED", "CUDA_ERROR_OUT_OF_MEMORY"
_has_warned = False
_VARIABLE = "JAX_NUM_CPU_DEVICES"
_FLAG = "xla_force_host_platform_device_count"


def placed(values: Any, beside: jax.Array) -> Any:
    """Arrays of JAX or NumPy, committed to the device of `beside`.

    Compiled loops return committed arrays if they are given such. Given committed ones now and
    others then, JAX compiles a loop twice.
    """
    return jax.device_put(values, *beside.devices())


def is_on_cpu(array: jax.Array) -> bool:
    """True for an array in the memory of a CPU."""
    return next(iter(array.devices())).platform == "cpu"


def block_memory(devices: Sequence[Device]) -> int:
    """Bytes that a block of lanes may take on any of some devices, by default."""
    limits = [_memory(device) for device in devices]
    return min(MEMORY_BYTES if limit is None else limit // MEMORY_PART for limit in limits)


def memory_text(device: Device) -> str:
    """A device and its memory, for messages."""
    limit = _memory(device)
    return str(device.device_kind) + ("" if limit is None else f" ({bytes_text(limit)})")


def _memory(device: Device) -> int | None:
    """Bytes that JAX may use of an accelerator's memory; None where they are not known."""
    found = None if device.platform == "cpu" else device.memory_stats()
    return (found or {}).get("bytes_limit")


def require_memory(bytes_needed: int, device: Device) -> None:
    """Raises JAX's error of a device whose memory has ended if so many bytes are not free now.

    Where a program begins without them, XLA waits ten seconds for memory, fails, and keeps what it
    had allocated (jaxlib 0.11), so that a smaller program fails as well.
    """
    free = free_memory(device)
    if free is not None and bytes_needed > free:
        raise jax.errors.JaxRuntimeError(
            f"{_OUT_OF_MEMORY[0]}: {bytes_needed:,} bytes needed, {free:,} free."
        )


def free_memory(device: Device) -> int | None:
    """Bytes of an accelerator's memory that JAX may use and does not; None where not known."""
    limit = _memory(device)
    return None if limit is None else limit - device.memory_stats()["bytes_in_use"]


def is_out_of_memory(error: BaseException) -> bool:
    """True for JAX's error where the memory of a device ends."""
    is_jax = isinstance(error, jax.errors.JaxRuntimeError)
    return is_jax and any(text in str(error) for text in _OUT_OF_MEMORY)


def use_all_cores() -> None:
    """Tells JAX to make one CPU device per core that this process may use.

    JAX shows the CPU as one device, and a block of seeds keeps about one core busy; with one device
    per core, `simulate` runs as many blocks at a time. Results do not depend on it. Call it before
    anything else uses JAX. It does nothing where the number of devices is the user's choice
    already (`jax_num_cpu_devices`, or the environment variables JAX_NUM_CPU_DEVICES or XLA_FLAGS),
    or where JAX has started.

    The command line calls it. `simulate` does not, it only warns once where cores are idle: the
    number of devices is a property of the whole process, on which other code in it relies
    (`jax.devices()`, shardings, `pmap`); each device takes memory for a block; and the effect would
    depend on whether JAX has started.

    Every device has compiled programs of its own, and Linux limits how many pieces of memory they
    may have in all: with its usual 65,530 there are at most 15 devices; `sysctl
    vm.max_map_count=262144` allows 64.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> jd.use_all_cores()  # in the first lines of a program
      >>> print("CPU devices:", jax.local_device_count("cpu"))
      CPU devices: ...
    """
    if _is_chosen():
        return
    try:
        jax.config.update("jax_num_cpu_devices", _most_devices())
    except RuntimeError:  # JAX has started
        return


def warn_if_idle(devices: Sequence[Device] | None, num_blocks: int) -> None:
    """Warns, once in a process, where blocks wait for the only CPU device beside idle cores.

    Args:
      devices: those that the user chose, if any: then nothing is idle by accident.
      num_blocks: number of blocks.
    """
    global _has_warned
    if _has_warned or devices is not None or num_blocks < 2 or _is_chosen():
        return
    local = jax.local_devices()
    if len(local) == 1 and local[0].platform == "cpu" and cores() > 1:
        _has_warned = True
        warn_caller(
            f"{num_blocks} blocks of seeds run on 1 of {cores()} cores: call "
            "jaxduel.use_all_cores() before anything else uses JAX to run on all."
        )


def _is_chosen() -> bool:
    """True if the number of CPU devices is the user's choice."""
    number = jax.config.jax_num_cpu_devices  # type: ignore[attr-defined]
    flags = os.environ.get("XLA_FLAGS", "")
    return number > 0 or bool(os.environ.get(_VARIABLE)) or _FLAG in flags


def _most_devices() -> int:
    """As many CPU devices as cores, but no more than there is room for programs."""
    most = most_pieces()
    return cores() if most is None else max(1, min(cores(), most // FOR_A_POLICY))


def cores() -> int:
    """The number of cores that this process may use: a cluster gives a job some of a machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
