"""
Which hits a body asks for: a ranking begins at its first hit, and is as deep as what the suite looks at.

And how deep the same search may be asked to go beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.model import Json, SearchRequest

BEGINS_LATER = "a ranking begins at its first hit; leave `{key}` out, which turns to a later page"
"""Said of a body that skips hits: they would be scored as if the best had never been there."""

SKIPPING = ("from", "search_after")
"""Keys of a body that skip hits."""

COSTLY = frozenset(
    {
        "_source", "aggregations", "aggs", "docvalue_fields", "explain", "fields", "highlight", "profile",
        "script_fields", "suggest", "track_total_hits",
    }
)  # fmt: skip
"""Keys of a body that rank nothing; a deeper search, which is for ids alone, and counts as usual, leaves them out."""

RESULT_WINDOW = 10_000
"""The deepest hit that engines give unless an index says otherwise (`index.max_result_window`)."""

RESCORED = 10
"""Hits of a shard that a rescorer looks at where it does not say (`window_size`)."""

BY_SIZE = frozenset({"retriever", "rank", "sub_searches", "search_pipeline", "ext", "hybrid", "semantic"})
"""What ranks by the number of hits that are asked for: it fuses, normalises or reranks as many."""

OF_NEAREST = frozenset({"knn", "neural", *BY_SIZE})
"""What ends a list before all that matches is in it."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING`, leaves out the first hits; what turns to no page does not."""
    return value is not None and (key == "search_after" or isinstance(value, bool) or value != 0)


def window_problem(template: Json, body: Json, depth: int) -> str | None:
    """
    What keeps the answer to *body* from being the best *depth* hits.

    Args:
        template: The body before it was filled: a size that stands there as a number was held to the suite already.
        body: As it is sent.
        depth: How many hits the suite asks for.
    """
    if not isinstance(template, Mapping) or not isinstance(body, Mapping):
        return None
    for key in SKIPPING:
        if skips_hits(key, body.get(key)):
            return BEGINS_LATER.format(key=key)
    size = body.get("size")
    if not isinstance(template.get("size"), str):
        return None
    if isinstance(size, bool) or not isinstance(size, int):
        return f"the size becomes {size!r}, expected a whole number"
    if size < depth:
        return f"the size becomes {size}, and the suite looks at {depth} hits: write {{{{depth}}}}, or set 'depth'"
    return None


def deepest_size(body: Json) -> int:
    """
    The most hits that *body* may be asked for, so that the first of them are those of a smaller size.

    Hits below a rescorer's window keep their first score, and are sorted in with it; `knn` without a `k` takes the
    size for it. 0 where any other size may rank otherwise.
    """
    sizes = [RESULT_WINDOW]
    for key, value in _members(body):
        if key in BY_SIZE:
            return 0
        if key == "knn":
            sizes += [_nearest(clause) for clause in (value if isinstance(value, list) else [value])]
        elif key == "rescore":
            sizes += [_window(clause) for clause in (value if isinstance(value, list) else [value])]
    return min(sizes)


def shows_all(body: Json) -> bool:
    """Whether an answer to *body* that is as long as its total holds all that match."""
    return not any(key in OF_NEAREST for key, _ in _members(body))


def deeper(request: SearchRequest, size: int) -> SearchRequest:
    """The same search for *size* hits, and for nothing but ids."""
    body = request.body
    if not isinstance(body, Mapping):
        return request
    if "template" in body:
        return replace(request, body={**body, "template": _deeper_template(body["template"], size), "size": size})
    return replace(request, body={key: value for key, value in body.items() if key not in COSTLY} | {"size": size})


def _deeper_template(template: Json, size: int) -> Json:
    if not isinstance(template, Mapping) or not isinstance(template.get("params"), Mapping):
        return template
    return {**template, "params": {**template["params"], "size": size}}


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    """Each key anywhere in *value*, with what stands under it."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key, member
            yield from _members(member)
    elif isinstance(value, list) and not isinstance(next(iter(value), 0), float):  # vectors are long
        for item in value:
            yield from _members(item)


def _nearest(clause: Json) -> int:
    """The `k` of a `knn`, which in OpenSearch stands under the name of the field; 0 where there is none."""
    if not isinstance(clause, Mapping):
        return 0
    inner = [member for member in clause.values() if isinstance(member, Mapping)]
    return next((k for one in (clause, *inner) if (k := _whole(one.get("k")))), 0)


def _window(clause: Json) -> int:
    return _whole(clause.get("window_size", RESCORED)) if isinstance(clause, Mapping) else 0


def _whole(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
