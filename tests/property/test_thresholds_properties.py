"""The grammar of thresholds takes what it prints, and refuses everything else with a place in the text."""

from hypothesis import given
from hypothesis import strategies as st

from harness.errors import GrammarError
from harness.gate.grammar import check_reach, parse_expectation, parse_threshold
from harness.model import Before, Gain, HitCount, InTop, LatencyCondition, Operator, ScoreCondition, StatisticKind

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
        "ms",
        "max",
        "sku",
        "not",
        "in",
        "top",
        "3",
        "before",
        "hits",
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


@given(
    st.text() | st.lists(PIECES, max_size=8).map(" ".join) | st.lists(PIECES, max_size=8).map("".join), st.booleans()
)
def test_any_other_text_is_refused_with_a_place_in_it(text, of_query):
    for parse in (lambda: parse_threshold(text, of_query=of_query)[0], lambda: parse_expectation(text)):
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
