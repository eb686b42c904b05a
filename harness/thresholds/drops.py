"""The thresholds that compare with a baseline; their grammar is that of `harness.thresholds`."""

from __future__ import annotations

import re

from harness.model import DropCondition, SignificanceCondition, WorseCondition
from harness.thresholds.cursor import WORD, Cursor

__all__ = ["read_drop", "read_worse"]


_BY = re.compile(r"by(?!\S)")
_EVERY = re.compile(r"every(?!\S)")
_IS = re.compile(r"is(?!\S)")
_NOT_SIGNIFICANT = re.compile(r"is\s+not\s+significant\s+at(?!\S)")
_PER_CENT = re.compile("%")
_QUERIES = re.compile(r"quer(?:y|ies)(?!\S)")


def read_drop(cursor: Cursor, *, of_query: bool) -> DropCondition | SignificanceCondition:
    """The threshold on a drop that stands at *cursor*, its tag apart; *of_query* says that it is a query's own."""
    cursor.take(WORD)
    if cursor.has_after_word(_IS):
        return _significance(cursor, of_query=of_query)
    start = cursor.position
    every = cursor.take(_EVERY) is not None
    if every and of_query:
        cursor.fail("found 'every', but a query's own threshold has no statistic; leave it out", start)
    measure = cursor.measure()
    cursor.at_most("a drop")
    start = cursor.position
    allowed = cursor.number("a number such as 0.02 or 2%")
    if allowed < 0:
        cursor.fail(f"found {allowed:g}, expected an allowed drop of at least 0", start)
    relative = cursor.take(_PER_CENT) is not None
    return DropCondition(measure, allowed / 100 if relative else allowed, every, relative)


def _significance(cursor: Cursor, *, of_query: bool) -> SignificanceCondition:
    measure = cursor.measure(one_word=True)
    start = cursor.position
    if of_query:
        cursor.fail("found 'is', but one query is too few for a test; expected '<=' and a number", start)
    if cursor.take(_NOT_SIGNIFICANT) is None:
        cursor.fail(f"{cursor.found()}, expected 'is not significant at' and a level such as 5%", start)
    start = cursor.position
    level = cursor.number("a level such as 5%")
    if cursor.take(_PER_CENT) is None:
        cursor.fail(f"{cursor.found()}, expected '%' after the level")
    if not 0 < level <= 50:
        cursor.fail(f"found {level:g}%, expected a level above 0% and up to 50%", start)
    return SignificanceCondition(measure, level / 100)


def read_worse(cursor: Cursor, *, of_query: bool) -> WorseCondition:
    """The threshold on how many queries fell that stands at *cursor*, its tag apart."""
    if of_query:
        cursor.fail("found 'worse', which counts queries; a query's own threshold is on its 'drop'")
    cursor.take(WORD)
    measure = cursor.measure(one_word=True)
    if cursor.take(_BY) is None:
        cursor.fail(f"{cursor.found()}, expected 'by' and a number such as 0.1")
    start = cursor.position
    by = cursor.number("a number such as 0.1")
    if by < 0:
        cursor.fail(f"found {by:g}, expected at least 0", start)
    cursor.at_most("the number of queries")
    start = cursor.position
    allowed = cursor.number("a number of queries such as 3 queries, or a share such as 5%")
    if cursor.take(_PER_CENT) is not None:
        if not 0 <= allowed <= 100:
            cursor.fail(f"found {allowed:g}%, expected a share of the queries from 0% to 100%", start)
        return WorseCondition(measure, by, allowed / 100, relative=True)
    if allowed < 0 or not allowed.is_integer():
        cursor.fail(f"found {allowed:g}, expected a whole number of queries, at least 0", start)
    if cursor.take(_QUERIES) is None:
        cursor.fail(f"{cursor.found()}, expected 'queries' or '%'")
    return WorseCondition(measure, by, allowed)
