"""Queries in columns are the queries that they were made of, and judgments in columns the dictionaries."""

import copy
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import (
    GradeColumns,
    Mark,
    Outcome,
    Query,
    QueryColumns,
    QueryValues,
    Score,
    ScoreColumns,
    Threshold,
    Waiver,
    chosen,
    column,
    places_of,
)
from harness.model import queries as queries_module
from harness.model import scores as scores_module
from harness.model.queries import MOST_GRADES
from harness.model.suite import InTop

ids = st.text(st.characters(), max_size=6) | st.sampled_from(["", "\0", "a\0b", "\udc80", "é"])
grades = st.dictionaries(ids, st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 2.0]), max_size=5)
waivers = st.none() | st.builds(Waiver, ids, st.none() | st.dates())
queries = st.builds(
    Query,
    ids,
    st.text(st.characters()),
    params=st.dictionaries(ids, st.integers() | st.lists(st.integers(), max_size=2), max_size=2),
    tags=st.lists(ids, max_size=2).map(tuple),
    judgments=grades,
    thresholds=st.lists(st.builds(Threshold, ids, st.builds(InTop, ids, st.integers(1, 9))), max_size=1).map(tuple),
    markers=st.lists(ids, max_size=1).map(tuple),
    xfail=waivers,
    skip=waivers,
    mark=st.builds(Mark, st.sampled_from(["a.tsv", "b.yaml"]), st.integers(0, 2**31), st.integers(0, 99)),
    weight=st.floats(0.1, 1e6),
    masked=st.none() | st.fixed_dictionaries({"text": ids, "params": st.just({}), "values": st.just({})}),
)
suites = st.lists(queries, max_size=6, unique_by=lambda query: query.id).map(tuple)


@given(suites)
def test_queries_in_columns_are_those_that_they_were_made_of(some: tuple[Query, ...]) -> None:
    packed = QueryColumns(some)

    assert packed == some
    assert some == packed
    assert tuple(packed) == some
    assert [packed[place] for place in range(-len(some), len(some))] == [*some, *some]
    assert packed.ids == [query.id for query in some]
    assert places_of(packed) == places_of(some)
    assert pickle.loads(pickle.dumps(packed)) == some
    assert copy.deepcopy(packed) == some
    assert [dict(query.judgments) for query in packed] == [query.judgments for query in some]
    assert [list(query.judgments) for query in packed] == [list(query.judgments) for query in some]


@given(suites, st.slices(6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_part_has_the_queries_and_the_columns_of_the_part(
    some: tuple[Query, ...], cut: slice, flags: Sequence[bool]
) -> None:
    packed = QueryColumns(some)

    for part, expected in ((packed[cut], some[cut]), (chosen(packed, flags), chosen(some, flags))):
        assert part == expected
        assert places_of(part) == places_of(expected)
        for field in ("id", "text", "params", "tags", "thresholds", "markers", "xfail", "skip", "weight", "masked"):
            assert list(column(part, field)) == list(column(expected, field))


@given(suites, st.dictionaries(ids, grades))
def test_judgments_can_be_exchanged(some: tuple[Query, ...], judged: Mapping[str, dict[str, float]]) -> None:
    packed = QueryColumns(some)
    in_columns = GradeColumns(packed.places)
    in_columns.update(judged)

    for other in (packed.judged(judged), packed.judged(in_columns)):
        assert [query.judgments for query in other] == [judged.get(query.id, {}) for query in some]
    assert packed == some


@given(
    st.lists(ids, unique=True, max_size=4),
    st.lists(st.tuples(ids, st.none() | grades), max_size=12),
)
def test_judgments_in_columns_are_a_dictionary(known: list[str], steps: list[tuple[str, Any]]) -> None:
    columns = GradeColumns({query: place for place, query in enumerate(known)})
    expected: dict[str, dict[str, float]] = {}
    for number, (any_query, judged) in enumerate(steps):
        query = known[number % len(known)] if known and number % 3 else any_query
        if judged is None:
            assert columns.pop(query, None) == expected.pop(query, None)
        else:
            columns[query] = expected[query] = dict(judged)
        assert columns == expected
        assert len(columns) == len(expected)
        assert [one in columns for one in known] == [one in expected for one in known]


@pytest.mark.parametrize("size", [1, 20, 1000])
def test_texts_of_any_size_are_found(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(queries_module, "BLOCK", size)
    some = tuple(Query(f"q{number}", f"shoes {number} " * (number % 3)) for number in range(9))
    packed = QueryColumns(some)

    assert packed == some
    assert [packed[place] for place in (8, 0, 8, 4, 5, 4)] == [some[place] for place in (8, 0, 8, 4, 5, 4)]


def test_more_grades_than_columns_hold_are_kept_beside_them() -> None:
    judged = {f"q{place}": {f"d{place}": place / 8} for place in range(MOST_GRADES + 9)}
    columns = GradeColumns({query: place for place, query in enumerate(judged)})
    columns.update(judged)

    assert columns == judged


@given(st.dictionaries(ids, st.floats(allow_nan=False), max_size=6), st.data())
def test_values_in_columns_are_the_dictionary(values: dict[str, float], data: st.DataObject) -> None:
    packed = QueryValues.of(values)
    changes = data.draw(
        st.dictionaries(st.sampled_from(sorted(values)), st.floats(allow_nan=False)) if values else st.just({})
    )

    assert packed == values
    assert list(packed.items()) == list(values.items())
    assert list(packed.values()) == list(values.values())
    assert (len(packed), bool(packed), list(packed)) == (len(values), bool(values), list(values))
    assert all(query in packed for query in values)
    assert "not a query" not in packed
    assert packed.get("not a query") is None
    assert list(packed.changed(changes.items()).items()) == list({**values, **changes}.items())
    assert packed == values  # as before


MEASURES_OF_A_QUERY = st.lists(st.sampled_from(["nDCG@10", "RR", "P@1", "AP"]), unique=True, min_size=1, max_size=3)
OUTCOMES = st.sampled_from([(Outcome.SCORED, ""), (Outcome.ZERO_HITS, ""), (Outcome.UNDEFINED, "no judgments")])
VALUES = st.none() | st.floats(0, 1)


FOUND = st.lists(st.tuples(VALUES, OUTCOMES), min_size=3, max_size=3)


@given(given_scores=st.lists(st.tuples(MEASURES_OF_A_QUERY, FOUND)))
@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("is_shared", [True, False])
def test_scores_in_columns_are_the_scores(size: int, given_scores: Any, *, is_shared: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores_module, "BLOCK", size)
        queries = QueryColumns(Query(f"q{number}", "") for number in range(len(given_scores)))
        plain = [
            Score(query.id, measure, value, *outcome)
            for query, (measures, found) in zip(queries, given_scores, strict=True)
            for measure, (value, outcome) in zip(measures, found, strict=False)
        ]
        columns = ScoreColumns(iter(plain), queries if is_shared else ())
        assert list(columns) == plain
        assert [columns[place] for place in range(-len(plain), 0)] == plain
        for query in queries:
            own = [score for score in plain if score.query == query.id]
            assert columns.values_of(query.id) == {score.measure: score.value for score in own}
            plainly = (Outcome.SCORED, "")
            exceptions = [one for one in own if (one.outcome, one.reason) != plainly or one.value is None]
            assert columns.exceptions_of(query.id) == exceptions
        assert columns.values_of("unknown") == {}
        by_place = {(score.query, score.measure): score for score in plain}
        ids = [query.id for query in queries]
        for asked in (ids, ids[::-1], [*ids[::2], "unknown", *ids[1::2]]):
            for measure in {*(score.measure for score in plain), "DCG@3"}:
                found = zip(asked, columns.column(measure, asked), strict=True)
                assert {
                    (query, measure): one if isinstance(one, Score) else Score(query, measure, one, Outcome.SCORED)
                    for query, one in found
                    if one is not None
                } == {place: score for place, score in by_place.items() if place[1] == measure}
