"""The hits of an answer, as JSON, to a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model import Hit, Json, Ranking
from harness.search.snippets import lookup, snippet_of

__all__ = ["MalformedAnswer", "count_of", "kind_of", "read_ranking", "unique_hits"]


class MalformedAnswer(Exception):
    """An answer is not built as an engine builds it; the text says where. It becomes the `Failure` of its query."""


def read_ranking(answer: Mapping[str, Any], title_field: str | None, snippet: str | None = None) -> Ranking:
    """
    The ranking in *answer*, which is no error, with the titles and snippets of those fields.

    Raises:
        MalformedAnswer: Something in it is not as an engine gives it.
    """
    outer = answer.get("hits")
    if not isinstance(outer, dict):
        raise MalformedAnswer(f"the answer should have an object `hits`, found {kind_of(outer)}")
    inner = outer.get("hits")
    if not isinstance(inner, list):
        raise MalformedAnswer(f"`hits.hits` should be a list, found {kind_of(inner)}")
    hits, duplicates = unique_hits([_hit(hit, place, title_field, snippet) for place, hit in enumerate(inner)])
    total, is_lower_bound = _total(outer.get("total"))
    took = answer.get("took")
    return Ranking(
        hits,
        total=total,
        took=float(took) if isinstance(took, (int, float)) else None,
        total_is_lower_bound=is_lower_bound,
        duplicates=duplicates,
    )


def _hit(hit: Json, place: int, title_field: str | None, snippet: str | None) -> Hit:
    if not isinstance(hit, dict):
        raise MalformedAnswer(f"`hits.hits[{place}]` should be an object, found {kind_of(hit)}")
    identity = hit.get("_id")
    if not isinstance(identity, str):
        raise MalformedAnswer(f"`hits.hits[{place}]` should have a text `_id`, found {kind_of(identity)}")
    score = hit.get("_score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        raise MalformedAnswer(f"`hits.hits[{place}]._score` should be a number, found {kind_of(score)}")
    text = None if snippet is None else snippet_of(hit.get("_source"), snippet, title_field)
    return Hit(identity, None if score is None else float(score), _title(hit, title_field), text)


def _title(hit: dict[str, Any], field: str | None) -> str | None:
    if field is None:
        return None
    found = lookup(hit.get("_source"), field)
    if found is None:
        found = lookup(hit.get("fields"), field)
    if isinstance(found, list):
        found = found[0] if found else None
    return str(found) if isinstance(found, (str, int, float)) else None


def _total(total: Json) -> tuple[int | None, bool]:
    """
    How many documents match, and whether it is only known that there are that many at least.

    A number where `rest_total_hits_as_int` is set, nothing or -1 where hits are not tracked, else an object.
    """
    if isinstance(total, Mapping):
        return count_of(total, "value"), total.get("relation") == "gte"
    if total is None or total == -1:
        return None, False
    if isinstance(total, int) and not isinstance(total, bool):
        return total, False
    raise MalformedAnswer(f"`hits.total` should be a number or an object, found {kind_of(total)}")


def unique_hits(hits: Sequence[Hit]) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """*hits* with each document at its first place only, and the documents that came more than once."""
    first: dict[str, Hit] = {}
    repeated: dict[str, None] = {}
    for hit in hits:
        if first.setdefault(hit.id, hit) is not hit:
            repeated[hit.id] = None
    return tuple(first.values()), tuple(repeated)


def count_of(numbers: Mapping[str, Any], name: str) -> int:
    """The whole number *name*, 0 where it is not there."""
    value = numbers.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedAnswer(f"`{name}` should be a whole number, found {kind_of(value)}")
    return value


def kind_of(value: Json) -> str:
    """What *value* is, in words."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")
