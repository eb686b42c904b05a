"""
The tries of a suite: each text that was answered, with its rankings, in a file beside the suite that only grows.

What is shown of a try is scored again by the grades of now, so that going back to it needs no search.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import FormatError, UsageError
from harness.files.beside import BesideFile
from harness.files.json import parse_json
from harness.files.paths import cut_suffix
from harness.files.writing import PRIVATE
from harness.model.run import Failure, FailureKind, Hit, Ranking, Response
from harness.model.suite import Json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What a try was measured on: with another index, other judgments or another live request it is an old one."""

    index: str = ""
    live: str = ""
    judgments: str = ""


@dataclass(frozen=True, slots=True)
class Try:
    """A text that was answered."""

    number: int
    """From 1; 0 is the request that is live."""
    name: str
    """What it changes, or what the user called it."""
    text: str
    """As it was written: variables and placeholders are not filled."""
    request: str
    """A fingerprint of the request: texts that differ in blanks or comments alone are one try."""
    of: str
    """The name of the request of the suite in whose place it stands."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Of parameters that have no place in the text."""
    time: str = ""
    measure: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By query, when it was answered."""
    difference: float | None = None
    """To what was live then."""
    is_grey: bool = True
    """Whether chance, or hits without a grade, may have been all of it."""
    rankings: Mapping[str, Sequence[tuple[str, float | None]]] = field(default_factory=dict)
    """The first hits of each query, with their scores."""
    failures: Mapping[str, tuple[str, str, int | None]] = field(default_factory=dict)
    """Why queries have no ranking: the kind, the reason, and the status if there was one."""
    times: Mapping[str, float] = field(default_factory=dict)
    """The engine's milliseconds by query, as far as they are known."""
    seconds: float = 0.0
    fingerprints: Fingerprints = Fingerprints()
    kept: bool = False
    """Whether the user kept it by a name."""

    def restore(self, *, exact_scores: bool) -> KeptResponses:
        """The responses, as far as they were kept."""
        return KeptResponses(self, exact_scores)


@dataclass(frozen=True, slots=True)
class KeptResponses(Mapping[str, Response]):
    """The responses of a *kept* try, each made when it is asked for: hundreds of tries stand in memory as ids alone."""

    kept: Try
    exact_scores: bool

    def __getitem__(self, query: str) -> Response:
        """The response to *query*; raises KeyError for one that was not asked."""
        if query in self.kept.failures:
            kind, reason, status = self.kept.failures[query]
            return Failure(FailureKind(kind), reason, status)
        hits = tuple(Hit(document, score) for document, score in self.kept.rankings[query])
        return Ranking(hits, took=self.kept.times.get(query), exact_scores=self.exact_scores)

    def __iter__(self) -> Iterator[str]:
        """The queries that were asked."""
        yield from self.kept.rankings
        yield from self.kept.failures

    def __len__(self) -> int:
        """Their number."""
        return len(self.kept.rankings) + len(self.kept.failures)


def build_tries_path(suite: Path) -> Path:
    """
    The file of the tries of *suite*.

    >>> str(build_tries_path(Path("shop.relevance.yaml")))
    '.shop.tries.jsonl'
    """
    return suite.with_name(f".{cut_suffix(suite)}.tries.jsonl")


@contextmanager
def lock_tries(suite: Path, roots: Sequence[str]) -> Iterator[None]:
    """
    Keep other commands from trying requests on *suite* until the block ends: each try has a number of its own.

    Raises:
        UsageError: Another command does, or the file of the lock cannot be opened.
    """
    file = BesideFile(build_tries_path(suite), roots)
    with file.keep_others_out("tries requests on this suite already; end it with Ctrl-C"):
        yield


@dataclass(slots=True)
class TriesFile:
    """The tries of a suite, the oldest first, and the file that each is added to."""

    file: BesideFile
    tries: list[Try] = field(default_factory=list)

    @classmethod
    def read(cls, suite: Path, roots: Sequence[str]) -> TriesFile:
        """
        Read the tries of *suite*; none where there is no file. A last line that was cut off is left out.

        Raises:
            FormatError: The file cannot be read, or a line is no try.
        """
        file = BesideFile(build_tries_path(suite), roots)
        tries: dict[int, Try] = {}
        lines = file.read_if_there().split(b"\n")
        for number, line in enumerate(lines[:-1], start=1):
            try:
                entry = parse_json(line.decode())
                if "rename" in entry:
                    tries[entry["rename"]] = replace(tries[entry["rename"]], name=str(entry["name"]), kept=True)
                else:
                    one = _read_try(entry)
                    tries[one.number] = one
            except (ValueError, TypeError, KeyError, AttributeError):
                sentence = "this is no try that was kept; move the file away to begin anew"
                raise FormatError.at(file.path, number, 1, sentence) from None
        return cls(file, list(tries.values()))

    def find(self, number: int) -> Try:
        """
        The try of a *number*.

        Raises:
            UsageError: There is none.
        """
        for one in self.tries:
            if one.number == number:
                return one
        numbers = f"there are 1 to {self.tries[-1].number}" if self.tries else "there is none yet"
        raise UsageError(f"found no try {number}, {numbers}")

    def add(self, one: Try) -> Try:
        """Keep *one* by the next number; raises UsageError where it cannot be written."""
        numbered = replace(one, number=self.tries[-1].number + 1 if self.tries else 1)
        self._append(_build_entry(numbered))
        self.tries.append(numbered)
        return numbered

    def rename(self, number: int, name: str) -> Try:
        """Keep the try of a *number* by a *name*; raises UsageError as `find` and `add`."""
        renamed = replace(self.find(number), name=name, kept=True)
        self._append({"rename": number, "name": name})
        self.tries[:] = [renamed if one.number == number else one for one in self.tries]
        return renamed

    def replace(self, one: Try) -> None:
        """Keep *one*, which was measured again, in the place of the try of its number; raises UsageError as `add`."""
        self._append(_build_entry(one))
        self.tries[:] = [one if known.number == one.number else known for known in self.tries]

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        try:
            with self.file.open_to_append(PRIVATE) as file:
                end = file.seek(0, 2)
                file.seek(max(end - 1, 0))
                if file.read() not in (b"", b"\n"):
                    # The last line was cut off when the machine or the command was stopped.
                    file.seek(0)
                    file.truncate(file.read().rfind(b"\n") + 1)
                file.write(line)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"{self.file.path}: the try cannot be kept: {reason}") from None


def _build_entry(one: Try) -> dict[str, Any]:
    # Not copied: its rankings are thousands of hits.
    entry = {name: getattr(one, name) for name in Try.__dataclass_fields__}
    return {"schema": SCHEMA, **entry, "fingerprints": asdict(one.fingerprints)}


def _read_try(entry: Any) -> Try:
    if entry["schema"] != SCHEMA:
        raise ValueError
    known = {name: value for name, value in entry.items() if name in Try.__dataclass_fields__}
    known["fingerprints"] = Fingerprints(**entry["fingerprints"])
    rankings = {}
    for query, hits in entry["rankings"].items():
        # Tries find the same documents, mostly: each id stands in memory once.
        rankings[query] = tuple((sys.intern(str(document)), score) for document, score in hits)
    known["rankings"] = rankings
    return Try(**known)
