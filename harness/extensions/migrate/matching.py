"""Whether the judgments of a source are of its queries: two files may write the id of one query differently."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from harness.drafts.draft import Draft, DraftQuery, make_error
from harness.errors import InputError
from harness.files.query_ids import extract_number, pair_similar_ids
from harness.id_forms import fold_id
from harness.words import count, listed


class IdMatching(StrEnum):
    """How the ids of queries in judgments are matched with those of queries."""

    EXACT = "exact"
    """They are the same; judgments of other queries are left out, however many they are."""
    LOOSE = "loose"
    """They may differ in letter case, blanks, what stands before a number, and zeros in front of it."""


def match_strangers(draft: Draft, matching: IdMatching | None) -> None:
    """
    Give the judgments of the strangers in *draft* to its queries, if *matching* is loose; the other strangers stay.

    Raises:
        InputError: *matching* is None, and most queries find no judgment while judgments are of strangers; or two
            queries match a stranger.
    """
    if matching is IdMatching.LOOSE:
        _join_strangers(draft)
    elif matching is None:
        _check_most_are_judged(draft)
    for query_id, stranger in draft.strangers.items():
        if draft.stranger_remark:
            draft.add_leftover(stranger.place, draft.stranger_remark, len(stranger.judgments), f"query {query_id!r}")
        else:
            draft.queries.append(stranger)
    draft.strangers = {}


def _list_unjudged(draft: Draft) -> dict[str, DraftQuery]:
    """The queries that no judgment is of, by their ids."""
    unjudged = {query.id: query for query in draft.queries if not query.judgments}
    return unjudged | draft.candidates


def _check_most_are_judged(draft: Draft) -> None:
    unjudged = _list_unjudged(draft)
    judged = sum(1 for query in draft.queries if query.judgments)
    # Judgments of more queries than the file has are usual, and so are queries that are not judged. Both at once, and
    # for more queries than are judged, means that the files write ids differently.
    missing = min(len(unjudged), len(draft.strangers))
    if missing <= judged:
        return
    raise _make_mismatch(draft, unjudged)


def _make_mismatch(draft: Draft, unjudged: dict[str, DraftQuery]) -> InputError:
    """The error for queries and judgments whose ids do not meet, with both side by side."""
    found = f"{count(len(unjudged), 'query')} without a judgment, {_list_ids(unjudged)}"
    found += f", and judgments of {_list_ids(draft.strangers)}"
    pairs = pair_similar_ids(draft.strangers, unjudged)
    if pairs:
        stranger_id, query_id = next(iter(pairs.items()))
        remedy = f"--match-ids loose takes {stranger_id!r} for {query_id!r}, --match-ids exact takes none for another"
    else:
        remedy = "give files in which a query has the same id; --match-ids exact imports these as they are"
    place = next(iter(draft.strangers.values())).place
    return make_error(place, f"found {found}; {remedy}")


def _list_ids(identifiers: Iterable[str]) -> str:
    """The first of *identifiers*, and how many more there are."""
    return listed([repr(identifier) for identifier in identifiers])


def _join_strangers(draft: Draft) -> None:
    """Give the judgments of each stranger to the query whose id differs only in its form."""
    known = {query.id: query for query in draft.queries} | draft.candidates
    by_form: dict[str, list[str]] = {}
    for query_id in known:
        by_form.setdefault(_simplify_id(query_id), []).append(query_id)
    for stranger_id in list(draft.strangers):
        query_ids = by_form.get(_simplify_id(stranger_id), [])
        if not query_ids:
            continue
        stranger = draft.strangers.pop(stranger_id)
        if len(query_ids) > 1:
            message = f"judgments of {stranger_id!r} match several queries, {_list_ids(query_ids)}; rename them"
            raise make_error(stranger.place, message)
        query_id = query_ids[0]
        if query_id in draft.candidates:
            candidate = draft.candidates.pop(query_id)
            known[query_id] = draft.add(query_id, candidate.place, candidate.text)
        for document, grade in stranger.judgments.items():
            draft.add_judgment(known[query_id], document, grade, stranger.places[document])
        for machine, grades in stranger.machine_judgments.items():
            for document, grade in grades.items():
                draft.add_machine_judgment(known[query_id], document, grade, machine, stranger.place)


def _simplify_id(identifier: str) -> str:
    return extract_number(fold_id(identifier))
