"""The one way to write a file: whole, or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from pathlib import Path


def write_whole(
    path: Path, content: str | bytes | Iterable[str], *, before: Callable[[], object] | None = None
) -> None:
    """
    Write *content*, a text or its parts, as UTF-8 with unchanged line ends.

    A reader never sees a part of it, and if it cannot be written, or the process is killed, the old file at *path*
    stays. A path that is not a regular file, such as ``/dev/stdout`` or a pipe, cannot be replaced and is written
    directly; a file that it leads to is added to.

    *before* is called when all is written, right before the file is replaced; if it raises, the old file stays.

    Raises:
        OSError: it cannot be written.
    """
    parts = [content] if isinstance(content, (str, bytes)) else content
    if not is_replaceable(path):
        # /dev/stdout may be a file that others write to as well.
        mode = "ab" if path.is_file() else "wb"
        with path.open(mode) as file:
            file.writelines(map(_encode, parts))
        return
    # In the same folder: a file is replaced in one step only within a file system.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            file.writelines(map(_encode, parts))
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        if before is not None:
            before()
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_replaceable(path: Path) -> bool:
    """Whether `write_whole` replaces what is at *path*: a regular file or nothing, not a device, a pipe or a folder."""
    return not is_device(path) and (path.is_file() or not path.exists())


def is_device(path: Path) -> bool:
    """Whether *path* names a device, such as ``/dev/stdout``, which may lead to a regular file."""
    return path.is_absolute() and path.parts[1:2] == ("dev",)


def _encode(part: str | bytes) -> bytes:
    return part.encode() if isinstance(part, str) else part
