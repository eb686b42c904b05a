"""The two sides of a comparison: how each is read from a file or searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness.config import Configs
from harness.errors import Option, UsageError
from harness.extensions.compare.forms import SideText
from harness.extensions.compare.model import Side, SideKind
from harness.files.runs import read_run
from harness.gate.ties import truncate_ranking
from harness.masking import Masker
from harness.metrics import read_gain
from harness.metrics.profiles import sort_by_score
from harness.metrics.run_scores import failure_text
from harness.model.kept import Baseline, Question
from harness.model.report import Report, SuiteReport
from harness.model.run import Engine, Failure, Hit, Ranking, Run
from harness.model.scores import Score
from harness.model.suite import Gain, Json, Profile, Query, Suite
from harness.options import RunOptions
from harness.store.baseline import choose_entry, rename_baselines
from harness.store.baseline_files import choose_roots, find_baseline, read_baselines
from harness.store.contradictions import refuse_contradictions
from harness.store.kept import restore_baseline, restore_report
from harness.store.what_changed import UsedValues, build_request_json, fingerprint_request, select_request_values
from harness.words import did_you_mean

SUITE, QRELS, REQUEST, MEASURE = Option("suite"), Option("qrels"), Option("request"), Option("measure", "measures")
"""Options of a comparison that error messages name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide(Side):
    """A side with its rankings and all that its source says about them."""

    run: Run
    depth: int | None
    """The number of hits requested; None where the rankings are whole."""
    queries: Sequence[Query]
    """With the texts, tags and grades of the source."""
    scores: tuple[Score, ...] = ()
    """The stored scores, computed with *gain* and *profile*, which are None where there are none."""
    gain: Gain | None = None
    profile: Profile | None = None
    template: str | None = None
    """A fingerprint of the request; None where that is not known."""
    request_json: Json = None
    """The request, with secrets masked; None where it is not known."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """Of the judgments, by query; only a baseline has them."""
    questions: Mapping[str, Question] = field(default_factory=dict)
    """The texts and params of queries, where they are known."""
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)
    """Those of *questions* that differ, then and now; the responses to them are removed."""


def may_share_request(reference: ComparedSide, candidate: ComparedSide) -> bool:
    """Whether the two sides are not known to have different requests: a run file does not say which it had."""
    return None in (reference.template, candidate.template) or reference.template == candidate.template


# Sides that are searched.

AnswerSuite: TypeAlias = "Callable[[Suite, RunOptions, Configs], tuple[Run, str]]"
"""Sends the queries of a suite, with the relevance.toml files read so far; the run, and the name of its server."""


def search_side(
    text: SideText, suite: Suite, options: RunOptions, configs: Configs, answer: AnswerSuite
) -> ComparedSide:
    """
    Run *suite* as *text* says. An engine that does not answer is not an error: its queries fail.

    Raises:
        UsageError: The suite has no such request, or no cluster of that name is known.
        SuiteError: The suite is wrong.
        EngineStartError: The embedded node could not be started.
    """
    kind = SideKind.CLUSTER if text.kind is SideKind.EMBEDDED else text.kind
    run, cluster = answer(suite, options, configs)
    return make_run_side(str(text), kind, suite, run, cluster)


def make_run_side(name: str, kind: SideKind, suite: Suite, run: Run, cluster: str = "") -> ComparedSide:
    """
    The side of a run of *suite*, called *name*; *cluster* is the name of the server, where one was searched.

    A suite without requests holds the judgments of rankings that were given in Python, which are whole.
    """
    unanswered = {
        query: failure_text(response) for query, response in run.responses.items() if isinstance(response, Failure)
    }
    if run.request not in suite.requests:
        return ComparedSide(name, kind, unanswered=unanswered, run=run, depth=None, queries=suite.queries)
    return ComparedSide(
        name,
        kind,
        str(run.engine),
        run.request,
        run.index,
        unanswered=unanswered,
        cluster=cluster,
        run=run,
        depth=suite.depth,
        queries=suite.queries,
        template=fingerprint_request(suite, run.request),
        request_json=Masker(suite.variables).mask_json(build_request_json(suite, run.request)),
        questions=read_questions(suite, select_request_values(suite, run.request, hooked=run.hooked)),
    )


def read_questions(suite: Suite, used: UsedValues) -> dict[str, Question]:
    """What is *used* of each query of *suite*; nothing for a suite without requests, which only holds judgments."""
    if not suite.requests:
        return {}
    masker = Masker(suite.variables)
    return {query.id: used.make_question(query, masker) for query in suite.queries}


# The side of a report.


def read_report_side(text: SideText, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    The side of one suite of the JSON report that *text* names.

    Raises:
        FormatError: The file is not a report.
        UsageError: The report does not hold the suite, or several of its suites match.
    """
    from harness.report.json import read_report

    report = read_report(Path(text.value))
    entry = _choose_report(text, report, suite, request)
    return make_report_side(entry, str(text), created=report.timing.created)


def _choose_report(text: SideText, report: Report, suite: Suite | None, request: str | None) -> SuiteReport:
    """The only entry of *report* that is of *suite*, of *request* and of the index in *text*, where these are given."""
    # Secrets are masked in a report, in the name of a suite too.
    suite_name = None if suite is None else Masker(suite.variables).mask(suite.name)
    of_suite = [entry for entry in report.suites if suite_name is None or entry.name == suite_name]
    matches = [entry for entry in of_suite if request is None or entry.request == request]
    matches = [entry for entry in matches if text.index is None or entry.index == text.index]
    if len(matches) == 1:
        return matches[0]
    file = replace(text, index=None)
    entries = ", ".join(f"{entry.name} ({_describe_entry(entry)})" for entry in report.suites) or "no suite"
    if matches:
        raise _refuse_ambiguous(file, matches, entries)
    conditions = []
    if suite is not None:
        conditions.append(f"the suite {suite.name!r}")
    if request is not None:
        conditions.append(f"the request {request!r}")
    hint = ""
    if text.index is not None:
        conditions.append(f"the index {text.index!r}")
        indexes = [entry.index for entry in of_suite if entry.index]
        if text.index not in indexes:
            hint = did_you_mean(text.index, indexes)
    raise UsageError(f"{file} does not hold {' and '.join(conditions) or 'a suite'}; it holds {entries}{hint}")


def _describe_entry(entry: SuiteReport) -> str:
    return f"request {entry.request} on {entry.index}" if entry.index else f"request {entry.request}"


def _refuse_ambiguous(file: SideText, matches: Sequence[SuiteReport], entries: str) -> UsageError:
    """The error for a report with several entries that match; names what would tell them apart."""
    choices: list[Option | str] = []
    if len({entry.name for entry in matches}) > 1:
        choices.append(SUITE)
    if len({entry.request for entry in matches}) > 1:
        choices.append(REQUEST)
    if len({entry.index for entry in matches}) > 1:
        index = next(entry.index for entry in matches if entry.index)
        choices.append(f"a side such as {file}#{index}")
    several = f"{file} has several possible entries: {entries}"
    if not choices:
        return UsageError(f"{several}; nothing tells them apart, so write each to a report of its own")
    sentence: list[Option | str] = [f"{several}; ", choices[0]]
    for choice in choices[1:]:
        sentence += [" and ", choice]
    sentence.append(" say which" if len(choices) > 1 else " says which")
    return UsageError(*sentence)


def make_report_side(report: SuiteReport, name: str, *, created: str) -> ComparedSide:
    """
    The side of *report*, made at the time *created*, without queries that were skipped.

    Secrets are masked in a report.
    """
    restored = restore_report(report)
    questions = {}
    for query in report.queries:
        if query.id in restored.run.responses:
            questions[query.id] = Question(query.question, query.text)
    return ComparedSide(
        name,
        SideKind.REPORT,
        str(report.engine),
        report.request,
        report.index,
        created,
        unanswered={query.id: query.reason for query in report.unanswered.values()},
        cluster=report.cluster,
        run=restored.run,
        depth=report.depth,
        queries=restored.queries,
        scores=restored.scores,
        gain=read_gain(report.gain),
        profile=report.profile,
        questions=questions,
    )


# The side of a baseline.


def read_baseline_side(name: str, path: Path | None, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    The side of the baseline at *path*, or of that of *suite* where it is None.

    Raises:
        BaselineError: The baseline does not exist, cannot be read, contradicts itself, is another suite's, or has no
            entry of the request.
        UsageError: It has several entries and *request* does not say which.
    """
    if suite is not None:
        file = find_baseline(suite.path, suite.roots, path)
        baselines = rename_baselines(read_baselines(file, choose_roots(suite, path)), suite)
        if request is None:
            # The only entry, or else that of the suite's first request, which a run without options has.
            request = next(iter(baselines.requests if len(baselines.requests) == 1 else suite.requests))
        return make_baseline_side(name, choose_entry(baselines, file, suite, request), request)
    assert path is not None  # a baseline without a file is that of a suite
    entries = read_baselines(path).requests
    request = _choose_request(name, entries, request)
    refuse_contradictions(entries[request], path.as_posix(), request)
    return make_baseline_side(name, entries[request], request)


def _choose_request(name: str, entries: Iterable[str], request: str | None) -> str:
    names = sorted(entries)
    if request is not None and request in names:
        return request
    if request is not None:
        known = ", ".join(names) or "none"
        raise UsageError(f"{name} holds no request {request!r}, only {known}{did_you_mean(request, names)}")
    if len(names) == 1:
        return names[0]
    raise UsageError(f"{name} holds the requests {', '.join(names)}; say which with ", REQUEST)


def make_baseline_side(name: str, entry: Baseline, request: str) -> ComparedSide:
    """The side of *entry*, the baseline of *request*, called *name*."""
    restored = restore_baseline(entry, request)
    return ComparedSide(
        name,
        SideKind.BASELINE,
        entry.engine,
        request,
        created=entry.created,
        run=restored.run,
        depth=entry.depth,
        queries=restored.queries,
        scores=restored.scores,
        gain=read_gain(entry.gain),
        profile=entry.profile,
        template=entry.template or None,
        request_json=entry.request,
        fingerprints={query: kept.judgments for query, kept in entry.queries.items()},
        questions={query: kept.asked for query, kept in entry.queries.items()},
    )


# The side of a run file.


def read_run_side(name: str, path: Path, profile: Profile, *, remove_query: bool = False) -> ComparedSide:
    """
    The side of a run file: documents by score, the highest first, equal ones in the order of
    `harness.files.runs.evaluate_files`; without the document that has the id of its query where *remove_query*.

    Raises:
        FormatError: The file is wrong; holds all its problems.
        UsageError: It needs a package that is not installed.
    """
    rankings = {}
    for query, stored in read_run(path).items():
        if remove_query:
            stored = stored.remove(query)
        scores = dict(zip(stored.documents, stored.scores, strict=True))
        documents: Sequence[str] = stored.sort_documents()
        # trec_eval orders by score and then by id, whatever the ranks in the file say.
        if profile is Profile.TREC:
            documents = sort_by_score(stored.documents, stored.scores)
        hits = tuple(Hit(document, scores[document]) for document in documents)
        rankings[query] = Ranking(hits, exact_scores=True)
    run = Run(rankings, Engine("run"), "run")
    queries = tuple(Query(query, query) for query in rankings)
    return ComparedSide(name, SideKind.RUN, run=run, depth=None, queries=queries)


def add_empty_rankings(side: ComparedSide, queries: Iterable[str]) -> ComparedSide:
    """*side* with those of *queries* that it lacks, as empty rankings; only for run files, which cannot hold these."""
    absent = [query for query in queries if query not in side.run.responses]
    if side.kind is not SideKind.RUN or not absent:
        return side
    responses = dict(side.run.responses)
    all_queries = list(side.queries)
    for query in absent:
        responses[query] = Ranking()
        all_queries.append(Query(query, query))
    return replace(side, run=replace(side.run, responses=responses), queries=tuple(all_queries))


def truncate_run(run: Run, depth: int | None) -> Run:
    """*run* with no more than *depth* hits of each query."""
    if depth is None:
        return run
    responses = dict(run.responses)
    for query, response in run.responses.items():
        if isinstance(response, Ranking):
            responses[query] = truncate_ranking(response, depth)
    return replace(run, responses=responses)
