"""A file of documents, one JSON object a line, with every problem named by its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Problem, SuiteError, did_you_mean
from harness.model import Json
from harness.search.hits import is_text

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
    return list(_documents(path, shown, id_field))


def read_ids(path: Path, shown: str, id_field: str) -> frozenset[str]:
    """The ids of the same documents, without keeping the documents; raises like `read_documents`."""
    return frozenset(document.id for document in _documents(path, shown, id_field))


def _documents(path: Path, shown: str, id_field: str) -> Iterator[Document]:
    """Each document as it is read; problems are raised after the last one."""
    problems: list[Problem] = []
    wrong = 0
    lines: dict[str, int] = {}
    for number, text in _lines(path, shown):
        found = _document(number, text, id_field)
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


def _lines(path: Path, shown: str) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            stripped = map(bytes.strip, file)
            yield from ((number, line) for number, line in enumerate(stripped, start=1) if line)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SuiteError([Problem(shown, 0, 0, f"the document file cannot be read: {reason}")]) from error


def _document(number: int, line: bytes, id_field: str) -> Document | tuple[int, str]:
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
        return 1, f'the document has no "{id_field}", which is its id{did_you_mean(id_field, content)}'
    return _identified(number, line, identity, id_field)


def _identified(number: int, line: bytes, identity: Json, id_field: str) -> Document | tuple[int, str]:
    if not is_text(identity) and type(identity) is not int:
        return 1, f'"{id_field}" should be a text or a whole number, found {json.dumps(identity)}'
    if len(str(identity).encode()) > LONGEST_ID:
        return 1, f'"{id_field}" is longer than the {LONGEST_ID} bytes that an engine allows for an id'
    return Document(number, str(identity), line)


def _refuse(constant: str) -> None:
    raise ValueError(f"it has no {constant}")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
"""One decoder for all lines, which halves the time."""
