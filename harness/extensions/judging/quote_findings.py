"""Quotes that no document of an index holds, found by a search for their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.errors import SearchError
from harness.extensions.judging.model import FindingKind, JudgmentFinding
from harness.metrics.quotes import find_share, fold_text
from harness.model.request import SearchRequest
from harness.model.run import Hit, Ranking
from harness.model.suite import Query, Quote, Suite
from harness.search.protocol import Search
from harness.words import shorten

HITS = 50
"""Documents in which a quote is looked for: those that match its words best."""

_SEARCHED_TYPES = frozenset({"text", "match_only_text", "annotated_text"})
_VALUE_TYPES = frozenset({"keyword", "constant_keyword", "wildcard", "long", "integer", "short", "byte"})
"""The types of fields that may say of which document a chunk is."""


@dataclass(frozen=True, slots=True)
class _PlacedQuote:
    """A quote of a query, with the documents that hold it and the one that matches its words best."""

    query: Query
    quote: Quote
    holders: tuple[Hit, ...]
    nearest: str | None

    @property
    def names(self) -> set[str]:
        """The ids and the values of the documents that hold it."""
        names = {hit.id for hit in self.holders}
        for hit in self.holders:
            for values in (hit.values or {}).values():
                names.update(map(str, values))
        return names


def check_quotes(suite: Suite, index: str, search: Search, id_field: str | None) -> list[JudgmentFinding]:
    """
    The quotes of *suite* that no document of *index* holds, and those whose `document` no holder of theirs names.

    A `document` is compared with the ids and the values of the holders, if these name the documents of other quotes:
    else it is a name that only the suite knows.

    Raises:
        SearchError: The index could not be searched, or its field of texts is none that a search for words reads.
    """
    field = suite.display.text or ""
    types = search.field_types(index, ["*", field], {})
    if not _SEARCHED_TYPES & types.get(field, frozenset()):
        raise SearchError(f"quotes cannot be looked for in {index}: the field {field!r} has no text type there")
    value_fields = [name for name, types_of_field in types.items() if types_of_field & _VALUE_TYPES and name[0] != "_"]
    placed = list(_place_quotes(suite, index, search, SearchFields(field, tuple(value_fields), id_field)))
    findings = [_describe_missing(quote, index) for quote in placed if not quote.holders]
    named = [quote for quote in placed if quote.holders and quote.quote.document]
    strangers = [quote for quote in named if quote.quote.document not in quote.names]
    if len(strangers) < len(named):
        findings += [_describe_stranger(quote) for quote in strangers]
    return findings


@dataclass(frozen=True, slots=True)
class SearchFields:
    """The fields that a search for quotes reads: that of the texts, those with values, and that of the id."""

    text: str
    values: tuple[str, ...]
    id: str | None


def _place_quotes(suite: Suite, index: str, search: Search, fields: SearchFields) -> Iterator[_PlacedQuote]:
    quotes = [(query, quote) for query in suite.queries for quote in query.quotes]
    requests = []
    for _, quote in quotes:
        body = {"query": {"match": {fields.text: quote.text}}, "size": HITS}
        names = (fields.text, *fields.values)
        requests.append(SearchRequest("", index, body, value_fields=names, id_field=fields.id))
    for (query, quote), response in zip(quotes, search.search(requests), strict=True):
        if not isinstance(response, Ranking):
            raise SearchError(f"quotes cannot be looked for in {index}: {response.reason}")
        folded = fold_text(quote.text)
        holders = tuple(hit for hit in response.hits if _holds(hit, fields.text, folded))
        nearest = response.hits[0].id if response.hits else None
        yield _PlacedQuote(query, quote, holders, nearest)


def _holds(hit: Hit, field: str, folded_quote: str) -> bool:
    texts: Sequence[object] = (hit.values or {}).get(field, ())
    return any(find_share(folded_quote, fold_text(str(text))) for text in texts)


def _describe_missing(placed: _PlacedQuote, index: str) -> JudgmentFinding:
    sentence = f"{_name(placed)} is in no document of {index}, not even half of it"
    if placed.nearest is not None:
        sentence += f"; the document {placed.nearest!r} matches its words best"
    return JudgmentFinding(
        placed.quote.mark,
        FindingKind.MISSING_QUOTE,
        f"{sentence}; correct it, or shorten it where a border of chunks cuts it",
    )


def _describe_stranger(placed: _PlacedQuote) -> JudgmentFinding:
    document, holder = placed.quote.document, placed.holders[0].id
    sentence = f"{_name(placed)} is in {holder!r}, which has the document {document!r} in no field; correct `document`"
    return JudgmentFinding(placed.quote.mark, FindingKind.OTHER_DOCUMENT, sentence)


def _name(placed: _PlacedQuote) -> str:
    return f"the quote {shorten(placed.quote.text)!r} of query {placed.query.id!r}"
