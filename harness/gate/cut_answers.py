"""
Answers with fewer hits than were requested and match: the ranking is cut, or does not begin at its first hit.

A search template, a service or a pipeline may skip the best hits by itself, which no threshold can see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gate.decide_answers import RequestedDepth, describe_incomplete_hits
from harness.gate.finding import Finding
from harness.model.run import Ranking, Run, Status
from harness.model.suite import Json, Query, RequestTemplate, Suite
from harness.words import count, listed

LIMITING_KEYS = frozenset(
    {
        "collapse", "hybrid", "min_score", "post_filter", "rank", "rescore", "retriever", "search_pipeline",
        "terminate_after",
    }
)  # fmt: skip
"""Keys of a body that may return fewer hits than it counts, beginning at the first: groups, windows, filters."""


def may_limit_hits(body: Json) -> bool:
    """
    Whether *body*, or the text of the source of a search template, has one of `LIMITING_KEYS`.

    >>> may_limit_hits({"query": {"match_all": {}}, "collapse": {"field": "brand"}}), may_limit_hits('{"from": 2}')
    (True, False)
    """
    text = body if isinstance(body, str) else json.dumps(body)
    return any(f'"{key}"' in text for key in LIMITING_KEYS)


def find_cut_answers(suite: Suite, run: Run) -> dict[str, Ranking]:
    """The rankings of *run* with fewer hits than were requested and match, by query; none where a body limits them."""
    template = suite.requests.get(run.request)
    if template is None or run.limits_hits:
        return {}
    cut = {}
    for query, response in run.responses.items():
        if not isinstance(response, Ranking) or not response.returned or response.stopped_early:
            continue
        if response.total is None or response.total_is_lower_bound:
            continue
        if response.returned < min(suite.depth, response.total):
            cut[query] = response
    return {} if cut and _has_limit(template) else cut


def _has_limit(template: RequestTemplate) -> bool:
    """Whether a request to an engine may return fewer hits than match by what it says itself."""
    if template.http is not None:
        return False
    if may_limit_hits(template.body) or "search_pipeline" in template.url_params:
        return True
    if not isinstance(template.body, Mapping):
        return False
    search_template = template.body.get("template")
    if not isinstance(search_template, Mapping):
        return False
    # A source that is written as a text: its quotes are escaped in the JSON of the body.
    source = search_template.get("source")
    return isinstance(source, str) and may_limit_hits(source)


def describe_cut_answers(cut: Mapping[str, Ranking], depth: int) -> str:
    """*cut* in a sentence, where *depth* hits were requested."""
    examples = [f"{query} ({count(ranking.returned, 'hit')} of {ranking.total})" for query, ranking in cut.items()]
    return (
        f"fewer hits were returned than match, where {depth} were requested, so that a ranking is cut, or does not "
        f"begin at its first hit: {listed(examples)}"
    )


def add_cut_answers(
    finding: Finding, queries: Sequence[Query], cut: Mapping[str, Ranking], requested: RequestedDepth
) -> Finding:
    """*finding* on *queries* with those of their answers that are in *cut*; a pass is weak evidence then."""
    if finding.status not in (Status.PASSED, Status.FAILED):
        return finding
    cut_in_scope = {}
    for query in queries:
        if query.id not in cut:
            continue
        # The reason of a failure already says so of an answer that other hits may follow.
        if finding.status is Status.FAILED and describe_incomplete_hits(cut[query.id], requested):
            continue
        cut_in_scope[query.id] = cut[query.id]
    if not cut_in_scope:
        return finding
    sentence = describe_cut_answers(cut_in_scope, requested.depth)
    finding = replace(finding, reason=f"{finding.reason}; {sentence}")
    if finding.status is not Status.PASSED:
        return finding
    caveat = sentence
    if finding.caveat:
        caveat = f"{finding.caveat}; {sentence}"
    return replace(finding, caveat=caveat)
