"""
How a side of a comparison is written.

On a command line and in Python it is one of::

    baseline  baseline:FILE  report:FILE  report:FILE#INDEX  run:FILE
    request:NAME  index:NAME  cluster:NAME-or-URL  embedded[:VERSION]

A URL, and a file whose kind is clear from its name or content, need no word before them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import UsageError
from harness.extensions import AddedSide, load_extensions
from harness.extensions.compare.model import SideKind
from harness.files.versioned import read_limited
from harness.options import RunOptions
from harness.words import did_you_mean, find_nearest

SIDE_FORMS = (
    "baseline, baseline:FILE, report:FILE, report:FILE#INDEX, run:FILE, request:NAME, index:NAME, cluster:NAME, "
    "cluster:URL, embedded or embedded:VERSION"
)
RUN_SUFFIXES = (".run", ".trec", ".csv", ".jsonl", ".ndjson", ".parquet")
PACKED = (".gz", ".zst")


WORDS = tuple(kind for kind in SideKind if kind is not SideKind.PYTHON)
"""What is written before the colon."""

OF_FILES = (SideKind.BASELINE, SideKind.REPORT, SideKind.RUN)
ALONE = (SideKind.BASELINE, SideKind.EMBEDDED)
"""The words that may be written without a colon."""


@dataclass(frozen=True, slots=True)
class SideText:
    """
    A side as written.

    >>> str(SideText(SideKind.REQUEST, "candidate"))
    'request:candidate'
    """

    kind: SideKind
    value: str = ""
    """The file, the name, the URL or the version; empty for a word without a colon."""
    index: str | None = None
    """The index of the entry of a report with several; None where none is named."""
    added: AddedSide | None = None
    """The form of another extension; its kind is that of a file then."""

    @property
    def is_live(self) -> bool:
        """Whether an engine or a service is searched, instead of a file read."""
        return self.kind not in OF_FILES

    def apply_to(self, options: RunOptions) -> RunOptions:
        """*options*, those of both sides, with what this side, which is live, has of its own."""
        if self.kind is SideKind.REQUEST:
            return replace(options, request=self.value)
        if self.kind is SideKind.INDEX:
            return replace(options, index=self.value)
        # The side names another server than the one that the options lead to.
        elsewhere = options.without_server()
        if self.kind is SideKind.EMBEDDED:
            return replace(elsewhere, embedded=True, engine_version=self.value or None)
        if "://" in self.value:
            return replace(elsewhere, url=self.value)
        return replace(elsewhere, cluster=self.value)

    def __str__(self) -> str:
        if self.added is not None:
            return f"{self.added.word}:{self.value}"
        if not self.value:
            return str(self.kind)
        text = f"{self.kind}:{self.value}"
        return text if self.index is None else f"{text}#{self.index}"


def parse_side(text: str, *, requests: Iterable[str] = ()) -> SideText:
    """
    Read a side from *text*.

    Args:
        text: As the user gave it.
        requests: Names of the suite's requests, for a hint.

    Raises:
        UsageError: It is none of the forms; suggests those that would fit.
    """
    prefix, colon, value = text.partition(":")
    if "://" in text and prefix in ("http", "https"):
        return SideText(SideKind.CLUSTER, text)
    if prefix in WORDS:
        kind = SideKind(prefix)
        if value or (not colon and kind in ALONE):
            return _find_file(SideText(kind, value))
        raise UsageError(f"found {text!r}, expected {_describe_value(kind)}")
    added = find_added_side(prefix)
    if added is not None and value:
        return SideText(SideKind.RUN, value, added=added)
    if Path(text).is_file():
        return SideText(_recognize_file(Path(text)), text)
    file, _, index = text.rpartition("#")
    if file and index and Path(file).is_file() and _recognize_file(Path(file)) is SideKind.REPORT:
        return SideText(SideKind.REPORT, file, index)
    raise UsageError(f"found {text!r}, which is {_suggest(text, list(requests))}; expected {SIDE_FORMS}")


def find_added_side(word: str) -> AddedSide | None:
    """The form that another extension adds by *word*; None where there is none."""
    return next((side for side in list_added_sides() if side.word == word), None)


def list_added_sides() -> list[AddedSide]:
    """The forms of sides that other extensions add."""
    return [side for extension in load_extensions() for side in extension.sides]


def _find_file(side: SideText) -> SideText:
    """*side*, whose file must exist; a file may have a # in its name, so only what is left of one is split."""
    path = Path(side.value)
    file, _, index = side.value.rpartition("#")
    if side.kind is SideKind.REPORT and file and index and not path.exists():
        return _find_file(SideText(side.kind, file, index))
    # A pipe exists and is no regular file: it can be read.
    if side.value and not side.is_live and (path.is_dir() or not path.exists()):
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{side}: the file {side.value} {problem}")
    return side


def _describe_value(kind: SideKind) -> str:
    """What *kind* takes after its colon, for a message."""
    if kind is SideKind.CLUSTER:
        return "cluster:NAME or cluster:URL"
    if kind is SideKind.EMBEDDED:
        return "embedded:VERSION, or embedded alone"
    return f"{kind}:FILE" if kind in OF_FILES else f"{kind}:NAME"


def _recognize_file(path: Path) -> SideKind:
    """The word for a file: by its members if it is JSON, by its name if that ends like a run file's; else unknown."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in PACKED]
    last = suffixes[-1] if suffixes else ""
    if last == ".json":
        members = _read_members(path)
        if {"suites", "exit_status"} <= members:
            return SideKind.REPORT
        if {"suite", "requests"} <= members:
            return SideKind.BASELINE
        raise UsageError(
            f"{path} is neither a JSON report of relevance run nor a baseline; write report:{path} or baseline:{path}"
        )
    if last in RUN_SUFFIXES:
        return SideKind.RUN
    raise UsageError(
        f"the name of {path} does not determine its type; write run:{path}, report:{path} or baseline:{path}"
    )


def _read_members(path: Path) -> frozenset[str]:
    """The names of the members of a JSON file; none if it is not an object."""
    try:
        raw = json.loads(read_limited(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read as JSON: {reason}") from None
    return frozenset(raw) if isinstance(raw, dict) else frozenset()


def _suggest(text: str, requests: list[str]) -> str:
    """What *text* may have been meant to be, in words."""
    prefix, colon, value = text.partition(":")
    if colon:
        word = find_nearest(prefix, WORDS)
        if word is None:
            return "neither a known form nor a file"
        return f"neither a known form nor a file; did you mean {f'{word}:{value}'!r}?"
    if text in requests:
        return f"no file; the request of that name is 'request:{text}'"
    request = find_nearest(text, requests)
    if request is not None:
        return f"no file; did you mean 'request:{request}'?"
    return f"no file{did_you_mean(text, ALONE)}"
