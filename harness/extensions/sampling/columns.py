"""
Which columns of a log are the text of the query and the number of its searches, by their usual names.

A column of whole numbers that is not read may be the number of searches: to count each line as one search would then
give wrong weights without a word, so `UnreadNumbers` finds such columns. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

QUERY_NAMES = (
    "query", "q", "user_query", "search_term", "search_query", "query_text", "search_text", "search_string",
    "top queries", "term", "search", "keyword", "keywords", "text",
)  # fmt: skip
"""Usual names of the column with the text of the query, the likeliest first."""

DOCUMENT_NAMES = (
    "document", "document_id", "docid", "doc_id", "doc", "docno", "pid", "passage_id", "corpus_id",
)  # fmt: skip
"""Usual names of the column with the id of a document."""

PRODUCT_NAMES = (
    "product_id", "product_uid", "item_id", "item_uid", "article_id", "listing_id", "object_id", "variant_id", "sku",
    "sku_id", "product_sku", "variant_sku", "asin", "gtin", "ean", "upc", "isbn", "url", "uri", "document_url",
    "doc_url", "product_url", "page_url", "link", "product", "item",
)  # fmt: skip
"""Names of the column with the id of the document beside a grade or clicks."""

_SEARCH_COUNTS = (
    "searches", "search_count", "searches_count", "query_count", "search_volume", "query_volume",
    "search_query_volume", "total_searches", "unique_searches", "total_unique_searches", "number_of_searches",
    "num_searches", "nb_searches", "no_of_searches", "count_of_searches", "times_searched", "search_frequency",
)  # fmt: skip
"""Names that say that searches are counted."""

_OTHER_COUNTS = (
    "count", "frequency", "freq", "event_count", "total_events", "occurrences", "traffic", "volume", "impressions",
    "doc_count", "total_count", "total", "cnt", "anzahl",
)  # fmt: skip
"""Names of counts that in a log of searches are counts of searches."""

AMBIGUOUS_NAMES = ("hits",)
"""Names that logs use for the number of searches and for that of results, which may be 0."""

COUNT_NAMES = (*_SEARCH_COUNTS, *_OTHER_COUNTS, *AMBIGUOUS_NAMES)
"""Usual names of the column with the number of searches."""

_OF_ONE_SEARCH = frozenset((
    "@timestamp", "timestamp", "time", "datetime", "took", "latency", "duration", "ms", "userid", "sessionid",
    "clientid", "visitorid", "requestid", "queryid", "searchid", "createdat", "searchedat", "ip",
))  # fmt: skip
"""Names of columns that describe one search: beside them `AMBIGUOUS_NAMES` are numbers of results."""

_DAYS = frozenset(("date", "day"))
"""Names that searches have, and sums of a day."""

_NO_COUNTS = frozenset((
    "found", "id", "ids", "uid", "uuid", "timestamp", "time", "datetime", "date", "day", "week", "month", "year",
    "hour", "minute", "second", "ms", "took", "latency", "duration", "position", "rank", "page", "price", "offset",
    "limit", "size", "status", "code", "version", "session", "user", "ip", "zip",
))  # fmt: skip
"""Last words in the names of whole numbers that are no numbers of searches."""

_RESULTS = frozenset(("result", "results"))
"""Words in names of numbers of results, whatever the other words."""

_COUNTS = frozenset(("searches", "queries", "volume", "frequency", "occurrences"))
"""Words in names of numbers of searches, whatever the last word, as in "searches per month"."""

_WHOLE_NUMBER = re.compile(r"\d{1,3}(?:[.,'\u00a0\u202f ]\d{3})+|\d+(?:[.,]0+)?")
"""A whole number as reports write it, also in groups of three digits."""

_PERCENTAGE = re.compile(r"\d+(?:[.,]\d+)?\s*%")

_ONE_OR_A_THOUSAND = re.compile(r"[1-9]\d{0,2}\.0{3}")
"""A number such as 1.000, which is one where a point is before decimals, and a thousand where it is between groups."""

WHOLE_NUMBER_REMEDY = "write whole numbers without a point"

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")


def normalize_name(name: str) -> str:
    """
    *name* in lower case without blanks, underscores and hyphens.

    >>> normalize_name("Search Term"), normalize_name("search_term")
    ('searchterm', 'searchterm')
    """
    return re.sub(r"[\s_-]+", "", name).lower()


def find_column(columns: Sequence[str], given: str | None, names: Sequence[str]) -> int | None:
    """The place of the column *given*, or else of the first of *names*, whatever their case, blanks, _ and -."""
    if given is not None:
        return columns.index(given) if given in columns else None
    normalized = [normalize_name(column) for column in columns]
    for name in names:
        if normalize_name(name) in normalized:
            return normalized.index(normalize_name(name))
    return None


@dataclass(frozen=True, slots=True)
class CountColumn:
    """The *place* of the column with the number of searches, None if there is none; *problem* if it is not known."""

    place: int | None = None
    problem: str = ""


def find_count_column(columns: Sequence[str]) -> CountColumn:
    """
    The column with the number of searches, by its name.

    >>> find_count_column(["Month", "Search query", "Total searches"]).place
    2
    >>> find_count_column(["timestamp", "query", "hits"])  # numbers of results
    CountColumn(place=None, problem='')
    """
    normalized = [normalize_name(column) for column in columns]
    for names in (_SEARCH_COUNTS, _OTHER_COUNTS):
        known = {normalize_name(name) for name in names}
        places = [place for place, name in enumerate(normalized) if name in known]
        if len(places) > 1:
            found = " and ".join(repr(columns[place]) for place in places)
            return CountColumn(problem=f"{found} may each be the number of searches; name one with --count-column")
        if places:
            return CountColumn(places[0])
    place = find_column(columns, None, AMBIGUOUS_NAMES)
    if place is None or not _OF_ONE_SEARCH.isdisjoint(normalized):
        return CountColumn()
    if not _DAYS.isdisjoint(normalized):
        name = columns[place]
        problem = f"{name!r} may be the number of searches or of results; give --count-column {name}, or --count-lines"
        return CountColumn(problem=problem)
    return CountColumn(place)


def may_be_count(name: str) -> bool:
    """
    Whether a column *name* with whole numbers may have numbers of searches, as its name says nothing else.

    >>> [may_be_count(name) for name in ("nb_visits", "searches per month", "user_id", "numResults")]
    [True, True, False, False]
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if normalize_name(name) in AMBIGUOUS_NAMES or not _RESULTS.isdisjoint(words):
        return False
    return not words or words[-1] not in _NO_COUNTS or not _COUNTS.isdisjoint(words)


def may_be_thousands(text: str) -> bool:
    """
    Whether *text* is one whole number if its point is before decimals, and another if it is between groups of digits.

    >>> [may_be_thousands(text) for text in ("1.000", "12.0", "1000", "1.250")]
    [True, False, False, False]
    """
    return _ONE_OR_A_THOUSAND.fullmatch(text.strip()) is not None


@dataclass(slots=True)
class UnreadNumbers:
    """Columns, or keys of JSON, of which all values are whole numbers: what they may count is not read."""

    greatest: dict[str, int] = field(default_factory=dict)
    """The greatest number of each."""
    shares: set[str] = field(default_factory=set)
    """Columns with a percentage: what has one is no line for a single search."""
    others: set[str] = field(default_factory=set)
    """Columns with another value, or another meaning."""

    def watch(self, values: Mapping[str, object], read: Collection[str]) -> None:
        """Look at *values* of a line by column; the columns *read* are none of them."""
        for name, value in values.items():
            if name in self.others or name in read:
                continue
            number = _read_whole_number(value)
            if isinstance(value, str) and _PERCENTAGE.fullmatch(value.strip()):
                self.shares.add(name)
            if number is None or (name not in self.greatest and not may_be_count(name)):
                self.others.add(name)
                self.greatest.pop(name, None)
            else:
                self.greatest[name] = max(number, self.greatest.get(name, 0))

    def describe(self) -> str:
        """Why it is not known what the log counts; empty if no column has numbers above 1, which all lines count."""
        names = [name for name, number in self.greatest.items() if number > 1]
        if not names and self.shares:
            found = " and ".join(map(repr, sorted(self.shares)))
            verb = "has" if len(self.shares) == 1 else "have"
            sentence = f"{found} {verb} percentages, and no column with the number of searches was found"
            return f"{sentence}; name one with --count-column, or say --count-lines"
        if not names:
            return ""
        found = " and ".join(map(repr, names))
        if len(names) == 1:
            sentence = f"{found} has whole numbers and was not read"
        else:
            sentence = f"{found} have whole numbers and were not read"
        return f"{sentence}; name the number of searches with --count-column, or say --count-lines"


def _read_whole_number(value: object) -> int | None:
    """*value* as a whole number, 0 for an empty one; None for any other."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    if isinstance(value, float):
        return int(value) if value >= 0 and value.is_integer() else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not text:
        return 0
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    digits = re.sub(r"[.,]0{1,2}$", "", text)
    return int(re.sub(r"\D", "", digits)[:20])
