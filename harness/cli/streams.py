"""The output streams of a command: closed, on a full disk, without Unicode, or the log of a CI system."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of output that is redirected to a full or broken disk, or to what is not open to be written."""

LONGEST_COMMAND = 200
"""Characters of a line that are kept to see whether a command may follow."""


@contextmanager
def adapt_streams() -> Iterator[None]:
    """A block in which nothing that is printed fails, or is a command of a CI system."""
    _open_closed_streams()
    _drop_unwritable_messages()
    _escape_unencodable_output()
    with _escape_printed_commands():
        yield


def silence_stdout() -> None:
    """Discard further standard output after the pipe was closed: Python's flush at exit would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, io.UnsupportedOperation):
        # Standard output is not a real file, such as in a test.
        return
    finally:
        os.close(nowhere)


def describe_unwritable_stdout(error: BaseException) -> str:
    """Why standard output could not take what was printed; empty if *error* is another one, such as of a file."""
    # An error of a file has its name.
    if isinstance(error, OSError) and error.errno in UNWRITABLE and error.filename is None:
        return f"standard output could not be written: {error.strerror}"
    return ""


def _open_closed_streams() -> None:
    """Discard what is printed where the shell closed an output (``>&-``): Python has no stream for it then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


class _StandardError(io.FileIO):
    """Standard error, which drops what cannot be written, such as on a full disk or to a closed pipe."""

    def write(self, text: ReadableBuffer) -> int:
        """Write *text*, or drop it."""
        try:
            return super().write(text)
        except OSError:
            return memoryview(text).nbytes


def _drop_unwritable_messages() -> None:
    """
    Make standard error drop what cannot be written, so that no message changes what the command does and returns.

    This is done below the buffer, which would keep what failed until Python flushes it at exit.
    """
    stream = sys.stderr
    # Not the standard error of the process, such as in a test.
    if stream is not sys.__stderr__ or not isinstance(stream, io.TextIOWrapper):
        return
    # The console of Windows is no FileIO.
    if isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
        buffer = io.BufferedWriter(_StandardError(stream.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(buffer, stream.encoding, line_buffering=True)


def _escape_unencodable_output() -> None:
    """Print escapes for characters that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _LogStream:
    """
    A stream that is no terminal, and may become a log of a CI system, which executes lines such as ``::error``.

    What is printed holds names and texts of suites, files and indexes. The harness's own commands are printed by
    `print_command`.
    """

    def __init__(self, unescaped: TextIO) -> None:
        self.unescaped = unescaped
        self._line = ""
        """What was written of the last line."""
        self._is_json: bool | None = None

    def write(self, text: str | bytes) -> int:
        """Write *text*, escaped as texts or, in what begins as JSON, as in strings of JSON."""
        if isinstance(text, bytes):
            # click prints completions of a shell as bytes.
            text = text.decode()
        if self._is_json is None and text.strip():
            self._is_json = text.lstrip()[0] in "{["
        self.unescaped.write(self._escape(text))
        self._line = (self._line + text).rpartition("\n")[2][-LONGEST_COMMAND:]
        return len(text)

    def _escape(self, text: str) -> str:
        """*text*, in which nothing is a command of a CI system any more."""
        if "::" not in text and "##" not in text:
            return text
        from harness.report.safe_text import escape_commands

        escape = r"\u00" if self._is_json else r"\x"
        if not self._line.strip():
            return escape_commands(text, escape)
        # A command stands behind nothing but blanks. The letter stands for what was written of the line before.
        return escape_commands(f"x{text}", escape)[1:]

    def __getattr__(self, name: str) -> Any:
        # What is below would let click write past this.
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unescaped, name)


@contextmanager
def _escape_printed_commands() -> Iterator[None]:
    """Let nothing that is printed in the block be a command of a CI system, whatever prints it."""
    streams = sys.stdout, sys.stderr
    # These take part in what is printed by click, print and rich alike.
    if not sys.stdout.isatty():
        sys.stdout = cast("TextIO", _LogStream(sys.stdout))
    if not sys.stderr.isatty():
        sys.stderr = cast("TextIO", _LogStream(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def print_command(line: str, *, err: bool = False) -> None:
    """Print *line*, a command that the harness itself gives to the CI system."""
    stream = sys.stderr if err else sys.stdout
    click.echo(line, file=getattr(stream, "unescaped", stream))


def print_message(text: str) -> None:
    """Print *text* without control characters: a name in it may come from any file."""
    from harness.report.safe_text import make_loggable_lines

    click.echo(make_loggable_lines(text), err=True)
