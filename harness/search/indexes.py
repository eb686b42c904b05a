"""
How documents get into an index: they are read from a file, and requests create, mark, fill and delete the index.

Nothing here decides whether the harness may write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.errors import FixtureError, LoginRefused, Problem, SuiteError
from harness.files.border import conceal, is_quotable
from harness.model import Failure, Json, Mark
from harness.search.answers import (
    BAD_REQUEST,
    BUSY,
    COMPLETE,
    describe_refusal,
    explain_error,
    read_json,
    refuses_login,
)
from harness.search.connection import NDJSON, Answer, Connection
from harness.search.engine_state import read_document_count
from harness.search.hits import is_text
from harness.search.server_health import Retries, ServerRequest, ask_one
from harness.words import did_you_mean

LONGEST_ID = 512
"""Bytes that an engine takes for an `_id`."""

MOST_PROBLEMS = 20
"""Problems that are listed; a file of another kind has one on each line."""


@dataclass(frozen=True, slots=True)
class Document:
    """A line of the file: *source* is the object as written there."""

    line: int
    id: str
    source: bytes


def read_documents(path: Path, shown: str, id_field: str) -> list[Document]:
    """
    The documents of the file at *path*, in its order; empty lines are left out.

    Args:
        path: Where the file is.
        shown: Its name in errors.
        id_field: The member of each document that is its id, a text or a whole number.

    Raises:
        SuiteError: The file cannot be read, is not UTF-8, or holds something else than documents with ids of their own.
    """
    return list(_walk_documents(path, shown, id_field))


def read_ids(path: Path, shown: str, id_field: str) -> frozenset[str]:
    """The ids of the same documents, without keeping the documents; raises like `read_documents`."""
    return frozenset(document.id for document in _walk_documents(path, shown, id_field))


def _walk_documents(path: Path, shown: str, id_field: str) -> Iterator[Document]:
    """Each document as it is read; problems are raised after the last one."""
    problems: list[Problem] = []
    wrong = 0
    lines: dict[str, int] = {}
    for number, text in _walk_lines(path, shown):
        found = _parse_document(number, text, id_field)
        if isinstance(found, Document) and found.id in lines:
            found = (1, f'the id "{found.id}" is already used in line {lines[found.id]}')
        if isinstance(found, Document):
            lines[found.id] = number
            yield found
            continue
        wrong += 1
        if wrong <= MOST_PROBLEMS:
            problems.append(Problem(shown, number, *found))
    if wrong > MOST_PROBLEMS:
        others = wrong - MOST_PROBLEMS
        problems.append(Problem(shown, 0, 0, f"{others:,} more lines have errors that are not shown", count=others))
    if problems:
        raise SuiteError(problems)
    if not lines:
        raise SuiteError([Problem(shown, 0, 0, "the file has no documents")])


def _walk_lines(path: Path, shown: str) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            stripped = map(bytes.strip, file)
            yield from ((number, line) for number, line in enumerate(stripped, start=1) if line)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SuiteError([Problem(shown, 0, 0, f"the document file cannot be read: {reason}")]) from error


def _parse_document(number: int, line: bytes, id_field: str) -> Document | tuple[int, str]:
    """The document in *line*, or the column and the sentence of what is wrong with it."""
    try:
        content = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        return error.start + 1, "the line is not UTF-8"
    except json.JSONDecodeError as error:
        return error.colno, f"the line is not JSON: {error.msg}"
    except (ValueError, RecursionError) as error:
        return 1, f"the line is not JSON: {error}"
    if not isinstance(content, dict):
        return 1, "expected one JSON object per line"
    identity = content.get(id_field)
    if identity is None:
        return 1, f'the document has no field "{id_field}", which holds its id{did_you_mean(id_field, content)}'
    return _check_id(number, line, identity, id_field)


def _check_id(number: int, line: bytes, identity: Json, id_field: str) -> Document | tuple[int, str]:
    if not is_text(identity) and type(identity) is not int:
        return 1, f'"{id_field}" should be a text or a whole number, found {json.dumps(identity)}'
    if len(str(identity).encode()) > LONGEST_ID:
        return 1, f'"{id_field}" is longer than the {LONGEST_ID} bytes that an engine allows for an id'
    return Document(number, str(identity), line)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"it has no {constant}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""One decoder for all lines, which halves the time."""


KEY = "relevance_harness"
"""The key in `_get_meta` of an index's mappings under which the harness says that it made the index, and from what."""


@dataclass(frozen=True, slots=True)
class Marker:
    """
    The marker in an index of the harness.

    *name* is the suite's, *fingerprint* that of its sources. *build* identifies the builder, *indexed* is the number of
    documents so far, *complete* that the build is finished. *used* is when a run last used the index, in ISO 8601.
    """

    name: str
    fingerprint: str
    build: str
    indexed: int
    complete: bool
    used: str
    made_by: str = "relevance-harness"

    def as_meta(self, own: Json) -> dict[str, Any]:
        """The `_get_meta` with this marker and with the *own* one of the suite's mappings."""
        return {**(own if isinstance(own, Mapping) else {}), KEY: asdict(self)}

    def used_at(self) -> datetime | None:
        """When it was last used; None if that is not a time with a time zone."""
        try:
            moment = datetime.fromisoformat(self.used)
        except ValueError:
            return None
        return moment if moment.tzinfo is not None else None


def read_marker(meta: Json) -> Marker | None:
    """The marker in a mapping's `_get_meta`; None if there is no valid one."""
    held = meta.get(KEY) if isinstance(meta, Mapping) else None
    if not isinstance(held, Mapping) or held.get("made_by") != "relevance-harness":
        return None
    kinds = {"name": str, "fingerprint": str, "build": str, "indexed": int, "complete": bool, "used": str}
    values = {name: held.get(name) for name in kinds}
    if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
        return None
    return Marker(**values)  # type: ignore[arg-type]  # each value's type was just checked


MOST_DOCUMENTS = 500
MOST_BYTES = 2 * 1024 * 1024
SHOWN_ERRORS = 5
PRIVILEGES = "building an index needs the privileges create_index, delete_index, manage, read and write on its name"


class Indexes:
    """The indexes of one cluster."""

    def __init__(self, connection: Connection, retries: Retries) -> None:
        self._connection = connection
        self._retries = retries

    def markers(self, pattern: str) -> dict[str, Marker | None]:
        """
        The markers of the indexes that *pattern* matches, by name; None for an index without one.

        An alias of that name counts as an index without a marker.
        """
        answer = self._call("GET", f"/{quote(pattern, safe='*')}/_mapping?filter_path=*.mappings._meta", allowed=(404,))
        if answer.status == 404:
            return {}
        content = self._content(answer)
        found = {name: read_marker(_get_meta(held)) for name, held in content.items()}
        return found if "*" in pattern or pattern in found else {pattern: None}

    def create(self, index: str, settings: Mapping[str, Json], mappings: Mapping[str, Json], mark: Mark) -> bool:
        """
        Create *index*; False if it exists.

        Raises:
            SuiteError: The mappings are invalid; *mark* is their place.
            FixtureError: The engine refuses for another reason, such as too many shards.
        """
        body = {"settings": settings, "mappings": mappings}
        answer = self._call("PUT", _make_path(index), body, allowed=(400,))
        content = self._content(answer)
        if answer.status == 400:
            if _read_error_type(content) in ("resource_already_exists_exception", "invalid_index_name_exception"):
                return self._exists_already(content)
            refusal = self._failed(f'the index "{index}" cannot be created', answer)
            if _read_error_type(content) == "mapper_parsing_exception":
                raise SuiteError.at(mark.path, mark.line, mark.column, str(refusal))
            raise refusal
        if content.get("acknowledged") is not True or content.get("shards_acknowledged") is not True:
            raise FixtureError(f'the index "{index}" was created, but its shards were not allocated in time')
        return True

    def _exists_already(self, content: Mapping[str, Json]) -> bool:
        """An alias of that name is refused as an invalid name; the caller then looks it up."""
        reason = explain_error(content.get("error"))
        if "already exists" in reason:
            return False
        raise FixtureError(self._connection.mask(f"the index cannot be created: {reason}"))

    def mark(self, index: str, marker: Marker, own_meta: Json) -> None:
        """Write *marker* into *index*."""
        self._call("PUT", f"{_make_path(index)}/_mapping", {"_meta": marker.as_meta(own_meta)})

    def delete(self, index: str) -> None:
        """Delete *index*, if it exists."""
        self._call("DELETE", _make_path(index), allowed=(404,))

    def refresh(self, index: str) -> None:
        """Make all indexed documents visible to searches."""
        self._call("POST", f"{_make_path(index)}/_refresh")

    def count(self, index: str) -> int:
        """The number of documents that searches see."""
        count = read_document_count(self._content(self._call("GET", f"{_make_path(index)}/_count")))
        if count is None:
            raise FixtureError(f'the engine did not return how many documents "{index}" has')
        return count

    def chunks(self, documents: Sequence[Document]) -> Iterator[list[Document]]:
        """*documents* in chunks, one for each bulk request."""
        chunk: list[Document] = []
        size = 0
        for document in documents:
            if chunk and (len(chunk) >= MOST_DOCUMENTS or size + len(document.source) > MOST_BYTES):
                yield chunk
                chunk, size = [], 0
            chunk.append(document)
            size += len(document.source)
        if chunk:
            yield chunk

    def write(self, index: str, documents: Sequence[Document], shown: str) -> None:
        """
        Index *documents*; those that a busy engine rejects are sent again.

        Raises:
            SuiteError: The engine refuses some of them as invalid: the first are listed by line of the file *shown*.
            FixtureError: The engine refuses some for another reason, or is too busy.
        """
        started = self._retries.clock.now()
        pending, attempt = list(documents), 0
        while pending:
            attempt += 1
            outcomes = self._bulk(index, pending)
            refused = [outcome for outcome in outcomes if outcome[1] >= 300 and outcome[1] not in BUSY]
            if refused:
                raise self._refusal(refused, shown)
            busy = [(one, error) for one, status, error in outcomes if status in BUSY]
            pending = [one for one, _ in busy]
            if pending and not self._retries.wait(attempt, started=started, server_pause=None, end=None):
                reason = self._connection.mask(explain_error(busy[0][1]))
                raise FixtureError(f"the engine is too busy to index {len(pending)} documents of {shown}: {reason}")

    def _refusal(self, refused: Sequence[tuple[Document, int, Json]], shown: str) -> SuiteError | FixtureError:
        """Status 400 means that a document does not fit the mappings; any other has another cause."""
        problems = [
            Problem(
                shown, one.line, 1, self._connection.mask(f"the engine refuses the document: {explain_error(error)}")
            )
            for one, _, error in refused[:SHOWN_ERRORS]
        ]
        others = len(refused) - len(problems)
        if others:
            problems.append(Problem(shown, 0, 0, f"{others} more refused documents are not shown", count=others))
        if not is_quotable(Path(shown)):  # an engine's reason has the value that it refuses
            problems = list(map(conceal, problems))
        suite_error = SuiteError(problems)
        return suite_error if all(status == BAD_REQUEST for _, status, _ in refused) else FixtureError(str(suite_error))

    def _bulk(self, index: str, documents: Sequence[Document]) -> list[tuple[Document, int, Json]]:
        lines = (b'{"index":{"_id":%b}}\n%b\n' % (json.dumps(one.id).encode(), one.source) for one in documents)
        answer = self._call("POST", f"{_make_path(index)}/_bulk", b"".join(lines), mime=NDJSON)
        content = self._content(answer)
        items = content.get("items")
        outcomes = [_read_outcome(item) for item in items] if isinstance(items, list) else []
        complete = [outcome for outcome in outcomes if outcome is not None]
        failed = any(status >= 300 for _, status, _ in complete)
        ids = [identity for identity, _, _ in complete]
        if ids != [one.id for one in documents] or content.get("errors") is not failed:
            raise FixtureError(f'the engine did not return the result of each document of a bulk request to "{index}"')
        return [(document, status, error) for document, (_, status, error) in zip(documents, complete, strict=True)]

    def _call(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        allowed: tuple[int, ...] = (),
        mime: str = "application/json",
    ) -> Answer:
        """The answer to a request, retried while the engine is busy; statuses in *allowed* are no errors."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        answer = ask_one(self._connection, self._retries, ServerRequest(method, path, data, mime))
        if refuses_login(answer):
            raise LoginRefused(self._connection.mask(f"{describe_refusal(answer)}; {PRIVILEGES}"))
        if answer.status not in COMPLETE and answer.status not in allowed:
            raise self._failed(f"the engine refuses {method} {path}", answer)
        return answer

    def _failed(self, sentence: str, answer: Answer) -> FixtureError:
        return FixtureError(self._connection.mask(f"{sentence}: {describe_refusal(answer)}"))

    def _content(self, answer: Answer) -> Mapping[str, Any]:
        content = read_json(answer)
        if isinstance(content, Failure):
            raise FixtureError(self._connection.mask(content.reason))
        return content if isinstance(content, Mapping) else {}


def _make_path(index: str) -> str:
    return f"/{quote(index, safe='')}"


def _get_meta(held: Json) -> Json:
    mappings = held.get("mappings") if isinstance(held, Mapping) else None
    return mappings.get("_meta") if isinstance(mappings, Mapping) else None


def _read_outcome(item: Json) -> tuple[str, int, Json] | None:
    """The id and status of one document of a bulk request, and its error if any; None if the item is invalid."""
    outcome = item.get("index") if isinstance(item, Mapping) else None
    if not isinstance(outcome, Mapping):
        return None
    identity, status, error = outcome.get("_id"), outcome.get("status"), outcome.get("error")
    if not isinstance(identity, str) or type(status) is not int or not 200 <= status < 600:
        return None
    return identity, status, error


def _read_error_type(content: Mapping[str, Json]) -> str:
    error = content.get("error")
    return str(error.get("type")) if isinstance(error, Mapping) else ""
