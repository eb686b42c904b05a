"""The bodies of search templates, which the engine makes: whether one skips hits, as no body of a suite may."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import SearchError
from harness.gate.cut_answers import may_limit_hits
from harness.model.request import SearchRequest
from harness.model.suite import Json
from harness.search.protocol import Search
from harness.suites.depth import SKIPPING_KEYS, find_rendered_body, skips_hits

MOST_RENDERED = 50
"""Requests of a run whose templates are rendered; others differ from these in texts, or are not looked at."""


@dataclass(frozen=True, slots=True)
class RenderedTemplates:
    """What was seen of the bodies that search templates become."""

    limits_hits: bool = False
    """Whether a body may return fewer hits than it counts."""
    problem: str = ""
    """Why it is unknown whether they skip hits; empty if it is known."""


def check_templates(requests: Sequence[SearchRequest], search: Search) -> RenderedTemplates:
    """
    Let *search* render the templates of *requests* that only the engine can render: one for each form of their params.

    Raises:
        SearchError: A template becomes a body that skips hits.
    """
    forms: dict[str, SearchRequest] = {}
    for request in requests:
        body = request.body
        if not isinstance(body, Mapping) or "template" not in body or find_rendered_body(body["template"]):
            continue
        text = "" if request.built_for is None else request.built_for.text
        forms.setdefault(_make_form(body["template"], text), request)
    if not forms:
        return RenderedTemplates()
    limits_hits, problem = False, ""
    for place, request in enumerate(forms.values()):
        if place >= MOST_RENDERED:
            problem = f"of {len(forms)} forms of params, {MOST_RENDERED} were rendered"
            break
        try:
            rendered = search.inspector.render_template(request)
        except SearchError as error:
            problem = str(error)
            break
        for key in SKIPPING_KEYS:
            if skips_hits(key, rendered.get(key)):
                raise SearchError(_explain_skipping(request, key, rendered[key]))
        limits_hits = limits_hits or may_limit_hits(rendered)
    if problem:
        problem = f"whether the search template skips hits (`from`) is unknown: {problem}"
    return RenderedTemplates(limits_hits, problem)


def _make_form(template: Json, query_text: str) -> str:
    """
    What decides which hits *template* skips: all of it but the texts in its params that are no numbers, and the text of
    the query.
    """
    if not isinstance(template, Mapping):
        return ""
    params = template.get("params")
    kept = {}
    for name, value in params.items() if isinstance(params, Mapping) else ():
        is_word = isinstance(value, str) and bool(value) and not value.strip().lstrip("+-").isdecimal()
        is_word = is_word or (bool(value) and value == query_text)
        kept[name] = "text" if is_word else value
        if isinstance(value, list) and value and isinstance(value[0], float):
            kept[name] = "vector"
    return json.dumps({**template, "params": kept}, sort_keys=True, default=str)


def _explain_skipping(request: SearchRequest, key: str, value: Json) -> str:
    template = request.body["template"]
    name = f"the search template {template['id']!r}" if "id" in template else "the search template"
    return (
        f"a ranking begins at its first hit, and {name} becomes a body with `{key}`: {json.dumps(value)}, which skips "
        f"hits; give it params, or another template, that begins at the first hit"
    )
