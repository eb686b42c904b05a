"""
The responses of a run, stored in a file instead of in memory; and those of an earlier run that are kept.

A response with ten hits takes 2,000 bytes in memory and 300 in the file. Each pass over all responses reads the file
again, so a run makes few: to score, to count, and to write the report.
"""

from __future__ import annotations

import os
import pickle
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from io import BytesIO
from itertools import starmap
from operator import attrgetter
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any
from weakref import finalize

from harness.errors import UsageError
from harness.model import Engine, Failure, FailureKind, Hit, Ranking, Response, Run, Suite, chosen, ids_of

IN_MEMORY = 2**20
"""Bytes of responses up to which there is no file."""

NOWHERE = -1


class StoredResponses(Mapping[str, Response]):
    """
    Responses by query id, for `Run.responses`: each is written when it is received, and read on access.

    They are in the order of the queries, whatever the order in which they were received. The temporary file holds them
    before secrets are masked. Only this user can read it. Where the system allows it the file has no name, and it is
    deleted with this object. Without a folder for temporary files the responses stay in memory. *replaced* are the
    queries that had another response before.
    """

    def __init__(self, places: Mapping[str, int]) -> None:
        """*places* are those of the queries that may get a response, by id and in their order."""
        self._places = places
        self._begins = array("q", [NOWHERE]) * len(self._places)
        self._sizes = array("I", [0]) * len(self._places)
        self._file: IO[bytes] = BytesIO()
        self._limit: int | None = IN_MEMORY  # None once there is a file, or if there can be none
        self.replaced: set[str] = set()
        self._size = self._answered = 0
        self._lock = Lock()  # several threads may read the responses

    def keep(self, responses: Mapping[str, Response]) -> None:
        """
        Store *responses*, in place of earlier responses of the same queries.

        Raises:
            UsageError: The temporary file cannot be written.
        """
        written = [(self._places[query], _packed(response)) for query, response in responses.items()]
        content = b"".join(packed for _, packed in written)
        try:
            with self._lock:
                if self._limit is not None and self._size + len(content) > self._limit:
                    self._leave_memory()
                self._file.seek(self._size)
                self._file.write(content)
                self._file.flush()
        except OSError as error:
            reason = f"{error.strerror or error}; TMPDIR names another folder for it"
            raise UsageError(f"the answers cannot be written to a temporary file: {reason}") from None
        self.replaced.update(query for query in responses if query in self)
        for place, packed in written:
            self._answered += self._begins[place] == NOWHERE
            self._begins[place], self._sizes[place] = self._size, len(packed)
            self._size += len(packed)

    def __getitem__(self, query: str) -> Response:
        place = self._places[query]
        if self._begins[place] == NOWHERE:
            raise KeyError(query)
        return _unpacked(self._read(self._begins[place], self._sizes[place]))

    def _leave_memory(self) -> None:
        """Move to a temporary file, if there is a folder for one."""
        self._limit = None
        with suppress(FileNotFoundError):
            file = TemporaryFile()  # noqa: SIM115 - it is open as long as this object is
            finalize(self, file.close)
            file.write(self._file.getvalue() if isinstance(self._file, BytesIO) else b"")
            self._file = file

    def _read(self, begin: int, size: int) -> bytes:
        if not isinstance(self._file, BytesIO) and hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, begin)  # processes that were forked share the file's position
        with self._lock:
            self._file.seek(begin)
            return self._file.read(size)

    def __contains__(self, query: object) -> bool:
        return isinstance(query, str) and query in self._places and self._begins[self._places[query]] != NOWHERE

    def __iter__(self) -> Iterator[str]:
        return (query for query, begin in zip(self._places, self._begins, strict=True) if begin != NOWHERE)

    def __len__(self) -> int:
        return self._answered

    def __repr__(self) -> str:
        return f"<responses of {len(self):,} of {len(self._places):,} queries>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is pickled, is a plain dict."""
        return dict, (dict(self),)


# Plain lists of values take a tenth of the time that it takes to pickle the objects. Only this process writes the file,
# so the values need no checks.


def _values_of(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the values of all fields of an object of the dataclass *kind*."""
    return attrgetter(*(one.name for one in fields(kind)))


_values_of_hit, _values_of_ranking, _values_of_failure = map(_values_of, (Hit, Ranking, Failure))
_HITS = [place for place, one in enumerate(fields(Ranking)) if one.name in ("hits", "tail")]


def _packed(response: Response) -> bytes:
    if isinstance(response, Failure):
        return pickle.dumps(_values_of_failure(response), pickle.HIGHEST_PROTOCOL)
    values: list[Any] = list(_values_of_ranking(response))
    for place in _HITS:
        values[place] = [_values_of_hit(hit) for hit in values[place]]
    return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def _unpacked(packed: bytes) -> Response:
    values: list[Any] | tuple[Any, ...] = pickle.loads(packed)
    if isinstance(values, tuple):
        return Failure(*values)
    for place in _HITS:
        values[place] = tuple(starmap(Hit.of, values[place]))
    return Ranking(*values)


def kept_answers(earlier: Run | None) -> Mapping[str, Response]:
    """The rankings of an *earlier* run, whose queries are not sent again."""
    responses = {} if earlier is None else earlier.responses
    return {query: answer for query, answer in responses.items() if isinstance(answer, Ranking)}


def without_answered(active: Suite, kept: Mapping[str, Response]) -> Suite:
    """*active* with the queries that have none of the *kept* answers."""
    left = [query not in kept for query in ids_of(active.queries)]
    return replace(active, queries=chosen(active.queries, left)) if kept else active


def joined(run: Run, earlier: Run | None) -> Run:
    """*run*, which has the responses of *earlier*, with the other findings of *earlier*."""
    if earlier is None or not earlier.has_rankings:
        return run
    return replace(
        earlier,
        responses=run.responses,
        request=run.request,
        index=run.index,
        seconds=earlier.seconds + run.seconds,
        resent={**earlier.resent, **run.resent},
        titles={**earlier.titles, **run.titles},
        checks=run.checks or earlier.checks,
        window_is_full=run.window_is_full or earlier.window_is_full,
    )


def failed_run(active: Suite, request: str | None, engine: Engine, reason: str, earlier: Run | None) -> Run:
    """A run of *request*, a name, whose queries failed for *reason*, except those that *earlier* has a ranking of."""
    from harness.suites.requests import choose_template

    template, kept = choose_template(active, request), kept_answers(earlier)
    failure = Failure(FailureKind.ERROR, reason)
    responses = {query: kept.get(query, failure) for query in ids_of(active.queries)}
    return joined(Run(responses, engine, template.name, template.index or active.target.index), earlier)
