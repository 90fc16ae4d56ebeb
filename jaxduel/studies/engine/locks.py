"""Claims: processes that share a folder never run the same task at once.

A claim, the right to run a task, is held until its `close`, the end of a `with`, or the process's
death. It is an exclusive lock (flock) on a file that is named for the task. The system releases the
lock when the process dies, even of kill -9, so no claim outlives its holder. Across machines a
claim is as good as the locks of the common file system: NFS 4 has locks, NFS 3 needs its lock
service, and mounts with `nolock` (or `local_lock=flock`) do not keep machines apart. Two machines
may then run the same task, which costs time but not correctness: a block is written whole, and is
the same whoever writes it. A child process forked while a claim is held keeps the claim, should its
parent die, until the child ends.
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
    """True if it is certain that nobody holds the claim on the file `path`. A claim that another
    process tries at the same moment may fail, as if it were held."""
    try:
        # the file may be another user's, and opening a pipe would wait for a writer
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
    """A handle of the file `path`, which is in use until the handle closes or the process dies."""
    handle = os.open(path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def is_in_use(path: Path) -> bool:
    """True if any process has the file `path` in use, or if that is uncertain."""
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

    A holder unlinks the file on release. A lock on an unlinked file is worthless: the file that has
    the name now is locked instead.
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
