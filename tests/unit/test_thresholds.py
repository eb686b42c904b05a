"""The grammar of thresholds and expectations, sentence by sentence."""

from dataclasses import fields
from typing import get_args

import pytest

from harness.errors import GrammarError, MeasureError
from harness.gate.expectations import parse_expectation
from harness.gate.grammar import check_reach, parse_threshold
from harness.metrics import parse_measure
from harness.metrics.measures import get_measure
from harness.model.suite import (
    Before,
    Condition,
    DropCondition,
    Gain,
    GainKind,
    HitCount,
    InTop,
    LatencyCondition,
    Operator,
    Profile,
    ScoreCondition,
    SignificanceCondition,
    StatisticKind,
    Threshold,
    WorseCondition,
)

NDCG = parse_measure("nDCG@10")
IPREC = parse_measure("IPrec@0.2")


@pytest.mark.parametrize("form", get_args(Condition))
def test_the_measure_of_every_form_is_scored(form):
    values = {field.name: NDCG if field.name == "measure" else None for field in fields(form)}
    assert get_measure(Threshold("", form(**values))) == values.get("measure")


def of_suite(text):
    return parse_threshold(text, of_query=False)


def of_query(text):
    return parse_threshold(text, of_query=True)


@pytest.mark.parametrize(
    ("text", "condition", "tag"),
    [
        ("mean nDCG@10 >= 0.80", ScoreCondition(StatisticKind.MEAN, NDCG, Operator.AT_LEAST, 0.8), None),
        ("median nDCG@10 > .5", ScoreCondition(StatisticKind.MEDIAN, NDCG, Operator.ABOVE, 0.5), None),
        ("every nDCG@10 <= 1", ScoreCondition(StatisticKind.EVERY, NDCG, Operator.AT_MOST, 1.0), None),
        ("every nDCG@10 < 1e-1", ScoreCondition(StatisticKind.EVERY, NDCG, Operator.BELOW, 0.1), None),
        ("mean nDCG@10 = 1.", ScoreCondition(StatisticKind.MEAN, NDCG, Operator.EQUAL, 1.0), None),
        ("95% nDCG@10 >= 0.5", ScoreCondition(StatisticKind.SHARE, NDCG, Operator.AT_LEAST, 0.5, 0.95), None),
        ("100 % nDCG@10 >= 0.5", ScoreCondition(StatisticKind.SHARE, NDCG, Operator.AT_LEAST, 0.5, 1.0), None),
        ("mean nDCG@10>=0.9 for head", ScoreCondition(StatisticKind.MEAN, NDCG, Operator.AT_LEAST, 0.9), "head"),
        (
            "  mean  nDCG@10  >=  -0.9  for  long tail ",
            ScoreCondition(StatisticKind.MEAN, NDCG, Operator.AT_LEAST, -0.9),
            "long tail",
        ),
        ("mean IPrec@0.2>=.5", ScoreCondition(StatisticKind.MEAN, IPREC, Operator.AT_LEAST, 0.5), None),
        ("worse IPrec@.20 by 0.1 <= 3 queries", WorseCondition(IPREC, 0.1, 3), None),
        ("drop nDCG@10 <= 0.02", DropCondition(NDCG, 0.02), None),
        ("drop every nDCG@10 <= 2 % for head", DropCondition(NDCG, 0.02, every=True, relative=True), "head"),
        ("drop nDCG@10 is not significant at 5%", SignificanceCondition(NDCG, 0.05), None),
        ("drop  nDCG@10  is  not  significant  at  0.1 %  for head", SignificanceCondition(NDCG, 0.001), "head"),
        ("worse nDCG@10 by 0.1 <= 3 queries", WorseCondition(NDCG, 0.1, 3), None),
        ("worse nDCG@10 by 0 <= 1 query for head", WorseCondition(NDCG, 0, 1), "head"),
        ("worse nDCG@10 by 0.1<=5 % for head", WorseCondition(NDCG, 0.1, 0.05, relative=True), "head"),
        ("p50 latency <= 20 ms", LatencyCondition(50, 20.0), None),
        ("p95 latency <= 200ms", LatencyCondition(95, 200.0), None),
        ("p99 latency<=200 ms", None, None),
        ("max latency <= 1.5 ms", LatencyCondition(100, 1.5), None),
    ],
)
def test_a_suite_threshold_is_read(text, condition, tag):
    if condition is None:
        with pytest.raises(GrammarError):
            of_suite(text)
        return
    assert of_suite(text) == (condition, tag)


def test_a_query_threshold_has_no_statistic():
    assert of_query("nDCG@10 >= 0.9") == (
        ScoreCondition(StatisticKind.QUERY, NDCG, Operator.AT_LEAST, 0.9),
        None,
    )
    assert of_query("drop nDCG@10 <= 1%") == (DropCondition(NDCG, 0.01, relative=True), None)


def test_blanks_inside_a_measure_end_it_nowhere():
    measure = parse_measure("nDCG(gain=linear, log=e)@10")
    significant, _ = of_suite(f"drop {measure} is not significant at 5%")
    worse, _ = of_suite("worse nDCG(gain=linear, log=e)@10 by 0.1 <= 5%")
    assert significant.measure == worse.measure == measure


def test_equals_signs_and_blanks_inside_a_measure_are_its_own():
    condition, _ = of_suite("mean nDCG(gain=linear, log=e)@10 = 0.5")
    assert condition.measure == parse_measure("nDCG(gain=linear, log=e)@10")
    assert condition.operator is Operator.EQUAL
    assert condition.required == 0.5


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "the threshold is empty; expected something such as 'mean nDCG@10 >= 0.8'"),
        (
            "nDCG@10 >= 0.8",
            0,
            "found 'nDCG@10', expected a statistic first: mean, median, every, or a share such as 95%",
        ),
        (
            "meen nDCG@10 >= 0.8",
            0,
            "found 'meen', expected a statistic first: mean, median, every, or a share such as 95%; "
            "did you mean 'mean'?",
        ),
        ("mean", 4, "found the end, expected a measure such as nDCG@10"),
        ("mean >= 0.8", 5, "found '>=', expected a measure such as nDCG@10"),
        ("mean nDCG@10", 12, "found the end, expected a comparison: >=, >, <=, < or ="),
        ("mean nDCG@10 0.8", 13, "found '0.8', expected a comparison: >=, >, <=, < or ="),
        ("mean nDCG@10 => 0.8", 13, "found '=>', expected a comparison: >=, >, <=, < or ="),
        ("mean nDCG@10 == 0.8", 13, "found '==', expected a comparison: >=, >, <=, < or ="),
        ("mean nDCG@10 ≥ 0.8", 13, "found '≥', expected a comparison: >=, >, <=, < or ="),
        ("mean nDCG@10 >=", 15, "found the end, expected a number such as 0.8"),
        ("mean nDCG@10 >= high", 16, "found 'high', expected a number such as 0.8"),
        ("mean nDCG@10 >= nan", 16, "found 'nan', expected a number such as 0.8"),
        ("mean nDCG@10 >= 1e999", 16, "1e999 is too large a number"),
        ("mean nDCG@10 >= 80%", 18, "a score is compared with a number, not per cent; expected 0.8"),
        ("mean nDCG@10 >= 0.8 fro head", 20, "found 'fro', expected 'for' and a tag"),
        ("mean nDCG@10 >= 0.8 for", 23, "found the end, expected a tag after 'for'"),
        ("101% nDCG@10 >= 0.8", 0, "found '101%', expected a share of the queries above 0% and up to 100%"),
        ("0 % nDCG@10 >= 0.8", 0, "found '0 %', expected a share of the queries above 0% and up to 100%"),
        ("-5% nDCG@10 >= 0.8", 0, "found '-5%', expected a share of the queries above 0% and up to 100%"),
        ("drop nDCG@10 >= 0.02", 13, "found '>=', but a drop takes only '<='"),
        ("drop nDCG@10 <= -0.02", 16, "found -0.02, expected an allowed drop of at least 0"),
        (
            "drop nDCG@10 is significant at 5%",
            13,
            "found 'is', expected 'is not significant at' and a level such as 5%",
        ),
        ("drop nDCG@10 is not significant at", 34, "found the end, expected a level such as 5%"),
        ("drop nDCG@10 is not significant at 0.05", 39, "found the end, expected '%' after the level"),
        ("drop nDCG@10 is not significant at 0%", 35, "found 0%, expected a level above 0% and up to 50%"),
        ("drop nDCG@10 is not significant at 60%", 35, "found 60%, expected a level above 0% and up to 50%"),
        ("drop nDCG@10 is not significant at 5% fro x", 38, "found 'fro', expected 'for' and a tag"),
        ("worse nDCG@10 <= 3 queries", 14, "found '<=', expected 'by' and a number such as 0.1"),
        ("worse nDCG@10 by <= 3 queries", 17, "found '<=', expected a number such as 0.1"),
        ("worse nDCG@10 by -0.1 <= 3 queries", 17, "found -0.1, expected at least 0"),
        ("worse nDCG@10 by 0.1 < 3 queries", 21, "found '<', but the number of queries takes only '<='"),
        ("worse nDCG@10 by 0.1 <= 3", 25, "found the end, expected 'queries' or '%'"),
        ("worse nDCG@10 by 0.1 <= 2.5 queries", 24, "found 2.5, expected a whole number of queries, at least 0"),
        ("worse nDCG@10 by 0.1 <= -1 queries", 24, "found -1, expected a whole number of queries, at least 0"),
        ("worse nDCG@10 by 0.1 <= 101%", 24, "found 101%, expected a share of the queries from 0% to 100%"),
        ("p90 latency <= 20 ms", 0, "found 'p90', expected p50, p95, p99 or max before 'latency'"),
        ("p95 latency < 20 ms", 12, "found '<', but a latency takes only '<='"),
        ("p95 latency <= 20", 17, "found the end, expected the unit 'ms'"),
        ("p95 latency <= 20 s", 18, "found 's', expected the unit 'ms'"),
        ("p95 latency <= 0 ms", 15, "found 0, expected more than 0 ms"),
        ("p95 latency <= 20 ms for head", 21, "found 'for', expected nothing after 'ms'"),
    ],
)
def test_a_suite_threshold_out_of_grammar_is_refused(text, offset, message):
    with pytest.raises(GrammarError) as caught:
        of_suite(text)
    assert (caught.value.offset, str(caught.value)) == (offset, message)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("mean nDCG@10 >= 0.8", 0, "found 'mean', but a query's own threshold has no statistic; remove it"),
        ("95% nDCG@10 >= 0.8", 0, "found '95%', but a query's own threshold has no statistic; remove it"),
        ("drop every nDCG@10 <= 0.1", 5, "found 'every', but a query's own threshold has no statistic; remove it"),
        (
            "drop nDCG@10 is not significant at 5%",
            13,
            "found 'is', but one query is too few for a test; expected '<=' and a number",
        ),
        (
            "worse nDCG@10 by 0.1 <= 1 query",
            0,
            "found 'worse', which counts queries; a query's own threshold is on its 'drop'",
        ),
        ("nDCG@10 >= 0.8 for head", 15, "found 'for', but a query's own threshold has no tag; remove it"),
        ("nDCG@10 >= 0.8 now", 15, "found 'now', expected nothing more"),
    ],
)
def test_a_query_threshold_out_of_grammar_is_refused(text, offset, message):
    with pytest.raises(GrammarError) as caught:
        of_query(text)
    assert (caught.value.offset, str(caught.value)) == (offset, message)


def test_the_offset_of_an_unknown_measure_counts_from_the_start_of_the_threshold():
    with pytest.raises(MeasureError) as alone:
        parse_measure("nDGC@10")
    with pytest.raises(MeasureError) as caught:
        of_suite("  mean nDGC@10 >= 0.8")
    assert caught.value.offset == len("  mean ") + alone.value.offset
    assert str(caught.value) == str(alone.value)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("sku-17 in top 3", InTop("sku-17", 3)),
        ("sku-4 not in top 10", InTop("sku-4", 10, negated=True)),
        ("sku-17 before sku-9", Before("sku-17", "sku-9")),
        ("hits >= 1", HitCount(Operator.AT_LEAST, 1)),
        ("hits=0", HitCount(Operator.EQUAL, 0)),
        ("hits in top 3", InTop("hits", 3)),
        ("hits before misses", Before("hits", "misses")),
        ("not not in top 3", InTop("not", 3, negated=True)),
        ("'a before b' before \"c's\"", Before("a before b", "c's")),
        ("https://example.org/a?b=c in top 1", InTop("https://example.org/a?b=c", 1)),
        ("007 in  top 3", InTop("007", 3)),
    ],
)
def test_an_expectation_is_read(text, condition):
    assert parse_expectation(text) == condition


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "found the end, expected a document id"),
        ("'' in top 3", 0, "found an empty document id"),
        ("'sku in top 3", 0, 'found "\'sku", expected a document id with its closing quote'),
        (
            "sku",
            3,
            "found the end, expected 'in top', 'not in top' or 'before' after the document 'sku'; "
            "put a document id with spaces in quotes",
        ),
        (
            "sku 17 in top 3",
            4,
            "found '17', expected 'in top', 'not in top' or 'before' after the document 'sku'; "
            "put a document id with spaces in quotes",
        ),
        (
            "sku not top 3",
            8,
            "found 'top', expected 'in top' after the document 'sku'; put a document id with spaces in quotes",
        ),
        ("sku in top", 10, "found the end, expected a rank such as 10, at least 1"),
        ("sku in top 0", 11, "found '0', expected a rank such as 10, at least 1"),
        ("sku in top -1", 11, "found '-1', expected a rank such as 10, at least 1"),
        ("sku in top 2.5", 11, "found '2.5', expected a rank such as 10, at least 1"),
        ("sku in top 3 please", 13, "found 'please', expected nothing after it"),
        ("sku before sku", 11, "the document 'sku' cannot be before itself"),
        ("sku before", 10, "found the end, expected a document id"),
        ("hits => 1", 5, "found '=>', expected a comparison: >=, >, <=, < or ="),
        ("hits >= -1", 8, "found '-1', expected a number of hits such as 1, at least 0"),
        ("hits >= 1.5", 8, "found '1.5', expected a number of hits such as 1, at least 0"),
    ],
)
def test_an_expectation_out_of_grammar_is_refused(text, offset, message):
    with pytest.raises(GrammarError) as caught:
        parse_expectation(text)
    assert (caught.value.offset, str(caught.value)) == (offset, message)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mean nDCG@10 >= 7", "7 is out of range: nDCG@10 is 0 to 1"),
        ("mean nDCG@10 <= -0.5", "-0.5 is out of range: nDCG@10 is 0 to 1"),
        ("mean nDCG@10 > 1", "'> 1' can never be met: nDCG@10 is 0 to 1"),
        ("mean nDCG@10 < 0", "'< 0' can never be met: nDCG@10 is 0 to 1"),
        ("drop nDCG@10 <= 1.5", "1.5 is out of range: nDCG@10 is 0 to 1"),
        ("worse nDCG@10 by 1.5 <= 3 queries", "1.5 is out of range: nDCG@10 is 0 to 1"),
        (
            "drop nDCG@10 <= 150%",
            "150% is out of range: nDCG@10 cannot fall by more than 100%",
        ),
    ],
)
def test_a_number_out_of_the_measures_reach_is_told(text, sentence):
    assert check_reach(of_suite(text)[0], Gain()) == sentence


def test_the_reach_is_that_under_the_profile():
    condition = of_suite("mean ERR@10 >= 1")[0]
    assert check_reach(condition, Gain()) == "1 is out of range: ERR@10 is 0 to 0.968078"
    assert check_reach(condition, Gain(), Profile.RRE) is None, "RRE gives 1 to a query without hits"


@pytest.mark.parametrize(
    "text",
    [
        "mean nDCG@10 >= 1",
        "mean nDCG@10 <= 0",
        "mean nDCG@10 = 1.0000000001",
        "mean DCG@10 >= 500",
        "drop nDCG@10 <= 1",
        "drop nDCG@10 <= 100%",
        "drop DCG@10 <= 20",
        "max latency <= 10000 ms",
    ],
)
def test_a_number_within_reach_is_accepted(text):
    assert check_reach(of_suite(text)[0], Gain()) is None


def test_negative_gains_widen_the_reach():
    punishing = Gain(GainKind.MAP, ((0.0, -1.0), (1.0, 1.0)))
    assert check_reach(of_suite("mean nDCG@10 >= -0.5")[0], punishing) is None


def test_fewer_than_no_hits_is_out_of_reach():
    assert check_reach(parse_expectation("hits < 0"), Gain()) == (
        "there cannot be fewer than 0 hits; expected 'hits < 1' or 'hits = 0' for no hits"
    )
    assert check_reach(parse_expectation("hits < 1"), Gain()) is None
