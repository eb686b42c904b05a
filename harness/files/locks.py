"""
The one lock on a file, which ends with its process: one that is killed leaves nothing that blocks.

A lock on what others do is a file of its own, which says who holds it, for the message to a second process. A link in
its place is neither followed nor emptied.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import IO, Any

from harness.files.folders import Folder

flock: Any = None
"""Locks of Linux and macOS."""
with suppress(ImportError):
    import fcntl as flock

msvcrt: Any = None
"""Locks of Windows, where a file that is locked can be read by nobody else at the place that is locked."""
with suppress(ImportError):
    import msvcrt

_MOST_BYTES = 1000
"""Bytes that are read of who has the lock."""

_PLACE = 2**30
"""Where the file is locked on Windows: behind all that is in it."""

_PAUSE = 0.05
"""Seconds between two looks at a lock that another process holds."""


class LockHeld(Exception):
    """Another process holds the lock: the *owner*, as the start of a sentence."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


def lock_open_file(file: IO[bytes]) -> None:
    """
    Keep others that lock *file* from it until it is closed.

    Raises:
        BlockingIOError: Another has it.
        OSError: The system or its disk has no locks.
    """
    if flock is not None:
        flock.flock(file, flock.LOCK_EX | flock.LOCK_NB)
    elif msvcrt is not None:
        place = file.tell()
        file.seek(_PLACE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(errno.EAGAIN, str(error)) from None
        finally:
            file.seek(place)
    else:
        raise OSError(errno.ENOLCK, "no locks available")


@contextmanager
def hold_lock(folder: Folder, name: str, *, waits: bool = False) -> Iterator[bool]:
    """
    Hold the lock of the file *name* in *folder* until the block ends, and remove the file then.

    The block receives whether others are kept out: False on a disk without locks.

    Args:
        folder: Where the file is.
        name: Its name.
        waits: Whether to wait for another process that holds it.

    Raises:
        LockHeld: Another process holds it.
        OSError: The file cannot be opened, or is a link.
    """
    file, is_locked = _open_locked(folder, name, waits=waits)
    with file:
        if not is_locked:
            yield False
            return
        try:
            _write_owner(file)
            yield True
        finally:
            # Removed while it is locked: a process that opened it meanwhile sees that it is gone, and makes a new
            # one. Windows removes no open file; there it stays, and blocks nobody.
            with suppress(PermissionError):
                folder.remove(name)


def _open_locked(folder: Folder, name: str, *, waits: bool) -> tuple[IO[bytes], bool]:
    """The file of the lock, and whether it is locked; raises as `hold_lock`."""
    while True:
        file = os.fdopen(folder.open_file(name, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            lock_open_file(file)
        except BlockingIOError:
            with file:
                if not waits:
                    raise LockHeld(_describe_owner(file)) from None
            time.sleep(_PAUSE)
            continue
        except OSError:
            return file, False  # a disk without locks
        # Its last owner may have removed the file after it was opened here. Then the lock keeps nobody out.
        state = folder.read_state(name)
        if state is not None and os.path.samestat(state, os.fstat(file.fileno())):
            return file, True
        file.close()


def _write_owner(file: IO[bytes]) -> None:
    """Write who holds the lock, for the message to a second process."""
    owner = {
        "process": os.getpid(),
        "host": platform.node(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    file.truncate(0)
    file.write(json.dumps(owner).encode())
    file.flush()


def _describe_owner(file: IO[bytes]) -> str:
    """The process that holds the lock, as far as *file* says it."""
    try:
        file.seek(0)
        owner = json.loads(file.read(_MOST_BYTES))
        process, host = int(owner["process"]), str(owner["host"])
        started = datetime.fromisoformat(owner["started"]).astimezone()
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        # It began just now, or the file holds something else.
        return "another process"
    place = "" if host == platform.node() else f" on {host}"
    return f"process {process}{place}, started {started:%Y-%m-%d %H:%M},"
