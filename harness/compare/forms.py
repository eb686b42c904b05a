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
from enum import StrEnum
from pathlib import Path

from harness.errors import UsageError
from harness.files.json import read_json_text
from harness.options import RunOptions
from harness.words import did_you_mean, nearest

FORMS = (
    "baseline, baseline:FILE, report:FILE, report:FILE#INDEX, run:FILE, request:NAME, index:NAME, cluster:NAME, "
    "cluster:URL, embedded or embedded:VERSION"
)
RUN_SUFFIXES = (".run", ".trec", ".csv", ".jsonl", ".ndjson", ".parquet")
PACKED = (".gz", ".zst")


class FormKind(StrEnum):
    """The word before the colon."""

    BASELINE = "baseline"
    REPORT = "report"
    RUN = "run"
    REQUEST = "request"
    INDEX = "index"
    CLUSTER = "cluster"
    EMBEDDED = "embedded"


KINDS = {str(kind): kind for kind in FormKind}
OF_FILES = (FormKind.BASELINE, FormKind.REPORT, FormKind.RUN)
ALONE = (FormKind.BASELINE, FormKind.EMBEDDED)
"""The kinds that may be written without a colon."""


@dataclass(frozen=True, slots=True)
class Form:
    """
    A side as written: *value* is the file, the name, the URL or the version; empty for a word without a colon.

    *index* is that of the entry of a report with several; None where none is named.

    >>> str(Form(FormKind.REQUEST, "candidate"))
    'request:candidate'
    """

    kind: FormKind
    value: str = ""
    index: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether an engine or a service is searched, instead of a file read."""
        return self.kind not in OF_FILES

    def options(self, options: RunOptions, request: str | None) -> RunOptions:
        """
        The options of this side, which is live: those of both sides with its own.

        Args:
            options: The options of both sides.
            request: The request that an index or a cluster is searched with; the suite's first where None.
        """
        if self.kind is FormKind.REQUEST:
            return replace(options, request=self.value)
        options = replace(options, request=request or options.request)
        if self.kind is FormKind.INDEX:
            return replace(options, index=self.value)
        elsewhere = replace(options, url=None, cluster=None, embedded=False, engine_version=None, client=None)
        if self.kind is FormKind.EMBEDDED:
            return replace(elsewhere, embedded=True, engine_version=self.value or None)
        if "://" in self.value:
            return replace(elsewhere, url=self.value)
        return replace(elsewhere, cluster=self.value)

    def __str__(self) -> str:
        entry = "" if self.index is None else f"#{self.index}"
        return f"{self.kind}:{self.value}{entry}" if self.value else str(self.kind)


def read_form(text: str, *, requests: Iterable[str] = ()) -> Form:
    """
    Read a side from *text*.

    Args:
        text: As the user gave it.
        requests: Names of the suite's requests, for a hint.

    Raises:
        UsageError: It is none of the forms; suggests those that would fit.
    """
    word, colon, value = text.partition(":")
    if "://" in text and word in ("http", "https"):
        return Form(FormKind.CLUSTER, text)
    kind = KINDS.get(word)
    if kind is not None and (value or (not colon and kind in ALONE)):
        return _checked(Form(kind, value))
    if kind is not None:
        raise UsageError(f"found {text!r}, expected {_with_value(kind)}")
    if Path(text).is_file():
        return Form(_kind_of(Path(text)), text)
    file, _, index = text.rpartition("#")
    if file and index and Path(file).is_file() and _kind_of(Path(file)) is FormKind.REPORT:
        return Form(FormKind.REPORT, file, index)
    raise UsageError(f"found {text!r}, which is {_guess(text, word, colon, value, list(requests))}; expected {FORMS}")


def _checked(form: Form) -> Form:
    path = Path(form.value)
    file, _, index = form.value.rpartition("#")
    if form.kind is FormKind.REPORT and file and index and not path.exists():
        return _checked(Form(form.kind, file, index))
    if form.value and not form.is_live and (path.is_dir() or not path.exists()):  # a pipe is there, and no regular file
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{form}: the file {form.value} {what}")
    return form


def _with_value(kind: FormKind) -> str:
    names = {FormKind.CLUSTER: "NAME or cluster:URL", FormKind.EMBEDDED: "VERSION, or embedded alone"}
    usual = "FILE" if kind in OF_FILES else "NAME"
    return f"{kind}:{names.get(kind, usual)}"


def _kind_of(path: Path) -> FormKind:
    """The kind of a file: by its members if it is JSON, by its name if that ends like a run file's; else unknown."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in PACKED]
    if suffixes[-1:] == [".json"]:
        members = _members(path)
        if {"suites", "exit_status"} <= members:
            return FormKind.REPORT
        if {"suite", "requests"} <= members:
            return FormKind.BASELINE
        raise UsageError(
            f"{path} is neither a JSON report of harness run nor a baseline; write report:{path} or baseline:{path}"
        )
    if suffixes and suffixes[-1] in RUN_SUFFIXES:
        return FormKind.RUN
    raise UsageError(
        f"the name of {path} does not determine its type; write run:{path}, report:{path} or baseline:{path}"
    )


def _members(path: Path) -> frozenset[str]:
    try:
        raw = json.loads(read_json_text(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read as JSON: {reason}") from None
    return frozenset(raw) if isinstance(raw, dict) else frozenset()


def _guess(text: str, word: str, colon: str, value: str, requests: list[str]) -> str:
    """Suggestions for what *text* may have been meant to be."""
    if colon:
        meant = nearest(word, FormKind)
        guess = f"; did you mean {f'{meant}:{value}'!r}?" if meant else ""
        return f"neither a known form nor a file{guess}"
    if text in requests:
        return f"no file; the request of that name is 'request:{text}'"
    meant = nearest(text, requests)
    if meant:
        return f"no file; did you mean 'request:{meant}'?"
    return f"no file{did_you_mean(text, ALONE)}"
