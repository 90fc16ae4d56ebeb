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
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jax

from jaxduel.errors import InputError, StorageError
from jaxduel.experiments.engine.groups import Task
from jaxduel.experiments.engine.identity import blocks_code
from jaxduel.experiments.engine.manifest import Manifest
from jaxduel.experiments.engine.store import Store
from jaxduel.experiments.engine.work import carry_out
from jaxduel.simulation.compilation_cache import use_compilation_cache
from jaxduel.simulation.devices import Device

SECONDS_TO_APPEAR = 10.0
"""Seconds that a worker waits until a folder shows what the client has written into it: common file
systems cache the contents of folders."""

_lock = threading.Lock()


class Answer(NamedTuple):
    """Outcome of a task on a worker.

    Attributes:
      state: "stored"; "elsewhere" if another process has claimed or finished it; or "failed".
      error: the error of a task that failed.
    """

    state: Literal["stored", "elsewhere", "failed"]
    error: Exception | None = None


def digest_of(manifest: Manifest) -> str:
    """A hash of a manifest's file, which identifies the sweep."""
    return sha256(manifest.encode()).hexdigest()


def greet() -> dict[str, str]:
    """Environment fields of a worker that affect rounding (jax, jaxlib, device), and the platform
    that a sweep is planned for. From here on the worker keeps compiled programs on disk, as the
    command line does."""
    use_compilation_cache()
    device = jax.local_devices()[0]
    return {
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "device": device.device_kind,
        "platform": device.platform,
    }


def perform(folder: str, manifest: str, task: Task) -> Answer:
    """Claims a task, simulates it and stores its block.

    On a CPU a worker runs as many tasks at a time as it has threads, all on the first device; on
    accelerators one on each that the process sees.

    Args:
      folder: folder of the sweep, an absolute path.
      manifest: `digest_of` the sweep's manifest, to check that the worker sees this folder.
      task: the task.

    Returns:
      Its outcome. An InputError, StorageError or MemoryError is part of it, so that the worker does
      not report it too.
    """
    try:
        with _device() as device, jax.default_device(device):
            with _lock:
                store = _store(folder, manifest)
                claim = store.claim(task.key)
            if claim is None:
                return Answer("elsewhere")
            with claim:
                block = carry_out(task, device)
                with _lock:
                    store.add(block)
        return Answer("stored")
    except (InputError, StorageError, MemoryError) as error:
        return Answer("failed", error)


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
    end = time.monotonic() + SECONDS_TO_APPEAR
    while True:
        store = None
        with suppress(InputError):
            store = Store.open(Path(folder))
        if store and digest_of(store.manifest) == manifest:
            _require_code(store.manifest)
            return store
        if time.monotonic() >= end:
            raise InputError(
                f"the worker on {socket.gethostname()} does not see the sweep in '{folder}': give "
                "a folder that all workers share with this process, under the same path."
            )
        time.sleep(0.2)


def _require_code(manifest: Manifest) -> None:
    code, here = manifest.environment.get("code"), blocks_code()
    if here != code:
        raise InputError(
            f"the worker on {socket.gethostname()} has other simulating code (digest {here}) than "
            f"the process that runs the sweep ({code}): install the same code everywhere."
        )


@contextmanager
def _device() -> Iterator[Device]:
    """A device to run a task on; an accelerator is waited for until no other task has it."""
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
