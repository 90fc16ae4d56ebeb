"""Identity of results: the code, versions and device that determine a store's numbers."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jax

import jaxduel
from jaxduel.simulation.identity import code_digest, versions
from jaxduel.studies.engine import work
from jaxduel.studies.engine.compatibility import ROUNDING
from jaxduel.studies.engine.manifest import digest_of_json
from jaxduel.votes import collecting, found, identifying, recommending, rewards, stopping

_NAMING = (collecting, found, identifying, recommending, rewards, stopping)
"""The modules that name arms."""


def identity(environment: Mapping[str, Any]) -> str:
    """Digest of the environment fields that, with a group's key, determine the bits of the group's
    blocks: 16 hexadecimal digits."""
    fields = [environment[name] for name in ("code", *ROUNDING)]
    return digest_of_json([jaxduel.__version__, *fields])


def environment(device_kind: str, prng: str, *, identifies: bool = False) -> dict[str, Any]:
    """The environment of a study, as its manifest records it.

    Args:
      device_kind: the kind of device that simulates (`jax.Device.device_kind`).
      prng: name of the random number generator.
      identifies: as for `blocks_code`.

    Returns:
      jax, jaxlib, numpy, scipy, python: versions; code: `blocks_code`; platform: operating system
      and processor; processor: its architecture; device; prng; x64: 1 where JAX computes in 64
      bits, else 0; git_revision: the commit of the package's source, with "-dirty" if it was
      changed since, or None outside a git checkout; created: the host's time, in UTC, ISO 8601.
    """
    return {
        **{name: found for name, found in versions().items() if name != "jaxduel"},
        "code": blocks_code(identifies),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "x64": int(jax.config.jax_enable_x64),  # type: ignore[attr-defined]
        "device": device_kind,
        "prng": prng,
        "git_revision": git_revision(Path(jaxduel.__file__).parent),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def blocks_code(identifies: bool = False) -> str:
    """Digest of the code that determines the numbers of blocks, including the code that names arms
    if `identifies`: 16 hexadecimal digits."""
    modules = (work, *_NAMING) if identifies else (work,)
    return code_digest(*(str(module.__file__) for module in modules))


def git_revision(folder: Path) -> str | None:
    """The commit of a package's folder, with "-dirty" where tracked files were changed.

    None if git does not track the folder's `__init__.py` (an installed package may lie in another
    project's checkout), or is not installed.
    """
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
