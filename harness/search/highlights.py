"""
The words of a query in the texts of a document, as the engine finds them.

An engine puts a mark before and behind each word. The marks are two private characters, which no text should have, and
become places in the text. What cannot be found again in the text, because the engine cut it otherwise, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.model.request import SearchRequest
from harness.model.run import Highlight
from harness.model.suite import Json
from harness.search.texts import SEPARATOR
from harness.words import is_seen

MATCH_BEGIN = "\U000f5e1a"
MATCH_END = "\U000f5e1b"
"""Two characters of a plane for private use."""

VECTOR_QUERIES = frozenset({"knn", "neural", "neural_sparse", "semantic", "sparse_vector", "text_expansion"})
"""Queries that match by meaning, so that no word can be marked."""


def make_highlight(request: SearchRequest, fields: Iterable[str]) -> Json:
    """
    The `highlight` of a look-up that marks the words of *request* in *fields*; None if the request has no words.

    Fields are highlighted whole, and also those that the query does not name: it may search `name.english` or a field
    that all others are copied to, while `name` is shown.
    """
    query = find_highlight_query(request.body)
    settings: dict[str, Json] = {field: {} for field in fields}
    if query is None or not settings:
        return None
    return {
        "pre_tags": [MATCH_BEGIN],
        "post_tags": [MATCH_END],
        "number_of_fragments": 0,
        "require_field_match": False,
        "highlight_query": query,
        "fields": settings,
    }


def find_highlight_query(body: Json) -> Json:
    """
    The query of *body* whose words can be marked; None if it has none, as in a search template.

    >>> find_highlight_query({"query": {"hybrid": {"queries": [{"match": {"name": "tent"}}, {"neural": {}}]}}})
    {'bool': {'should': [{'match': {'name': 'tent'}}]}}
    """
    if not isinstance(body, Mapping):
        return None
    query = body.get("query")
    retriever = body.get("retriever")
    if query is None and isinstance(retriever, Mapping):
        standard = retriever.get("standard")
        query = standard.get("query") if isinstance(standard, Mapping) else None
    if not isinstance(query, Mapping) or not VECTOR_QUERIES.isdisjoint(query):
        return None
    hybrid = query.get("hybrid")
    if not isinstance(hybrid, Mapping):
        return query
    # An engine takes `hybrid` at the top of a search only.
    queries = hybrid.get("queries")
    clauses = queries if isinstance(queries, list) else []
    worded = [clause for clause in clauses if isinstance(clause, Mapping) and VECTOR_QUERIES.isdisjoint(clause)]
    return {"bool": {"should": worded}} if worded else None


def read_highlights(highlight: Json, texts: Mapping[str, str]) -> dict[str, Highlight]:
    """
    The marked words in those of *texts*, by field, that have some; *highlight* is that of a hit.

    >>> marked = f"Red {MATCH_BEGIN}tent{MATCH_END} for two"
    >>> read_highlights({"name": [marked]}, {"name": "Red tent for two", "brand": "Acme"})
    {'name': Highlight(text='Red tent for two', spans=((4, 8),))}
    """
    if not isinstance(highlight, Mapping):
        return {}
    found = {}
    for field, text in texts.items():
        values = highlight.get(field)
        if isinstance(values, list):
            spans = _find_spans([value for value in values if isinstance(value, str)], text)
            if spans:
                found[field] = Highlight(text, spans)
    return found


def _find_spans(values: Sequence[str], text: str) -> tuple[tuple[int, int], ...]:
    """The places in *text* of what is marked in *values*, which are whole values of its field."""
    spans: list[tuple[int, int]] = []
    for value in values:
        plain, marked = read_marks(value)
        start = _find_value(plain, text)
        if start is None:
            continue
        for begin, end in marked:
            # The text may be cut within a value.
            placed = (start + begin, min(start + end, len(text)))
            if placed[0] < placed[1]:
                spans.append(placed)
    return _join_spans(spans)


def _find_value(plain: str, text: str) -> int | None:
    """Where the value *plain* begins in *text*, which has several with separators between and may be cut in one."""
    whole = text.removesuffix("…")
    start = 0
    while start < len(whole):
        rest = whole[start:]
        if rest.startswith(plain) or (whole != text and plain.startswith(rest)):
            return start
        separator = whole.find(SEPARATOR, start)
        if separator < 0:
            return None
        start = separator + len(SEPARATOR)
    return None


def read_marks(value: str) -> tuple[str, list[tuple[int, int]]]:
    r"""
    *value* on one line without its marks, as the texts of documents are, and the places of what was marked.

    >>> read_marks(f"a {MATCH_BEGIN}red\n {MATCH_END} tent ")
    ('a red tent', [(2, 5)])
    """
    characters: list[str] = []
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for character in value:
        if character == MATCH_BEGIN:
            start = len(characters)
        elif character == MATCH_END:
            if start is not None:
                spans.append((start, len(characters)))
            start = None
        elif is_seen(character) and not character.isspace():
            characters.append(character)
        elif characters and characters[-1] != " ":
            characters.append(" ")
    plain = "".join(characters)
    trimmed = []
    for start, end in spans:
        word = plain[start:end]
        begin = start + len(word) - len(word.lstrip())
        if word.strip():
            trimmed.append((begin, begin + len(word.strip())))
    return plain.rstrip(), trimmed


def _join_spans(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """*spans* in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
