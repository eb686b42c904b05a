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
from dataclasses import dataclass
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
    different_types = frozenset(types)
    if not different_types:
        return FieldKind.UNKNOWN
    if different_types <= NUMERIC_TYPES:
        return FieldKind.NUMBER
    if different_types <= DATE_TYPES:
        return FieldKind.DATE
    if different_types == {"boolean"}:
        return FieldKind.BOOLEAN
    if different_types <= _TEXT_TYPES:
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
    """
    Whether *value* equals one of *allowed*.

    None if it equals none with which it can be compared, but there are others. A set with a word is a set of texts: a
    text can be compared with all of its values, so that "Nike" is not in ``{Adidas, 7}``.
    """
    has_incomparable = False
    has_words = False
    for wanted in allowed:
        is_equal = equals(value, wanted, kind)
        if is_equal:
            return True
        if is_equal is None:
            has_incomparable = True
        if wanted.is_quoted or _is_word(wanted):
            has_words = True
    if isinstance(value, str) and has_words:
        return False
    if has_incomparable:
        return None
    return False


def find_incomparable(value: FieldScalar, requirement: FieldRequirement, kind: FieldKind) -> FieldValue | None:
    """The first value in *requirement* that cannot be compared with *value*; None if all can."""
    for bound in requirement.bounds:
        if is_within(value, bound, kind) is None:
            return bound.value
    if requirement.allowed and _equals_any(value, requirement.allowed, kind) is None:
        for wanted in requirement.allowed:
            if equals(value, wanted, kind) is None:
                return wanted
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
        # A number in the source of a document is a text where its field is one of texts, and nowhere else.
        is_text = isinstance(value, str) or kind is FieldKind.TEXT
        return is_text and text == wanted.text
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
    if order is None:
        return None
    return is_met(order, bound.operator, 0)


def _is_word(wanted: FieldValue) -> bool:
    """Whether *wanted*, without quotes, can only be a text: it is no boolean, number or date."""
    return wanted.text not in BOOLEANS and read_number(wanted.text) is None and read_date(wanted.text) is None


def _equals_boolean(value: FieldScalar, wanted: bool, kind: FieldKind) -> bool | None:
    """Whether *value* stands for the boolean *wanted*; None if it cannot be compared with one."""
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
        number = _convert_to_number(value)
        if number is None:
            return None
        return _compare_numbers(number, limit)
    wanted_date = read_date(wanted.text)
    if wanted_date is None or kind is FieldKind.NUMBER or not isinstance(value, str):
        return None
    # Without a mapping nobody knows whether digits are a date, and in which unit, but for a year, a month and a day.
    if read_number(value) is not None and _BASIC_DATE.fullmatch(value) is None:
        return None
    found_date = read_moment(value)
    if found_date is None:
        return None
    return _compare_moments(_Moment(found_date, value), _Moment(wanted_date, wanted.text))


def _convert_to_number(value: FieldScalar) -> float | None:
    """The number that *value* is or spells; None if it is none."""
    if isinstance(value, str):
        return read_number(value)
    return value


def _order(first: float, second: float) -> int:
    """1 if *first* is above *second*, -1 if it is below, 0 if they are equal."""
    if first > second:
        return 1
    if first < second:
        return -1
    return 0


def _compare_numbers(number: float, limit: float) -> int:
    """As `compare`; two numbers that differ only by rounding are equal."""
    are_integers = isinstance(number, int) and isinstance(limit, int)
    may_be_rounded = not are_integers and max(abs(number), abs(limit)) < MOST_WITH_FRACTION
    # Both tolerances have to hold: that of scores alone would make any small number equal to 0.
    if may_be_rounded and abs(number - limit) <= TOLERANCE and math.isclose(number, limit, rel_tol=_ROUNDING):
        return 0
    return _order(number, limit)


def _compare_dates(value: FieldScalar, wanted: FieldValue) -> int | None:
    """As `compare`, for a field of dates, in any of their forms."""
    number, limit = _convert_to_number(value), read_number(wanted.text)
    found_date = read_moment(value)
    wanted_date = read_date(wanted.text) if limit is None else read_moment(limit)
    if found_date is not None and wanted_date is not None:
        return _compare_moments(_Moment(found_date, value), _Moment(wanted_date, wanted.text))
    # Two numbers that are no dates by themselves are of the unit of the field, such as seconds.
    if found_date is None and wanted_date is None and limit is not None and number is not None:
        return _compare_numbers(number, limit)
    return None


@dataclass(frozen=True, slots=True)
class _Moment:
    """A day, or a `datetime`, and the value that it was read from, which may have digits below microseconds."""

    date: date
    source: FieldScalar

    def count_nanoseconds(self) -> int:
        """The nanoseconds since 1970; those of a day are at its beginning."""
        moment = self.date
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
        nanoseconds = (moment - EPOCH) // timedelta(microseconds=1) * 1000
        if isinstance(self.source, str):
            digits = _BELOW_MICROSECONDS.search(self.source)
            if digits is not None:
                nanoseconds += int(digits[1].ljust(3, "0"))
        return nanoseconds


def _compare_moments(found: _Moment, wanted: _Moment) -> int:
    """As `compare`; a *wanted* date without a time is the whole day in UTC."""
    if isinstance(wanted.date, datetime):
        return _order(found.count_nanoseconds(), wanted.count_nanoseconds())
    return _order(found.date.toordinal(), wanted.date.toordinal())


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
        is_whole = value == int(value)
        if is_whole and len(str(int(value))) == len("20260131"):
            return _read_basic_date(str(int(value)))
        return _read_milliseconds(value)
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
    """The date that *text* spells in the basic form of ISO 8601, such as 20260131; None if it is none."""
    parts = _BASIC_DATE.fullmatch(text)
    if parts is None:
        return None
    return read_date(f"{parts[1]}-{parts[2]}-{parts[3]}{parts[4] or ''}")


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
        text = value if isinstance(value, str) else json.dumps(value)
        return "text", text
    if kind is FieldKind.NUMBER and isinstance(value, str):
        number = read_number(value)
        if number is not None:
            return "number", number
    if kind is FieldKind.BOOLEAN and value in BOOLEANS:
        return "boolean", value == "true"
    if kind is FieldKind.DATE:
        moment = read_moment(value)
        if moment is not None:
            return "date", _Moment(moment, value).count_nanoseconds()
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, str):
        return "text", value
    return "number", value
