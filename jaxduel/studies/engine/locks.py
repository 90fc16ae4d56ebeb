"""Claims: processes that share a folder never run the same task at once.

A claim, the right to run a task, is held until its `close`, the end of a `with`, or the process's
death. It is an exclusive lock (flock) on a file that is named for the task: the system releases it
when the process dies, of kill -9 too, so no claim outlives its holder. Across machines it is as
good as the locks of their common file system: NFS 4 has them, NFS 3 needs its lock service, and
mounts with `nolock` (or `local_lock=flock`) do not keep machines apart: then two of them may run
the same task, which costs time but no correctness, since a block is written whole and is the same
whoever writes it. A child process that is forked while a claim is held keeps it, should its parent
die, until it ends too.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path


def try_claim(path: Path) -> ExitStack | None:
    """The claim on the file `path` if nobody holds it, else None; never waits."""
    return _acquire(path, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_free(path: Path) -> bool:
    """True if nobody holds the claim on the file `path`, and that can be known. A claim that
    another process tries at this very moment may fail, as if it were held."""
    try:
        # the file may be another user's, and a pipe would wait for somebody to write to it
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def use(path: Path) -> int:
    """A handle of the file `path`, which is in use until that is closed, or the process dies."""
    handle = os.open(path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def is_in_use(path: Path) -> bool:
    """True if any process has the file `path` in use, or that cannot be known."""
    try:
        with path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def wait_for_claim(path: Path) -> ExitStack:
    """The claim on the file `path`, as soon as nobody else holds it."""
    claim = _acquire(path, fcntl.LOCK_EX)
    assert claim is not None
    return claim


def _acquire(path: Path, how: int) -> ExitStack | None:
    """Locks the file; None if `how` does not wait and another process holds the lock.

    A holder unlinks the file on release: a lock on a file that has lost its name is worthless, and
    the file that has the name now is locked instead.
    """
    while True:
        with ExitStack() as claim:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            claim.callback(os.close, handle)
            try:
                fcntl.flock(handle, how)
            except BlockingIOError:
                return None
            if _is_file(handle, path):
                claim.callback(path.unlink, missing_ok=True)  # while it is locked
                return claim.pop_all()


def _is_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
