"""
The text of a threshold or of a rank expectation -> its condition.

::

    threshold = [ statistic ] measure op number [ "for" tag ]        a statistic always, but on a query's own threshold
              | "drop" [ "every" ] measure "<=" number [ "%" ] [ "for" tag ]
              | "drop" measure "is not significant at" number "%" [ "for" tag ]            of a suite only
              | "worse" measure "by" number "<=" ( n "queries" | number "%" ) [ "for" tag ]    of a suite only
              | [ statistic ] agreement op number [ "for" tag ]                 with the baseline's rankings
              | ( "p50" | "p95" | "p99" | "max" ) "latency" "<=" number "ms"
    statistic = "mean" | "median" | "every" | number "%"             0 < number <= 100
    agreement = "RBO" [ "(p=" number ")" ] [ "@" k ] | "overlap" [ "@" k ]
    op        = ">=" | ">" | "<=" | "<" | "="
    expect    = document [ "not" ] "in top" k | document "before" document | "hits" op n
    document  = characters without blanks, or any in single or double quotes

A tag is the rest of the line after ``for``, so it may hold blanks.
"""

from __future__ import annotations

import re

from harness.errors import did_you_mean
from harness.metrics.agreement import begins_agreement, read_agreement
from harness.model import (
    AgreementCondition,
    Before,
    Condition,
    HitCount,
    InTop,
    LatencyCondition,
    ScoreCondition,
    StatisticKind,
)
from harness.thresholds.cursor import NUMBER, WORD, Cursor
from harness.thresholds.drops import read_drop, read_worse

TOLERANCE = 1e-9
"""Two numbers that differ by no more are equal wherever a threshold compares."""

_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99, "max": 100}
_NAMED_STATISTICS = {kind.value: kind for kind in (StatisticKind.MEAN, StatisticKind.MEDIAN, StatisticKind.EVERY)}
_OTHER_NAMES = {
    "min": "every",
    "minimum": "every",
    "all": "every",
    "each": "every",
    "avg": "mean",
    "average": "mean",
}
_STATISTICS = "mean, median, every, or a share such as 95%"

_SHARE = re.compile(rf"({NUMBER.pattern})\s*%", re.ASCII)
_DOCUMENT = re.compile(r"\"([^\"]*)\"(?!\S)|'([^']*)'(?!\S)|([^\s\"']\S*)")


def parse_threshold(text: str, *, of_query: bool) -> tuple[Condition, str | None]:
    """
    Read one threshold.

    Args:
        text: One line, such as ``mean nDCG@10 >= 0.8 for head``.
        of_query: Whether it is a query's own, which has neither a statistic nor a tag.

    Returns:
        The condition, and the tag it is limited to or None.

    Raises:
        GrammarError: The text is out of the grammar above.
        MeasureError: Its measure is not known; the offset counts from the start of *text*.

    >>> condition, tag = parse_threshold("mean nDCG@10 >= 0.8 for head", of_query=False)
    >>> condition.required, tag
    (0.8, 'head')
    """
    cursor = Cursor(text)
    first, second = [*text.split(maxsplit=2), "", ""][:2]
    condition: Condition
    if first == "drop":
        condition = read_drop(cursor, of_query=of_query)
    elif first == "worse":
        condition = read_worse(cursor, of_query=of_query)
    elif second == "latency":
        condition = _latency(cursor)
        cursor.expect_end("nothing after 'ms'")
        return condition, None
    else:
        condition = _score(cursor, of_query=of_query)
    return condition, _tag(cursor, of_query=of_query)


def parse_expectation(text: str) -> Condition:
    """
    Read what a query expects of single documents or of the number of hits.

    Args:
        text: ``sku-17 in top 3``, ``sku-4 not in top 10``, ``sku-17 before sku-9`` or ``hits >= 1``.

    Raises:
        GrammarError: The text is out of the grammar above.

    >>> parse_expectation("sku-17 not in top 3")
    InTop(document='sku-17', k=3, negated=True)
    """
    cursor = Cursor(text)
    hits = re.match(r"\s*hits\s*(?=[<>=!≤≥])", text)
    if hits:
        cursor.position = hits.end()
        condition: Condition = HitCount(cursor.operator(), cursor.whole_number("a number of hits such as 1", least=0))
    else:
        condition = _ranks(cursor)
    cursor.expect_end("nothing after it")
    return condition


def _score(cursor: Cursor, *, of_query: bool) -> ScoreCondition | AgreementCondition:
    statistic, share = _statistic(cursor, of_query=of_query)
    agrees = begins_agreement(cursor.text, cursor.position)
    measure = cursor.measured(read_agreement) if agrees else cursor.measure()
    operator = cursor.operator()
    required = cursor.number("a number such as 0.8")
    if cursor.text.startswith("%", cursor.position):
        cursor.fail(f"a score is compared with a number, not per cent; expected {required / 100:g}")
    kind = AgreementCondition if agrees else ScoreCondition
    return kind(statistic, measure, operator, required, share)


def _statistic(cursor: Cursor, *, of_query: bool) -> tuple[StatisticKind, float | None]:
    start = cursor.position
    share = cursor.take(_SHARE)
    word = WORD.match(cursor.text, start)
    found = share.group() if share else word.group() if word else ""
    if not found:
        cursor.fail("the threshold is empty; expected something such as 'mean nDCG@10 >= 0.8'")
    if of_query:
        if share or found in _NAMED_STATISTICS:
            cursor.fail(f"found {found!r}, but a query's own threshold has no statistic; leave it out", start)
        return StatisticKind.QUERY, None
    if share:
        return StatisticKind.SHARE, _fraction(cursor, share, start)
    if found not in _NAMED_STATISTICS:
        meant = _OTHER_NAMES.get(found.casefold())
        guess = f"; did you mean {meant!r}?" if meant else did_you_mean(found, _NAMED_STATISTICS)
        cursor.fail(f"found {found!r}, expected a statistic first: {_STATISTICS}{guess}", start)
    cursor.take(WORD)
    return _NAMED_STATISTICS[found], None


def _fraction(cursor: Cursor, share: re.Match[str], start: int) -> float:
    per_cent = float(share[1])
    if not 0 < per_cent <= 100:
        cursor.fail(f"found {share.group()!r}, expected a share of the queries above 0% and up to 100%", start)
    return per_cent / 100


def _latency(cursor: Cursor) -> LatencyCondition:
    start = cursor.position
    match = cursor.take(WORD)
    name = match.group() if match else ""
    if name not in _PERCENTILES:
        cursor.fail(f"found {name!r}, expected p50, p95, p99 or max before 'latency'", start)
    cursor.take(WORD)
    cursor.at_most("a latency")
    start = cursor.position
    milliseconds = cursor.number("a number of milliseconds such as 200 ms")
    if milliseconds <= 0:
        cursor.fail(f"found {milliseconds:g}, expected more than 0 ms", start)
    if cursor.take(re.compile(r"ms(?!\S)")) is None:
        cursor.fail(f"{cursor.found()}, expected the unit 'ms'")
    return LatencyCondition(_PERCENTILES[name], milliseconds)


def _tag(cursor: Cursor, *, of_query: bool) -> str | None:
    if cursor.position == len(cursor.text):
        return None
    start = cursor.position
    if cursor.take(re.compile(r"for(?!\S)")) is None:
        cursor.fail(f"{cursor.found()}, expected {'nothing more' if of_query else repr('for') + ' and a tag'}")
    if of_query:
        cursor.fail("found 'for', but a query's own threshold has no tag; leave it out", start)
    tag = cursor.text[cursor.position :].rstrip()
    if not tag:
        cursor.fail("found the end, expected a tag after 'for'")
    return tag


def _ranks(cursor: Cursor) -> Condition:
    document = _document(cursor)
    if cursor.take(re.compile(r"before(?!\S)")):
        return _before(cursor, document)
    negated = cursor.take(re.compile(r"not(?!\S)")) is not None
    if cursor.take(re.compile(r"in\s+top(?!\S)")) is None:
        expected = "'in top'" if negated else "'in top', 'not in top' or 'before'"
        quotes = "; a document id with blanks is put in quotes"
        cursor.fail(f"{cursor.found()}, expected {expected} after the document {document!r}{quotes}")
    return InTop(document, cursor.whole_number("a rank such as 10", least=1), negated)


def _before(cursor: Cursor, document: str) -> Before:
    start = cursor.position
    other = _document(cursor)
    if other == document:
        cursor.fail(f"the document {document!r} cannot stand before itself", start)
    return Before(document, other)


def _document(cursor: Cursor) -> str:
    start = cursor.position
    match = cursor.take(_DOCUMENT)
    if match is None:
        hint = " with its closing quote" if cursor.position < len(cursor.text) else ""
        cursor.fail(f"{cursor.found()}, expected a document id{hint}")
    document = next(group for group in match.groups() if group is not None)
    if not document:
        cursor.fail("found an empty document id", start)
    return document
