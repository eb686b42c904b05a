"""
What the two that are compared are called on a command line, and in Python::

    baseline  baseline:FILE  report:FILE  run:FILE  request:NAME  index:NAME  cluster:NAME-or-URL  embedded[:VERSION]

A URL, and a file that says by itself what it is, need no word before them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.errors import UsageError, did_you_mean, nearest

__all__ = ["FORMS", "Form", "FormKind", "read_form"]


FORMS = (
    "baseline, baseline:FILE, report:FILE, run:FILE, request:NAME, index:NAME, cluster:NAME, cluster:URL, embedded "
    "or embedded:VERSION"
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
"""What may stand without a colon."""


@dataclass(frozen=True, slots=True)
class Form:
    """
    What a text asks for: *value* is the file, the name, the URL or the version; empty for what stands alone.

    >>> str(Form(FormKind.REQUEST, "candidate"))
    'request:candidate'
    """

    kind: FormKind
    value: str = ""

    @property
    def is_live(self) -> bool:
        """Whether something has to be asked, and no file read."""
        return self.kind not in OF_FILES

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else str(self.kind)


def read_form(text: str, *, requests: Iterable[str] = ()) -> Form:
    """
    What *text* asks for.

    Args:
        text: As the user gave it.
        requests: Names of the suite's requests, for a hint.

    Raises:
        UsageError: It is none of the forms; says which would fit.
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
    raise UsageError(f"found {text!r}, which is {_guess(text, word, colon, value, list(requests))}; expected {FORMS}")


def _checked(form: Form) -> Form:
    path = Path(form.value)
    if form.value and not form.is_live and (path.is_dir() or not path.exists()):  # a pipe is there, and no regular file
        what = "is a folder" if path.is_dir() else "is not there"
        raise UsageError(f"{form}: the file {form.value} {what}")
    return form


def _with_value(kind: FormKind) -> str:
    names = {FormKind.CLUSTER: "NAME or cluster:URL", FormKind.EMBEDDED: "VERSION, or embedded alone"}
    usual = "FILE" if kind in OF_FILES else "NAME"
    return f"{kind}:{names.get(kind, usual)}"


def _kind_of(path: Path) -> FormKind:
    """By its members where it is JSON, by its name where it ends as run files do; nothing else tells."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in PACKED]
    if suffixes[-1:] == [".json"]:
        members = _members(path)
        if {"suites", "exit_status"} <= members:
            return FormKind.REPORT
        if {"suite", "requests"} <= members:
            return FormKind.BASELINE
        raise UsageError(
            f"{path} is neither a JSON report of harness run nor a baseline; say report:{path} or baseline:{path}"
        )
    if suffixes and suffixes[-1] in RUN_SUFFIXES:
        return FormKind.RUN
    raise UsageError(f"the name of {path} does not say what it is; say run:{path}, report:{path} or baseline:{path}")


def _members(path: Path) -> frozenset[str]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}") from None
    return frozenset(raw) if isinstance(raw, dict) else frozenset()


def _guess(text: str, word: str, colon: str, value: str, requests: list[str]) -> str:
    """What *text* could have been meant to be."""
    if colon:
        meant = nearest(word, FormKind)
        guess = f"; did you mean {f'{meant}:{value}'!r}?" if meant else ""
        return f"no form that is known, nor a file{guess}"
    if text in requests:
        return f"no file; the request of that name is 'request:{text}'"
    meant = nearest(text, requests)
    if meant:
        return f"no file; did you mean 'request:{meant}'?"
    return f"no file{did_you_mean(text, ALONE)}"
