"""The grammar of thresholds takes what it prints, and refuses everything else with a place in the text."""

from hypothesis import given
from hypothesis import strategies as st

from harness.errors import GrammarError
from harness.gate.expectations import parse_expectation, parse_suite_expectation
from harness.gate.grammar import check_reach, parse_threshold
from harness.model.suite import (
    Before,
    DistinctValues,
    FieldBound,
    FieldInTop,
    FieldRequirement,
    FieldValue,
    Gain,
    HitCount,
    HitQuantifier,
    InTop,
    LatencyCondition,
    NoRepeats,
    Operator,
    ScoreCondition,
    StatisticKind,
)

NUMBERS = st.floats(min_value=-1e6, max_value=1e6).map(lambda number: number + 0.0)
SHARES = st.floats(min_value=1e-6, max_value=100)
MEASURES = st.sampled_from(["nDCG@10", "P(rel=2)@5", "nDCG(gain={0: 0, 1: 1, 2: 5}, log=e)@20", "RR", "Judged@10"])
TAGS = st.none() | st.sampled_from(["head", "long tail", "for", ">= 1", "2024"])
IDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda text: '"' not in text)
PIECES = st.sampled_from(  # what thresholds and expectations are made of
    [
        "mean",
        "every",
        "95",
        "%",
        "nDCG@10",
        "nDCG(",
        "RBO",
        "overlap@10",
        ")",
        ">=",
        "<",
        "=",
        "0.8",
        "for",
        "head",
        "drop",
        "p95",
        "latency",
        "loss",
        "of",
        "variants",
        "ms",
        "max",
        "sku",
        "not",
        "in",
        "top",
        "3",
        "before",
        "hits",
        "hit",
        "has",
        "no",
        "repeated",
        "distinct",
        "1..5",
        ",",
        "'",
        '"',
        "-",
        ".",
        "e9",
        "{",
        "}",
        " ",
    ]
)


@given(st.sampled_from(["mean", "median", "every"]), MEASURES, st.sampled_from(Operator), NUMBERS, TAGS)
def test_a_threshold_is_read_as_it_was_written(statistic, measure, operator, number, tag):
    text = f"{statistic} {measure} {operator.value} {number!r}" + (f" for {tag}" if tag else "")
    condition, found = parse_threshold(text, of_query=False)
    assert isinstance(condition, ScoreCondition)
    assert (condition.statistic.value, condition.operator, condition.required) == (statistic, operator, number)
    assert found == tag


@given(SHARES, MEASURES, NUMBERS)
def test_a_share_is_read_as_a_fraction(share, measure, number):
    condition, _ = parse_threshold(f"{share!r}% {measure} >= {number!r}", of_query=False)
    assert isinstance(condition, ScoreCondition)
    assert (condition.statistic, condition.share) == (StatisticKind.SHARE, share / 100)


@given(st.sampled_from([("p50", 50), ("p95", 95), ("p99", 99), ("max", 100)]), st.floats(1e-3, 1e6))
def test_a_latency_is_read_as_it_was_written(named, milliseconds):
    condition, _ = parse_threshold(f"{named[0]} latency <= {milliseconds!r} ms", of_query=False)
    assert condition == LatencyCondition(named[1], milliseconds)


@given(IDS, IDS, st.integers(1, 10**9 - 1), st.booleans())
def test_a_quoted_document_is_any_text(document, other, k, negated):
    text = f'"{document}" {"not " if negated else ""}in top {k}'
    assert parse_expectation(text) == InTop(document, k, negated)
    if other != document:
        assert parse_expectation(f'"{document}" before "{other}"') == Before(document, other)


@given(st.sampled_from(Operator), st.integers(0, 10**9 - 1))
def test_a_number_of_hits_is_read_as_it_was_written(operator, count):
    assert parse_expectation(f"hits {operator.value} {count}") == HitCount(operator, count)


RANKS = st.integers(1, 10**9 - 1)
WORDS = st.text(st.characters(exclude_categories=("Cs", "Z", "C")), min_size=1).filter(
    lambda text: not any(map(str.isspace, text)) and text[0] not in "'\""
)


@st.composite
def values(draw):
    """A value, and its text: in quotes, or a word."""
    if draw(st.booleans()):
        text = draw(IDS)
        return FieldValue(text, is_quoted=True), f'"{text}"'
    word = draw(WORDS.filter(lambda text: not set(text) & set("'\",{}")))
    return FieldValue(word), word


LIMITS = NUMBERS.map(repr) | st.dates().map(str) | st.datetimes().map(lambda moment: moment.isoformat() + "Z")


@st.composite
def requirements(draw):
    """A requirement, and its text."""
    field = draw(IDS)
    form = draw(st.sampled_from(["=", "set", "bound", "range"]))
    if form == "=":
        value, text = draw(values())
        return FieldRequirement(field, (value,)), f'"{field}" = {text}'
    if form == "set":
        several = draw(st.lists(values(), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
        texts = draw(st.sampled_from([",", ", ", " , "])).join(text for _, text in several)
        return FieldRequirement(field, tuple(value for value, _ in several)), f'"{field}" in {{{texts}}}'
    if form == "range":
        least, greatest = sorted(draw(st.lists(NUMBERS, min_size=2, max_size=2)))
        bounds = (Operator.AT_LEAST, repr(least)), (Operator.AT_MOST, repr(greatest))
        text = f'"{field}" in {least!r}..{greatest!r}'
    else:
        operator = draw(st.sampled_from([one for one in Operator if one is not Operator.EQUAL]))
        limit = draw(LIMITS)
        bounds, text = ((operator, limit),), f'"{field}" {operator.value} {limit}'
    return FieldRequirement(field, bounds=tuple(FieldBound(op, FieldValue(limit)) for op, limit in bounds)), text


@given(requirements(), st.sampled_from(HitQuantifier), RANKS, TAGS)
def test_an_expectation_of_a_field_is_read_as_it_was_written(requirement, quantifier, k, tag):
    wanted, text = requirement
    line = f"{quantifier.value} hit in top {k} has {text}"
    if quantifier is HitQuantifier.ANY:
        line = f"{text} in top {k}"
    assert parse_expectation(line) == FieldInTop(quantifier, wanted, k)
    tagged = line if tag is None else f"{line} for {tag}"
    assert parse_suite_expectation(tagged) == (FieldInTop(quantifier, wanted, k), tag)


@given(IDS, st.sampled_from(Operator), st.integers(0, 10**9 - 1), RANKS)
def test_an_expectation_of_several_values_is_read_as_it_was_written(field, operator, required, k):
    text = f'distinct "{field}" {operator.value} {required} in top {k}'
    assert parse_expectation(text) == DistinctValues(field, operator, required, k)
    assert parse_expectation(f'no repeated "{field}" in top {k}') == NoRepeats(field, k)


@given(WORDS, WORDS, RANKS, st.booleans())
def test_a_word_before_in_top_is_a_document_whatever_it_looks_like(word, other, k, negated):
    """`in_stock=true`, `every`, `price<=3` may be ids; a field has a blank before its comparison."""
    assert parse_expectation(f"{word} {'not ' if negated else ''}in top {k}") == InTop(word, k, negated)
    if word != other:
        assert parse_expectation(f"{word} before {other}") == Before(word, other)


@given(
    st.text() | st.lists(PIECES, max_size=8).map(" ".join) | st.lists(PIECES, max_size=8).map("".join), st.booleans()
)
def test_any_other_text_is_refused_with_a_place_in_it(text, of_query):
    parses = (
        lambda: parse_threshold(text, of_query=of_query)[0],
        lambda: parse_expectation(text),
        lambda: parse_suite_expectation(text)[0],
    )
    for parse in parses:
        refused = refusal(parse)
        assert refused is None or (0 <= refused.offset <= len(text) and str(refused).strip())


def refusal(parse):
    """The error of a text that is out of the grammar; what is in it has a reach that can be told."""
    try:
        condition = parse()
    except GrammarError as error:
        return error
    assert isinstance(check_reach(condition, Gain()), str | None)
    return None
