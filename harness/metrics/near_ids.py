"""Hits that are judged under another form of their id, and so count as unjudged. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.id_forms import describe_difference, find_near_documents
from harness.words import count

QUERIES = 200
"""The queries that are looked at, of those with an unjudged hit: ids of one source all have the same form."""

HITS = 50
"""The first hits of a query that are looked at."""


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The documents that a query returned, best first, and those that are judged for it."""

    documents: Sequence[str]
    judged: Collection[str]


def describe_near_ids(rankings: Iterable[JudgedRanking]) -> str:
    """
    That hits are judged under another form of their id, with an example of each difference; empty where none is.

    A judged document that is returned under its own id is no other form of a hit.

    >>> describe_near_ids([JudgedRanking(["00123", "00456"], {"123": 2, "456": 1})])
    "2 unjudged hits of 1 query nearly match ids of judgments: '00123' is judged as '123' (leading zeros); these hits \
count as unjudged until ids have one form"
    """
    hits = queries = looked_at = 0
    examples: dict[str, str] = {}
    for ranking in rankings:
        documents = ranking.documents[:HITS]
        unjudged = [document for document in documents if document not in ranking.judged]
        if not unjudged or not ranking.judged:
            continue
        looked_at += 1
        if looked_at > QUERIES:
            break
        returned = set(ranking.documents)
        absent = [document for document in ranking.judged if document not in returned]
        near = find_near_documents(unjudged, absent) if absent else {}
        hits += len(near)
        queries += bool(near)
        for document, other in near.items():
            difference = describe_difference(document, other)
            if difference not in examples:
                # Two forms of the same letters look alike: only their escapes show the difference.
                write = ascii if difference in ("Unicode normalization", "characters that do not show") else repr
                examples[difference] = f"{write(document)} is judged as {write(other)} ({difference})"
    if not examples:
        return ""
    found = f"{count(hits, 'unjudged hit')} of {count(queries, 'query')}"
    if looked_at > QUERIES:
        found = f"at least {found}"
    verb = "matches" if hits == 1 else "match"
    listed = ", ".join(examples.values())
    return f"{found} nearly {verb} ids of judgments: {listed}; these hits count as unjudged until ids have one form"
