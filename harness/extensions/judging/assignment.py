"""Which judge is given which documents, where each document is given to some of the judges only: pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set

from harness.agreement import Pair


def assign_documents(
    pairs: Iterable[Pair], judges: Sequence[str], answered: Mapping[str, Set[Pair]], *, overlap: int, seed: int
) -> dict[str, set[Pair]]:
    """
    Give each document to *overlap* of *judges*.

    Whoever has answered for a document keeps it, and nobody is given a document that *overlap* others have answered
    for. The others are those with the highest hash of document and judge (rendezvous hashing), so that each judge is
    given about as many, and one more judge takes a share from each and moves nothing else.

    Args:
        pairs: The documents.
        judges: The names of the judges.
        answered: What each of them, and others who judged before, have answered for already, by judge.
        overlap: How many judges a document is given to, from 1 to their number.
        seed: Another one gives other documents to each judge.

    Returns:
        The documents of each judge.

    Source: Thaler & Ravishankar (1998), Using name-based mappings to increase hit rates.

    >>> given = assign_documents([("q", "a"), ("q", "b")], ["anna", "ben"], {}, overlap=2, seed=0)
    >>> {judge: sorted(pairs) for judge, pairs in given.items()}
    {'anna': [('q', 'a'), ('q', 'b')], 'ben': [('q', 'a'), ('q', 'b')]}
    """
    assigned: dict[str, set[Pair]] = {judge: set() for judge in judges}
    for pair in pairs:
        # Some of them may not judge now, and still make up the number of judges of the document.
        have_answered = [judge for judge, pairs_answered in answered.items() if pair in pairs_answered]
        others = [judge for judge in judges if judge not in have_answered]
        others.sort(key=lambda judge: _hash_pair(pair, judge, seed), reverse=True)
        missing = max(overlap - len(have_answered), 0)
        for judge in (*have_answered, *others[:missing]):
            if judge in assigned:
                assigned[judge].add(pair)
    return assigned


def _hash_pair(pair: Pair, judge: str, seed: int) -> bytes:
    """A hash of document and *judge*, by which judges are sorted; another *seed* sorts them differently."""
    # With the lengths, so that no two documents and judges have the same text.
    parts = (str(seed), *pair, judge)
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
