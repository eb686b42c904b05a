"""
A suite's own index: what it is built from, and whether the documents that the suite names are among those it brings.

An id with a slip of the pen is judged and never found, which lowers scores in silence, and is expected not to be found
with success.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import SuiteError, did_you_mean
from harness.model import Before, Fixture, InTop, Mark, Query, Threshold
from harness.search.documents import read_ids
from harness.suites.judgments import Judgments
from harness.suites.reading import Reading, SuiteFiles
from harness.suites.yaml import Problems

MOST_SHOWN = 20
"""Ids that are told; where the wrong file is named, all of them are missing."""


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """
    What a suite brings along: its *fixture*, what errors call the *file* of documents, and their *ids*.

    *ids* is None where they cannot be known: the file is wrong, or a variable that says where they are is not set.
    """

    fixture: Fixture
    file: str = ""
    ids: frozenset[str] | None = None


def read_fixture(reading: Reading, files: SuiteFiles) -> FixtureFile | None:
    """The suite's fixture, None where it has none; what is wrong in its documents is told."""
    shape = reading.shape.fixture
    if shape is None:
        return None
    id_field = "id" if shape.id is None else str(shape.id)
    mark = reading.key_mark("fixture")
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
    Each document that is judged, or that an expectation names, is one of those that the suite brings along.

    Args:
        fixture_file: Where their ids are not known, nothing is told.
        queries: With their judgments and expectations.
        judgments: Tells where each judgment stands.
        problems: Takes what is wrong.
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
        problems.at(mark, sentence(document))
    others = len(judged) + len(expected) - len(shown_judged) - len(shown_expected)
    if others:
        collector = judgments.problems if len(judged) > len(shown_judged) else problems
        collector.others(f"{others:,} more documents that are not in {file} are not shown", others)


def _expected(queries: Sequence[Query]) -> Iterator[tuple[str, Mark]]:
    for query in queries:
        for threshold in query.thresholds:
            for document in _documents_of(threshold):
                yield document, threshold.mark


def _documents_of(threshold: Threshold) -> tuple[str, ...]:
    condition = threshold.condition
    if isinstance(condition, InTop):
        return (condition.document,)
    return (condition.document, condition.other) if isinstance(condition, Before) else ()


def _similar_ids(missing: Collection[str], ids: Collection[str]) -> Mapping[str, list[str]]:
    """
    For each of *missing* those of *ids* that it is one slip away from, letter case aside.

    Two texts are one slip apart (a character more, less, other, or two swapped) only where they are the same once
    one character at most is left out of each. That takes one pass over the ids, and no comparison of all with all.
    """
    by_shortened: dict[str, list[str]] = {}
    for document in missing:
        for text in _shortened(document):
            by_shortened.setdefault(text, []).append(document)
    similar: dict[str, list[str]] = {}
    for known in ids if by_shortened else ():
        for text in _shortened(known) & by_shortened.keys():
            for document in by_shortened[text]:
                similar.setdefault(document, []).append(known)
    return similar


def _shortened(text: str) -> set[str]:
    """*text*, and what is left of it without each of its characters."""
    folded = text.casefold()
    return {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}
