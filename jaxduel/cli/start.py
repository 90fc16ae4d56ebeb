"""The start of JAX in commands that simulate; other commands and all help do without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxduel.simulation.devices import Device


def start_jax() -> list[Device]:
    """Starts JAX with one CPU device per core, and keeps compiled programs on disk, unless the user
    chose otherwise.

    Returns:
      The devices of this process.
    """
    import jax

    from jaxduel.simulation.compilation_cache import use_compilation_cache
    from jaxduel.simulation.devices import use_all_cores

    use_all_cores()
    use_compilation_cache()
    return jax.local_devices()
