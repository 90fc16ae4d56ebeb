"""Names of compiled programs: digests of all that they depend on, found without tracing.

Tracing a policy takes about as long as a short study. So a program's name is made of the package's
code, of versions, of JAX's configuration and the machine, and of the arguments' shapes and classes.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax

import jaxduel
from jaxduel.numerics.target import LOOPS_VARIABLE, TARGET_VARIABLE, gpu_loops
from jaxduel.simulation.devices import Device, cores
from jaxduel.simulation.identity import versions

_PACKAGE = Path(__file__).parents[1]
_NOT_COMPILED_IN = ("cache", "device", "log", "platform", "traceback", "dump")
"""Words in names of options of JAX that change no program."""


class Foreign(Exception):
    """A program depends on code that is not the package's."""


def name_of(parts: tuple[Any, ...], device: Device) -> str:
    """The name of a program of the package.

    Args:
      parts: its components: numbers, texts, classes of the package, structures of arguments,
        and tuples and mappings of these.
      device: one of the platform that it is compiled for.

    Raises:
      Foreign: if it depends on anything else.
    """
    return _digest(surroundings(device), _code(), *map(_text, parts))


def name_of_text(text: str, device: Device) -> str:
    """The name of a program by its text, as it is given to the compiler."""
    return _digest(surroundings(device), text)


def surroundings(device: Device) -> str:
    """All that a program depends on besides its text: versions, configuration, machine."""
    options = {
        name: value
        for name, value in sorted(jax.config.values.items())  # type: ignore[attr-defined]
        if not any(word in name for word in _NOT_COMPILED_IN)
    }
    variables = "XLA_FLAGS", "LIBTPU_INIT_ARGS", TARGET_VARIABLE, LOOPS_VARIABLE
    flags = tuple(os.environ.get(variable, "") for variable in variables)
    where = device.platform, device.device_kind, device.client.platform_version
    loops = gpu_loops() if device.platform == "gpu" else ""  # the driver may choose
    return repr((versions(), options, flags, loops, where, _processor(), cores()))


@cache
def _code() -> str:
    """Digest of the package's code.

    Raises:
      Foreign: if a file was changed after it may have been imported.
    """
    content = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        if file.stat().st_mtime > jaxduel.IMPORTED_AT:
            raise Foreign
        content.update(f"{file.relative_to(_PACKAGE).as_posix()}\n".encode())
        content.update(file.read_bytes())
    return content.hexdigest()


def _text(part: Any) -> str:
    if part is None or isinstance(part, bool | int | float | str):
        return repr(part)
    if isinstance(part, type):
        if part.__module__.partition(".")[0] not in ("jaxduel", "builtins"):
            raise Foreign
        return f"{part.__module__}.{part.__qualname__}"
    if isinstance(part, jax.tree_util.PyTreeDef):
        node = part.node_data()
        below = ",".join(map(_text, part.children()))
        return f"<{'*' if node is None else _text(node)}:{below}>"
    if isinstance(part, tuple | list):
        return f"{_text(type(part))}({','.join(map(_text, part))})"
    if isinstance(part, Mapping):
        return f"{{{','.join(f'{_text(key)}:{_text(part[key])}' for key in sorted(part))}}}"
    raise Foreign


def _digest(*texts: str) -> str:
    content = hashlib.sha256()
    for text in texts:
        content.update(f"{len(text)}\n{text}\n".encode())
    return content.hexdigest()


@cache
def _processor() -> str:
    """The processor's model and the instructions that it knows."""
    words = ("model name", "flags", "Features", "CPU part")
    try:
        with open("/proc/cpuinfo") as file:
            first = file.read(65_536).partition("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    known = [line for line in first.splitlines() if line.startswith(words)]
    return "\n".join([platform.machine(), *known])
