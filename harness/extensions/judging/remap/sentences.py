"""What is said of ids that moved."""

from __future__ import annotations

from collections.abc import Iterator

from harness.extensions.judging.remap.pairing import Fate
from harness.extensions.judging.remap.remapping import Remap, list_fates
from harness.words import count, listed

_SHOWN = 10
"""Documents of a fate that are named."""

_WORDS = {
    Fate.MOVED: "moved",
    Fate.STAYS: "as before",
    Fate.AMBIGUOUS: "ambiguous",
    Fate.GONE: "gone",
    Fate.UNKNOWN: "not known from before",
}


def describe_remap(remap: Remap) -> Iterator[str]:
    """Lines on how many ids moved, which could not be paired and why, and how far the score moves."""
    fates = remap.fates
    numbers = [f"{len(ids):,} {_WORDS[fate]}" for fate, ids in list_fates(fates) if ids or fate is Fate.MOVED]
    total = count(len(fates.moved) + len(fates.others), "document")
    yield f"{remap.suite.path}: {total} judged or expected, by {listed(list(remap.fields))}: {', '.join(numbers)}"
    for fate, ids in list_fates(fates):
        if fate is Fate.STAYS:
            continue
        for document in ids[:_SHOWN]:
            if fate is Fate.MOVED:
                yield f"  moved  {document} -> {fates.moved[document]}"
            else:
                reason = fates.others[document][1]
                yield f"  {_WORDS[fate]}  {document}{': ' if reason else ''}{reason}"
        if len(ids) > _SHOWN:
            yield f"  {_WORDS[fate]}  and {len(ids) - _SHOWN:,} more"
    yield _describe_score(remap)
    repeated = remap.explain_repeated()
    if repeated:
        yield repeated
    for path, documents in remap.elsewhere.items():
        yield f"{path}: names {listed(list(documents), _SHOWN)}, and ids are not edited there"


def _describe_score(remap: Remap) -> str:
    moved = remap.moved
    unanswered = f"; {count(moved.unanswered, 'query')} without an answer" if moved.unanswered else ""
    if moved.before is None or moved.after is None:
        return f"{moved.measure} on {remap.index}: no query has a score{unanswered}"
    return (
        f"mean {moved.measure} on {remap.index}: {moved.before:.4f} with the ids of before, {moved.after:.4f} with the "
        f"new ones, over {count(moved.queries, 'query')}{unanswered}"
    )
