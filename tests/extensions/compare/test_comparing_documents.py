"""What entered, left and moved between two rankings, and which of it is only another order of ties."""

import pytest

from harness.extensions.compare.assembly import add_documents
from harness.extensions.compare.model import QueryComparison
from harness.model.comparison import MovedDocument
from harness.model.run import Hit, Ranking
from harness.model.suite import Gain, GainKind
from harness.store.differences import DocumentNotes, compare_documents

QUERY = QueryComparison("q", "red shoes")


def ranking(*hits):
    return Ranking(tuple(Hit(name, score) for name, score in hits))


def changes(first, second, *, depth=10, ties=True, notes=None):
    rankings = ranking(*first), ranking(*second)
    documents = compare_documents(*rankings, depth=depth, notes=notes or DocumentNotes(), ties=ties)
    return add_documents(QUERY, documents)


def test_each_document_stands_once_the_candidates_in_order_then_those_that_left():
    found = changes([("a", 3), ("b", 2), ("c", 1)], [("c", 9), ("x", 8), ("a", 7)])
    ranks = [(one.id, one.reference, one.candidate) for one in found.documents]
    assert ranks == [("c", 3, 1), ("x", None, 2), ("a", 1, 3), ("b", 2, None)]
    assert (found.entered, found.left, found.moved, found.ties_only) == (1, 1, 2, False)


def test_what_is_known_of_a_document_stands_with_it():
    notes = DocumentNotes({"a": 2.0}, Gain(GainKind.EXPONENTIAL), {"x": "A title"})
    found = changes([("a", 1)], [("x", 1)], notes=notes)
    assert found.documents == (
        MovedDocument("x", None, 1, title="A title"),
        MovedDocument("a", 1, None, grade=2.0, gain=3.0),
    )


def test_a_document_that_fell_below_the_depth_has_its_rank_and_one_that_left_has_none():
    first, second = ranking(("a", 3), ("b", 2), ("c", 1)), ranking(("c", 9), ("x", 8), ("a", 7))
    found = compare_documents(first, second, depth=2, notes=DocumentNotes(), below=True)
    assert [(one.id, one.reference, one.candidate) for one in found] == [
        ("c", 3, 1), ("x", None, 2), ("a", 1, 3), ("b", 2, None)
    ]  # fmt: skip


def test_a_document_below_the_depth_is_not_there():
    found = changes([("a", 3), ("b", 2), ("c", 1)], [("a", 3), ("c", 2), ("b", 1)], depth=2)
    assert [(one.id, one.reference, one.candidate) for one in found.documents] == [
        ("a", 1, 1),
        ("c", None, 2),
        ("b", 2, None),
    ]


def test_the_same_ranking_has_no_change_and_so_none_of_ties():
    found = changes([("a", 2), ("b", 2)], [("a", 2), ("b", 2)])
    assert (found.entered, found.left, found.moved, found.ties_only) == (0, 0, 0, False)
    assert not any(one.tied for one in found.documents)


def test_documents_of_equal_score_that_changed_places_are_ties():
    found = changes([("a", 3), ("b", 2), ("c", 2)], [("a", 3), ("c", 2), ("b", 2)])
    assert (found.moved, found.ties_only) == (2, True)
    assert {one.id for one in found.documents if one.tied} == {"b", "c"}


def test_another_engine_may_multiply_all_scores_by_a_constant():
    assert changes([("a", 3), ("b", 2), ("c", 2)], [("a", 6.6), ("c", 4.4), ("b", 4.4)]).ties_only


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([("a", 2), ("b", 2)], [("b", 3), ("a", 2)]),  # the tie was broken
        ([("a", 3), ("b", 2)], [("b", 2), ("a", 2)]),  # there was none before
        ([("a", 2), ("b", 2), ("c", 1)], [("b", 2), ("c", 2), ("a", 1)]),  # another document is in the group
        ([("a", None), ("b", None)], [("b", None), ("a", None)]),  # no scores are known
    ],
)
def test_what_looks_like_a_tie_and_is_a_change(first, second):
    found = changes(first, second)
    assert not found.ties_only
    assert not any(one.tied for one in found.documents)


def test_a_request_that_orders_its_ties_meant_their_order():
    assert not changes([("a", 2), ("b", 2)], [("b", 2), ("a", 2)], ties=False).ties_only


def test_a_group_that_the_depth_cuts_is_one_of_ties_where_the_other_side_has_the_documents_below():
    found = changes([("a", 3), ("b", 2), ("c", 2), ("x", 2)], [("a", 3), ("b", 2), ("x", 2), ("c", 2)], depth=3)
    assert (found.entered, found.left, found.ties_only) == (1, 1, True)
    scaled = changes([("a", 3), ("b", 2), ("c", 2), ("x", 2)], [("a", 6), ("b", 4), ("x", 4), ("c", 4)], depth=3)
    assert scaled.ties_only
    not_known = changes([("a", 3), ("b", 2), ("c", 2)], [("a", 3), ("b", 2), ("x", 2)], depth=3)
    assert (not_known.entered, not_known.left, not_known.ties_only) == (1, 1, False)
    complete = changes([("a", 3), ("b", 2), ("c", 2)], [("a", 3), ("b", 2), ("x", 2)], depth=4)
    assert not complete.ties_only, "the group ended, so another document took the place"


def test_the_last_document_alone_in_its_score_and_replaced_is_a_change():
    assert not changes([("a", 3), ("b", 2)], [("a", 3), ("x", 2)], depth=2).ties_only


def test_a_tie_beside_a_real_change_does_not_make_it_one_of_ties():
    found = changes([("a", 3), ("b", 2), ("c", 2), ("d", 1)], [("a", 3), ("c", 2), ("b", 2), ("x", 1)])
    assert not found.ties_only
    assert {one.id for one in found.documents if one.tied} == {"b", "c"}
