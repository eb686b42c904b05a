"""The texts and URLs of pooled documents: looked up by id, or what a service returned with its hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from harness.agreement import Pair
from harness.extensions.judging.model import Pool, PooledDocument
from harness.extensions.judging.pool import PooledRun
from harness.masking import fingerprint
from harness.model.run import Hit, Ranking
from harness.model.suite import Display, Suite
from harness.run.look_ups import add_looked_up_texts
from harness.search.dialects import find_dialect
from harness.search.lookup import LookUp, look_up_documents
from harness.search.protocol import LookUpOptions
from harness.suites.display import list_shown_fields
from harness.suites.requests import build_request
from harness.words import grouped

if TYPE_CHECKING:
    from harness.search.protocol import Search


@dataclass(frozen=True, slots=True)
class TextOptions:
    """What the user wants to see of documents, in place of what the suite shows."""

    fields: tuple[str, ...] = ()
    """Fields whose texts are shown."""
    has_snippet: bool = False
    """Whether a snippet of the longest text is shown beside fields; without fields it always is."""
    highlights: bool = False
    """Whether words of the query are marked in titles and fields, where the server can do that."""


ANY_TEXT = "*"
"""What stands for the field of a snippet, which is of the longest text."""


def fingerprint_texts(document: PooledDocument, display: Display) -> dict[str, str]:
    """
    A fingerprint of each text of *document* that is shown, by field; `ANY_TEXT` stands for the longest text.

    Pictures and links are left out: their addresses may change each day.
    """
    texts = dict(document.texts)
    if document.title:
        texts[display.title or TITLE] = document.title
    if document.snippet:
        texts[ANY_TEXT] = document.snippet
    return {name: fingerprint(text) for name, text in sorted(texts.items())}


TITLE = "title"
"""The name of a title where the suite names no field for it."""


HitsByPair: TypeAlias = dict[Pair, Hit]
"""Hits with texts, by the ids of query and document."""


def read_pooled_texts(
    search: Search, suite: Suite, pool: Pool, runs: Sequence[PooledRun], options: TextOptions
) -> tuple[HitsByPair, list[str]]:
    """The documents of *pool* with their titles, texts and URLs; and sentences on why some have none."""
    if find_dialect(suite.target.service).has_indexes:
        return look_up_texts(search, suite, pool, runs, options)
    hits = _collect_hits(pool, runs)
    lacking, asked_runs = _list_lacking(suite, pool, runs, hits)
    notes: list[str] = []
    if lacking.documents and asked_runs:
        looked_up, notes = look_up_texts(search, suite, lacking, asked_runs, options)
        for pair, hit in looked_up.items():
            hits[pair] = add_looked_up_texts(hits.get(pair), hit)
    if asked_runs or any(hit.texts is not None for hit in hits.values()):
        return hits, notes
    return hits, [
        "there are no snippets: documents cannot be looked up by id in an HTTP service; "
        "name the fields of its answer under `http: {fields: …}`"
    ]


def _list_lacking(
    suite: Suite, pool: Pool, runs: Sequence[PooledRun], hits: HitsByPair
) -> tuple[Pool, list[PooledRun]]:
    """
    What is to be looked up by id in an HTTP service.

    Returns:
        A pool with the documents of *pool* that the service has not returned with *hits*, or not with all that is
        shown; and those of *runs* whose requests can look documents up.
    """
    dialect = find_dialect(suite.target.service)
    asked_runs = [pooled for pooled in runs if dialect.looks_up_documents(suite.requests[pooled.run.request])]
    names = [pooled.name for pooled in asked_runs]
    display = suite.display
    fields = (display.title, display.image, display.link, *list_shown_fields(suite, suite.requests))
    shown = [name for name in fields if name is not None]
    incomplete: set[str | None] = set()
    for pooled in asked_runs:
        if dialect.list_unread_fields(suite.requests[pooled.run.request], shown):
            incomplete.add(pooled.name)
    lacking = []
    for document in pool.documents:
        hit = hits.get(document.pair)
        ranks = {name: rank for name, rank in document.ranks.items() if name in names}
        first_run = next((name for name in names if name in ranks), None)
        if hit is None or first_run in incomplete:
            lacking.append(replace(document, ranks=ranks))
    return replace(pool, documents=tuple(lacking)), asked_runs


def _collect_hits(pool: Pool, runs: Sequence[PooledRun]) -> HitsByPair:
    """The hit of each document in the run where it ranks best."""
    responses = {pooled.name: pooled.run.responses for pooled in runs}
    hits: HitsByPair = {}
    for document in pool.documents:
        best = _find_best_run(document, runs)
        if best is None:
            continue
        ranking = responses[best].get(document.query)
        if isinstance(ranking, Ranking):
            hits[document.pair] = ranking.hits[document.ranks[best] - 1]
    return hits


def _find_best_run(document: PooledDocument, runs: Sequence[PooledRun]) -> str | None:
    """The name of the one of *runs* in which *document* ranks best; None where it is in none of them."""
    names = [pooled.name for pooled in runs if pooled.name in document.ranks]
    return min(names, key=lambda name: document.ranks[name], default=None)


def look_up_texts(
    search: Search, suite: Suite, pool: Pool, runs: Sequence[PooledRun], options: TextOptions
) -> tuple[HitsByPair, list[str]]:
    """As `read_pooled_texts`, of documents that are all looked up by their ids."""
    display = suite.display
    shown = options.fields or suite.display.fields
    urls = [field for field in (display.image, display.link) if field is not None]
    look_up_options = LookUpOptions(
        title_field=display.title,
        has_snippet=options.has_snippet or not shown,
        fields=tuple(dict.fromkeys([*shown, *urls])),
        highlights=options.highlights,
    )
    queries = {query.id: query for query in suite.queries}
    hits: HitsByPair = {}
    notes: dict[str, None] = {}
    for pooled, documents in _group_by_best_run(pool, runs):
        run = pooled.run
        template = suite.requests[run.request]
        by_query = grouped(document.pair for document in documents)
        if not options.highlights:
            # A document looks the same for each query, and is looked up once.
            by_query = {documents[0].query: list(dict.fromkeys(document.document for document in documents))}
        look_ups = []
        for query, ids in by_query.items():
            request = replace(build_request(suite, template, queries[query]), index=run.index)
            look_ups.append(LookUp(request, ids, look_up_options))
        looked_up = dict(zip(by_query, look_up_documents(search, look_ups), strict=True))
        for document in documents:
            query = document.query if options.highlights else documents[0].query
            hit = looked_up[query].hits.get(document.document)
            if hit is not None:
                hits[document.pair] = hit
        target = "the service" if run.index is None else run.index
        for known in looked_up.values():
            notes |= dict.fromkeys(f"some documents of {target} have no snippet: {reason}" for reason in known.reasons)
    return hits, list(notes)


def _group_by_best_run(pool: Pool, runs: Sequence[PooledRun]) -> list[tuple[PooledRun, list[PooledDocument]]]:
    """
    The documents by the run in which they rank best: each is looked up where the request found it.

    A document that no request returns is looked up with the first.
    """
    documents_by_run: dict[str, list[PooledDocument]] = {}
    for document in pool.documents:
        best = _find_best_run(document, runs) or runs[0].name
        documents_by_run.setdefault(best, []).append(document)
    return [(pooled, documents_by_run[pooled.name]) for pooled in runs if pooled.name in documents_by_run]
