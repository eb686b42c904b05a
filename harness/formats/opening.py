"""The bytes of a judgment or run file, unpacked where it ends in .gz or .zst, and the form that its name tells."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, cast

from harness.errors import FormatError, UsageError

_PACKED = {".gz", ".zst"}


class Form(StrEnum):
    """How the lines of a file are written."""

    TREC = "trec"
    CSV = "csv"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"


_FORMS = {".csv": Form.CSV, ".jsonl": Form.JSON_LINES, ".ndjson": Form.JSON_LINES, ".parquet": Form.PARQUET}


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
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        try:
            yield io.BufferedReader(reader)
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None
