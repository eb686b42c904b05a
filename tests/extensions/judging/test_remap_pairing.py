"""Which id a judged document has now: exact and unique pairs only."""

from __future__ import annotations

import pytest

from harness.extensions.judging.remap.pairing import Fate, pair_documents

ONE = {"q"}


def keys(**values: str | None) -> dict[str, tuple[str, ...] | None]:
    return {document: None if value is None else (value,) for document, value in values.items()}


def test_swapped_ids_move_past_each_other() -> None:
    fates = pair_documents({"a": ONE, "b": ONE}, keys(a="x", b="y"), keys(a="y", b="x"))

    assert fates.moved == {"a": "b", "b": "a"}


def test_a_chain_moves_as_a_whole() -> None:
    fates = pair_documents({"a": ONE, "b": ONE}, keys(a="x", b="y"), keys(b="x", c="y"))

    assert fates.moved == {"a": "b", "b": "c"}


@pytest.mark.parametrize(
    ("before", "after", "fate", "reason"),
    [
        (keys(a="x"), keys(a="x", b="x"), Fate.STAYS, ""),
        (keys(a="x"), keys(b="y"), Fate.GONE, ""),
        (keys(a="x"), keys(a="y"), Fate.GONE, "its id has other values now"),
        (keys(a="x"), keys(b="x", c="x"), Fate.AMBIGUOUS, "2 documents are equal now"),
        (keys(a="x", z="x"), keys(b="x"), Fate.AMBIGUOUS, "2 documents were equal before"),
        (keys(a=None), keys(b="x"), Fate.AMBIGUOUS, "it lacked one of the fields"),
        (keys(z="x"), keys(b="x"), Fate.UNKNOWN, ""),
    ],
)
def test_what_is_no_unique_pair_keeps_its_id(before, after, fate, reason) -> None:
    fates = pair_documents({"a": ONE}, before, after)

    assert fates.moved == {}
    assert fates.others == {"a": (fate, reason)}


def test_two_old_documents_are_not_put_into_one_new() -> None:
    fates = pair_documents({"a": ONE, "b": ONE}, keys(a="x", b="x"), keys(c="x"))

    assert fates.moved == {}
    assert fates.list_ids(Fate.AMBIGUOUS) == ["a", "b"]


def test_a_new_id_that_is_judged_already_is_not_judged_twice() -> None:
    fates = pair_documents({"a": {"q", "r"}, "n": {"r"}}, keys(a="x"), keys(n="x"))

    assert fates.moved == {}
    assert fates.others["a"] == (Fate.AMBIGUOUS, "its new id 'n' is judged already")


def test_what_stays_for_that_may_take_the_new_id_of_another() -> None:
    judged = {"a": ONE, "b": ONE, "c": ONE}
    fates = pair_documents(judged, keys(a="x", b="y"), keys(b="x", c="y"))

    assert fates.moved == {}
    assert fates.list_ids(Fate.AMBIGUOUS) == ["b", "a"]


def test_a_new_id_that_is_judged_for_another_query_is_free() -> None:
    fates = pair_documents({"a": {"q"}, "n": {"r"}}, keys(a="x"), keys(n="x"))

    assert fates.moved == {"a": "n"}
