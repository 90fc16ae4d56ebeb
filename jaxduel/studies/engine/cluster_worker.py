"""Worker side of a study on a cluster: carries out a task, from the claim to the stored block."""

from __future__ import annotations

import queue
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Any

import jax

from jaxduel.errors import InputError
from jaxduel.simulation.compilation_cache import use_compilation_cache
from jaxduel.simulation.devices import Device, block_memory, cores
from jaxduel.studies.engine.compatibility import ROUNDING
from jaxduel.studies.engine.groups import Task
from jaxduel.studies.engine.identity import blocks_code, environment
from jaxduel.studies.engine.manifest import Manifest
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores
from jaxduel.studies.engine.work import carry_out

SECONDS_TO_APPEAR = 10.0
"""Seconds that a worker waits for the client's files to appear in a folder: common file systems
cache the contents of folders."""

_lock = threading.Lock()


def digest_of(manifest: Manifest) -> str:
    """A hash of a manifest's file, which identifies the study."""
    return sha256(manifest.encode()).hexdigest()


@lru_cache(maxsize=1)
def greet() -> dict[str, Any]:
    """Environment fields of a worker that affect rounding, and the platform and memory that a study
    is planned for. From here on the worker keeps compiled programs on disk, like the command line.
    """
    use_compilation_cache()
    devices = jax.local_devices()
    here = environment(devices[0].device_kind, prng="")
    planned_for = {"platform": devices[0].platform, "memory": block_memory(devices)}
    return {**{name: here[name] for name in ROUNDING}, **planned_for}


def perform(places: Sequence[tuple[str, str]], task: Task) -> dict[str, Any] | Exception | None:
    """Claims a task, simulates it and stores its block.

    On a CPU all tasks of a process run on the first device; on accelerators one on each.

    Args:
      places: for each store of the block its folder, an absolute path, and `digest_of` its
        manifest, to check that the worker sees this folder.
      task: the task.

    Returns:
      The environment of the run (`greet`), or None if another process has claimed or finished the
      task. An InputError or MemoryError, which would recur, is returned; dask runs a task again
      after errors that are raised.

    Raises:
      StorageError: if the block cannot be stored.
    """
    with _lock:
        free = _devices()
    device = free.get()
    try:
        with _lock:
            here, store = greet(), Stores((_store(*place), [task]) for place in places)
        claim = store.claim(task.key)
        if claim is None:
            return None
        with claim, jax.default_device(device):
            store.add(carry_out(task, device))
        return here
    except (InputError, MemoryError) as error:
        return error
    finally:
        free.put(device)


def dask_setup(worker: Any) -> None:
    """Prepares a process that `local:N` starts. It ignores a terminal's Ctrl-C, since the client
    ends its workers, and it uses no accelerators."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    jax.config.update("jax_platforms", "cpu")


@lru_cache(maxsize=1)
def _devices() -> queue.SimpleQueue[Device]:
    """Devices that no task uses: the first CPU, once for each core, or the accelerators."""
    devices = jax.local_devices()
    if devices[0].platform == "cpu":
        devices = devices[:1] * cores()
    free: queue.SimpleQueue[Device] = queue.SimpleQueue()
    for device in devices:
        free.put(device)
    return free


@lru_cache(maxsize=16)
def _store(folder: str, manifest: str) -> Store:
    """The store with that manifest; a process opens it once.

    Raises:
      InputError: if this machine does not see the store, or has other simulating code.
    """
    host, end = socket.gethostname(), time.monotonic() + SECONDS_TO_APPEAR
    while time.monotonic() < end:
        with suppress(InputError):
            store = Store.open(folder, goes_on=True)
            if digest_of(store.manifest) == manifest:
                break
        time.sleep(0.2)
    else:
        raise InputError(
            f"the worker on {host} does not see the study in '{folder}': give a folder that all "
            "workers share with this process, under the same path."
        )
    code = store.manifest.environment.get("code")
    here = blocks_code("identify" in store.manifest.grid)
    if here != code:
        raise InputError(
            f"the worker on {host} has other simulating code (digest {here}) than the process that "
            f"runs the study ({code}): install the same code everywhere."
        )
    return store
