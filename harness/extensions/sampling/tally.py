"""
Counts the searches of a log by query: spellings of one query are folded, and queries with personal data and texts that
are no query are left out.

Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from harness.extensions.sampling.draw import LoggedQuery
from harness.files.opening import NOT_TEXT
from harness.words import fold_spelling, is_seen


class Reason(StrEnum):
    """Why a query is left out."""

    EMAIL = "an email address"
    LONG_NUMBER = "a long number"
    BLANK = "no characters that show"
    PLACEHOLDER = "a placeholder of a report in place of a text"


LONG_NUMBER = 7
"""Digits in a row that may be a phone, customer or order number; a year or a model has fewer."""

LONG_SPACED_NUMBER = 9
"""Digits of a number with separators, as phone and card numbers are written; a date has eight."""

SHAPES_SHOWN = 3
"""Masked queries that are kept of each reason."""

# A text of a million characters is searched in one pass: what stands before the sign is looked back at.
_EMAIL = re.compile(r"(?<=[^\s@])(?:@|%40)[^\s@]")
_ROW_OF_DIGITS = re.compile(rf"\d{{{LONG_NUMBER}}}")
# Phones write other dashes than a keyboard has, and pages put marks into numbers that nobody sees.
_SEPARATOR = r"[\s.,/()+\-_\u00ad\u00b7\u2010-\u2015\u2022\u2043\u2044\u2212\u2215\u200b-\u200f\u2060\ufeff]"
_SPACED_DIGITS = re.compile(rf"\d(?:{_SEPARATOR}{{0,3}}\d)+")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")


_IN_BRACKETS = (
    "not set|not provided|not available|not applicable|not specified|no value|no query|no keyword|no search term|"
    "value not set|data not available|data deleted|redacted|other|others|all others|none|null|nil|empty|blank|unknown|"
    "undefined|direct|total|n/?a|nicht festgelegt|andere|no establecido|no definido|sin definir|non défini|non definie|"
    "não definido|non impostato|autre|autres|otros|outros"
)
_PLACEHOLDER = re.compile(
    rf"[(\[<{{]\s*(?:{_IN_BRACKETS})\s*[)\]>}}]"  # as reports of web analytics write it
    r"|#?n/a|not set|not provided|keyword not defined|grand total|__other__|__none__|__missing__"
    r"|\$?\{{1,3}\s*[\w.]*\s*\}{1,3}|search_term_string|%s"  # a variable that a page did not fill in
    r"|\[object object\]"
)
"""Folded texts that no user typed. Words without brackets, such as "null", may be searches for documentation."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The queries that are left out for one reason."""

    reason: Reason
    queries: int
    traffic: int
    shapes: tuple[str, ...] = ()
    """The most frequent of them, masked; placeholders as they are."""


@dataclass(frozen=True, slots=True)
class CountedQueries:
    """The queries of a log."""

    queries: tuple[LoggedQuery, ...]
    spellings: int
    """The different spellings of *queries*."""
    left_out: tuple[LeftOut, ...]

    @property
    def traffic(self) -> int:
        """The searches with *queries*."""
        return sum(query.traffic for query in self.queries)


@dataclass(slots=True)
class _Spellings:
    """The spellings of one query: the traffic of all, and the most frequent one with its own traffic."""

    number: int = 0
    traffic: int = 0
    best: str = ""
    best_traffic: int = 0

    def add(self, spelling: str, traffic: int) -> None:
        """Add a spelling; of two that are as frequent the first in the order of characters counts."""
        self.number += 1
        self.traffic += traffic
        if (-traffic, spelling) < (-self.best_traffic, self.best):
            self.best, self.best_traffic = spelling, traffic


@dataclass(slots=True)
class QueryTally:
    """Counts searches by what was typed; its memory is that of the different texts."""

    keep_numbers: bool = False
    """Whether queries with a long number stay, as where they are part numbers."""
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, traffic: int) -> None:
        """Add *traffic* searches for *text*."""
        self._counts[text] += traffic

    def count(self) -> CountedQueries:
        """The queries, each with the traffic of all its spellings."""
        by_key: dict[str, _Spellings] = {}
        for spelling, traffic in self._clean_spellings().items():
            by_key.setdefault(fold_spelling(spelling), _Spellings()).add(spelling, traffic)
        queries = []
        spellings = 0
        left_out: dict[Reason, list[LoggedQuery]] = {}
        for key, found in by_key.items():
            query = LoggedQuery(key, found.best, found.traffic)
            reason = find_reason(key, keep_numbers=self.keep_numbers)
            if reason is None:
                queries.append(query)
                spellings += found.number
            else:
                left_out.setdefault(reason, []).append(query)
        reasons = [_summarize(reason, left_out[reason]) for reason in Reason if reason in left_out]
        return CountedQueries(tuple(queries), spellings, tuple(reasons))

    def _clean_spellings(self) -> Mapping[str, int]:
        """The searches by `clean_spelling` of what was typed."""
        spellings: Counter[str] = Counter()
        for text, traffic in self._counts.items():
            if traffic:
                spellings[clean_spelling(text)] += traffic
        return spellings


def _summarize(reason: Reason, queries: Sequence[LoggedQuery]) -> LeftOut:
    """The figures of *queries*, which are left out for *reason*, and the most frequent of them, masked."""
    shapes: Counter[str] = Counter()
    for query in queries:
        shape = query.key if reason is Reason.PLACEHOLDER else mask_shape(query.key)
        shapes[shape] += query.traffic
    del shapes[""]  # of a query without characters there is nothing to show
    most_frequent = sorted(shapes, key=lambda shape: (-shapes[shape], shape))[:SHAPES_SHOWN]
    return LeftOut(reason, len(queries), sum(query.traffic for query in queries), tuple(most_frequent))


def clean_spelling(text: str) -> str:
    r"""
    *text* with single blanks, without characters that do not show or that a suite cannot hold.

    >>> clean_spelling(" Red\t shoes\u200b\ud800 ")
    'Red shoes'
    """
    spelling = " ".join(text.split())
    if spelling.isprintable():
        return spelling
    seen = "".join(filter(is_seen, spelling))
    return " ".join(NOT_TEXT.sub("", seen).split())


def find_reason(key: str, *, keep_numbers: bool = False) -> Reason | None:
    """
    Why the query with the folded text *key* is left out; None if it stays.

    >>> [find_reason(key).name for key in ("anna@example.com", "order 12345678", "0151 234 567 89")]
    ['EMAIL', 'LONG_NUMBER', 'LONG_NUMBER']
    >>> find_reason("iphone 15 pro"), find_reason("concert 2026-01-15")
    (None, None)
    """
    if not key:
        return Reason.BLANK
    if _PLACEHOLDER.fullmatch(key):
        return Reason.PLACEHOLDER
    if _EMAIL.search(key):
        return Reason.EMAIL
    if keep_numbers:
        return None
    if _ROW_OF_DIGITS.search(key) or any(_iterate_long_numbers(key)):
        return Reason.LONG_NUMBER
    return None


def is_placeholder(text: str) -> bool:
    """
    Whether *text* is what a report writes in place of a query.

    >>> is_placeholder("(Other)"), is_placeholder("other")
    (True, False)
    """
    return _PLACEHOLDER.fullmatch(fold_spelling(clean_spelling(text))) is not None


def _iterate_long_numbers(key: str) -> Iterator[bool]:
    """For each number of *key* that has separators whether it is long."""
    for match in _SPACED_DIGITS.finditer(key):
        yield len(_DIGIT.findall(match[0])) >= LONG_SPACED_NUMBER


def mask_shape(text: str) -> str:
    """
    *text* with an x for each letter and a 0 for each digit: what stands beside a number may be a name.

    >>> mask_shape("anna.b@example.com"), mask_shape("order 12345678")
    ('xxxx.x@xxxxxxx.xxx', 'xxxxx 00000000')
    """
    return _DIGIT.sub("0", _LETTER.sub("x", text))
