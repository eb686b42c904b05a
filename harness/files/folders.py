"""A folder that is held open: what is in it is reached by its name, whatever the path of the folder leads to by now."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

HOLDS_FOLDERS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the system opens a file by the folder that it is in, and refuses links; Windows does not."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = (
    getattr(os, "O_NOFOLLOW", 0)
    # A pipe that takes the place of a file must not block.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

NO_FILE = "this is a pipe or a device, expected a file"


class Folder:
    """The folder *path*; held open by *descriptor*, or reached by its path where that is None."""

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = descriptor

    def _name(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def read_state(self, name: str, *, follows: bool = False) -> os.stat_result | None:
        """The state of what is at *name*, of a link itself unless it *follows* that; None where nothing is."""
        try:
            return os.stat(self._name(name), dir_fd=self.descriptor, follow_symlinks=follows)
        except FileNotFoundError:
            return None
        except OSError as error:
            # A link to itself leads nowhere too.
            if follows and error.errno == errno.ELOOP:
                return None
            raise

    def open_file(self, name: str, flags: int, rights: int = 0o600) -> int:
        """
        Open the regular file *name* without following a link; *flags* and *rights* are those of `os.open`.

        Raises:
            OSError: It cannot be opened, or is no regular file. A device is not even opened.
        """
        state = self.read_state(name)
        if state is not None:
            self.refuse_irregular(name, state)
        descriptor = os.open(self._name(name), flags | _FILE, rights, dir_fd=self.descriptor)
        try:
            opened = os.fstat(descriptor)
            self.refuse_irregular(name, opened)
            # Where links cannot be refused, one may have taken the place of the file in the meantime.
            if not HOLDS_FOLDERS:
                self._refuse_replaced(name, opened)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def refuse_irregular(self, name: str, state: os.stat_result) -> None:
        """Refuse *name* with that *state* if it is no regular file; raises OSError."""
        if stat.S_ISLNK(state.st_mode):
            problem = "this is a link, expected the file itself; remove the link"
            raise OSError(errno.ELOOP, problem, str(self.path / name))
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path / name))
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, NO_FILE, str(self.path / name))

    def _refuse_replaced(self, name: str, opened: os.stat_result) -> None:
        now = self.read_state(name)
        if now is None or not os.path.samestat(now, opened):
            raise OSError(errno.ELOOP, "it was replaced while it was opened", str(self.path / name))

    def create_folder(self, name: str) -> None:
        """
        Create the folder *name* in this one, unless something is there.

        Raises:
            OSError: It cannot be created.
        """
        with suppress(FileExistsError):
            os.mkdir(self._name(name), dir_fd=self.descriptor)

    def list_names(self) -> list[str]:
        """
        The names of what is in the folder, in order.

        Raises:
            OSError: It cannot be listed.
        """
        if self.descriptor is None:
            return sorted(path.name for path in self.path.iterdir())
        # The one that is held may not be readable.
        listed = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), dir_fd=self.descriptor)
        try:
            with os.scandir(listed) as entries:
                return sorted(entry.name for entry in entries)
        finally:
            os.close(listed)

    def replace(self, part: str, name: str) -> None:
        """Put the file *part* in the place of *name*, which is replaced if it is a link too; raises OSError."""
        os.replace(self._name(part), self._name(name), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove *name*, if it is there; raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(self._name(name), dir_fd=self.descriptor)

    def change_rights(self, file: IO[bytes], name: str, rights: int) -> None:
        """Give the open *file*, which is at *name*, these *rights*; raises OSError."""
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), rights)
        else:
            (self.path / name).chmod(rights)


@contextmanager
def hold_folder(path: Path, root: Path) -> Iterator[Folder]:
    """
    Hold the folder *path*, which is *root* or in it, until the block ends. Below *root* no link is followed.

    Args:
        path: The folder, as a real path.
        root: A folder above it that nobody else may have changed.

    Raises:
        OSError: There is none, or a link is on the way.
    """
    if not HOLDS_FOLDERS:
        yield Folder(path)
        return
    descriptor = os.open(root, _FOLDER)
    try:
        for name in path.relative_to(root).parts:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)
