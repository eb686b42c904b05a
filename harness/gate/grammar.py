"""
The text of a threshold, read into its condition, and what no score can meet. `expectations` reads expectations.

::

    threshold = [ statistic ] measure op number [ "for" tag ]        a query's own has neither statistic nor tag
              | "drop" [ "every" ] measure "<=" number [ "%" ] [ since ] [ "for" tag ]
              | "drop" measure "is not significant at" number "%" [ "for" tag ]            suites only
              | "worse" measure "by" number "<=" ( n "queries" | number "%" ) [ since ] [ "for" tag ]    suites only
              | [ statistic ] agreement op number [ "for" tag ]                 compared with the baseline's rankings
              | [ statistic ] agreement "of variants" op number [ "for" tag ]
              | "loss" [ "every" ] measure "of variants" "<=" number [ "for" tag ]
              | [ statistic ] agreement "with request" request op number [ "for" tag ]
              | "loss" [ "every" ] measure "against request" request "<=" number [ "for" tag ]
              | "machine" measure "<=" number "%" [ "for" tag ]                            suites only
              | "kappa" machine op number [ "over" n "documents" ] [ "for" tag ]           suites only
              | "false hits" "<=" number "%" [ "for" tag ]                                 suites only
              | ( "p50" | "p95" | "p99" | "max" ) "latency" "<=" number "ms"
    since     = "since" n "runs"                     the median of runs of the history, in place of the baseline
    statistic = "mean" | "median" | "every" | number "%"             0 < number <= 100
    agreement = "RBO" [ "(p=" number ")" ] [ "@" k ] | "overlap" [ "@" k ]
    request   = the name of another request of the suite, without blanks or in single or double quotes
    op        = ">=" | ">" | "<=" | "<" | "="

A tag is the rest of the line after ``for``, so it may hold blanks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NoReturn

from harness.errors import GrammarError, MeasureError
from harness.metrics import measure_range, parse_measure
from harness.metrics.grammar import begins_agreement, read_agreement
from harness.model.suite import (
    VARIANTS,
    AgreementCondition,
    Condition,
    Counterpart,
    DistinctValues,
    DropCondition,
    FalseHitsCondition,
    Gain,
    HitCount,
    KappaCondition,
    LatencyCondition,
    LossCondition,
    MachineShareCondition,
    Measure,
    Operator,
    Profile,
    ScoreCondition,
    SignificanceCondition,
    StatisticKind,
    WorseCondition,
)
from harness.words import did_you_mean

_WORD = re.compile(r"\S+")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r",\d+(?!\S)", re.ASCII)
_COMPARISON = re.compile(r"[<>=!≤≥]+")
_OPERATORS = ">=, >, <=, < or ="


class Cursor:
    """A place in the text that is read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.skip_blanks()

    def skip_blanks(self) -> None:
        """Move past blanks."""
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    def read(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match *pattern* here, and move past the match and the blanks behind it."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
            self.skip_blanks()
        return match

    def describe_next(self) -> str:
        """The text at this place, for an error."""
        word = _WORD.match(self.text, self.position)
        return f"found {word.group()!r}" if word else "found the end"

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Refuse the text, at *offset* or here."""
        raise GrammarError(message, self.position if offset is None else offset)

    def expect_end(self, expected: str) -> None:
        """Refuse any text that is left."""
        if self.position < len(self.text):
            self.fail(f"{self.describe_next()}, expected {expected}")

    def read_operator(self) -> Operator:
        """Read the comparison operator here."""
        start = self.position
        match = self.read(_COMPARISON)
        if match is None:
            self.fail(f"{self.describe_next()}, expected a comparison: {_OPERATORS}")
        try:
            return Operator(match.group())
        except ValueError:
            self.fail(f"found {match.group()!r}, expected a comparison: {_OPERATORS}", start)

    def expect_at_most(self, what: str) -> None:
        """Go past ``<=``, the only comparison that limits *what*."""
        start = self.position
        operator = self.read_operator()
        if operator is not Operator.AT_MOST:
            self.fail(f"found {operator.value!r}, but {what} takes only '<='", start)

    def read_number(self, expected: str) -> float:
        """Read a finite number here."""
        start = self.position
        match = self.read(NUMBER)
        if match is None:
            self.fail(f"{self.describe_next()}, expected {expected}")
        decimals = _DECIMAL_COMMA.match(self.text, match.end())
        if decimals:
            found = match.group() + decimals.group()
            self.fail(f"found {found!r}, expected a decimal point: {found.replace(',', '.')}", start)
        value = float(match.group())
        if not math.isfinite(value):
            self.fail(f"{match.group()} is too large a number", start)
        return value

    def read_whole_number(self, expected: str, *, least: int) -> int:
        """Read a whole number of at least *least* here."""
        start = self.position
        match = self.read(_WORD)
        if match is None or re.fullmatch(r"[0-9]{1,9}", match.group()) is None or int(match.group()) < least:
            found = f"found {match.group()!r}" if match else "found the end"
            self.fail(f"{found}, expected {expected}, at least {least}", start)
        return int(match.group())

    def has_after_word(self, pattern: re.Pattern[str]) -> bool:
        """Whether *pattern* matches behind the next word; blanks in brackets do not end a word."""
        end = _find_outside_brackets(self.text, self.position, str.isspace)
        while end < len(self.text) and self.text[end].isspace():
            end += 1
        return pattern.match(self.text, end) is not None

    def read_measure(self, *, one_word: bool = False) -> Measure:
        """Read the measure up to the comparison, or of *one_word*. Its parameters, in brackets, contain ``=`` too."""
        return self.read_measure_with(parse_measure, one_word=one_word)

    def read_measure_with(self, parse: Callable[[str], Measure], *, one_word: bool = False) -> Measure:
        """As `read_measure`, with *parse* to read the text in the measure's place."""
        start = self.position
        end = _find_outside_brackets(self.text, start, lambda character: character in "<>=!≤≥")
        if end == len(self.text) or one_word:
            end = _find_outside_brackets(self.text, start, str.isspace)
        text = self.text[start:end].rstrip()
        if not text:
            self.fail(f"{self.describe_next()}, expected a measure such as nDCG@10")
        self.position = end
        self.skip_blanks()
        try:
            return parse(text)
        except MeasureError as error:
            raise type(error)(str(error), start + error.offset) from None


def _find_outside_brackets(text: str, start: int, wanted: Callable[[str], bool]) -> int:
    """Where the first *wanted* character stands, brackets skipped; the length of *text* where there is none."""
    depth = 0
    for position in range(start, len(text)):
        character = text[position]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth <= 0 and wanted(character):
            return position
    return len(text)


_BY = re.compile(r"by(?!\S)")
_EVERY = re.compile(r"every(?!\S)")
_FALSE_HITS = re.compile(r"false\s+hits(?![^\s<>=!≤≥])")
_IS = re.compile(r"is(?!\S)")
_OF_OR_WITH = re.compile(r"(?:of|with)(?!\S)")
_OF_VARIANTS = re.compile(r"of\s+variants(?!\S)")
_REQUEST = re.compile(r"\"([^\"]+)\"|'([^']+)'|([^\s\"'<>=!≤≥]+)")
_NOT_SIGNIFICANT = re.compile(r"is\s+not\s+significant\s+at(?!\S)")
_OVER = re.compile(r"over(?!\S)")
_DOCUMENTS = re.compile(r"documents(?!\S)")
_PER_CENT = re.compile("%")
_QUERIES = re.compile(r"quer(?:y|ies)(?!\S)")
_RUNS = re.compile(r"runs?(?!\S)")
_SINCE = re.compile(r"since(?!\S)")


def _read_drop(cursor: Cursor, *, of_query: bool) -> DropCondition | SignificanceCondition:
    """Read the threshold on a drop at *cursor*, without its tag; *of_query*: it is a query's own."""
    cursor.read(_WORD)
    if cursor.has_after_word(_IS):
        return _read_significance(cursor, of_query=of_query)
    start = cursor.position
    every = cursor.read(_EVERY) is not None
    if every and of_query:
        cursor.fail("found 'every', but a query's own threshold has no statistic; remove it", start)
    measure = cursor.read_measure()
    cursor.expect_at_most("a drop")
    start = cursor.position
    allowed = cursor.read_number("a number such as 0.02 or 2%")
    if allowed < 0:
        cursor.fail(f"found {allowed:g}, expected an allowed drop of at least 0", start)
    relative = cursor.read(_PER_CENT) is not None
    since = _read_since(cursor)
    return DropCondition(measure, allowed / 100 if relative else allowed, every, relative, since)


def _read_since(cursor: Cursor) -> int | None:
    """Read how many runs of the history are compared with; None if the text says nothing of them."""
    if cursor.read(_SINCE) is None:
        return None
    runs = cursor.read_whole_number("a number of runs such as 5 runs", least=1)
    if cursor.read(_RUNS) is None:
        cursor.fail(f"{cursor.describe_next()}, expected 'runs'")
    return runs


def _read_significance(cursor: Cursor, *, of_query: bool) -> SignificanceCondition:
    measure = cursor.read_measure(one_word=True)
    start = cursor.position
    if of_query:
        cursor.fail("found 'is', but one query is too few for a test; expected '<=' and a number", start)
    if cursor.read(_NOT_SIGNIFICANT) is None:
        cursor.fail(f"{cursor.describe_next()}, expected 'is not significant at' and a level such as 5%", start)
    start = cursor.position
    level = cursor.read_number("a level such as 5%")
    if cursor.read(_PER_CENT) is None:
        cursor.fail(f"{cursor.describe_next()}, expected '%' after the level")
    if not 0 < level <= 50:
        cursor.fail(f"found {level:g}%, expected a level above 0% and up to 50%", start)
    # The median of several runs varies less than one run: the two could not be swapped, as the test does.
    if _SINCE.match(cursor.text, cursor.position):
        cursor.fail(f"found 'since', but significance is tested against one run; use 'drop {measure} <= 0.02 since …'")
    return SignificanceCondition(measure, level / 100)


def _read_worse(cursor: Cursor, *, of_query: bool) -> WorseCondition:
    """Read the threshold on how many queries fell at *cursor*, without its tag."""
    if of_query:
        cursor.fail("found 'worse', which counts queries; a query's own threshold is on its 'drop'")
    cursor.read(_WORD)
    measure = cursor.read_measure(one_word=True)
    if cursor.read(_BY) is None:
        cursor.fail(f"{cursor.describe_next()}, expected 'by' and a number such as 0.1")
    start = cursor.position
    by = cursor.read_number("a number such as 0.1")
    if by < 0:
        cursor.fail(f"found {by:g}, expected at least 0", start)
    cursor.expect_at_most("the number of queries")
    start = cursor.position
    allowed = cursor.read_number("a number of queries such as 3 queries, or a share such as 5%")
    if cursor.read(_PER_CENT) is not None:
        if not 0 <= allowed <= 100:
            cursor.fail(f"found {allowed:g}%, expected a share of the queries from 0% to 100%", start)
        return WorseCondition(measure, by, allowed / 100, relative=True, since=_read_since(cursor))
    if allowed < 0 or not allowed.is_integer():
        cursor.fail(f"found {allowed:g}, expected a whole number of queries, at least 0", start)
    if cursor.read(_QUERIES) is None:
        cursor.fail(f"{cursor.describe_next()}, expected 'queries' or '%'")
    return WorseCondition(measure, by, allowed, since=_read_since(cursor))


def _read_machine_share(cursor: Cursor, *, of_query: bool) -> MachineShareCondition:
    """Read the threshold on a machine's share of the grades at *cursor*, without its tag."""
    if of_query:
        cursor.fail("found 'machine', which is a share over queries; move the threshold to the suite")
    cursor.read(_WORD)
    measure = cursor.read_measure()
    return MachineShareCondition(measure, _read_greatest_share(cursor, "a machine's share of the grades", "30%"))


def _read_false_hits(cursor: Cursor, *, of_query: bool) -> FalseHitsCondition:
    """Read the threshold on queries for which no result is right at *cursor*, without its tag."""
    if of_query:
        cursor.fail("found 'false', which is a share of queries; a query's own is an expectation: 'hits = 0'")
    if cursor.read(_FALSE_HITS) is None:
        cursor.fail("found 'false', expected 'false hits' and a share, as in 'false hits <= 5%'")
    return FalseHitsCondition(_read_greatest_share(cursor, "a share of false hits", "5%"))


def _read_greatest_share(cursor: Cursor, what: str, example: str) -> float:
    """Read ``<= 5%`` at *cursor*, which limits *what*; returns a fraction in [0, 1]."""
    cursor.expect_at_most(what)
    start = cursor.position
    allowed = cursor.read_number(f"a share such as {example}")
    if cursor.read(_PER_CENT) is None:
        cursor.fail(f"{cursor.describe_next()}, expected '%' after the share")
    if not 0 <= allowed <= 100:
        cursor.fail(f"found {allowed:g}%, expected a share from 0% to 100%", start)
    return allowed / 100


def _read_loss(cursor: Cursor, *, of_query: bool) -> LossCondition:
    """Read the threshold on what variants, or the request, lose at *cursor*, without its tag."""
    cursor.read(_WORD)
    start = cursor.position
    statistic = StatisticKind.QUERY if of_query else StatisticKind.MEAN
    if cursor.read(_EVERY) is not None:
        if of_query:
            cursor.fail("found 'every', but a query's own threshold has no statistic; remove it", start)
        statistic = StatisticKind.EVERY
    measure = cursor.read_measure(one_word=True)
    counterpart = _read_counterpart(cursor, "against")
    cursor.expect_at_most("a loss")
    start = cursor.position
    allowed = cursor.read_number("a number such as 0.1")
    if allowed < 0:
        cursor.fail(f"found {allowed:g}, expected an allowed loss of at least 0", start)
    if cursor.text.startswith("%", cursor.position):
        cursor.fail(f"a loss is a difference of scores, not per cent; expected {allowed / 100:g}")
    return LossCondition(statistic, measure, allowed, counterpart)


def _read_counterpart(cursor: Cursor, preposition: str) -> Counterpart:
    """Read what of the same run is compared with: ``of variants``, or *preposition* with ``request NAME``."""
    if cursor.read(_OF_VARIANTS) is not None:
        return VARIANTS
    if cursor.read(re.compile(rf"{preposition}\s+request(?!\S)")) is None:
        cursor.fail(f"{cursor.describe_next()}, expected 'of variants' or '{preposition} request NAME'")
    match = cursor.read(_REQUEST)
    if match is None:
        cursor.fail(f"{cursor.describe_next()}, expected the name of a request after '{preposition} request'")
    return Counterpart(match[1] or match[2] or match[3])


FEWEST_SHARED = 50
"""The documents that people and a machine must both have graded, if a threshold on their kappa says no other number."""


def _read_kappa(cursor: Cursor, *, of_query: bool) -> KappaCondition:
    """Read the threshold on a machine's agreement with people at *cursor*, without its tag."""
    if of_query:
        cursor.fail("found 'kappa', which one query is too little for; move the threshold to the suite")
    cursor.read(_WORD)
    start = cursor.position
    name = cursor.read(_WORD)
    if name is None or _COMPARISON.match(name.group()):
        cursor.fail("expected the name of a machine after 'kappa', as in 'kappa gpt >= 0.6'", start)
    start = cursor.position
    operator = cursor.read_operator()
    if operator not in (Operator.AT_LEAST, Operator.ABOVE):
        cursor.fail(f"found {operator.value!r}, but a kappa takes only '>=' or '>'", start)
    start = cursor.position
    required = cursor.read_number("a number such as 0.6")
    if not -1 <= required <= 1:
        cursor.fail(f"found {required:g}, expected a kappa from -1 to 1", start)
    fewest = FEWEST_SHARED
    if cursor.read(_OVER) is not None:
        fewest = cursor.read_whole_number("a number of documents such as 50", least=2)
        if cursor.read(_DOCUMENTS) is None:
            cursor.fail(f"{cursor.describe_next()}, expected 'documents'")
    return KappaCondition(name.group(), operator, required, fewest)


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


def parse_threshold(text: str, *, of_query: bool) -> tuple[Condition, str | None]:
    """
    Read one threshold.

    Args:
        text: One line, such as ``mean nDCG@10 >= 0.8 for head``.
        of_query: Whether it is a query's own, which has neither a statistic nor a tag.

    Returns:
        The condition, and the tag it is limited to or None.

    Raises:
        GrammarError: The text is not of this module's grammar.
        MeasureError: Its measure is not known; the offset counts from the start of *text*.

    >>> condition, tag = parse_threshold("mean nDCG@10 >= 0.8 for head", of_query=False)
    >>> condition.required, tag
    (0.8, 'head')
    """
    cursor = Cursor(text)
    words = text.split(maxsplit=2)
    first = words[0] if words else ""
    second = words[1] if len(words) > 1 else ""
    condition: Condition
    if first == "drop":
        condition = _read_drop(cursor, of_query=of_query)
    elif first == "worse":
        condition = _read_worse(cursor, of_query=of_query)
    elif first == "machine":
        condition = _read_machine_share(cursor, of_query=of_query)
    elif first == "loss":
        condition = _read_loss(cursor, of_query=of_query)
    elif first == "kappa":
        condition = _read_kappa(cursor, of_query=of_query)
    elif first == "false":
        condition = _read_false_hits(cursor, of_query=of_query)
    elif second == "latency":
        condition = _read_latency(cursor)
        cursor.expect_end("nothing after 'ms'")
        return condition, None
    else:
        condition = _read_score(cursor, of_query=of_query)
    if _SINCE.match(cursor.text, cursor.position):
        cursor.fail("found 'since', but only 'drop' and 'worse' compare with earlier runs")
    return condition, read_tag(cursor, of_query=of_query)


def _read_score(cursor: Cursor, *, of_query: bool) -> ScoreCondition | AgreementCondition:
    statistic, share = _read_statistic(cursor, of_query=of_query)
    agrees = begins_agreement(cursor.text, cursor.position)
    has_counterpart = cursor.has_after_word(_OF_OR_WITH)
    parse = read_agreement if agrees else parse_measure
    measure = cursor.read_measure_with(parse, one_word=has_counterpart)
    counterpart = None
    if has_counterpart:
        if not agrees:
            loss = f"'loss {measure.text} of variants <= 0.1' or 'loss {measure.text} against request NAME <= 0.1'"
            cursor.fail(f"{cursor.describe_next()}, which only RBO and overlap take, not a score; expected {loss}")
        counterpart = _read_counterpart(cursor, "with")
    operator = cursor.read_operator()
    required = cursor.read_number("a number such as 0.8")
    if cursor.text.startswith("%", cursor.position):
        cursor.fail(f"a score is compared with a number, not per cent; expected {required / 100:g}")
    if agrees:
        return AgreementCondition(statistic, measure, operator, required, share, counterpart)
    return ScoreCondition(statistic, measure, operator, required, share)


def _read_statistic(cursor: Cursor, *, of_query: bool) -> tuple[StatisticKind, float | None]:
    start = cursor.position
    share = cursor.read(_SHARE)
    word = _WORD.match(cursor.text, start)
    if word is None:
        cursor.fail("the threshold is empty; expected something such as 'mean nDCG@10 >= 0.8'")
    found = share.group() if share else word.group()
    if of_query:
        if share or found in _NAMED_STATISTICS:
            cursor.fail(f"found {found!r}, but a query's own threshold has no statistic; remove it", start)
        return StatisticKind.QUERY, None
    if share:
        return StatisticKind.SHARE, _read_share(cursor, share, start)
    if found not in _NAMED_STATISTICS:
        meant = _OTHER_NAMES.get(found.casefold())
        guess = did_you_mean(found, _NAMED_STATISTICS)
        if meant is not None:
            guess = f"; did you mean {meant!r}?"
        cursor.fail(f"found {found!r}, expected a statistic first: {_STATISTICS}{guess}", start)
    cursor.read(_WORD)
    return _NAMED_STATISTICS[found], None


def _read_share(cursor: Cursor, share: re.Match[str], start: int) -> float:
    per_cent = float(share[1])
    if not 0 < per_cent <= 100:
        cursor.fail(f"found {share.group()!r}, expected a share of the queries above 0% and up to 100%", start)
    return per_cent / 100


def _read_latency(cursor: Cursor) -> LatencyCondition:
    start = cursor.position
    match = cursor.read(_WORD)
    name = match.group() if match else ""
    if name not in _PERCENTILES:
        cursor.fail(f"found {name!r}, expected p50, p95, p99 or max before 'latency'", start)
    cursor.read(_WORD)
    cursor.expect_at_most("a latency")
    start = cursor.position
    milliseconds = cursor.read_number("a number of milliseconds such as 200 ms")
    if milliseconds <= 0:
        cursor.fail(f"found {milliseconds:g}, expected more than 0 ms", start)
    if cursor.read(re.compile(r"ms(?!\S)")) is None:
        cursor.fail(f"{cursor.describe_next()}, expected the unit 'ms'")
    return LatencyCondition(_PERCENTILES[name], milliseconds)


def read_tag(cursor: Cursor, *, of_query: bool) -> str | None:
    """Read the tag that ends the text at *cursor*; None if there is none, as always where it is *of_query*."""
    if cursor.position == len(cursor.text):
        return None
    start = cursor.position
    if cursor.read(re.compile(r"for(?!\S)")) is None:
        expected = "nothing more" if of_query else "'for' and a tag"
        cursor.fail(f"{cursor.describe_next()}, expected {expected}")
    if of_query:
        cursor.fail("found 'for', but a query's own threshold has no tag; remove it", start)
    tag = cursor.text[cursor.position :].rstrip()
    if not tag:
        cursor.fail("found the end, expected a tag after 'for'")
    return tag


def check_reach(condition: Condition, gain: Gain, profile: Profile = Profile.STANDARD) -> str | None:
    """
    Whether a condition can be met and can fail at all, by its measure's range.

    Args:
        condition: That of a threshold or of an expectation.
        gain: The gain in force where the measure names none.
        profile: The profile whose rules apply.

    Returns:
        A sentence that says what is out of reach, or None.
    """
    if isinstance(condition, ScoreCondition):
        return _check_score_reach(condition, *measure_range(condition.measure, gain, profile))
    if isinstance(condition, AgreementCondition):
        return _check_score_reach(condition.as_score, 0.0, 1.0)
    if isinstance(condition, LossCondition):
        return _check_drop_reach(DropCondition(condition.measure, condition.allowed), gain, profile)
    if isinstance(condition, DropCondition):
        return _check_drop_reach(condition, gain, profile)
    if isinstance(condition, WorseCondition):
        return _check_drop_reach(DropCondition(condition.measure, condition.by), gain, profile)
    if isinstance(condition, HitCount) and condition.operator is Operator.BELOW and condition.required == 0:
        return "there cannot be fewer than 0 hits; expected 'hits < 1' or 'hits = 0' for no hits"
    if isinstance(condition, DistinctValues) and condition.operator is Operator.BELOW and condition.required == 0:
        return "there cannot be fewer than 0 values; expected '< 1' or '= 0' for none"
    return None


def _check_score_reach(condition: ScoreCondition, least: float | None, greatest: float | None) -> str | None:
    required, operator = condition.required, condition.operator
    reach = f"{condition.measure} is {_describe_bounds(least, greatest)}"
    if greatest is not None and required > greatest + TOLERANCE:
        return f"{required:g} is out of range: {reach}"
    if least is not None and required < least - TOLERANCE:
        return f"{required:g} is out of range: {reach}"
    if greatest is not None and operator is Operator.ABOVE and required >= greatest - TOLERANCE:
        return f"'> {required:g}' can never be met: {reach}"
    if least is not None and operator is Operator.BELOW and required <= least + TOLERANCE:
        return f"'< {required:g}' can never be met: {reach}"
    return None


def _check_drop_reach(condition: DropCondition, gain: Gain, profile: Profile) -> str | None:
    least, greatest = measure_range(condition.measure, gain, profile)
    if condition.relative and least is not None and least >= 0 and condition.allowed > 1:
        per_cent = f"{condition.allowed * 100:g}%"
        return f"{per_cent} is out of range: {condition.measure} cannot fall by more than 100%"
    if condition.relative or least is None or greatest is None or condition.allowed <= greatest - least:
        return None
    return f"{condition.allowed:g} is out of range: {condition.measure} is {_describe_bounds(least, greatest)}"


def _describe_bounds(least: float | None, greatest: float | None) -> str:
    if least is None:
        return "any value" if greatest is None else f"at most {greatest:g}"
    return f"{least:g} and more" if greatest is None else f"{least:g} to {greatest:g}"
