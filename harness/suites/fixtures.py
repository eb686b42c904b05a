"""
The fixture of a suite, and the check that its document file contains all documents that the suite names.

A misspelled id in a judgment would lower scores silently, and in "not in top" it would always hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import SuiteError
from harness.gate.conditions import list_named_documents
from harness.model.suite import Fixture, Mark, Query
from harness.suites.files import SuiteFiles
from harness.suites.grades import Judgments
from harness.suites.reading import Reading
from harness.suites.shape import FixtureShape
from harness.suites.yaml import MappingNode, Problems, ScalarNode, find_child
from harness.words import did_you_mean

MOST_SHOWN = 20
"""Missing ids that are listed; with a wrong file all of them are missing."""

SETTINGS = (
    "analysis",
    "analyze",
    "auto_expand_replicas",
    "codec",
    "highlight",
    "knn",
    "load_fixed_bitset_filters_eagerly",
    "mapping",
    "max_adjacency_matrix_filters",
    "max_docvalue_fields_search",
    "max_inner_result_window",
    "max_ngram_diff",
    "max_regex_length",
    "max_rescore_window",
    "max_result_window",
    "max_script_fields",
    "max_shingle_diff",
    "max_terms_count",
    "number_of_replicas",
    "number_of_routing_shards",
    "number_of_shards",
    "queries.cache",
    "query",
    "query_string",
    "refresh_interval",
    "requests.cache",
    "routing_partition_size",
    "search.default_pipeline",
    "search.idle",
    "similarity",
    "sort",
)
"""
The settings of an index that a fixture may have, with those below them. They change how its documents are analysed,
stored and searched, and nothing else: an ingest pipeline or a lifecycle of the cluster writes to other indexes.
"""


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """
    The *fixture* of a suite, the name of its document *file* in errors, and the *ids* that judgments of it may use.

    *ids* is None if they are unknown: the file is invalid, or a variable in its path is not set.
    """

    fixture: Fixture
    file: str = ""
    ids: frozenset[str] | None = None


def read_fixture(shape: FixtureShape, judged_field: str | None, reading: Reading, files: SuiteFiles) -> FixtureFile:
    """
    The suite's fixture, from its *shape*; problems of its documents are noted.

    *judged_field* holds the ids that judgments use, if it is not the field with the ids of the documents.
    """
    id_field = "id" if shape.id is None else str(shape.id)
    mark = reading.find_mark("fixture")
    _check_settings(reading)
    fixture = Fixture(str(shape.documents), shape.mappings, shape.settings, id_field, mark)
    file = files.find(shape.documents)
    if file is None or (shape.id is not None and shape.id.unset):
        return FixtureFile(fixture)
    from harness.search.indexes import read_field, read_ids

    try:
        if judged_field is not None:
            return FixtureFile(fixture, file.name, read_field(file.path, file.name, id_field, judged_field))
        return FixtureFile(fixture, file.name, read_ids(file.path, file.name, id_field))
    except SuiteError as error:
        reading.problems.extend(error.problems)
        return FixtureFile(fixture)


def _check_settings(reading: Reading) -> None:
    """Note each setting of the fixture that is not one of `SETTINGS`."""
    fixture = reading.root.find_child("fixture")
    settings = find_child(fixture, "settings")
    if not isinstance(settings, MappingNode):
        return
    for key, name in _walk_settings(settings):
        # Engines take each name with and without this beginning.
        plain_name = name.removeprefix("index.")
        is_listed = any(plain_name == setting or plain_name.startswith(f"{setting}.") for setting in SETTINGS)
        if not is_listed:
            expected = (
                "one of how the index of a fixture is analysed and searched, such as analysis or number_of_shards; "
                "docs/reference/suite-keys.md lists them"
            )
            guess = did_you_mean(plain_name, SETTINGS)
            reading.problems.note(key.mark, f"found the setting {name!r}, expected {expected}{guess}")


def _walk_settings(settings: MappingNode, prefix: str = "") -> Iterator[tuple[ScalarNode, str]]:
    """The last key and the whole name of each setting, whose dots may be written as mappings."""
    for key, value in settings.items():
        if isinstance(value, MappingNode):
            yield from _walk_settings(value, f"{prefix}{key}.")
        else:
            yield key, f"{prefix}{key}"


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
    judged: list[tuple[str, str]] = []
    expected: list[tuple[str, Mark]] = []
    for query in queries:
        judged += [(query.id, document) for document in query.judgments if document not in ids]
        for threshold in query.thresholds:
            documents = [document for document in list_named_documents(threshold.condition) if document not in ids]
            expected += [(document, threshold.mark) for document in documents]
    shown_judged = judged[:MOST_SHOWN]
    shown_expected = expected[: MOST_SHOWN - len(shown_judged)]
    missing = {document for _, document in shown_judged} | {document for document, _ in shown_expected}
    similar = _find_similar_ids(missing, ids)
    sentences = {}
    for document in missing:
        guess = did_you_mean(document, similar.get(document, ()))
        sentences[document] = f"the document {document!r} is not in {file}{guess}"
    judgments.note({(query_id, document): sentences[document] for query_id, document in shown_judged})
    for document, mark in shown_expected:
        problems.note(mark, sentences[document])
    others = len(judged) + len(expected) - len(shown_judged) - len(shown_expected)
    if others:
        # The problems of judgments are left out where judgments are not needed.
        collector = judgments.problems if len(judged) > len(shown_judged) else problems
        collector.note_others(f"{others:,} more documents that are not in {file} are not shown", others)


def _find_similar_ids(missing: Collection[str], ids: Collection[str]) -> Mapping[str, list[str]]:
    """
    For each of *missing* the similar ones of *ids*: one edit away, ignoring case.

    Two texts are one edit apart (insertion, deletion, substitution or transposition) only if they are equal after
    deleting at most one character of each. So one pass over the ids is enough, without comparing all pairs.
    """
    if not missing:
        return {}
    missing_by_variant: dict[str, list[str]] = {}
    for document in missing:
        for variant in _shorten(document):
            missing_by_variant.setdefault(variant, []).append(document)
    similar: dict[str, list[str]] = {}
    for known_id in ids:
        for variant in _shorten(known_id) & missing_by_variant.keys():
            for document in missing_by_variant[variant]:
                similar.setdefault(document, []).append(known_id)
    return similar


def _shorten(text: str) -> set[str]:
    """*text* in lower case, and each text with one character deleted."""
    folded = text.casefold()
    return {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}
