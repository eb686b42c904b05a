"""
The two sides of a comparison: how they are written, and how each is read from a file or searched.

On a command line and in Python a side is written as one of::

    baseline  baseline:FILE  report:FILE  run:FILE  request:NAME  index:NAME  cluster:NAME-or-URL  embedded[:VERSION]

A URL, and a file whose kind is clear from its name or content, need no word before them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from harness.baseline import entry_of
from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run, request_fingerprint
from harness.baseline.files import baseline_path, read_baselines
from harness.config import Configs
from harness.errors import Option, UsageError
from harness.files.runs import read_run
from harness.gate.ties import cut, leaves_ties
from harness.masking import Masker, question_of
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
from harness.words import did_you_mean, nearest

# Forms.


SUITE, QRELS, REQUEST, MEASURE = Option("suite"), Option("qrels"), Option("request"), Option("measure", "measures")
"""Options of a comparison that error messages name."""

FORMS = (
    "baseline, baseline:FILE, report:FILE, run:FILE, request:NAME, index:NAME, cluster:NAME, cluster:URL, embedded "
    "or embedded:VERSION"
)
RUN_SUFFIXES = (".run", ".trec", ".csv", ".jsonl", ".ndjson", ".parquet")
PACKED = (".gz", ".zst")


class FormKind(StrEnum):
    """The word before the colon."""

    BASELINE = "baseline"
    REPORT = "report"
    RUN = "run"
    REQUEST = "request"
    INDEX = "index"
    CLUSTER = "cluster"
    EMBEDDED = "embedded"


KINDS = {str(kind): kind for kind in FormKind}
OF_FILES = (FormKind.BASELINE, FormKind.REPORT, FormKind.RUN)
ALONE = (FormKind.BASELINE, FormKind.EMBEDDED)
"""The kinds that may be written without a colon."""


@dataclass(frozen=True, slots=True)
class Form:
    """
    A side as written: *value* is the file, the name, the URL or the version; empty for a word without a colon.

    >>> str(Form(FormKind.REQUEST, "candidate"))
    'request:candidate'
    """

    kind: FormKind
    value: str = ""

    @property
    def is_live(self) -> bool:
        """Whether an engine or a service is searched, instead of a file read."""
        return self.kind not in OF_FILES

    def options(self, options: RunOptions, request: str | None) -> RunOptions:
        """
        The options of this side, which is live: those of both sides with its own.

        Args:
            options: The options of both sides.
            request: The request that an index or a cluster is searched with; the suite's first where None.
        """
        if self.kind is FormKind.REQUEST:
            return replace(options, request=self.value)
        options = replace(options, request=request or options.request)
        if self.kind is FormKind.INDEX:
            return replace(options, index=self.value)
        elsewhere = replace(options, url=None, cluster=None, embedded=False, engine_version=None, client=None)
        if self.kind is FormKind.EMBEDDED:
            return replace(elsewhere, embedded=True, engine_version=self.value or None)
        if "://" in self.value:
            return replace(elsewhere, url=self.value)
        return replace(elsewhere, cluster=self.value)

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else str(self.kind)


def read_form(text: str, *, requests: Iterable[str] = ()) -> Form:
    """
    Read a side from *text*.

    Args:
        text: As the user gave it.
        requests: Names of the suite's requests, for a hint.

    Raises:
        UsageError: It is none of the forms; suggests those that would fit.
    """
    word, colon, value = text.partition(":")
    if "://" in text and word in ("http", "https"):
        return Form(FormKind.CLUSTER, text)
    kind = KINDS.get(word)
    if kind is not None and (value or (not colon and kind in ALONE)):
        return _checked(Form(kind, value))
    if kind is not None:
        raise UsageError(f"found {text!r}, expected {_with_value(kind)}")
    if Path(text).is_file():
        return Form(_kind_of(Path(text)), text)
    raise UsageError(f"found {text!r}, which is {_guess(text, word, colon, value, list(requests))}; expected {FORMS}")


def _checked(form: Form) -> Form:
    path = Path(form.value)
    if form.value and not form.is_live and (path.is_dir() or not path.exists()):  # a pipe is there, and no regular file
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{form}: the file {form.value} {what}")
    return form


def _with_value(kind: FormKind) -> str:
    names = {FormKind.CLUSTER: "NAME or cluster:URL", FormKind.EMBEDDED: "VERSION, or embedded alone"}
    usual = "FILE" if kind in OF_FILES else "NAME"
    return f"{kind}:{names.get(kind, usual)}"


def _kind_of(path: Path) -> FormKind:
    """The kind of a file: by its members if it is JSON, by its name if that ends like a run file's; else unknown."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in PACKED]
    if suffixes[-1:] == [".json"]:
        members = _members(path)
        if {"suites", "exit_status"} <= members:
            return FormKind.REPORT
        if {"suite", "requests"} <= members:
            return FormKind.BASELINE
        raise UsageError(
            f"{path} is neither a JSON report of harness run nor a baseline; write report:{path} or baseline:{path}"
        )
    if suffixes and suffixes[-1] in RUN_SUFFIXES:
        return FormKind.RUN
    raise UsageError(
        f"the name of {path} does not determine its type; write run:{path}, report:{path} or baseline:{path}"
    )


def _members(path: Path) -> frozenset[str]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}") from None
    return frozenset(raw) if isinstance(raw, dict) else frozenset()


def _guess(text: str, word: str, colon: str, value: str, requests: list[str]) -> str:
    """Suggestions for what *text* may have been meant to be."""
    if colon:
        meant = nearest(word, FormKind)
        guess = f"; did you mean {f'{meant}:{value}'!r}?" if meant else ""
        return f"neither a known form nor a file{guess}"
    if text in requests:
        return f"no file; the request of that name is 'request:{text}'"
    meant = nearest(text, requests)
    if meant:
        return f"no file; did you mean 'request:{meant}'?"
    return f"no file{did_you_mean(text, ALONE)}"


# Sides.


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """
    A side with its rankings and all that its source says about them.

    *depth* is the number of hits requested, None where the rankings are whole. *queries* have the texts, tags and
    grades of the source. *scores* are the stored ones, computed with *gain* and *profile*, None where there are none.
    *template* is a fingerprint of its request, None where that is not known; *orders_ties* says that the request itself
    orders documents of equal score. *fingerprints* of the judgments by query are a baseline's. *questions* are the
    texts and params of its queries, where they are known. *changed_questions* are those that differ, then and now;
    their responses are removed.
    """

    side: Side
    run: Run
    depth: int | None
    queries: Sequence[Query]
    scores: tuple[Score, ...] = ()
    gain: Gain | None = None
    profile: Profile | None = None
    template: str | None = None
    orders_ties: bool = False
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)


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
        orders_ties=not leaves_ties(template),
        questions=questions_of(suite),
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
            hits,
            query.total,
            query.timing.took,
            query.total_is_lower_bound,
            query.duplicates,
            tail=tail,
            closed=query.closed,
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


def _orders_ties(ranking: Sequence[RankedDocument]) -> bool:
    """Whether neighbours of equal score are not marked as tied: the request then orders them itself."""
    return any(
        first.score is not None and first.score == second.score and not first.tied
        for first, second in pairwise(ranking)
    )


def baseline_side(name: str, path: Path | None, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    The side of the baseline at *path*, or of that of *suite* where it is None.

    Raises:
        BaselineError: The baseline does not exist, cannot be read, contradicts itself, is another suite's, or has no
            entry of the request.
        UsageError: It has several entries and *request* does not say which.
    """
    if suite is not None:
        file = path or baseline_path(suite.path)
        found = read_baselines(file)
        usual = found.requests if len(found.requests) == 1 else suite.requests
        chosen = request or next(iter(usual))
        return side_of_baseline(name, entry_of(found, file, suite, chosen), chosen)
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


def side_of_baseline(name: str, entry: Baseline, request: str) -> ComparedSide:
    """The side of *entry*, the baseline of *request*, called *name*."""
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
    The side of one suite of a JSON report.

    Raises:
        FormatError: The file is not a report.
        UsageError: The report does not hold the suite, or several of its suites match.
    """
    from harness.report.json import loads_report

    report = loads_report(_text(path), path=str(path))
    found = _choose_report(name, report, suite, request)
    return side_of_report(found, name, created=report.timing.created)


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
    known = ", ".join(f"{one.name} ({_which(one)})" for one in report.suites) or "no suite"
    named = " and ".join(
        f"the {what} {value!r}"
        for what, value in (("suite", suite and suite.name), ("request", request))
        if value is not None
    )
    if not fitting:
        raise UsageError(f"{name} does not hold {named or 'a suite'}; it holds {known}")
    option = REQUEST if len({one.request for one in fitting}) == len(fitting) else SUITE
    raise UsageError(f"{name} has several possible entries: {known}; ", option, " says which")


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
        rankings[query] = Ranking(tuple(map(Hit, documents, map(scores.__getitem__, documents))))
    run = Run(rankings, Engine("run"), "run")
    return ComparedSide(Side(name, SideKind.RUN), run, None, tuple(Query(query, query) for query in rankings))


def cut_at(run: Run, depth: int | None) -> Run:
    """*run* with no more than *depth* hits of each query."""
    return run if depth is None else replace(run, responses={q: _cut(r, depth) for q, r in run.responses.items()})


def with_empty(one: ComparedSide, queries: Iterable[str]) -> ComparedSide:
    """*one* with those of *queries* that it lacks, as empty rankings; only for run files, which cannot hold these."""
    absent = [query for query in queries if query not in one.run.responses]
    if one.side.kind is not SideKind.RUN or not absent:
        return one
    run = replace(one.run, responses={**one.run.responses, **{query: Ranking() for query in absent}})
    return replace(one, run=run, queries=(*one.queries, *(Query(query, query) for query in absent)))


def _cut(response: Response, depth: int) -> Response:
    return cut(response, depth) if isinstance(response, Ranking) else response


def questions_of(suite: Suite) -> dict[str, Question]:
    """Text and params of each query of *suite*; none for a suite without requests, which only holds judgments."""
    masker = Masker(suite.variables)
    return {query.id: question_of(query, masker) for query in suite.queries} if suite.requests else {}
