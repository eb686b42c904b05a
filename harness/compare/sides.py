"""The two that are compared: how each is read from a file or run on an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run, request_fingerprint
from harness.baseline.files import baseline_path, read_baselines
from harness.baseline.reference import read_entry
from harness.compare.forms import Form, FormKind
from harness.errors import UsageError, did_you_mean
from harness.files.runs import read_run
from harness.gate.ties import cut, leaves_ties
from harness.metrics import read_gain
from harness.metrics.profiles import by_score
from harness.metrics.run_scores import failure_text, read_failure, score_run
from harness.model import (
    Baseline,
    Engine,
    Failure,
    Gain,
    Hit,
    Outcome,
    Profile,
    Query,
    QueryReport,
    Question,
    RankedDocument,
    Ranking,
    Report,
    Response,
    Run,
    Score,
    Side,
    SideKind,
    Suite,
    SuiteReport,
)
from harness.options import RunOptions
from harness.run.execution import FinishedSuite

__all__ = [
    "ComparedSide",
    "SuiteRunner",
    "baseline_side",
    "contender_of",
    "contender_of_rankings",
    "cut_at",
    "live_side",
    "of_run",
    "options_of",
    "report_side",
    "run_side",
    "with_empty",
]


# One of the two that are compared, whatever it was read from or run on. Pure.


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """
    A side with its rankings, and all that it knows by itself.

    *depth* is how many hits were asked for, None where the rankings are whole. *queries* have the texts, tags and
    grades that it holds. *scores* are as it holds them, made with *gain* and *profile*, None where it has none.
    *template* is a fingerprint of its request, None where that is not known; *orders_ties* says that the request puts
    documents of equal score in an order of its own. *fingerprints* of the judgments by query are a baseline's.
    *questions* are what its queries asked, where that is known. *changed_questions* are what it was asked and what is
    asked now; its answers to the former are taken from it.
    """

    side: Side
    run: Run
    depth: int | None
    queries: tuple[Query, ...]
    scores: tuple[Score, ...] = ()
    gain: Gain | None = None
    profile: Profile | None = None
    template: str | None = None
    orders_ties: bool = False
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)


def contender_of_rankings(suite: Suite, run: Run, name: str) -> ComparedSide:
    """The rankings of *run*, scored in Python and whole, with the judgments of *suite*, called *name*."""
    unanswered = {query: failure_text(one) for query, one in run.responses.items() if isinstance(one, Failure)}
    side = Side(name, SideKind.PYTHON, unanswered=unanswered)
    return ComparedSide(side, run, None, suite.queries, score_run(suite, run), suite.gain, suite.profile)


def cut_at(run: Run, depth: int | None) -> Run:
    """*run* with no more than *depth* hits of each query."""
    return run if depth is None else replace(run, responses={q: _cut(r, depth) for q, r in run.responses.items()})


def with_empty(one: ComparedSide, queries: Iterable[str]) -> ComparedSide:
    """*one* with those of *queries* that it does not hold, without hits; only a run file cannot hold such itself."""
    absent = [query for query in queries if query not in one.run.responses]
    if one.side.kind is not SideKind.RUN or not absent:
        return one
    run = replace(one.run, responses={**one.run.responses, **{query: Ranking() for query in absent}})
    return replace(one, run=run, queries=(*one.queries, *(Query(query, query) for query in absent)))


def _cut(response: Response, depth: int) -> Response:
    return cut(response, depth) if isinstance(response, Ranking) else response


# A report on one suite, be it read from a file or made just now, as one of the two that are compared. Pure.


def contender_of(report: SuiteReport, name: str, kind: SideKind, *, created: str = "") -> ComparedSide:
    """
    What *report* tells of its run; a query that was skipped is not in it.

    Args:
        report: Of one suite; secrets are masked in it.
        name: What the side is called.
        kind: What it came from.
        created: When it was made, where that is not now.
    """
    ran = [query for query in report.queries if query.outcome is not Outcome.SKIPPED]
    side = Side(
        name,
        kind,
        str(report.engine),
        report.request,
        report.index,
        created,
        unanswered={query.id: query.reason for query in ran if query.outcome.is_unanswered},
    )
    run = Run({query.id: _response(query) for query in ran}, report.engine, report.request, report.index)
    return ComparedSide(
        side,
        run,
        report.depth,
        tuple(_query(query) for query in ran),
        tuple(score for query in ran for score in _scores(query)),
        read_gain(report.gain),
        report.profile,
        orders_ties=any(_orders_ties(query.ranking) for query in ran),
        questions={query.id: Question(query.question, query.text) for query in ran},
    )


def _query(query: QueryReport) -> Query:
    return Query(query.id, query.text, tags=query.tags, judgments=_grades(query), weight=query.weight)


def _response(query: QueryReport) -> Response:
    if not query.outcome.is_unanswered:
        hits = tuple(Hit(document.id, document.score, document.title) for document in query.ranking)
        tail = tuple(Hit(document, hits[-1].score) for document in query.tail if hits)
        return Ranking(
            hits, query.total, query.took, query.total_is_lower_bound, query.duplicates, tail=tail, closed=query.closed
        )
    return read_failure(query.reason)


def _grades(query: QueryReport) -> dict[str, float]:
    """Those that the report shows: of hits, of the ideal ranking and of relevant documents that were not found."""
    ranked = {document.id: document.grade for document in (*query.ideal, *query.ranking)}
    missing = {document.id: document.grade for document in query.missing}
    return {document: grade for document, grade in (ranked | missing).items() if grade is not None}


def _scores(query: QueryReport) -> list[Score]:
    without = query.outcome if query.outcome.is_unanswered else Outcome.UNDEFINED
    scored = Outcome.SCORED if query.ranking else Outcome.ZERO_HITS
    return [
        Score(query.id, measure, value, without if value is None else scored, query.reason)
        for measure, value in query.scores.items()
    ]


def _orders_ties(ranking: Sequence[RankedDocument]) -> bool:
    """Whether neighbours of equal score are not shown as tied: then the request had put them in order."""
    return any(
        first.score is not None and first.score == second.score and not first.tied
        for first, second in pairwise(ranking)
    )


# Sides that stand in files: baselines, JSON reports, run files.


def baseline_side(name: str, path: Path | None, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    A baseline: *path*, or that of *suite* where it is None.

    Raises:
        BaselineError: It is not there, cannot be read, contradicts itself, is another suite's, or has no entry of the
            request.
        UsageError: It has several entries and *request* does not say which.
    """
    if suite is not None:
        chosen = request or _request_of(path or baseline_path(suite.path), suite)
        return _of_baseline(name, read_entry(suite, chosen, path), chosen)
    assert path is not None
    entries = read_baselines(path).requests
    chosen = _choose(name, entries, request)
    refuse_contradictions(entries[chosen], path.as_posix(), chosen)
    return _of_baseline(name, entries[chosen], chosen)


def _request_of(path: Path, suite: Suite) -> str:
    """The only entry there is, else the suite's first request."""
    entries = read_baselines(path).requests
    return next(iter(entries)) if len(entries) == 1 else next(iter(suite.requests))


def _choose(name: str, known: Iterable[str], request: str | None) -> str:
    names = sorted(known)
    if request is None and len(names) == 1:
        return names[0]
    if request in names:
        return str(request)
    if request is None:
        raise UsageError(f"{name} holds the requests {', '.join(names)}; say which with --request")
    raise UsageError(
        f"{name} holds no request {request!r}, only {', '.join(names) or 'none'}{did_you_mean(request, names)}"
    )


def _of_baseline(name: str, entry: Baseline, request: str) -> ComparedSide:
    run = as_run(entry, request, depth=entry.depth)
    side = Side(name, SideKind.BASELINE, entry.engine, request, created=entry.created)
    scores = (
        Score(query, measure, value, Outcome.UNDEFINED if value is None else kept.outcome)
        for query, kept in entry.queries.items()
        for measure, value in kept.scores.items()
    )
    return ComparedSide(
        side,
        run,
        entry.depth,
        tuple(Query(query, kept.text, weight=kept.weight) for query, kept in entry.queries.items()),
        tuple(scores),
        read_gain(entry.gain),
        entry.profile,
        template=entry.template or None,
        fingerprints={query: kept.judgments for query, kept in entry.queries.items()},
        questions={query: Question(one.question, one.text, one.params) for query, one in entry.queries.items()},
    )


def report_side(name: str, path: Path, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    One suite of a JSON report.

    Raises:
        FormatError: The file is no report.
        UsageError: It does not hold the suite, or holds several that could be meant.
    """
    from harness.report.json import loads_report

    report = loads_report(_text(path), path=str(path))
    found = _choose_report(name, report, suite, request)
    return contender_of(found, name, SideKind.REPORT, created=report.created)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def _choose_report(name: str, report: Report, suite: Suite | None, request: str | None) -> SuiteReport:
    of_suite = [one for one in report.suites if suite is None or one.name == suite.name]
    fitting = [one for one in of_suite if request is None or one.request == request]
    if len(fitting) == 1:
        return fitting[0]
    held = ", ".join(f"{one.name} ({_which(one)})" for one in report.suites) or "no suite"
    wanted = " and ".join(
        f"the {what} {value!r}"
        for what, value in (("suite", suite and suite.name), ("request", request))
        if value is not None
    )
    if not fitting:
        raise UsageError(f"{name} does not hold {wanted or 'a suite'}; it holds {held}")
    which = "--request says which" if len({one.request for one in fitting}) == len(fitting) else "--suite says which"
    raise UsageError(f"{name} holds several that could be meant: {held}; {which}")


def _which(report: SuiteReport) -> str:
    return f"request {report.request}" + (f" on {report.index}" if report.index else "")


def run_side(name: str, path: Path, profile: Profile) -> ComparedSide:
    """
    A run file: documents by their score, the highest first, equal ones as `harness.files.scored_runs.evaluate_files`
    orders them.

    Raises:
        FormatError: The file is wrong; holds all its problems.
        UsageError: It needs a package that is not installed.
    """
    rankings = {}
    for query, stored in read_run(path).items():
        scores = dict(zip(stored.documents, stored.scores, strict=True))
        trec = profile is Profile.TREC
        documents: Sequence[str] = by_score(stored.documents, stored.scores) if trec else stored.in_order()
        rankings[query] = Ranking(tuple(map(Hit, documents, map(scores.__getitem__, documents))))
    run = Run(rankings, Engine("run"), "run")
    return ComparedSide(Side(name, SideKind.RUN), run, None, tuple(Query(query, query) for query in rankings))


# Sides that have to be asked: a request, an index, a cluster or the embedded engine, each through the pipeline.


SuiteRunner: TypeAlias = Callable[[Path, RunOptions], FinishedSuite]
"""Runs the suite at a path."""

SIDE_KINDS = {FormKind.REQUEST: SideKind.REQUEST, FormKind.INDEX: SideKind.INDEX}


def options_of(form: Form, options: RunOptions, request: str | None) -> RunOptions:
    """
    What *form* asks for, beside what holds for both sides.

    Args:
        form: A live one.
        options: Of both sides.
        request: The request that an index or a cluster is asked with; the suite's first where None.
    """
    if form.kind is FormKind.REQUEST:
        return replace(options, request=form.value)
    options = replace(options, request=request or options.request)
    if form.kind is FormKind.INDEX:
        return replace(options, index=form.value)
    elsewhere = replace(options, url=None, cluster=None, embedded=False, engine_version=None, client=None)
    if form.kind is FormKind.EMBEDDED:
        return replace(elsewhere, embedded=True, engine_version=form.value or None)
    if "://" in form.value:
        return replace(elsewhere, url=form.value)
    return replace(elsewhere, cluster=form.value)


def live_side(form: Form, suite: Suite, options: RunOptions, run: SuiteRunner) -> ComparedSide:
    """
    Run *suite* as *form* has it. An engine that does not answer is no error: its queries are unanswered.

    Raises:
        UsageError: The suite has no such request, or no cluster of that name is known.
        SuiteError: The suite is wrong.
        EngineStartError: The embedded node could not be started.
    """
    report = run(Path(suite.path), options).report
    return of_run(suite, report, str(form), SIDE_KINDS.get(form.kind, SideKind.CLUSTER))


def of_run(suite: Suite, report: SuiteReport, name: str, kind: SideKind) -> ComparedSide:
    """What *report* tells of a run of *suite* that was made just now, whose request is known."""
    template = suite.requests.get(report.request)
    return replace(
        contender_of(report, name, kind),
        template=request_fingerprint(suite, report.request),
        orders_ties=template is not None and not leaves_ties(template),
    )
