"""
Ids of queries: one made from a text, and whether those of two files meet.

Files of two systems may write the id of one query differently.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b
from pathlib import Path

from harness.errors import UsageError
from harness.id_forms import find_other_names
from harness.words import listed

_NUMBER = re.compile(r"[^0-9]*?0*([0-9]+)")


_WORD = re.compile(r"\w+")
_LONGEST_SLUG = 40


def make_query_id(text: str) -> str:
    """
    The id of the query with *text*: its words, and a digest where these are not all of it.

    It depends on the text alone: the query keeps its id, whatever other queries there are.

    >>> make_query_id("red shoes"), make_query_id("c++")
    ('red-shoes', 'c-f4dc9948')
    """
    slug = "-".join(_WORD.findall(text))[:_LONGEST_SLUG].rstrip("-")
    if slug.replace("-", " ") == text:
        return slug
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{slug or 'query'}-{digest}"


def extract_number(identifier: str) -> str:
    """
    The number at the end of an id, without zeros in front and without what stands before it.

    An id with digits elsewhere too, or without a number at its end, stays as it is.

    >>> [extract_number(text) for text in ("051", "MB001", "AR26", "topic-7", "0", "2020-17", "tent")]
    ['51', '1', '26', '7', '0', '2020-17', 'tent']
    """
    match = _NUMBER.fullmatch(identifier)
    return identifier if match is None else match[1]


def pair_similar_ids(missing: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Ids of *missing*, each with that of *known* which differs from it in its form only, or has the same number."""
    pairs = find_other_names(missing, known)
    known_by_number: dict[str, str] = {}
    for identifier in known:
        known_by_number.setdefault(extract_number(identifier), identifier)
    for identifier in missing:
        number = extract_number(identifier)
        if identifier not in pairs and number in known_by_number:
            pairs[identifier] = known_by_number[number]
    return pairs


def check_common_queries(
    run_queries: Collection[str], judged_queries: Collection[str], judgments: Path, run: str, *, complete: bool
) -> None:
    """
    Refuse a *run* of which no query is judged in *judgments*: all means would be over no query.

    A run without any query may be scored if it is *complete*: then the judged queries count as queries without hits.

    Raises:
        UsageError: Shows ids of both files side by side.
    """
    if not set(run_queries).isdisjoint(judged_queries) or (complete and not run_queries):
        return
    if not run_queries:
        raise UsageError(f"{run}: the run has no query; --complete counts the judged queries as queries without hits")
    pairs = pair_similar_ids(run_queries, judged_queries)
    shown = f"the run has {_list_ids(run_queries)}, the judgments have {_list_ids(judged_queries)}"
    if pairs:
        run_id, judged_id = next(iter(pairs.items()))
        shown += f"; {run_id!r} may be the query {judged_id!r}"
    raise UsageError(
        f"{run}: no query of the run is judged in {judgments}: {shown}; give files in which a query has the same id"
    )


def check_runs_meet(queries: tuple[Collection[str], Collection[str]], names: tuple[str, str]) -> None:
    """
    Refuse two runs of which each has judged *queries* and none has both.

    Raises:
        UsageError: Shows ids of both side by side.
    """
    if not all(queries) or not set(queries[0]).isdisjoint(queries[1]):
        return
    ids = [_list_ids(sorted(queries_of_run)) for queries_of_run in queries]
    raise UsageError(
        f"{names[0]} and {names[1]} have no judged query in common: {names[0]} has {ids[0]}, {names[1]} has {ids[1]};"
        " give runs of the same queries, or --complete, which counts a query that a run lacks as one without hits"
    )


def _list_ids(identifiers: Collection[str]) -> str:
    """The first of *identifiers*, and how many more there are."""
    if not identifiers:
        return "none"
    return listed([repr(identifier) for identifier in identifiers])
