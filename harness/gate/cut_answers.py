"""
Answers with fewer hits than were requested and match: the ranking is cut, or does not begin at its first hit.

A search template, a service or a pipeline may skip the best hits by itself, which no threshold can see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gate.decide_answers import RequestedDepth, explain_what_may_follow
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
    if template is None or run.limits_hits or _has_limit(template):
        return {}
    cut = {}
    for query, response in run.responses.items():
        if not isinstance(response, Ranking) or not response.returned or response.stopped_early:
            continue
        if response.total is None or response.total_is_lower_bound:
            continue
        if response.returned < min(suite.depth, response.total):
            cut[query] = response
    return cut


def _has_limit(template: RequestTemplate) -> bool:
    if template.http is not None:
        return False
    if may_limit_hits(template.body) or "search_pipeline" in template.url_params:
        return True
    search_template = template.body.get("template") if isinstance(template.body, Mapping) else None
    source = search_template.get("source") if isinstance(search_template, Mapping) else None
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
    of_queries = {query.id: cut[query.id] for query in queries if query.id in cut}
    if finding.status is Status.FAILED:
        # Its reason has what may follow such an answer.
        of_queries = {
            query: ranking for query, ranking in of_queries.items() if not explain_what_may_follow(ranking, requested)
        }
    if not of_queries:
        return finding
    sentence = describe_cut_answers(of_queries, requested.depth)
    caveat = finding.caveat
    if finding.status is Status.PASSED:
        caveat = f"{caveat}; {sentence}" if caveat else sentence
    return replace(finding, reason=f"{finding.reason}; {sentence}", caveat=caveat)
