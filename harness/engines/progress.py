"""How a download shows itself: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

__all__ = ["BarProgress", "DownloadProgress", "LineProgress", "SilentProgress", "download_progress"]


LINE_EVERY = 25  # per cent


class DownloadProgress(Protocol):
    """Told of one download; `advance` is called from several threads."""

    def download(self, title: str, files: int, size: int) -> AbstractContextManager[None]:
        """The time of one download of *files* files, *size* bytes together."""

    def advance(self, size: int) -> None:
        """Another *size* bytes have come."""


def download_progress(stream: TextIO | None = None) -> DownloadProgress:
    """What suits *stream*, standard error where none is given."""
    out = stream or sys.stderr
    return BarProgress(out) if out.isatty() else LineProgress(out)


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:  # noqa: ARG002
        """Nothing is shown."""
        yield

    def advance(self, size: int) -> None:
        """Nothing is shown."""


class LineProgress:
    """A line when it begins, one every quarter, one at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._size = self._done = self._said = 0

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:
        """Print the first line and the last."""
        self._size, self._done, self._said = size, 0, 0
        self._print(f"{title}: downloading {files} jars, {size / 1e6:.0f} MB, once")
        yield
        self._print(f"{title}: downloaded and checked")

    def advance(self, size: int) -> None:
        """Print a line when another quarter is done."""
        with self._lock:
            self._done += size
            share = 100 * self._done // self._size
            if share < self._said + LINE_EVERY or share >= 100:
                return
            self._said = share - share % LINE_EVERY
            self._print(f"  {self._done / 1e6:.0f} of {self._size / 1e6:.0f} MB")

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class BarProgress:
    """A bar with the bytes, the speed and the time that is left."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream),
        )
        self._task = self._bar.add_task("", total=None, visible=False)

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:
        """Show the bar."""
        self._bar.update(self._task, description=f"{title}, {files} jars", total=size, completed=0, visible=True)
        with self._bar:
            yield

    def advance(self, size: int) -> None:
        """Move the bar."""
        self._bar.advance(self._task, size)
