"""
The one way to write a file: whole, or not at all.

The content is written to a part, a hidden file beside the file that it replaces. A process that is killed leaves its
part. The next one that writes the same file removes it, as nothing holds its lock any more.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.errors import UsageError
from harness.files.folders import Folder
from harness.files.locks import lock_open_file

PRIVATE = 0o600
"""The rights of a new file with texts of documents: only the user may read it. An existing file keeps its rights."""

PUBLIC = 0o666
"""The rights of any other new file, of which the user's umask takes some away."""


def write_whole(
    path: Path,
    content: str | bytes | Iterable[str],
    *,
    rights: int = PUBLIC,
    before: Callable[[], object] | None = None,
) -> None:
    """
    Write *content*, a text or its parts, as UTF-8 with unchanged line ends.

    A reader never sees a part of it, and if it cannot be written, or the process is killed, the old file at *path*
    stays. A path that is not a regular file, such as ``/dev/stdout`` or a pipe, cannot be replaced and is written
    directly; a file that it leads to is added to.

    *rights* are those of a new file. *before* is called when all is written, right before the file is replaced; if it
    raises, the old file stays.

    Raises:
        OSError: it cannot be written.
    """
    texts = [content] if isinstance(content, (str, bytes)) else content
    if not is_replaceable(path):
        # /dev/stdout may be a file that others write to as well.
        mode = "ab" if path.is_file() else "wb"
        with path.open(mode) as file:
            file.writelines(map(_encode, texts))
        return
    write_part(Folder(path.parent), path.name, texts, rights, before)


def write_part(
    folder: Folder,
    name: str,
    texts: Iterable[str | bytes],
    rights: int,
    before: Callable[[], object] | None = None,
) -> None:
    """Write *texts* to a part in *folder*, which then replaces *name*; arguments and errors as of `write_whole`."""
    part = create_part(folder, name, rights)
    try:
        with part.file as file:
            file.writelines(map(_encode, texts))
            file.flush()
            if before is not None:
                before()
            if os.name == "nt":
                file.close()  # Windows replaces no open file
            part.replace()
    except BaseException:
        part.remove()
        raise


def refuse_existing(paths: Iterable[Path], remedy: str = "") -> None:
    """
    Refuse to write *paths* if there is anything at one of them, be it a link that leads nowhere, or a file where one
    of their folders would be made.

    Raises:
        UsageError: Something is there; all of it is named, and below it the *remedy*.
    """
    taken: list[str] = []
    for path in paths:
        if os.path.lexists(path):
            taken.append(f"{path}: this is there already, and nothing was written")
            continue
        existing = path.parent
        while not os.path.lexists(existing):
            existing = existing.parent
        if not existing.is_dir():
            taken.append(f"{path}: cannot be written: {existing} is a file, expected a folder; nothing was written")
    if taken:
        raise UsageError("\n".join([*taken, *([remedy] if remedy else [])]))


@dataclass(frozen=True, slots=True)
class Part:
    """A *file* named *name* in *folder* that is written, and replaces *target* there."""

    folder: Folder
    name: str
    target: str
    file: IO[bytes]

    def replace(self) -> None:
        """Put it in the place of its target; raises OSError."""
        self.folder.replace(self.name, self.target)

    def remove(self) -> None:
        """Remove it, if it is there; raises OSError."""
        self.folder.remove(self.name)


def create_part(folder: Folder, target: str, rights: int) -> Part:
    """
    A new, open file that is to replace *target* in *folder*, with the rights of that, or *rights* if there is none.

    It has to be replaced before it is closed: the lock on it, which others take for a sign that it is still written,
    ends then.

    Raises:
        OSError: it cannot be created.
    """
    _remove_abandoned_parts(folder, target)
    # A link is replaced by a file with the rights of that which it leads to.
    state = folder.read_state(target, follows=True)
    is_replaced = state is not None and stat.S_ISREG(state.st_mode)
    if state is not None and is_replaced:
        rights = state.st_mode & 0o777
    while True:
        # In the same folder: a file is replaced in one step only within a file system.
        name = f".{target}.{secrets.token_hex(4)}.part"
        file = os.fdopen(folder.open_file(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, rights), "w+b")
        is_taken = False
        try:
            lock_open_file(file)
        except BlockingIOError:
            is_taken = True
        except OSError:
            pass  # a disk without locks
        # Until it was locked, another process could take it for one that was left, and remove it.
        if not is_taken and folder.read_state(name) is not None:
            break
        file.close()
    if is_replaced:
        folder.change_rights(file, name, rights)  # also those that the umask took away
    return Part(folder, name, target, file)


def _remove_abandoned_parts(folder: Folder, target: str) -> None:
    """Remove the parts for *target* in *folder* that nothing writes any more."""
    pattern = re.compile(rf"\.{re.escape(target)}\.[0-9a-f]{{8}}\.part")
    # What cannot be listed, opened or removed stays: the file itself can be written all the same.
    with suppress(OSError):
        for name in folder.list_names():
            if pattern.fullmatch(name):
                with suppress(OSError):
                    _remove_unlocked(folder, name)


def _remove_unlocked(folder: Folder, name: str) -> None:
    """
    Raises:
        OSError: another process holds the lock of the part *name*, or it cannot be removed.
    """
    with os.fdopen(folder.open_file(name, os.O_RDONLY), "rb") as file:
        lock_open_file(file)
        folder.remove(name)


def is_replaceable(path: Path) -> bool:
    """Whether `write_whole` replaces what is at *path*: a regular file or nothing, not a device, a pipe or a folder."""
    return not is_device(path) and (path.is_file() or not path.exists())


def is_device(path: Path) -> bool:
    """Whether *path* names a device, such as ``/dev/stdout``, which may lead to a regular file."""
    return path.is_absolute() and path.parts[1:2] == ("dev",)


def _encode(part: str | bytes) -> bytes:
    return part.encode() if isinstance(part, str) else part
