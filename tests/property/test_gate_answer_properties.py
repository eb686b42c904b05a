"""Expectations and latencies agree with what brute force over every possible answer says."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from builders.gating import TODAY, ranking
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run, Status
from harness.model.suite import (
    Before,
    DistinctValues,
    FieldInTop,
    FieldRequirement,
    FieldValue,
    HitCount,
    HitQuantifier,
    InTop,
    LatencyCondition,
    NoRepeats,
    Operator,
    Query,
    Threshold,
    Waiver,
)

documents = st.sampled_from("abcdefgh")
depths = st.integers(1, 6)
values = st.dictionaries(st.just("f"), st.lists(st.integers(0, 3) | st.booleans(), min_size=1, max_size=2).map(tuple))
operators = st.sampled_from(list(Operator))
expectations = st.one_of(
    st.builds(InTop, documents, st.integers(1, 9), st.booleans()),
    st.builds(Before, documents, documents),
    st.builds(HitCount, operators, st.integers(0, 12)),
)
percentiles = st.sampled_from([50, 95, 99, 100])


def decide_one(condition, responses, *, depth=10, xfail=None):
    """The verdict of a condition: on the query q if it is an expectation, on all queries if it is not."""
    threshold = Threshold("threshold", condition, xfail=xfail)
    of_query = not isinstance(condition, LatencyCondition)
    queries = tuple(Query(name, name, thresholds=(threshold,) if of_query else ()) for name in responses)
    thresholds = () if of_query else (threshold,)
    suite = make_suite(*queries, thresholds=thresholds, depth=depth)
    present = {name: response for name, response in responses.items() if response is not None}
    [verdict] = decide(suite, Run(present, Engine("fake")), [], today=TODAY)
    return verdict


@given(st.permutations("abcdefgh"), st.integers(0, 8), depths, st.builds(InTop, documents, st.integers(1, 9)))
def test_in_top_decides_exactly_where_the_whole_ranking_leaves_no_doubt(order, matching, depth, condition):
    """The engine has *matching* documents in *order*, and returns the first *depth* of them."""
    whole = order[:matching]
    returned = whole[:depth]
    for negated in (False, True):
        verdict = decide_one(InTop(condition.document, condition.k, negated), {"q": ranking(returned)}, depth=depth)
        truth = (condition.document in whole[: condition.k]) != negated
        if verdict.status is Status.INCONCLUSIVE:
            assert condition.k > depth == len(returned)
            assert condition.document not in returned
        else:
            assert (verdict.status is Status.PASSED) == truth


@given(st.permutations("abcdefgh"), st.integers(0, 8), depths, documents, documents)
def test_before_decides_exactly_where_the_whole_ranking_leaves_no_doubt(order, matching, depth, first, second):
    """Whatever the engine has below the hits that were asked for, a verdict is what the whole ranking says."""
    whole = order[:matching]
    returned = whole[:depth]
    verdict = decide_one(Before(first, second), {"q": ranking(returned)}, depth=depth)
    if verdict.status is Status.INCONCLUSIVE:
        assert len(returned) == depth
        assert not {first, second} & set(returned)
    else:
        truth = first in whole and (second not in whole or whole.index(first) < whole.index(second))
        assert (verdict.status is Status.PASSED) == truth


@given(operators, st.integers(0, 12), st.integers(0, 12))
def test_a_lower_bound_decides_exactly_what_every_possible_total_agrees_on(operator, required, least):
    condition = HitCount(operator, required)
    bound = decide_one(condition, {"q": ranking("", total=least, total_is_lower_bound=True)}).status
    possible = {decide_one(condition, {"q": ranking("", total=total)}).status for total in range(least, least + 30)}
    assert bound is (possible.pop() if len(possible) == 1 else Status.INCONCLUSIVE)


@given(expectations, st.sampled_from(list(FailureKind)), st.booleans(), st.booleans())
def test_an_expectation_of_a_query_without_a_ranking_is_an_error_always(condition, kind, absent, expected):
    response = None if absent else Failure(kind, "why")
    verdict = decide_one(condition, {"q": response}, xfail=Waiver("expected") if expected else None)
    assert verdict.status is Status.ERROR


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), percentiles, st.floats(0, 1e6))
def test_a_percentile_is_the_least_time_that_enough_queries_do_not_exceed(times, percentile, limit):
    responses = {f"q{number}": ranking("", took=time) for number, time in enumerate(times)}
    verdict = decide_one(LatencyCondition(percentile, limit), responses)
    enough = [time for time in times if sum(other <= time for other in times) * 100 >= percentile * len(times)]
    assert verdict.observed == min(enough)
    assert math.isclose(verdict.required, limit)
    assert (verdict.status is Status.PASSED) == (min(enough) <= limit + 1e-9)
    assert bool(verdict.blamed) == (verdict.status is Status.FAILED)


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=1, max_size=20), percentiles)
def test_a_latency_with_a_time_missing_is_inconclusive(times, percentile):
    responses = {f"q{number}": ranking("", took=time) for number, time in enumerate(times)}
    verdict = decide_one(LatencyCondition(percentile, 1000.0), responses)
    assert (verdict.status is Status.INCONCLUSIVE) == (None in times)


def count_distinct(hits):
    """How many different values *hits* have; true is not 1."""
    return len({(type(value), value) for hit in hits for value in hit.get("f", ())})


def has_repeat(hits):
    """Whether two of *hits* share a value."""
    keys = [{(type(value), value) for value in hit.get("f", ())} for hit in hits]
    return any(first & second for place, first in enumerate(keys) for second in keys[:place])


def has_few(hit):
    """Whether a value of *hit* is 0 or 1."""
    return any(value in (0, 1) for value in hit.get("f", ()))


def has_truth(hits):
    """Whether one of *hits* has true or false, which cannot be compared with a number."""
    return any(isinstance(value, bool) for hit in hits for value in hit.get("f", ()))


FEW = FieldRequirement("f", (FieldValue("0"), FieldValue("1")))
FIELD_TRUTHS = {
    FieldInTop(HitQuantifier.ANY, FEW, 1): lambda hits: any(map(has_few, hits)),
    FieldInTop(HitQuantifier.EVERY, FEW, 1): lambda hits: bool(hits) and all(map(has_few, hits)),
    FieldInTop(HitQuantifier.NO, FEW, 1): lambda hits: not any(map(has_few, hits)),
    NoRepeats("f", 1): lambda hits: not has_repeat(hits),
    DistinctValues("f", Operator.AT_LEAST, 2, 1): lambda hits: count_distinct(hits) >= 2,
    DistinctValues("f", Operator.ABOVE, 2, 1): lambda hits: count_distinct(hits) > 2,
    DistinctValues("f", Operator.AT_MOST, 2, 1): lambda hits: count_distinct(hits) <= 2,
    DistinctValues("f", Operator.BELOW, 2, 1): lambda hits: count_distinct(hits) < 2,
    DistinctValues("f", Operator.EQUAL, 2, 1): lambda hits: count_distinct(hits) == 2,
}


@given(st.lists(values, max_size=8), depths, st.integers(1, 9), st.sampled_from(list(FIELD_TRUTHS)))
def test_fields_decide_exactly_where_the_whole_ranking_leaves_no_doubt(whole, depth, k, condition):
    """The engine has the documents *whole*, and returns the first *depth* of them."""
    hits = tuple(Hit(str(place), values=of_hit) for place, of_hit in enumerate(whole[:depth]))
    verdict = decide_one(replace(condition, k=k), {"q": Ranking(hits)}, depth=depth)
    if isinstance(condition, FieldInTop) and has_truth(whole[: min(k, depth)]):
        assert verdict.status is Status.ERROR
        return
    truth = FIELD_TRUTHS[condition](whole[:k])
    if verdict.status is Status.INCONCLUSIVE:
        assert k > depth == len(hits)
        others = [[{"f": (99 + place,)} for place in range(size)] for size in range(k + 1)]
        others += [[{"f": (99 + place, 0)} for place in range(k)], [{"f": (96, 97, 98)}]]
        others += [[{"f": (value,)}] * k for value in (1, 2, 3, True, False)]
        ends = {FIELD_TRUTHS[condition]([*whole[:depth], *more][:k]) for more in others}
        assert len(ends) == 2, "some other hits would decide otherwise"
    else:
        assert verdict.status is (Status.PASSED if truth else Status.FAILED)
