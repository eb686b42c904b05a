"""Which id a judged document has now: exact and unique pairs of documents that are equal in some fields. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Key: TypeAlias = tuple[str, ...]
"""The values of the fields that tell a document apart, one for each field."""

Documents: TypeAlias = Mapping[str, Key | None]
"""Documents by their ids, each with its key; None where it lacks one of the fields."""


class Fate(StrEnum):
    """What became of the id of a judged document."""

    MOVED = "moved"
    """Its document has another id, and no other document is equal to it, before or after."""
    STAYS = "stays"
    """The id has the same values as before."""
    AMBIGUOUS = "ambiguous"
    """Several documents are equal to it, or its new id is taken."""
    GONE = "gone"
    """No document is equal to it."""
    UNKNOWN = "unknown"
    """Nothing says what it was like before."""


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of the judged ids."""

    moved: Mapping[str, str] = field(default_factory=dict)
    """The old id to the new one."""
    others: Mapping[str, tuple[Fate, str]] = field(default_factory=dict)
    """What became of each other id, and why, in words; empty where that says all."""

    def list_ids(self, fate: Fate) -> list[str]:
        """The ids, but the moved ones, of which *fate* is that."""
        return [document for document, (known, _) in self.others.items() if known is fate]


def pair_documents(judged: Mapping[str, Iterable[str]], before: Documents, after: Documents) -> Fates:
    """
    Find the new id of each judged document.

    Args:
        judged: The judged ids, each with what judges it: a document may not be judged twice by one of these.
        before: All documents as they were.
        after: All documents as they are.

    >>> pair_documents({"a": ["q"], "b": ["q"]}, {"a": ("x",), "b": ("y",)}, {"b": ("x",), "a": ("y",)}).moved
    {'a': 'b', 'b': 'a'}
    """
    old_ids, new_ids = _group_by_key(before), _group_by_key(after)
    moved: dict[str, str] = {}
    others: dict[str, tuple[Fate, str]] = {}
    for document in judged:
        key = before.get(document)
        if document not in before:
            others[document] = (Fate.UNKNOWN, "")
        elif key is None:
            others[document] = (Fate.AMBIGUOUS, "it lacked one of the fields")
        elif after.get(document) == key:
            others[document] = (Fate.STAYS, "")
        elif len(old_ids[key]) > 1:
            others[document] = (Fate.AMBIGUOUS, f"{len(old_ids[key])} documents were equal before")
        elif key not in new_ids:
            is_there = document in after
            others[document] = (Fate.GONE, "its id has other values now" if is_there else "")
        elif len(new_ids[key]) > 1:
            others[document] = (Fate.AMBIGUOUS, f"{len(new_ids[key])} documents are equal now")
        else:
            moved[document] = new_ids[key][0]
    _leave_taken(moved, others, judged)
    return Fates(moved, others)


def _group_by_key(documents: Documents) -> dict[Key, list[str]]:
    ids: dict[Key, list[str]] = {}
    for document, key in documents.items():
        if key is not None:
            ids.setdefault(key, []).append(document)
    return ids


def _leave_taken(
    moved: dict[str, str], others: dict[str, tuple[Fate, str]], judged: Mapping[str, Iterable[str]]
) -> None:
    """
    Leave out of *moved* what would be judged twice, as its new id is one that is judged and does not move itself.

    What is left out keeps its id, which may be the new one of another: so it goes on until nothing is left out.
    """
    while True:
        taken = {}
        for old, new in moved.items():
            stays = new in judged and new not in moved
            if stays and not set(judged[old]).isdisjoint(judged[new]):
                taken[old] = new
        if not taken:
            return
        for old, new in taken.items():
            del moved[old]
            others[old] = (Fate.AMBIGUOUS, f"its new id {new!r} is judged already")
