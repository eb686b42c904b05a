"""
The text of an expectation, read into its condition.

::

    expect      = document [ "not" ] "in top" k | document "before" document        of a query only
                | "hits" op n [ "for" tag ]
                | requirement "in top" k [ "for" tag ]                              at least one of these hits meets it
                | "every hit in top" k "has" requirement [ "for" tag ]
                | "no hit in top" k "has" requirement [ "for" tag ]
                | "distinct" field op n "in top" k [ "for" tag ]
                | "no repeated" field "in top" k [ "for" tag ]
    requirement = field "=" value
                | field ( ">=" | ">" | "<=" | "<" ) limit
                | field "in {" value { "," value } "}"
                | field "in" limit ".." limit                                       both included
                | field                                                             any value, only after "has"
    op          = ">=" | ">" | "<=" | "<" | "="
    limit       = a number, or a date such as 2026-01-31 or 2026-01-31T12:00Z
    document, field, value = characters without blanks, or any in single or double quotes

Only an expectation of a suite has a tag. Blanks stand before a comparison: ``in_stock=true in top 3`` is about the
document `in_stock=true`, as ids may have any characters. A value in quotes is a text: ``size = "42"``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from harness.gate.grammar import NUMBER, Cursor, read_tag
from harness.model.suite import (
    Before,
    Condition,
    DistinctValues,
    FieldBound,
    FieldInTop,
    FieldRequirement,
    FieldValue,
    HitCount,
    HitQuantifier,
    InTop,
    NoRepeats,
    Operator,
)

_DOCUMENT = re.compile(r"\"([^\"]*)\"(?!\S)|'([^']*)'(?!\S)|([^\s\"']\S*)")
_FIELD = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=!≤≥{}]+)")
_VALUE_OF_SET = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s\"',{}]+)")

_HITS = re.compile(r"hits\s*(?=[<>=!≤≥])")
_QUANTIFIED = re.compile(r"(every|no)\s+hit\s+in\s+top(?!\S)")
_REPEATED = re.compile(r"no\s+repeated(?!\S)")
_DISTINCT = re.compile(rf"distinct\s+(?!before\s)(?=(?:{_FIELD.pattern})\s*[<>=!≤≥])")
_COMPARED = re.compile(rf"(?:{_DOCUMENT.pattern})\s+[<>=!≤≥]")
_IN_SET = re.compile(r"in\s*\{")
_IN_RANGE = re.compile(r"in\s+([^\s\"']+?)\s*\.\.\s*(\S*)")
_IN_TOP = re.compile(r"in\s+top(?!\S)")
_HAS = re.compile(r"has(?!\S)")
_NOT = re.compile(r"not(?!\S)")
_BEFORE = re.compile(r"before(?!\S)")

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([Tt ].*)?", re.ASCII | re.DOTALL)
_LIMIT = "a number or a date such as 2026-01-31"


def read_number(text: str) -> int | float | None:
    """
    The number that *text* spells; None if it is none. A whole one is exact, whatever its size.

    >>> read_number("9007199254740993"), read_number("0.5"), read_number("12 kg")
    (9007199254740993, 0.5, None)
    """
    if NUMBER.fullmatch(text) is None:
        return None
    if len(text) <= 400 and re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    number = float(text)
    return number if abs(number) != float("inf") else None


def read_date(text: str) -> date | None:
    """
    The date that *text* spells, a `datetime` in UTC where it has a time; None if it is none.

    >>> read_date("2026-01-31"), read_date("2026-01-31T12:00:00+01:00").hour, read_date("soon")
    (datetime.date(2026, 1, 31), 11, None)
    """
    if _DATE.fullmatch(text) is None:
        return None
    try:
        if len(text) == len("2026-01-31"):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_expectation(text: str) -> Condition:
    """
    Read what a query expects of its hits.

    Args:
        text: ``sku-17 in top 3``, ``sku-17 before sku-9``, ``hits >= 1``, or one about a field, such as
            ``every hit in top 10 has in_stock = true``.

    Raises:
        GrammarError: The text is not of this module's grammar.

    >>> parse_expectation("sku-17 not in top 3")
    InTop(document='sku-17', k=3, negated=True)
    >>> parse_expectation("no repeated group in top 10")
    NoRepeats(field='group', k=10)
    """
    cursor = Cursor(text)
    condition = _read_expectation(cursor)
    cursor.expect_end("nothing after it")
    return condition


def parse_suite_expectation(text: str) -> tuple[Condition, str | None]:
    """
    Read what a suite expects of the hits of each query, or of each query of a tag.

    Returns:
        The condition, and the tag or None.

    Raises:
        GrammarError: As `parse_expectation`; or it is about a document, which belongs to a query.

    >>> parse_suite_expectation("no repeated group in top 10 for head")
    (NoRepeats(field='group', k=10), 'head')
    """
    cursor = Cursor(text)
    start = cursor.position
    condition = _read_expectation(cursor)
    if isinstance(condition, InTop | Before):
        cursor.fail("an expectation of a document belongs to one query; move it below 'expect' of the query", start)
    return condition, read_tag(cursor, of_query=False)


def _read_expectation(cursor: Cursor) -> Condition:
    """Read the expectation at *cursor*, without its tag."""
    if cursor.read(_HITS):
        operator = cursor.read_operator()
        return HitCount(operator, cursor.read_whole_number("a number of hits such as 1", least=0))
    quantified = cursor.read(_QUANTIFIED)
    if quantified:
        k = _read_rank(cursor)
        if cursor.read(_HAS) is None:
            cursor.fail(f"{cursor.describe_next()}, expected 'has' and a field, as in 'has in_stock = true'")
        requirement = _read_requirement(cursor, may_be_bare=True)
        return FieldInTop(HitQuantifier(quantified[1]), requirement, k)
    if cursor.read(_REPEATED):
        field = _read_field(cursor)
        return NoRepeats(field, _read_top(cursor, f"the field {field!r}"))
    if cursor.read(_DISTINCT):
        field = _read_field(cursor)
        operator = cursor.read_operator()
        required = cursor.read_whole_number("a number of values such as 8", least=0)
        return DistinctValues(field, operator, required, _read_top(cursor, "the number of values"))
    if _is_requirement(cursor):
        requirement = _read_requirement(cursor, may_be_bare=False)
        return FieldInTop(HitQuantifier.ANY, requirement, _read_top(cursor, "the value"))
    return _read_ranks(cursor)


def _is_requirement(cursor: Cursor) -> bool:
    """Whether a field with a comparison, a set or a range is at *cursor*, and no document."""
    if _COMPARED.match(cursor.text, cursor.position):
        return True
    document = _DOCUMENT.match(cursor.text, cursor.position)
    if document is None:
        return False
    behind = document.end()
    while behind < len(cursor.text) and cursor.text[behind].isspace():
        behind += 1
    return any(pattern.match(cursor.text, behind) for pattern in (_IN_SET, _IN_RANGE))


def _read_requirement(cursor: Cursor, *, may_be_bare: bool) -> FieldRequirement:
    """Read a field and what it has to hold; *may_be_bare*: any value will do where nothing follows."""
    field = _read_field(cursor)
    if cursor.read(_IN_SET):
        return FieldRequirement(field, allowed=_read_set(cursor))
    start = cursor.position
    limits = cursor.read(_IN_RANGE)
    if limits:
        least = _check_limit(cursor, limits[1], start)
        greatest = _check_limit(cursor, limits[2], start)
        if _is_number(least) != _is_number(greatest):
            cursor.fail(f"found {limits[1]!r} and {limits[2]!r}, expected two numbers or two dates", start)
        if _is_reversed(least.text, greatest.text):
            cursor.fail(f"found the range {least.text}..{greatest.text}, expected the least first", start)
        bounds = FieldBound(Operator.AT_LEAST, least), FieldBound(Operator.AT_MOST, greatest)
        return FieldRequirement(field, bounds=bounds)
    has_comparison = cursor.position < len(cursor.text) and cursor.text[cursor.position] in "<>=!≤≥"
    if may_be_bare and not has_comparison:
        return FieldRequirement(field)
    if cursor.text.startswith("!=", cursor.position):
        example = f"no hit in top 10 has {field} = …"
        cursor.fail(f"found '!=', expected a comparison: >=, >, <=, < or =; for hits without a value write '{example}'")
    operator = cursor.read_operator()
    start = cursor.position
    value = _read_value(cursor)
    if operator is Operator.EQUAL:
        return FieldRequirement(field, allowed=(value,))
    if value.is_quoted:
        cursor.fail(f"found a text in quotes after {operator.value!r}, expected {_LIMIT}", start)
    return FieldRequirement(field, bounds=(FieldBound(operator, _check_limit(cursor, value.text, start)),))


def _read_field(cursor: Cursor) -> str:
    start = cursor.position
    match = cursor.read(_FIELD)
    if match is None:
        cursor.fail(f"{cursor.describe_next()}, expected the name of a field")
    field = _get_group(match)
    if not field:
        cursor.fail("found an empty name of a field", start)
    return field


def _read_value(cursor: Cursor) -> FieldValue:
    match = cursor.read(_DOCUMENT)
    if match is None:
        hint = " with its closing quote" if cursor.position < len(cursor.text) else ""
        cursor.fail(f"{cursor.describe_next()}, expected a value{hint}")
    return FieldValue(_get_group(match), is_quoted=match[3] is None)


def _read_set(cursor: Cursor) -> tuple[FieldValue, ...]:
    """Read the values up to the closing brace."""
    values: list[FieldValue] = []
    while True:
        start = cursor.position
        match = cursor.read(_VALUE_OF_SET)
        if match is None:
            cursor.fail(f"{cursor.describe_next()}, expected a value of the set")
        value = FieldValue(_get_group(match), is_quoted=match[3] is None)
        if value in values:
            cursor.fail(f"the value {value.text!r} is named twice", start)
        values.append(value)
        if cursor.read(re.compile(r"\}")):
            return tuple(values)
        if cursor.read(re.compile(",")) is None:
            cursor.fail(f"{cursor.describe_next()}, expected ',' or '}}'; put a value with spaces in quotes")


def _check_limit(cursor: Cursor, text: str, start: int) -> FieldValue:
    """*text*, which is at *start*, as a value; refuses what is neither a number nor a date."""
    if read_number(text) is None and read_date(text) is None:
        cursor.fail(f"found {text!r}, expected {_LIMIT}", start)
    return FieldValue(text)


def _is_reversed(least: str, greatest: str) -> bool:
    """Whether nothing is between the two limits, which are both numbers or both dates."""
    first, last = read_number(least), read_number(greatest)
    if first is not None and last is not None:
        return first > last
    # As texts, dates without a time can be compared with those that have one.
    return least[:10] > greatest[:10]


def _is_number(value: FieldValue) -> bool:
    return read_number(value.text) is not None


def _read_top(cursor: Cursor, what: str) -> int:
    """Read ``in top`` and a rank; *what* stands before it."""
    if cursor.read(_IN_TOP) is None:
        hint = "" if cursor.position == len(cursor.text) else "; put what has spaces in quotes"
        cursor.fail(f"{cursor.describe_next()}, expected 'in top' after {what}{hint}")
    return _read_rank(cursor)


def _read_rank(cursor: Cursor) -> int:
    return cursor.read_whole_number("a rank such as 10", least=1)


def _read_ranks(cursor: Cursor) -> InTop | Before:
    document = _read_document(cursor)
    if cursor.read(_BEFORE):
        return _read_before(cursor, document)
    negated = cursor.read(_NOT) is not None
    if cursor.read(_IN_TOP) is None:
        expected = "'in top'" if negated else "'in top', 'not in top' or 'before'"
        quotes = "; put a document id with spaces in quotes"
        cursor.fail(f"{cursor.describe_next()}, expected {expected} after the document {document!r}{quotes}")
    return InTop(document, _read_rank(cursor), negated)


def _read_before(cursor: Cursor, document: str) -> Before:
    start = cursor.position
    other = _read_document(cursor)
    if other == document:
        cursor.fail(f"the document {document!r} cannot be before itself", start)
    return Before(document, other)


def _read_document(cursor: Cursor) -> str:
    start = cursor.position
    match = cursor.read(_DOCUMENT)
    if match is None:
        hint = " with its closing quote" if cursor.position < len(cursor.text) else ""
        cursor.fail(f"{cursor.describe_next()}, expected a document id{hint}")
    document = _get_group(match)
    if not document:
        cursor.fail("found an empty document id", start)
    return document


def _get_group(match: re.Match[str]) -> str:
    """The text of the group that matched: what is between quotes, or a word."""
    return next(group for group in match.groups() if group is not None)
