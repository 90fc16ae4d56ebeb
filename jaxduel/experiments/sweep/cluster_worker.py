"""Worker side of a sweep on a cluster: carries out a task, from the claim to the stored block."""

from __future__ import annotations

import queue
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jax

from jaxduel.errors import InputError
from jaxduel.experiments.sweep.environment import blocks_code
from jaxduel.experiments.sweep.manifest import Manifest
from jaxduel.experiments.sweep.planning import Task
from jaxduel.experiments.sweep.store import Store
from jaxduel.experiments.sweep.work import carry_out
from jaxduel.simulation.compilation_cache import use_compilation_cache
from jaxduel.simulation.devices import Device
from jaxduel.simulation.identity import versions

SECONDS_TO_APPEAR = 10.0
"""Seconds that a worker waits until a folder shows what the client has written into it: common file
systems cache the contents of folders."""

_lock = threading.Lock()


def digest_of(manifest: Manifest) -> str:
    """A hash of a manifest's file, which identifies the sweep."""
    return sha256(manifest.encode()).hexdigest()


def greet() -> dict[str, str]:
    """Environment fields of a worker that affect rounding (jax, jaxlib, device), and the platform
    that a sweep is planned for. From here on the worker keeps compiled programs on disk, as the
    command line does."""
    use_compilation_cache()
    device = jax.local_devices()[0]
    here = {name: versions()[name] for name in ("jax", "jaxlib")}
    return {**here, "device": device.device_kind, "platform": device.platform}


def perform(folder: str, manifest: str, task: Task) -> bool | InputError | MemoryError:
    """Claims a task, simulates it and stores its block.

    Args:
      folder: folder of the sweep, an absolute path.
      manifest: `digest_of` the sweep's manifest, to check that the worker sees this folder.
      task: the task.

    Returns:
      Whether it did so: False if another process has claimed or finished the task. Errors that the
      task would meet again elsewhere are returned too; dask runs it again after those raised.

    Raises:
      StorageError: if the block cannot be stored.
    """
    try:
        with _device() as device, jax.default_device(device):
            with _lock:
                store = _store(folder, manifest)
                claim = store.claim(task.key)
            if claim is None:
                return False
            with claim:
                of = store.manifest
                block = carry_out(task, of.seeds, of.grid["keep"], device)
                with _lock:
                    store.add(block)
        return True
    except (InputError, MemoryError) as error:
        return error


def dask_setup(worker: Any) -> None:
    """Prepares a process that `local:N` starts: it ignores a terminal's Ctrl-C, which is for the
    client, which ends its workers; and it uses no accelerators."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    jax.config.update("jax_platforms", "cpu")


@lru_cache(maxsize=4)
def _store(folder: str, manifest: str) -> Store:
    """The store with that manifest; a process opens it once.

    Raises:
      InputError: if this machine does not see it, or has other simulating code.
    """
    host, end = socket.gethostname(), time.monotonic() + SECONDS_TO_APPEAR
    while time.monotonic() < end:
        with suppress(InputError):
            store = Store.open(Path(folder))
            if digest_of(store.manifest) == manifest:
                break
        time.sleep(0.2)
    else:
        raise InputError(
            f"the worker on {host} does not see the sweep in '{folder}': give a folder that all "
            "workers share with this process, under the same path."
        )
    code, here = store.manifest.environment.get("code"), blocks_code()
    if here != code:
        raise InputError(
            f"the worker on {host} has other simulating code (digest {here}) than the process that "
            f"runs the sweep ({code}): install the same code everywhere."
        )
    return store


@contextmanager
def _device() -> Iterator[Device]:
    """A device for a task: the first CPU, or an accelerator that no other task of the process has,
    which is waited for."""
    devices = jax.local_devices()
    if devices[0].platform == "cpu":
        yield devices[0]
        return
    with _lock:
        free = _accelerators()
    device = free.get()
    try:
        yield device
    finally:
        free.put(device)


@lru_cache(maxsize=1)
def _accelerators() -> queue.SimpleQueue[Device]:
    free: queue.SimpleQueue[Device] = queue.SimpleQueue()
    for device in jax.local_devices():
        free.put(device)
    return free
