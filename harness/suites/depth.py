"""How many hits a suite asks for, which hits a body asks for, and how deep the same search may be asked to go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from harness.metrics.run_scores import measure_named
from harness.model import AgreementCondition, InTop, Json, Measure, RequestTemplate, SearchRequest, Threshold
from harness.suites.placeholders import placeholders_in
from harness.suites.reading import Reading
from harness.suites.yaml import MappingNode, Node, Problems, Written, resolve

LEAST_DEPTH = 10
"""Hits asked for where nothing looks deeper: what a page of results shows."""


def choose_depth(
    reading: Reading,
    templates: Iterable[RequestTemplate],
    measures: Iterable[Measure],
    thresholds: Iterable[Threshold],
) -> int:
    """
    The hits asked for: the suite's own depth, else the deepest of its cutoffs, expectations and requests' sizes.

    An own size of a request may be deeper than needed where the suite gives no depth, and is never shallower. Where
    each request has one, no more is asked for than they say.
    """
    needed, by_what = max(_needs(measures, thresholds), default=(0, ""))
    given: int | None = reading.shape.depth
    if given is not None and given < needed:
        message = f"depth {given} is too shallow for '{by_what}', which needs {needed} hits"
        reading.problems.at(reading.key_mark("depth"), message)
    sizes, least = [], 1
    for template in templates:
        size = size_of(template)
        if size is None:
            least = LEAST_DEPTH
            continue
        sizes.append(size)
        _check_size(reading, template, size, needed, by_what)
    return given or max(least, needed, *sizes)


def _needs(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> Iterator[tuple[int, str]]:
    """Each rank that something looks down to, and what that is."""
    for measure in measures:
        yield measure.cutoff or 0, measure.text
    for threshold in thresholds:
        condition = threshold.condition
        named = measure_named(threshold)
        if named is not None:
            yield named.cutoff or 0, threshold.text
        elif isinstance(condition, InTop):
            yield condition.k, threshold.text
        elif isinstance(condition, AgreementCondition):
            yield condition.agreement.cutoff or 0, threshold.text


def _check_size(reading: Reading, template: RequestTemplate, size: int, needed: int, by_what: str) -> None:
    given = reading.shape.depth
    if given is not None and size != given:
        message = f"the request {template.name!r} has size {size}, but depth is {given}; remove one of them"
        reading.problems.at(template.mark, message)
    elif size < needed:
        message = f"the request {template.name!r} has size {size}, but '{by_what}' needs {needed} hits"
        reading.problems.at(template.mark, message)


ENGINES_SIZE = 10
"""Hits that an engine returns where a body does not say how many."""


def size_of(template: RequestTemplate) -> int | None:
    """
    The number of hits that the body itself asks for, or the source of its search template where that is a mapping.

    None where the body does not say it, or the engine will fill it in.
    """
    body = template.body if isinstance(template.body, Mapping) else {}
    search_template = body.get("template")
    source = search_template.get("source") if isinstance(search_template, Mapping) else None
    if template.http is None and isinstance(source, Mapping):
        return _positive(source.get("size", ENGINES_SIZE)) or _positive(body.get("size"))
    return _positive(body.get("size"))


def _positive(value: Json) -> int | None:
    number = _whole(value)
    return number if number > 0 else None


BEGINS_LATER = "a ranking begins at its first hit; remove `{key}`, which skips hits"
"""Said of a body that skips hits: they would be scored as if the best had never been there."""

SKIPPING = ("from", "search_after")
"""Keys of a body that skip hits."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING`, leaves out the first hits; what turns to no page does not."""
    return value is not None and (key == "search_after" or isinstance(value, bool) or value != 0)


def check_window(body: Node | None, problems: Problems) -> None:
    """What is written out is checked here; what is a placeholder is known only when it is filled."""
    if not isinstance(body, MappingNode):
        return
    size = _written_out(body, "size")
    if size is not None:
        value = resolve(size) if isinstance(size, Written) and (size.plain or size.whole) else None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.at(size.mark, "expected the number of hits as size: a whole number of at least 1")
    for key in SKIPPING:
        start = _written_out(body, key)
        if start is not None and skips_hits(key, resolve(start) if isinstance(start, Written) else True):
            problems.at(start.mark, BEGINS_LATER.format(key=key))


def _written_out(body: MappingNode, key: str) -> Node | None:
    """The value under *key*, None where there is none or it is not known yet."""
    value: Node | None = body.child(key)
    unknown = isinstance(value, Written) and (value.unset or list(placeholders_in(value)))
    return None if unknown else value


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
        return f"the size becomes {size}, but the suite needs {depth} hits: write {{{{depth}}}}, or set 'depth'"
    return None


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
