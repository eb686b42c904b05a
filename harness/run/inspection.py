"""One query of a suite, run alone by the same composition, and everything to show of it. Nothing is decided."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness import __version__
from harness.config import Configs
from harness.errors import UsageError
from harness.gate.ties import group_ties
from harness.metrics import parse_measure
from harness.metrics.measures import DEFAULT_MEASURE, measures_of
from harness.metrics.run_scores import contributions_of
from harness.model.inspection import Explanation, QueryInspection, TiedDocuments
from harness.model.report import QueryReport
from harness.model.request import Cluster, Route, SearchRequest, SentRequest
from harness.model.run import Ranking
from harness.model.suite import Suite, get_other_request
from harness.model.timing import ReportTiming
from harness.options import RunOptions
from harness.redaction import redact
from harness.run import Runner
from harness.run.cell import AnsweredCell, conclude_cell
from harness.search.dialects import find_dialect
from harness.search.score_parts import find_part_differences
from harness.words import did_you_mean


def inspect_query(
    path: Path, query: str, options: RunOptions, *, environ: Mapping[str, str], documents: Sequence[str] = ()
) -> QueryInspection:
    """
    Run one query of a suite, as a run of the suite would, and return everything to show of it.

    Args:
        path: The suite's file.
        query: The id of the query. A skip of it does not count.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        documents: The documents whose scores are explained, at most two.

    Raises:
        InputError: the suite or relevance.toml is wrong.
        UsageError: the suite has no such query or request, an option cannot be met, or documents are to be explained by
            an HTTP service.
        EngineStartError: the embedded node could not be started.
    """
    from harness.suites import load_suite

    configs = Configs.from_options(options, environ)
    suite = _remove_thresholds(load_suite(path, environ, needs_judgments=False, configs=configs), query)
    options = replace(options, tails=True, queries=(query,))
    if documents and not find_dialect(suite.find_target(options.request).service).explains_scores:
        raise UsageError(f"{suite.path}: an HTTP service does not explain scores; only an engine does")
    with (
        Runner(environ) as runner,
        closing(runner.answer_whole([suite], options, configs=configs)) as answered_cells,
    ):
        return _inspect(next(answered_cells), environ, documents)


def _remove_thresholds(suite: Suite, query: str) -> Suite:
    """
    *suite* with only the measures of *query*, without waivers, and without thresholds but those that compare *query*
    with another request, of which hits that it misses are shown.
    """
    by_id = {known.id: known for known in suite.queries}
    if query not in by_id:
        raise UsageError(f"{suite.path}: no query has the id {query!r}{did_you_mean(query, by_id)}")
    shown = by_id[query]
    compared = [
        replace(threshold, tag=None, xfail=None, skip=None)
        for threshold in (*suite.thresholds, *shown.thresholds)
        if get_other_request(threshold.condition) is not None and threshold.tag in (None, *shown.tags)
    ]
    kept = {query: () if shown.nothing else tuple(compared)}
    return replace(
        suite,
        queries=tuple(
            replace(known, thresholds=kept.get(known.id, ()), xfail=None, skip=None) for known in suite.queries
        ),
        measures=measures_of(suite, shown) or (parse_measure(DEFAULT_MEASURE),),
        thresholds=(),
    )


def _inspect(answered: AnsweredCell, environ: Mapping[str, str], documents: Sequence[str]) -> QueryInspection:
    from harness.run.sent_requests import rebuild_requests

    suite = answered.cell.selection.selected
    [query] = suite.queries
    report = conclude_cell(answered, inspected=query.id).report
    response = answered.mask_run().responses[query.id]
    ranking = response if isinstance(response, Ranking) else None
    [request] = rebuild_requests(suite, answered.run, answered.cell.options.hooks, answered.sent)
    explanations: tuple[Explanation, ...] = ()
    if ranking is not None:
        explanations = _explain_documents(answered, request, report.queries[0], documents)
    has_two = len(explanations) == 2 and all(explanation.parts for explanation in explanations)
    return QueryInspection(
        timing=ReportTiming(datetime.now(UTC).isoformat(timespec="seconds")),
        harness=__version__,
        suite=report.name,
        path=report.path,
        request=report.request,
        cluster=report.cluster,
        index=report.index,
        engine=report.engine,
        query=report.queries[0],
        sent=_describe_request(answered, request, environ),
        contributions=None if ranking is None or query.nothing else contributions_of(suite, query, ranking),
        ties=() if ranking is None else _list_ties(ranking),
        explanations=explanations,
        differences=find_part_differences(explanations[0].parts, explanations[1].parts) if has_two else (),
        baseline=report.baseline,
        checks=report.checks,
        notes=report.notes,
    )


def _list_ties(ranking: Ranking) -> tuple[TiedDocuments, ...]:
    return tuple(
        TiedDocuments(group.start + 1, group.hit.score, group.shown, group.below, group.closed, group.hit.sort)
        for group in group_ties(ranking)
        if len(group.documents) > 1
    )


def _explain_documents(
    answered: AnsweredCell, request: SearchRequest, query: QueryReport, documents: Sequence[str]
) -> tuple[Explanation, ...]:
    search = answered.search
    if not documents or search is None:
        return ()
    ranks = {missing.id: missing.rank for missing in query.missing}
    judged = answered.cell.selection.selected.queries[0].judgments
    ranking = [document.id for document in query.ranking]
    explanations = []
    for explanation in search.inspector.explain(request, documents, ranking=ranking, known=judged):
        if not explanation.rank:
            explanation = replace(explanation, rank=ranks.get(explanation.document))
        explanations.append(redact(explanation, answered.cell.masker.mask))
    return tuple(explanations)


# The request as it is sent.


def _describe_request(answered: AnsweredCell, request: SearchRequest, environ: Mapping[str, str]) -> SentRequest:
    suite = answered.cell.selection.selected
    cluster = answered.cell.server or Cluster(answered.cluster)
    sent = find_dialect(suite.target.service).describe(request, cluster)
    masker = answered.cell.masker
    names = {*suite.variables, *cluster.variables}
    login_headers = _refer_to_headers(cluster)
    # Read before values are masked: from then on a text of the suite looks like a value.
    texts = {"url": sent.url, "body": json.dumps(sent.body, ensure_ascii=False)}
    texts |= {header: text for header, text in sent.headers.items() if header not in login_headers}
    verbatim = tuple(part for part, text in texts.items() if any(f"${{{name}}}" in text for name in names))
    url, body = masker.mask(sent.url), masker.mask_json(sent.body)
    headers = {name: masker.mask(value) for name, value in sent.headers.items()} | login_headers
    login = _refer_to_login(cluster.username_env, cluster.password_env)
    route = Route(
        client_cert=cluster.client_cert or "",
        client_key=cluster.client_key or "",
        client_key_password=f"${{{cluster.client_key_password_env}}}" if cluster.client_key_password_env else "",
        proxy=cluster.proxy or "",
        proxy_login=_refer_to_login(cluster.proxy_username_env, cluster.proxy_password_env),
        verify_certs=cluster.verify_certs,
    )
    filled = f"{url} {headers} {body} {login} {route.proxy_login} {route.client_key_password}"
    encoded = cluster.api_key_env if ":" in environ.get(cluster.api_key_env or "", "") else None
    return replace(
        sent,
        url=url,
        headers=headers,
        body=body,
        login=login,
        ca_certs=cluster.ca_certs or "",
        fingerprint=cluster.fingerprint or "",
        route=None if route == Route() else route,
        variables=tuple(sorted(name for name in names if "${" + name + "}" in filled)),
        encoded=(encoded,) if encoded else (),
        verbatim=verbatim,
    )


def _refer_to_login(user: str | None, password: str | None) -> str:
    return f"${{{user}}}:${{{password}}}" if user else ""


def _refer_to_headers(cluster: Cluster) -> dict[str, str]:
    """The headers of the cluster, with the names of variables in place of their values."""
    headers: dict[str, str] = {}
    if cluster.host:
        headers["host"] = cluster.host
    for header, name in cluster.headers_env.items():
        headers[header.lower()] = f"${{{name}}}"
    if cluster.username_env:
        # curl makes the header of the user and the password.
        headers.pop("authorization", None)
    if cluster.api_key_env:
        headers["authorization"] = f"ApiKey ${{{cluster.api_key_env}}}"
    elif cluster.bearer_token_env:
        headers["authorization"] = f"Bearer ${{{cluster.bearer_token_env}}}"
    return headers
