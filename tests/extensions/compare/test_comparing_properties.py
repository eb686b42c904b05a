"""Laws of a comparison: with itself nothing differs, either way round it says the same, and names are only names."""

import pytest

pytest.importorskip("numpy")

from dataclasses import replace
from datetime import date
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.suites import make_suite
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.preparing import CompareOptions, assemble_comparison
from harness.extensions.compare.scores import score_by_suite, use_stored_scores
from harness.extensions.compare.sides import make_run_side
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.suite import Query
from harness.statistics.compare import ComparisonOptions

DOCUMENTS = tuple("abcdefg")
QUERIES = ("q1", "q2", "q3")
MEASURES = tuple(map(parse_measure, ("nDCG@3", "RR")))
OPTIONS = CompareOptions(date(2026, 5, 1), how=ComparisonOptions(samples=20))

rankings = st.permutations(DOCUMENTS).flatmap(
    lambda order: st.integers(0, len(order)).flatmap(
        lambda size: st.lists(st.integers(1, 3), min_size=size, max_size=size).map(
            lambda scores: tuple(zip(order, sorted(scores, reverse=True), strict=False))
        )
    )
)
runs = st.fixed_dictionaries(dict.fromkeys(QUERIES, rankings))
judgments = st.fixed_dictionaries(
    dict.fromkeys(QUERIES, st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 3), min_size=1))
)
few = settings(max_examples=30, deadline=None)


def make_graded_suite(grades):
    return make_suite(*(Query(query, query, judgments=grades[query]) for query in QUERIES), measures=MEASURES)


def side(suite, run, name="side"):
    responses = {
        query: Ranking(tuple(Hit(document, float(score)) for document, score in found)) for query, found in run.items()
    }
    return make_run_side(name, SideKind.PYTHON, suite, Run(responses, Engine("none")))


def compared(grades, first, second):
    suite = make_graded_suite(grades)
    pair = (side(suite, first), side(suite, second))
    scored = score_by_suite(pair, suite, suite.queries, (), ())
    return assemble_comparison(pair, scored, OPTIONS)


@given(judgments, runs)
@few
def test_a_run_beside_itself_does_not_differ(grades, run):
    report = compared(grades, run, run)
    for row in report.measures.measures:
        assert (row.difference, row.wins, row.losses, row.p_value, row.moved) == (0, 0, 0, 1, ())
    agreement = report.agreement
    assert (agreement.rbo, agreement.overlap) == (pytest.approx(1), 1)
    assert agreement.tau is None or agreement.tau == 1
    assert agreement.same_ranking == agreement.same_documents == agreement.same_first == len(QUERIES)
    for query in report.queries:
        assert (query.entered, query.left, query.moved, query.ties_only) == (0, 0, 0, False)
        assert all(one.reference == one.candidate for one in query.documents)


@given(judgments, runs, runs)
@few
def test_the_other_way_round_it_says_the_same(grades, first, second):
    there, back = compared(grades, first, second), compared(grades, second, first)
    for one, other in zip(there.measures.measures, back.measures.measures, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
        assert one.p_value == pytest.approx(other.p_value)
    for name in ("rbo", "overlap", "tau", "same_ranking", "same_documents", "same_first"):
        assert getattr(there.agreement, name) == pytest.approx(getattr(back.agreement, name))
    reverse = {query.id: query for query in back.queries}
    for query in there.queries:
        other = reverse[query.id]
        assert (query.entered, query.left, query.moved) == (other.left, other.entered, other.moved)
        assert query.ties_only == other.ties_only
        ranks = {(one.id, one.reference, one.candidate, one.tied) for one in query.documents}
        assert ranks == {(one.id, one.candidate, one.reference, one.tied) for one in other.documents}


@given(judgments, runs, runs)
@few
def test_documents_may_be_called_anything(grades, first, second):
    def renamed(run):
        return {query: tuple((f"new-{document}", score) for document, score in found) for query, found in run.items()}

    other_grades = {
        query: {f"new-{document}": grade for document, grade in found.items()} for query, found in grades.items()
    }
    plain = compared(grades, first, second)
    other = compared(other_grades, renamed(first), renamed(second))
    assert (plain.measures, plain.agreement) == (other.measures, other.agreement)
    for one, same in zip(plain.queries, other.queries, strict=True):
        assert (one.id, one.scores, one.rbo, one.ties_only) == (same.id, same.scores, same.rbo, same.ties_only)
        assert [f"new-{document.id}" for document in one.documents] == [document.id for document in same.documents]


@given(judgments, runs, runs)
@few
def test_each_document_stands_once_where_its_rankings_have_it(grades, first, second):
    for query in compared(grades, first, second).queries:
        before, after = ([document for document, _ in run[query.id]] for run in (first, second))
        assert sorted(one.id for one in query.documents) == sorted({*before, *after})
        by_rank = {one.candidate: one.id for one in query.documents if one.candidate is not None}
        assert [by_rank[rank] for rank in sorted(by_rank)] == after
        by_rank = {one.reference: one.id for one in query.documents if one.reference is not None}
        assert [by_rank[rank] for rank in sorted(by_rank)] == before
        counts = (query.entered, query.left)
        assert counts == (len({*after} - {*before}), len({*before} - {*after}))


@given(judgments, runs, runs)
@few
def test_the_query_that_moved_most_stands_first(grades, first, second):
    report = compared(grades, first, second)
    sizes = [abs(after - before) for before, after in (query.scores["nDCG@3"] for query in report.queries)]
    assert all(one >= other - 1e-9 for one, other in pairwise(sizes))


@given(judgments, runs, runs)
@few
def test_stored_scores_say_what_scoring_anew_says(grades, first, second):
    suite = make_graded_suite(grades)
    sides = (side(suite, first), side(suite, second))
    pair = tuple(
        replace(one, scores=score_run(suite, one.run), gain=suite.gain, profile=suite.profile) for one in sides
    )
    stored = assemble_comparison(pair, use_stored_scores(pair, (), ()), OPTIONS)
    anew = compared(grades, first, second)
    # Stored scores cannot be computed with other grades: they have no range for unjudged hits.
    rows = tuple(replace(row, if_judged=None) for row in anew.measures.measures)
    assert stored.measures == replace(anew.measures, measures=rows)
    assert stored.queries == anew.queries
