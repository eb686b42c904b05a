"""
The one way to what stands beside a suite: hold-outs, samples, baselines, grades, journals, the history and their locks.

A folder with suites may come from a stranger, and holds whatever a repository can hold: links to any file of the
machine, pipes and devices. So what stands beside a suite is opened here, and nowhere else:

- A file may be in the roots of the suite only, after all links: its own, and those of its folders. Below a root each
  folder is opened by name in the one above it, so that no link that is put there meanwhile is followed.
- It is a regular file. A pipe or a device is not opened.
- It has a limit on its size.
- What is written is written whole, and takes the place of a link instead of going through it.
- A lock (`locks`) is a file of its own, which is neither followed nor emptied.

Windows neither opens a file by its folder nor refuses links while it opens: there the same is checked before.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from harness.errors import FormatError, UsageError
from harness.files.border import Border
from harness.files.folders import Folder, hold_folder
from harness.files.locks import LockHeld, hold_lock
from harness.files.writing import PUBLIC, write_part

LARGEST_FILE = 2**28
"""Bytes of a file, unless its kind has a limit of its own."""


def build_lock_path(path: Path) -> Path:
    """
    The file of the lock for the file *path*.

    >>> str(build_lock_path(Path("shop.judged-by.anna.jsonl")))
    '.shop.judged-by.anna.jsonl.lock'
    """
    return path.with_name(f".{path.name.removeprefix('.')}.lock")


@dataclass(frozen=True, slots=True)
class BesideFile:
    """
    A file that stands beside a suite.

    Args:
        path: Where it stands.
        roots: The folders that it may be in, those of `Suite.roots`; the folder of *path* where there are none.
        follows_links: Whether it may be a link that leads into one of *roots*.
    """

    path: Path
    roots: Sequence[str | Path] = ()
    follows_links: bool = False

    def exists(self) -> bool:
        """Whether anything is there, be it a link that leads nowhere."""
        return os.path.lexists(self.path)

    def read(self, most: int = LARGEST_FILE) -> bytes:
        """
        The content of the file, of at most *most* bytes.

        Raises:
            FileNotFoundError: There is none.
            OSError: It cannot be read, is no file, is too large, or leads out of the roots.
        """
        with self.open_to_read(most) as file:
            content = file.read(most + 1)
            self._refuse_large(len(content), most)
        return content

    def read_if_there(self) -> bytes:
        """The content of the file, as `read` has it; nothing where there is none. Raises FormatError."""
        try:
            return self.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise FormatError.at(self.path, 0, 0, f"the file cannot be read: {error.strerror or error}") from None

    def open_to_read(self, most: int = LARGEST_FILE) -> IO[bytes]:
        """The file of at most *most* bytes, opened to read it; raises OSError as `read`."""
        return self._open("rb", os.O_RDONLY, most)

    def open_to_append(self, rights: int, most: int = LARGEST_FILE) -> IO[bytes]:
        """
        The file of at most *most* bytes, opened to read it and to write at its end; a new one has the *rights*.

        Raises:
            OSError: It cannot be opened, is no file, is too large, or leads out of the roots.
        """
        return self._open("a+b", os.O_RDWR | os.O_CREAT | os.O_APPEND, most, rights)

    def check_appendable(self, rights: int) -> None:
        """Check that `open_to_append` opens it, and leave no file that was not there; raises OSError."""
        is_new = not self.exists()
        self.open_to_append(rights).close()
        if is_new:
            self.remove()

    def create_folder(self) -> None:
        """Create a folder there, unless something is there already; raises OSError."""
        with self.hold_folder() as folder:
            folder.create_folder(self.path.name)

    def remove(self) -> None:
        """Remove what is there, be it a link; raises OSError."""
        with self.hold_folder() as folder:
            folder.remove(self.path.name)

    @contextmanager
    def hold_lock(self) -> Iterator[bool]:
        """Hold the lock that this file is; as `harness.files.locks.hold_lock` has it."""
        with self.hold_folder() as folder, hold_lock(folder, self.path.name) as is_held:
            yield is_held

    @contextmanager
    def keep_others_out(self, conflict: str, remedy: str = "remove this file") -> Iterator[bool]:
        """
        Hold the lock of this file, which is a hidden one beside it, until the block ends.

        The block receives whether others are kept out: False on a disk without locks.

        Args:
            conflict: What another process does that holds the lock, and what to do about it.
            remedy: What to do about a lock that cannot be opened.

        Raises:
            UsageError: Another process holds the lock, or it cannot be opened.
        """
        lock = replace(self, path=build_lock_path(self.path))
        with ExitStack() as resources:
            try:
                is_held = resources.enter_context(lock.hold_lock())
            except LockHeld as held:
                raise UsageError(f"{self.path}: {held.owner} {conflict}") from None
            except OSError as error:
                reason = f"this lock cannot be opened: {error.strerror or error}; {remedy}"
                raise UsageError(f"{lock.path}: {reason}") from None
            yield is_held

    def open_to_update(self, most: int = LARGEST_FILE) -> IO[bytes]:
        """The file as it is there, opened to read and to write it; raises OSError as `open_to_append`."""
        return self._open("r+b", os.O_RDWR, most)

    def _open(self, mode: str, flags: int, most: int, rights: int = 0o600) -> IO[bytes]:
        with self._hold_real_folder() as (folder, name):
            file: IO[bytes] = os.fdopen(folder.open_file(name, flags, rights), mode)
        try:
            # A file that is empty for the most part takes no room on the disk.
            self._refuse_large(os.fstat(file.fileno()).st_size, most)
        except BaseException:
            file.close()
            raise
        return file

    def _refuse_large(self, size: int, most: int) -> None:
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most // 2**20} MiB, the limit", str(self.path))

    def write(
        self, content: str | bytes | Iterable[str], rights: int = PUBLIC, before: Callable[[], object] | None = None
    ) -> None:
        """
        Write *content* whole or not at all, in place of what was there, be it a link; arguments as of `write_whole`.

        Raises:
            OSError: It cannot be written, or what is there is a folder, a pipe or a device.
        """
        texts = [content] if isinstance(content, (str, bytes)) else content
        with self.hold_folder() as folder:
            state = folder.read_state(self.path.name)
            if state is not None and not stat.S_ISLNK(state.st_mode):
                folder.refuse_irregular(self.path.name, state)
            write_part(folder, self.path.name, texts, rights, before)

    @contextmanager
    def hold_folder(self) -> Iterator[Folder]:
        """Hold the folder of the file itself, which must be in the roots; raises OSError."""
        real = Path(os.path.realpath(self.path.parent))
        with hold_folder(real, self._find_root(real, self.path.parent)) as folder:
            yield folder

    @contextmanager
    def _hold_real_folder(self) -> Iterator[tuple[Folder, str]]:
        """Hold the folder of the file after all links, with the name of the file in it."""
        if not (self.follows_links and self.path.is_symlink()):
            with self.hold_folder() as folder:
                yield folder, self.path.name
            return
        real = Path(os.path.realpath(self.path))
        root = self._find_root(real, self.path)
        if real == root:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path))
        with hold_folder(real.parent, root) as folder:
            if folder.read_state(real.name) is None:
                problem = f"this is a link to {real}, which does not exist; remove the link"
                raise OSError(errno.ELOOP, problem, str(self.path))
            yield folder, real.name

    def _find_root(self, real: Path, path: Path) -> Path:
        """The root that has *real*, to which *path* leads; raises OSError if none has it, or if it is hidden."""
        roots = [Path(root) for root in self.roots] or [self.path.parent]
        sentence = Border(self.path.parent, roots).explain_refusal(path)
        if sentence:
            what = "this" if path == self.path else f"its folder {path}"
            problem = f"{what} is a link that is not followed: what it leads to {sentence}; remove the link"
            raise OSError(errno.ELOOP, problem, str(self.path))
        return next(root for root in map(_resolve, roots) if real.is_relative_to(root))


def _resolve(root: Path) -> Path:
    return Path(os.path.realpath(root))
