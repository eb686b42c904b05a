"""Ids and texts of a source that look like others and are not: a reader of the suite would not see the difference."""

from __future__ import annotations

import unicodedata

from harness.drafts.draft import Draft, DraftQuery
from harness.model.suite import Mark
from harness.words import fold_spelling, is_seen


def note_look_alikes(draft: Draft) -> None:
    """Note queries of *draft* that differ only in spelling, and ids and texts with characters that do not show."""
    ids: dict[str, str] = {}
    texts: dict[str, str] = {}
    for query in draft.queries:
        _note_unseen(draft, query)
        is_listed = _note_similar(draft, query, query.text or "", texts)
        # Where ids are made from texts, they differ as the texts do.
        if not is_listed:
            _note_similar(draft, query, query.id, ids)


def _note_similar(draft: Draft, query: DraftQuery, text: str, texts_by_form: dict[str, str]) -> bool:
    """
    Note where *text*, the id or the text of *query*, is another one but for its spelling.

    Args:
        draft: The draft of the query.
        query: The query.
        text: Its id or its text.
        texts_by_form: Those of the queries before it, by their folded form; *text* is added.

    Returns:
        Whether it was noted.
    """
    if not text:
        return False
    earlier = texts_by_form.setdefault(fold_spelling(text), text)
    if earlier == text:
        return False
    spellings = f"{earlier!r} and {text!r}"
    if unicodedata.normalize("NFC", earlier) == unicodedata.normalize("NFC", text):
        spellings = f"{earlier!a} and {text!a}"  # they look the same
    what = "queries that differ only in letter case, blanks or Unicode form; each is a query of the suite"
    draft.add_leftover(_find_place(query), what, first=spellings)
    return True


def _note_unseen(draft: Draft, query: DraftQuery) -> None:
    """Note the text and the documents of *query* that have characters which do not show, such as U+FEFF."""
    places = {query.text or "": _find_place(query)} | query.places
    for text, place in places.items():
        # Most ids are printable, and a suite may have millions.
        if text.isprintable():
            continue
        unseen = sorted({f"U+{ord(character):04X}" for character in text if not is_seen(character)})
        if unseen:
            what = f"an id or text with {', '.join(unseen)}, which does not show; it is kept as it is here"
            draft.add_leftover(place, what, first=f"{text!a}")


def _find_place(query: DraftQuery) -> Mark:
    """The place of *query*, or of its first judgment where it has none of its own."""
    if query.place.path:
        return query.place
    return next(iter(query.places.values()), query.place)
