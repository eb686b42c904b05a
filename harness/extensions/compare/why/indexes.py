"""
How two indexes differ that exist already: what they have of documents, mapping and settings, and which hit of which
query is only in one of them. It is listed and no cause is named, as nothing can be built to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import SearchError
from harness.extensions.compare.why.differences import FIXTURE, split_requests
from harness.extensions.compare.why.sentences import name_difference
from harness.model.run import IndexFacts, Ranking, Run
from harness.model.suite import Json
from harness.search.protocol import Search
from harness.words import listed

QUERIES_LISTED = 20
DIFFERENCES_LISTED = 10


@dataclass(frozen=True, slots=True)
class IndexRun:
    """The rankings of one request on an index."""

    index: str
    run: Run


def describe_indexes(old: IndexRun, new: IndexRun, search: Search, queries: Iterable[str]) -> Iterator[str]:
    """
    How the two indexes differ, a sentence each.

    Args:
        old: A request on the first index.
        new: The same request on the second.
        search: Of the server that has both.
        queries: Those that moved, the first of which are looked at.
    """
    facts = [search.index_facts(side.index) for side in (old, new)]
    yield from _describe_facts((old.index, new.index), facts)
    looked_at = list(queries)[:QUERIES_LISTED]
    moved = {query: list_moved_hits(old.run, new.run, query) for query in looked_at}
    documents = list(dict.fromkeys(document for hits in moved.values() for document, _ in hits))
    if not documents:
        return
    try:
        homes = [search.inspector.find_homes(side.index, documents, {}) for side in (old, new)]
    except SearchError as error:
        yield f"which documents both have could not be read: {error}"
        return
    for query, hits in moved.items():
        sentence = _find_absent(query, hits, (old.index, new.index), homes)
        if sentence:
            yield sentence


def list_moved_hits(old: Run, new: Run, query: str) -> list[tuple[str, int]]:
    """The documents that only one of the two rankings of *query* has, with their ranks, the highest first."""
    rankings = [run.responses.get(query) for run in (old, new)]
    ids = [ranking.ids if isinstance(ranking, Ranking) else () for ranking in rankings]
    moved = []
    for own, other in (ids, reversed(ids)):
        moved += [(document, rank) for rank, document in enumerate(own, start=1) if document not in other]
    return sorted(moved, key=lambda hit: hit[1])


def _describe_facts(names: tuple[str, str], facts: Sequence[IndexFacts]) -> Iterator[str]:
    """The numbers of documents, and the first differences of mappings and settings, as far as they can be read."""
    counts = [fact.documents for fact in facts]
    if None not in counts and counts[0] != counts[1]:
        yield f"{names[0]} has {counts[0]:,} documents, {names[1]} has {counts[1]:,}"
    for what, texts in (
        ("mapping", [fact.mapping_json for fact in facts]),
        ("settings", [fact.settings_json for fact in facts]),
    ):
        if None in texts or texts[0] == texts[1]:
            continue
        splitting = split_requests(*({FIXTURE: _take_only(text)} for text in texts))
        changes = [
            f"{difference.pointer.removeprefix(f'/{FIXTURE}')} {name_difference(difference)}"
            for difference in splitting.list_differences()
        ]
        yield f"the {what} of {names[1]} differs: {listed(changes, DIFFERENCES_LISTED)}"


def _take_only(text: Json) -> Json:
    """The mapping of the only index where *text* is a list with one for each."""
    return text[0] if isinstance(text, list) and len(text) == 1 else text


def _find_absent(
    query: str,
    hits: Sequence[tuple[str, int]],
    names: tuple[str, str],
    homes: Sequence[Mapping[str, Sequence[str]]],
) -> str:
    """The first of *hits* that one of the indexes does not have; empty where both have all of them."""
    for document, rank in hits:
        for name, found in zip(names, homes, strict=True):
            if not found.get(document):
                return f"{query}: {document}, at rank {rank} in the other, is not in {name}"
    return ""
