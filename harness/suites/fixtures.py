"""
The fixture of a suite, and the check that its document file contains all documents that the suite names.

A misspelled id in a judgment would lower scores silently, and in "not in top" it would always hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import SuiteError
from harness.gate.judge_answers import list_named_documents
from harness.model import Fixture, Mark, Query
from harness.search.indexes import read_ids
from harness.suites.grades import Judgments
from harness.suites.reading import Reading, SuiteFiles
from harness.suites.yaml import Problems
from harness.words import did_you_mean, grouped

MOST_SHOWN = 20
"""Missing ids that are listed; with a wrong file all of them are missing."""


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """
    The *fixture* of a suite, the name of its document *file* in errors, and the *ids* of its documents.

    *ids* is None if they are unknown: the file is invalid, or a variable in its path is not set.
    """

    fixture: Fixture
    file: str = ""
    ids: frozenset[str] | None = None


def read_fixture(reading: Reading, files: SuiteFiles) -> FixtureFile | None:
    """The suite's fixture, None if it has none; problems of its documents are noted."""
    shape = reading.shape.fixture
    if shape is None:
        return None
    id_field = "id" if shape.id is None else str(shape.id)
    mark = reading.find_mark("fixture")
    fixture = Fixture(str(shape.documents), shape.mappings, shape.settings, id_field, mark)
    file = files.find(shape.documents)
    if file is None or (shape.id is not None and shape.id.unset):
        return FixtureFile(fixture)
    try:
        return FixtureFile(fixture, file.name, read_ids(file.path, file.name, id_field))
    except SuiteError as error:
        reading.problems.extend(error.problems)
        return FixtureFile(fixture)


def check_documents(
    fixture_file: FixtureFile, queries: Sequence[Query], judgments: Judgments, problems: Problems
) -> None:
    """
    Check that every judged or expected document is in the fixture.

    Args:
        fixture_file: If its ids are unknown, nothing is checked.
        queries: With their judgments and expectations.
        judgments: Has the place of each judgment.
        problems: Receives the problems.
    """
    file, ids = fixture_file.file, fixture_file.ids
    if ids is None:
        return
    judged = [(query.id, document) for query in queries for document in query.judgments if document not in ids]
    expected = [(document, mark) for document, mark in _expected(queries) if document not in ids]
    shown_judged, shown_expected = judged[:MOST_SHOWN], expected[: MOST_SHOWN - len(judged[:MOST_SHOWN])]
    similar = _similar_ids(
        {document for _, document in shown_judged} | {document for document, _ in shown_expected}, ids
    )

    def sentence(document: str) -> str:
        return f"the document {document!r} is not in {file}{did_you_mean(document, similar.get(document, ()))}"

    judgments.note({pair: sentence(pair[1]) for pair in shown_judged})
    for document, mark in shown_expected:
        problems.note(mark, sentence(document))
    others = len(judged) + len(expected) - len(shown_judged) - len(shown_expected)
    if others:
        collector = judgments.problems if len(judged) > len(shown_judged) else problems
        collector.note_others(f"{others:,} more documents that are not in {file} are not shown", others)


def _expected(queries: Sequence[Query]) -> Iterator[tuple[str, Mark]]:
    for query in queries:
        for threshold in query.thresholds:
            for document in list_named_documents(threshold.condition):
                yield document, threshold.mark


def _similar_ids(missing: Collection[str], ids: Collection[str]) -> Mapping[str, list[str]]:
    """
    For each of *missing* the similar ones of *ids*: one edit away, ignoring case.

    Two texts are one edit apart (insertion, deletion, substitution or transposition) only if they are equal after
    deleting at most one character of each. So one pass over the ids is enough, without comparing all pairs.
    """
    by_shortened = grouped((text, document) for document in missing for text in _shortened(document))
    similar: dict[str, list[str]] = {}
    for known in ids if by_shortened else ():
        for text in _shortened(known) & by_shortened.keys():
            for document in by_shortened[text]:
                similar.setdefault(document, []).append(known)
    return similar


def _shortened(text: str) -> set[str]:
    """*text* in lower case, and each text with one character deleted."""
    folded = text.casefold()
    return {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}
