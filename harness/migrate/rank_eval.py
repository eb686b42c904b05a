"""
Import and export of request bodies of ``_rank_eval``, the ranking evaluation API of Elasticsearch and OpenSearch.

Source: the documentation of the API, and `RankEvalSpec`, `RatedRequest` and the metrics in the code of both engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from harness.errors import UsageError
from harness.files.opening import TextSource
from harness.metrics import settings_of
from harness.metrics.score import common_measures
from harness.migrate.draft import Draft, make_error
from harness.migrate.exported import Exported, format_json
from harness.migrate.json_nodes import JsonNode, parse_node, read_import
from harness.migrate.templates import build_common_request
from harness.model import GainKind, Json, Mark, Measure, Profile, Query, Suite
from harness.suites.requests import build_requests

_CONSOLE = re.compile(r"\s*(?:GET|POST)\s+/?(?:([^/\s?]+)/)?_rank_eval(?:\?([^\s{]*))?[^\n{]*")
_OF_A_SEARCH = ("search_type", "ignore_unavailable", "allow_no_indices", "expand_wildcards")
_DEFAULT_K = 10
_NAMES = ("precision", "recall", "mean_reciprocal_rank", "dcg", "expected_reciprocal_rank")


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read the suites of `_rank_eval` bodies: one for each file, or several if its requests differ in keys or templates.

    The index is that of a first line such as ``POST /products/_rank_eval``, as in a console, or else the `_index` of
    the ratings.

    Args:
        sources: Files with a body as JSON.

    Raises:
        InputError: A file cannot be read or is not a body of `_rank_eval`.
    """
    drafts = []
    for path in map(Path, sources):
        source = read_import(path)
        line = _CONSOLE.match(source.text)
        blank = " " * line.end() if line else ""
        root = parse_node(TextSource(source.path, blank + source.text[len(blank) :]))
        found = _drafts(root, path)
        if line:
            _read_address(line, found, Mark(source.path, 1, 1))
        found[0].leave_unread(root)
        drafts += found
    return drafts


def _read_address(line: re.Match[str], drafts: Sequence[Draft], place: Mark) -> None:
    """Read the index and the parameters of the console line; parameters that `_search` does not have are noted."""
    given = dict(parse_qsl(line[2] or ""))
    kept = {name: value for name, value in given.items() if name in _OF_A_SEARCH}
    for draft in drafts:
        draft.index = unquote(line[1]) if line[1] else draft.index
        if kept:
            draft.request = {"url_params": kept, "body": draft.request}
    for name in given.keys() - kept.keys():
        drafts[0].leave(place, f"the parameter {name!r} of the address")


def _drafts(root: JsonNode, path: Path) -> list[Draft]:
    metric = root.need("metric")
    measure, depth = _measure(metric)
    templates = {one.need("id").text(): one.need("template") for one in _list(root.get("templates"))}
    requests = list(root.need("requests").elements())
    if not requests:
        root.need("requests").refuse("at least one request")
    bodies = [_body(one, templates) for one in requests]
    shapes = list(dict.fromkeys(map(_shape, bodies)))
    drafts = []
    for number, shape in enumerate(shapes, start=1):
        chosen = [place for place, body in enumerate(bodies) if _shape(body) == shape]
        draft = Draft(Profile.RANK_EVAL, measures=[measure], depth=depth)
        draft.name = path.stem if number == 1 else f"{path.stem}-{number}"
        _fill(draft, [requests[place] for place in chosen], [bodies[place] for place in chosen], depth)
        drafts.append(draft)
    [settings] = (one for name in _NAMES if (one := metric.get(name)) is not None)
    unknown = _number(settings, "unknown_doc_rating")
    if unknown is not None and unknown < 0:
        what = f"'unknown_doc_rating' {unknown}; a measure's 'unjudged' is at least 0"
        drafts[0].leave(settings.need("unknown_doc_rating").place, what)
    if len(shapes) > 1:
        what = f"the mean over all requests, because their bodies have different keys; they are {len(shapes)} suites"
        drafts[0].leave(root.need("requests").place, what)
    return drafts


def _list(node: JsonNode | None) -> list[JsonNode]:
    return [] if node is None else list(node.elements())


def _shape(body: Json) -> tuple[str, ...]:
    """What the requests of one suite must have in common: the keys of their bodies, and their search template."""
    template = body.get("template", {})
    stored = {key: value for key, value in template.items() if key != "params"}
    return (*sorted(set(body) - {"size"}), json.dumps(stored, sort_keys=True), *sorted(template.get("params", {})))


def _body(request: JsonNode, templates: Mapping[str, JsonNode]) -> Json:
    """The body of _search, or a search template with its params."""
    template_id, own = request.get("template_id"), request.get("request")
    if (template_id is None) == (own is None):
        found = "neither 'request' nor 'template_id'" if own is None else "both 'request' and 'template_id'"
        raise make_error(request.place, f"found {found}, expected one of them")
    if own is not None:
        return own.object()
    assert template_id is not None
    given = request.get("params")
    params = {} if given is None else given.object()
    template = templates.get(template_id.text())
    if template is None:
        return {"template": {"id": template_id.text(), "params": params}}
    stored = template.get("id")
    if stored is not None:
        return {"template": {"id": stored.text(), "params": params}}
    source = template.get("source", "inline") or template
    if not isinstance(source.value, (dict, str)):
        source.refuse("the source of a search template, an object or a text")
    return {"template": {"source": source.json(), "params": params}}


def _fill(draft: Draft, requests: Sequence[JsonNode], bodies: Sequence[Json], depth: int) -> None:
    """Add to *draft* the request that *bodies* have in common, and the queries with their params and judgments."""
    indexes: dict[str, None] = {}
    sized = [place for place, body in zip(requests, bodies, strict=True) if body.pop("size", depth) != depth]
    if sized:
        draft.leave(sized[0].place, f"'size', which _rank_eval replaces by k = {depth}", len(sized))
    sources = [body.get("template", {}).pop("source", None) for body in bodies]
    draft.request, texts, params = build_common_request(bodies)
    if sources[0] is not None:  # its braces belong to the engine
        draft.request["template"] = {"source": sources[0], **draft.request["template"]}
    _add_size(draft, requests[0], depth)
    for request, text, values in zip(requests, texts, params, strict=True):
        query = draft.add(request.need("id").text(), request.need("id").place, text)
        query.params = values
        for rating in _list(request.get("ratings")):
            document, grade = rating.need("_id"), rating.need("rating").number()
            whole = rating.need("rating").integer()
            named = rating.get("_index")
            if named is not None:
                indexes[named.text()] = None
            if grade != whole:
                what = "what ratings have behind the point, which _rank_eval cuts off"
                draft.leave_document(query, document.text(), document.place, what, f": {grade:g}")
            draft.judge(query, document.text(), whole, document.place)
        _take_summary(draft, request)
    draft.leave_below_0()
    draft.index = ",".join(indexes) or None
    if len(indexes) > 1:
        what = f"the '_index' of ratings, {', '.join(indexes)}: a suite's judgments name documents by '_id' alone"
        draft.leave(requests[0].place, what)


def _add_size(draft: Draft, request: JsonNode, depth: int) -> None:
    """Set the size of a search template: `_rank_eval` replaces it by k, but a suite can only pass it as a param."""
    source = draft.request.get("template", {}).get("source")
    if isinstance(source, dict):
        source["size"] = "{{size}}"
    elif "template" in draft.request and "{{size}}" not in (source or "") and depth != _DEFAULT_K:
        draft.leave(request.place, f'k = {depth} as the number of hits; see to "size": "{{{{size}}}}" in the template')


def _take_summary(draft: Draft, request: JsonNode) -> None:
    fields = [one.text() for one in _list(request.get("summary_fields"))]
    if fields and draft.title_field is None:
        draft.title_field = fields[0]
    others = [name for name in fields if name != draft.title_field]
    if others:
        draft.leave(request.place, f"'summary_fields' {', '.join(others)}: a suite shows one field, title_field")


def _measure(metric: JsonNode) -> tuple[str, int]:
    """The measure as text, and its cutoff."""
    found = [(name, metric.get(name)) for name in _NAMES]
    given = [(name, settings) for name, settings in found if settings is not None]
    if len(given) != 1 or set(metric.members()) - set(_NAMES):
        metric.refuse(f"an object with one of {', '.join(_NAMES)}")
    [(name, settings)] = given
    wanted = _number(settings, "k")
    k = _DEFAULT_K if wanted is None else wanted
    if k < 1:
        settings.need("k").refuse("a number of at least 1")
    return f"{_MEASURES[name](settings)}@{k}", k


def _number(settings: JsonNode, key: str) -> int | None:
    """A number, or a number in a string, truncated as the engines do; None if *settings* does not have *key*."""
    found = settings.get(key)
    return None if found is None else found.integer()


def _flag(settings: JsonNode, key: str) -> bool:
    found = settings.get(key)
    return found is not None and found.flag()


def _relevant(settings: JsonNode) -> list[str]:
    level = _number(settings, "relevant_rating_threshold")
    if level is not None and level < 0:
        settings.need("relevant_rating_threshold").refuse("a number of at least 0, which the engines require")
    return [] if level in (None, 1) else [f"rel={level}"]


def _unknown(settings: JsonNode) -> list[str]:
    grade = _number(settings, "unknown_doc_rating")
    return [] if grade is None or grade < 0 else [f"unjudged={grade}"]


def _written(name: str, parameters: list[str]) -> str:
    return f"{name}({', '.join(parameters)})" if parameters else name


_MEASURES: Mapping[str, Callable[[JsonNode], str]] = {
    "precision": lambda settings: _written(
        "P", _relevant(settings) + (["judged_only=true"] if _flag(settings, "ignore_unlabeled") else [])
    ),
    "recall": lambda settings: _written("R", _relevant(settings)),
    "mean_reciprocal_rank": lambda settings: _written("RR", _relevant(settings)),
    "dcg": lambda settings: _written("nDCG" if _flag(settings, "normalize") else "DCG", _unknown(settings)),
    "expected_reciprocal_rank": lambda settings: _written(
        "ERR", [f"max={int(settings.need('maximum_relevance').number())}", *_unknown(settings)]
    ),
}


REFUSED = frozenset({"aggregations", "aggs", "explain", "highlight", "profile", "suggest"})
"""Keys of a search that `_rank_eval` refuses."""


def write(suite: Suite, form: str) -> Exported:  # noqa: ARG001
    """
    Write the body of a `_rank_eval` request: queries, grades, the first request and the first measure it supports.

    Args:
        suite: The suite.
        form: Not used.

    Raises:
        UsageError: The suite searches an HTTP service, or `_rank_eval` supports none of its measures.
    """
    exported = Exported()
    template = next(iter(suite.requests.values()))
    if template.http is not None:
        raise UsageError(f"{suite.path}: the suite asks an HTTP service, and _rank_eval sends requests of _search only")
    metrics = {measure: find_metric(measure, suite) for measure in common_measures(suite)}
    chosen = next((measure for measure, metric in metrics.items() if metric is not None), None)
    if chosen is None:
        found = ", ".join(measure.text for measure in metrics)
        raise UsageError(f"{suite.path}: _rank_eval has none of the suite's measures: {found}")
    carried = ("params", "target", "title_field")
    exported.leave_others(suite, Profile.RANK_EVAL, carried=carried, measures=[chosen], requests=1)
    refused = _refused_in(template.body)
    if refused:
        keys = ", ".join(refused)
        exported.leave(
            template.mark, f"{keys} of the request {template.name!r}, which _rank_eval refuses", len(refused)
        )
    bodies = [one.body for one in build_requests(suite, None)]
    written: dict[str, Json] = {"requests": [], "metric": metrics[chosen]}
    templates: dict[str, str] = {}
    index = template.index or suite.target.index or ""
    if not index:
        exported.leave(suite.target.mark, "the index, which the suite does not name; '_index' is empty in every rating")
    if any(character in index for character in ",*"):
        exported.leave(suite.target.mark, f"the index of each document: '_index' is {index!r} in every rating")
    for query, body in zip(suite.queries, bodies, strict=True):
        entry: dict[str, Json] = {"id": query.id, **build_rated_request(body, templates)}
        entry["ratings"] = [
            {"_index": index, "_id": document, "rating": int(grade)}
            for document, grade in query.judgments.items()
            if _is_whole(grade, document, query, exported)
        ]
        if suite.title_field:
            entry["summary_fields"] = [suite.title_field]
        written["requests"].append(entry)
    if templates:
        written["templates"] = list_templates(templates)
    exported.files[""] = format_json(written)
    return exported


def list_templates(templates: Mapping[str, str]) -> list[Json]:
    """The `templates` of a `_rank_eval` body, from those that `build_rated_request` collected."""
    return [{"id": name, "template": json.loads(text)} for text, name in templates.items()]


def build_rated_request(body: Json, templates: dict[str, str]) -> dict[str, Json]:
    """
    The keys of a `_rank_eval` request that hold the search of *body*: `request`, or `template_id` and `params`.

    The keys that `_rank_eval` refuses are left out. None of them changes the ranking.

    Args:
        body: The body of _search or of a search template.
        templates: Collects the search templates: text to id.
    """
    if "template" not in body:
        return {"request": {key: value for key, value in body.items() if key not in REFUSED | {"size"}}}
    template = body["template"]
    stored = {key: value for key, value in template.items() if key != "params"}
    if isinstance(source := stored.get("source"), dict):
        dropped = REFUSED | {"size"} if source.get("size") == "{{size}}" else REFUSED
        stored["source"] = {key: value for key, value in source.items() if key not in dropped}
    name = templates.setdefault(json.dumps(stored), f"template-{len(templates) + 1}")
    return {"template_id": name, "params": template.get("params", {})}


def _refused_in(body: Json) -> list[str]:
    """The keys of *body*, or of the source of its search template, that `_rank_eval` refuses."""
    inner = body.get("template") if isinstance(body, dict) else None
    source = inner.get("source", {}) if isinstance(inner, dict) else body
    return sorted(REFUSED & source.keys()) if isinstance(source, dict) else []


def _is_whole(grade: float, document: str, query: Query, exported: Exported) -> bool:
    if grade == int(grade):
        return True
    what = "grades that are no whole numbers, which _rank_eval does not have"
    exported.leave(query.mark, what, first=f"{grade:g} of document {document!r} of query {query.id!r}")
    return False


def find_metric(measure: Measure, suite: Suite, *, nearest: bool = False) -> dict[str, dict[str, int | bool]] | None:
    """
    The metric of `_rank_eval` that is the same as *measure*, with its settings.

    Args:
        measure: A measure of the suite.
        suite: Its gain, profile and depth apply.
        nearest: Whether the metric may differ in the gain and in the parameters `OF_RULES`; ERR then gets the default
            of `max` in the suite's profile if the measure does not set it.

    Returns:
        The object ``metric`` of the body; None if there is no such metric.
    """
    if measure.name not in _METRICS:
        return None
    name, settings, names = _METRICS[measure.name]
    given = dict(measure.parameters)
    gain = given.pop("gain", suite.gain)
    if nearest:
        given = {key: value for key, value in given.items() if key not in OF_RULES}
        if measure.name == "ERR":
            given.setdefault("max", settings_of(measure, suite.gain, suite.profile).number("max"))
    elif measure.name in ("nDCG", "DCG", "ERR") and getattr(gain, "kind", None) is not GainKind.EXPONENTIAL:
        return None
    if given.keys() - names.keys() or (measure.name == "ERR" and "max" not in given):
        return None
    found: dict[str, int | bool] = {"k": measure.cutoff or suite.depth, **settings}
    for key, value in given.items():
        if isinstance(value, float) and value != int(value):
            return None
        found[names[key]] = value if isinstance(value, bool) else int(value)  # type: ignore[arg-type]
    return {name: found}


OF_RULES = ("gain", "ideal", "over")
"""Parameters of measures that `_rank_eval` does not have: its rules for them are fixed."""

_RELEVANT = {"rel": "relevant_rating_threshold"}
_UNJUDGED = {"unjudged": "unknown_doc_rating"}
_METRICS: Mapping[str, tuple[str, Mapping[str, bool], Mapping[str, str]]] = {
    "P": ("precision", {}, {**_RELEVANT, "judged_only": "ignore_unlabeled"}),
    "R": ("recall", {}, _RELEVANT),
    "RR": ("mean_reciprocal_rank", {}, _RELEVANT),
    "DCG": ("dcg", {"normalize": False}, _UNJUDGED),
    "nDCG": ("dcg", {"normalize": True}, _UNJUDGED),
    "ERR": ("expected_reciprocal_rank", {}, {"max": "maximum_relevance", **_UNJUDGED}),
}
