"""The two sides of a comparison: how each is read from a file or searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness.baseline import entry_of
from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run, request_fingerprint
from harness.baseline.files import find_baseline, read_baselines
from harness.baseline.questions import UsedValues
from harness.compare.forms import Form, FormKind
from harness.config import Configs
from harness.errors import Option, UsageError
from harness.files.json import read_json_text
from harness.files.runs import read_run
from harness.gate.ties import truncate_ranking
from harness.masking import Masker
from harness.metrics import read_gain
from harness.metrics.profiles import by_score
from harness.metrics.score import failure_text
from harness.model import (
    Baseline,
    Engine,
    Failure,
    FailureKind,
    Gain,
    Hit,
    Outcome,
    Profile,
    Query,
    QueryReport,
    Question,
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
from harness.words import did_you_mean

SUITE, QRELS, REQUEST, MEASURE = Option("suite"), Option("qrels"), Option("request"), Option("measure", "measures")
"""Options of a comparison that error messages name."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """
    A side with its rankings and all that its source says about them.

    *depth* is the number of hits requested, None where the rankings are whole. *queries* have the texts, tags and
    grades of the source. *scores* are the stored ones, computed with *gain* and *profile*, None where there are none.
    *template* is a fingerprint of its request, None where that is not known. *fingerprints* of the judgments by query
    are a baseline's. *questions* are the texts and params of its queries, where they are known. *changed_questions* are
    those that differ, then and now; their responses are removed.
    """

    side: Side
    run: Run
    depth: int | None
    queries: Sequence[Query]
    scores: tuple[Score, ...] = ()
    gain: Gain | None = None
    profile: Profile | None = None
    template: str | None = None
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)


def may_share_request(reference: ComparedSide, candidate: ComparedSide) -> bool:
    """Whether the two sides are not known to have different requests: a run file does not say which it had."""
    return None in (reference.template, candidate.template) or reference.template == candidate.template


def side_of_run(name: str, kind: SideKind, suite: Suite, run: Run) -> ComparedSide:
    """
    A run of *suite*, called *name*.

    A suite without requests holds the judgments of rankings that were given in Python, which are whole.
    """
    template = suite.requests.get(run.request)
    unanswered = {query: failure_text(one) for query, one in run.responses.items() if isinstance(one, Failure)}
    if template is None:
        return ComparedSide(Side(name, kind, unanswered=unanswered), run, None, suite.queries)
    return ComparedSide(
        Side(name, kind, str(run.engine), run.request, run.index, unanswered=unanswered),
        run,
        suite.depth,
        suite.queries,
        template=request_fingerprint(suite, run.request),
        questions=read_questions(suite, UsedValues.of_run(suite, run)),
    )


RunLoaded: TypeAlias = Callable[[Suite, RunOptions, Configs], Run]
"""Runs a loaded suite, with the harness.toml files read so far; secrets are masked in the run."""

SIDE_KINDS = {FormKind.REQUEST: SideKind.REQUEST, FormKind.INDEX: SideKind.INDEX}


def live_side(form: Form, suite: Suite, options: RunOptions, configs: Configs, run: RunLoaded) -> ComparedSide:
    """
    Run *suite* as *form* says. An engine that does not answer is not an error: its queries fail.

    Raises:
        UsageError: The suite has no such request, or no cluster of that name is known.
        SuiteError: The suite is wrong.
        EngineStartError: The embedded node could not be started.
    """
    return side_of_run(str(form), SIDE_KINDS.get(form.kind, SideKind.CLUSTER), suite, run(suite, options, configs))


def side_of_report(report: SuiteReport, name: str, *, created: str) -> ComparedSide:
    """
    The side of *report*, made at the time *created*, without queries that were skipped.

    Secrets are masked in a report.
    """
    ran = [query for query in report.queries if query.outcome is not Outcome.SKIPPED]
    side = Side(
        name,
        SideKind.REPORT,
        str(report.engine),
        report.request,
        report.index,
        created,
        unanswered={query.id: query.reason for query in report.unanswered.values()},
    )
    responses = {query.id: _response(query) for query in ran}
    run = Run(responses, report.engine, report.request, report.index, target_changed=report.target_changed)
    return ComparedSide(
        side,
        run,
        report.depth,
        tuple(_query(query) for query in ran),
        tuple(score for query in ran for score in _scores(query)),
        read_gain(report.gain),
        report.profile,
        questions={query.id: Question(query.question, query.text) for query in ran},
    )


def _query(query: QueryReport) -> Query:
    return Query(query.id, query.text, tags=query.tags, judgments=_grades(query), weight=query.weight)


def _response(query: QueryReport) -> Response:
    if not query.outcome.is_unanswered:
        hits = tuple(Hit(one.id, one.score, one.title, sort=one.sort) for one in query.ranking)
        tail = tuple(replace(hits[-1], id=document, title=None) for document in query.tail if hits)
        return Ranking(
            hits,
            query.total,
            query.timing.took,
            query.total_is_lower_bound,
            query.duplicates,
            tail=tail,
            closed=query.closed,
            exact_scores=query.exact_scores,
        )
    kind = FailureKind.NOT_RUN if query.outcome is Outcome.NOT_RUN else FailureKind.ERROR
    return query.failure or Failure(kind, query.reason)


def _grades(query: QueryReport) -> dict[str, float]:
    """The grades in the report: of hits, of the ideal ranking and of relevant documents that were not found."""
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


def baseline_side(name: str, path: Path | None, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    The side of the baseline at *path*, or of that of *suite* where it is None.

    Raises:
        BaselineError: The baseline does not exist, cannot be read, contradicts itself, is another suite's, or has no
            entry of the request.
        UsageError: It has several entries and *request* does not say which.
    """
    if suite is not None:
        file = find_baseline(suite.path, suite.roots, path)
        found = read_baselines(file)
        usual = found.requests if len(found.requests) == 1 else suite.requests
        chosen = request or next(iter(usual))
        return side_of_baseline(name, entry_of(found, file, suite, chosen), chosen, suite)
    assert path is not None
    entries = read_baselines(path).requests
    chosen = _choose(name, entries, request)
    refuse_contradictions(entries[chosen], path.as_posix(), chosen)
    return side_of_baseline(name, entries[chosen], chosen)


def _choose(name: str, known: Iterable[str], request: str | None) -> str:
    names = sorted(known)
    if request is None and len(names) == 1:
        return names[0]
    if request in names:
        return str(request)
    if request is None:
        raise UsageError(f"{name} holds the requests {', '.join(names)}; say which with ", REQUEST)
    raise UsageError(
        f"{name} holds no request {request!r}, only {', '.join(names) or 'none'}{did_you_mean(request, names)}"
    )


def side_of_baseline(name: str, entry: Baseline, request: str, suite: Suite | None = None) -> ComparedSide:
    """The side of *entry*, the baseline of *request*, called *name*; *suite* is its suite as it is today."""
    used = UsedValues(None) if suite is None else UsedValues.of_all(suite)
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
        questions={query: used.read_question(kept) for query, kept in entry.queries.items()},
    )


def report_side(form: Form, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    The side of one suite of the JSON report that *form* names.

    Raises:
        FormatError: The file is not a report.
        UsageError: The report does not hold the suite, or several of its suites match.
    """
    from harness.report.json import loads_report

    report = loads_report(_text(Path(form.value)), path=form.value)
    found = _choose_report(form, report, suite, request)
    return side_of_report(found, str(form), created=report.timing.created)


def _text(path: Path) -> str:
    try:
        return read_json_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def _choose_report(form: Form, report: Report, suite: Suite | None, request: str | None) -> SuiteReport:
    name = suite and Masker(suite.variables).mask(suite.name)  # as a report has it
    of_suite = [one for one in report.suites if suite is None or one.name == name]
    fitting = [one for one in of_suite if request is None or one.request == request]
    fitting = [one for one in fitting if form.index is None or one.index == form.index]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(f"{one.name} ({_which(one)})" for one in report.suites) or "no suite"
    given = (("suite", suite and suite.name), ("request", request), ("index", form.index))
    named = [f"the {what} {value!r}" for what, value in given if value is not None]
    file = replace(form, index=None)
    if not fitting:
        indexes = [one.index for one in of_suite if one.index]
        guess = "" if form.index is None or form.index in indexes else did_you_mean(form.index, indexes)
        raise UsageError(f"{file} does not hold {' and '.join(named) or 'a suite'}; it holds {known}{guess}")
    choices: list[Option | str] = []
    if len({one.name for one in fitting}) > 1:
        choices.append(SUITE)
    if len({one.request for one in fitting}) > 1:
        choices.append(REQUEST)
    if len({one.index for one in fitting}) > 1:
        choices.append(f"a side such as {file}#{next(one.index for one in fitting if one.index)}")
    several = f"{file} has several possible entries: {known}"
    if not choices:
        raise UsageError(f"{several}; nothing tells them apart, so write each to a report of its own")
    joined = [part for choice in choices for part in (" and ", choice)][1:]
    raise UsageError(f"{several}; ", *joined, " say which" if len(choices) > 1 else " says which")


def _which(report: SuiteReport) -> str:
    return f"request {report.request}" + (f" on {report.index}" if report.index else "")


def run_side(name: str, path: Path, profile: Profile) -> ComparedSide:
    """
    The side of a run file: documents by score, the highest first, equal ones in the order of
    `harness.files.runs.evaluate_files`.

    Raises:
        FormatError: The file is wrong; holds all its problems.
        UsageError: It needs a package that is not installed.
    """
    rankings = {}
    for query, stored in read_run(path).items():
        scores = dict(zip(stored.documents, stored.scores, strict=True))
        trec = profile is Profile.TREC
        documents: Sequence[str] = by_score(stored.documents, stored.scores) if trec else stored.in_order()
        hits = tuple(Hit(document, scores[document]) for document in documents)
        rankings[query] = Ranking(hits, exact_scores=True)
    run = Run(rankings, Engine("run"), "run")
    return ComparedSide(Side(name, SideKind.RUN), run, None, tuple(Query(query, query) for query in rankings))


def cut_at(run: Run, depth: int | None) -> Run:
    """*run* with no more than *depth* hits of each query."""
    if depth is None:
        return run
    responses = run.responses.items()
    return replace(
        run, responses={q: truncate_ranking(one, depth) if isinstance(one, Ranking) else one for q, one in responses}
    )


def with_empty(one: ComparedSide, queries: Iterable[str]) -> ComparedSide:
    """*one* with those of *queries* that it lacks, as empty rankings; only for run files, which cannot hold these."""
    absent = [query for query in queries if query not in one.run.responses]
    if one.side.kind is not SideKind.RUN or not absent:
        return one
    run = replace(one.run, responses={**one.run.responses, **{query: Ranking() for query in absent}})
    return replace(one, run=run, queries=(*one.queries, *(Query(query, query) for query in absent)))


def read_questions(suite: Suite, used: UsedValues) -> dict[str, Question]:
    """What is *used* of each query of *suite*; nothing for a suite without requests, which only holds judgments."""
    masker = Masker(suite.variables)
    return {query.id: used.question(query, masker) for query in suite.queries} if suite.requests else {}
