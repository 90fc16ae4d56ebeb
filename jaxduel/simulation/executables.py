"""Compiled programs as bytes, and back on any device of the platform that they were compiled for.

`jax.experimental.serialize_executable` does both, but only for the devices that a program was
compiled for. The parts of JAX that this needs instead are private, and are used nowhere else. Where
a version of JAX has changed them, loading raises, and the callers compile.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import jax
import numpy as np
from jax.experimental import serialize_executable

from jaxduel.simulation.devices import Device


def dump(compiled: jax.stages.Compiled) -> bytes:
    """A program that was compiled for one device, as bytes.

    Raises:
      Exception: if JAX cannot serialize it.
    """
    return serialize_executable.serialize(compiled)[0]


def load(content: bytes, in_tree: Any, out_tree: Any, device: Device) -> jax.stages.Compiled:
    """Loads a program onto a device.

    Args:
      content: the bytes from `dump`.
      in_tree: the structure of its arguments, `(args, kwargs)` without static ones.
      out_tree: the structure of its return value.
      device: one of the platform that it was compiled for.

    Raises:
      Exception: if JAX cannot load it.
    """
    unloaded, args_info, no_kwargs = _Unpickler(content, device).load()
    return jax.stages.Compiled(
        unloaded.load(), [], in_tree.unflatten(args_info), out_tree, no_kwargs=no_kwargs
    )


class _Unpickler(pickle.Unpickler):
    """Unpickler that replaces the device that a program was compiled for by another."""

    def __init__(self, content: bytes, device: Device) -> None:
        super().__init__(io.BytesIO(content))
        self._device = device

    def persistent_load(self, pid: Any) -> Any:
        if pid[0] == "device":
            return self._device
        if pid[0] == "client":
            return self._device.client
        from jax._src import compiler
        from jax._src.lib import xla_client  # type: ignore[attr-defined]

        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=1, device_assignment=np.array([[self._device.id]])
        )
        return self._device.client.deserialize_executable(
            pid[1],
            executable_devices=xla_client.DeviceList((self._device,)),
            compile_options=options,
        )
