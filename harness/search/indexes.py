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
from harness.files.opening import FileProblems
from harness.files.tables import iterate_lines, read_json_rows
from harness.model.run import Failure
from harness.model.suite import Json, Mark
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
from harness.search.texts import find_value
from harness.words import did_you_mean

LONGEST_ID = 512
"""Bytes that an engine takes for an `_id`."""


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


def read_field(path: Path, shown: str, id_field: str, field: str) -> frozenset[str]:
    """The values of *field*, which each of the same documents has one of; raises like `read_documents`."""
    values: set[str] = set()
    problems: list[Problem] = []
    for document in _walk_documents(path, shown, id_field):
        value = find_value(json.loads(document.source), field)
        if is_text(value) or type(value) is int:
            values.add(str(value))
        else:
            message = f"the document has no text or whole number in {field!r}, the `id_field` of the target"
            problems.append(Problem(shown, document.line, 1, message))
    if problems:
        raise SuiteError(problems)
    return frozenset(values)


def _walk_documents(path: Path, shown: str, id_field: str) -> Iterator[Document]:
    """Each document as it is read; problems are raised after the last one."""
    findings = FileProblems(shown)
    lines: dict[str, int] = {}
    try:
        with path.open("rb") as file:
            for line, content, text in read_json_rows(
                iterate_lines(file, findings), findings, [id_field], needed=False
            ):
                problem = _find_problem(content, id_field)
                document_id = str(content.get(id_field))
                if problem is None and document_id in lines:
                    problem = f'the id "{document_id}" is already used in line {lines[document_id]}'
                if problem is not None:
                    findings.add(line, problem, text)
                    continue
                lines[document_id] = line
                yield Document(line, document_id, text.strip().encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SuiteError([Problem(shown, 0, 0, f"the document file cannot be read: {reason}")]) from error
    problems = findings.list_all()
    if not is_quotable(path):
        problems = [conceal(problem) for problem in problems]
    if problems:
        raise SuiteError(problems)
    if not lines:
        raise SuiteError([Problem(shown, 0, 0, "the file has no documents")])


def _find_problem(content: Mapping[str, Json], id_field: str) -> str | None:
    """What is wrong with the id of a document; None where nothing is."""
    identity = content.get(id_field)
    if identity is None:
        return f'the document has no field "{id_field}", which holds its id{did_you_mean(id_field, content)}'
    if not is_text(identity) and type(identity) is not int:
        return f'"{id_field}" should be a text or a whole number, found {json.dumps(identity)}'
    if len(str(identity).encode()) > LONGEST_ID:
        return f'"{id_field}" is longer than the {LONGEST_ID} bytes that an engine allows for an id'
    return None


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

    def find_last_use(self) -> datetime | None:
        """When it was last used; None if that is not a time with a time zone."""
        try:
            moment = datetime.fromisoformat(self.used)
        except ValueError:
            return None
        return moment if moment.tzinfo is not None else None


def read_marker(meta: Json) -> Marker | None:
    """The marker in a mapping's `_get_meta`; None if there is no valid one."""
    member = meta.get(KEY) if isinstance(meta, Mapping) else None
    if not isinstance(member, Mapping) or member.get("made_by") != "relevance-harness":
        return None
    types = {"name": str, "fingerprint": str, "build": str, "indexed": int, "complete": bool, "used": str}
    values: dict[str, Any] = {}
    for name, type_ in types.items():
        values[name] = member.get(name)
        if not isinstance(values[name], type_):
            return None
    return Marker(**values)


MOST_DOCUMENTS = 500
_MOST_BYTES = 2 * 1024 * 1024
SHOWN_ERRORS = 5
PRIVILEGES = "building an index needs the privileges create_index, delete_index, manage, read and write on its name"


@dataclass(frozen=True, slots=True)
class _IndexedDocument:
    """What became of a document of a bulk request: the engine's *status* for it, and its *error*, if any."""

    document: Document
    status: int
    error: Json


NO_PIPELINES: Mapping[str, Json] = {"index.default_pipeline": "_none", "index.final_pipeline": "_none"}
"""Also those of the cluster's index templates: a pipeline may write to other indexes."""


class Indexes:
    """The indexes of one cluster."""

    def __init__(self, connection: Connection, retries: Retries) -> None:
        self._connection = connection
        self._retries = retries

    def read_markers(self, pattern: str) -> dict[str, Marker | None]:
        """
        The markers of the indexes that *pattern* matches, by name; None for an index without one.

        An alias of that name counts as an index without a marker.
        """
        path = f"/{quote(pattern, safe='*')}/_mapping?filter_path=*.mappings._meta"
        answer = self._call(ServerRequest("GET", path), allowed=(404,))
        if answer.status == 404:
            return {}
        markers: dict[str, Marker | None] = {}
        for name, member in self._read_object(answer).items():
            mappings = member.get("mappings") if isinstance(member, Mapping) else None
            markers[name] = read_marker(mappings.get("_meta") if isinstance(mappings, Mapping) else None)
        if "*" not in pattern and pattern not in markers:
            return {pattern: None}
        return markers

    def create(self, index: str, settings: Mapping[str, Json], mappings: Mapping[str, Json], mark: Mark) -> bool:
        """
        Create *index*; False if it exists.

        Raises:
            SuiteError: The mappings are invalid; *mark* is their place.
            FixtureError: The engine refuses for another reason, such as too many shards.
        """
        body = json.dumps({"settings": {**settings, **NO_PIPELINES}, "mappings": mappings}).encode()
        answer = self._call(ServerRequest("PUT", _make_path(index), body), allowed=(400,))
        content = self._read_object(answer)
        if answer.status == 400:
            if _read_error_type(content) in ("resource_already_exists_exception", "invalid_index_name_exception"):
                # An alias of that name is refused as an invalid name; the caller then looks it up.
                reason = explain_error(content.get("error"))
                if "already exists" in reason:
                    return False
                raise FixtureError(self._connection.mask(f"the index cannot be created: {reason}"))
            refusal = self._make_error(f'the index "{index}" cannot be created', answer)
            if _read_error_type(content) == "mapper_parsing_exception":
                raise SuiteError.at(mark.path, mark.line, mark.column, str(refusal))
            raise refusal
        if content.get("acknowledged") is not True or content.get("shards_acknowledged") is not True:
            raise FixtureError(f'the index "{index}" was created, but its shards were not allocated in time')
        return True

    def write_marker(self, index: str, marker: Marker, own_meta: Json) -> None:
        """Write *marker* into *index*."""
        body = json.dumps({"_meta": marker.as_meta(own_meta)}).encode()
        self._call(ServerRequest("PUT", f"{_make_path(index)}/_mapping", body))

    def delete(self, index: str) -> None:
        """Delete *index*, if it exists."""
        self._call(ServerRequest("DELETE", _make_path(index)), allowed=(404,))

    def refresh(self, index: str) -> None:
        """Make all indexed documents visible to searches."""
        self._call(ServerRequest("POST", f"{_make_path(index)}/_refresh"))

    def count_documents(self, index: str) -> int:
        """The number of documents that searches see."""
        answer = self._call(ServerRequest("GET", f"{_make_path(index)}/_count"))
        count = read_document_count(self._read_object(answer))
        if count is None:
            raise FixtureError(f'the engine did not return how many documents "{index}" has')
        return count

    def split_documents(self, documents: Sequence[Document]) -> Iterator[list[Document]]:
        """*documents* in chunks, one for each bulk request."""
        chunk: list[Document] = []
        size = 0
        for document in documents:
            if chunk and (len(chunk) >= MOST_DOCUMENTS or size + len(document.source) > _MOST_BYTES):
                yield chunk
                chunk, size = [], 0
            chunk.append(document)
            size += len(document.source)
        if chunk:
            yield chunk

    def index_documents(self, index: str, documents: Sequence[Document], shown: str) -> None:
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
            outcomes = self._send_bulk(index, pending)
            refused = [outcome for outcome in outcomes if outcome.status >= 300 and outcome.status not in BUSY]
            if refused:
                raise self._make_refusal(refused, shown)
            busy = [outcome for outcome in outcomes if outcome.status in BUSY]
            pending = [outcome.document for outcome in busy]
            if pending and not self._retries.wait(attempt, started=started, server_pause=None, end=None):
                reason = self._connection.mask(explain_error(busy[0].error))
                raise FixtureError(f"the engine is too busy to index {len(pending)} documents of {shown}: {reason}")

    def _make_refusal(self, refused: Sequence[_IndexedDocument], shown: str) -> SuiteError | FixtureError:
        """Status 400 means that a document does not fit the mappings; any other has another cause."""
        problems = []
        for outcome in refused[:SHOWN_ERRORS]:
            sentence = self._connection.mask(f"the engine refuses the document: {explain_error(outcome.error)}")
            problems.append(Problem(shown, outcome.document.line, 1, sentence))
        others = len(refused) - len(problems)
        if others:
            problems.append(Problem(shown, 0, 0, f"{others} more refused documents are not shown", count=others))
        if not is_quotable(Path(shown)):
            # An engine's reason has the value that it refuses.
            problems = [conceal(problem) for problem in problems]
        suite_error = SuiteError(problems)
        if all(outcome.status == BAD_REQUEST for outcome in refused):
            return suite_error
        return FixtureError(str(suite_error))

    def _send_bulk(self, index: str, documents: Sequence[Document]) -> list[_IndexedDocument]:
        """Index *documents* by one request; returns what became of each, in their order."""
        lines = []
        for document in documents:
            identity = json.dumps(document.id).encode()
            lines.append(b'{"index":{"_id":%b}}\n%b\n' % (identity, document.source))
        path = f"{_make_path(index)}/_bulk?pipeline=_none"
        answer = self._call(ServerRequest("POST", path, b"".join(lines), NDJSON))
        content = self._read_object(answer)
        items = content.get("items")
        outcomes = []
        if isinstance(items, list) and len(items) == len(documents):
            for document, item in zip(documents, items, strict=True):
                outcome = _read_outcome(document, item)
                if outcome is not None:
                    outcomes.append(outcome)
        has_failed = any(outcome.status >= 300 for outcome in outcomes)
        if len(outcomes) != len(documents) or content.get("errors") is not has_failed:
            raise FixtureError(f'the engine did not return the result of each document of a bulk request to "{index}"')
        return outcomes

    def _call(self, request: ServerRequest, *, allowed: tuple[int, ...] = ()) -> Answer:
        """The answer to *request*, retried while the engine is busy; statuses in *allowed* are no errors."""
        answer = ask_one(self._connection, self._retries, request)
        if refuses_login(answer):
            raise LoginRefused(self._connection.mask(f"{describe_refusal(answer)}; {PRIVILEGES}"))
        if answer.status not in COMPLETE and answer.status not in allowed:
            raise self._make_error(f"the engine refuses {request.method} {request.path}", answer)
        return answer

    def _make_error(self, sentence: str, answer: Answer) -> FixtureError:
        return FixtureError(self._connection.mask(f"{sentence}: {describe_refusal(answer)}"))

    def _read_object(self, answer: Answer) -> Mapping[str, Any]:
        """The object in *answer*; empty where it is something else."""
        content = read_json(answer)
        if isinstance(content, Failure):
            raise FixtureError(self._connection.mask(content.reason))
        return content if isinstance(content, Mapping) else {}


def _make_path(index: str) -> str:
    return f"/{quote(index, safe='')}"


def _read_outcome(document: Document, item: Json) -> _IndexedDocument | None:
    """What *item* of the answer to a bulk request says of *document*; None if it is about something else."""
    outcome = item.get("index") if isinstance(item, Mapping) else None
    if not isinstance(outcome, Mapping) or outcome.get("_id") != document.id:
        return None
    status = outcome.get("status")
    if type(status) is not int or not 200 <= status < 600:
        return None
    return _IndexedDocument(document, status, outcome.get("error"))


def _read_error_type(content: Mapping[str, Json]) -> str:
    error = content.get("error")
    return str(error.get("type")) if isinstance(error, Mapping) else ""
