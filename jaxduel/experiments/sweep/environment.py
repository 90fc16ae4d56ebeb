"""Origin of a sweep's numbers: code, versions, device and revision."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import jaxduel
from jaxduel.experiments.sweep import work
from jaxduel.simulation.identity import code_digest, versions


def environment(device_kind: str, prng: str) -> dict[str, str | None]:
    """The environment of a sweep, as its manifest records it.

    Args:
      device_kind: the kind of device that simulates (`jax.Device.device_kind`).
      prng: name of the random number generator.

    Returns:
      jax, jaxlib, numpy, scipy, python: versions; code: `blocks_code`; platform: operating system
      and processor; device; prng; git_revision: that of the package's source, with "-dirty" where
      it was changed since, or None where it is not in a git checkout; created: the host's time, in
      UTC, ISO 8601.
    """
    return {
        **{name: found for name, found in versions().items() if name != "jaxduel"},
        "code": blocks_code(),
        "platform": platform.platform(),
        "device": device_kind,
        "prng": prng,
        "git_revision": git_revision(Path(jaxduel.__file__).parent),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def blocks_code() -> str:
    """Digest of the code that determines the numbers of blocks: 16 hexadecimal digits."""
    return code_digest(work.__file__)


def git_revision(folder: Path) -> str | None:
    """The commit of a package's folder, with "-dirty" where tracked files were changed.

    None if git does not track the folder's `__init__.py` (an installed package may lie in the
    checkout of something else), or is not installed.
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
