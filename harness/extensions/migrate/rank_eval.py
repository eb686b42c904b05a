"""
Import of request bodies of ``_rank_eval``, the ranking evaluation API of Elasticsearch and OpenSearch.

Source: the documentation of the API, and `RankEvalSpec`, `RatedRequest` and the metrics in the code of both engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from harness.drafts.draft import Draft, DraftQuery, make_error
from harness.extensions.migrate.json_nodes import JsonNode, note_unread, parse_node, read_import
from harness.extensions.migrate.templates import build_common_request
from harness.files.opening import TextSource
from harness.metrics import settings_of
from harness.model.suite import GainKind, Json, Mark, Measure, Profile, Suite
from harness.words import format_exactly

_CONSOLE = re.compile(r"\s*(?:GET|POST)\s+/?(?:([^/\s?]+)/)?_rank_eval(?:\?([^\s{]*))?[^\n{]*")
_OF_A_SEARCH = ("search_type", "ignore_unavailable", "allow_no_indices", "expand_wildcards")
_DEFAULT_K = 10


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
        console_line = _CONSOLE.match(source.text)
        text = source.text
        if console_line is not None:
            # Blanks of the same length keep the places in the file.
            text = " " * console_line.end() + text[console_line.end() :]
        root = parse_node(TextSource(source.path, text))
        drafts_of_file = _split_drafts(root, path)
        if console_line is not None:
            _read_address(console_line, drafts_of_file, Mark(source.path, 1, 1))
        note_unread(drafts_of_file[0], root)
        drafts += drafts_of_file
    return drafts


def _read_address(line: re.Match[str], drafts: Sequence[Draft], place: Mark) -> None:
    """Read the index and the parameters of the console line; parameters that `_search` does not have are noted."""
    parameters = dict(parse_qsl(line[2] or ""))
    of_search = {name: value for name, value in parameters.items() if name in _OF_A_SEARCH}
    for draft in drafts:
        if line[1]:
            draft.index = unquote(line[1])
        if of_search:
            draft.request = {"url_params": of_search, "body": draft.request}
    for name in parameters.keys() - of_search.keys():
        drafts[0].add_leftover(place, f"the parameter {name!r} of the address")


def _split_drafts(root: JsonNode, path: Path) -> list[Draft]:
    """A draft for each shape of the requests, as a suite has one request for all of its queries."""
    metric = root.require("metric")
    name, settings = _find_settings(metric)
    k = _get_cutoff(settings)
    measure = f"{_MEASURES[name](settings)}@{k}"
    templates = {
        entry.require("id").text(): entry.require("template") for entry in _list_elements(root.get("templates"))
    }
    requests = list(root.require("requests").elements())
    if not requests:
        root.require("requests").refuse("at least one request")
    by_shape: dict[tuple[str, ...], list[tuple[JsonNode, Json]]] = {}
    for request in requests:
        body = _get_body(request, templates)
        by_shape.setdefault(_describe_shape(body), []).append((request, body))
    drafts = []
    for number, requests_and_bodies in enumerate(by_shape.values(), start=1):
        draft = Draft(Profile.RANK_EVAL, measures=[measure], depth=k)
        draft.name = path.stem if number == 1 else f"{path.stem}-{number}"
        _fill(draft, requests_and_bodies, k)
        drafts.append(draft)
    unknown = _get_number(settings, "unknown_doc_rating")
    if unknown is not None and unknown < 0:
        what = f"'unknown_doc_rating' {unknown}; a measure's 'unjudged' is at least 0"
        drafts[0].add_leftover(settings.require("unknown_doc_rating").place, what)
    if len(drafts) > 1:
        what = f"the mean over all requests, because their bodies have different keys; they are {len(drafts)} suites"
        drafts[0].add_leftover(root.require("requests").place, what)
    return drafts


def _list_elements(node: JsonNode | None) -> list[JsonNode]:
    """The elements of a list; none without a node."""
    if node is None:
        return []
    return list(node.elements())


def _describe_shape(body: Json) -> tuple[str, ...]:
    """What the requests of one suite must have in common: the keys of their bodies, and their search template."""
    template = body.get("template", {})
    stored = {key: value for key, value in template.items() if key != "params"}
    keys = sorted(set(body) - {"size"})  # _rank_eval replaces the size
    return (*keys, json.dumps(stored, sort_keys=True), *sorted(template.get("params", {})))


def _get_body(request: JsonNode, templates: Mapping[str, JsonNode]) -> Json:
    """The body of _search, or a search template with its params."""
    template_id, own_body = request.get("template_id"), request.get("request")
    if (template_id is None) == (own_body is None):
        reason = "neither 'request' nor 'template_id'" if own_body is None else "both 'request' and 'template_id'"
        raise make_error(request.place, f"found {reason}, expected one of them")
    if own_body is not None:
        return own_body.object()
    assert template_id is not None
    params_node = request.get("params")
    params = {} if params_node is None else params_node.object()
    template = templates.get(template_id.text())
    # The engine has the template: one that the body does not have, or one that the body has by its id.
    if template is None:
        return {"template": {"id": template_id.text(), "params": params}}
    stored_id = template.get("id")
    if stored_id is not None:
        return {"template": {"id": stored_id.text(), "params": params}}
    source = template.get("source", "inline") or template
    if not isinstance(source.value, (dict, str)):
        source.refuse("the source of a search template, an object or a text")
    return {"template": {"source": source.json(), "params": params}}


def _fill(draft: Draft, requests_and_bodies: Sequence[tuple[JsonNode, Json]], k: int) -> None:
    """Add to *draft* the request that the bodies have in common, and the queries with their params and judgments."""
    requests = [request for request, _ in requests_and_bodies]
    bodies = [body for _, body in requests_and_bodies]
    resized = [request for request, body in requests_and_bodies if body.pop("size", k) != k]
    if resized:
        draft.add_leftover(resized[0].place, f"'size', which _rank_eval replaces by k = {k}", len(resized))
    # The braces in the source of a search template belong to the engine: no placeholders of a suite may go there.
    sources = [body.get("template", {}).pop("source", None) for body in bodies]
    draft.request, texts, params = build_common_request(bodies)
    if sources[0] is not None:
        draft.request["template"] = {"source": sources[0], **draft.request["template"]}
    _add_size(draft, requests[0], k)
    indexes: dict[str, None] = {}
    for request, text, params_of_query in zip(requests, texts, params, strict=True):
        query = draft.add(request.require("id").text(), request.require("id").place, text)
        query.params = params_of_query
        index_by_document: dict[str, str] = {}
        for rating in _list_elements(request.get("ratings")):
            index = rating.get("_index")
            if index is not None:
                indexes[index.text()] = None
                _check_index(query, rating, index.text(), index_by_document)
            _add_rating(draft, query, rating)
        _add_display_fields(draft, request)
    draft.note_grades_below_0()
    draft.index = ",".join(indexes) or None
    if len(indexes) > 1:
        what = f"the '_index' of ratings, {', '.join(indexes)}: a suite's judgments name documents by '_id' alone"
        draft.add_leftover(requests[0].place, what)


def _check_index(query: DraftQuery, rating: JsonNode, index: str, index_by_document: dict[str, str]) -> None:
    """
    Check that the document of *rating* is rated in one *index* only, and add it to *index_by_document*.

    Raises:
        FormatError: It has another grade in another index: two documents, which a suite's judgments cannot tell apart.
    """
    node = rating.require("_id")
    document = node.text()
    other_index = index_by_document.setdefault(document, index)
    if other_index == index or query.judgments.get(document) == rating.require("rating").integer():
        return
    message = (
        f"document {document!r} of query {query.id!r} is rated in the index {index!r} here, and in {other_index!r}"
    )
    remedy = "a suite's judgments name documents by '_id' alone: import a body for each index"
    raise make_error(node.place, f"{message} at {query.places[document]}; {remedy}")


def _add_rating(draft: Draft, query: DraftQuery, rating: JsonNode) -> None:
    """Add the judgment of *rating* to *query*; like the engines, cut off what a grade has behind the point."""
    document, grade = rating.require("_id"), rating.require("rating").number()
    whole_grade = rating.require("rating").integer()
    if grade != whole_grade:
        what = "what ratings have behind the point, which _rank_eval cuts off"
        draft.add_document_leftover(query, document.text(), document.place, what, f": {format_exactly(grade)}")
    draft.add_judgment(query, document.text(), whole_grade, document.place)


def _add_size(draft: Draft, request: JsonNode, k: int) -> None:
    """Set the size of a search template: `_rank_eval` replaces it by k, but a suite can only pass it as a param."""
    source = draft.request.get("template", {}).get("source")
    if isinstance(source, dict):
        source["size"] = "{{size}}"
    elif "template" in draft.request and "{{size}}" not in (source or "") and k != _DEFAULT_K:
        draft.add_leftover(
            request.place, f'k = {k} as the number of hits; see to "size": "{{{{size}}}}" in the template'
        )


def _add_display_fields(draft: Draft, request: JsonNode) -> None:
    """
    Let reports show the `summary_fields` of *request*, beside those of earlier requests.

    The first field of the first request with any becomes the title.
    """
    summary_fields = [field.text() for field in _list_elements(request.get("summary_fields"))]
    if not summary_fields:
        return
    title = draft.display.title or summary_fields[0]
    # Each field once, in the order in which requests name them.
    fields = dict.fromkeys([*draft.display.fields, *summary_fields])
    fields.pop(title, None)
    draft.display = replace(draft.display, title=title, fields=tuple(fields))


def _find_settings(metric: JsonNode) -> tuple[str, JsonNode]:
    """The name of the metric, and its settings."""
    metrics = []
    for name in _MEASURES:
        settings = metric.get(name)
        if settings is not None:
            metrics.append((name, settings))
    if len(metrics) != 1 or metric.members().keys() - _MEASURES.keys():
        metric.refuse(f"an object with one of {', '.join(_MEASURES)}")
    return metrics[0]


def _get_cutoff(settings: JsonNode) -> int:
    """The parameter `k`, or its default."""
    k = _get_number(settings, "k")
    if k is None:
        return _DEFAULT_K
    if k < 1:
        settings.require("k").refuse("a number of at least 1")
    return k


def _get_number(settings: JsonNode, key: str) -> int | None:
    """A number, or a number in a string, truncated as the engines do; None if *settings* does not have *key*."""
    number = settings.get(key)
    if number is None:
        return None
    return number.integer()


def _get_flag(settings: JsonNode, key: str) -> bool:
    """The boolean *key* of *settings*; false where there is none."""
    flag = settings.get(key)
    return flag is not None and flag.flag()


def _list_relevance(settings: JsonNode) -> list[str]:
    """The parameter `rel` of a measure as text; none where it is the default."""
    level = _get_number(settings, "relevant_rating_threshold")
    if level is not None and level < 0:
        settings.require("relevant_rating_threshold").refuse("a number of at least 0, which the engines require")
    if level in (None, 1):
        return []
    return [f"rel={level}"]


def _list_unjudged(settings: JsonNode) -> list[str]:
    """The parameter `unjudged` of a measure as text; a grade below 0 is noted by `_split_drafts`."""
    grade = _get_number(settings, "unknown_doc_rating")
    if grade is None or grade < 0:
        return []
    return [f"unjudged={grade}"]


def _format_measure(name: str, parameters: Sequence[str]) -> str:
    """The text of a measure without a cutoff, such as "P(rel=2)"."""
    if not parameters:
        return name
    return f"{name}({', '.join(parameters)})"


# Each takes the settings of one metric of `_rank_eval`, and returns the text of the measure that it is here.


def _convert_precision(settings: JsonNode) -> str:
    parameters = _list_relevance(settings)
    if _get_flag(settings, "ignore_unlabeled"):
        parameters.append("judged_only=true")
    return _format_measure("P", parameters)


def _convert_recall(settings: JsonNode) -> str:
    return _format_measure("R", _list_relevance(settings))


def _convert_reciprocal_rank(settings: JsonNode) -> str:
    return _format_measure("RR", _list_relevance(settings))


def _convert_dcg(settings: JsonNode) -> str:
    name = "nDCG" if _get_flag(settings, "normalize") else "DCG"
    return _format_measure(name, _list_unjudged(settings))


def _convert_expected_reciprocal_rank(settings: JsonNode) -> str:
    highest = f"max={int(settings.require('maximum_relevance').number())}"
    return _format_measure("ERR", [highest, *_list_unjudged(settings)])


_MEASURES: Mapping[str, Callable[[JsonNode], str]] = {
    "precision": _convert_precision,
    "recall": _convert_recall,
    "mean_reciprocal_rank": _convert_reciprocal_rank,
    "dcg": _convert_dcg,
    "expected_reciprocal_rank": _convert_expected_reciprocal_rank,
}
"""The metrics of `_rank_eval`, and what makes the text of a measure, without the cutoff, from their settings."""


_REFUSED = frozenset({"aggregations", "aggs", "explain", "highlight", "profile", "suggest"})
"""Keys of a search that `_rank_eval` refuses."""


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
        return {"request": {key: value for key, value in body.items() if key not in _REFUSED | {"size"}}}
    template = body["template"]
    stored = {key: value for key, value in template.items() if key != "params"}
    source = stored.get("source")
    if isinstance(source, dict):
        # The size is that of `_rank_eval`, k.
        dropped = _REFUSED | {"size"} if source.get("size") == "{{size}}" else _REFUSED
        stored["source"] = {key: value for key, value in source.items() if key not in dropped}
    template_id = templates.setdefault(json.dumps(stored), f"template-{len(templates) + 1}")
    return {"template_id": template_id, "params": template.get("params", {})}


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
    name, fixed_settings, setting_names = _METRICS[measure.name]
    parameters = dict(measure.parameters)
    gain = parameters.pop("gain", suite.gain)
    if nearest:
        parameters = {key: value for key, value in parameters.items() if key not in OF_RULES}
        if measure.name == "ERR":
            parameters.setdefault("max", settings_of(measure, suite.gain, suite.profile).number("max"))
    elif measure.name in ("nDCG", "DCG", "ERR") and getattr(gain, "kind", None) is not GainKind.EXPONENTIAL:
        return None
    # `maximum_relevance` has no default.
    if measure.name == "ERR" and "max" not in parameters:
        return None
    if parameters.keys() - setting_names.keys():
        return None
    settings: dict[str, int | bool] = {"k": measure.cutoff or suite.depth, **fixed_settings}
    for key, value in parameters.items():
        # Grades are integers in the engines.
        if isinstance(value, float) and value != int(value):
            return None
        settings[setting_names[key]] = value if isinstance(value, bool) else int(value)  # type: ignore[arg-type]
    return {name: settings}


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
