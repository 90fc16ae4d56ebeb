"""The kind of device that a function is traced for: what is fast differs between kinds.

Loops of few turns and arrays that stay in a cache are cheap on a CPU. On an accelerator each kernel
has a price, and all lanes at once cost little more than a few. Where the two want different code
for the same numbers, the code asks `for_accelerator` while it is traced.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import jax

from jaxduel.errors import InputError

TARGET_VARIABLE, LOOPS_VARIABLE = "JAXDUEL_TARGET", "JAXDUEL_GPU_LOOPS"
"""Environment variables: a platform that all functions are traced for, wherever they run, so that a
CPU can test what a GPU would do; and the way of loops on a GPU (`gpu_loops`)."""
_LOOPS = ("graph", "static", "dynamic")
_FIRST_WITH_LOOPS = 12_030
"""CUDA driver from which a graph can hold loops."""


class _Target(threading.local):
    platform: str | None = None


_target = _Target()


@contextmanager
def tracing_for(platform: str) -> Iterator[None]:
    """Context in which this thread traces functions for a platform: "cpu", "gpu", ...

    JAX keeps what it has traced: a function under `jax.jit` is not traced again for another target.
    """
    before, _target.platform = _target.platform, platform
    try:
        yield
    finally:
        _target.platform = before


def for_accelerator() -> bool:
    """True if functions are traced for an accelerator: by JAXDUEL_TARGET, else by `tracing_for`,
    else by JAX's default."""
    chosen = os.environ.get(TARGET_VARIABLE) or _target.platform or jax.default_backend()
    return chosen != "cpu"


def gpu_loops() -> str:
    """The way in which loops over time run on a GPU; all ways give the same numbers.

    "graph": the whole loop is one CUDA graph, and never asks the host. "static": the host counts
    the steps, in stretches of known length. "dynamic": the host asks the device before every step.
    The environment variable JAXDUEL_GPU_LOOPS chooses; else it is the first that the driver allows.

    Raises:
      InputError: if the variable has another value.
    """
    chosen = os.environ.get(LOOPS_VARIABLE)
    if not chosen:
        return "graph" if _driver() >= _FIRST_WITH_LOOPS else "static"
    if chosen not in _LOOPS:
        raise InputError(f"{LOOPS_VARIABLE} must be graph, static or dynamic, not {chosen!r}.")
    return chosen


@cache
def _driver() -> int:
    """Version of the CUDA driver, 1000 major + 10 minor; 0 if there is none."""
    version = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        return 0
    return version.value
