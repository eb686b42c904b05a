"""The bytes of a judgment or run file, unpacked where it ends in .gz or .zst, and the form that its name tells."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, cast

from harness.errors import FormatError, UsageError

_PACKED = {".gz", ".zst"}


class Form(StrEnum):
    """How the lines of a file are written."""

    TREC = "trec"
    CSV = "csv"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"
    YAML = "yaml"


_FORMS = {
    ".csv": Form.CSV,
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
    ".parquet": Form.PARQUET,
    ".yaml": Form.YAML,
    ".yml": Form.YAML,
}


def form_of(path: Path) -> Form:
    """
    The form by the suffix, a .gz or .zst behind it left out; TREC's for every suffix that tells nothing.

    >>> form_of(Path("judgments.jsonl.gz")).value, form_of(Path("qrels.dev.tsv")).value
    ('jsonl', 'trec')
    """
    inner = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return _FORMS.get(inner.suffix.lower(), Form.TREC)


@contextmanager
def open_bytes(path: Path, name: str) -> Iterator[IO[bytes]]:
    """
    The file's unpacked bytes.

    Raises:
        FormatError: There is no such file, it cannot be read, or what is packed in it is damaged. It is called *name*.
    """
    try:
        with _open(path) as file:
            yield file
    except FileNotFoundError:
        raise FormatError.at(name, 0, 0, "there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError.at(name, 0, 0, f"the file cannot be read: {reason}") from None


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        with gzip.open(path, "rb") as packed:
            yield cast("IO[bytes]", packed)
    elif suffix == ".zst":
        with _open_zstandard(path) as unpacked:
            yield unpacked
    else:
        with path.open("rb") as file:
            yield file


@contextmanager
def _open_zstandard(path: Path) -> Iterator[IO[bytes]]:
    try:
        import zstandard
    except ImportError:
        remedy = "pip install 'relevance-harness[files]'"
        raise UsageError(f"{path}: .zst files need the package zstandard: {remedy}") from None
    with path.open("rb") as file:
        try:
            yield io.BufferedReader(_Frames(file, zstandard.ZstdDecompressor().decompressobj))
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None


class _Frames(io.RawIOBase):
    """
    What one zstd frame after the other holds.

    The package's own stream reader ends quietly where a file was cut off; a part of the judgments is worse than none.
    """

    def __init__(self, file: IO[bytes], begin_frame: Callable[[], Any]) -> None:
        self._file = file
        self._begin_frame = begin_frame
        self._frame: Any = None
        self._unpacked = b""
        self._packed = b""

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As `io.RawIOBase` has it; 0 at the end of the last frame."""
        while not self._unpacked and self._feed():
            pass
        part = self._unpacked[: len(buffer)]
        buffer[: len(part)] = part
        self._unpacked = self._unpacked[len(part) :]
        return len(part)

    def _feed(self) -> bool:
        """Unpack some more; False at the end of the file."""
        self._packed = self._packed or self._file.read(1 << 17)
        if not self._packed:
            if self._frame is not None:
                raise EOFError("the file ends inside a zstd frame")
            return False
        self._frame = self._frame or self._begin_frame()
        self._unpacked = self._frame.decompress(self._packed)
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = None
        return True
