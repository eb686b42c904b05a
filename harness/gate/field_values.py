"""
Whether a value of a hit's field equals, or is within, what an expectation wants: one comparison for all operators.

The mapping of the field says how two values are compared: as numbers, dates, booleans or texts. If it is not known, as
for an HTTP service, or if several indexes differ, the types of the two values decide. Two values that cannot be
compared are neither equal nor different: the functions return None for them, and the expectation is an error. So ``=``
never says that two values differ where ``<=`` cannot tell.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from enum import Enum, auto

from harness.gate.expectations import read_date, read_number
from harness.gate.finding import is_met
from harness.gate.grammar import TOLERANCE
from harness.model.run import FieldScalar
from harness.model.suite import FieldBound, FieldRequirement, FieldValue

NUMERIC_TYPES = frozenset(
    {
        "byte", "double", "float", "half_float", "integer", "long", "rank_feature", "scaled_float", "short",
        "token_count", "unsigned_long",
    }
)  # fmt: skip
"""Types of fields whose values are numbers."""

DATE_TYPES = frozenset({"date", "date_nanos"})
_TEXT_TYPES = frozenset(
    {
        "annotated_text", "constant_keyword", "flattened", "ip", "keyword", "match_only_text", "search_as_you_type",
        "text", "version", "wildcard",
    }
)  # fmt: skip
"""Types of fields whose values are texts, whatever they look like."""

BOOLEANS = ("true", "false")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LEAST_MILLISECONDS, MOST_MILLISECONDS = 10**11, 10**13
"""
Between these a number is a date in milliseconds, from 1973 to 2286. A smaller one may be seconds or days as well, and a
greater one digits of a date and a time.
"""

_ROUNDING = 1e-14
"""The share of a number by which a value may differ from it that was computed: 0.1 + 0.2 is 0.3."""

MOST_WITH_FRACTION = 2**53
"""From here on each number that a float can hold is whole."""

_BASIC_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})(T\d{2}.*)?", re.ASCII | re.DOTALL)
_SLASHED_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})( .*)?", re.ASCII | re.DOTALL)
_YEAR_AND_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?", re.ASCII)
_BELOW_MICROSECONDS = re.compile(r"[.,][0-9]{6}([0-9]{1,3})")
_DAY_AND_TIME = re.compile(r"((?:19|20)\d{6})(?:[01]\d|2[0-3])[0-5]\d", re.ASCII)
_BLANK_BEFORE_ZONE = re.compile(r" (?=[+-]\d{2}|Z$)")


class FieldKind(Enum):
    """How the values of a field are compared."""

    NUMBER = auto()
    DATE = auto()
    BOOLEAN = auto()
    TEXT = auto()
    UNKNOWN = auto()
    """The mapping is not known, or that of several indexes differs."""


def find_kind(types: Iterable[str]) -> FieldKind:
    """
    The kind of a field of these *types* of mappings; UNKNOWN if there are none.

    >>> find_kind(["double", "long"]), find_kind(["keyword", "long"])
    (<FieldKind.NUMBER: 1>, <FieldKind.UNKNOWN: 5>)
    """
    known = frozenset(types)
    if not known:
        return FieldKind.UNKNOWN
    if known <= NUMERIC_TYPES:
        return FieldKind.NUMBER
    if known <= DATE_TYPES:
        return FieldKind.DATE
    if known == {"boolean"}:
        return FieldKind.BOOLEAN
    if known <= _TEXT_TYPES:
        return FieldKind.TEXT
    return FieldKind.UNKNOWN


def meets(value: FieldScalar, requirement: FieldRequirement, kind: FieldKind) -> bool | None:
    """Whether *value* meets *requirement*; None if it cannot be compared with a part of it."""
    decisions: list[bool | None] = []
    if requirement.allowed:
        decisions.append(_equals_any(value, requirement.allowed, kind))
    decisions += [is_within(value, bound, kind) for bound in requirement.bounds]
    if None in decisions:
        return None
    return all(decisions)


def _equals_any(value: FieldScalar, allowed: Iterable[FieldValue], kind: FieldKind) -> bool | None:
    """Whether *value* is one of *allowed*; None if it is none as far as can be said, and may be one."""
    decisions = [equals(value, wanted, kind) for wanted in allowed]
    if True in decisions:
        return True
    # A set with words is one of texts, in which "Nike" is not 7.
    has_words = any(wanted.is_quoted or _is_word(wanted) for wanted in allowed)
    if isinstance(value, str) and has_words:
        return False
    return None if None in decisions else False


def find_incomparable(value: FieldScalar, requirement: FieldRequirement, kind: FieldKind) -> FieldValue | None:
    """What in *requirement* cannot be compared with *value*; None if all can."""
    for bound in requirement.bounds:
        if is_within(value, bound, kind) is None:
            return bound.value
    if requirement.allowed and _equals_any(value, requirement.allowed, kind) is None:
        return next(wanted for wanted in requirement.allowed if equals(value, wanted, kind) is None)
    return None


def equals(value: FieldScalar, wanted: FieldValue, kind: FieldKind) -> bool | None:
    """
    Whether *value* is *wanted*, which may stand for a number, a date or true only if it is not in quotes.

    >>> equals("12.50", FieldValue("12.5"), FieldKind.NUMBER)
    True
    >>> equals("about 12", FieldValue("12.5"), FieldKind.UNKNOWN) is None
    True
    """
    text = value if isinstance(value, str) else json.dumps(value)
    if wanted.is_quoted:
        # An engine keeps a number as a text in a field of texts. Elsewhere it is no text.
        return text == wanted.text and (isinstance(value, str) or kind is FieldKind.TEXT)
    if wanted.text in BOOLEANS:
        return _equals_boolean(value, wanted.text == "true", kind)
    if _is_word(wanted):
        if isinstance(value, bool) and kind is not FieldKind.TEXT:
            return None
        return text == wanted.text
    if isinstance(value, str) and value == wanted.text:
        return True
    order = compare(value, wanted, kind)
    if order is None:
        return None
    is_equal = order == 0
    if is_equal and kind is FieldKind.TEXT and text != wanted.text:
        return None  # two texts that differ, of one number or date
    return is_equal


def is_within(value: FieldScalar, bound: FieldBound, kind: FieldKind) -> bool | None:
    """Whether *value* meets *bound*; None if the two cannot be compared."""
    order = compare(value, bound.value, kind)
    return None if order is None else is_met(order, bound.operator, 0)


def _is_word(wanted: FieldValue) -> bool:
    """Whether *wanted*, without quotes, stands for nothing but a text."""
    return wanted.text not in BOOLEANS and read_number(wanted.text) is None and read_date(wanted.text) is None


def _equals_boolean(value: FieldScalar, wanted: bool, kind: FieldKind) -> bool | None:
    if isinstance(value, bool):
        return value is wanted
    if isinstance(value, str) and value in BOOLEANS:
        return (value == "true") is wanted
    if kind is FieldKind.TEXT:
        return False
    if kind is FieldKind.BOOLEAN and value == "":
        return not wanted  # engines take an empty text for false
    return None


def compare(value: FieldScalar, wanted: FieldValue, kind: FieldKind) -> int | None:
    """
    Whether *value* is above *wanted* (1), below it (-1), or as much (0); None if they cannot be compared.

    Whole numbers are exact, whatever their size.
    """
    if isinstance(value, bool) or wanted.is_quoted or kind is FieldKind.BOOLEAN:
        return None
    if kind is FieldKind.DATE:
        return _compare_dates(value, wanted)
    limit = read_number(wanted.text)
    if limit is not None:
        number = read_number(value) if isinstance(value, str) else value
        return None if number is None else _compare_numbers(number, limit)
    moment = read_date(wanted.text)
    if moment is None or kind is FieldKind.NUMBER or not isinstance(value, str):
        return None
    # Without a mapping nobody knows whether digits are a date, and in which unit, but for a year, a month and a day.
    if read_number(value) is not None and _BASIC_DATE.fullmatch(value) is None:
        return None
    found = read_moment(value)
    return None if found is None else _compare_moments((found, value), (moment, wanted.text))


def _compare_numbers(number: float, limit: float) -> int:
    # The tolerance of scores alone would take a small number for 0.
    is_whole = isinstance(number, int) and isinstance(limit, int)
    has_fraction = not is_whole and max(abs(number), abs(limit)) < MOST_WITH_FRACTION
    if has_fraction and abs(number - limit) <= TOLERANCE and math.isclose(number, limit, rel_tol=_ROUNDING):
        return 0
    return (number > limit) - (number < limit)


def _compare_dates(value: FieldScalar, wanted: FieldValue) -> int | None:
    """As `compare`, for a field of dates, in any of their forms."""
    number, limit = value, read_number(wanted.text)
    if isinstance(value, str):
        read = read_number(value)
        number = "" if read is None else read
    wanted_moment = read_date(wanted.text) if limit is None else read_moment(limit)
    found = read_moment(value)
    if found is not None and wanted_moment is not None:
        return _compare_moments((found, value), (wanted_moment, wanted.text))
    # Two numbers that are no dates by themselves are of the unit of the field, such as seconds.
    if found is None and wanted_moment is None and limit is not None and not isinstance(number, str):
        return _compare_numbers(number, limit)
    return None


def _compare_moments(found: tuple[date, FieldScalar], wanted: tuple[date, FieldScalar]) -> int:
    """Compare two dates, each with what it was read from; a *wanted* one without a time is the whole day in UTC."""
    if isinstance(wanted[0], datetime):
        number, limit = _count_nanoseconds(*found), _count_nanoseconds(*wanted)
    else:
        number, limit = found[0].toordinal(), wanted[0].toordinal()
    return (number > limit) - (number < limit)


def _count_nanoseconds(moment: date, text: FieldScalar) -> int:
    """Those since 1970 of the *moment* that *text* spells; it has microseconds, and *text* may have more digits."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    digits = _BELOW_MICROSECONDS.search(text) if isinstance(text, str) else None
    return (moment - EPOCH) // timedelta(microseconds=1) * 1000 + (int(digits[1].ljust(3, "0")) if digits else 0)


def read_moment(value: FieldScalar) -> date | None:
    """
    The date that *value* of a field of dates stands for, a `datetime` in UTC where it has a time; None if it is none.

    Read are the forms of ISO 8601, also basic ones, dates with slashes, a year with or without a month, and
    milliseconds. A form that may mean two dates is none.

    >>> read_moment("2026/01/31"), read_moment("20260131"), read_moment("2026-02")
    (datetime.date(2026, 1, 31), datetime.date(2026, 1, 31), datetime.date(2026, 2, 1))
    >>> read_moment(1769862600000)
    datetime.datetime(2026, 1, 31, 12, 30, tzinfo=datetime.timezone.utc)
    >>> read_moment(1769862600) is None, read_moment("31.01.2026") is None
    (True, True)
    """
    if isinstance(value, bool):
        return None
    if not isinstance(value, str):
        text = str(int(value)) if value == int(value) else ""
        return _read_basic_date(text) if len(text) == len("20260131") else _read_milliseconds(value)
    text = value.strip()
    number = read_number(text)
    if number is not None and len(text) > len("20260131"):
        return _read_milliseconds(number)
    year = _YEAR_AND_MONTH.fullmatch(text)
    if year is not None:
        return read_date(f"{year[1]}-{year[2] or '01'}-01")
    if _BASIC_DATE.fullmatch(text):
        return _read_basic_date(text)
    slashed = _SLASHED_DATE.fullmatch(text)
    if slashed is not None:
        text = f"{slashed[1]}-{slashed[2]}-{slashed[3]}{slashed[4] or ''}"
    day, time = text[:11], text[11:]
    return read_date(day + _BLANK_BEFORE_ZONE.sub("", time))


def _read_basic_date(text: str) -> date | None:
    parts = _BASIC_DATE.fullmatch(text)
    return None if parts is None else read_date(f"{parts[1]}-{parts[2]}-{parts[3]}{parts[4] or ''}")


def _read_milliseconds(number: float) -> datetime | None:
    if not LEAST_MILLISECONDS <= abs(number) < MOST_MILLISECONDS:
        return None
    # Twelve digits may be a date, an hour and a minute: then it may mean two dates.
    digits = _DAY_AND_TIME.fullmatch(str(int(number)))
    if digits is not None and _read_basic_date(digits[1]) is not None:
        return None
    return EPOCH + timedelta(milliseconds=number)


def make_key(value: FieldScalar, kind: FieldKind) -> tuple[str, FieldScalar]:
    """
    What two equal values of a field share; where the mapping is not known, equal ones of one kind: true is not 1.

    >>> make_key("12.50", FieldKind.NUMBER) == make_key(12.5, FieldKind.NUMBER)
    True
    """
    if kind is FieldKind.TEXT:
        return "text", value if isinstance(value, str) else json.dumps(value)
    if kind is FieldKind.NUMBER and isinstance(value, str):
        number = read_number(value)
        if number is not None:
            return "number", number
    if kind is FieldKind.BOOLEAN and value in BOOLEANS:
        return "boolean", value == "true"
    if kind is FieldKind.DATE:
        moment = read_moment(value)
        if moment is not None:
            return "date", _count_nanoseconds(moment, value)
    if isinstance(value, bool):
        return "boolean", value
    return ("text" if isinstance(value, str) else "number"), value
